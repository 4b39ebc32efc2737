"""The trainings that the pictures of the findings show: those of the tests of PyTorch."""

import importlib.util
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import torch
from torch import nn

from helpers.findings.experiments import Experiment, Train
from helpers.findings.measures import Measure
from helpers.torch_findings import Batch, Stack, adding, lstm, trained
from helpers.torch_mistakes import PAIRS

TESTS = Path(__file__).parents[2] / "pytorch"


def _load(name: str) -> ModuleType:
    """The trainings of a module of tests."""
    spec = importlib.util.spec_from_file_location(name, TESTS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


GENERAL = _load("test_findings")
GATES = _load("test_findings_gates")
VALUES = _load("test_findings_values")
PEAKS = _load("test_findings_peaks")
UPDATES = _load("test_findings_updates")


def pair(name: str) -> tuple[Train, Train]:
    return PAIRS[name].mistake, PAIRS[name].right


def plain(build: Callable[[], Stack], batch: Batch = adding, **more: Any) -> Train:
    """A training of `trained`; ``learning`` chooses the parameters that the optimizer gets."""
    learning = more.pop("learning", None)

    def train(directory: Path) -> None:
        model = build()
        chosen = {"learning": learning(model)} if learning else {}
        trained(directory, model, batch, **chosen, **more)

    return train


def relu() -> Stack:
    return Stack([nn.RNN(2, 16, nonlinearity="relu", batch_first=True)], 1)


def one_lstm() -> Stack:
    return Stack([lstm(2)], 1)


def two(frozen: bool) -> Stack:
    model = Stack([lstm(2), lstm(16)], 1)
    model.layer[0].requires_grad_(not frozen)
    return model


def question(bias: bool) -> Train:
    """Only the last layer and the head are learned, without a bias; or all of it, with one."""

    def learning(model: Stack) -> list[nn.Parameter]:
        return [*model.layer[3].parameters(), *model.head.parameters()]

    build = partial(GENERAL.question, bias=bias)
    return plain(build) if bias else plain(build, learning=learning)


def biases(model: Stack) -> list[nn.Parameter]:
    return [weight for name, weight in model.named_parameters() if "bias" in name]


def learnable(model: Stack) -> list[nn.Parameter]:
    return [weight for weight in model.parameters() if weight.requires_grad]


def one_timestep() -> tuple[torch.Tensor, torch.Tensor]:
    x, y = adding()
    return x.reshape(-1, 1, 2), y.repeat_interleave(20, 0)


def valued(train: Callable[..., Any], value: Any, *before: Any) -> Train:
    return lambda directory: train(*before, directory, value)


def priced(gate: str, wanted: float) -> tuple[Train, Train]:
    return valued(GATES.priced, 1000, gate, wanted), valued(GATES.priced, 1e-3, gate, wanted)


def experiment(
    what: str, mistake: str, correction: str, trains: tuple[Train, Train], measure: Measure
) -> Experiment:
    wrong, right = trains
    return Experiment(what, mistake, wrong, correction, right, measure)


QUESTION = question(False), question(True)
