"""The self-check: is what was recomputed what the framework itself computed?"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lstm_gates_plugin.frameworks.recorded import TOLERANCES, RecordedCall
from lstm_gates_plugin.fused import Array
from lstm_gates_plugin.gate_trace import GateTrace
from lstm_gates_plugin.telling import tell


def difference(trace: GateTrace, by_time: Sequence[RecordedCall]) -> float | None:
    """The largest difference between a trace and what the framework put out, if it is known.

    More than rounding explains is a warning that names the layer.

    Args:
        trace: recomputed, of one sequence.
        by_time: the calls that it was made in, by input time.
    """
    found: list[tuple[float, float]] = []
    start = 0
    for call in by_time:
        stop = start + call.inputs.shape[1]
        found += _compare(trace, call, start, stop) if call.compared else []
        start = stop
    last = by_time[0 if trace.layer.direction == "backward" else -1]
    if last.final_state is not None and last.compared:
        finals = [trace.final_hidden_state, trace.final_cell_state]
        for ours, theirs in zip(finals, last.final_state, strict=False):
            if ours is not None:
                found.append(_difference(ours, theirs))
    largest = max((apart for apart, _ in found), default=None)
    if any(apart > TOLERANCES[last.precision] * scale for apart, scale in found):
        tell(
            f"the hidden state of layer {trace.layer.id!r} that was recomputed from its weights is "
            f"up to {largest:.3g} away from the framework's own, more than {last.precision} "
            "explains: the layer does more than its cell's equations say, so do not rely on its "
            "gates.",
            stacklevel=2,
        )
    return largest


def _compare(
    trace: GateTrace, call: RecordedCall, start: int, stop: int
) -> list[tuple[float, float]]:
    """Differences between a call's own hidden states and its stretch of the trace."""
    ours, mask = trace.hidden_state[:, start:stop], trace.mask[:, start:stop]
    if call.hidden_state is not None:
        return [_difference(ours[mask], call.hidden_state[mask])]
    if call.last_hidden_state is not None and stop > start:
        last = 0 if trace.layer.direction == "backward" else -1
        # Where the last timestep is masked, frameworks return zero or an older output.
        ran = mask[:, last]
        return [_difference(ours[ran, last], call.last_hidden_state[ran])]
    return []


def _difference(ours: Array, theirs: Array) -> tuple[float, float]:
    """The largest difference, infinite where only one is a number, and the scale it is against."""
    theirs = theirs.astype(ours.dtype)
    same = (ours == theirs) | (np.isnan(ours) & np.isnan(theirs))
    with np.errstate(invalid="ignore"):
        apart = np.where(same, 0, np.abs(ours - theirs))
    finite = theirs[np.isfinite(theirs)]
    largest = float(np.nan_to_num(apart, nan=np.inf).max(initial=0))
    return largest, 1 + float(np.abs(finite).max(initial=0))
