"""Flax linen: find the recurrent layers of a module with variables, give them ids, and record them.

A layer's id is the path of its cell's parameters. What is left out and what is put in its place:

| parameters                                   | id                      |
|----------------------------------------------|-------------------------|
| `encoder/cell`, the cell of an `nn.RNN`      | `encoder`               |
| `encoder/forward_rnn/cell`, beside the other | `encoder/forward`       |
| `LSTMCell_0`, a cell made in `@compact`      | `LSTMCell_0`            |
| `cell`, where the model itself is the `RNN`  | `rnn_0`                 |
| `forward_rnn/cell`, the same                 | `bidirectional_0/forward` |
| none, where the model itself is a cell       | `lstm_cell_0`           |

Linen makes the modules inside of a `@compact` method anew whenever it runs, so before that only
the names of the parameters tell that there is a cell. What a run has shown of a module's cells is
remembered for it.
"""

from __future__ import annotations

import inspect
import re
import weakref
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

import jax
from flax import linen
from flax.linen.recurrent import RNNCellBase

from lstm_gates_plugin.frameworks.flax import cells
from lstm_gates_plugin.frameworks.flax.calls import Place, Step
from lstm_gates_plugin.frameworks.flax.cells import Description
from lstm_gates_plugin.frameworks.flax.recording import Part, Recorder
from lstm_gates_plugin.frameworks.not_opened import is_recurrent_by_name
from lstm_gates_plugin.layer import RecurrentLayer

_RNN_CALL = inspect.unwrap(linen.RNN.__call__)


@dataclass(frozen=True)
class Known:
    """What is known of a cell besides its place."""

    description: Description
    backward: bool = False


# By module, which is equal to another one of the same settings, what runs have shown of its cells.
_shown: weakref.WeakKeyDictionary[Any, dict[tuple[str, ...], Known]] = weakref.WeakKeyDictionary()


def find(module: Any, variables: Mapping[str, Any]) -> list[RecurrentLayer]:
    """The recurrent layers of a module, as far as its parameters and its parts tell."""
    parameters = _unboxed(variables["params"])
    known = {**_parts(module, variables), **_remembered(module)}
    ids = Ids(module, parameters)
    found = []
    for path, weights in _dicts(parameters):
        kind = cells.recognized(weights)
        if path in known:
            one = known[path]
        elif kind is not None and not any(path[: len(other)] == other for other in known):
            one = Known(Description(kind))
        else:
            continue
        place = Place(path, ids.of(path), one.description)
        found.append(place.read(weights, backward=one.backward))
    return found


def look_recurrent(variables: Mapping[str, Any]) -> list[str]:
    """Parts that are recurrent by the name that they got from their class, and cannot be opened.

    Linen names what is made in a `@compact` method after its class, such as `MyLSTM_0`.
    """
    return [
        f"{'/'.join(path)} ({_class_name(path[-1])})"
        for path, weights in _dicts(_unboxed(variables["params"]))
        if path
        and is_recurrent_by_name(_class_name(path[-1]))
        and not any(cells.recognized(inner) for _, inner in _dicts(weights))
    ]


def _class_name(name: str) -> str:
    return re.sub(r"_\d+$", "", name)


def _unboxed(tree: Any) -> Any:
    """Nested dicts with their arrays out of the boxes that say how they are spread on devices."""
    if isinstance(tree, Mapping):
        return {name: _unboxed(value) for name, value in tree.items()}
    return linen.meta.unbox(tree)


def remember(module: Any, shown: Mapping[tuple[str, ...], Known]) -> None:
    """Keep what a run has shown of the cells of a module."""
    with suppress(TypeError):  # its settings cannot be hashed
        _shown.setdefault(module, {}).update(shown)


def _remembered(module: Any) -> Mapping[tuple[str, ...], Known]:
    with suppress(TypeError):
        return _shown.get(module, {})
    return {}


def _dicts(
    tree: Mapping[str, Any], path: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], Mapping[str, Any]]]:
    """The dicts in nested dicts, by path, the outer ones first, forward before backward."""
    yield path, tree
    for name, value in sorted(tree.items(), key=lambda item: item[0] == "backward_rnn"):
        if isinstance(value, Mapping):
            yield from _dicts(value, (*path, name))


