"""The gradients of a loss by what a recurrent layer put out, and what they become inside of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np

from lstm_gates_plugin.cells import forward
from lstm_gates_plugin.cells.back import Taken
from lstm_gates_plugin.cells.through_time import backward
from lstm_gates_plugin.fused import Array
from lstm_gates_plugin.gate_trace import GateTrace
from lstm_gates_plugin.gradients import Gradients

#: Of a total gradient, what is left beside the later part of it and is no more than rounding.
_ROUNDING = 1e-5

Join: TypeAlias = Callable[[Sequence[Array]], Array]


@dataclass(frozen=True)
class Arriving:
    """What the framework gave for one call; `None` where the loss does not depend on it.

    Attributes:
        output: by the output at each timestep, `[batch, time, recurrent_size]`, by input time.
        final_state: by the states after the call, `[batch, size]` each. Where a later call starts
            from them, what comes back from there is in them.
        repeats_output: whether the output of a masked timestep is that of the one before it.
        runs_on: whether masked timesteps, which are read after all others, are run as well, and
            only the final state is that before them.
    """

    output: Array | None = None
    final_state: tuple[Array | None, ...] = ()
    repeats_output: bool = False
    runs_on: bool = False

    def map(self, function: Callable[[Array], Array]) -> Arriving:
        """The same with a function of each array."""
        return replace(
            self,
            output=None if self.output is None else function(self.output),
            final_state=tuple(None if s is None else function(s) for s in self.final_state),
        )

    def gathered(self, mask: Array | None, direction: str) -> Arriving:
        """The gradients by outputs that were repeated, at the timesteps that made these."""
        if self.output is None or not self.repeats_output or mask is None:
            return replace(self, repeats_output=False)
        order = slice(None, None, -1) if direction == "backward" else slice(None)
        ran, output = mask[:, order], self.output[:, order].copy()
        for t in reversed(range(1, ran.shape[1])):
            masked = ~ran[:, t]
            output[masked, t - 1] += output[masked, t]
        return replace(self, output=output[:, order], repeats_output=False)

    @staticmethod
    def joined(parts: Sequence[Arriving], join: Join) -> Arriving:
        """Several made one by a function that makes one array of several."""

        def each(arrays: Sequence[Array | None]) -> Array | None:
            like = next((array for array in arrays if array is not None), None)
            if like is None:
                return None
            return join([np.zeros_like(like) if array is None else array for array in arrays])

        states = zip(*(part.final_state for part in parts), strict=True)
        return Arriving(
            each([part.output for part in parts]),
            tuple(each(of_state) for of_state in states),
            parts[0].repeats_output,
            parts[0].runs_on,
        )


def single_number(value: Any) -> Any:
    """The loss itself.

    Raises:
        ValueError: it is not a single number.
    """
    shape = tuple(getattr(value, "shape", ()))
    if shape not in ((), (1,)):
        raise ValueError(
            f"the loss must be a single number, and one of shape {shape} was returned: take its "
            "mean, or its sum."
        )
    return value[0] if shape else value


def through(
    trace: GateTrace,
    inputs: Sequence[Array],
    arriving: Sequence[Arriving],
    initial: Sequence[tuple[Array, ...] | None],
) -> Gradients:
    """The gradients of a sequence that was run in one call or several.

    Args:
        trace: of the sequence.
        inputs: of each call, in the order of the calls.
        arriving: likewise.
        initial: the states from which each call started, likewise.
    """
    backwards = trace.layer.direction == "backward"
    found: list[Gradients] = []
    stop = sum(x.shape[1] for x in inputs) if backwards else 0
    for number, x in enumerate(inputs):
        start = stop - x.shape[1] if backwards else stop
        part = trace
        if len(inputs) > 1:
            part = _part(trace, start, start + x.shape[1], initial[number])
        found.append(_through_one(part, x, arriving[number]))
        stop = start if backwards else start + x.shape[1]
    return found[0] if len(found) == 1 else _joined(found, backwards)


def by_inputs(trace: GateTrace, inputs: Array, arriving: Arriving) -> Array:
    """The gradient by what a layer read, `[batch, time, input_size]`, zero where it was masked."""
    found = _through_one(trace, inputs, arriving).inputs
    return np.where(trace.mask[..., None], found, 0)


def _through_one(trace: GateTrace, inputs: Array, arriving: Arriving) -> Gradients:
    gathered = arriving.gathered(trace.mask, trace.layer.direction)
    if gathered.runs_on and not trace.mask.all():
        return _through_padding(trace, inputs, gathered)
    return backward(trace, inputs, gathered.output, gathered.final_state)


def _through_padding(trace: GateTrace, inputs: Array, arriving: Arriving) -> Gradients:
    """The gradients of a sequence whose padding was run too.

    What comes back through the padding arrives at the last state of the sequence. Padding uses the
    weights, so its part is in their gradients, as it is in training.
    """
    taken, empty = Taken.of(trace), ~trace.mask.any(axis=1, keepdims=True)
    ended = [taken.hidden[-1]] if taken.cell is None else [taken.hidden[-1], taken.cell[-1]]
    given = [*arriving.final_state, None, None][: len(ended)]
    final = [np.zeros_like(end) if g is None else g for g, end in zip(given, ended, strict=True)]
    # The final state of a row without a sequence is that behind the padding.
    of_empty = tuple(np.where(empty, gradient, 0) for gradient in final)
    padding = forward(trace.layer, inputs, ~trace.mask, tuple(ended))
    behind = backward(padding, inputs, arriving.output, of_empty)
    returned = [behind.initial_hidden_state, behind.initial_cell_state]
    final = [
        np.where(empty, 0, gradient) + back
        for gradient, back in zip(final, returned, strict=False)
        if back is not None
    ]
    found = backward(trace, inputs, arriving.output, tuple(final))
    return replace(found, **_of_weights([found, behind]))


def _part(trace: GateTrace, start: int, stop: int, initial: tuple[Array, ...] | None) -> GateTrace:
    """The stretch of a trace that one call made."""

    def cut(array: Array) -> Array:
        return array[:, start:stop]

    layer, dtype = trace.layer, trace.hidden_state.dtype
    batch = len(trace.mask)
    hidden, cell = np.zeros((batch, layer.recurrent_size)), np.zeros((batch, layer.units))
    if initial is not None:
        hidden, cell = initial[0], initial[1] if len(initial) > 1 else cell
    return replace(
        trace,
        gates={gate: cut(array) for gate, array in trace.gates.items()},
        preactivations={gate: cut(array) for gate, array in trace.preactivations.items()},
        hidden_state=cut(trace.hidden_state),
        cell_state=None if trace.cell_state is None else cut(trace.cell_state),
        mask=cut(trace.mask),
        initial_hidden_state=np.asarray(hidden, dtype),
        initial_cell_state=None if trace.cell_state is None else np.asarray(cell, dtype),
    )


def _joined(parts: Sequence[Gradients], backwards: bool) -> Gradients:
    """The gradients of one sequence from those of its calls, in the order of the calls."""
    by_time = parts[::-1] if backwards else parts

    def over_time(arrays: Sequence[Array]) -> Array:
        return np.concatenate(arrays, axis=1)

    direct = [
        _direct(part, parts[number + 1] if number + 1 < len(parts) else None, backwards)
        for number, part in enumerate(parts)
    ]
    cell_states = [part.cell_state for part in by_time if part.cell_state is not None]
    return Gradients(
        output=over_time(direct[::-1] if backwards else direct),
        hidden_state=over_time([part.hidden_state for part in by_time]),
        cell_state=over_time(cell_states) if cell_states else None,
        preactivations={
            gate: over_time([part.preactivations[gate] for part in by_time])
            for gate in parts[0].preactivations
        },
        inputs=over_time([part.inputs for part in by_time]),
        initial_hidden_state=parts[0].initial_hidden_state,
        initial_cell_state=parts[0].initial_cell_state,
        **_of_weights(parts),
    )


def _of_weights(parts: Sequence[Gradients]) -> dict[str, Any]:
    """The gradients by weights of several parts of a sequence, summed."""
    summed: dict[str, Any] = {}
    for name in ("kernel", "recurrent_kernel", "bias", "recurrent_bias", "peephole"):
        of_parts = [getattr(part, name) for part in parts]
        summed[name] = of_parts[0] and {
            gate: np.add.reduce([one[gate] for one in of_parts]) for gate in of_parts[0]
        }
    projections = [part.projection for part in parts if part.projection is not None]
    return {**summed, "projection": np.add.reduce(projections) if projections else None}


def _direct(part: Gradients, following: Gradients | None, backwards: bool) -> Array:
    """The direct part of a call whose final state the next call started from."""
    if following is None or part.output.shape[1] == 0:
        return part.output
    direct, last = part.output.copy(), 0 if backwards else -1
    total = direct[:, last]
    rest = total - following.initial_hidden_state
    direct[:, last] = np.where(np.abs(rest) <= _ROUNDING * np.abs(total), 0, rest)
    return direct
