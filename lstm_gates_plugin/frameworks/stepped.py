"""Cells whose equations are not known: the framework steps them, so that their states are known."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np

from lstm_gates_plugin.fused import Array
from lstm_gates_plugin.gate_trace import GateTrace
from lstm_gates_plugin.layer import RecurrentLayer

#: One timestep of a cell: its inputs `[batch, size]` and its states give its output and its new
#: states, each `[batch, size]`.
Step: TypeAlias = Callable[[Array, tuple[Array, ...]], tuple[Array, tuple[Array, ...]]]


class CannotStepError(Exception):
    """A cell cannot be called outside of where the user calls it."""


class Stepped(NamedTuple):
    """What a cell did, by input time. At a masked timestep the states are carried on."""

    output: Array  # [batch, time, size], zero at masked timesteps
    states: tuple[Array, ...]  # [batch, time, size]: the hidden, and perhaps the cell state
    initial: tuple[Array, ...]  # [batch, size], all states before the first timestep
    final: tuple[Array, ...]  # [batch, size], all states after the last

    def cut(self, rows: int) -> Stepped:
        """Its first rows."""
        return self.joined([self], lambda arrays: arrays[0][:rows])

    @staticmethod
    def joined(parts: Sequence[Stepped], join: Callable[[Sequence[Array]], Array]) -> Stepped:
        """Several made one by a function that makes one array of several."""

        def each(name: str) -> tuple[Array, ...]:
            return tuple(
                join(arrays) for arrays in zip(*(getattr(p, name) for p in parts), strict=True)
            )

        output = join([part.output for part in parts])
        return Stepped(output, each("states"), each("initial"), each("final"))


def run(
    step: Step, inputs: Array, mask: Array | None, initial: tuple[Array, ...], *, backward: bool
) -> Stepped:
    """Step a cell over sequences.

    Args:
        step: one timestep of the cell.
        inputs: `[batch, time, input_size]`.
        mask: `[batch, time]`, true where a timestep is to be run; `None` runs all.
        initial: the states before the first timestep, `[batch, size]` each.
        backward: whether the cell reads the sequence from its end.
    """
    time = inputs.shape[1]
    order = range(time - 1, -1, -1) if backward else range(time)
    states = initial
    outputs: dict[int, Array] = {}
    visited: dict[int, tuple[Array, ...]] = {}
    for t in order:
        output, new = step(inputs[:, t], states)
        if mask is not None:
            ran = mask[:, t, None]
            output = np.where(ran, output, 0)
            new = tuple(np.where(ran, n, old) for n, old in zip(new, states, strict=True))
        outputs[t], visited[t] = output, new
        states = new

    def by_time(parts: Sequence[Array], like: Array) -> Array:
        return np.stack(parts, axis=1) if parts else np.zeros((len(like), 0, like.shape[-1]))

    return Stepped(
        by_time([outputs[t] for t in range(time)], initial[0]),
        tuple(
            by_time([visited[t][k] for t in range(time)], each) for k, each in enumerate(initial)
        ),
        initial,
        states,
    )


def trace(layer: RecurrentLayer, calls: Sequence[Stepped], mask: Array) -> GateTrace:
    """The trace of a cell of which only the states are known.

    Args:
        layer: the layer; its cell is `"unknown"`.
        calls: one sequence, in the calls in which it was run.
        mask: `[batch, time]`, true where a timestep was run.
    """
    by_time = calls[::-1] if layer.direction == "backward" else calls

    def joined(state: int) -> Array:
        array = np.concatenate([call.states[state] for call in by_time], axis=1)
        array[~mask] = np.nan
        return array

    has_cell = len(calls[0].states) > 1
    initial, final = calls[0].initial, calls[-1].final
    return GateTrace(
        layer=layer,
        call=0,
        gates={},
        preactivations={},
        hidden_state=joined(0),
        cell_state=joined(1) if has_cell else None,
        mask=mask,
        final_hidden_state=np.array(final[0]),
        final_cell_state=np.array(final[1]) if has_cell else None,
        initial_hidden_state=np.array(initial[0]),
        initial_cell_state=np.array(initial[1]) if has_cell else None,
    )
