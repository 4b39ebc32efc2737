"""Keras: the activation functions of a cell, also those that are the user's own."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from lstm_gates_plugin.cells.activations import ACTIVATIONS
from lstm_gates_plugin.frameworks.keras.family import Keras
from lstm_gates_plugin.fused import Array


@dataclass(frozen=True)
class Activations:
    """The activation functions of one cell, by option.

    Attributes:
        names: what they are called.
        functions: those that are the user's own, from array to array.
        pullbacks: the way back through these, see `RecurrentLayer`.
    """

    names: dict[str, str] = field(default_factory=dict)
    functions: dict[str, Callable[[Array], Array]] = field(default_factory=dict)
    pullbacks: dict[str, Callable[[Array, Array], Array]] = field(default_factory=dict)


def of_cell(keras: Keras, cell: Any) -> Activations:
    """The activation functions of a cell."""
    found = Activations()
    for option in ("activation", "recurrent_activation"):
        function = getattr(cell, option, None)
        if function is None:  # a simple RNN has no gates, and cuDNN no choice
            continue
        name = getattr(function, "__name__", type(function).__name__)
        of_keras = getattr(keras.module.activations, name, None) is function
        if of_keras and name == "hard_sigmoid":
            name = keras.hard_sigmoid
        found.names[option] = name
        if name not in ACTIVATIONS or not of_keras:
            found.functions[option] = _on_arrays(keras, function)
            found.pullbacks[option] = _pullback(keras, function)
    return found


def _on_arrays(keras: Keras, function: Any) -> Callable[[Array], Array]:
    return lambda x: keras.array(function(keras.tensor(x))).astype(x.dtype)


def _pullback(keras: Keras, function: Any) -> Callable[[Array, Array], Array]:
    """The framework's own derivative of a function."""

    def of_tensorflow(z: Any, gradient: Any) -> Any:
        with sys.modules["tensorflow"].GradientTape() as tape:
            tape.watch(z)
            activation = function(z)
        return tape.gradient(activation, z, output_gradients=gradient)

    def of_torch(z: Any, gradient: Any) -> Any:
        torch = sys.modules["torch"]
        with torch.enable_grad():
            activation = function(z.requires_grad_())
        return torch.autograd.grad(activation, z, gradient)[0]

    def of_jax(z: Any, gradient: Any) -> Any:
        return sys.modules["jax"].vjp(function, z)[1](gradient)[0]

    pull = {"tensorflow": of_tensorflow, "torch": of_torch, "jax": of_jax}[keras.backend]
    return lambda z, gradient: keras.array(pull(keras.tensor(z), keras.tensor(gradient)))
