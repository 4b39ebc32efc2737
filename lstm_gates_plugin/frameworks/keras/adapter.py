"""Keras, of either generation and on every backend: list the recurrent layers, and record them."""

from __future__ import annotations

import contextlib
import importlib
import operator
import weakref
from collections.abc import Iterator
from typing import Any

import numpy as np

from lstm_gates_plugin.frameworks import levels
from lstm_gates_plugin.frameworks.arriving import single_number
from lstm_gates_plugin.frameworks.keras import layers as keras_layers
from lstm_gates_plugin.frameworks.keras.backend import Backend
from lstm_gates_plugin.frameworks.keras.call import TensorCall
from lstm_gates_plugin.frameworks.keras.family import Keras, keras_of
from lstm_gates_plugin.frameworks.keras.losses import (
    Loss,
    OwnLoss,
    flat_sources,
    with_gradients,
)
from lstm_gates_plugin.frameworks.keras.recording import Recorder
from lstm_gates_plugin.frameworks.keras.state import changing_variables, restored_variables
from lstm_gates_plugin.frameworks.levels import Cell, Node
from lstm_gates_plugin.frameworks.not_opened import advice, is_recurrent_by_name
from lstm_gates_plugin.frameworks.recorded import Observation, Observe, RecordedCall
from lstm_gates_plugin.layer import RecurrentLayer

# By backend of Keras, the class that records on it. Its module imports the backend's framework.
_BACKENDS = {
    "tensorflow": ("tensorflow", "TensorFlow"),
    "jax": ("jax", "Jax"),
    "torch": ("torch", "Torch"),
}

_SUPPORTED = "Keras's LSTM, GRU, SimpleRNN and RNN"

_own_losses: weakref.WeakKeyDictionary[Any, OwnLoss] = weakref.WeakKeyDictionary()


def recurrent_layers(model: Any) -> list[RecurrentLayer]:
    """The recurrent layers of a Keras model, with copies of their present weights.

    Raises:
        ValueError: the model is not built, or this is called while a function is compiled.
    """
    _backend(keras_of(model)).refuse_graphs()
    return [layer for each in keras_layers.find(model) for layer in _layers(each.read())]


