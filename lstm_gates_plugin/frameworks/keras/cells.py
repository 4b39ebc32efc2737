"""Keras: the cells of a recurrent layer, one or a stack, perhaps wrapped, and their weights."""

from __future__ import annotations

import inspect
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from lstm_gates_plugin.frameworks import levels
from lstm_gates_plugin.frameworks.keras import activations as keras_activations
from lstm_gates_plugin.frameworks.keras.family import Keras
from lstm_gates_plugin.frameworks.keras.paths import attribute_keys, children, direction
from lstm_gates_plugin.frameworks.levels import Cell, Leaf, Node, Residual, Stack
from lstm_gates_plugin.frameworks.stepped import Step
from lstm_gates_plugin.fused import Array, frozen, to_array
from lstm_gates_plugin.layer import RecurrentLayer

# The order in which Keras stores the gates side by side.
_GATE_ORDERS = {"lstm": "ifco", "gru": "zrh", "simple_rnn": ""}

# TensorFlow has two sets of cell wrappers, `tf.nn.RNNCell...Wrapper` and those of tf_keras.
_WRAPPING_PACKAGES = ("tensorflow", "tf_keras")

#: What sets a dropout wrapper to inference mode, of which it has none.
WITHOUT_DROPOUT = {"_input_keep_prob": 1.0, "_state_keep_prob": 1.0, "_output_keep_prob": 1.0}


@dataclass(frozen=True)
class Place:
    """A cell in a recurrent layer: what of the layer's id is its own, and the cell."""

    id: str
    cell: Any


def cells_of(keras: Keras, layer: Any, id: str) -> Node[Place]:
    """The cells of a recurrent layer, or of a cell that is called by itself.

    A stack of several cells appends `cell_0`, `cell_1`, ... to the id. Wrappers are looked
    through: with `WITHOUT_DROPOUT` a dropout wrapper does nothing.
    """
    # The layers that always run on cuDNN have weights, but no cell that could be called.
    if _is_a(layer, "CuDNNLSTM", "CuDNNGRU"):
        return Leaf(Place(id, layer))
    return _tree(keras, layer.cell if isinstance(layer, keras.layers.RNN) else layer, id)


def _tree(keras: Keras, cell: Any, id: str) -> Node[Place]:
    if isinstance(cell, keras.layers.StackedRNNCells):
        if len(cell.cells) == 1:
            return Stack((_tree(keras, cell.cells[0], id),))
        return Stack(
            tuple(_tree(keras, each, f"{id}/cell_{k}") for k, each in enumerate(cell.cells))
        )
    if _is_a(cell, "DropoutWrapper", "DeviceWrapper"):
        return _tree(keras, cell.cell, id)
    if _is_a(cell, "ResidualWrapper"):
        return Residual(_tree(keras, cell.cell, id), _combine(keras, cell._residual_fn))
    return Leaf(Place(id, cell))


def dropout_wrappers(layer: Any) -> Iterator[Any]:
    """The dropout wrappers in a layer or cell, which drop in inference mode too."""
    for inner in getattr(layer, "cells", [getattr(layer, "cell", None)]):
        if inner is not None:
            yield from dropout_wrappers(inner)
    if _is_a(layer, "DropoutWrapper"):
        yield layer


def _is_a(thing: Any, *names: str) -> bool:
    """Whether a class of TensorFlow or Keras 2 with one of these names is the thing's, or a base.

    These classes are in no namespace that a process has for certain.
    """
    return any(
        cls.__name__ in names and cls.__module__.partition(".")[0] in _WRAPPING_PACKAGES
        for cls in type(thing).__mro__
    )


def _combine(keras: Keras, function: Any) -> Callable[[Array, Array], Array] | None:
    if function is None:
        return None
    return lambda inputs, outputs: keras.array(
        function(keras.tensor(inputs), keras.tensor(outputs))
    )


def read(
    keras: Keras, layer: Any, cells: Node[Place], aliases: list[str], trained: Collection[int]
) -> Node[Cell]:
    """The cells of a layer with copies of their present weights, and all that a replay needs.

    Args:
        keras: the layer's.
        layer: the layer, or the cell that is called by itself.
        cells: its cells.
        aliases: further paths of the layer.
        trained: the identities of the weights that the model's training changes.
    """
    options: dict[str, Any] = {"framework": keras.name, "compute_dtype": layer.compute_dtype}
    if aliases:
        options["aliases"] = list(aliases)

    def of(place: Place) -> Cell:
        kind = kind_of(keras, place.cell)
        given = {**options, "frozen": True} if _is_frozen(place.cell, trained) else options
        if kind != "unknown":
            states = 2 if kind == "lstm" else 1
            return Cell(_read_known(keras, layer, place, kind, given), states)
        # A subclass of LSTMCell with equations of its own still has its states.
        is_lstm = isinstance(place.cell, keras.layers.LSTMCell)
        return Cell(
            _read_unknown(keras, layer, place, given),
            len(keras.flatten(place.cell.state_size)),
            _step(keras, place.cell),
            2 if is_lstm else 1,
        )

    return levels.convert(cells, of)


