"""Both kinds of Flax behind one set of names, so that a test is written once for linen and nnx."""

from collections.abc import Mapping, Sequence
from functools import partial
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
        return jax.tree.map(np.asarray, _apply(*model, args, *_separated(kwargs)))

    def gradients(self, model: Any, loss: Any, *args: Any, **kwargs: Any) -> Any:
        """JAX's own gradients of a loss of what the model returns, as a model with such weights."""
        return model[0], _gradients(*model, loss, args, *_separated(kwargs))

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
        graph, state = nnx.split(model)
        return jax.tree.map(np.asarray, _call(graph, state, args, *_separated(kwargs)))

    def gradients(self, model: Any, loss: Any, *args: Any, **kwargs: Any) -> Any:
        graph, params, rest = nnx.split(model, nnx.Param, ...)
        found = _nnx_gradients(graph, params, rest, loss, args, *_separated(kwargs))
        return nnx.merge(graph, found, rest)

    def parts(self, model: Any) -> list[Any]:
        if isinstance(model, nnx.Bidirectional):
            return [model.forward_rnn, model.backward_rnn]
        return list(model.layers)


# Compiled for whatever module has the same settings.


def _separated(arguments: Mapping[str, Any]) -> tuple[dict[str, Any], tuple[Any, ...]]:
    """Arrays, and what a compiled function is made for."""
    flags = {name: value for name, value in arguments.items() if isinstance(value, bool)}
    return {name: arguments[name] for name in arguments if name not in flags}, (*flags.items(),)


@partial(jax.jit, static_argnums=(0, 4))
def _apply(module: Any, variables: Any, args: Any, arrays: Any, flags: Any) -> Any:
    return module.apply(variables, *args, **arrays, **dict(flags))


@partial(jax.jit, static_argnums=(0, 4))
def _call(graph: Any, state: Any, args: Any, arrays: Any, flags: Any) -> Any:
    return nnx.merge(graph, state)(*args, **arrays, **dict(flags))


@partial(jax.jit, static_argnums=(0, 2, 5))
def _gradients(module: Any, variables: Any, loss: Any, args: Any, arrays: Any, flags: Any) -> Any:
    def score(variables: Any) -> Any:
        return loss(module.apply(variables, *args, **arrays, **dict(flags)))

    return jax.grad(score)(variables)


def fresh(state: Any) -> Any:
    """The same state in variables that nnx lets be changed inside of JAX's function."""
    return jax.tree.map(lambda leaf: leaf, state)


@partial(jax.jit, static_argnums=(0, 3, 6))
def _nnx_gradients(
    graph: Any, params: Any, rest: Any, loss: Any, args: Any, arrays: Any, flags: Any
) -> Any:
    def score(params: Any) -> Any:
        return loss(nnx.merge(graph, params, fresh(rest))(*args, **arrays, **dict(flags)))

    return jax.grad(score)(params)


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
