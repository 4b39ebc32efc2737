"""Short trainings of PyTorch with a mistake that people make, and the same without it."""

import pydoc_data.topics
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence

from helpers.torch_findings import Batch, Stack, adding, lstm, sine
from helpers.torch_live import Training, watched

SGD, Adam = torch.optim.SGD, torch.optim.Adam


class Pair(NamedTuple):
    """A training with a mistake, and the same without it; each for a directory."""

    mistake: Callable[[Path], Training]
    right: Callable[[Path], Training]


def digits(scale: int) -> Batch:
    """Handwritten digits, row by row, from 0 to ``scale``, and which they are."""
    images, numbers = load_digits(return_X_y=True)
    rows = torch.tensor(images / 16 * scale, dtype=torch.float32).reshape(-1, 8, 8)
    x, y = rows.round() if scale > 1 else rows, torch.tensor(numbers)

    def batch() -> tuple[torch.Tensor, torch.Tensor]:
        chosen = torch.randint(len(x), (32,))
        return x[chosen], y[chosen]

    return batch


def cross_entropy(model: nn.Module, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return nn.functional.cross_entropy(model(x), y)


def gru(inputs: int, units: int = 16) -> nn.Module:
    return nn.GRU(inputs, units, batch_first=True)


def simple(inputs: int, units: int = 16, **more: Any) -> nn.Module:
    return nn.RNN(inputs, units, batch_first=True, **more)


def chrono(timesteps: int, forget: int = 1, inputs: int = 0) -> Callable[[], nn.Module]:
    """An LSTM with the forget bias of Tallec and Ollivier 2018, and the input bias minus that.

    Args:
        timesteps: the longest that is to be remembered.
        forget: where the forget gate is among PyTorch's four, which are input, forget, candidate
            and output.
        inputs: where the input gate is.
    """

    def build() -> nn.Module:
        model = Stack([lstm(2)], 1)
        weights: Any = model.layer[0]
        remember = torch.log(1 + (timesteps - 2) * torch.rand(16))
        with torch.no_grad():
            weights.bias_hh_l0.zero_()
            weights.bias_ih_l0.zero_()
            gates = weights.bias_ih_l0.view(4, 16)
            gates[forget], gates[inputs] = remember, -remember
        return model

    return build


def irnn() -> nn.Module:
    """A ReLU RNN that starts at the identity (Le, Jaitly and Hinton 2015)."""
    model = Stack([simple(2, nonlinearity="relu")], 1)
    weights: Any = model.layer[0]
    with torch.no_grad():
        nn.init.eye_(weights.weight_hh_l0)
        weights.bias_hh_l0.zero_()
        weights.bias_ih_l0.zero_()
    return model


def one_in_other_units() -> Batch:
    """The adding problem; in the 40th update the sums are in hundredths."""
    made = 0

    def batch() -> tuple[torch.Tensor, torch.Tensor]:
        nonlocal made
        made += 1
        x, y = adding()
        return (x, 100 * y) if made == 41 else (x, y)  # the probe's is the first

    return batch


PARAGRAPHS = sorted(
    (
        paragraph.encode("ascii", "replace")[:300]
        for topic in pydoc_data.topics.topics.values()
        for paragraph in topic.split("\n\n")
        if paragraph
    ),
    key=len,
)


def paragraphs(alike: bool) -> Batch:
    """Paragraphs of Python's manual as bytes, padded with 0, and how many words they have.

    Args:
        alike: whether those in a batch are of like length.
    """

    def batch() -> tuple[torch.Tensor, torch.Tensor]:
        first = int(torch.randint(len(PARAGRAPHS) - 8, ()))
        far = torch.arange(8) * (len(PARAGRAPHS) // 8) + int(torch.randint(50, ()))
        some = first + torch.arange(8) if alike else far.roll(1)
        chosen = [PARAGRAPHS[number] for number in some]
        x = torch.zeros(len(chosen), max(map(len, chosen)), dtype=torch.long)
        for row, paragraph in zip(x, chosen, strict=True):
            row[: len(paragraph)] = torch.tensor(list(paragraph))
        return x, torch.tensor([[len(paragraph.split()) / 10] for paragraph in chosen])

    return batch


class Reader(nn.Module):
    """Bytes, embedded and packed, and a number from the state after the last of each row."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(128, 8)
        self.rnn = lstm(8)
        self.head = nn.Linear(16, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        lengths = (x != 0).sum(1)
        packed = pack_padded_sequence(
            self.embedding(x), lengths, batch_first=True, enforce_sorted=False
        )
        return self.head(self.rnn(packed)[1][0][0])


def reused(batch: Batch) -> Batch:
    """Batches that are all written into the same memory, as some loaders do."""
    x, y = batch()

    def again() -> tuple[torch.Tensor, torch.Tensor]:
        new, y[:] = batch()
        x[:] = new
        return x, y

    return again


def one_layer(layer: Callable[[], nn.Module], outputs: int = 1) -> Callable[[], nn.Module]:
    return lambda: Stack([layer()], outputs)


def _train(build: Callable[[], nn.Module], batch: Batch, **more: Any) -> Callable[[Path], Training]:
    def train(directory: Path) -> Training:
        return watched(directory, build, batch, **{"updates": 48, "every": 6, **more})

    return train


def _digits(layer: Callable[..., nn.Module], scale: int) -> Callable[[Path], Training]:
    return _train(one_layer(partial(layer, 8), 10), digits(scale), error=cross_entropy)


def _adding(
    build: Callable[[], nn.Module], timesteps: int = 20, **more: Any
) -> Callable[[Path], Training]:
    return _train(build, partial(adding, timesteps), **more)


def _sine(units: int) -> Callable[[Path], Training]:
    return _train(lambda: Stack([lstm(1, units)], 1, last=False), sine, rate=0.02)


_RELU = one_layer(partial(simple, 2, nonlinearity="relu"))
_TANH = one_layer(partial(simple, 2))
_LSTM = one_layer(partial(lstm, 2))
_LONG = {"through_time": nn.functional.mse_loss, "updates": 36}
_PLAIN = {"optimizer": SGD, "rate": 0.01, "clip": None, "every": 4, "updates": 80}
_DECAY = partial(Adam, weight_decay=0.1)

PAIRS: dict[str, Pair] = {
    "bytes, LSTM": Pair(_digits(lstm, 255), _digits(lstm, 1)),
    "bytes, GRU": Pair(_digits(gru, 255), _digits(gru, 1)),
    "bytes, simple RNN": Pair(_digits(simple, 255), _digits(simple, 1)),
    "too large a rate, ReLU": Pair(_adding(_RELU, rate=0.2), _adding(_RELU, rate=0.002)),
    "chrono biases in the other order": Pair(
        _adding(chrono(1000, forget=0, inputs=1), 60), _adding(chrono(1000), 60)
    ),
    "long sequences, the default start": Pair(
        _adding(_LSTM, 100, **_LONG), _adding(chrono(100), 100, **_LONG)
    ),
    "64 units for a sine": Pair(_sine(64), _sine(3)),
    "too large a rate, IRNN": Pair(
        _adding(irnn, 60, rate=0.02, clip=None, updates=24, every=1),
        _adding(irnn, 60, rate=0.001, updates=24, every=1),
    ),
    "weight decay": Pair(_adding(_TANH, optimizer=_DECAY), _adding(_TANH)),
    "one batch in other units": Pair(
        lambda directory: _train(_LSTM, one_in_other_units(), **_PLAIN)(directory),
        _adding(_LSTM, **_PLAIN),
    ),
    "texts of any length in one batch": Pair(
        _train(Reader, paragraphs(alike=False), updates=12, every=3),
        _train(Reader, paragraphs(alike=True), updates=12, every=3),
    ),
    "a probe in memory that is reused": Pair(
        lambda directory: _train(_LSTM, reused(adding), updates=24)(directory),
        _adding(_LSTM, updates=24),
    ),
}
