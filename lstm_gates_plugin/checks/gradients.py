"""LG102, LG105: what the loss says to each layer, in exact zeros."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from lstm_gates_plugin.checks.live import LiveModel, NotJudgedError
from lstm_gates_plugin.checks.report import CheckResult, Outcome, named
from lstm_gates_plugin.fused import Array
from lstm_gates_plugin.gate_trace import GateTrace
from lstm_gates_plugin.gradients import Gradients

READ_ID, READ_NAME = "LG102", "states are read at their end"
REACHED_ID, REACHED_NAME = "LG105", "the loss reaches every layer"


def reads_the_end(traces: Sequence[GateTrace]) -> CheckResult:
    """Tell the layers whose state is read where they have seen a single timestep.

    The gradient of the recurrent kernel is then exactly zero, since the state before the first
    timestep is, and that of the kernel is not.

    Raises:
        NotJudgedError: there is no gradient, or each sequence has one timestep.
    """
    judged = [(trace, found) for trace, found in _with_gradients(traces) if _is_long(trace)]
    if not judged:
        raise NotJudgedError("No layer reads more than one timestep.")
    layers = tuple(
        trace.layer.id
        for trace, found in judged
        if not _is_any(found.recurrent_kernel.values()) and _is_any(found.kernel.values())
    )
    if not layers:
        seen = "The loss reads every state after more than one timestep."
        return CheckResult(READ_ID, READ_NAME, Outcome.PASSED, seen)
    return CheckResult(
        READ_ID,
        READ_NAME,
        Outcome.MISTAKE,
        "The gradient of the recurrent kernel is exactly zero, since the loss reads the state "
        f"after a single timestep: {named(layers)}.",
        "A layer that reads backward ends at the first timestep: out[:, -1] has its state after "
        "one timestep. Take the final states (h_n of PyTorch, return_sequences=False of Keras), or "
        "its half of out[:, 0].",
        layers,
    )


def reaches_every_layer(live: LiveModel, traces: Sequence[GateTrace]) -> CheckResult:
    """Tell the layers that did not run, or of which no weight has a gradient but zero.

    Raises:
        NotJudgedError: there is no gradient.
    """
    ran = {call.layer.id for call in live.as_it_is.calls} | set(live.as_it_is.unseen)
    idle = tuple(layer.id for layer in live.as_it_is.layers if layer.id not in ran)
    reached: dict[str, bool] = {}
    for trace, found in _with_gradients(traces):
        reached[trace.layer.id] = reached.get(trace.layer.id, False) or _is_reached(found)
    unreached = tuple(id for id, is_reached in reached.items() if not is_reached)
    if not idle and not unreached:
        seen = "Every layer has gradients of the loss that are not zero."
        return CheckResult(REACHED_ID, REACHED_NAME, Outcome.PASSED, seen)
    said = []
    if idle:
        said.append(f"The model did not run {named(idle)}.")
    if unreached:
        said.append(
            f"The loss does not depend on {named(unreached)}: all gradients are exactly zero."
        )
    return CheckResult(
        REACHED_ID,
        REACHED_NAME,
        Outcome.MISTAKE,
        " ".join(said),
        "It cannot learn. See whether what it puts out is used, and whether something between it "
        "and the loss stops gradients, such as detach(), argmax or a conversion to NumPy.",
        idle + unreached,
    )


def _with_gradients(traces: Sequence[GateTrace]) -> list[tuple[GateTrace, Gradients]]:
    found = [(trace, trace.gradients) for trace in traces if trace.gradients is not None]
    if not found:
        raise NotJudgedError("No gradient of a layer could be had.")
    for trace, gradients in found:
        if not all(np.isfinite(each).all() for each in gradients.kernel.values()):
            raise NotJudgedError(f"The gradients of layer {trace.layer.id!r} are not finite.")
    return found


def _is_long(trace: GateTrace) -> bool:
    return bool((trace.mask.sum(axis=1) > 1).any())


def _is_reached(gradients: Gradients) -> bool:
    biases = list((gradients.bias or {}).values())
    return _is_any([*gradients.kernel.values(), *gradients.recurrent_kernel.values(), *biases])


def _is_any(arrays: Iterable[Array]) -> bool:
    return any(np.any(each) for each in arrays)
