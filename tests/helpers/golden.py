"""The golden numbers of the tests of each Keras: small layers whose gates are known exactly."""

import math
from typing import Any

import numpy as np

from helpers.any_keras import layers

#: G1: an LSTM of one unit, input weights 1, recurrent weights 0.5, biases 0, on x = 1, 2, 3.
G1 = {
    "input": (0.731059, 0.898877, 0.967567),
    "forget": (0.731059, 0.898877, 0.967567),
    "candidate": (0.761594, 0.975004, 0.997755),
    "output": (0.731059, 0.898877, 0.967567),
    "cell_state": (0.556770, 1.376876, 2.297615),
    "hidden_state": (0.369606, 0.791236, 0.948218),
}

LN3 = math.log(3.0)


def sequence(*values: float) -> np.ndarray:
    """One sample with one feature, `[1, time, 1]`."""
    return np.array(values, dtype="float32").reshape(1, -1, 1)


def g1_weights() -> list[np.ndarray]:
    """Kernel, recurrent kernel and bias of G1, as Keras stores them."""
    return [np.ones((1, 4)), np.full((1, 4), 0.5), np.zeros(4)]


def g1_layer(**arguments: object) -> Any:
    """A Keras LSTM with the weights of G1."""
    layer = layers.LSTM(1, **arguments)
    batch = 1 if arguments.get("stateful") else None
    layer.build((batch, 3, 1))
    layer.set_weights(g1_weights() + layer.get_weights()[3:])
    return layer


def g3_layer(reset_after: bool) -> Any:
    """A Keras GRU with the weights of G3, stored in the order update, reset, candidate."""
    layer = layers.GRU(1, reset_after=reset_after, return_sequences=True)
    layer.build((None, 2, 1))
    bias = np.array([LN3, 0.0, 1.0])
    if reset_after:
        bias = np.stack([bias, [0.0, 0.0, 2.0]])
    layer.set_weights([np.zeros((1, 3)), np.array([[0.0, 0.0, 1.0]]), bias])
    return layer
