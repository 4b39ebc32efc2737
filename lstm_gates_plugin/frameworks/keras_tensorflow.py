"""Keras 3 on TensorFlow: run a model with recording, or record while the user runs it."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import Any

import keras
import tensorflow as tf

from lstm_gates_plugin.frameworks import keras_compiled, keras_layers
from lstm_gates_plugin.frameworks.keras_layers import Found
from lstm_gates_plugin.frameworks.keras_recording import Recorder, TensorCall, to_numpy
from lstm_gates_plugin.frameworks.keras_state import (
    functions_inline,
    restored_random_state,
    restored_variables,
)
from lstm_gates_plugin.frameworks.recorded import Observation, Observe
from lstm_gates_plugin.layer import RecurrentLayer


def observe(
    model: Any,
    found: Sequence[Found],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    samples: int | None,
) -> Observation:
    """Call a model with recording, and leave all as it was.

    The call runs as a compiled function, which is made once for each model and input shape; where
    that is not possible, eagerly.

    Args:
        model: a Keras model or layer.
        found: its recurrent layers.
        args: what the model is called with.
        kwargs: the same, by name.
        samples: how many rows to record at most; the model runs on all of them.

    Raises:
        ValueError: TensorFlow is building a graph.
    """
    _refuse_graphs()
    layers = [keras_layers.read(each) for each in found]
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
    variables = [each.value for each in model.variables if not each.trainable]
    with restored_variables(variables), functions_inline(), recorder.recording(model, found):
        outputs = model(*args, **kwargs)
    return recorder.calls, outputs


@contextlib.contextmanager
def recording(model: Any, found: Sequence[Found]) -> Iterator[Observe]:
    """Record the layers while the user runs the model.

    Functions compiled by `tf.function`, such as that of `predict()`, run eagerly meanwhile.

    Yields:
        a function that returns what was recorded so far; its `outputs` are `None`.

    Raises:
        ValueError: TensorFlow is building a graph.
    """
    _refuse_graphs()
    layers: dict[int, RecurrentLayer] = {}

    def read_weights(index: int) -> None:
        if index not in layers:
            layers[index] = keras_layers.read(found[index])

    recorder = Recorder(before_call=read_weights)

    def observe() -> Observation:
        calls = [call.to_numpy(layers[call.index]) for call in recorder.calls]
        return Observation(list(layers.values()), calls, None)

    with functions_inline(), recorder.recording(model, found):
        yield observe


def _refuse_graphs() -> None:
    if not tf.executing_eagerly():
        raise ValueError(
            "gates cannot be recorded while TensorFlow builds a graph, which has no values yet. "
            "Log and trace outside of functions that are decorated with tf.function."
        )
