"""From recorded calls to traces: join what belongs together, recompute, compare.

This is the same for every framework.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from lstm_gates_plugin import cells
from lstm_gates_plugin.frameworks import stepped
from lstm_gates_plugin.frameworks.arriving import through
from lstm_gates_plugin.frameworks.recorded import RecordedCall
from lstm_gates_plugin.frameworks.self_check import difference
from lstm_gates_plugin.frameworks.stacking import cut, stacked
from lstm_gates_plugin.gate_trace import GateTrace
from lstm_gates_plugin.gradients import Gradients
from lstm_gates_plugin.telling import tell


def to_traces(calls: Iterable[RecordedCall], samples: int | None = None) -> list[GateTrace]:
    """The traces of recorded calls, in the order of each trace's first call.

    Calls that continue a sequence become one trace; calls of one group become one trace with the
    rows of all of them, sample by sample. Of a layer whose equations are not known the trace has
    only the states, or there is none; a warning says so by name, and the others go on. A recomputed
    hidden state that is not the framework's is a warning as well.

    Args:
        calls: in the order in which they were made.
        samples: how many rows of a trace to keep at most.
    """
    sequences: list[list[RecordedCall]] = []
    newest: dict[str, list[RecordedCall]] = {}
    for call in calls:
        sequence = newest.get(call.layer.id)
        if sequence is not None and call.continues(sequence[-1]):
            sequence.append(call)
        else:
            newest[call.layer.id] = [call]
            sequences.append(newest[call.layer.id])

    traces: list[GateTrace] = []
    count: dict[str, int] = {}
    for sequence in stacked(sequences):
        layer = sequence[0].layer
        if layer.cell == "unknown":
            if layer.id not in count:
                _warn_unknown(sequence[0])
            if sequence[0].stepped is None:
                count[layer.id] = 0
                continue
        trace = _trace([cut(call, samples) for call in sequence], count.get(layer.id, 0))
        count[layer.id] = trace.call + 1
        traces.append(trace)
    return traces


def _warn_unknown(call: RecordedCall) -> None:
    possible = "its weights can be, by their own names"
    if call.stepped is not None:
        possible = "its states and, by their own names, its weights can be"
    tell(
        f"the gates of layer {call.layer.id!r} cannot be shown: the equations of its cell are not "
        f"known. {possible[0].upper()}{possible[1:]}.",
        stacklevel=3,
    )


def _trace(sequence: Sequence[RecordedCall], number: int) -> GateTrace:
    """Recompute one sequence from the calls that it was made in, and compare."""
    layer = sequence[0].layer
    # A backward layer reads from the end, so its first call is the last stretch of input time.
    by_time = list(reversed(sequence)) if layer.direction == "backward" else list(sequence)
    mask = np.concatenate([call.ran for call in by_time], axis=1)
    stepped_calls = [call.stepped for call in sequence if call.stepped is not None]
    if stepped_calls:
        trace = stepped.trace(layer, stepped_calls, mask)
    else:
        inputs = np.concatenate([call.inputs for call in by_time], axis=1)
        trace = cells.forward(layer, inputs, mask, sequence[0].initial_state)
    gradients = _gradients(trace, sequence) if not stepped_calls else None
    return replace(
        trace,
        call=number,
        rows=sequence[0].row_count,
        batch_first=sequence[0].batch_first,
        difference=difference(trace, by_time),
        gradients=gradients,
    )


def _gradients(trace: GateTrace, sequence: Sequence[RecordedCall]) -> Gradients | None:
    """The gradients of a sequence; a warning, and none, where they cannot be computed."""
    arriving = [call.arriving for call in sequence if call.arriving is not None]
    if len(arriving) < len(sequence):
        return None
    initial = [call.initial_state for call in sequence]
    try:
        return through(trace, [call.inputs for call in sequence], arriving, initial)
    except ValueError as error:
        tell(str(error), stacklevel=2)
        return None
