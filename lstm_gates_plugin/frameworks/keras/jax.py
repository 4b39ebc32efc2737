"""Keras 3 on JAX."""

from __future__ import annotations

import contextlib
import weakref
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import jax
import keras

from lstm_gates_plugin.frameworks import jax_values
from lstm_gates_plugin.frameworks.arriving import single_number
from lstm_gates_plugin.frameworks.kept import Kept
from lstm_gates_plugin.frameworks.keras.backend import Backend, NotRecordableError
from lstm_gates_plugin.frameworks.keras.call import TensorCall
from lstm_gates_plugin.frameworks.keras.family import Keras
from lstm_gates_plugin.frameworks.keras.layers import Found
from lstm_gates_plugin.frameworks.keras.losses import (
    Follow,
    Gradient,
    Loss,
    Run,
    with_gradients,
)
from lstm_gates_plugin.frameworks.keras.recording import Recorder, run_eagerly
from lstm_gates_plugin.frameworks.keras.state import changing_variables, restored_globals

_JIT = "jit"


@dataclass(frozen=True)
class _Compiled:
    """A model's call with recording. Refers to no layer, lest what is kept keep its owner."""

    function: Any
    calls: list[TensorCall]  # with the tensors of the compilation, to be replaced by those of a run
    structure: Any  # of the outputs


_kept: Kept[_Compiled] = Kept()


