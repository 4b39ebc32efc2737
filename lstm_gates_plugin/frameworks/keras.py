"""Keras 3 on TensorFlow: run a model, or watch the user run it, and record its recurrent layers."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import keras

from lstm_gates_plugin.frameworks import keras_compiled, keras_layers
from lstm_gates_plugin.frameworks.keras_layers import Found
from lstm_gates_plugin.frameworks.keras_recording import Recorder, TensorCall, to_numpy
from lstm_gates_plugin.frameworks.keras_state import (
    functions_inline,
    restored_random_state,
    restored_variables,
)
from lstm_gates_plugin.frameworks.recorded import Observation, RecordedCall
from lstm_gates_plugin.layer import RecurrentLayer


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

    The call runs as a compiled function, which is made once for each model and input shape; where
    that is not possible, eagerly.

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
    found = _find(model)
    layers = [keras_layers.read(each) for each in found]
    kwargs = {**kwargs, "training": False}
    with restored_random_state():
        try:
            ran = keras_compiled.run(model, found, layers, args, kwargs)
        except Exception:
            ran = None  # whatever went wrong: if it is the user's own error, eagerly it shows best
        calls, outputs = ran or _run_eagerly(model, found, args, kwargs)
    return Observation(
        layers,
        [call.to_numpy(layers[call.index], samples) for call in calls],
        keras.tree.map_structure(to_numpy, outputs),
    )


def _run_eagerly(
    model: Any, found: Sequence[Found], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[list[TensorCall], Any]:
    recorder = Recorder()
    unrestored = [each.value for each in model.variables if not each.trainable]
    with restored_variables(unrestored), functions_inline(), recorder.recording(model, found):
        outputs = model(*args, **kwargs)
    return recorder.calls, outputs


@contextlib.contextmanager
def recording(model: Any) -> Iterator[Callable[[], Observation]]:
    """Record the recurrent layers of a model while the user runs it in any way but training.

    Functions compiled by `tf.function`, such as that of `predict()`, run eagerly meanwhile.

    Yields:
        a function that returns what was recorded so far; its `outputs` are `None`.

    Raises:
        ValueError: the model is not built, or has no recurrent layer.
    """
    found = _find(model)
    layers: dict[int, RecurrentLayer] = {}

    def read_weights(index: int) -> None:
        if index not in layers:
            layers[index] = keras_layers.read(found[index])

    recorder = Recorder(before_call=read_weights)

    def observation() -> Observation:
        calls: list[RecordedCall] = [call.to_numpy(layers[call.index]) for call in recorder.calls]
        return Observation(list(layers.values()), calls, None)

    with functions_inline(), recorder.recording(model, found):
        yield observation


def _find(model: Any) -> list[Found]:
    if keras.backend.backend() != "tensorflow":
        raise ValueError(
            f"Keras runs on {keras.backend.backend()!r} here, and gates can be recorded only on "
            "'tensorflow' so far; recurrent_layers(model) gives the weights on every backend."
        )
    found = keras_layers.find(model)
    if not found:
        raise ValueError(
            f"the model {model.name!r} has no recurrent layer: no LSTM, GRU, SimpleRNN or RNN was "
            "found in it or in the layers that it holds."
        )
    return found
