"""The shape of a distribution in words, and rules on weights that are as they were initialised."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from lstm_gates_plugin.diagnosis.finding import Finding, Rule
from lstm_gates_plugin.diagnosis.initialisers import default_initialiser
from lstm_gates_plugin.diagnosis.learning import is_unchanged
from lstm_gates_plugin.diagnosis.peaks import peaks
from lstm_gates_plugin.diagnosis.rules import shape as rules
from lstm_gates_plugin.diagnosis.run_view import LayerView, RunView
from lstm_gates_plugin.reading.store import StatisticsSeries

ENOUGH_ENTRIES = 256
"""Entries from which a plateau can be told from a bell (our own: tests/diagnosis/test_shape.py)."""
UNLIKE = 0.06
"""Largest distance of two cumulative distributions that are called alike, beside chance."""
CHANCE = 1.63
"""Over the root of the number of entries: the Kolmogorov-Smirnov distance that one in a hundred
samples of the distribution itself exceeds (Smirnov 1948)."""

NEAR_DEFAULT = 0.03
"""The share by which the ends of a plateau may differ from the default initialiser's."""


def describe(histogram: np.ndarray, bounds: np.ndarray, mean: float, std: float) -> str:
    """The shape in words: "a plateau between -0.15 and 0.15", "3 peaks, at -1, 0 and 1".

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
    tops = peaks(histogram, bounds)
    if len(tops) > 1:
        is_spikes = np.count_nonzero(histogram) == len(tops)
        return f"{len(tops)} {'spikes' if is_spikes else 'peaks'}, at {_listed(tops)}"
    edges = np.linspace(low, high, len(histogram) - 1)
    seen = np.cumsum(histogram[:-1]) / count
    near = UNLIKE / 2 + CHANCE / math.sqrt(count)
    if np.abs(seen - np.linspace(0, 1, len(edges))).max() < near and _is_level(histogram):
        return f"a plateau between {low:.2g} and {high:.2g}"
    bell = np.array([0.5 * (1 + math.erf((x - mean) / (std * math.sqrt(2)))) for x in edges])
    if std > 0 and np.abs(seen - bell).max() < near:
        return f"a bell around {mean:.2g} with spread {std:.2g}"
    return (
        f"neither a bell nor a plateau, with one peak at {tops[0]:.3g}, between {low:.2g} and "
        f"{high:.2g}"
    )


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


def gathered(run: RunView) -> Iterator[Finding]:
    """The kernel of each layer with the most peaks, if it had a single one at its start."""
    for layer in run.trained("weights"):
        series = layer.series["weights"]
        tops = {
            row: _peaks(series, row, -1)
            for row in layer.rows("weights")
            if row.startswith(("kernel/", "recurrent_kernel/")) and len(_peaks(series, row, 0)) == 1
        }
        row = max(tops, key=lambda one: len(tops[one]), default="")
        if not row or len(tops[row]) < 2:
            continue
        first = next(
            at for at in reversed(range(len(series.steps))) if len(_peaks(series, row, at - 1)) < 2
        )
        yield rules.GATHERED.found(
            seen=f"The histogram of {row} shows {_shape(layer, row, -1)}; at training step "
            f"{layer.steps('weights')[0]:,} it showed {_shape(layer, row, 0)}.",
            value=len(tops[row]),
            steps=(int(series.steps[first]), int(series.steps[-1])),
            evidence=layer.evidence("weights"),
            layer=layer.id,
            gate=row.partition("/")[2],
            kind="weights",
            row=row,
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
    series = layer.series["weights"]
    steps = series.steps
    shape = f"; its histogram shows {_shape(layer, row, -1)}" if _peaks(series, row, -1) else ""
    yield rule.found(
        seen=f"{row} {said.format(value)}{shape}.",
        value=value,
        steps=(int(steps[np.argmax(values > rule.threshold)]), int(steps[-1])),
        evidence=layer.evidence("weights"),
        layer=layer.id,
        gate=row.partition("/")[2],
        kind="weights",
        row=row,
    )


def _still_initial(layer: LayerView, part: str, row: str) -> Finding:
    shape = _shape(layer, row, -1)
    first, last = layer.steps("weights")
    plateau = " (a uniform distribution)" if shape.startswith("a plateau") else ""
    return rules.STILL_INITIAL.found(
        seen=f"{row} is still what it was at training step {first:,}: {shape}{plateau}."
        f"{_compared_with_default(layer, part, row)}",
        value=0,
        steps=(first, last),
        evidence=layer.evidence("weights"),
        layer=layer.id,
        gate=row.partition("/")[2],
        kind="weights",
        row=row,
    )


def _compared_with_default(layer: LayerView, part: str, row: str) -> str:
    """A sentence on the framework's default initialiser, if it is known."""
    usual = default_initialiser(layer.description, part)
    if usual is None:
        return ""
    if usual.limit is None:
        return f" The framework's default is {usual.name}."
    series = layer.series["weights"]
    bounds = series.bounds[-1, series.header["rows"].index(row)]
    is_default = np.abs(bounds / [-usual.limit, usual.limit] - 1).max() < NEAR_DEFAULT
    is_default &= _shape(layer, row, -1).startswith("a plateau")
    which = "That is the framework's default" if is_default else "The framework's default is"
    comma = "," if is_default else ""
    return f" {which}{comma} {usual.name} between {-usual.limit:.2g} and {usual.limit:.2g}."


def _shape(layer: LayerView, row: str, record: int) -> str:
    """The shape of one row's entries at one record, in words."""
    series = layer.series["weights"]
    at = series.header["rows"].index(row)
    mean, std = (float(layer.column("weights", row, name)[record]) for name in ("mean", "std"))
    return describe(series.histogram[record, at], series.bounds[record, at], mean, std)


def _peaks(series: StatisticsSeries, row: str, record: int) -> list[float]:
    """The peaks of one row at one record; none where there are too few entries to tell."""
    at = series.header["rows"].index(row)
    histogram, bounds = series.histogram[record, at], series.bounds[record, at]
    if histogram.sum() < ENOUGH_ENTRIES or not bounds[0] < bounds[1]:
        return []
    return peaks(histogram, bounds)


def _listed(numbers: Sequence[float]) -> str:
    *others, last = (f"{number:.3g}" for number in numbers)
    return f"{', '.join(others)} and {last}"


def _is_level(histogram: np.ndarray) -> bool:
    """Whether the outer quarters are about as full as the inner ones: a bell's are not."""
    bins = histogram[1:-1].astype(float)
    quarter = len(bins) // 4
    outer = bins[:quarter].sum() + bins[-quarter:].sum()
    return bool(outer > 0.8 * bins[quarter:-quarter].sum())
