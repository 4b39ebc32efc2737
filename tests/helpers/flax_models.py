"""Both kinds of Flax behind one set of names, so that a test is written once for linen and nnx."""

from collections.abc import Mapping, Sequence
from typing import Any

import jax
import numpy as np
from flax import linen, nnx

Params = Mapping[str, Any]

#: The cells of each kind of Flax, by what they are called in the tests.
LINEN_CELLS = {
    "LSTM": linen.LSTMCell,
    "optimised LSTM": linen.OptimizedLSTMCell,
    "GRU": linen.GRUCell,
    "MGU": linen.MGUCell,
    "simple RNN": linen.SimpleCell,
}
NNX_CELLS = {
    "LSTM": nnx.LSTMCell,
    "optimised LSTM": nnx.OptimizedLSTMCell,
    "GRU": nnx.GRUCell,
    "simple RNN": nnx.SimpleCell,
}


def listed(modules: Sequence[Any]) -> Any:
    """Modules as an attribute; before Flax 0.12 that was a list."""
    return nnx.List(modules) if hasattr(nnx, "List") else list(modules)


def value(variable: Any) -> Any:
    """The value of a variable of nnx, under the name of this version or an older one."""
    return variable.get_value() if hasattr(nnx.Variable, "get_value") else variable.value


class LinenStack(linen.Module):
    """Layers on top of each other."""

    layers: Sequence[Any]

    def __call__(self, x: Any, **arguments: Any) -> Any:
        for layer in self.layers:
            x = layer(x, **arguments)
        return x


class NnxStack(nnx.Module):
    """The same."""

    def __init__(self, layers: Sequence[Any]) -> None:
        self.layers = listed(layers)

    def __call__(self, x: Any, **arguments: Any) -> Any:
        for layer in self.layers:
            x = layer(x, **arguments)
        return x


class Linen:
    """A model is a module with its variables."""

    name = "Flax linen"
    cells = LINEN_CELLS
    RNN = linen.RNN
    Bidirectional = linen.Bidirectional
    Stack = LinenStack

    def cell(self, kind: str, size: int, units: int, **arguments: Any) -> Any:
        return LINEN_CELLS[kind](units, **arguments)

    def built(self, module: Any, x: Any, seed: int = 0) -> Any:
        """A model of the module with random weights, biases too."""
        rng = np.random.default_rng(seed)
        shapes = jax.eval_shape(module.init, jax.random.key(0), x)
        return module, jax.tree.map(lambda leaf: random(rng, leaf), shapes)

    def with_params(self, module: Any, params: Params) -> Any:
        """A model whose one cell has these parameters."""
        return module, {"params": {"cell": params} if isinstance(module, linen.RNN) else params}

    def call(self, model: Any, *args: Any, **kwargs: Any) -> Any:
        """What the model returns, compiled, since that is quicker."""
        module, variables = model
        arrays = {name: value for name, value in kwargs.items() if not isinstance(value, bool)}
        flags = {name: value for name, value in kwargs.items() if name not in arrays}
        apply = jax.jit(
            lambda variables, args, arrays: module.apply(variables, *args, **arrays, **flags)
        )
        return jax.tree.map(np.asarray, apply(variables, args, arrays))

    def parts(self, model: Any) -> list[Any]:
        """The layers of a bidirectional or stacked model, each as a model."""
        module, variables = model
        params = variables["params"]
        if isinstance(module, linen.Bidirectional):
            names = {"forward_rnn": module.forward_rnn, "backward_rnn": module.backward_rnn}
        else:
            names = {f"layers_{k}": layer for k, layer in enumerate(module.layers)}
        return [(layer, {"params": params[name]}) for name, layer in names.items()]


class Nnx:
    """A model is a module."""

    name = "Flax nnx"
    cells = NNX_CELLS
    RNN = nnx.RNN
    Bidirectional = nnx.Bidirectional
    Stack = NnxStack

    def cell(self, kind: str, size: int, units: int, **arguments: Any) -> Any:
        return NNX_CELLS[kind](size, units, rngs=nnx.Rngs(0), **arguments)

    def built(self, module: Any, x: Any, seed: int = 0) -> Any:
        rng = np.random.default_rng(seed)
        state = nnx.state(module, nnx.Param)
        nnx.update(module, jax.tree.map(lambda leaf: random(rng, leaf), state))
        return module

    def with_params(self, module: Any, params: Params) -> Any:
        cell = module.cell if isinstance(module, nnx.RNN) else module
        nnx.update(cell, jax.tree.map(jax.numpy.asarray, dict(params)))
        return module

    def call(self, model: Any, *args: Any, **kwargs: Any) -> Any:
        return jax.tree.map(np.asarray, model(*args, **kwargs))

    def parts(self, model: Any) -> list[Any]:
        if isinstance(model, nnx.Bidirectional):
            return [model.forward_rnn, model.backward_rnn]
        return list(model.layers)


def random(rng: np.random.Generator, leaf: Any) -> Any:
    """An array of the same form, drawn anew."""
    return jax.numpy.asarray(rng.normal(size=leaf.shape), leaf.dtype)


LINEN, NNX = Linen(), Nnx()
FLAVOURS = (LINEN, NNX)

# In which order Flax names or stores the gates.
_LETTERS = {"lstm": "ifgo", "gru": "rzn"}
_GATES = {
    "i": "input",
    "f": "forget",
    "g": "candidate",
    "o": "output",
    "r": "reset",
    "z": "update",
    "n": "candidate",
}


def one_unit(
    flavour: Any,
    kind: str,
    kernel: Mapping[str, float],
    recurrent: Mapping[str, float],
    bias: Mapping[str, float],
    recurrent_bias: float | None = None,
) -> Params:
    """The parameters of a cell with one input and one unit, from numbers by gate.

    Of linen an `LSTMCell` or `GRUCell`, of nnx an `OptimizedLSTMCell` or `GRUCell`.
    """
    letters = _LETTERS[kind]

    def row(numbers: Mapping[str, float]) -> np.ndarray:
        return np.array([numbers.get(_GATES[k], 0.0) for k in letters], "float32")

    side = "h" if kind == "lstm" else "i"  # which one has the bias
    if flavour is NNX:
        params: dict[str, Any] = {
            "dense_i": {"kernel": row(kernel)[None]},
            "dense_h": {"kernel": row(recurrent)[None]},
        }
        params[f"dense_{side}"]["bias"] = row(bias)
        return params
    params = {}
    for place, letter in enumerate(letters):
        params[f"i{letter}"] = {"kernel": row(kernel)[place].reshape(1, 1)}
        params[f"h{letter}"] = {"kernel": row(recurrent)[place].reshape(1, 1)}
        params[side + letter]["bias"] = row(bias)[place].reshape(1)
    if recurrent_bias is not None:
        params["hn"]["bias"] = np.array([recurrent_bias], "float32")
    return params
