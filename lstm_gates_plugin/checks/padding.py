"""LG103: what a sample gives must not depend on the padding behind it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lstm_gates_plugin.checks import arguments
from lstm_gates_plugin.checks.live import LiveModel, NotJudgedError
from lstm_gates_plugin.checks.report import CheckResult, Outcome, named
from lstm_gates_plugin.fused import Array
from lstm_gates_plugin.gate_trace import GateTrace

ID, NAME = "LG103", "padding is not read"

#: Samples that are run alone.
_TRIED = 4


def padding(live: LiveModel, traces: Sequence[GateTrace]) -> CheckResult:
    """Run padded samples alone, without their padding, and compare what comes out.

    Where there are gradients, also see whether the loss reads a state nowhere but in the padding.

    Raises:
        NotJudgedError: the model does not run on shorter sequences.
    """
    lengths = _lengths(live)
    padded = [int(row) for row in np.flatnonzero(lengths < (live.timesteps or 0))]
    if not padded:
        seen = "No sample ends in timesteps that look like padding."
        return CheckResult(ID, NAME, Outcome.PASSED, seen)
    about = f"{len(padded)} of {live.samples} samples end in what looks like padding"
    for row in padded[:_TRIED]:
        length = int(lengths[row])
        try:
            alone = live.outputs_of_one(row, length)
        except Exception as error:  # whatever the user's model raises
            raise NotJudgedError(
                f"{about[0].upper()}{about[1:]}, and the model does not run without it: {error}"
            ) from error
        apart = _difference(live, alone, row)
        if apart is not None:
            return _read(live, traces, row, length, f"{about}, and they give something else "
                         f"(by up to {apart:.2g}) without it")  # fmt: skip
        if any(_reads_padding_alone(trace, row, length, live.samples) for trace in traces):
            return _read(live, traces, row, length, f"{about}, and the loss reads a state there")
    seen = f"{about}, and they give the same without it."
    return CheckResult(ID, NAME, Outcome.PASSED, seen)


def padded_lengths(inputs: Array) -> Array:
    """How many timesteps each sample has before its padding.

    Padding is a run of equal timesteps at the end: of two zeros or more, or of three or more of
    another value in which half of the samples end, in runs of different lengths.

    Args:
        inputs: `[batch, time]` or `[batch, time, features]`.
    """
    steps = inputs.reshape(*inputs.shape[:2], -1)
    lengths = steps.shape[1] - _runs(steps, np.zeros_like(steps[0, 0]))
    if steps.shape[1] - lengths.min() < 2:
        longest = steps[_runs(steps, steps[:, -1:]).argmax(), -1]
        runs = _runs(steps, longest)
        is_padding = runs.max() >= 3 and 2 * np.count_nonzero(runs) >= len(runs) > 1
        if not is_padding or (runs == runs[0]).all():
            return np.full(len(steps), steps.shape[1])
        lengths = steps.shape[1] - runs
    whole: Array = np.where(lengths == 0, steps.shape[1], lengths)  # nothing but one value
    return whole


def _runs(steps: Array, value: Array) -> Array:
    """How many timesteps that equal a value each sample ends in."""
    differs = (steps != value).any(axis=-1)[:, ::-1]
    runs: Array = np.where(differs.any(axis=1), differs.argmax(axis=1), steps.shape[1])
    return runs


def _lengths(live: LiveModel) -> Array:
    for leaf in arguments.arrays((live.args, live.kwargs)):
        if len(leaf.shape) >= 2 and leaf.shape[live.axis] == live.samples:
            array = leaf.detach().cpu().numpy() if hasattr(leaf, "detach") else np.asarray(leaf)
            return padded_lengths(np.moveaxis(array, live.axis, 0))
    raise NotJudgedError("The model is called without an array that has timesteps.")


def _difference(live: LiveModel, alone: Sequence[Array], row: int) -> float | None:
    """How far the outputs for a sample alone are from those in the batch; `None` if not at all."""
    for before, after in zip(live.outputs, alone, strict=True):
        place = arguments.output_axis(before.shape, live.samples, live.axis)
        if place is None or after.ndim != before.ndim:
            continue
        own, cut = before.take(row, place), after.take(0, place)
        common = tuple(slice(min(sizes)) for sizes in zip(own.shape, cut.shape, strict=True))
        if not live.is_equal(own[common], cut[common]):
            return live.difference(own[common], cut[common])
    return None


def _reads_padding_alone(trace: GateTrace, row: int, length: int, samples: int) -> bool:
    """Whether the loss takes a layer's output for a sample from its padding, and nowhere else."""
    if trace.gradients is None or len(trace.mask) != samples:
        return False
    read = np.nan_to_num(trace.gradients.output[row], nan=0.0).any(axis=-1)
    return bool(read[length:].any() and not read[:length].any())


def _read(
    live: LiveModel, traces: Sequence[GateTrace], row: int, length: int, about: str
) -> CheckResult:
    layers = tuple(
        dict.fromkeys(
            trace.layer.id
            for trace in traces
            if trace.mask.shape == (live.samples, live.timesteps) and trace.mask[row, length:].any()
        )
    )
    through = f". It is run through by {named(layers)}" if layers else ""
    return CheckResult(
        ID,
        NAME,
        Outcome.MISTAKE,
        f"{about[0].upper()}{about[1:]}{through}.",
        "Mask it (Keras: mask_zero=True or a Masking layer), pack the sequences (PyTorch: "
        "pack_padded_sequence with the lengths), give seq_lengths (Flax), or take the output at "
        "the last real timestep. If these values are data, this is no mistake.",
        layers,
    )
