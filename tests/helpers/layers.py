"""Small recurrent layers and traces with known numbers, without a framework."""

import numpy as np

from lstm_gates_plugin import RecurrentLayer, cells
from lstm_gates_plugin.gate_trace import GateTrace

GATE_ORDERS = {"lstm": "ifco", "gru": "zrh", "simple_rnn": ""}


def make_layer(
    cell: str = "lstm",
    *,
    inputs: int = 3,
    units: int = 4,
    seed: int = 0,
    scale: float = 1.0,
    id: str = "lstm_0",
) -> RecurrentLayer:
    """A layer with normal weights, the same for the same arguments."""
    rng = np.random.default_rng(seed)
    width = max(1, len(GATE_ORDERS[cell])) * units

    def normal(*shape: int) -> np.ndarray:
        return (scale * rng.normal(size=shape)).astype(np.float32)

    return RecurrentLayer.from_arrays(
        cell,
        normal(inputs, width),
        normal(units, width) / np.float32(np.sqrt(units)),
        normal(width),
        gate_order=GATE_ORDERS[cell],
        reset_after=False if cell == "gru" else None,
        id=id,
    )


def make_trace(
    layer: RecurrentLayer, *, batch: int = 2, timesteps: int = 5, seed: int = 1, padded: int = 0
) -> GateTrace:
    """The layer's trace on normal inputs; the last ``padded`` steps of sample 0 are masked."""
    rng = np.random.default_rng(seed)
    mask = np.ones((batch, timesteps), bool)
    if padded:
        mask[0, -padded:] = False
    return cells.forward(layer, rng.normal(size=(batch, timesteps, layer.input_size)), mask)
