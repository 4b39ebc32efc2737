"""Flax: what recurrent layers put out, followed so that a loss can be differentiated by it.

JAX differentiates by arguments alone; so to all that is followed an argument is added, which is
zero.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias

import jax

from lstm_gates_plugin.frameworks.arriving import single_number
from lstm_gates_plugin.frameworks.flax.leaves import separated
from lstm_gates_plugin.frameworks.jax_values import is_traced

if TYPE_CHECKING:
    from lstm_gates_plugin.frameworks.flax.calls import Call

#: Gives what goes on in the place of an array, so that a gradient by it can be had later.
Follow: TypeAlias = Callable[[Any], Any]

#: The user's own: what the model returned to a single number.
Loss: TypeAlias = Callable[[Any], Any]

#: Runs a model with its arrays followed; the calls that were recorded, and the outputs.
Run: TypeAlias = Callable[[Follow | None], "tuple[list[Call], Any]"]


def followed(follow: Follow, arrays: Sequence[Any]) -> tuple[list[Any], tuple[bool, ...]]:
    """Follow what a call put out.

    Returns:
        What goes on in their places; and which were followed: an array that is in several places
        is followed once, and goes on as one.
    """
    known: dict[int, Any] = {}
    going_on, is_source = [], []
    for array in arrays:
        is_source.append(id(array) not in known)
        if is_source[-1]:
            known[id(array)] = follow(array)
        going_on.append(known[id(array)])
    return going_on, tuple(is_source)


def differentiate(run: Run, loss: Loss) -> tuple[list[Call], Any]:
    """Run a model, and differentiate a loss of its outputs by what its layers put out.

    Returns:
        The calls, with `arriving` among their tensors, and the outputs.

    Raises:
        ValueError: the loss is not a single number.
    """
    shapes: list[Any] = []

    def measure() -> None:
        def follow(array: Any) -> Any:
            shapes.append((array.shape, array.dtype))
            return array

        run(follow)

    # What is being compiled need not be computed for that.
    if is_traced(jax.numpy.zeros(())):
        jax.eval_shape(measure)
    else:
        measure()
    made: list[Call] = []
    rests: list[Callable[[Sequence[Any]], Any]] = []

    def scored(added: list[Any]) -> Any:
        remaining = iter(added)
        made[:], outputs = run(lambda array: array + next(remaining))
        arrays, filled, _ = separated((outputs, [call.tensors for call in made]))
        rests.append(filled)
        return single_number(loss(outputs)), arrays

    zeros = [jax.numpy.zeros(*shape) for shape in shapes]
    gradients, arrays = jax.grad(scored, has_aux=True)(zeros)
    outputs, tensors = rests[0](arrays)
    remaining = iter(gradients)
    calls = [
        replace(call, tensors={**each, "arriving": _of_call(call, remaining)})
        for call, each in zip(made, tensors, strict=True)
    ]
    return calls, outputs


def _of_call(call: Call, gradients: Any) -> list[Any] | None:
    """A call's part of all gradients, in the order of what it put out."""
    if not call.is_source:
        return None
    return [next(gradients) if is_source else None for is_source in call.is_source]
