"""Flax: run a model with recording, as a compiled function where that can be, or step by step."""

from __future__ import annotations

import contextlib
import weakref
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import jax
import numpy as np

from lstm_gates_plugin.frameworks.flax.calls import Call
from lstm_gates_plugin.frameworks.flax.following import Follow, Loss, differentiate
from lstm_gates_plugin.frameworks.flax.leaves import is_array
from lstm_gates_plugin.frameworks.flax.recording import NotRecordableError, Recorder
from lstm_gates_plugin.frameworks.jax_values import is_traced
from lstm_gates_plugin.frameworks.kept import Kept
from lstm_gates_plugin.frameworks.replaced import replaced_attributes

#: Runs a model on nested arrays with a recorder; gives its outputs.
Body: TypeAlias = Callable[[Recorder, Any], Any]


@dataclass(frozen=True)
class _Compiled:
    """A model's call with recording. Refers to no module, lest what is kept keep its owner."""

    function: Any
    calls: list[Call]  # without tensors
    places: list[int]  # of the calls' tensors and the outputs, among the arrays that come back
    structure: Any  # of both
    plain: dict[int, Any]  # what of them is no array, by its place


_kept: Kept[_Compiled] = Kept()


@dataclass(frozen=True)
class Ran:
    """What a run showed."""

    calls: list[Call]
    outputs: Any
    unseen: frozenset[str] = frozenset()  # see `Recorder`


def run(
    owner: Any, key: Hashable, body: Body, arrays: Any, layers: int, loss: Loss | None = None
) -> Ran:
    """Run a model with recording.

    A recurrent layer that is not compiled is compiled anew in each call, which takes a second.
    What is inside a function that the user has compiled, or in a loop of JAX, cannot be recorded
    from a compiled function; then all runs uncompiled, loops as loops of Python.

    Args:
        owner: what the compiled function is kept for.
        key: all that it depends on besides the shapes of the arrays; `None` to not compile it.
        body: runs the model.
        arrays: what it is run on.
        layers: how many layers are expected to run.
        loss: of the outputs, to be differentiated by what the layers put out.
    """
    # Whatever goes wrong: if it is the user's own error, uncompiled it shows best.
    with contextlib.suppress(Exception):
        if key is not None:
            key = (key, loss and weakref.ref(loss), *map(_form, jax.tree.leaves(arrays)))
            compiled = _kept.get(owner, key, lambda: _compile(body, arrays, layers, loss))
            if compiled is not None:
                return _run_compiled(compiled, arrays)
    return run_uncompiled(body, arrays, loss)


def run_uncompiled(body: Body, arrays: Any, loss: Loss | None = None) -> Ran:
    """Run a model with recording, nothing compiled but the recurrent layers."""
    unseen: set[str] = set()

    def once(follow: Follow | None) -> tuple[list[Call], Any]:
        made: list[Call] = []
        recorder = Recorder(made.append, refuses_training=False, follow=follow)
        outputs = body(recorder, arrays)
        unseen.update(recorder.unseen)
        return made, outputs

    with uncompiled():
        calls, outputs = once(None) if loss is None else differentiate(once, loss)
    seen = {call.place.id for call in calls}
    return Ran(calls, outputs, frozenset(unseen - seen))


@contextlib.contextmanager
def uncompiled() -> Iterator[None]:
    """Whatever is compiled runs uncompiled in the block, and loops of JAX as loops of Python."""
    with (
        jax.disable_jit(),
        replaced_attributes(jax.lax, scan=_loop(jax.lax.scan)),
        replaced_attributes(jax, checkpoint=_as_it_is, remat=_as_it_is),
    ):
        yield


def _as_it_is(function: Callable[..., Any], **how: Any) -> Callable[..., Any]:
    """`jax.checkpoint`, which changes what is kept for a gradient, and so nothing here."""
    return function


def _loop(scan: Callable[..., Any]) -> Callable[..., Any]:
    """`jax.lax.scan`, where nothing is compiled.

    JAX's own way of running it then compiles every access to a timestep, which takes seconds.
    """

    def loop(
        f: Callable[[Any, Any], tuple[Any, Any]],
        init: Any,
        xs: Any = None,
        length: int | None = None,
        reverse: bool = False,
        *args: Any,
        **kwargs: Any,
    ) -> tuple[Any, Any]:
        leaves = jax.tree.leaves(xs)
        steps = len(leaves[0]) if leaves else length
        if not jax.config.jax_disable_jit or not steps or is_traced(init, xs) or _has_keys(xs):
            result: tuple[Any, Any] = scan(f, init, xs, length, reverse, *args, **kwargs)
            return result
        host = jax.tree.map(np.asarray, xs)
        carry, outputs = init, []
        for t in range(steps):
            place = steps - 1 - t if reverse else t
            x = jax.tree.map(lambda leaf, place=place: jax.numpy.asarray(leaf[place]), host)
            carry, output = f(carry, x)
            outputs.append(output)
        if reverse:
            outputs.reverse()
        return carry, jax.tree.map(lambda *each: jax.numpy.stack(each), *outputs)

    return loop


def _has_keys(tree: Any) -> bool:
    """Whether random keys are among the arrays, which NumPy does not have."""
    return any(
        hasattr(leaf, "dtype") and jax.numpy.issubdtype(leaf.dtype, jax.dtypes.prng_key)
        for leaf in jax.tree.leaves(tree)
    )


def _compile(body: Body, arrays: Any, layers: int, loss: Loss | None) -> _Compiled:
    calls: list[Call] = []
    found: dict[str, Any] = {}

    def function(arrays: Any) -> list[Any]:
        def once(follow: Follow | None) -> tuple[list[Call], Any]:
            made: list[Call] = []
            recorder = Recorder(made.append, compiling=True, refuses_training=False, follow=follow)
            return made, body(recorder, arrays)

        calls[:], outputs = once(None) if loss is None else differentiate(once, loss)
        leaves, structure = jax.tree.flatten(([call.tensors for call in calls], outputs))
        distinct: dict[int, int] = {}
        results: list[Any] = []
        places: list[int] = []
        plain: dict[int, Any] = {}
        for number, leaf in enumerate(leaves):
            if not is_array(leaf):
                plain[number] = leaf
            elif id(leaf) not in distinct:  # a cell's weights are the same at every timestep
                distinct[id(leaf)] = len(results)
                results.append(leaf)
            places.append(distinct.get(id(leaf), -1))
        found.update(structure=structure, places=places, plain=plain)
        return results

    compiled = jax.jit(function).lower(arrays).compile()
    if _count(calls) < layers:  # not run, or inside a function that the user has compiled
        there = run_uncompiled(body, arrays)
        if _count(there.calls) > _count(calls):
            raise NotRecordableError("A layer runs inside a function that is compiled.")
    return _Compiled(compiled, [replace(call, tensors={}) for call in calls], **found)


def _run_compiled(compiled: _Compiled, arrays: Any) -> Ran:
    results = compiled.function(arrays)
    leaves = [
        compiled.plain[number] if number in compiled.plain else results[place]
        for number, place in enumerate(compiled.places)
    ]
    tensors, outputs = jax.tree.unflatten(compiled.structure, leaves)
    calls = [
        replace(call, tensors=each) for call, each in zip(compiled.calls, tensors, strict=True)
    ]
    return Ran(calls, outputs)


def _count(calls: Sequence[Call]) -> int:
    """Of how many layers there are calls."""
    return len({call.place.key for call in calls})


def _form(leaf: Any) -> Hashable:
    return str(leaf.dtype), tuple(leaf.shape), getattr(leaf, "sharding", None)
