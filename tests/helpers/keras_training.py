"""A small Keras model, its training, and what a callback logged of it."""

from pathlib import Path
from typing import Any

import keras
import numpy as np

import lstm_gates_plugin as lg
from lstm_gates_plugin.reading.runs import LoggedRun

RNG = np.random.default_rng(0)
X = RNG.normal(size=(32, 6, 3)).astype(np.float32)
Y = (X.sum(axis=(1, 2)) > 0).astype(np.float32)


def build() -> keras.Model:
    """A compiled model with an LSTM."""
    return _compiled(keras.Input((6, 3)), keras.layers.LSTM(4))


def stack(*, dropout: float = 0.0, unbuilt: bool = False) -> keras.Model:
    """A compiled model with an LSTM and a GRU."""
    return _compiled(
        *([] if unbuilt else [keras.Input((6, 3))]),
        keras.layers.LSTM(4, return_sequences=True, dropout=dropout),
        keras.layers.GRU(3, dropout=dropout, recurrent_dropout=dropout),
    )


def _compiled(*parts: Any) -> keras.Model:
    keras.utils.set_random_seed(1)
    model = keras.Sequential([*parts, keras.layers.Dense(1, activation="sigmoid")])
    model.compile("adam", "binary_crossentropy")
    if model.built:
        # TensorFlow traces the training step a second time where the first one made variables.
        model.optimizer.build(model.trainable_variables)
    return model


def fit(model: keras.Model, *callbacks: Any, **more: Any) -> keras.callbacks.History:
    arguments = {"epochs": 3, "batch_size": 8, "verbose": 0, "shuffle": True, **more}
    return model.fit(X, Y, callbacks=list(callbacks), **arguments)


def logged(directory: Path) -> LoggedRun:
    return lg.read(directory)["."]


def steps(directory: Path, layer: str = "lstm_0", row: str = "kernel/forget") -> list[int]:
    found: list[int] = logged(directory)[layer].series(row, "mean").steps.tolist()
    return found
