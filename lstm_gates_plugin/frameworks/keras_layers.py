"""Keras 3: find the recurrent layers of a model, give them ids, and read their weights.

A layer's id is its path from the model, which is not part of it. Each component is the layer's
name, unless Keras made it up (`lstm`, `lstm_7`: the class in snake case, perhaps with a number);
then it is the attribute or key that holds the layer in a subclassed parent, and otherwise the class
with the layer's number among its class in that parent. So two builds of one script get the same
ids, though Keras counts names on through the process.

| model                                            | ids                                       |
|--------------------------------------------------|-------------------------------------------|
| `Sequential([LSTM(4), LSTM(4)])`                 | `lstm_0`, `lstm_1`                        |
| `Sequential([LSTM(4, name="enc"), LSTM(4)])`     | `enc`, `lstm_1`                           |
| `Sequential([Bidirectional(GRU(4))])`            | `bidirectional_0/forward`, `.../backward` |
| `Sequential([RNN(LSTMCell(4))])`                 | `rnn_0`                                   |
| `Sequential([TimeDistributed(LSTM(4))])`         | `time_distributed_0/lstm_0`               |
| subclass with `self.encoder = LSTM(4)`           | `encoder`                                 |
| subclass with `self.blocks = [LSTM(4), GRU(4)]`  | `blocks/0`, `blocks/1`                    |
| subclass with `self.heads = {"a": GRU(3)}`       | `heads/a`                                 |
| subclass with `self.net = Sequential([LSTM(4)])` | `net/lstm_0`                              |
| functional model around `Sequential([LSTM(4)])`  | `sequential_0/lstm_0`                     |
| `LSTM(4)` itself                                 | `lstm_0`                                  |

A layer that is used in several places is one layer, under its first path. Should two paths be
equal, the second gets `#2`.
"""

from __future__ import annotations

import re
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import keras
import numpy as np

from lstm_gates_plugin.cells.activations import ACTIVATIONS
from lstm_gates_plugin.fused import Array, frozen, to_array
from lstm_gates_plugin.layer import Direction, RecurrentLayer

# Where Keras itself keeps sub-layers and weights, beside the attributes that the user set.
_BOOKKEEPING = re.compile(r"_layers|_operations.*|_functional|_nodes.*|_self_.*|_.*variables")

# The order in which Keras stores the gates side by side.
_GATE_ORDERS = {"lstm": "ifco", "gru": "zrh", "simple_rnn": ""}


@dataclass(frozen=True)
class Found:
    """A recurrent layer of a model: the Keras layer, its id, and its further paths."""

    id: str
    layer: Any
    aliases: list[str] = field(default_factory=list)


def find(model: Any) -> list[Found]:
    """The recurrent layers of a model that have weights, in the order of the model.

    Raises:
        ValueError: the model is not built, so that there are no weights yet.
    """
    found = _walk(model)
    built = [each for each in found if each.layer.built and getattr(each.layer.cell, "built", True)]
    missing = [each.id for each in found if each not in built]
    if not built and (missing or not model.built):
        which = f"its recurrent layers ({', '.join(missing)})" if missing else "its layers"
        raise ValueError(
            f"the model {model.name!r} is not built yet, so {which} have no weights. Call it once "
            "on a batch, or give its input shape with keras.Input or build()."
        )
    if missing:
        warnings.warn(
            f"the model {model.name!r} has recurrent layers that were never called and have no "
            f"weights yet: {', '.join(missing)}. They are left out.",
            stacklevel=3,
        )
    return built


def _walk(model: Any) -> list[Found]:
    """The recurrent layers in or under a model, whether they have weights or not."""
    found: dict[int, Found] = {}
    ids: Counter[str] = Counter()
    visited: set[int] = set()

    def visit(layer: Any, path: tuple[str, ...]) -> None:
        if id(layer) in visited:
            if id(layer) in found:
                found[id(layer)].aliases.append("/".join(path))
            return
        visited.add(id(layer))
        if isinstance(layer, keras.layers.RNN):
            name = "/".join(path)
            ids[name] += 1
            if ids[name] > 1:
                name = f"{name}#{ids[name]}"
            found[id(layer)] = Found(name, layer)
            return
        for component, child in children(layer):
            visit(child, (*path, component))

    is_layer = isinstance(model, (keras.layers.RNN, keras.layers.Bidirectional))
    visit(model, (_component(model, None, 0),) if is_layer else ())
    return list(found.values())


def children(parent: Any) -> Iterator[tuple[str, Any]]:
    """The layers directly in a layer, each with its component of the path."""
    if isinstance(parent, keras.layers.Bidirectional):
        yield _direction(parent.forward_layer), parent.forward_layer
        yield _direction(parent.backward_layer), parent.backward_layer
        return
    # Keras names only the layers of a model publicly.
    layers = parent.layers if isinstance(parent, keras.Model) else parent._layers
    of_keras = type(parent).__module__.partition(".")[0] == "keras"
    keys = {} if of_keras else _keys(parent)
    numbers: Counter[type] = Counter()
    for layer in layers:
        yield _component(layer, keys.get(id(layer)), numbers[type(layer)]), layer
        numbers[type(layer)] += 1


