"""Flax, linen and nnx: list the recurrent layers, and record them."""

from __future__ import annotations

import contextlib
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import jax
from flax import linen, nnx

from lstm_gates_plugin.frameworks.flax import linen as flax_linen
from lstm_gates_plugin.frameworks.flax import nnx as flax_nnx
from lstm_gates_plugin.frameworks.flax.calls import Call, Read
from lstm_gates_plugin.frameworks.flax.following import Loss
from lstm_gates_plugin.frameworks.flax.leaves import separated
from lstm_gates_plugin.frameworks.flax.recording import Recorder
from lstm_gates_plugin.frameworks.flax.running import Ran, run, uncompiled
from lstm_gates_plugin.frameworks.jax_values import (
    refuse_loss_afterwards,
    refuse_tracing,
    to_numpy,
)
from lstm_gates_plugin.frameworks.not_opened import advice
from lstm_gates_plugin.frameworks.recorded import Observation, Observe, RecordedCall
from lstm_gates_plugin.layer import RecurrentLayer


def recurrent_layers(model: Any) -> list[RecurrentLayer]:
    """The recurrent layers of a Flax model, with copies of their present weights.

    Linen makes what is inside of a `@compact` method only when that runs. Before such a model was
    traced, its cells are told by the names of their parameters: a cell that is not one of Flax's is
    not seen, and the usual activations and the forward direction are taken for granted.

    Raises:
        ValueError: a linen module without variables, or this is called inside `jax.jit`.
    """
    if isinstance(model, nnx.Module):
        refuse_tracing(nnx.state(model))
        return [each.read() for each in flax_nnx.find(model)]
    module, variables = _with_variables(model)
    refuse_tracing(variables)
    return flax_linen.find(module, variables)


def observe(
    model: Any,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    samples: int | None,
    loss: Loss | None = None,
) -> Observation:
    """Call a model, record its recurrent layers, and leave all as it was.

    Args:
        model: an nnx module, which runs in inference mode, or a linen module with its variables.
        args: what the model is called with; of a linen module, behind the variables.
        kwargs: the same, by name; of a linen module also `rngs`, `mutable` and `method`.
        samples: how many rows to record at most; the model runs on all of them.
        loss: of what the model returns, as arrays of JAX, to be differentiated by what its layers
            put out. With `mutable`, linen returns its outputs and the changed variables, and this
            is what the loss is given. As with `jax.jit`, what the function takes from elsewhere
            is what it was in the first call.

    Raises:
        ValueError: the model has no recurrent layer, a linen module came without variables, or this
            is called inside `jax.jit`; or the loss is not a single number.
    """
    refuse_tracing(args, kwargs)
    layers = recurrent_layers(model)
    if isinstance(model, nnx.Module):
        if not layers:
            raise _no_layer(model)
        ran = _run_nnx(model, args, kwargs, loss)
    else:
        ran = _run_linen(*_with_variables(model), args, kwargs, len(layers), loss)
    read: Read = {}
    recorded = [call.to_recorded(read, samples) for call in ran.calls]
    layers = _merged(layers, recorded)
    if not layers:
        raise _no_layer(model)
    if not isinstance(model, nnx.Module):
        _remember(_with_variables(model)[0], ran.calls, recorded)
    outputs = jax.tree.map(to_numpy, ran.outputs)
    return Observation(layers, recorded, outputs, dict.fromkeys(ran.unseen, _UNSEEN))


_SUPPORTED = "Flax's RNN, Bidirectional and cells (RNNCellBase)"

_UNSEEN = (
    "it runs inside jax.grad or jax.vmap, where arrays have no values that could be recorded. Give "
    "the model what it takes without them"
)


