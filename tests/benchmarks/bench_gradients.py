"""What gradients through time cost: python tests/benchmarks/bench_gradients.py.

The way back through a layer is to cost at most three times the way forward.
"""

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
from compare import ratio

sys.path.insert(0, str(Path(__file__).parents[1]))

from helpers.layers import make_layer
from lstm_gates_plugin import cells
from lstm_gates_plugin.cells.through_time import backward
from lstm_gates_plugin.measure.reach import reach

SHAPES = ((4, 100, 32, 32), (4, 100, 64, 128), (32, 50, 256, 256))


def main() -> None:
    """Forward against backward, and against reach, for each kind of cell."""
    for cell in ("lstm", "gru", "simple_rnn"):
        for batch, time, inputs, units in SHAPES:
            layer = make_layer(cell, inputs=inputs, units=units, scale=0.3)
            x = np.random.default_rng(0).normal(size=(batch, time, inputs)).astype(np.float32)
            trace = cells.forward(layer, x)
            seed = np.ones_like(trace.hidden_state)
            traced = replace(trace, gradients=backward(trace, x, seed))
            name = f"{cell}({inputs} -> {units}), {batch} x {time}: forward"

            def forward(layer: object = layer, x: np.ndarray = x) -> None:
                cells.forward(layer, x)

            def back(trace: object = trace, x: np.ndarray = x, seed: np.ndarray = seed) -> None:
                backward(trace, x, seed)

            def reached(traced: object = traced) -> None:
                reach(traced)

            ratio(f"{name} (backward)", forward, back)
            ratio(f"{name} (reach)", forward, reached)


if __name__ == "__main__":
    main()
