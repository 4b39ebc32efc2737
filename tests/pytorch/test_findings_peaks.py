"""Weights that a regulariser of few values gathers have peaks; those of other networks have one."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

from helpers.torch_findings import Error, Stack, lstm, sine, squared_error
from helpers.torch_live import LSTM_GATES, Training, since, watched
from lstm_gates_plugin.diagnosis.peaks import peaks
from lstm_gates_plugin.measure.statistics import distribution


def peaks_of(values: torch.Tensor | np.ndarray) -> list[float]:
    seen = distribution(np.asarray(values))
    return peaks(seen.histogram, seen.bounds)


def to_fifths(weight: torch.Tensor) -> torch.Tensor:
    """A sinusoidal regulariser (Elthakeb et al. 2019) for weights of 0, 0.2, 0.4, ..."""
    return torch.sin(torch.pi * weight / 0.2).pow(2).mean()


def to_two(weight: torch.Tensor) -> torch.Tensor:
    """For weights of -0.1 and 0.1, as of a binary network (Courbariaux et al. 2015)."""
    return 2 * (weight.abs() - 0.1).pow(2).mean()


def to_zero(weight: torch.Tensor) -> torch.Tensor:
    return weight.abs().mean()


def regularised(pull: Callable[[torch.Tensor], torch.Tensor]) -> Error:
    def error(model: nn.Module, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        layer = model.layer[0]
        return squared_error(model, x, y) + pull(layer.weight_ih_l0) + pull(layer.weight_hh_l0)

    return error


def learned(directory: Path, error: Error, rate: float = 0.005) -> Training:
    build = partial(Stack, last=False)
    return watched(directory, lambda: build([lstm(1)], 1), sine, error=error, rate=rate)


def recurrent(run: Training, step: int, gate: str) -> np.ndarray:
    return run.weight(step, "weight_hh", LSTM_GATES.index(gate), 4)


@pytest.mark.parametrize(("pull", "places"), [(to_fifths, [-0.2, 0.0, 0.2]), (to_two, [-0.1, 0.1])])
def test_a_regulariser_for_few_values_makes_peaks(
    tmp_path: Path, pull: Callable[[torch.Tensor], torch.Tensor], places: list[float]
) -> None:
    run = learned(tmp_path, regularised(pull))
    found = run.only("LG024")
    assert (found.severity, found.layer, found.value) == ("note", "layer/0", len(places))
    gate = str(found.gate)
    assert found.row == f"recurrent_kernel/{gate}"
    # Most weights of the live network really are at these places, and at the start were not.
    now, start = recurrent(run, 120, gate), recurrent(run, 0, gate)
    for weights, share in ((now, 0.7), (start, 0.5)):
        near = np.abs(weights[..., None] - places).min(-1) < 0.025
        assert (near.mean() > share) == (weights is now)
    numbers = {step: float(len(peaks_of(recurrent(run, step, gate)))) for step in run.records}
    assert found.first_step == since(numbers, lambda number: number > 1)
    assert found.last_step == 120
    listed = ", ".join(f"{place:g}" for place in places[:-1])
    assert f"shows {len(places)} peaks, at {listed} and {places[-1]:g}; at training" in found.seen
    assert found.seen.endswith("at training step 0 it showed a plateau between -0.25 and 0.25.")


@pytest.mark.parametrize(
    ("error", "rate"),
    [(squared_error, 0.005), (squared_error, 0.1), (regularised(to_zero), 0.005)],
    ids=["usual", "a hot learning rate", "a strong L1"],
)
def test_other_trainings_make_none(tmp_path: Path, error: Error, rate: float) -> None:
    run = learned(tmp_path, error, rate)
    assert run.all("LG024") == []


INITIALISERS: dict[str, Callable[[torch.Tensor], object]] = {
    "uniform": nn.init.uniform_,
    "normal": nn.init.normal_,
    "truncated normal": nn.init.trunc_normal_,
    "Xavier uniform": nn.init.xavier_uniform_,
    "Xavier normal": nn.init.xavier_normal_,
    "Kaiming uniform": nn.init.kaiming_uniform_,
    "Kaiming normal": nn.init.kaiming_normal_,
    "orthogonal": nn.init.orthogonal_,
    "sparse": partial(nn.init.sparse_, sparsity=0.5),
}


@pytest.mark.parametrize("name", INITIALISERS)
def test_initialisers_have_one_peak(name: str) -> None:
    for shape in ((16, 16), (64, 64), (256, 64)):
        for _ in range(20):
            weight = torch.empty(shape)
            INITIALISERS[name](weight)
            assert len(peaks_of(weight)) == 1


@pytest.mark.parametrize("kind", [nn.LSTM, nn.GRU, nn.RNN])
def test_fresh_layers_have_one_peak(kind: type[nn.RNNBase]) -> None:
    gates = {nn.LSTM: 4, nn.GRU: 3, nn.RNN: 1}[kind]
    for units in (16, 64, 128):
        for weight in kind(units, units).parameters():
            if weight.ndim == 2:
                for gate in weight.detach().chunk(gates):
                    assert len(peaks_of(gate)) == 1
