"""Units at their limits, dead or alike in networks that a real mistake trained; and without it.

The numbers, gates and training steps of the findings are those of the live network.
"""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

import lstm_gates_plugin as lg
from helpers.layers import make_layer, make_trace
from helpers.torch_findings import Stack, lstm, sine, trained
from helpers.torch_live import Training, gru_candidate, lstm_gate, since
from helpers.torch_mistakes import PAIRS, cross_entropy, digits

AT_LIMITS = {
    "bytes, LSTM": ("candidate", lambda layer, x: lstm_gate(layer, x, "candidate")),
    "bytes, GRU": ("candidate", lambda layer, x: gru_candidate(layer, x)),
    "bytes, simple RNN": ("hidden", lambda layer, x: layer(x)[0]),
}
"""The gate in which it is seen, and how its activations are computed."""


def share_at_limits(values: torch.Tensor) -> float:
    return float((values.abs() > 0.9).double().mean())


@pytest.mark.parametrize("name", AT_LIMITS)
def test_pixels_that_are_not_scaled_hold_the_activation_at_its_limits(
    tmp_path: Path, name: str
) -> None:
    gate, activations = AT_LIMITS[name]
    run = PAIRS[name].mistake(tmp_path)
    shares = run.measured(
        lambda model: share_at_limits(activations(model.layer[0], run.probe)),
    )
    found = run.only("LG035")
    assert (found.severity, found.layer, found.gate) == ("warning", "layer/0", gate)
    assert found.value == pytest.approx(shares[48], abs=1e-6)
    assert (found.first_step, found.last_step) == (since(shares, lambda one: one > 0.95), 48)


@pytest.mark.parametrize("name", AT_LIMITS)
def test_scaled_pixels_do_not(tmp_path: Path, name: str) -> None:
    _, activations = AT_LIMITS[name]
    run = PAIRS[name].right(tmp_path)
    shares = run.measured(lambda model: share_at_limits(activations(model.layer[0], run.probe)))
    assert run.all("LG035") == []
    assert max(shares.values()) < 0.2


def dead(run: Training, step: int) -> np.ndarray:
    with torch.no_grad():
        hidden = run.at(step).layer[0](run.probe)[0]
    return (hidden == 0).all(1).all(0).numpy()


def test_too_large_a_rate_kills_the_units_of_a_relu(tmp_path: Path) -> None:
    run = PAIRS["too large a rate, ReLU"].mistake(tmp_path)
    found = run.only("LG036")
    assert (found.severity, found.layer, found.row) == ("warning", "layer/0", "hidden_state")
    assert found.value == dead(run, 48).mean()
    assert (found.first_step, found.last_step) == (48, 48)
    assert "ReLU" in found.meaning


def test_a_small_rate_leaves_them_alive(tmp_path: Path) -> None:
    run = PAIRS["too large a rate, ReLU"].right(tmp_path)
    assert run.all("LG036") == []
    assert dead(run, 48).mean() < 0.6


def test_units_of_a_relu_that_are_silent_on_few_samples_are_no_warning(tmp_path: Path) -> None:
    run = PAIRS["too large a rate, IRNN"].right(tmp_path)
    assert dead(run, 24).mean() < 0.85
    assert run.all("LG036") == []


@pytest.mark.parametrize(
    ("cell", "said"),
    [("lstm", "output gate"), ("gru", "update gate"), ("simple_rnn", "nothing arrives")],
)
def test_units_without_a_relu_are_not_said_to_have_one(
    tmp_path: Path, cell: str, said: str
) -> None:
    trace = make_trace(make_layer(cell))
    trace.hidden_state.setflags(write=True)
    trace.hidden_state[:] = 0
    with lg.GateWriter(tmp_path) as writer:
        for step in (0, 10, 20):
            writer.log_trace(trace, step=step)
    (found,) = [one for one in lg.diagnose(tmp_path) if one.id == "LG036"]
    assert said in found.meaning
    assert "ReLU" not in " ".join([found.meaning, *found.try_])


def share_alike(run: Training, step: int) -> float:
    with torch.no_grad():
        hidden = run.at(step).layer[0](run.probe)[0].flatten(0, 1).double().numpy()
    likeness = np.abs(np.corrcoef(hidden.T)) - np.eye(hidden.shape[1])
    return float((likeness.max(axis=0) >= 0.95).mean())


def test_many_units_for_a_sine_do_the_same(tmp_path: Path) -> None:
    run = PAIRS["64 units for a sine"].mistake(tmp_path)
    found = run.only("LG050")
    assert (found.severity, found.layer, found.row) == ("note", "layer/0", "hidden_state")
    assert found.value == pytest.approx(share_alike(run, 48), abs=1.5 / 64)
    assert (found.first_step, found.last_step) == (48, 48)


def test_few_units_do_not(tmp_path: Path) -> None:
    run = PAIRS["64 units for a sine"].right(tmp_path)
    assert run.all("LG050") == []
    assert share_alike(run, 48) == 0


def test_all_units_of_a_wide_layer_are_counted(tmp_path: Path) -> None:
    trained(tmp_path, Stack([lstm(1, 100)], 1, last=False), sine, updates=16, every=8)
    (found,) = [one for one in lg.diagnose(tmp_path) if one.id == "LG050"]
    assert found.value > 2 * 32 / 100  # more than 32 pairs hold


class Twice(nn.Module):
    """One layer that reads digits as bytes first, and scaled after it."""

    def __init__(self) -> None:
        super().__init__()
        self.rnn = lstm(8)
        self.head = nn.Linear(32, 10)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        _, (scaled, _) = self.rnn(x / 255)
        _, (raw, _) = self.rnn(x)
        return self.head(torch.cat([scaled[0], raw[0]], -1))


class TwiceRaw(Twice):
    """The same, with bytes both times."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        _, (first, _) = self.rnn(x)
        _, (second, _) = self.rnn(x.flip(1))
        return self.head(torch.cat([first[0], second[0]], -1))


@pytest.mark.parametrize(
    ("kind", "said"), [(Twice, "Call 1: 9"), (TwiceRaw, "Call 0: 9")], ids=["one", "both"]
)
def test_every_call_of_a_layer_is_judged_and_named(tmp_path: Path, kind: Any, said: str) -> None:
    found = trained(tmp_path, kind(), digits(255), error=cross_entropy, updates=24, every=6)
    (limits,) = [one for one in found if one.id == "LG035"]
    assert limits.layer == "rnn"
    assert limits.seen.startswith(said)
    assert limits.seen.endswith("Also in call 1.") == (kind is TwiceRaw)
