"""Flax: what goes into a recurrent layer while the user's model runs, linen or nnx."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import jax
from flax.nnx.tracers import TraceState

from lstm_gates_plugin.frameworks.flax.calls import Call, Place
from lstm_gates_plugin.frameworks.flax.following import Follow, followed
from lstm_gates_plugin.frameworks.jax_values import is_traced

# How JAX names what stands for a value while it differentiates.
_DIFFERENTIATED = ("JVPTracer", "LinearizeTracer")


class NotRecordableError(Exception):
    """What was asked for cannot be recorded in a compiled function."""


@dataclass(frozen=True)
class Part:
    """A cell that is about to be called, alone or by the `RNN` that holds it.

    Attributes:
        place: where it is in the model.
        weights: see `Call`.
        variables: see `Call`.
    """

    place: Place
    weights: Any
    variables: Any


class Recorder:
    """Hands on the calls of recurrent layers, in the order in which they are made.

    Args:
        keep: is given each call right after it was made.
        compiling: whether the model is being compiled, so that no array has a value yet.
        refuses_training: whether a call inside `jax.grad` is an error.
        follow: gives what goes on in the place of what a layer puts out, where there is a loss.
    """

    def __init__(
        self,
        keep: Callable[[Call], None],
        *,
        compiling: bool = False,
        refuses_training: bool,
        follow: Follow | None = None,
    ) -> None:
        self.unseen: set[str] = set()  # the layers that ran where values cannot be seen, by id
        self._keep = keep
        self._compiling = compiling
        self._follow = follow
        self._level = TraceState()
        self._refuses_training = refuses_training
        self._inside = False
        self._in_both_directions = False

    def rnn(
        self,
        part: Part,
        rnn: Any,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        call: Callable[..., Any],
        start: Callable[[tuple[int, ...]], Any],
    ) -> Any:
        """Make and record a call of an `RNN`.

        Args:
            part: its cell.
            rnn: the `RNN`.
            args: of the call.
            kwargs: of the call.
            call: makes it.
            start: gives the carry that it starts from, by the shape of a timestep's inputs;
                `None` where that is zero.
        """
        named = {**dict(zip(("inputs",), args, strict=False)), **kwargs}
        inputs, given = named.pop("inputs"), named.get("initial_carry")
        if not self._can_see(part, inputs, given):
            return call(*args, **kwargs)

        def flag(name: str) -> bool:
            value = named.get(name)
            return bool(getattr(rnn, name) if value is None else value)

        axes = part.place.description.feature_axes
        if inputs.ndim < axes + 1:
            raise ValueError(
                f"layer {part.place.id!r} was given inputs of shape {inputs.shape}, and a sequence "
                "was expected, [batch, time, features] or, without a batch, [time, features]."
            )
        time_axis = 0 if flag("time_major") else inputs.ndim - axes - 1
        if given is None:
            given = start((*inputs.shape[:time_axis], *inputs.shape[time_axis + 1 :]))
            named["initial_carry"] = given
        with self._in_a_layer():
            carry, output = call(inputs, **{**named, "return_carry": True})
        output, carry, is_source = self._followed(part, output, carry)
        self._keep(
            Call(
                part.place,
                {
                    "inputs": inputs,
                    "lengths": named.get("seq_lengths"),
                    "initial": given,
                    "output": output,
                    "final": carry,
                    "weights": part.weights,
                    "variables": part.variables,
                },
                backward=flag("reverse"),
                is_reversed=flag("reverse") and not flag("keep_order"),
                time_axis=time_axis,
                joins=not (self._in_both_directions and flag("reverse")),
                is_source=is_source,
            )
        )
        return (carry, output) if flag("return_carry") else output

    def cell(
        self,
        part: Part,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        call: Callable[..., Any],
    ) -> Any:
        """Make and record a call of a cell that the model calls itself, for one timestep."""
        named = {**dict(zip(("carry", "inputs"), args, strict=False)), **kwargs}
        if not {"carry", "inputs"} <= set(named) or not self._can_see(
            part, named["inputs"], named["carry"]
        ):
            return call(*args, **kwargs)
        with self._in_a_layer():
            carry, output = call(*args, **kwargs)
        output, carry, is_source = self._followed(part, output, carry)
        self._keep(
            Call(
                part.place,
                {
                    "inputs": named["inputs"],
                    "lengths": None,
                    "initial": named["carry"],
                    "output": output,
                    "final": carry,
                    "weights": part.weights,
                    "variables": part.variables,
                },
                is_source=is_source,
            )
        )
        return carry, output

    @property
    def is_traced(self) -> bool:
        """Whether the model runs inside a function that we transform.

        There, nnx refuses to change modules that were made outside.
        """
        return self._compiling or self._follow is not None

    @property
    def is_inside(self) -> bool:
        """Whether a layer is being recorded, and what it calls is its own affair."""
        return self._inside

    @contextmanager
    def in_both_directions(self) -> Iterator[None]:
        """In the block, a `Bidirectional` calls its two layers."""
        before, self._in_both_directions = self._in_both_directions, True
        try:
            yield
        finally:
            self._in_both_directions = before

    @contextmanager
    def _in_a_layer(self) -> Iterator[None]:
        """In the block, what is called belongs to a layer, and may be compiled as it always is."""
        self._inside = True
        try:
            with jax.disable_jit(False):
                yield
        finally:
            self._inside = False

    def _followed(self, part: Part, output: Any, carry: Any) -> tuple[Any, Any, tuple[bool, ...]]:
        """What goes on in the place of an output and a carry, and which of their arrays count.

        A cell whose equations are not known has no gradients.
        """
        if self._follow is None or part.place.description.kind == "unknown":
            return output, carry, ()
        states, structure = jax.tree.flatten(carry)
        (output, *states), is_source = followed(self._follow, [output, *states])
        return output, jax.tree.unflatten(structure, states), is_source

    def _can_see(self, part: Part, inputs: Any, carry: Any) -> bool:
        """Whether the values of a call are there, or will be once the model is compiled."""
        if self._compiling:
            return True
        if self._follow is not None:  # while we differentiate, all may be traced, once
            can_see = bool(self._level.is_valid())
            self.unseen.update([] if can_see else [part.place.id])
            return can_see
        tensors = (inputs, carry, part.weights)
        if not is_traced(tensors):
            return True
        if self._refuses_training and any(
            type(leaf).__name__ in _DIFFERENTIATED for leaf in jax.tree.leaves(tensors)
        ):
            raise ValueError(
                f"layer {part.place.id!r} was called inside jax.grad (or jvp, vjp) while gates are "
                "recorded, which is done in inference mode. Take training steps outside of "
                "record()."
            )
        self.unseen.add(part.place.id)
        return False