class Jax(Backend):
    """Runs a model as a compiled function, kept for later calls, and uncompiled where it must.

    A recurrent layer that is not compiled is compiled anew in each call, which takes seconds.
    """

    def refuse_graphs(self) -> None:
        """See `Backend`."""
        jax_values.refuse_tracing()

    def graph(self) -> Any:
        """See `Backend`."""
        return _JIT if isinstance(jax.numpy.zeros(()), jax.core.Tracer) else None

    def is_computed(self, tensor: Any, graph: Any) -> bool:
        """See `Backend`. While we compile the model, all are tracers."""
        return graph is not None or not isinstance(tensor, jax.core.Tracer)

    def snapshot(self, value: Any) -> Any:
        """See `Backend`. Arrays of JAX are never written to."""
        return keras.ops.convert_to_tensor(value)

    def precision(self, dtype: str) -> str:
        """See `Backend`."""
        return jax_values.precision(dtype)

    @contextlib.contextmanager
    def restored(self, keras: Keras) -> Iterator[None]:
        """See `Backend`. JAX has no random state of its own."""
        with restored_globals(keras, self.snapshot):
            yield

    @contextlib.contextmanager
    def inline(self) -> Iterator[None]:
        """See `Backend`."""
        with jax.disable_jit():
            yield

    def run(
        self,
        model: Any,
        found: Sequence[Found],
        key: str,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        loss: Loss | None = None,
    ) -> tuple[list[TensorCall], Any]:
        """See `Backend`."""
        # Whatever goes wrong: if it is the user's own error, uncompiled it shows best.
        with contextlib.suppress(Exception):
            return self._run_compiled(model, found, key, args, kwargs, loss)
        calls, outputs = run_eagerly(self, model, found, args, kwargs, loss)
        if _count(calls) < len(found):
            with self.inline():
                return run_eagerly(self, model, found, args, kwargs, loss)
        return calls, outputs

    @contextlib.contextmanager
    def following(self) -> Iterator[tuple[Follow | None, Gradient]]:
        """See `Backend`. JAX remembers nothing: it differentiates functions."""

        def refuse(loss: Any, sources: Any) -> Any:
            jax_values.refuse_loss_afterwards()

        yield None, refuse

    def differentiate(self, run: Run, loss: Loss) -> tuple[list[TensorCall], Any]:
        """See `Backend`.

        JAX differentiates by arguments alone; so to all that is followed an argument is added,
        which is zero.
        """
        shapes: list[Any] = []

        def follow_shape(tensor: Any) -> tuple[Any, Any]:
            shapes.append((tensor.shape, tensor.dtype))
            return tensor, tensor

        jax.eval_shape(lambda: run(follow_shape)[1])
        made: list[TensorCall] = []

        def scored(added: list[Any]) -> Any:
            remaining = iter(added)

            def follow(tensor: Any) -> tuple[Any, Any]:
                moved = tensor + next(remaining)
                return moved, moved

            made[:], outputs = run(follow)
            return single_number(loss(outputs)), (outputs, [call.tensors for call in made])

        zeros = [jax.numpy.zeros(*shape) for shape in shapes]
        gradients, (outputs, tensors) = jax.grad(scored, has_aux=True)(zeros)
        calls = [replace(call, tensors=each) for call, each in zip(made, tensors, strict=True)]
        return with_gradients(calls, gradients), outputs

    def _run_compiled(
        self,
        model: Any,
        found: Sequence[Found],
        key: str,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        loss: Loss | None,
    ) -> tuple[list[TensorCall], Any]:
        leaves = keras.tree.flatten((args, kwargs))
        places = [place for place, leaf in enumerate(leaves) if _is_array(leaf)]
        tensors = [keras.ops.convert_to_tensor(leaves[place]) for place in places]
        variables = _variables(model)
        values = [variable.value for variable in variables]
        compiled = _kept.get(
            model,
            (*_key(key, args, kwargs, leaves, [*values, *tensors]), loss and weakref.ref(loss)),
            lambda: self._compile(
                model, found, (args, kwargs), leaves, places, variables, (values, tensors), loss
            ),
        )
        if compiled is None:
            raise NotRecordableError(f"the model {model.name!r} could not be compiled earlier.")
        outputs, recorded = compiled.function(values, tensors)
        calls = [
            replace(call, tensors=each) for call, each in zip(compiled.calls, recorded, strict=True)
        ]
        return calls, keras.tree.pack_sequence_as(compiled.structure, outputs)

    def _compile(
        self,
        model: Any,
        found: Sequence[Found],
        structure: tuple[tuple[Any, ...], dict[str, Any]],
        leaves: Sequence[Any],
        places: Sequence[int],
        variables: Sequence[Any],
        example: tuple[list[Any], list[Any]],
        loss: Loss | None,
    ) -> _Compiled:
        calls: list[TensorCall] = []
        structures: list[Any] = []

        def call(values: list[Any], inputs: list[Any]) -> Any:
            filled = list(leaves)
            for place, tensor in zip(places, inputs, strict=True):
                filled[place] = tensor
            args, kwargs = keras.tree.pack_sequence_as(structure, filled)

            def run(follow: Follow | None) -> tuple[list[TensorCall], Any]:
                made: list[TensorCall] = []
                # No update reaches the variables.
                scope = _Scope(list(zip(variables, values, strict=True)))
                with scope, Recorder(self, made.append, follow).recording(model, found):
                    return made, model(*args, **kwargs)

            calls[:], outputs = run(None) if loss is None else self.differentiate(run, loss)
            structures[:] = [keras.tree.map_structure(lambda leaf: None, outputs)]
            return keras.tree.flatten(outputs), [each.tensors for each in calls]

        function = jax.jit(call).lower(*example).compile()
        if _count(calls) < len(found):  # not run, or inside a function that the user has compiled
            args, kwargs = structure
            with self.inline():
                uncompiled, _ = run_eagerly(self, model, found, args, kwargs)
            if _count(uncompiled) > _count(calls):
                raise NotRecordableError("A layer runs inside a function that is compiled.")
        return _Compiled(function, calls, structures[0])


def _count(calls: Sequence[TensorCall]) -> int:
    """Of how many layers there are calls."""
    return len({call.index for call in calls})


class _Scope(keras.StatelessScope):
    """Refuses variables that are not the model's: their values would be compiled in."""

    def get_current_value(self, variable: Any) -> Any:
        """A variable's value in this scope."""
        value = super().get_current_value(variable)
        if value is None:
            raise NotRecordableError(f"the model reads a variable {variable.path!r} of its own.")
        return value


def _variables(model: Any) -> list[Any]:
    known: dict[int, Any] = {}
    for variable in [*model.variables, *changing_variables(model)]:
        known.setdefault(id(variable), variable)
    return list(known.values())


def _is_array(leaf: Any) -> bool:
    return hasattr(leaf, "dtype") and hasattr(leaf, "shape")


def _key(
    key: str,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    leaves: Sequence[Any],
    tensors: Sequence[Any],
) -> tuple[Hashable, ...]:
    """All that the compiled function depends on, as far as it can be told from outside."""
    return (
        key,
        repr(keras.tree.map_structure(lambda leaf: None, (args, kwargs))),
        tuple("array" if _is_array(leaf) else leaf for leaf in leaves),
        tuple((str(tensor.dtype), tuple(tensor.shape)) for tensor in tensors),
    )