def build(model: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Call a model once, so that it is built, and training goes on as if it had built itself.

    A model with stateful layers is left alone, since they are built for one number of rows.
    """
    backend, layers = _backend(keras_of(model)), keras_of(model).layers
    if any(layer.stateful for layer in keras_layers.layers_of_class(model, layers.RNN)):
        return
    with backend.building(), restored_variables(changing_variables(model), backend.snapshot):
        model(*args, **kwargs)


def updates(model: Any) -> int | None:
    """The number of updates that a model's optimizer has made; `None` if it has no optimizer."""
    optimizer = getattr(model, "optimizer", None)
    return None if optimizer is None else int(keras_of(model).array(optimizer.iterations))


def own_loss(model: Any, target: Any) -> Loss | None:
    """The loss that a model was compiled with, as a function of its outputs; see `capture`."""
    if getattr(model, "loss", None) is None or not hasattr(model, "compute_loss"):
        return None
    known = _own_losses.get(model)
    if known is None or known.target is not target or known.compiled is not model.loss:
        known = _own_losses[model] = OwnLoss(model, target)
    return known


def observe(
    model: Any,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    samples: int | None,
    loss: Loss | None = None,
) -> Observation:
    """Call a model in inference mode, record its recurrent layers, and leave all as it was.

    Args:
        model: a Keras model or layer.
        args: what the model is called with.
        kwargs: the same, by name.
        samples: how many rows to record at most; the model runs on all of them.
        loss: of what the model returns, to be differentiated by what its layers put out.

    Raises:
        ValueError: the model is not built, has no recurrent layer, or `training=True` was given; or
            this is called while a function is compiled.
    """
    if kwargs.get("training"):
        raise ValueError("a trace runs the model in inference mode; leave training=True out.")
    keras = keras_of(model)
    backend = _backend(keras)
    backend.refuse_graphs()
    found = _find(model)
    cells = [each.read() for each in found]
    layers = [layer for node in cells for layer in _layers(node)]
    with backend.restored(keras):
        calls, outputs = backend.run(
            model,
            found,
            repr((layers, _settings(model))),
            args,
            {**kwargs, "training": False},
            loss,
        )
        with _stepping(backend, model, cells):
            recorded = [
                each for call in calls for each in call.to_numpy(keras, cells[call.index], samples)
            ]
        arrays = keras.map(lambda value: _output(keras, value), outputs)
    return Observation(layers, recorded, arrays)


def in_a_row(
    model: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[list[RecordedCall], list[RecordedCall]]:
    """The calls of the layers in two calls of a model in a row; see `capture`."""
    backend = _backend(keras_of(model))
    with (
        backend.restored(keras_of(model)),
        restored_variables(changing_variables(model), backend.snapshot),
        recording(model) as observe,
    ):
        model(*args, **{**kwargs, "training": False})
        first = len(observe().calls)
        model(*args, **{**kwargs, "training": False})
        calls = observe().calls
    return calls[:first], calls[first:]


def _settings(model: Any) -> list[tuple[str, Any]]:
    """The plain values that a model's layers hold, on which its call may depend.

    By name: an attribute that recording has put back stands last.
    """
    return [
        (name, value)
        for layer in model._flatten_layers(include_self=True)
        for name, value in sorted(vars(layer).items(), key=operator.itemgetter(0))
        if not name.startswith("_") and isinstance(value, (bool, int, float, str))
    ]


@contextlib.contextmanager
def recording(model: Any) -> Iterator[Observe]:
    """Record the recurrent layers of a model while the user runs it in any way but training.

    Functions that were compiled, such as that of `predict()`, run uncompiled meanwhile.

    Yields:
        a function that returns what was recorded so far, its `outputs` being `None`, with the
        gradients of a loss if it is given one.

    Raises:
        ValueError: the model is not built, or has no recurrent layer; or this is called while a
            function is compiled.
    """
    keras = keras_of(model)
    backend = _backend(keras)
    backend.refuse_graphs()
    found = _find(model)
    cells: dict[int, Node[Cell]] = {}
    made: list[TensorCall] = []
    recorded: list[RecordedCall] = []

    def keep(call: TensorCall) -> None:
        if call.index not in cells:
            cells[call.index] = found[call.index].read()
        made.append(call)
        recorded.extend(to_numpy(call))

    def to_numpy(call: TensorCall) -> list[RecordedCall]:
        with _stepping(backend, model, [cells[call.index]]):
            return call.to_numpy(keras, cells[call.index])

    with backend.following() as (follow, gradient):

        def observe(loss: Any = None) -> Observation:
            layers = [layer for node in cells.values() for layer in _layers(node)]
            if loss is None:
                return Observation(layers, list(recorded), None)
            calls = with_gradients(made, gradient(single_number(loss), flat_sources(made)))
            return Observation(layers, [one for call in calls for one in to_numpy(call)], None)

        with backend.inline(), Recorder(backend, keep, follow).recording(model, found):
            yield observe


def _find(model: Any) -> list[keras_layers.Found]:
    found = keras_layers.find(model)
    if not found:
        unknown = _look_recurrent(model)
        raise ValueError(
            f"the model {model.name!r} has no recurrent layer: no LSTM, GRU, SimpleRNN or RNN was "
            f"found in it or in the layers that it holds. {advice(unknown, _SUPPORTED)}"
        )
    return found


def _look_recurrent(model: Any) -> list[str]:
    """Layers that are recurrent by the name of their class, and that cannot be opened."""
    return [
        f"{layer.name} ({type(layer).__name__})"
        for layer in model._flatten_layers(include_self=True)
        if is_recurrent_by_name(type(layer).__name__) and layer.weights
    ]


def _backend(keras: Keras) -> Backend:
    if keras.backend not in _BACKENDS:
        raise ValueError(
            f"Keras runs on {keras.backend!r} here, and layers can be opened only on "
            f"{', '.join(map(repr, _BACKENDS))}."
        )
    module, name = _BACKENDS[keras.backend]
    backend: Backend = getattr(importlib.import_module(f"{__package__}.{module}"), name)()
    return backend


def _layers(cells: Node[Cell]) -> list[RecurrentLayer]:
    return [cell.layer for cell in levels.leaves(cells)]


@contextlib.contextmanager
def _stepping(backend: Backend, model: Any, cells: list[Node[Cell]]) -> Iterator[None]:
    """While the user's own cells are stepped, keep what they might write to."""
    steps = any(cell.step is not None for node in cells for cell in levels.leaves(node))
    with restored_variables(changing_variables(model) if steps else [], backend.snapshot):
        yield


def _output(keras: Keras, value: Any) -> Any:
    """What a model returned: tensors, or anything else beside them."""
    return keras.array(value) if hasattr(value, "dtype") else np.array(value)
