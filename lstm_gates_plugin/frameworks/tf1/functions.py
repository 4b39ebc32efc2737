"""TensorFlow 1: the users' own functions on tensors, as functions on arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf
import tf_keras

from lstm_gates_plugin.cells.activations import ACTIVATIONS
from lstm_gates_plugin.fused import Array

# Where TensorFlow has functions that are the same as ours of that name.
_HOMES = (tf, tf.nn, tf.math, tf_keras.activations)


def activation(function: Any) -> tuple[str, OnArrays | None]:
    """The name of a cell's activation, and a function on arrays where it is none of ours."""
    name = str(getattr(function, "__name__", type(function).__name__))
    if function is tf_keras.activations.hard_sigmoid:
        return "hard_sigmoid_keras2", None
    ours = name in ACTIVATIONS and any(getattr(home, name, None) is function for home in _HOMES)
    return name, None if ours else OnArrays(name, function)


class OnArrays:
    """A function on tensors that is run on arrays, in a graph of its own: the user's stays as is.

    Args:
        name: for messages.
        function: from tensors `[batch, size]` to one tensor.
    """

    def __init__(self, name: str, function: Callable[..., Any]) -> None:
        self._name = name
        self._function = function
        self._session: Any = None
        self._pulled: Any = None

    def __call__(self, *arrays: Array) -> Array:
        """The function's value.

        Raises:
            ValueError: the function needs something of the user's graph.
        """
        if self._session is None:
            self._build(arrays)
        fed = dict(zip(self._inputs, arrays, strict=True))
        return np.asarray(self._session.run(self._output, fed), dtype=arrays[0].dtype)

    def pull(self, z: Array, gradient: Array) -> Array:
        """The gradient by the input of a function of one array, from that by its output.

        Raises:
            ValueError: the function cannot be differentiated, or as for its value.
        """
        rows = [array.reshape(-1, array.shape[-1]) for array in (z, gradient)]
        if self._session is None:
            self._build((rows[0],))
        if self._pulled is None:
            self._differentiate()
        fed = dict(zip((*self._inputs, self._arriving), rows, strict=True))
        pulled = np.asarray(self._session.run(self._pulled, fed), dtype=gradient.dtype)
        return pulled.reshape(gradient.shape)

    def _differentiate(self) -> None:
        (z,) = self._inputs
        with self._output.graph.as_default():
            self._arriving = tf.compat.v1.placeholder(z.dtype, z.shape)
            try:
                (pulled,) = tf.gradients(self._output, [z], grad_ys=[self._arriving])
            except Exception as error:
                raise ValueError(
                    f"the function {self._name!r} of a TF1 cell cannot be differentiated: {error}"
                ) from error
            self._pulled = tf.zeros_like(z) if pulled is None else tf.convert_to_tensor(pulled)

    def _build(self, arrays: tuple[Array, ...]) -> None:
        graph = tf.Graph()
        with graph.as_default():
            self._inputs = [
                tf.compat.v1.placeholder(array.dtype, [None, *array.shape[1:]]) for array in arrays
            ]
            try:
                self._output = tf.convert_to_tensor(self._function(*self._inputs))
            except Exception as error:
                raise ValueError(
                    f"the function {self._name!r} of a TF1 cell cannot be computed outside of your "
                    f"graph, so what the cell does cannot be recomputed: {error}"
                ) from error
        self._session = tf.compat.v1.Session(
            graph=graph, config=tf.compat.v1.ConfigProto(device_count={"GPU": 0})
        )