def kind_of(keras: Keras, cell: Any) -> str:
    """The kind whose equations a cell follows; a subclass with its own `call` has its own."""
    if _is_a(cell, "CuDNNLSTM"):
        return "lstm"
    if _is_a(cell, "CuDNNGRU"):
        return "gru"
    for kind, known in (
        ("lstm", keras.layers.LSTMCell),
        ("gru", keras.layers.GRUCell),
        ("simple_rnn", keras.layers.SimpleRNNCell),
    ):
        if isinstance(cell, known) and type(cell).call is known.call:
            return kind
    return "unknown"


def _is_frozen(cell: Any, trained: Collection[int]) -> bool:
    """Whether training changes none of a cell's weights, whatever it was that was frozen."""
    weights = getattr(cell, "weights", ())
    return bool(weights) and not any(id(weight) in trained for weight in weights)


def _read_known(
    keras: Keras, layer: Any, place: Place, kind: str, options: dict[str, Any]
) -> RecurrentLayer:
    cell = place.cell
    on_cudnn = _is_a(cell, "CuDNNLSTM", "CuDNNGRU")
    bias = keras.array(cell.bias) if getattr(cell, "use_bias", True) else None
    recurrent_bias = None
    reset_after = getattr(cell, "reset_after", on_cudnn) if kind == "gru" else None
    if on_cudnn and bias is not None:  # both biases in one row
        bias, recurrent_bias = np.split(bias, 2)
    elif reset_after and bias is not None:
        bias, recurrent_bias = bias
    activations = keras_activations.of_cell(keras, cell)
    read = RecurrentLayer.from_arrays(
        kind,
        keras.array(cell.kernel),
        keras.array(cell.recurrent_kernel),
        bias,
        gate_order=_GATE_ORDERS[kind],
        id=place.id,
        direction=direction(layer),
        recurrent_bias=recurrent_bias,
        reset_after=reset_after,
        options={**options, "dtype": _dtype(cell.kernel)},
        activation=activations.names.get("activation", "tanh"),
        recurrent_activation=activations.names.get("recurrent_activation", "sigmoid"),
    )
    return replace(read, _functions=activations.functions, _pullbacks=activations.pullbacks)


def _dtype(variable: Any) -> str:
    """The type in which a variable is stored; Keras 3 names it, TensorFlow has an object for it."""
    return str(getattr(variable.dtype, "name", variable.dtype))


def _read_unknown(
    keras: Keras, layer: Any, place: Place, options: dict[str, Any]
) -> RecurrentLayer:
    """A cell that is not one of ours: weights by their own names, no gates."""
    sizes = keras.flatten(place.cell.state_size)
    units = int(np.ravel(sizes[0])[-1])
    return RecurrentLayer(
        id=place.id,
        cell="unknown",
        direction=direction(layer),
        input_size=_input_size(place.cell) or _input_size(layer),
        units=units,
        recurrent_size=units,
        kernel={},
        recurrent_kernel={},
        weights={
            name: frozen(to_array(keras.array(weight)))
            for name, weight in _named_weights(place.cell)
        },
        options={**options, "cell_class": type(place.cell).__name__},
    )


def _input_size(layer: Any) -> int:
    """The last size of the shape that a layer was built with; 0 where it keeps none."""
    config = layer.get_build_config() if hasattr(layer, "get_build_config") else None
    shape = (config or {}).get("input_shape") or (config or {}).get("sequences_shape") or (0,)
    return int(shape[-1] or 0)


def _named_weights(layer: Any) -> Iterator[tuple[str, Any]]:
    """The weights in and under a layer, by names that are the same in every build of a script."""
    if not hasattr(layer, "weights"):  # a cell need not be a layer
        return
    below = list(children(layer))
    theirs = {id(weight) for _, child in below for weight in child.weights}
    keys = attribute_keys(layer)
    names: Counter[str] = Counter()
    for weight in layer.weights:
        if id(weight) in theirs:
            continue
        name = str(weight.name).partition(":")[0].rpartition("/")[2]
        if re.fullmatch(r"[Vv]ariable(_\d+)?", name):  # made up, and counted through the process
            name = keys.get(id(weight), "variable")
        names[name] += 1
        yield name if names[name] == 1 else f"{name}#{names[name]}", weight
    for component, child in below:
        for name, weight in _named_weights(child):
            yield f"{component}/{name}", weight


def _step(keras: Keras, cell: Any) -> Step:
    """One timestep of a cell, by the cell itself."""
    call = cell if callable(cell) else cell.call
    arguments = {"training": False} if "training" in inspect.signature(cell.call).parameters else {}
    dtype = getattr(cell, "compute_dtype", None)

    def step(inputs: Array, states: tuple[Array, ...]) -> tuple[Array, tuple[Array, ...]]:
        flat = iter([keras.tensor(state, dtype) for state in states])
        nested = keras.map(lambda size: next(flat), cell.state_size)
        if not isinstance(nested, (list, tuple)):
            nested = [nested]
        output, new = call(keras.tensor(inputs, dtype), nested, **arguments)
        return keras.array(output), tuple(keras.array(state) for state in keras.flatten(new))

    return step
