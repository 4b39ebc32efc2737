"""LG106: each batch must start from a fresh state, not where the last one ended."""

from __future__ import annotations

from dataclasses import replace

from lstm_gates_plugin import capture
from lstm_gates_plugin.checks.live import LiveModel
from lstm_gates_plugin.checks.report import CheckResult, Outcome, named

ID, NAME = "LG106", "each batch starts afresh"


def carried(live: LiveModel) -> CheckResult:
    """Call the model twice in a row, and compare where the second call of a layer starts."""
    first, second = capture.in_a_row(live.model, live.args, dict(live.kwargs))
    ended = {call.layer.id: call for call in first}
    started = {call.layer.id: call for call in reversed(second)}
    # Whether two stretches can be read as one sequence is of no matter here: see `joins`.
    layers = tuple(
        id
        for id, call in reversed(started.items())
        if id in ended and replace(call, joins=True).continues(ended[id])
    )
    if not layers:
        seen = "A second batch starts from the same state as the first."
        return CheckResult(ID, NAME, Outcome.PASSED, seen)
    return CheckResult(
        ID,
        NAME,
        Outcome.MISTAKE,
        "A batch starts in the state in which the batch before ended, which is of other samples as "
        f"soon as batches are shuffled: {named(layers)}.",
        "Start each call from zero, and do not keep the state in the model. It is right only where "
        "sample k of each batch goes on with the sequence of sample k of the batch before: then "
        "never shuffle, reset the state between sequences, and (in PyTorch) detach it.",
        layers,
    )
