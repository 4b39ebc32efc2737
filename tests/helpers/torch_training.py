"""A small model of PyTorch, the plain loop that trains it, and what was logged of it."""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import torch
from torch import nn

import lstm_gates_plugin as lg
from lstm_gates_plugin.reading.runs import LoggedRun

#: In front of TensorFlow, which torch.utils.tensorboard imports wherever it is installed.
WITHOUT_TENSORFLOW = str(Path(__file__).parent / "without_tensorflow")

X = torch.randn(32, 6, 3, generator=torch.Generator().manual_seed(0))
Y = (X.cumsum(1).sum(-1) > 0).long()


class Tagger(nn.Module):
    """Two classes for each timestep; with all that training may disturb: dropout, statistics."""

    def __init__(self, dropout: float = 0.0) -> None:
        super().__init__()
        self.norm = nn.BatchNorm1d(3)
        self.rnn = nn.LSTM(3, 4, batch_first=True)
        self.drop = nn.Dropout(dropout)
        self.head = nn.Linear(4, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.norm(x.transpose(1, 2)).transpose(1, 2)
        return self.head(self.drop(self.rnn(x)[0]))


def loss_of(outputs: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    """The loss of each timestep, `[batch, time]`."""
    return nn.functional.cross_entropy(outputs.transpose(1, 2), target, reduction="none")


def train(
    model: nn.Module, log: Callable[[int], object], steps: int = 4, local: slice = slice(None)
) -> list[float]:
    """A plain loop that calls `log` before each update and once at the end; the losses."""
    optimizer = torch.optim.Adam(model.parameters(), 0.05)
    losses = []
    for step in range(steps):
        log(step)
        optimizer.zero_grad()
        loss = loss_of(model(X[local]), Y[local]).mean()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    log(steps)
    return losses


def logged(directory: Path, run: str = ".") -> LoggedRun:
    return lg.read(directory)[run]


def steps(directory: Path, row: str = "activation/forget", layer: str = "rnn") -> list[int]:
    found: list[int] = logged(directory)[layer].series(row, "mean").steps.tolist()
    return found


def hidden_tensorflow() -> Iterator[None]:
    """A fixture's body: `import tensorflow` fails meanwhile, as where it is not installed."""
    sys.path.insert(0, WITHOUT_TENSORFLOW)
    yield
    sys.path.remove(WITHOUT_TENSORFLOW)


def state_of(model: Any) -> list[torch.Tensor]:
    """Everything that training changes in a model, and what the random state gives next."""
    return [*(value.clone() for value in model.state_dict().values()), torch.rand(3)]
