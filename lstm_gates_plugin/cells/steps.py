"""What the cells share: the sequence as a cell reads it, and what it did at each timestep."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from lstm_gates_plugin.cells.activations import activation
from lstm_gates_plugin.fused import Array
from lstm_gates_plugin.layer import RecurrentLayer


class Steps(NamedTuple):
    """A batch of sequences, time first, in the order in which the layer reads them."""

    inputs: Array  # [time, batch, input_size]
    mask: Array | None  # [time, batch], true where the timestep is run; None if all are
    hidden: Array  # [batch, recurrent_size], the initial state
    cell: Array  # [batch, units], the initial cell state; only an LSTM has one

    def carry(self, t: int, new: Array, old: Array) -> Array:
        """The state after timestep `t`: the new one, or the old one where `t` is masked."""
        return new if self.mask is None else np.where(self.mask[t][:, None], new, old)


class Run(NamedTuple):
    """What a cell did, time first, in the order in which the layer reads. States are carried."""

    gates: Mapping[str, Array]  # [time, batch, units] each
    preactivations: Mapping[str, Array]  # [time, batch, units] each
    hidden: Array  # [time, batch, recurrent_size]
    cell: Array | None = None  # [time, batch, units]


def fuse(parts: Mapping[str, Array], gates: Sequence[str]) -> Array:
    """The parts of some gates side by side, so that one matrix product serves them all."""
    return np.concatenate([parts[gate] for gate in gates], axis=-1)


def input_products(layer: RecurrentLayer, inputs: Array) -> Array:
    """`x @ kernel + bias` of all gates and timesteps, `[time, batch, gates * units]`."""
    time, batch, size = inputs.shape
    products = inputs.reshape(time * batch, size) @ fuse(layer.kernel, layer.gates)
    if layer.bias is not None:
        products += fuse(layer.bias, layer.gates)
    return products.reshape(time, batch, len(layer.gates) * layer.units)


def views(layer: RecurrentLayer, array: Array) -> dict[str, Array]:
    """The gates' views of an array whose last axis holds them side by side."""
    return {
        gate: array[..., k * layer.units : (k + 1) * layer.units]
        for k, gate in enumerate(layer.gates)
    }


def function(layer: RecurrentLayer, option: str) -> Callable[[Array], Array]:
    """The activation function that `option` names: the user's own, or one of ours."""
    return layer._functions.get(option) or activation(layer.options[option])
