"""report=True in a training loop of PyTorch's, and in Lightning's."""

from pathlib import Path

import lightning.pytorch as lightning
import pytest
import torch
from torch import nn
from torch.utils.tensorboard import SummaryWriter

import lstm_gates_plugin as lg
from helpers.lightning_training import fit, module_class

HEADING = "LSTM Gates, warning "


def train(writer: lg.GateWriter | None) -> list[torch.Tensor]:
    """Only the biases get to the optimizer."""
    torch.manual_seed(0)
    model = nn.LSTM(3, 8, batch_first=True)
    updates = torch.optim.Adam([model.bias_ih_l0, model.bias_hh_l0], lr=0.01)
    for step in range(25):
        x = torch.randn(4, 6, 3)
        if writer is not None:
            writer.log(model, step=step, probe=x)
        updates.zero_grad()
        model(x)[0].square().mean().backward()
        updates.step()
    return [*model.parameters(), torch.rand(3)]


def headings(printed: str) -> list[str]:
    return [line for line in printed.splitlines() if line.startswith(HEADING)]


def test_a_training_loop(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with lg.GateWriter(tmp_path, report=True) as writer:
        with_it = train(writer)
    (found,) = headings(capsys.readouterr().out)
    assert found.startswith(f"{HEADING}LG013: lstm_0 changes in its biases only. ")
    for one, other in zip(train(None), with_it, strict=True):
        assert torch.equal(one, other)


def test_through_a_summary_writer(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with SummaryWriter(tmp_path) as own, lg.GateWriter(own, report=True) as writer:
        train(writer)
    assert len(headings(capsys.readouterr().out)) == 1


def test_lightning(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    class OnlyBiases(module_class(lightning)):  # type: ignore[misc]
        def configure_optimizers(self) -> torch.optim.Optimizer:
            named = self.named_parameters()
            return torch.optim.Adam([weight for name, weight in named if "bias" in name], 0.05)

    callback = lg.LightningCallback(every_n_steps=1, log_dir=tmp_path / "gates", report=True)
    fit(lightning, tmp_path, callback, module=OnlyBiases(), max_epochs=4)
    found = headings(capsys.readouterr().out)
    assert found
    assert all("LG013: " in line for line in found)
