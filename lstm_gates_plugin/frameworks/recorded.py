"""What a framework's adapter records: what went into a layer and what came out, in NumPy."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from lstm_gates_plugin.frameworks.arriving import Arriving
from lstm_gates_plugin.frameworks.stepped import Stepped
from lstm_gates_plugin.fused import Array
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
        joins: whether the call can go on with the sequence of an earlier one. Not so where both
            directions of a layer read a sequence in stretches: the backward one starts each from
            its own end, and what it then read is no sequence that anybody has.
        goes_on: whether the framework's call is known to have been given the very states that the
            call before it returned. Otherwise their values tell, unless they are zero.
        batch_first: see `GateTrace`.
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
    joins: bool = True
    goes_on: bool = False
    batch_first: bool = True
    compared: bool = True
    arriving: Arriving | None = None

    @property
    def row_count(self) -> int:
        """How many rows the call had in the framework."""
        return len(self.inputs) if self.rows is None else self.rows

    @property
    def ran(self) -> Array:
        """`[batch, time]`, true where a timestep was run."""
        return np.ones(self.inputs.shape[:2], dtype=bool) if self.mask is None else self.mask

    def continues(self, earlier: RecordedCall) -> bool:
        """Whether this call started from the state in which an earlier one of its layer ended."""
        if not self.joins or self.row_count != earlier.row_count or self.initial_state is None:
            return False
        # Zero is where every sequence starts, and where that of a dead layer ends.
        is_zero = all(start.size and not start.any() for start in self.initial_state)
        if is_zero and not self.goes_on:
            return False
        ended = earlier.final_state
        if ended is None:  # the output at the last timestep is the state of all but an LSTM
            output = earlier.last_hidden_state
            if output is None and earlier.hidden_state is not None:
                output = earlier.hidden_state[:, 0 if self.layer.direction == "backward" else -1]
            ended = () if output is None else (output,)
        return len(self.initial_state) == len(ended) and all(
            np.array_equal(start, end, equal_nan=True)
            for start, end in zip(self.initial_state, ended, strict=True)
        )


class Observation(NamedTuple):
    """What an adapter saw while a model ran once."""

    layers: list[RecurrentLayer]  # all of the model's, also those that did not run
    calls: list[RecordedCall]
    outputs: Any  # nested as the model returned them: torch's own tensors, or NumPy arrays
    unseen: Mapping[str, str] = MappingProxyType({})  # why a layer has no call though it ran, by id


#: Gives what was seen so far, with the gradients of a loss if it is given one.
Observe: TypeAlias = Callable[..., Observation]
