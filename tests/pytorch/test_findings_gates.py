"""Gates that a real mistake trained shut, open or still; and the same networks without it.

The numbers, gates and training steps of the findings are those of the live network.
"""

from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
import torch
from torch import nn

from helpers.torch_findings import Error, Stack, adding, lstm, sine, squared_error
from helpers.torch_live import Training, gru_update, lstm_gate, since, watched

GATE_RULES = ("LG031", "LG032", "LG033", "LG034")


def budget(gate: str, wanted: float, price: float) -> Error:
    """A price for every gate that is not as it is wanted, as for updates that cost time."""

    def error(model: nn.Module, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        activations = lstm_gate(model.layer[0], x, gate)
        return squared_error(model, x, y) + price * (activations - wanted).abs().mean()

    return error


def priced(gate: str, wanted: float, directory: Path, price: float) -> Training:
    """An LSTM that learns a sine wave, and pays for a gate."""
    error = budget(gate, wanted, price)
    build = partial(Stack, last=False)
    more = {"rate": 0.1, "error": error, "updates": 64}
    return watched(directory, lambda: build([lstm(1)], 1), sine, **more)


def regularised(directory: Path, offset: float) -> Training:
    """A GRU with activation regularisation (Merity et al. 2017), on a wave around an offset."""

    def error(model: nn.Module, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        hidden = model.layer[0](x)[0]
        return nn.functional.mse_loss(model.head(hidden), y) + 10 * hidden.pow(2).mean()

    def batch() -> tuple[torch.Tensor, torch.Tensor]:
        x, y = sine()
        return x + offset, y

    build = partial(Stack, last=False)
    gru = partial(nn.GRU, 1, 16, batch_first=True)
    return watched(directory, lambda: build([gru()], 1), batch, rate=0.02, error=error, updates=80)


def decayed(directory: Path, decay: float) -> Training:
    """An LSTM that learns to add, with a decay of all its weights."""
    optimizer = partial(torch.optim.SGD, weight_decay=decay)
    more = {"optimizer": optimizer, "rate": 0.1, "updates": 104}
    return watched(directory, lambda: Stack([lstm(2)], 1), adding, **more)


Train = Callable[[Path, float], Training]
HEALTHY: dict[str, tuple[Train, float]] = {
    "a low price for writing": (partial(priced, "input", 0.0), 1e-3),
    "a low price for showing": (partial(priced, "output", 0.0), 1e-3),
    "a low price for forgetting": (partial(priced, "forget", 1.0), 1e-3),
    "an input with mean 0": (regularised, 0),
    "a usual weight decay": (decayed, 1e-4),
}


def of_gates(run: Training) -> list[tuple[str, str | None, str | None]]:
    return [(one.id, one.layer, one.gate) for one in run.found if one.id in GATE_RULES]


@pytest.mark.parametrize("name", HEALTHY)
def test_without_the_mistake_no_gate_is_blamed(tmp_path: Path, name: str) -> None:
    train, right = HEALTHY[name]
    assert of_gates(train(tmp_path, right)) == []


@pytest.mark.parametrize(("gate", "id"), [("input", "LG031"), ("output", "LG032")])
def test_a_gate_that_a_high_price_shuts(tmp_path: Path, gate: str, id: str) -> None:
    run = priced(gate, 0.0, tmp_path, 1000)

    def passed(model: Stack) -> float:
        return float(lstm_gate(model.layer[0], run.probe, gate).max())

    shares = run.measured(passed)
    assert of_gates(run) == [(id, "layer/0", gate)]
    found = run.only(id)
    assert (found.severity, found.row) == ("warning", f"activation/{gate}")
    assert found.value == pytest.approx(shares[64], rel=1e-2)
    assert found.first_step == since(shares, lambda share: share < 0.01)
    assert found.last_step == 64
    assert found.title.endswith(f"since training step {found.first_step}")


def test_forget_gates_that_a_high_price_opens(tmp_path: Path) -> None:
    run = priced("forget", 1.0, tmp_path, 1000)

    def nearly_open(model: Stack) -> float:
        return float((lstm_gate(model.layer[0], run.probe, "forget") > 0.9).float().mean())

    shares = run.measured(nearly_open)
    assert of_gates(run) == [("LG033", "layer/0", "forget")]
    found = run.only("LG033")
    assert (found.severity, found.row) == ("note", "activation/forget")
    assert found.value == pytest.approx(shares[64], abs=2e-3)
    assert found.first_step == since(shares, lambda share: share > 0.95)
    assert found.last_step == 64


def test_a_gru_whose_update_gate_keeps_the_old_state(tmp_path: Path) -> None:
    run = regularised(tmp_path, 100)

    def taken(model: Stack) -> float:
        return 1 - float(gru_update(model.layer[0], run.probe).min())

    shares = run.measured(taken)
    assert of_gates(run) == [("LG031", "layer/0", "update")]
    found = run.only("LG031")
    assert found.value == pytest.approx(shares[80], abs=1e-4)
    assert found.first_step == since(shares, lambda share: share < 0.01)
    assert found.last_step == 80


def test_gates_that_a_strong_weight_decay_stills(tmp_path: Path) -> None:
    run = decayed(tmp_path, 1)
    gates = ("input", "forget", "output")
    assert of_gates(run) == [("LG034", "layer/0", gate) for gate in gates]
    for found, gate in zip(run.all("LG034"), gates, strict=True):
        with torch.no_grad():
            activations = lstm_gate(run.model.layer[0], run.probe, gate)
        spread = activations.std((0, 1), correction=0)
        assert found.value == pytest.approx(float(spread.median()), rel=0.2, abs=1e-7)
        assert found.value < 1e-4
        assert (found.first_step, found.last_step) == (104, 104)
        assert (
            found.title == f"has {'a' if gate == 'forget' else 'an'} {gate} gate that never varies"
        )
        assert "of 16 of 16 units is the same at every timestep, 0.5 on average" in found.seen
