"""Rules on what a recurrent kernel does to a gradient, and on units that do the same."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from lstm_gates_plugin.diagnosis.finding import Finding
from lstm_gates_plugin.diagnosis.rules import recurrence as rules
from lstm_gates_plugin.diagnosis.run_view import LayerView, RunView
from lstm_gates_plugin.measure.units import MOVE_TOGETHER_FROM

STEEPEST = {"tanh": 1.0, "relu": 1.0, "sigmoid": 0.25}
"""The largest slope of each activation: gamma of Pascanu, Mikolov and Bengio 2013."""

BEFORE = 5
"""At most so many records before a gradient with whose median it is compared."""

_ROW = "recurrent_kernel/hidden"


def explodes(run: RunView) -> Iterator[Finding]:
    """Simple RNNs whose recurrent kernel may amplify gradients, and whose gradients have grown."""
    rule = rules.EXPLODES
    for layer, norm, limit in _spectral_norms(run):
        kind = next((one for one in ("training_gradients", "gradients") if _has(layer, one)), None)
        if kind is None or not (norm[-1] > limit and norm[-1] > norm[0]):
            continue
        times = times_before(layer.column(kind, _ROW, "norm"))
        at = int(np.argmax(times))
        if not times[at] > rule.threshold:
            continue
        steps = layer.series[kind].steps
        yield rule.found(
            seen=f"The largest singular value of the recurrent kernel grew from {norm[0]:.3g} to "
            f"{norm[-1]:.3g}, and its gradient was {times[at]:,.3g} times that before at "
            f"training step {int(steps[at]):,}.",
            value=times[at],
            steps=(int(steps[at]), int(steps[-1])),
            evidence=layer.evidence(kind),
            layer=layer.id,
            kind=kind,
            row=_ROW,
        )


def vanishes(run: RunView) -> Iterator[Finding]:
    """Simple RNNs through which a gradient must vanish, whatever the input is."""
    rule = rules.VANISHES
    for layer, norm, limit in _spectral_norms(run):
        share = norm[-1] / limit
        if not share < rule.threshold:
            continue
        _, last = layer.steps("weights")
        yield rule.found(
            seen=f"The largest singular value of the recurrent kernel is {norm[-1]:.3g}, and the "
            f"steepest slope of {layer.options.get('activation', 'tanh')} is {1 / limit:.3g}.",
            value=share,
            steps=(last, last),
            evidence=layer.evidence("weights"),
            layer=layer.id,
            kind="weights",
            row=_ROW,
        )


def redundant_units(run: RunView) -> Iterator[Finding]:
    """Layers in which many units move together with another one."""
    rule = rules.REDUNDANT_UNITS
    for layer in run.trained("activations"):
        picture = layer.newest.get("activations")
        if picture is None or "units_together" not in picture.header:
            continue
        units = len(picture.header["all_units"])
        together = int(picture.header["units_together"])
        if not together / units > rule.threshold:
            continue
        yield rule.found(
            seen=f"{together} of {units} units have another with which they correlate by "
            f"{MOVE_TOGETHER_FROM} or more.",
            value=together / units,
            steps=(picture.step, picture.step),
            evidence=layer.evidence("activations"),
            layer=layer.id,
            kind="activations",
            row="hidden_state",
        )


def _spectral_norms(run: RunView) -> Iterator[tuple[LayerView, np.ndarray, float]]:
    """Simple RNNs with the largest singular value over the records, and 1 / gamma."""
    for layer in run.trained("weights"):
        slope = STEEPEST.get(str(layer.options.get("activation", "tanh")))
        if layer.description["cell"] == "simple_rnn" and slope is not None:
            norm = layer.column("weights", _ROW, "spectral_norm")
            if np.isfinite(norm[[0, -1]]).all():
                yield layer, norm, 1 / slope


def times_before(norms: np.ndarray) -> np.ndarray:
    """How many times the median of the few before it each norm is; 0 where there is none.

    Before it, and not of all: a gradient is largest at the start of many a healthy training.
    """
    known = np.flatnonzero(np.isfinite(norms) & (norms > 0))
    times = np.zeros(len(norms))
    for number, at in enumerate(known[1:], 1):
        times[at] = norms[at] / np.median(norms[known[max(0, number - BEFORE) : number]])
    return times


def _has(layer: LayerView, kind: str) -> bool:
    return layer.is_trained(kind) and _ROW in layer.rows(kind)
