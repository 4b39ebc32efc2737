"""Keras 3: a model's recurrent layers on every backend, and recording where a backend has it."""

from __future__ import annotations

import contextlib
import importlib
from types import ModuleType
from typing import Any

import keras

from lstm_gates_plugin.frameworks import keras_layers
from lstm_gates_plugin.frameworks.recorded import Observation, Observe
from lstm_gates_plugin.layer import RecurrentLayer

# By backend of Keras, the module that records on it. It imports the backend's framework.
_BACKENDS = {"tensorflow": "lstm_gates_plugin.frameworks.keras_tensorflow"}


def recurrent_layers(model: Any) -> list[RecurrentLayer]:
    """The recurrent layers of a Keras model, with copies of their present weights.

    Raises:
        ValueError: the model is not built.
    """
    return [keras_layers.read(found) for found in keras_layers.find(model)]


def observe(
    model: Any, args: tuple[Any, ...], kwargs: dict[str, Any], samples: int | None
) -> Observation:
    """Call a model in inference mode, record its recurrent layers, and leave all as it was.

    Args:
        model: a Keras model or layer.
        args: what the model is called with.
        kwargs: the same, by name.
        samples: how many rows to record at most; the model runs on all of them.

    Raises:
        ValueError: the model is not built, has no recurrent layer, or `training=True` was given.
    """
    if kwargs.get("training"):
        raise ValueError("a trace runs the model in inference mode; leave training=True out.")
    backend = _backend()
    found = _find(model)
    observation: Observation = backend.observe(
        model, found, args, {**kwargs, "training": False}, samples
    )
    return observation


def recording(model: Any) -> contextlib.AbstractContextManager[Observe]:
    """Record the recurrent layers of a model while the user runs it in any way but training.

    Returns:
        a context manager that yields a function, which returns what was recorded so far.

    Raises:
        ValueError: the model is not built, or has no recurrent layer.
    """
    backend = _backend()
    context: contextlib.AbstractContextManager[Observe] = backend.recording(model, _find(model))
    return context


def _find(model: Any) -> list[keras_layers.Found]:
    found = keras_layers.find(model)
    if not found:
        raise ValueError(
            f"the model {model.name!r} has no recurrent layer: no LSTM, GRU, SimpleRNN or RNN was "
            "found in it or in the layers that it holds."
        )
    return found


def _backend() -> ModuleType:
    name = keras.backend.backend()
    if name not in _BACKENDS:
        raise ValueError(
            f"Keras runs on {name!r} here, and gates can be recorded only on "
            f"{', '.join(map(repr, _BACKENDS))} so far. recurrent_layers(model) gives the weights "
            "on every backend."
        )
    return importlib.import_module(_BACKENDS[name])
