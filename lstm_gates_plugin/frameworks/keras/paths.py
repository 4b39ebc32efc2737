"""Keras: the layers directly in a layer, each with its component of a path."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from lstm_gates_plugin.frameworks.keras.family import keras_of
from lstm_gates_plugin.layer import Direction

# Where Keras itself keeps sub-layers and weights, beside the attributes that the user set. On torch
# a layer is a module, which keeps attributes that are modules in `_modules`.
_BOOKKEEPING = re.compile(
    r"_layers|_operations.*|_functional|_nodes.*|_self_.*|_.*variables|_modules|_torch_params"
)


def children(parent: Any) -> Iterator[tuple[str, Any]]:
    """The layers directly in a layer, each with its component of the path."""
    keras = keras_of(parent)
    if isinstance(parent, keras.layers.Bidirectional):
        yield direction(parent.forward_layer), parent.forward_layer
        yield direction(parent.backward_layer), parent.backward_layer
        return
    keys = {} if keras.defines(type(parent)) else attribute_keys(parent)
    numbers: Counter[type] = Counter()
    # Keras names only the layers of a model publicly.
    for layer in parent._flatten_layers(include_self=False, recursive=False):
        yield component(layer, keys.get(id(layer)), numbers[type(layer)]), layer
        numbers[type(layer)] += 1


def component(layer: Any, key: str | None, number: int) -> str:
    """A layer's component of the path.

    Args:
        layer: the layer.
        key: the attribute or key that holds it in a subclassed parent, if there is one.
        number: how many layers of its class its parent has before it.
    """
    snake = re.sub(r"(.)([A-Z][a-z]+)", r"\1_\2", type(layer).__name__)
    snake = re.sub(r"([a-z])([A-Z])", r"\1_\2", snake).lower()
    if not re.fullmatch(rf"{snake}(_\d+)?", layer.name):
        return str(layer.name)
    return key or f"{snake}_{number}"


def attribute_keys(parent: Any) -> dict[int, str]:
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

    held = vars(parent)
    for name, value in [*held.items(), *held.get("_modules", {}).items()]:
        if not _BOOKKEEPING.fullmatch(name):
            walk(value, name)
    return keys


def direction(layer: Any) -> Direction:
    """The direction in which a layer reads its sequence; a cell by itself reads forward."""
    return "backward" if getattr(layer, "go_backwards", False) else "forward"
