"""Samples and timesteps swapped, found by `lg.check` before any training: LG101.

    python demo/swapped_axes.py

PyTorch takes `[timesteps, samples, features]` unless `batch_first=True` is given. The other way
round everything runs, and the layer reads from one sample into the next.
"""

import torch
from adding_problem import UNITS, LastOutput, draw_batch
from torch import nn

import lstm_gates_plugin as lg


def main() -> None:
    """Check the mistaken model and the right one."""
    torch.manual_seed(0)
    x, y = draw_batch(8)
    for batch_first in (False, True):
        model = LastOutput(nn.LSTM(2, UNITS, batch_first=batch_first))
        print(f"batch_first={batch_first}:")
        print(lg.check(model, x, loss=lambda outputs: nn.functional.mse_loss(outputs, y)), "\n")


if __name__ == "__main__":
    main()