def in_a_row(
    model: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[list[RecordedCall], list[RecordedCall]]:
    """The calls of the layers in two calls of a model in a row; see `capture`."""
    with contextlib.ExitStack() as stack:
        if isinstance(model, nnx.Module):
            stack.enter_context(flax_nnx.restored(model))
            called = partial(model, *args, **kwargs)
        else:
            module, variables = _with_variables(model)
            called = partial(module.apply, variables, *args, **kwargs)
        observe = stack.enter_context(recording(model))
        called()
        first = len(observe().calls)
        called()
        calls = observe().calls
    return calls[:first], calls[first:]


@contextlib.contextmanager
def recording(model: Any) -> Iterator[Observe]:
    """Record the recurrent layers of a model while the user runs it in any way but training.

    Functions that were compiled run uncompiled meanwhile. An nnx module is in inference mode; a
    linen module is recorded with whichever variables it is applied to.

    Yields:
        a function that returns what was recorded so far; its `outputs` are `None`.

    Raises:
        ValueError: the model has no recurrent layer, a linen module came without variables, or this
            is called inside `jax.jit`; in the block, if a layer is called inside `jax.grad`;
            afterwards, if there is a loss, which JAX cannot differentiate then.
    """
    layers = recurrent_layers(model)
    read: Read = {}
    calls: list[Call] = []
    recorded: list[RecordedCall] = []

    def keep(call: Call) -> None:
        recorded.append(call.to_recorded(read))
        calls.append(replace(call, tensors={}))

    def observe(loss: Any = None) -> Observation:
        if loss is not None:
            refuse_loss_afterwards()
        return Observation(_merged([], recorded), list(recorded), None)

    recorder = Recorder(keep, refuses_training=True)
    with contextlib.ExitStack() as stack:
        if isinstance(model, nnx.Module):
            if not layers:
                raise _no_layer(model)
            found = flax_nnx.find(model)
            stack.enter_context(flax_nnx.in_inference_mode(model))
            stack.enter_context(flax_nnx.marked(found))
            stack.enter_context(flax_nnx.recording(recorder, found))
        else:
            module, variables = _with_variables(model)
            stack.enter_context(flax_linen.recording(recorder, module, variables["params"]))
        with uncompiled():
            yield observe
    if not isinstance(model, nnx.Module):
        _remember(_with_variables(model)[0], calls, recorded)


def _run_nnx(model: Any, args: tuple[Any, ...], kwargs: dict[str, Any], loss: Loss | None) -> Ran:
    """Run a copy of the module; without a loss, where it cannot be compiled, the module itself."""
    tensors, filled, plain = separated((args, kwargs))
    found = flax_nnx.find(model)
    with flax_nnx.marked(found):
        graph, state = nnx.split(model)

        def body(recorder: Recorder, arrays: Any) -> Any:
            state, tensors = arrays
            args, kwargs = filled(tensors)
            called = model
            if recorder.is_traced:  # new variables, made in here; nnx would take those of `state`
                called = nnx.merge(graph, jax.tree.map(lambda leaf: leaf, state))
            with (
                flax_nnx.restored(called),
                flax_nnx.in_inference_mode(called),
                flax_nnx.recording(recorder, found),
            ):
                return called(*args, **kwargs)

        key = None if plain is None else (graph, plain)
        return run(model, key, body, (state, tensors), len(found), loss)


def _run_linen(
    module: Any,
    variables: Mapping[str, Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    layers: int,
    loss: Loss | None,
) -> Ran:
    tensors, filled, key = separated((args, kwargs))

    def body(recorder: Recorder, arrays: Any) -> Any:
        variables, tensors = arrays
        args, kwargs = filled(tensors)
        with flax_linen.recording(recorder, module, variables["params"]):
            return module.apply(variables, *args, **kwargs)

    return run(module, _with_structure(key, variables), body, (variables, tensors), layers, loss)


def _with_structure(key: Hashable, variables: Mapping[str, Any]) -> Hashable:
    return None if key is None else (key, str(jax.tree.structure(variables)))


def _merged(
    layers: Sequence[RecurrentLayer], recorded: Sequence[RecordedCall]
) -> list[RecurrentLayer]:
    """All layers of a model, each as it was recorded if it was, and first those that were listed.

    What a cell that is not known has inside is its own affair.
    """
    ran: dict[str, RecurrentLayer] = {}
    for call in recorded:
        ran.setdefault(call.layer.id, call.layer)
    inside = tuple(f"{layer.id}/" for layer in ran.values() if layer.cell == "unknown")
    listed = {layer.id: layer for layer in layers if not layer.id.startswith(inside)}
    return list({**listed, **ran}.values())


def _remember(module: Any, calls: Sequence[Call], recorded: Sequence[RecordedCall]) -> None:
    shown: dict[tuple[str, ...], flax_linen.Known] = {}
    for call, each in zip(calls, recorded, strict=True):
        description = replace(
            call.place.description, units=each.layer.units, input_size=each.layer.input_size
        )
        shown.setdefault(call.place.key, flax_linen.Known(description, call.backward))
    flax_linen.remember(module, shown)


def _with_variables(model: Any) -> tuple[Any, Mapping[str, Any]]:
    """A linen module and its variables."""
    if isinstance(model, linen.Module) and model.scope is not None:
        module, variables = model.unbind()
    elif isinstance(model, tuple) and len(model) == 2:
        module, variables = model
    else:
        name = type(model[0] if isinstance(model, tuple) else model).__name__
        raise ValueError(
            f"a Flax linen module has no variables of its own, and {name} was given without. Give "
            "(module, variables), with what module.init() returned: trace((module, variables), x)."
        )
    if not isinstance(variables, Mapping) or "params" not in variables:
        given = f"an object of type {type(variables).__name__}"
        if isinstance(variables, Mapping):
            given = f"one with the keys {sorted(map(str, variables))}"
        raise ValueError(
            "the variables of a Flax linen module are a dict of collections, of which 'params' is "
            f"one, and {given} was given. Give what module.init() returned, or "
            "{'params': parameters}."
        )
    return module, variables


def _no_layer(model: Any) -> ValueError:
    if isinstance(model, nnx.Module):
        module, unknown = model, flax_nnx.look_recurrent(model)
    else:
        module, variables = _with_variables(model)
        unknown = flax_linen.look_recurrent(variables)
    return ValueError(
        f"the model {type(module).__name__} has no recurrent layer: no RNN and no cell of Flax was "
        f"found in it. {advice(unknown, _SUPPORTED)}"
    )
