"""The activation functions that the frameworks offer for recurrent layers, in NumPy.

Names are those of `keras.activations`, whose definitions these follow (Keras 3); a function that
another framework or an older Keras defines differently under the same name has a name of its own.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import numpy as np

from lstm_gates_plugin.fused import Array


def sigmoid(x: Array) -> Array:
    """1 / (1 + exp(-x)), through tanh, which cannot overflow."""
    result: Array = np.multiply(x, 0.5)
    np.tanh(result, out=result)
    result += 1
    result *= 0.5
    return result


def _softplus(x: Array) -> Array:
    return np.logaddexp(x, 0).astype(x.dtype, copy=False)


def _softmax(x: Array) -> Array:
    powers = np.exp(x - x.max(axis=-1, keepdims=True))
    result: Array = powers / powers.sum(axis=-1, keepdims=True)
    return result


def _log_softmax(x: Array) -> Array:
    shifted = x - x.max(axis=-1, keepdims=True)
    result: Array = shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))
    return result


def _elu(x: Array) -> Array:
    return np.where(x > 0, x, np.expm1(np.minimum(x, 0)))


def _hard_sigmoid(x: Array) -> Array:
    result: Array = np.clip(x + 3, 0, 6) / 6
    return result


def _gelu(x: Array) -> Array:
    # NumPy has no error function.
    erf = np.vectorize(math.erf, otypes=[np.float64])(x * math.sqrt(0.5))
    result: Array = (0.5 * x * (1 + erf)).astype(x.dtype)
    return result


def _gelu_tanh(x: Array) -> Array:
    result: Array = 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))
    return result


#: Functions from an array `[..., units]` to one of the same shape and dtype, by name.
ACTIVATIONS: Mapping[str, Callable[[Array], Array]] = {
    "celu": _elu,
    "elu": _elu,
    "exponential": np.exp,
    "gelu": _gelu,
    "gelu_tanh": _gelu_tanh,
    "hard_shrink": lambda x: np.where(np.abs(x) > 0.5, x, 0),
    "hard_sigmoid": _hard_sigmoid,
    "hard_sigmoid_keras2": lambda x: np.clip(0.2 * x + 0.5, 0, 1),
    "hard_silu": lambda x: x * _hard_sigmoid(x),
    "hard_tanh": lambda x: np.clip(x, -1, 1),
    "leaky_relu": lambda x: np.where(x > 0, x, 0.2 * x),
    "linear": lambda x: x,
    "log_sigmoid": lambda x: -_softplus(-x),
    "log_softmax": _log_softmax,
    "mish": lambda x: x * np.tanh(_softplus(x)),
    "relu": lambda x: np.maximum(x, 0),
    "relu6": lambda x: np.clip(x, 0, 6),
    "selu": lambda x: 1.0507009873554805 * np.where(x > 0, x, 1.6732632423543772 * _elu(x)),
    "sigmoid": sigmoid,
    "silu": lambda x: x * sigmoid(x),
    "soft_shrink": lambda x: np.sign(x) * np.maximum(np.abs(x) - 0.5, 0),
    "softmax": _softmax,
    "softplus": _softplus,
    "softsign": lambda x: x / (1 + np.abs(x)),
    "sparse_plus": lambda x: np.where(x <= -1, 0, np.where(x < 1, 0.25 * (x + 1) ** 2, x)),
    "sparse_sigmoid": lambda x: np.clip(0.5 * (x + 1), 0, 1),
    "squareplus": lambda x: 0.5 * (x + np.sqrt(x * x + 4)),
    "tanh": np.tanh,
    "tanh_shrink": lambda x: x - np.tanh(x),
}


def activation(name: str) -> Callable[[Array], Array]:
    """The function of that name.

    Raises:
        ValueError: there is none.
    """
    if name not in ACTIVATIONS:
        raise ValueError(
            f"there is no activation {name!r}; there are {', '.join(sorted(ACTIVATIONS))}."
        )
    return ACTIVATIONS[name]
