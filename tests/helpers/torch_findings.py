"""Small networks of PyTorch, tasks for them, and a short training that says what was found."""

import pydoc_data.topics
from collections.abc import Callable
from pathlib import Path

import torch
from torch import nn

import lstm_gates_plugin as lg
from lstm_gates_plugin.diagnosis.finding import Finding

UPDATES = 120
EVERY = 8
Error = Callable[[nn.Module, torch.Tensor, torch.Tensor], torch.Tensor]
Batch = Callable[[], tuple[torch.Tensor, torch.Tensor]]


class Stack(nn.Module):
    """Recurrent layers one upon the other, and a linear head on the last timestep or on all."""

    def __init__(self, layers: list[nn.Module], outputs: int, *, last: bool = True) -> None:
        super().__init__()
        self.layer = nn.ModuleList(layers)
        width = layers[-1].hidden_size * (2 if layers[-1].bidirectional else 1)
        self.head = nn.Linear(width, outputs)
        self.last = last

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for layer in self.layer:
            x = layer(x)[0]
        return self.head(x[:, -1] if self.last else x)


def adding(timesteps: int = 20, batch: int = 32) -> tuple[torch.Tensor, torch.Tensor]:
    """The adding problem (Hochreiter and Schmidhuber 1997): the sum of the two marked numbers."""
    numbers = torch.rand(batch, timesteps)
    marks = torch.zeros(batch, timesteps)
    half = timesteps // 2
    first, second = torch.randint(half, (batch,)), torch.randint(half, timesteps, (batch,))
    rows = torch.arange(batch)
    marks[rows, first] = marks[rows, second] = 1
    return torch.stack([numbers, marks], -1), (numbers * marks).sum(1, keepdim=True)


def sine(batch: int = 32) -> tuple[torch.Tensor, torch.Tensor]:
    """The next value of a sine wave, at every timestep."""
    wave = torch.sin(torch.linspace(0, 12, 31) + 6 * torch.rand(batch, 1))[..., None]
    return wave[:, :-1], wave[:, 1:]


def copying(batch: int = 32) -> tuple[torch.Tensor, torch.Tensor]:
    """What was seen three timesteps before, at every timestep."""
    x = torch.randn(batch, 15, 1)
    return x, torch.cat([torch.zeros(batch, 3, 1), x[:, :-3]], 1)


def signs(batch: int = 32) -> tuple[torch.Tensor, torch.Tensor]:
    """The sign of the running sum, at every timestep."""
    x = torch.randn(batch, 12, 1)
    return x, x.cumsum(1).sign()


TEXT = "\n\n".join(pydoc_data.topics.topics.values())[:20_000]
CHARACTERS = sorted(set(TEXT))


def guessing(batch: int = 32) -> tuple[torch.Tensor, torch.Tensor]:
    """The next character of Python's manual, at every timestep, both one-hot."""
    numbers = torch.tensor([CHARACTERS.index(character) for character in TEXT])
    starts = torch.randint(len(numbers) - 31, (batch,)).tolist()
    windows = torch.stack([numbers[start : start + 31] for start in starts])
    shown = nn.functional.one_hot(windows, len(CHARACTERS)).float()
    return shown[:, :-1], shown[:, 1:]


def lstm(inputs: int, units: int = 16, **more: object) -> nn.Module:
    return nn.LSTM(inputs, units, batch_first=True, **more)


def squared_error(model: nn.Module, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return nn.functional.mse_loss(model(x), y)


def trained(
    directory: Path,
    model: nn.Module,
    batch: Batch,
    *,
    rate: float = 0.005,
    learning: list[nn.Parameter] | None = None,
    optimizer: Callable[..., torch.optim.Optimizer] = torch.optim.Adam,
    clip: float | None = 1.0,
    error: Error = squared_error,
    probe: torch.Tensor | lg.Probe | None = None,
    updates: int = UPDATES,
    every: int = EVERY,
) -> list[Finding]:
    """What is found after a short training."""
    weights = list(model.parameters()) if learning is None else learning
    changes = optimizer(weights, lr=rate)
    shown = batch()[0][:4] if probe is None else probe
    value = None
    with lg.GateWriter(directory, every=every) as writer:
        for step in range(updates + 1):
            is_due = writer.is_due(step)
            writer.log(model, step=step, probe=shown, loss=value)
            if step == updates:
                break  # the newest record is of the weights that the model is left with
            x, y = batch()
            changes.zero_grad()
            loss = error(model, x, y)
            loss.backward()
            value = loss.item()
            if is_due:
                writer.log_gradients(model, step=step)
            if clip:
                nn.utils.clip_grad_norm_(weights, clip)
            changes.step()
    return lg.diagnose(directory)


def worse(found: list[Finding]) -> list[tuple[str, str | None]]:
    return [(one.id, one.layer) for one in found if one.severity != "note"]
