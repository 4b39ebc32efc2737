"""Gradients: what the loss says to one call of one recurrent layer, through all of time.

And TrainingGradients: what training has left in the weights of a layer.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from lstm_gates_plugin.fused import Array
from lstm_gates_plugin.layer import RecurrentLayer


@dataclass(frozen=True, eq=False)
class Gradients:
    """The gradient of the loss by everything in one trace.

    All are total: what reaches a state at a timestep comes through the layer's output at that
    timestep and through all later ones. Arrays over time are by the timestep of the input, and
    entries at masked timesteps are NaN, as in `GateTrace`.

    Attributes:
        output: the direct part of `hidden_state`: by the layer's output at that timestep alone, and
            at the last one also by the final state, `[batch, time, recurrent_size]`.
        hidden_state: `[batch, time, recurrent_size]`.
        cell_state: `[batch, time, units]`, or `None` for a cell without one.
        preactivations: by gate, `[batch, time, units]`.
        inputs: by the layer's inputs, `[batch, time, input_size]`.
        initial_hidden_state: `[batch, recurrent_size]`.
        initial_cell_state: `[batch, units]`, or `None`.
        kernel: by gate, `(input_size, units)`: summed over the batch and time, as in training.
        recurrent_kernel: by gate, `(recurrent_size, units)`.
        bias: by gate, `(units,)`, or `None` where the layer has none.
        recurrent_bias: as the layer's own.
        peephole: as the layer's own.
        projection: as the layer's own.
    """

    output: Array = field(repr=False)
    hidden_state: Array = field(repr=False)
    cell_state: Array | None = field(repr=False)
    preactivations: Mapping[str, Array] = field(repr=False)
    inputs: Array = field(repr=False)
    initial_hidden_state: Array = field(repr=False)
    initial_cell_state: Array | None = field(repr=False)
    kernel: Mapping[str, Array] = field(repr=False)
    recurrent_kernel: Mapping[str, Array] = field(repr=False)
    bias: Mapping[str, Array] | None = field(default=None, repr=False)
    recurrent_bias: Mapping[str, Array] | None = field(default=None, repr=False)
    peephole: Mapping[str, Array] | None = field(default=None, repr=False)
    projection: Array | None = field(default=None, repr=False)


@dataclass(frozen=True, eq=False)
class TrainingGradients:
    """The gradients of a training step by the weights of one layer.

    Attributes:
        layer: the layer.
        parts: by row name of `layer.parts()`, in its shape.
        missing: by row name, why there is none: `"frozen"` or `"not computed yet"`.
    """

    layer: RecurrentLayer
    parts: Mapping[str, Array] = field(repr=False)
    missing: Mapping[str, str]
