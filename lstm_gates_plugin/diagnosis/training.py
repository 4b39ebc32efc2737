"""Rules on how the training goes: a loss that jumps, and what changed most there."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from lstm_gates_plugin.diagnosis.finding import Finding
from lstm_gates_plugin.diagnosis.rules import training as rules
from lstm_gates_plugin.diagnosis.run_view import LayerView, RunView

BEFORE = 5
"""Records before a spike with whose median it is compared."""
ENOUGH_LOSSES = 10
JUMP = 3.0
"""How many times the loss before it a spike must be, beside being unlikely."""


def loss_spike(run: RunView) -> Iterator[Finding]:
    """The highest spike of the loss, with the layer and row that changed most at that record."""
    rule = rules.LOSS_SPIKE
    for layer in run.layers:
        if "weights" not in layer.series:
            continue
        loss, steps = layer.record_column("weights", "loss"), layer.series["weights"].steps
        known = np.isfinite(loss) & (loss > 0)
        if known.sum() < ENOUGH_LOSSES:
            return
        scores, ratios = robust_scores(loss[known])
        if not len(scores) or not (scores.max() > rule.threshold):
            return
        at = int(np.argmax(scores))
        step = int(steps[known][at])
        others = int((scores > rule.threshold).sum()) - 1
        more = f" There are {others} more." if others else ""
        yield rule.found(
            seen=f"At training step {step:,} the loss is {ratios[at]:.3g} times that before it."
            f"{_what_changed(run, step)}{more}",
            value=scores[at],
            steps=(step, step),
            evidence=f"{int(known.sum())} losses, training steps {steps[0]:,} to {steps[-1]:,}",
            title=f"the loss jumps at training step {step:,}",
        )
        return


def robust_scores(loss: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """How unlikely each loss is after those just before it, and how many times their median.

    The score is ``(log loss - log of the median of the 5 before) / (1.4826 MAD)``, the deviations
    from their own median; 0 where the loss is less than `JUMP` times that before it.

    Args:
        loss: ``[n]`` positive and finite.
    """
    ratios = np.ones(len(loss))
    for at in range(BEFORE, len(loss)):
        ratios[at] = loss[at] / np.median(loss[at - BEFORE : at])
    deviations = np.log(ratios[BEFORE:])
    centre = np.median(deviations)
    spread = 1.4826 * np.median(np.abs(deviations - centre))
    scores = (np.log(ratios) - centre) / max(float(spread), 1e-3)
    return np.where(ratios >= JUMP, scores, 0.0), ratios


def _what_changed(run: RunView, step: int) -> str:
    """The row whose change, or whose gradient, is largest there beside what it usually is."""
    found: list[tuple[float, str]] = []
    for layer in run.layers:
        for kind, column, what in (
            ("weights", "change_since_previous", "changed"),
            ("training_gradients", "norm", "had a gradient"),
        ):
            found += [
                (times, f" {row} of {layer.id} {what} {times:.3g} times as much as usual.")
                for row in layer.rows(kind)
                if (times := _times_as_usual(layer, kind, row, column, step)) > 1
            ]
    return max(found)[1] if found else ""


def _times_as_usual(layer: LayerView, kind: str, row: str, column: str, step: int) -> float:
    series = layer.series[kind]
    at = np.flatnonzero(series.steps == step)
    values = layer.column(kind, row, column)
    usual = np.nanmedian(values) if np.isfinite(values).any() else 0.0
    return float(values[at[0]] / usual) if len(at) and usual > 0 else 0.0
