"""The way back through the activation functions: each one's derivative, in NumPy.

A pullback takes the pre-activation z, the activation a(z) and the gradient of the loss by a, and
gives the gradient by z. Where a function has a corner, the derivative is that of its flat side, as
in torch and TensorFlow.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import TypeAlias

import numpy as np

from lstm_gates_plugin.cells.activations import ACTIVATIONS, sigmoid
from lstm_gates_plugin.fused import Array
from lstm_gates_plugin.layer import RecurrentLayer

Pullback: TypeAlias = Callable[[Array, Array, Array], Array]


def _slope(derivative: Callable[[Array, Array], Array]) -> Pullback:
    """Of a function of each element, whose derivative is given by z and a(z)."""

    def pull(z: Array, a: Array, gradient: Array) -> Array:
        pulled: Array = gradient * derivative(z, a)
        return pulled

    return pull


def _pieces(derivative: Callable[[Array], Array]) -> Pullback:
    """The same, where the function is flat in places: nothing comes back there."""

    def pull(z: Array, a: Array, gradient: Array) -> Array:
        steep = derivative(z)
        # Without a multiplication where it is flat, since inf * 0 is not a number.
        pulled: Array = np.where(steep != 0, gradient, 0) * steep.astype(z.dtype)
        return pulled

    return pull


def _gelu(z: Array, a: Array) -> Array:
    erf = np.vectorize(math.erf, otypes=[np.float64])(z * math.sqrt(0.5))
    density = np.exp(-0.5 * z * z) / math.sqrt(2 * math.pi)
    slope: Array = (0.5 * (1 + erf) + z * density).astype(z.dtype)
    return slope


def _gelu_tanh(z: Array, a: Array) -> Array:
    scale = math.sqrt(2 / math.pi)
    tanh = np.tanh(scale * (z + 0.044715 * z**3))
    inner = scale * (1 + 3 * 0.044715 * z * z)
    slope: Array = 0.5 * (1 + tanh) + 0.5 * z * (1 - tanh * tanh) * inner
    return slope


def _mish(z: Array, a: Array) -> Array:
    tanh = np.tanh(ACTIVATIONS["softplus"](z))
    slope: Array = tanh + z * (1 - tanh * tanh) * sigmoid(z)
    return slope


def _silu(z: Array, a: Array) -> Array:
    open_ = sigmoid(z)
    slope: Array = open_ * (1 + z * (1 - open_))
    return slope


def _softmax(z: Array, a: Array, gradient: Array) -> Array:
    pulled: Array = a * (gradient - (gradient * a).sum(axis=-1, keepdims=True))
    return pulled


def _log_softmax(z: Array, a: Array, gradient: Array) -> Array:
    pulled: Array = gradient - np.exp(a) * gradient.sum(axis=-1, keepdims=True)
    return pulled


def _inside(z: Array, bound: float) -> Array:
    return np.abs(z) < bound


_SELU_SCALE, _SELU_ALPHA = 1.0507009873554805, 1.6732632423543772

#: By name, one for each function of `activations.ACTIVATIONS`.
PULLBACKS: Mapping[str, Pullback] = {
    "celu": _slope(lambda z, a: np.where(z > 0, 1, a + 1)),
    "elu": _slope(lambda z, a: np.where(z > 0, 1, a + 1)),
    "exponential": _slope(lambda z, a: a),
    "gelu": _slope(_gelu),
    "gelu_tanh": _slope(_gelu_tanh),
    "hard_shrink": _pieces(lambda z: np.abs(z) > 0.5),
    "hard_sigmoid": _pieces(lambda z: _inside(z, 3) / 6),
    "hard_sigmoid_keras2": _pieces(lambda z: _inside(z, 2.5) * 0.2),
    "hard_silu": _slope(lambda z, a: np.clip(z + 3, 0, 6) / 6 + z * _inside(z, 3) / 6),
    "hard_tanh": _pieces(lambda z: _inside(z, 1)),
    "leaky_relu": _slope(lambda z, a: np.where(z > 0, 1, 0.2).astype(z.dtype)),
    "linear": _slope(lambda z, a: np.ones_like(z)),
    "log_sigmoid": _slope(lambda z, a: sigmoid(-z)),
    "log_softmax": _log_softmax,
    "mish": _slope(_mish),
    "relu": _pieces(lambda z: z > 0),
    "relu6": _pieces(lambda z: (z > 0) & (z < 6)),
    "selu": _slope(lambda z, a: np.where(z > 0, _SELU_SCALE, a + _SELU_SCALE * _SELU_ALPHA)),
    "sigmoid": _slope(lambda z, a: a * (1 - a)),
    "silu": _slope(_silu),
    "soft_shrink": _pieces(lambda z: np.abs(z) > 0.5),
    "softmax": _softmax,
    "softplus": _slope(lambda z, a: sigmoid(z)),
    "softsign": _slope(lambda z, a: 1 / (1 + np.abs(z)) ** 2),
    "sparse_plus": _pieces(lambda z: np.where(z <= -1, 0, np.where(z < 1, 0.5 * (z + 1), 1))),
    "sparse_sigmoid": _pieces(lambda z: _inside(z, 1) * 0.5),
    "squareplus": _slope(lambda z, a: 0.5 * (1 + z / np.sqrt(z * z + 4))),
    "tanh": _slope(lambda z, a: 1 - a * a),
    "tanh_shrink": _slope(lambda z, a: (z - a) ** 2),
}


def pullback(layer: RecurrentLayer, option: str) -> Pullback:
    """The way back through the function that `option` names: the user's own, or one of ours.

    Raises:
        ValueError: the function is the user's own, and the framework gave no way back through it.
    """
    if option not in layer._functions:
        return PULLBACKS[layer.options[option]]
    if option not in layer._pullbacks:
        raise ValueError(
            f"the gradients of layer {layer.id!r} cannot be computed: its {option} "
            f"{layer.options[option]!r} is a function whose derivative is not known."
        )
    own = layer._pullbacks[option]
    return lambda z, a, gradient: own(np.broadcast_to(z, gradient.shape), gradient)
