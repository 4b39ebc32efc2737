"""The shape of a distribution in words, and rules on weights that are as they were initialised."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import numpy as np

from lstm_gates_plugin.diagnosis.finding import Finding, Rule
from lstm_gates_plugin.diagnosis.initialisers import default_initialiser
from lstm_gates_plugin.diagnosis.learning import is_unchanged
from lstm_gates_plugin.diagnosis.rules import shape as rules
from lstm_gates_plugin.diagnosis.run_view import LayerView, RunView

ENOUGH_ENTRIES = 256
"""Entries from which a plateau can be told from a bell (our own: tests/diagnosis/test_shape.py)."""
UNLIKE = 0.06
"""Largest distance of two cumulative distributions that are called alike, beside chance."""
CHANCE = 1.63
"""Over the root of the number of entries: the Kolmogorov-Smirnov distance that one in a hundred
samples of the distribution itself exceeds (Smirnov 1948)."""


def describe(histogram: np.ndarray, bounds: np.ndarray, mean: float, std: float) -> str:
    """The shape in words: "a plateau between -0.15 and 0.15", "a bell", "a single spike at 0".

    Args:
        histogram: ``[34]`` underflow, 32 equal bins, overflow.
        bounds: ``[2]`` ends of the bins.
        mean: of the finite entries.
        std: of the finite entries.
    """
    count = int(histogram.sum())
    low, high = float(bounds[0]), float(bounds[1])
    if count == 0 or not math.isfinite(low):
        return "nothing finite"
    if low == high:
        return f"a single spike at {low:.3g}"
    if count < ENOUGH_ENTRIES:
        return f"{count} values between {low:.2g} and {high:.2g}, too few to tell a shape"
    edges = np.linspace(low, high, len(histogram) - 1)
    seen = np.cumsum(histogram[:-1]) / count
    near = UNLIKE / 2 + CHANCE / math.sqrt(count)
    if np.abs(seen - np.linspace(0, 1, len(edges))).max() < near and _is_level(histogram):
        return f"a plateau between {low:.2g} and {high:.2g}"
    bell = np.array([0.5 * (1 + math.erf((x - mean) / (std * math.sqrt(2)))) for x in edges])
    if std > 0 and np.abs(seen - bell).max() < near:
        return f"a bell around {mean:.2g} with spread {std:.2g}"
    return f"neither a bell nor a plateau, between {low:.2g} and {high:.2g}"


def still_initial(run: RunView) -> Iterator[Finding]:
    """What the histogram of a kernel shows in a layer that has not changed."""
    for layer in run.trained("weights"):
        if not is_unchanged(layer):
            continue
        for part in ("kernel", "recurrent_kernel"):
            rows = [row for row in layer.rows("weights") if row.startswith(f"{part}/")]
            if rows:
                yield _still_initial(layer, part, rows[0])


def no_bias(run: RunView) -> Iterator[Finding]:
    """Runs of which no layer has a bias."""
    layers = [layer for layer in run.layers if "weights" in layer.series]
    known = [layer for layer in layers if layer.description["gates"]]
    if not known or len(known) < len(run.layers):
        return
    if any(row.startswith("bias/") for layer in known for row in layer.rows("weights")):
        return
    yield rules.NO_BIAS.found(
        seen=f"None of the {len(known)} recurrent layers has a bias."
        if len(known) > 1
        else "The recurrent layer has no bias.",
        value=0,
        steps=known[0].steps("weights"),
        evidence=known[0].evidence("weights"),
        kind="weights",
    )


def widened(run: RunView) -> Iterator[Finding]:
    """The kernel of each layer that has spread most, if that is far."""
    rule = rules.WIDENED
    for layer in run.trained("weights"):
        yield from _furthest(
            rule, layer, lambda mean, std: std / std[0], "has {:.3g} times its first spread"
        )


def drifted(run: RunView) -> Iterator[Finding]:
    """The kernel of each layer whose mean has moved most, if that is far."""
    rule = rules.DRIFTED
    for layer in run.trained("weights"):
        yield from _furthest(
            rule,
            layer,
            lambda mean, std: np.abs(mean - mean[0]) / np.maximum(std, std[0]),
            "has moved its mean by {:.3g} times its spread",
        )


def _furthest(
    rule: Rule,
    layer: LayerView,
    measured: Callable[[np.ndarray, np.ndarray], np.ndarray],
    said: str,
) -> Iterator[Finding]:
    """A finding of the kernel with the largest number, from when it is above the threshold."""
    found = []
    for row in layer.rows("weights"):
        mean, std = (layer.column("weights", row, name) for name in ("mean", "std"))
        if row.startswith(("kernel/", "recurrent_kernel/")) and std[0] > 0:
            values = measured(mean, std)
            found.append((float(np.nan_to_num(values[-1])), row, values))
    value, row, values = max(found, key=lambda one: one[0], default=(0.0, "", np.empty(0)))
    if not value > rule.threshold:
        return
    steps = layer.series["weights"].steps
    yield rule.found(
        seen=f"{row} {said.format(value)}.",
        value=value,
        steps=(int(steps[np.argmax(values > rule.threshold)]), int(steps[-1])),
        evidence=layer.evidence("weights"),
        layer=layer.id,
        gate=row.partition("/")[2],
        kind="weights",
        row=row,
    )


def _still_initial(layer: LayerView, part: str, row: str) -> Finding:
    series = layer.series["weights"]
    at = series.header["rows"].index(row)
    mean, std = (float(layer.column("weights", row, name)[-1]) for name in ("mean", "std"))
    shape = describe(series.histogram[-1, at], series.bounds[-1, at], mean, std)
    first, last = layer.steps("weights")
    plateau = " (a uniform distribution)" if shape.startswith("a plateau") else ""
    usual = default_initialiser(layer.description, part)
    limit = f" between {-usual.limit:.2g} and {usual.limit:.2g}" if usual and usual.limit else ""
    default = f" The framework's default is {usual.name}{limit}." if usual else ""
    return rules.STILL_INITIAL.found(
        seen=f"{row} is still what it was at training step {first:,}: {shape}{plateau}.{default}",
        value=0,
        steps=(first, last),
        evidence=layer.evidence("weights"),
        layer=layer.id,
        gate=row.partition("/")[2],
        kind="weights",
        row=row,
    )


def _is_level(histogram: np.ndarray) -> bool:
    """Whether the outer quarters are about as full as the inner ones: a bell's are not."""
    bins = histogram[1:-1].astype(float)
    quarter = len(bins) // 4
    outer = bins[:quarter].sum() + bins[-quarter:].sum()
    return bool(outer > 0.8 * bins[quarter:-quarter].sum())
