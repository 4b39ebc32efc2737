"""tf_keras's CuDNNLSTM and CuDNNGRU, which run on a GPU alone: computed in NumPy without one."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from lstm_gates_plugin import cells
from lstm_gates_plugin.frameworks.keras.family import Keras
from lstm_gates_plugin.layer import RecurrentLayer


def lacks_gpu(layer: Any) -> bool:
    """Whether the layer is one of these and cannot run here."""
    if not any(cls.__name__ == "_CuDNNRNN" for cls in type(layer).__mro__):
        return False
    return not sys.modules["tensorflow"].config.list_logical_devices("GPU")


def process_batch(keras: Keras, layer: Any, read: RecurrentLayer) -> Callable[..., Any]:
    """What may take the place of the layer's `_process_batch`, which calls cuDNN.

    Args:
        keras: the layer's Keras.
        layer: the layer.
        read: the same, with its weights.
    """
    # The inputs have been turned already.
    forward = replace(read, direction="forward")

    def process(inputs: Any, initial_state: Any) -> tuple[Any, list[Any]]:
        x = keras.array(inputs)
        trace = cells.forward(
            forward,
            x.swapaxes(0, 1) if layer.time_major else x,
            initial_state=tuple(keras.array(state) for state in initial_state),
        )
        hidden = trace.hidden_state
        if not layer.return_sequences:
            output = trace.final_hidden_state
        else:
            output = np.swapaxes(hidden, 0, 1) if layer.time_major else hidden
        finals = [trace.final_hidden_state, trace.final_cell_state]
        return keras.tensor(output), [keras.tensor(each) for each in finals if each is not None]

    return process
