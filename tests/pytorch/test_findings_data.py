"""Data that were not what they should have been, in real trainings; and the same without it.

The numbers and training steps of the findings are those of the data and of the live network.
"""

from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

import lstm_gates_plugin as lg
from helpers.torch_findings import Stack, lstm, sine, trained
from helpers.torch_live import Training
from helpers.torch_mistakes import PAIRS


def losses(run: Training) -> dict[int, float]:
    """The loss that is kept with each record: that of the update before it."""
    found = {}
    for step in run.records[1:]:
        x, y = run.batches[step - 1]
        with torch.no_grad():
            found[step] = float(nn.functional.mse_loss(run.at(step - 1)(x), y))
    return found


def scores(values: np.ndarray) -> np.ndarray:
    """Robust standard deviations of the log of each loss over the median of the 5 before it."""
    before = np.array([np.median(values[at - 5 : at]) for at in range(5, len(values))])
    logs = np.log(values[5:] / before)
    middle = np.median(logs)
    return (logs - middle) / (1.4826 * np.median(np.abs(logs - middle)))


def test_a_batch_in_other_units_makes_the_loss_jump(tmp_path: Path) -> None:
    run = PAIRS["one batch in other units"].mistake(tmp_path)
    found = run.only("LG070")
    jumps = scores(np.array(list(losses(run).values())))
    assert (found.severity, found.layer) == ("warning", None)
    assert (found.first_step, found.last_step) == (40, 40)
    assert list(losses(run))[5 + int(jumps.argmax())] == 40
    assert found.value == pytest.approx(jumps.max(), rel=1e-3)


def test_batches_in_one_unit_do_not(tmp_path: Path) -> None:
    run = PAIRS["one batch in other units"].right(tmp_path)
    assert run.all("LG070") == []
    assert scores(np.array(list(losses(run).values()))).max() < 10


@pytest.mark.parametrize("name", ["bytes, LSTM", "bytes, GRU", "bytes, simple RNN"])
def test_pixels_from_0_to_255_are_not_scaled(tmp_path: Path, name: str) -> None:
    run = PAIRS[name].mistake(tmp_path)
    found = run.only("LG080")
    assert (found.severity, found.layer, found.row) == ("note", "layer/0", "track/input")
    assert found.value == pytest.approx(float(run.probe.square().mean().sqrt()), rel=1e-3)
    assert (found.first_step, found.last_step) == (48, 48)
    assert f"mean {run.probe.mean():.3g}" in found.seen


def test_pixels_from_0_to_1_are(tmp_path: Path) -> None:
    run = PAIRS["bytes, simple RNN"].right(tmp_path)
    assert run.all("LG080") == []
    assert float(run.probe.square().mean().sqrt()) < 1


def passengers() -> tuple[torch.Tensor, torch.Tensor]:
    """Whole numbers of passengers a month, with a trend and a season, and the next month's."""
    months = torch.arange(48.0) + torch.randint(60, (16, 1))
    counts = (120 + 2 * months + 40 * torch.sin(months * torch.pi / 6)).round()[..., None]
    return counts[:, :-1], counts[:, 1:] / 300


def test_one_feature_of_whole_numbers_is_judged(tmp_path: Path) -> None:
    model = Stack([lstm(1)], 1, last=False)
    found = trained(tmp_path, model, passengers, updates=16)
    assert [one.layer for one in found if one.id == "LG080"] == ["layer/0"]


class Scales(Stack):
    """A network that scales its own input, and gives the layer two features of it."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        scaled = (x - 200) / 100
        return super().forward(torch.cat([scaled, scaled**2], -1))


def test_what_the_model_may_scale_is_not_said_of_a_layer(tmp_path: Path) -> None:
    def measured() -> tuple[torch.Tensor, torch.Tensor]:
        x, y = sine()
        return 300 * x, y

    found = trained(tmp_path, Scales([lstm(2)], 1, last=False), measured, updates=16)
    (one,) = [one for one in found if one.id == "LG080"]
    assert (one.severity, one.layer) == ("note", None)
    assert one.title.startswith("the model gets")


@pytest.mark.parametrize("which", ["mistake", "right"])
def test_texts_of_any_length_are_mostly_padding(tmp_path: Path, which: str) -> None:
    run = getattr(PAIRS["texts of any length in one batch"], which)(tmp_path)
    padded = float((run.probe == 0).double().mean())
    assert "LG080" not in {one.id for one in run.found}, "tokens are not to be scaled"
    if which == "right":
        assert run.all("LG081") == []
        assert padded < 0.1
        return
    found = run.only("LG081")
    assert (found.severity, found.layer, found.kind) == ("note", "rnn", "activations")
    assert found.value == pytest.approx(padded, abs=0.01)
    assert (found.first_step, found.last_step) == (12, 12)


@pytest.mark.parametrize("which", ["mistake", "right"])
def test_a_probe_in_memory_that_is_reused(tmp_path: Path, which: str) -> None:
    run = getattr(PAIRS["a probe in memory that is reused"], which)(tmp_path)
    hashes = lg.read(tmp_path)["."]["layer/0"].series("hidden_state", "probe_hash").values
    if which == "right":
        assert run.all("LG082") == []
        assert len(set(hashes)) == 1
        return
    found = run.only("LG082")
    assert (found.severity, found.layer) == ("note", None)
    assert (found.value, found.first_step, found.last_step) == (4, 6, 24)
    assert len(set(hashes)) == 5
