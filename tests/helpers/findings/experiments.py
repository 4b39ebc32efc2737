"""Draws what a rule measures, of a network that was trained with a mistake and without it."""

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch

import lstm_gates_plugin as lg
from helpers import line_picture
from helpers.findings.measures import Measure
from lstm_gates_plugin.diagnosis.finding import Rule

Train = Callable[[Path], Any]


class Experiment(NamedTuple):
    """What is compared.

    Attributes:
        what: the number that is measured.
        mistake: in words.
        wrong: the training with it.
        correction: in words.
        right: the same training without the mistake.
        measure: of a run's directory the training steps of its records, and the number at each.
    """

    what: str
    mistake: str
    wrong: Train
    correction: str
    right: Train
    measure: Measure


def draw(rule: Rule, experiment: Experiment) -> str:
    """Train both networks; the picture of what was measured."""
    with tempfile.TemporaryDirectory() as directory:
        curves, found = [], []
        for name, train in (("mistake", experiment.wrong), ("right", experiment.right)):
            torch.manual_seed(0)
            train(Path(directory) / name)
            curves.append(experiment.measure(Path(directory) / name))
            found.append([one for one in lg.diagnose(Path(directory) / name) if one.id == rule.id])
    if not found[0] or found[1]:
        raise ValueError(f"{rule.id} is not found with the mistake, or without it.")
    value, twin = found[0][0].value, _nearest(curves[1][1], rule.threshold, found[0][0].value)
    description = (
        f"{experiment.what}. With the mistake ({experiment.mistake}) {_short(value)}; without it "
        f"({experiment.correction}) at {'most' if value > twin else 'least'} {_short(twin)}."
    )
    names = experiment.mistake, experiment.correction
    lines = [line_picture.Curve(name, *curve) for name, curve in zip(names, curves, strict=True)]
    return line_picture.draw(experiment.what, description, *lines, rule.threshold)


def _nearest(values: Any, threshold: float, mistake: float) -> float:
    """The number of the healthy twin that is nearest to the threshold, in its second half.

    Before, a small change since the start is no finding.
    """
    known = np.asarray(values, float)[len(values) // 2 :]
    known = known[np.isfinite(known)]
    return float(known.max() if mistake > known.mean() else known.min())


def _short(number: float) -> str:
    return f"{number:.3g}" if abs(number) < 1000 else f"{number:,.0f}"
