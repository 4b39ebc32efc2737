"""The Keras whose turn it is: these tests run on each, one after the other, in its own process.

pytest tests/backends                           Keras 3 on TensorFlow
KERAS_BACKEND=jax pytest tests/backends         on JAX; or on torch
TF_USE_LEGACY_KERAS=1 pytest tests/backends     tf_keras
"""

import functools
import os
from typing import Any

import numpy as np

from helpers.required import require_framework

IS_TF_KERAS = os.environ.get("TF_USE_LEGACY_KERAS") == "1"
BACKEND = "tensorflow" if IS_TF_KERAS else os.environ["KERAS_BACKEND"]
FRAMEWORK = "tf_keras" if IS_TF_KERAS else f"Keras on {BACKEND}"

if BACKEND == "jax":  # which spends most of the time of these tests on compiling
    os.environ.setdefault("JAX_DISABLE_MOST_OPTIMIZATIONS", "1")
backend = require_framework(BACKEND)
keras: Any = require_framework("tf_keras" if IS_TF_KERAS else "keras")
layers: Any = keras.layers


def sequential(shape: tuple[int | None, ...], *parts: Any, batch: int | None = None) -> Any:
    """A sequential model on inputs `[batch, *shape]`."""
    if IS_TF_KERAS:
        return keras.Sequential([layers.InputLayer(shape, batch_size=batch), *parts])
    return keras.Sequential([keras.Input(shape, batch_size=batch), *parts])


def functional(shape: tuple[int | None, ...], *parts: Any) -> Any:
    """The same as a functional model, whose last layer may return several tensors."""
    x = inputs = keras.Input(shape)
    for part in parts:
        x = part(x)
    return keras.Model(inputs, x)


def ready(model: Any) -> Any:
    """A compiled model with its optimizer's variables.

    Where TensorFlow makes them in the first training step it traces that once more.
    """
    model.optimizer.build(model.trainable_variables)
    return model


def array(value: Any) -> np.ndarray:
    """A tensor or variable as an array."""
    if IS_TF_KERAS:
        return np.asarray(value)
    return np.asarray(keras.ops.convert_to_numpy(value))


def arrays(nested: Any) -> Any:
    """What a layer returns, in arrays."""
    if isinstance(nested, (list, tuple)):
        return [arrays(part) for part in nested]
    return array(nested)


def zeros(shape: tuple[int, ...]) -> Any:
    """A tensor of zeros."""
    return backend.zeros(shape) if IS_TF_KERAS else keras.ops.zeros(shape)


def reference(layer: Any, x: np.ndarray, **arguments: Any) -> Any:
    """What a layer itself returns, in arrays. JAX compiles it, or it would take seconds."""
    if BACKEND != "jax":
        return arrays(layer(x, **arguments))
    if not layer.built:  # its weights would be made inside
        layer.build(x.shape)
    return arrays(_compiled(layer)(x, arguments))


@functools.cache
def _compiled(layer: Any) -> Any:
    return backend.jit(lambda x, arguments: layer(x, **arguments))
