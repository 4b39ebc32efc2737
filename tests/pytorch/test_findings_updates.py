"""Updates that are not made, or not by every batch, are no error; those that destroy are.

A real `GradScaler` scales the loss; which gradients overflowed is read from torch's own.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

import lstm_gates_plugin as lg
from helpers.torch_findings import Stack, adding, lstm, squared_error, trained, worse
from lstm_gates_plugin.diagnosis.finding import Finding

FAR = 2.0**125
"""A scale at which the gradients of the first updates overflow, as 65,536 does in float16."""


class Scaled:
    """Adam behind a scaler, which leaves out the updates whose gradients overflow."""

    def __init__(self, scale: float) -> None:
        self.scaler = torch.amp.GradScaler("cpu", init_scale=scale)
        self.overflows: list[bool] = []
        self.optimizer: Any = None
        self.layer: nn.Module | None = None

    def optimizing(self, weights: Sequence[nn.Parameter], lr: float) -> Any:
        self.optimizer = torch.optim.Adam(weights, lr=lr)
        return self

    def zero_grad(self) -> None:
        self.optimizer.zero_grad()

    def step(self) -> None:
        gradients = [weight.grad for weight in self.layer.parameters()]
        self.overflows.append(not all(one.isfinite().all() for one in gradients))
        self.scaler.step(self.optimizer)
        self.scaler.update()

    def error(self, model: nn.Module, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        self.layer = model.layer[0]
        return self.scaler.scale(squared_error(model, x, y))

    @property
    def overflowed(self) -> list[int]:
        """The training steps at which a gradient of the layer overflowed."""
        return [step for step, it_did in enumerate(self.overflows) if it_did]


def scaled(directory: Path, scale: float, updates: int = 60) -> tuple[list[Finding], Scaled]:
    torch.manual_seed(0)
    made = Scaled(scale)
    more = {"optimizer": made.optimizing, "error": made.error, "clip": None}
    model = Stack([lstm(2)], 1)
    found = trained(directory, model, amounts, every=1, updates=updates, **more)
    return found, made


def amounts() -> tuple[torch.Tensor, torch.Tensor]:
    x, y = adding()
    return x, 100 * y


def of_updates(found: list[Finding]) -> list[Finding]:
    return [one for one in found if one.kind == "training_gradients"]


def test_updates_that_a_scaler_skips(tmp_path: Path) -> None:
    found, made = scaled(tmp_path, FAR)
    assert len(made.overflowed) >= 2
    (one,) = of_updates(found)
    assert (one.id, one.severity, one.layer) == ("LG005", "note", "layer/0")
    assert (one.first_step, one.last_step) == (made.overflowed[0], made.overflowed[-1])
    assert one.value == len(made.overflowed)
    assert worse(found) == []


def test_a_scale_that_fits_skips_none(tmp_path: Path) -> None:
    found, made = scaled(tmp_path, 1024)
    assert made.overflowed == []
    assert of_updates(found) == []
    assert worse(found) == []


def test_the_newest_record_is_not_called_lost_before_there_is_another(tmp_path: Path) -> None:
    model = Stack([lstm(2)], 1)
    x, y = amounts()
    with lg.GateWriter(tmp_path, every=1) as writer:
        writer.log(model, step=0, probe=x[:4])
        (float("inf") * squared_error(model, x, y)).backward()
        writer.log_gradients(model, step=0)
    (one,) = of_updates(lg.diagnose(tmp_path))
    assert (one.id, one.first_step, one.value) == ("LG005", 0, 1)


@pytest.mark.parametrize("weights", [True, False], ids=["with the weights", "gradients alone"])
def test_an_update_that_was_made_is_lost_from_its_own_step(tmp_path: Path, weights: bool) -> None:
    torch.manual_seed(0)
    model = Stack([lstm(2)], 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    with lg.GateWriter(tmp_path, every=1) as writer:
        for step in range(6):
            x, y = amounts()
            if weights:
                writer.log(model, step=step)
            optimizer.zero_grad()
            factor = float("nan") if step == 3 else 1.0
            (factor * squared_error(model, x, y)).backward()
            writer.log_gradients(model, step=step)
            optimizer.step()
    (one,) = of_updates(lg.diagnose(tmp_path))
    assert (one.id, one.severity, one.layer) == ("LG001", "error", "layer/0")
    assert (one.first_step, one.last_step) == (3, 5)


class Accumulated(torch.optim.Adam):
    """Updates by the gradients of sixteen batches, where the training steps count the batches."""

    batches = 0

    def zero_grad(self, set_to_none: bool = True) -> None:
        if self.batches % 16 == 0:
            super().zero_grad(set_to_none)

    def step(self, closure: Any = None) -> None:  # type: ignore[override]
        self.batches += 1
        if self.batches % 16 == 0:
            super().step()


@pytest.mark.parametrize("batches", [14, 40, 200])
def test_gradients_that_are_accumulated_are_no_standstill(tmp_path: Path, batches: int) -> None:
    torch.manual_seed(0)
    model = Stack([lstm(2), lstm(16)], 1)
    found = trained(tmp_path, model, adding, optimizer=Accumulated, every=2, updates=batches)
    assert worse(found) == []
