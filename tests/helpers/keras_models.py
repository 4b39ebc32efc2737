"""A small Keras model with an LSTM and a GRU, and a batch for it."""

import keras
import numpy as np

RNG = np.random.default_rng(0)


def batch(rows=2, time=5, features=3):
    return RNG.normal(size=(rows, time, features)).astype("float32")


def small_model():
    return keras.Sequential(
        [
            keras.Input((5, 3)),
            keras.layers.LSTM(4, return_sequences=True),
            keras.layers.BatchNormalization(),
            keras.layers.Dropout(0.5),
            keras.layers.GRU(2),
        ]
    )
