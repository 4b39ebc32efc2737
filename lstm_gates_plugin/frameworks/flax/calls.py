"""One recorded call of a Flax layer: from JAX's arrays to NumPy's, by input time."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import jax
import numpy as np

from lstm_gates_plugin.frameworks import stepped
from lstm_gates_plugin.frameworks.arriving import Arriving
from lstm_gates_plugin.frameworks.flax import cells
from lstm_gates_plugin.frameworks.flax.cells import Description
from lstm_gates_plugin.frameworks.jax_values import precision, to_numpy
from lstm_gates_plugin.frameworks.recorded import TOLERANCES, RecordedCall
from lstm_gates_plugin.fused import Array
from lstm_gates_plugin.layer import Direction, RecurrentLayer

#: One timestep of a cell: its variables, carry and inputs give its new carry and its output.
Step: TypeAlias = Callable[[Any, Any, Any], tuple[Any, Any]]

#: Layers that were read already, by what they were read from, which is kept beside them.
Read: TypeAlias = dict[tuple[Any, ...], tuple[RecurrentLayer, Any]]


@dataclass(frozen=True)
class Place:
    """A cell in a model. It refers to nothing that has arrays.

    Attributes:
        key: what tells it from the other cells of the model.
        id: the id of its layer.
        description: what the cell is.
        aliases: further paths of the layer.
        step: of a cell whose equations are not known.
    """

    key: tuple[str, ...]
    id: str
    description: Description
    aliases: Sequence[str] = ()
    step: Step | None = field(default=None, compare=False)

    def read(self, weights: Any, *, backward: bool = False) -> RecurrentLayer:
        """The layer, with these weights."""
        arrays = jax.tree.map(to_numpy, weights)
        direction: Direction = "backward" if backward else "forward"
        return cells.read(self.id, self.description, direction, arrays, self.aliases)


@dataclass(frozen=True)
class Call:
    """One call of one layer, as Flax arranges it.

    Attributes:
        place: the cell that was called.
        tensors: `inputs`, `lengths`, `initial` and `final` (carries), `output`, `weights` as
            `Place.read` takes them, and `variables`, as `Place.step` takes them. `lengths` and
            `initial` may be `None`. Where there is a loss also `arriving`, its gradients by the
            output and by each state of the final carry.
        backward: whether it reads the sequence from its end.
        is_reversed: whether `output` is in the order in which it read.
        time_axis: of `inputs` and `output`; `None` for the call of a cell, which have none.
        joins: see `RecordedCall`.
        is_source: which of the output and the states of the final carry a loss is differentiated
            by; one that is not is the same array as another. Empty if none is.
    """

    place: Place
    tensors: dict[str, Any] = field(repr=False)
    backward: bool = False
    is_reversed: bool = False
    time_axis: int | None = None
    joins: bool = True
    is_source: tuple[bool, ...] = ()

    def to_recorded(self, read: Read, samples: int | None = None) -> RecordedCall:
        """The first rows of the call in NumPy, by input time.

        Args:
            read: the layers that were read already; others are added.
            samples: how many rows at most.
        """
        inputs = self._sequence(self.tensors["inputs"], self.place.description.feature_axes)
        call = RecordedCall(
            layer=self._layer(read, inputs),
            inputs=inputs[:samples],
            rows=len(inputs),
            precision=self._precision(),
            joins=self.joins,
            batch_first=self._is_batch_first(),
        )
        if self.place.description.feature_axes > 1:
            return call
        mask: Array | None = None
        # An unknown cell may put out anything.
        is_sequence = getattr(self.tensors["output"], "ndim", None) == self.tensors["inputs"].ndim
        output = inputs[..., :0]
        if is_sequence:
            output = self._sequence(self.tensors["output"], 1)
        if self.tensors["lengths"] is not None:
            lengths = to_numpy(self.tensors["lengths"]).reshape(-1)
            mask = np.asarray(np.arange(inputs.shape[1]) < lengths[:, None])
        if self.is_reversed:
            output = reversed_sequences(output, mask)
        order = self._order(_last(output, mask, backward=self.backward))
        initial, final = self._carry("initial", order), self._carry("final", order)
        if final is not None and mask is not None:
            # Flax returns the carry behind the padding of a row without timesteps.
            started = initial or tuple(np.zeros_like(state) for state in final)
            ran = mask.sum(axis=1, keepdims=True) > 0
            final = tuple(
                np.where(ran, end, start) for end, start in zip(final, started, strict=True)
            )
        whole = replace(
            call,
            mask=None if mask is None else mask[:samples],
            hidden_state=output[:samples],
            initial_state=_cut(initial, samples),
            final_state=_cut(final, samples),
            arriving=self._arriving(mask, order, samples),
        )
        return self._stepped(whole, order) if whole.layer.cell == "unknown" else whole

    def _is_batch_first(self) -> bool:
        """Whether a batch, if there is one, comes before the time; a cell has no time."""
        features = self.place.description.feature_axes
        return self.time_axis is not None and (
            self.time_axis > 0 or self.tensors["inputs"].ndim == features + 1
        )

    def _layer(self, read: Read, inputs: Array) -> RecurrentLayer:
        weights = self.tensors["weights"]
        # The very arrays: they are never written to.
        key = (self.place.key, self.backward, *map(id, jax.tree.leaves(weights)))
        if key not in read:
            layer = self.place.read(weights, backward=self.backward)
            if layer.cell == "unknown":
                units = self._units()
                layer = replace(
                    layer, input_size=inputs.shape[-1], units=units, recurrent_size=units
                )
            read[key] = layer, weights
        return read[key][0]

    def _units(self) -> int:
        states = jax.tree.leaves(self.tensors["final"])
        sized = [state.shape[-1] for state in states if state.ndim]
        return sized[0] if sized else 0

    def _precision(self) -> str:
        declared = self.place.description.compute_dtype
        leaves = jax.tree.leaves((self.tensors["inputs"], self.tensors["weights"]))
        name = precision(declared or str(jax.numpy.result_type(*leaves)))
        return name if name in TOLERANCES else "float32"

    def _sequence(self, value: Any, feature_axes: int) -> Array:
        """An array as `[rows, time, *features]`, whatever axes the batch has."""
        array, place = to_numpy(value), -1 - feature_axes
        if self.time_axis is None:
            array = np.expand_dims(array, place)
        else:
            array = np.moveaxis(array, self.time_axis, place)
        batch, rest = array.shape[:place], array.shape[place:]
        return array.reshape(math.prod(batch), *rest)

    def _order(self, last: Array) -> tuple[int, ...]:
        """The places in a carry of the hidden state, which is first, and of the others.

        An LSTM of Flax carries `(cell, hidden)`. Of an unknown cell it is the state that it puts
        out, if it is one.
        """
        states = [to_numpy(state) for state in jax.tree.leaves(self.tensors["final"])]
        if self.place.description.has_cell_state and len(states) == 2:
            return 1, 0
        shown = [
            k
            for k, state in enumerate(states)
            if state.size == last.size and np.array_equal(state.reshape(last.shape), last)
        ]
        first = shown[0] if shown else 0
        return first, *(k for k in range(len(states)) if k != first)

    def _carry(self, name: str, order: Sequence[int]) -> tuple[Array, ...] | None:
        """The states of a carry, `[rows, size]` each; `None` if there are none of that form."""
        if self.tensors[name] is None:
            return None
        states = [to_numpy(state) for state in jax.tree.leaves(self.tensors[name])]
        axes = self.tensors["inputs"].ndim - (0 if self.time_axis is None else 1)
        if any(state.ndim != axes for state in states):
            return None
        return tuple(_rows(states[k]) for k in order)

    def _arriving(
        self, mask: Array | None, order: Sequence[int], samples: int | None
    ) -> Arriving | None:
        """The gradients that came back, by input time."""
        given = self.tensors.get("arriving")
        if given is None:
            return None
        output, *states = (None if array is None else to_numpy(array) for array in given)
        of_output = None
        if self.time_axis is None:  # what a cell puts out is its hidden state
            hidden = [array for array in (output, states[order[0]]) if array is not None]
            states[order[0]] = np.add.reduce(hidden)
        elif output is not None:
            of_output = self._sequence(output, 1)
            if self.is_reversed:
                of_output = reversed_sequences(of_output, mask)
        flat = [None if state is None else _rows(state) for state in states]
        # Flax runs behind the length of a sequence too.
        arriving = Arriving(of_output, tuple(flat[k] for k in order), runs_on=True)
        return arriving.map(lambda array: array[:samples])

    def _stepped(self, call: RecordedCall, order: Sequence[int]) -> RecordedCall:
        """The call of a cell that is stepped by Flax, as far as it can be, for its states."""
        call = replace(call, hidden_state=None)  # what it puts out need not be its state
        step, structure = self.place.step, jax.tree.structure(self.tensors["final"])
        if step is None or call.initial_state is None:
            return call
        variables = self.tensors["variables"]

        def one(inputs: Array, states: tuple[Array, ...]) -> tuple[Array, tuple[Array, ...]]:
            leaves = [state for _, state in sorted(zip(order, states, strict=True), key=_first)]
            carry, output = step(variables, jax.tree.unflatten(structure, leaves), inputs)
            new = [to_numpy(state) for state in jax.tree.leaves(carry)]
            return to_numpy(jax.tree.leaves(output)[0]), tuple(new[k] for k in order)

        try:
            did = stepped.run(
                one, call.inputs, call.mask, call.initial_state, backward=self.backward
            )
        except Exception:  # the user's own code, which may want random numbers, say
            return call
        both = self.place.description.has_cell_state
        return replace(call, stepped=did._replace(states=did.states[: 2 if both else 1]))


def reversed_sequences(array: Array, mask: Array | None) -> Array:
    """Sequences `[rows, time, ...]` turned round, each within its own timesteps, as Flax does."""
    time = array.shape[1]
    if mask is None:
        return array[:, ::-1]
    lengths = mask.sum(axis=1, keepdims=True)
    places = (np.arange(time)[::-1] + lengths) % max(time, 1)
    result: Array = np.take_along_axis(array, places[..., None], axis=1)
    return result


def _last(output: Array, mask: Array | None, *, backward: bool) -> Array:
    """What a layer put out at the last timestep that it read, `[rows, size]`."""
    rows = np.arange(len(output))
    if not output.shape[1]:
        return np.zeros((len(rows), output.shape[2]), output.dtype)
    last = np.full(len(rows), output.shape[1] - 1) if mask is None else mask.sum(axis=1) - 1
    result: Array = output[rows, 0 if backward else np.maximum(last, 0)]
    return result


def _rows(state: Array) -> Array:
    """A state as `[rows, size]`, whatever axes the batch has."""
    return state.reshape(math.prod(state.shape[:-1]), state.shape[-1])


def _cut(states: tuple[Array, ...] | None, samples: int | None) -> tuple[Array, ...] | None:
    return None if states is None else tuple(state[:samples] for state in states)


def _first(pair: tuple[int, Array]) -> int:
    return pair[0]
