"""Flax nnx: find the recurrent layers of a module, give them ids, and record them.

A layer's id is its path by attribute, key or place in a list; the two layers of a `Bidirectional`
are its `forward` and `backward`. A model that is itself a layer is `rnn_0`, say. A cell that
several layers share is one layer, under its first path.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import jax
from flax import nnx
from flax.nnx.nn.recurrent import RNNCellBase

from lstm_gates_plugin.frameworks.flax import cells
from lstm_gates_plugin.frameworks.flax.calls import Place, Step
from lstm_gates_plugin.frameworks.flax.linen import snake_case
from lstm_gates_plugin.frameworks.flax.recording import Part, Recorder
from lstm_gates_plugin.frameworks.not_opened import is_recurrent_by_name
from lstm_gates_plugin.frameworks.replaced import replaced_attributes, replaced_method
from lstm_gates_plugin.layer import RecurrentLayer

# Where a cell, and the `RNN` that holds it, carry their layer's id while it is recorded. An
# attribute goes along into the copies that nnx makes of modules whenever it transforms a function.
_MARK = "_lstm_gates_layer"

# What holds variables, and whether an `RNN` draws from a copy of the random state that it is given:
# both were otherwise before Flax 0.12.
_HOLDER = getattr(nnx, "Pytree", None) or nnx.Object
_FORKS = hasattr(nnx, "Pytree")

#: What `Module.eval()` sets, where a module has it.
INFERENCE = {"deterministic": True, "use_running_average": True}


@dataclass(frozen=True)
class Found:
    """A recurrent layer of a model.

    Attributes:
        id: its path.
        cell: its cell.
        rnns: each `RNN` that holds the cell; none if the model calls the cell itself.
        backward: whether the first of them reads from the end, as far as is known before it runs.
        aliases: further paths of the layer.
    """

    id: str
    cell: Any
    rnns: list[Any]
    backward: bool = False
    aliases: list[str] = field(default_factory=list)

    @property
    def place(self) -> Place:
        """Its place in the model."""
        description = cells.describe(self.cell)
        step = _step(self.cell) if description.kind == "unknown" else None
        return Place((self.id,), self.id, description, tuple(self.aliases), step)

    def read(self) -> RecurrentLayer:
        """The layer with its present weights."""
        return self.place.read(_weights(self.cell), backward=self.backward)


def find(model: Any) -> list[Found]:
    """The recurrent layers in or under a module, in the order in which it holds them."""
    found: dict[int, Found] = {}
    ids: Counter[str] = Counter()
    visited: set[int] = set()

    def layer(cell: Any, rnn: Any, path: tuple[str, ...], backward: bool) -> None:
        id_ = "/".join(path)
        if id(cell) in found:
            first = found[id(cell)]
            if rnn is not None and all(rnn is not other for other in first.rnns):
                first.rnns.append(rnn)
            first.aliases.append(id_)
            return
        ids[id_] += 1
        name = id_ if ids[id_] == 1 else f"{id_}#{ids[id_]}"
        found[id(cell)] = Found(name, cell, [] if rnn is None else [rnn], backward)

    def visit(node: Any, path: tuple[str, ...], backward: bool = False) -> None:
        if isinstance(node, nnx.RNN):
            layer(node.cell, node, path, backward or bool(node.reverse))
        elif isinstance(node, RNNCellBase):
            layer(node, None, path, backward)
        elif id(node) in visited:
            return
        elif isinstance(node, nnx.Bidirectional):
            visit(node.forward_rnn, (*path, "forward"))
            visit(node.backward_rnn, (*path, "backward"), True)
        else:
            visited.add(id(node))
            for name, child in _children(node):
                visit(child, (*path, name))

    is_layer = isinstance(model, (nnx.RNN, nnx.Bidirectional, RNNCellBase))
    visit(model, (f"{snake_case(type(model).__name__)}_0",) if is_layer else ())
    return list(found.values())


def look_recurrent(model: Any) -> list[str]:
    """Modules that are recurrent by the name of their class, and that cannot be opened."""
    return [
        f"{'/'.join(map(str, path)) or 'the model itself'} ({type(node).__name__})"
        for path, node in nnx.iter_graph(model)
        if isinstance(node, nnx.Module)
        and is_recurrent_by_name(type(node).__name__)
        and jax.tree.leaves(nnx.state(node, nnx.Param))
        and not find(node)
    ]


def _children(node: Any) -> Iterator[tuple[str, Any]]:
    """What a module or container holds, by name."""
    if isinstance(node, nnx.Module):
        yield from ((name, child) for name, child in vars(node).items() if name[:1] != "_")
    elif isinstance(node, Mapping):
        yield from ((str(name), child) for name, child in node.items())
    elif isinstance(node, (list, tuple)):
        yield from ((str(place), child) for place, child in enumerate(node))


def modules(model: Any) -> list[Any]:
    """A module and all that it holds."""
    return [node for _, node in nnx.iter_graph(model) if isinstance(node, nnx.Module)]


@contextmanager
def in_inference_mode(model: Any) -> Iterator[None]:
    """Every module of a model is in the block as after `model.eval()`."""
    with ExitStack() as stack:
        for module in modules(model):
            has = {name: value for name, value in INFERENCE.items() if hasattr(module, name)}
            stack.enter_context(replaced_attributes(module, **has))
        yield


@contextmanager
def restored(model: Any) -> Iterator[None]:
    """Set back, at the end of the block, all that a model holds: attributes and variables."""
    attributes: list[tuple[Any, dict[str, Any]]] = []
    values: list[tuple[Any, Any]] = []
    for _, node in nnx.iter_graph(model):
        if isinstance(node, nnx.Variable):
            values.append((node, _value(node)))
        elif isinstance(node, _HOLDER):
            attributes.append((node, dict(vars(node))))
    try:
        yield
    finally:
        for node, before in attributes:
            vars(node).clear()
            vars(node).update(before)
        for variable, value in values:
            _set_value(variable, value)


def _value(variable: Any) -> Any:
    if hasattr(nnx.Variable, "get_raw_value"):
        return variable.get_raw_value()
    return variable.raw_value


def _set_value(variable: Any, value: Any) -> None:
    if hasattr(nnx.Variable, "set_raw_value"):
        variable.set_raw_value(value, _unsafe_bypass_check=True)
    else:
        object.__setattr__(variable, "raw_value", value)


@contextmanager
def marked(found: Sequence[Found]) -> Iterator[None]:
    """In the block, the modules of layers carry their ids, and so do copies that are made of them.

    The ids could not be found in a copy, which has its attributes in another order.
    """
    with ExitStack() as stack:
        for each in found:
            for module in (each.cell, *each.rnns):
                stack.enter_context(replaced_attributes(module, **{_MARK: each.id}))
        yield


@contextmanager
def recording(recorder: Recorder, found: Sequence[Found]) -> Iterator[None]:
    """Record the calls of marked layers to the end of the block, in whichever copies of them."""
    places = {each.id: each.place for each in found}

    def place_of(module: Any) -> Place | None:
        return None if recorder.is_inside else places.get(vars(module).get(_MARK, ""))

    def rnn_call(original: Callable[..., Any]) -> Callable[..., Any]:
        def call(self: Any, *args: Any, **kwargs: Any) -> Any:
            place = place_of(self)
            if place is None:
                return original(self, *args, **kwargs)
            start = partial(_start, self, kwargs.get("rngs"))
            return recorder.rnn(
                _part(place, self.cell), self, args, kwargs, partial(original, self), start
            )

        return call

    def bidirectional_call(original: Callable[..., Any]) -> Callable[..., Any]:
        def call(self: Any, *args: Any, **kwargs: Any) -> Any:
            with recorder.in_both_directions():
                return original(self, *args, **kwargs)

        return call

    def cell_call(original: Callable[..., Any]) -> Callable[..., Any]:
        def call(self: Any, *args: Any, **kwargs: Any) -> Any:
            place = place_of(self)
            if place is None:
                return original(self, *args, **kwargs)
            return recorder.cell(_part(place, self), args, kwargs, partial(original, self))

        return call

    with ExitStack() as stack:
        stack.enter_context(replaced_method(nnx.RNN, "__call__", rnn_call))
        stack.enter_context(replaced_method(nnx.Bidirectional, "__call__", bidirectional_call))
        for cls in {type(each.cell) for each in found}:
            stack.enter_context(replaced_method(cls, "__call__", cell_call))
        yield


def _part(place: Place, cell: Any) -> Part:
    return Part(place, _weights(cell), nnx.state(cell) if place.step else None)


def _weights(cell: Any) -> Any:
    """A cell's arrays but for its random state, nested by attribute."""
    weights: Any = nnx.to_pure_dict(nnx.state(cell, nnx.Not(nnx.RngState)))
    return weights


def _start(rnn: Any, rngs: Any, shape: tuple[int, ...]) -> Any:
    """The carry that an `RNN` starts from, made as it makes it itself; `None` where it is zero."""
    if cells.starts_from_zero(rnn.cell):
        return None
    rngs = rnn.rngs if rngs is None else rngs
    if isinstance(rngs, nnx.Rngs) and _FORKS:
        rngs = rngs.carry.fork()
    return rnn.cell.initialize_carry(shape, rngs)


def _step(cell: Any) -> Step:
    graph, _ = nnx.split(cell)

    def step(state: Any, carry: Any, inputs: Any) -> Any:
        return nnx.merge(graph, state)(carry, inputs)

    compiled: Step = jax.jit(step)
    return compiled
