"""The matrix of PyTorch: every module, in every arrangement and form of input."""

from collections.abc import Callable
from functools import partial
from itertools import product
from typing import Any

import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence

ROWS, TIME, SIZE = 3, 5, 4  # as many units as features: a simple RNN's kernels can be swapped
LENGTHS = [3, 5, 1]
X = torch.randn(ROWS, TIME, SIZE, generator=torch.Generator().manual_seed(6))

CELLS: dict[str, Callable[..., Any]] = {
    "LSTM": nn.LSTM,
    "LSTM, projection": partial(nn.LSTM, proj_size=2),
    "GRU": nn.GRU,
    "RNN tanh": nn.RNN,
    "RNN relu": partial(nn.RNN, nonlinearity="relu"),
}
DIRECTIONS = {"forward": False, "bidirectional": True}
BIASES = {"bias": True, "no bias": False}
ARRANGEMENTS = [
    (
        f"{count} layer{'s' * (count > 1)}, {direction}, {bias}",
        count,
        DIRECTIONS[direction],
        BIASES[bias],
    )
    for count, direction, bias in product((1, 3), DIRECTIONS, BIASES)
]

INPUTS = {
    "padded tensor": X,
    "packed": pack_padded_sequence(X, LENGTHS, batch_first=True, enforce_sorted=False),
    "unbatched": X[0],
}


def initial_states(module: Any, form: str) -> list[torch.Tensor]:
    """Random states; of an LSTM two."""
    count = module.num_layers * (2 if module.bidirectional else 1)
    sizes = [module.proj_size or SIZE, SIZE][: 2 if module.mode == "LSTM" else 1]
    batch = () if form == "unbatched" else (ROWS,)
    return [torch.randn(count, *batch, size) for size in sizes]
