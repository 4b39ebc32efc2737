"""From recorded calls to traces: join what belongs together, recompute, compare.

A framework's adapter records what went into a layer and what came out, as NumPy arrays
(`RecordedCall`). What follows is the same for every framework.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from lstm_gates_plugin import cells
from lstm_gates_plugin.frameworks import stepped
from lstm_gates_plugin.frameworks.arriving import Arriving, through
from lstm_gates_plugin.frameworks.stepped import Stepped
from lstm_gates_plugin.fused import Array
from lstm_gates_plugin.gate_trace import GateTrace
from lstm_gates_plugin.gradients import Gradients
from lstm_gates_plugin.layer import RecurrentLayer

#: How far the recomputed hidden state may be from the framework's own, relative to one plus its
#: largest magnitude: some twenty times (float32 and float64, whose sums run in another order: some
#: hundred times) what was measured over 50 timesteps of a default LSTM, since a recurrence carries
#: every rounding on. TensorFloat-32, in which GPUs multiply float32, has the digits of float16.
#: Quantized weights (qint8) are multiplied with inputs that are quantized as well: 3e-2 measured.
TOLERANCES = {
    "float64": 1e-9,
    "float32": 1e-4,
    "tensorfloat32": 2e-2,
    "float16": 2e-2,
    "bfloat16": 1e-1,
    "qint8": 1e-1,
}


@dataclass(frozen=True)
class RecordedCall:
    """One call of one layer. Arrays are batch first and by input time, also for backward layers.

    Attributes:
        layer: the layer, with the weights that it had.
        inputs: `[batch, time, input_size]`.
        mask: `[batch, time]`, true where a timestep was run; `None` if all were.
        initial_state: `(hidden,)` or `(hidden, cell)`, or `None` where the call started from zero
            because nothing else was asked for.
        hidden_state: the framework's own, `[batch, time, recurrent_size]`, if it returned it.
        last_hidden_state: `[batch, recurrent_size]`, the framework's own after the last timestep
            in the order of processing, if it returned it.
        final_state: the framework's own states after the call, if it gave them.
        rows: of the call in the framework, where only the first of them are here.
        group: calls of one group are one call on more rows, made one after the other.
        precision: what the framework computed in, a key of `TOLERANCES`.
        stepped: what a cell did whose equations are not known, as far as the framework could be
            asked to step it.
        compared: whether the states that came out are the framework's own, to compare ours with.
        arriving: the gradients of a loss by what came out, where one was given.
    """

    layer: RecurrentLayer
    inputs: Array
    mask: Array | None = None
    initial_state: tuple[Array, ...] | None = None
    hidden_state: Array | None = None
    last_hidden_state: Array | None = None
    final_state: tuple[Array, ...] | None = None
    rows: int | None = None
    group: int | None = None
    precision: str = "float32"
    stepped: Stepped | None = None
    compared: bool = True
    arriving: Arriving | None = None

    def continues(self, earlier: RecordedCall) -> bool:
        """Whether this call started from the state in which an earlier one ended."""
        ended = earlier.final_state
        if ended is None:  # the output at the last timestep is the state of all but an LSTM
            output = earlier.last_hidden_state
            if output is None and earlier.hidden_state is not None:
                output = earlier.hidden_state[:, 0 if self.layer.direction == "backward" else -1]
            ended = () if output is None else (output,)
        return (
            self.initial_state is not None
            and len(self.initial_state) == len(ended)
            and all(
                np.array_equal(start, end, equal_nan=True)
                for start, end in zip(self.initial_state, ended, strict=True)
            )
        )


class Observation(NamedTuple):
    """What an adapter saw while a model ran once."""

    layers: list[RecurrentLayer]  # all of the model's, also those that did not run
    calls: list[RecordedCall]
    outputs: Any  # nested as the model returned them: torch's own tensors, or NumPy arrays
    unseen: Mapping[str, str] = MappingProxyType({})  # why a layer has no call though it ran, by id


#: Gives what was seen so far, with the gradients of a loss if it is given one.
Observe: TypeAlias = Callable[..., Observation]


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
    for sequence in _stacked(sequences):
        layer = sequence[0].layer
        if layer.cell == "unknown":
            if layer.id not in count:
                _warn_unknown(sequence[0])
            if sequence[0].stepped is None:
                count[layer.id] = 0
                continue
        trace = _trace([_cut(call, samples) for call in sequence], count.get(layer.id, 0))
        count[layer.id] = trace.call + 1
        traces.append(trace)
    return traces


def _warn_unknown(call: RecordedCall) -> None:
    possible = "its weights can be, by their own names"
    if call.stepped is not None:
        possible = "its states and, by their own names, its weights can be"
    warnings.warn(
        f"the gates of layer {call.layer.id!r} cannot be shown: the equations of its cell are not "
        f"known. {possible[0].upper()}{possible[1:]}.",
        stacklevel=3,
    )


def _stacked(sequences: Sequence[list[RecordedCall]]) -> list[list[RecordedCall]]:
    """The sequences, with those of one layer and group stacked into one on more rows."""
    grouped: dict[tuple[object, ...], list[list[RecordedCall]]] = {}
    for number, sequence in enumerate(sequences):
        first = sequence[0]
        alone = first.group is None or len(sequence) > 1
        key = (number,) if alone else (first.layer.id, first.group, first.inputs.shape)
        grouped.setdefault(key, []).append(sequence)
    return [
        members[0] if len(members) == 1 else [_stack([member[0] for member in members])]
        for members in grouped.values()
    ]


def _stack(calls: Sequence[RecordedCall]) -> RecordedCall:
    """One call on the rows of several: all rows of the first sample, of the second, ..."""

    def rows(arrays: Sequence[Array | None]) -> Array | None:
        given = [array for array in arrays if array is not None]
        return _interleaved(given) if len(given) == len(arrays) else None

    def states(of: Sequence[tuple[Array, ...] | None]) -> tuple[Array, ...] | None:
        given = [state for state in of if state is not None]
        if len(given) < len(of):
            return None
        joined = [rows(parts) for parts in zip(*given, strict=True)]
        return tuple(part for part in joined if part is not None)

    masks = [_mask(call) for call in calls]
    steps = [call.stepped for call in calls if call.stepped is not None]
    arriving = [call.arriving for call in calls if call.arriving is not None]
    inputs = rows([call.inputs for call in calls])
    assert inputs is not None
    return RecordedCall(
        layer=calls[0].layer,
        rows=sum(_rows(call) for call in calls),
        precision=calls[0].precision,
        compared=calls[0].compared,
        inputs=inputs,
        mask=rows(masks),
        initial_state=states([call.initial_state for call in calls]),
        hidden_state=rows([call.hidden_state for call in calls]),
        last_hidden_state=rows([call.last_hidden_state for call in calls]),
        final_state=states([call.final_state for call in calls]),
        stepped=Stepped.joined(steps, _interleaved) if len(steps) == len(calls) else None,
        arriving=Arriving.joined(arriving, _interleaved) if len(arriving) == len(calls) else None,
    )


def _interleaved(arrays: Sequence[Array]) -> Array:
    """The rows of several arrays: all of their first rows, then of their second ones, ..."""
    stacked = np.stack(arrays, axis=1)
    return stacked.reshape(-1, *stacked.shape[2:])


def _rows(call: RecordedCall) -> int:
    return len(call.inputs) if call.rows is None else call.rows


def _mask(call: RecordedCall) -> Array:
    return np.ones(call.inputs.shape[:2], dtype=bool) if call.mask is None else call.mask


def _cut(call: RecordedCall, samples: int | None) -> RecordedCall:
    """The call on its first rows alone, so that no others are recomputed."""
    if samples is None or len(call.inputs) <= samples:
        return call

    def cut_one(array: Array) -> Array:
        return array[:samples]

    def cut(array: Array | None) -> Array | None:
        return None if array is None else cut_one(array)

    def cut_all(arrays: tuple[Array, ...] | None) -> tuple[Array, ...] | None:
        return None if arrays is None else tuple(array[:samples] for array in arrays)

    return replace(
        call,
        rows=_rows(call),
        inputs=call.inputs[:samples],
        mask=cut(call.mask),
        initial_state=cut_all(call.initial_state),
        hidden_state=cut(call.hidden_state),
        last_hidden_state=cut(call.last_hidden_state),
        final_state=cut_all(call.final_state),
        stepped=None if call.stepped is None else call.stepped.cut(samples),
        arriving=None if call.arriving is None else call.arriving.map(cut_one),
    )


def _trace(sequence: Sequence[RecordedCall], number: int) -> GateTrace:
    """Recompute one sequence from the calls that it was made in, and compare."""
    layer = sequence[0].layer
    # A backward layer reads from the end, so its first call is the last stretch of input time.
    by_time = list(reversed(sequence)) if layer.direction == "backward" else list(sequence)
    mask = np.concatenate([_mask(call) for call in by_time], axis=1)
    stepped_calls = [call.stepped for call in sequence if call.stepped is not None]
    if stepped_calls:
        trace = stepped.trace(layer, stepped_calls, mask)
    else:
        inputs = np.concatenate([call.inputs for call in by_time], axis=1)
        trace = cells.forward(layer, inputs, mask, sequence[0].initial_state)
    differences: list[tuple[float, float]] = []
    start = 0
    for call in by_time:
        stop = start + call.inputs.shape[1]
        differences += _compare(trace, call, start, stop) if call.compared else []
        start = stop
    if sequence[-1].final_state is not None and sequence[-1].compared:
        finals = [trace.final_hidden_state, trace.final_cell_state]
        for ours, theirs in zip(finals, sequence[-1].final_state, strict=False):
            if ours is not None:
                differences.append(_difference(ours, theirs))
    difference = max((d for d, _ in differences), default=None)
    precision = sequence[0].precision
    if any(d > TOLERANCES[precision] * scale for d, scale in differences):
        warnings.warn(
            f"the hidden state of layer {layer.id!r} that was recomputed from its weights is up to "
            f"{difference:.3g} away from the framework's own, more than {precision} explains: the "
            "layer does more than its cell's equations say, so do not rely on its gates.",
            stacklevel=2,
        )
    gradients = _gradients(trace, sequence) if not stepped_calls else None
    return replace(
        trace,
        call=number,
        rows=_rows(sequence[0]),
        difference=difference,
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
        warnings.warn(str(error), stacklevel=2)
        return None


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