def _component(layer: Any, key: str | None, number: int) -> str:
    snake = re.sub(r"(.)([A-Z][a-z]+)", r"\1_\2", type(layer).__name__)
    snake = re.sub(r"([a-z])([A-Z])", r"\1_\2", snake).lower()
    if not re.fullmatch(rf"{snake}(_\d+)?", layer.name):
        return str(layer.name)
    return key or f"{snake}_{number}"


def _keys(parent: Any) -> dict[int, str]:
    """By identity, the attribute or key under which a subclassed parent holds an object."""
    keys: dict[int, str] = {}

    def walk(value: Any, key: str) -> None:
        if isinstance(value, Mapping):
            for name, item in value.items():
                walk(item, f"{key}/{name}")
        elif isinstance(value, (list, tuple)):
            for index, item in enumerate(value):
                walk(item, f"{key}/{index}")
        else:
            keys.setdefault(id(value), key)

    for name, value in vars(parent).items():
        if not _BOOKKEEPING.fullmatch(name):
            walk(value, name)
    return keys


def _direction(layer: Any) -> Direction:
    return "backward" if getattr(layer, "go_backwards", False) else "forward"


def read(found: Found) -> RecurrentLayer:
    """A found layer with a copy of its present weights."""
    layer, cell = found.layer, found.layer.cell
    options: dict[str, Any] = {"framework": "keras", "compute_dtype": layer.compute_dtype}
    if found.aliases:
        options["aliases"] = list(found.aliases)
    kind = _kind(cell)
    if kind == "unknown":
        return _read_unknown(found, options)
    bias, recurrent_bias = (_value(cell.bias) if cell.use_bias else None), None
    reset_after = cell.reset_after if kind == "gru" else None
    if reset_after and bias is not None:
        bias, recurrent_bias = bias
    names, functions = _activations(cell)
    built = RecurrentLayer.from_arrays(
        kind,
        _value(cell.kernel),
        _value(cell.recurrent_kernel),
        bias,
        gate_order=_GATE_ORDERS[kind],
        id=found.id,
        direction=_direction(layer),
        recurrent_bias=recurrent_bias,
        reset_after=reset_after,
        options=options,
        activation=names["activation"],
        recurrent_activation=names.get("recurrent_activation", "sigmoid"),
    )
    return replace(built, _functions=functions)


def _kind(cell: Any) -> str:
    """The kind whose equations a Keras cell follows; a subclass with its own `call` has its own."""
    for kind, known in (
        ("lstm", keras.layers.LSTMCell),
        ("gru", keras.layers.GRUCell),
        ("simple_rnn", keras.layers.SimpleRNNCell),
    ):
        if isinstance(cell, known) and type(cell).call is known.call:
            return kind
    return "unknown"


def _activations(cell: Any) -> tuple[dict[str, str], dict[str, Callable[[Array], Array]]]:
    """Names of a cell's activations, and array functions for those that are the user's own."""
    names: dict[str, str] = {}
    functions: dict[str, Callable[[Array], Array]] = {}
    for option in ("activation", "recurrent_activation"):
        function = getattr(cell, option, None)
        if function is None:  # a simple RNN has no gates
            continue
        name = getattr(function, "__name__", type(function).__name__)
        names[option] = name
        if name not in ACTIVATIONS or getattr(keras.activations, name, None) is not function:
            functions[option] = _array_function(function)
    return names, functions


def _array_function(function: Any) -> Callable[[Array], Array]:
    def of_array(x: Array) -> Array:
        return np.asarray(
            keras.ops.convert_to_numpy(function(keras.ops.convert_to_tensor(x))), dtype=x.dtype
        )

    return of_array


def _value(variable: Any) -> Array:
    # np.array(variable) warns: Keras variables do not take NumPy's `copy` argument yet.
    return np.asarray(variable.__array__())


def _read_unknown(found: Found, options: dict[str, Any]) -> RecurrentLayer:
    """A layer whose cell is not one of ours: weights by their own names, no gates."""
    layer = found.layer
    weights = {
        name: frozen(to_array(_value(weight))) for name, weight in _named_weights(layer.cell)
    }
    shape = layer.get_build_config() or {}
    shape = shape.get("input_shape") or shape.get("sequences_shape") or (0,)
    sizes = keras.tree.flatten(layer.cell.state_size)
    return RecurrentLayer(
        id=found.id,
        cell="unknown",
        direction=_direction(layer),
        input_size=int(shape[-1] or 0),
        units=int(sizes[0]),
        recurrent_size=int(sizes[0]),
        kernel={},
        recurrent_kernel={},
        weights=weights,
        options={**options, "cell_class": type(layer.cell).__name__},
    )


def _named_weights(layer: Any) -> Iterator[tuple[str, Any]]:
    """The weights in and under a layer, by names that are the same in every build of a script."""
    if not isinstance(layer, keras.layers.Layer):
        return
    below = list(children(layer))
    theirs = {id(weight) for _, child in below for weight in child.weights}
    keys = _keys(layer)
    names: Counter[str] = Counter()
    for weight in layer.weights:
        if id(weight) in theirs:
            continue
        name = str(weight.name)
        if re.fullmatch(r"variable(_\d+)?", name):  # made up by Keras, counted through the process
            name = keys.get(id(weight), "variable")
        names[name] += 1
        yield name if names[name] == 1 else f"{name}#{names[name]}", weight
    for component, child in below:
        for name, weight in _named_weights(child):
            yield f"{component}/{name}", weight
