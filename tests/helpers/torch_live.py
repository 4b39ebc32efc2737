"""What a network of PyTorch held at each training step, by torch alone: what findings must say."""

import copy
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

import lstm_gates_plugin as lg
from helpers.torch_findings import Batch, trained
from lstm_gates_plugin.diagnosis.finding import Finding

LSTM_GATES = ("input", "forget", "candidate", "output")
GRU_GATES = ("reset", "update", "candidate")


@dataclass(frozen=True)
class Training:
    """One training: what was found, and the network and the batch of each training step."""

    found: list[Finding]
    model: nn.Module
    states: list[dict[str, torch.Tensor]]
    probe: torch.Tensor
    every: int
    batches: list[tuple[torch.Tensor, torch.Tensor]]

    @property
    def records(self) -> range:
        """The training steps that were recorded."""
        return range(0, len(self.states), self.every)

    def at(self, step: int) -> Any:
        """The network as it was before the update of a training step."""
        model = copy.deepcopy(self.model)
        model.load_state_dict(self.states[step])
        return model

    def weight(self, step: int, name: str, gate: int, gates: int) -> np.ndarray:
        """One gate's part of a weight of the lowest layer, in double precision."""
        whole = self.states[step][f"layer.0.{name}_l0"].double().numpy()
        return np.split(whole, gates)[gate]

    def all(self, id: str) -> list[Finding]:
        """All findings of one rule."""
        return [one for one in self.found if one.id == id]

    def only(self, id: str) -> Finding:
        """The single finding of one rule."""
        (one,) = self.all(id)
        return one

    def measured(self, number: Callable[[Any], float]) -> dict[int, float]:
        """A number of the network at each training step that was recorded."""
        with torch.no_grad():
            return {step: number(self.at(step)) for step in self.records}


def watched(
    directory: Path,
    build: Callable[[], nn.Module],
    batch: Batch,
    *,
    every: int = 8,
    updates: int = 120,
    through_time: Callable[..., torch.Tensor] | None = None,
    **more: Any,
) -> Training:
    """Train for a short time, always with the same random numbers, and keep all weights.

    Args:
        directory: for the records.
        build: makes the network.
        batch: makes the batches; of the first, four samples are the probe.
        every: updates between two records.
        updates: how many updates.
        through_time: the loss of the probe, if its gradients through time are to be recorded.
        **more: see `trained`.
    """
    torch.manual_seed(0)
    model = build()
    states: list[dict[str, torch.Tensor]] = []

    def keep() -> None:
        states.append({name: value.clone() for name, value in model.state_dict().items()})

    batches: list[tuple[torch.Tensor, torch.Tensor]] = []

    def kept() -> tuple[torch.Tensor, torch.Tensor]:
        keep()
        batches.append(batch())
        return batches[-1]

    x, y = (one[:4] for one in batch())
    probe = lg.Probe(x, target=y, loss=through_time) if through_time else x
    found = trained(directory, model, kept, probe=probe, every=every, updates=updates, **more)
    keep()
    return Training(found, model, states, x, every, batches)


def lstm_gate(layer: nn.LSTM, x: torch.Tensor, gate: str) -> torch.Tensor:
    """``[batch, timesteps, units]``: the activations of one gate."""
    hidden = layer(x)[0]
    before = torch.cat([torch.zeros_like(hidden[:, :1]), hidden[:, :-1]], 1)
    sums = x @ layer.weight_ih_l0.T + layer.bias_ih_l0
    sums = sums + before @ layer.weight_hh_l0.T + layer.bias_hh_l0
    part = sums.chunk(4, -1)[LSTM_GATES.index(gate)]
    return part.tanh() if gate == "candidate" else part.sigmoid()


def gru_update(layer: nn.GRU, x: torch.Tensor) -> torch.Tensor:
    """``[batch, timesteps, units]``: the activations of the update gate, open where it keeps."""
    hidden = layer(x)[0]
    before = torch.cat([torch.zeros_like(hidden[:, :1]), hidden[:, :-1]], 1)
    sums = x @ layer.weight_ih_l0.T + layer.bias_ih_l0
    sums = sums + before @ layer.weight_hh_l0.T + layer.bias_hh_l0
    return sums.chunk(3, -1)[GRU_GATES.index("update")].sigmoid()


def gru_candidate(layer: nn.GRU, x: torch.Tensor) -> torch.Tensor:
    """``[batch, timesteps, units]``: the activations of the candidate."""
    hidden = layer(x)[0]
    before = torch.cat([torch.zeros_like(hidden[:, :1]), hidden[:, :-1]], 1)
    read = (x @ layer.weight_ih_l0.T + layer.bias_ih_l0).chunk(3, -1)
    kept = (before @ layer.weight_hh_l0.T + layer.bias_hh_l0).chunk(3, -1)
    return (read[2] + (read[0] + kept[0]).sigmoid() * kept[2]).tanh()


def cell_states(layer: nn.LSTM, x: torch.Tensor) -> torch.Tensor:
    """``[batch, timesteps, units]``: the cell state after each timestep."""
    state, states = None, []
    for step in range(x.shape[1]):
        _, state = layer(x[:, step : step + 1], state)
        states.append(state[1][0])
    return torch.stack(states, 1)


def since(numbers: dict[int, float], seen: Callable[[float], bool]) -> int:
    """The first training step of the last unbroken stretch in which a number was seen."""
    first = -1
    for step, number in numbers.items():
        first = -1 if not seen(number) else step if first < 0 else first
    return first
