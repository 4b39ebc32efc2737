"""Keras: find the recurrent layers of a model, and give them ids.

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
| `Sequential([RNN([LSTMCell(4), GRUCell(4)])])`   | `rnn_0/cell_0`, `rnn_0/cell_1`            |
| `Sequential([TimeDistributed(LSTM(4))])`         | `time_distributed_0/lstm_0`               |
| subclass with `self.encoder = LSTM(4)`           | `encoder`                                 |
| subclass with `self.cell = LSTMCell(4)`          | `cell`                                    |
| subclass with `self.blocks = [LSTM(4), GRU(4)]`  | `blocks/0`, `blocks/1`                    |
| subclass with `self.heads = {"a": GRU(3)}`       | `heads/a`                                 |
| subclass with `self.net = Sequential([LSTM(4)])` | `net/lstm_0`                              |
| functional model around `Sequential([LSTM(4)])`  | `sequential_0/lstm_0`                     |
| `LSTM(4)` itself                                 | `lstm_0`                                  |

A layer that is used in several places is one layer, under its first path. Should two paths be
equal, the second gets `#2`.
"""

from __future__ import annotations

import inspect
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from lstm_gates_plugin.frameworks.keras import cells as keras_cells
from lstm_gates_plugin.frameworks.keras.cells import Place
from lstm_gates_plugin.frameworks.keras.family import Keras, keras_of
from lstm_gates_plugin.frameworks.keras.paths import children, component
from lstm_gates_plugin.frameworks.levels import Cell, Node, leaves
from lstm_gates_plugin.telling import tell


@dataclass(frozen=True)
class Found:
    """What is recorded of a model: a recurrent layer, or a cell that the model calls itself.

    Attributes:
        id: the path of the layer, which its cells' ids start with.
        layer: the Keras layer or cell.
        cells: its cells; one, or a stack of several.
        model: in which it was found.
        aliases: further paths of the layer.
    """

    id: str
    layer: Any
    cells: Node[Place]
    model: Any
    aliases: list[str] = field(default_factory=list)

    @property
    def is_cell(self) -> bool:
        """Whether it is called once for each timestep."""
        return not isinstance(self.layer, keras_of(self.layer).layers.RNN)

    @property
    def is_built(self) -> bool:
        """Whether it and its cells have their weights."""
        return all(
            getattr(each, "built", True)
            for each in (self.layer, *(place.cell for place in leaves(self.cells)))
        )

    @property
    def has_own_start(self) -> bool:
        """Whether it may start from another state than zero."""
        keras = keras_of(self.layer)
        cells = [place.cell for place in leaves(self.cells)]
        if any(keras_cells.kind_of(keras, cell) == "unknown" for cell in cells):
            return True
        starts = [getattr(type(each), "get_initial_state", None) for each in (self.layer, *cells)]
        return not all(start is not None and keras.defines(start) for start in starts)

    def read(self) -> Node[Cell]:
        """Its cells with copies of their present weights."""
        keras = keras_of(self.layer)
        # A parent that is frozen keeps its weights from training; its layers need not know of it.
        trained = {id(weight) for weight in self.model.trainable_weights}
        return keras_cells.read(keras, self.layer, self.cells, self.aliases, trained)


def find(model: Any) -> list[Found]:
    """The recurrent layers of a model that have weights, in the order of the model.

    Raises:
        ValueError: the model is not built, so that there are no weights yet.
    """
    found = _walk(model)
    built = [each for each in found if each.is_built]
    missing = [each.id for each in found if each not in built]
    if not built and (missing or not model.built):
        which = f"its recurrent layers ({', '.join(missing)})" if missing else "its layers"
        raise ValueError(
            f"the model {model.name!r} is not built yet, so {which} have no weights. Call it once "
            "on a batch, or give its input shape with keras.Input or build()."
        )
    if missing:
        tell(
            f"the model {model.name!r} has recurrent layers that were never called and have no "
            f"weights yet: {', '.join(missing)}. They are left out.",
            stacklevel=3,
        )
    return built


def _walk(model: Any) -> list[Found]:
    """The recurrent layers in or under a model, whether they have weights or not."""
    keras = keras_of(model)
    found: dict[int, Found] = {}
    ids: Counter[str] = Counter()
    visited: set[int] = set()

    def visit(layer: Any, path: tuple[str, ...]) -> None:
        if id(layer) in visited:
            if id(layer) in found:
                found[id(layer)].aliases.append("/".join(path))
            return
        visited.add(id(layer))
        if _is_recurrent(keras, layer):
            name = "/".join(path)
            ids[name] += 1
            if ids[name] > 1:
                name = f"{name}#{ids[name]}"
            cells = keras_cells.cells_of(keras, layer, name)
            found[id(layer)] = Found(name, layer, cells, model)
            return
        for part, child in children(layer):
            visit(child, (*path, part))

    is_layer = _is_recurrent(keras, model) or isinstance(model, keras.layers.Bidirectional)
    visit(model, (component(model, None, 0),) if is_layer else ())
    return list(found.values())


def _is_recurrent(keras: Keras, layer: Any) -> bool:
    """Whether it is a recurrent layer, or a cell, which has a `state_size` and is given states.

    Another layer may have a `state_size` for reasons of its own, and recurrent layers inside.
    """
    if isinstance(layer, keras.layers.RNN):
        return True
    if not hasattr(layer, "state_size"):
        return False
    more = list(inspect.signature(layer.call).parameters.values())[1:2]
    return bool(more) and more[0].default is inspect.Parameter.empty


def layers_of_class(model: Any, cls: type) -> list[Any]:
    """The layers of a class in a model, itself included."""
    layers = model._flatten_layers(include_self=True, recursive=True)
    return [each for each in layers if isinstance(each, cls)]
