"""PyTorch: the gradients that `loss.backward()` has left in the weights of recurrent modules."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from torch.nn.parameter import Parameter

from lstm_gates_plugin import fused
from lstm_gates_plugin.frameworks.torch import weights
from lstm_gates_plugin.frameworks.torch.kinds import Place
from lstm_gates_plugin.frameworks.torch.layers import Found
from lstm_gates_plugin.frameworks.torch.weights import RefusedError
from lstm_gates_plugin.fused import Array
from lstm_gates_plugin.gradients import TrainingGradients
from lstm_gates_plugin.layer import RecurrentLayer

FROZEN = "frozen"
NOT_YET = "not computed yet"

# The gradient by one stored weight, or why there is none.
_Gradient: TypeAlias = "Array | str"


def read(found: Found, layers: Sequence[RecurrentLayer], scale: float) -> list[TrainingGradients]:
    """The gradients of a module's layers, split by gate as their weights are.

    Args:
        found: the module.
        layers: its layers.
        scale: what the loss was multiplied with before `backward()`.

    Raises:
        RefusedError: torch keeps no gradient by a weight, or not all of it is here.
    """
    return [
        _of_layer(found, place, layer, scale)
        for place, layer in zip(found.places, layers, strict=True)
    ]


def _of_layer(found: Found, place: Place, layer: RecurrentLayer, scale: float) -> TrainingGradients:
    names = ["weight_ih", "weight_hh"]
    names += [] if layer.bias is None else ["bias_ih", "bias_hh"]
    names += [] if layer.projection is None else ["weight_hr"]
    stored = {name: _gradient(found, name + place.suffix) for name in names}
    order = fused.gate_names(layer.cell, weights.GATE_ORDERS[layer.cell], layer.gates)
    parts: dict[str, Array] = {}
    missing: dict[str, str] = {}
    for row in layer.parts():
        name, _, gate = row.partition("/")
        gradient = _of_row(layer, stored, name, gate)
        if isinstance(gradient, str):
            missing[row] = gradient
            continue
        if gate:
            start = order.index(gate) * layer.units
            gradient = gradient[start : start + layer.units]
        parts[row] = gradient.T / scale
    return TrainingGradients(layer, parts, missing)


def _of_row(layer: RecurrentLayer, stored: dict[str, _Gradient], name: str, gate: str) -> _Gradient:
    """The gradient by the stored weight of which a row is a part.

    torch adds two biases, and the gradient by their sum is that by either. Where a reset gate
    scales one of them, they are two rows.
    """
    if name == "bias":
        inputs, recurrent = stored["bias_ih"], stored["bias_hh"]
        are_apart = layer.recurrent_bias is not None and gate in layer.recurrent_bias
        if are_apart or not isinstance(inputs, str):
            return inputs
        is_waiting = isinstance(recurrent, str) and NOT_YET in (inputs, recurrent)
        return NOT_YET if is_waiting else recurrent
    return stored[_STORED[name]]


_STORED = {
    "kernel": "weight_ih",
    "recurrent_kernel": "weight_hh",
    "recurrent_bias": "bias_hh",
    "projection": "weight_hr",
}


def _gradient(found: Found, name: str) -> _Gradient:
    parameter = weights.trained(found, name)
    if not isinstance(parameter, Parameter):
        raise RefusedError(
            f"the gradients of layer {found.id!r} cannot be logged: its {name!r} is computed from "
            "other parameters (by weight_norm or parametrize, for instance), and torch keeps no "
            "gradient by the weight itself."
        )
    if not parameter.requires_grad:
        return FROZEN
    if parameter.grad is None:
        return NOT_YET
    axes = 1 if name.startswith("bias") else 2
    return weights.to_array(found, f"{name}.grad", parameter.grad, axes)
