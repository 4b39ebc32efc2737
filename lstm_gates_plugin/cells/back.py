"""What the cells share on the way back through time: what they did, and what comes back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from lstm_gates_plugin.fused import Array
from lstm_gates_plugin.gate_trace import GateTrace
from lstm_gates_plugin.layer import RecurrentLayer


@dataclass(frozen=True)
class Taken:
    """What a cell did, time first, in the order in which the layer read. Masked entries are zero.

    Attributes:
        layer: the layer.
        mask: `[time, batch]`, true where the timestep was run; `None` if all were.
        gates: `[time, batch, units]` each.
        preactivations: `[time, batch, units]` each.
        hidden: the carried states, `[time + 1, batch, recurrent_size]`: `hidden[t]` before
            timestep t, `hidden[t + 1]` after it.
        cell: the same of the cell state, `[time + 1, batch, units]`.
    """

    layer: RecurrentLayer
    mask: Array | None
    gates: Mapping[str, Array]
    preactivations: Mapping[str, Array]
    hidden: Array
    cell: Array | None

    @classmethod
    def of(cls, trace: GateTrace) -> Taken:
        """What a trace says that its layer did."""
        ran = in_reading_order(trace.layer, trace.mask)
        mask = None if ran.all() else ran

        def unmasked(array: Array) -> Array:
            by_step = in_reading_order(trace.layer, array)
            return by_step if mask is None else np.where(mask[..., None], by_step, 0)

        def carried(array: Array, initial: Array) -> Array:
            states = np.concatenate([initial[None], in_reading_order(trace.layer, array)])
            for t in range(len(ran) if mask is not None else 0):
                states[t + 1] = np.where(ran[t][:, None], states[t + 1], states[t])
            return states

        cell = None
        if trace.cell_state is not None and trace.initial_cell_state is not None:
            cell = carried(trace.cell_state, trace.initial_cell_state)
        return cls(
            trace.layer,
            mask,
            {gate: unmasked(array) for gate, array in trace.gates.items()},
            {gate: unmasked(array) for gate, array in trace.preactivations.items()},
            carried(trace.hidden_state, trace.initial_hidden_state),
            cell,
        )

    def ran(self, t: int, gradient: Array) -> Array:
        """A gradient of timestep `t`, zero for the rows in which it was masked."""
        return gradient if self.mask is None else np.where(self.mask[t][:, None], gradient, 0)

    def before(self, t: int, through: Array, around: Array) -> Array:
        """The gradient before timestep `t`: through it, or around it where it was masked."""
        return through if self.mask is None else np.where(self.mask[t][:, None], through, around)


@dataclass(frozen=True)
class Returned:
    """What comes back, `[time, ..., batch, size]`; axes between are those of what was given.

    Attributes:
        hidden: the total gradient by the hidden state at each timestep.
        first_hidden: the same by the initial state, `[..., batch, size]`.
        preactivations: by gate.
        products: by gate, the gradient of its recurrent product, where it is not that of the
            pre-activation.
        recurrent_inputs: by gate, what its recurrent kernel was multiplied with, where that is not
            the hidden state before the timestep.
        cell: the total gradient by the cell state.
        first_cell: the same by the initial one.
    """

    hidden: Array
    first_hidden: Array
    preactivations: Mapping[str, Array]
    products: Mapping[str, Array] = field(default_factory=dict)
    recurrent_inputs: Mapping[str, Array] = field(default_factory=dict)
    cell: Array | None = None
    first_cell: Array | None = None


def in_reading_order(layer: RecurrentLayer, array: Array) -> Array:
    """`[batch, time, ...]` by input time as `[time, batch, ...]` in the order of reading."""
    turned = array.swapaxes(0, 1)
    return turned[::-1] if layer.direction == "backward" else turned


def by_input_time(layer: RecurrentLayer, array: Array) -> Array:
    """`[time, batch, ...]` in the order of reading as `[batch, time, ...]` by input time."""
    ordered = array[::-1] if layer.direction == "backward" else array
    return ordered.swapaxes(0, 1)