def _parts(module: Any, variables: Mapping[str, Any]) -> dict[tuple[str, ...], Known]:
    """The cells among the modules that are there before a call: fields, and those of `setup`."""
    found: dict[tuple[str, ...], Known] = {}

    def visit(bound: Any, backward: bool) -> None:
        if isinstance(bound, RNNCellBase):
            found.setdefault(bound.path, Known(cells.describe(bound), backward))
            return
        bound._try_setup()
        backward = backward or (isinstance(bound, linen.RNN) and bound.reverse)
        for name, child in bound._state.children.items():
            if isinstance(child, linen.Module):
                is_second = isinstance(bound, linen.Bidirectional) and name == "backward_rnn"
                visit(child, backward or is_second)

    with suppress(Exception):  # the user's own setup, which may want to be called by another method
        visit(module.bind(variables), False)
    return found


class Ids:
    """Ids of the layers of one module, by the paths of their cells."""

    def __init__(self, module: Any, parameters: Mapping[str, Any]) -> None:
        self._parameters = parameters
        self._root: tuple[str, ...] = ()
        if isinstance(module, (linen.RNN, linen.Bidirectional, RNNCellBase)):
            self._root = (f"{snake_case(type(module).__name__)}_0",)

    def of(self, path: tuple[str, ...]) -> str:
        """The id of the cell at a path."""
        parts = list(path)
        if parts[-1:] == ["cell"] and (self._root or parts[1:]):
            parts.pop()
            both = "forward_rnn", "backward_rnn"
            if parts[-1:] and parts[-1] in both and self._beside(parts).issuperset(both):
                parts[-1] = parts[-1].removesuffix("_rnn")
        return "/".join((*self._root, *parts))

    def _beside(self, path: list[str]) -> set[str]:
        """The names that lie beside the last one of a path."""
        around = self._parameters
        for name in path[:-1]:
            around = around.get(name, {})
        return set(around)


def snake_case(name: str) -> str:
    """`OptimizedLSTMCell` as `optimized_lstm_cell`."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()


@contextmanager
def recording(recorder: Recorder, module: Any, parameters: Mapping[str, Any]) -> Iterator[None]:
    """Record the recurrent layers of a module whenever it is applied in the block.

    Args:
        recorder: what to record with.
        module: the module. Others of its class are recorded too.
        parameters: of the module, which give its layers their ids.
    """
    ids, depth, ours = Ids(module, parameters), 0, False

    def intercept(
        call: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], context: Any
    ) -> Any:
        nonlocal depth, ours
        called = context.module
        if depth == 0:
            ours = type(called) is type(module)
        depth += 1
        try:
            if not ours or recorder.is_inside or called.is_initializing():
                return call(*args, **kwargs)
            if isinstance(called, linen.Bidirectional):
                with recorder.in_both_directions():
                    return call(*args, **kwargs)
            if isinstance(called, linen.RNN) and _function(context) is _RNN_CALL:
                return recorder.rnn(
                    _part(ids, called.cell), called, args, kwargs, call, _start(called, kwargs)
                )
            if isinstance(called, RNNCellBase) and context.method_name == "__call__":
                return recorder.cell(_part(ids, called), args, kwargs, call)
            return call(*args, **kwargs)
        finally:
            depth -= 1

    with linen.intercept_methods(intercept):
        yield


def _function(context: Any) -> Any:
    """The method that is called; of a class that calls its base's, that of the base."""
    return inspect.unwrap(context.orig_method.func)


def _part(ids: Ids, cell: Any) -> Part:
    description = cells.describe(cell)
    variables = _unboxed(cell.variables)
    step = _step(cell) if description.kind == "unknown" else None
    place = Place(cell.path, ids.of(cell.path), description, step=step)
    return Part(place, variables.get("params", {}), variables if step else None)


def _start(rnn: Any, kwargs: Mapping[str, Any]) -> Callable[[tuple[int, ...]], Any]:
    """What gives the carry that an `RNN` starts from, as it makes it itself."""
    cell, key = rnn.cell, kwargs.get("init_key")

    def start(shape: tuple[int, ...]) -> Any:
        if cells.starts_from_zero(cell):
            return None
        return cell.initialize_carry(jax.random.key(0) if key is None else key, shape)

    return start


def _step(cell: Any) -> Step:
    unbound, _ = cell.unbind()
    step: Step = jax.jit(unbound.apply)
    return step
