"""Rows of recorded calls: those of several calls made one, and the first of many."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from lstm_gates_plugin.frameworks.arriving import Arriving
from lstm_gates_plugin.frameworks.recorded import RecordedCall
from lstm_gates_plugin.frameworks.stepped import Stepped
from lstm_gates_plugin.fused import Array


def stacked(sequences: Sequence[list[RecordedCall]]) -> list[list[RecordedCall]]:
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


def cut(call: RecordedCall, samples: int | None) -> RecordedCall:
    """The call on its first rows alone, so that no others are recomputed."""
    if samples is None or len(call.inputs) <= samples:
        return call

    def cut_one(array: Array) -> Array:
        return array[:samples]

    def cut_any(array: Array | None) -> Array | None:
        return None if array is None else cut_one(array)

    def cut_all(arrays: tuple[Array, ...] | None) -> tuple[Array, ...] | None:
        return None if arrays is None else tuple(array[:samples] for array in arrays)

    return replace(
        call,
        rows=call.row_count,
        inputs=call.inputs[:samples],
        mask=cut_any(call.mask),
        initial_state=cut_all(call.initial_state),
        hidden_state=cut_any(call.hidden_state),
        last_hidden_state=cut_any(call.last_hidden_state),
        final_state=cut_all(call.final_state),
        stepped=None if call.stepped is None else call.stepped.cut(samples),
        arriving=None if call.arriving is None else call.arriving.map(cut_one),
    )


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

    masks = [call.ran for call in calls]
    steps = [call.stepped for call in calls if call.stepped is not None]
    arriving = [call.arriving for call in calls if call.arriving is not None]
    inputs = rows([call.inputs for call in calls])
    assert inputs is not None
    return RecordedCall(
        layer=calls[0].layer,
        rows=sum(call.row_count for call in calls),
        precision=calls[0].precision,
        batch_first=calls[0].batch_first,
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
