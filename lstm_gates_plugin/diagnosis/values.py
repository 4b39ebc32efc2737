"""Rules on the values themselves: not finite, too large for float16, a state that runs away."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from lstm_gates_plugin import format
from lstm_gates_plugin.diagnosis.finding import Finding
from lstm_gates_plugin.diagnosis.rules import values as rules
from lstm_gates_plugin.diagnosis.run_view import LayerView, RunView

GROWN = 10.0
"""How many times its first magnitude a state must be to have run away."""

_OF_UPDATES = "training_gradients"
_NOT_FINITE = ("nan", "positive_infinite", "negative_infinite")
_BOUNDED = ("tanh", "sigmoid", "hard_sigmoid", "softsign")


def not_finite(run: RunView) -> Iterator[Finding]:
    """The first row of each layer that was not finite, and since which step."""
    for layer in run.layers:
        found = [
            (int(np.argmax(counts > 0)), kind, row, counts)
            for kind in layer.series
            for row in layer.rows(kind)
            if ((counts := _lost(layer, kind, row)) > 0).any()
        ]
        if not found:
            continue
        at, kind, row, counts = min(found, key=lambda one: int(layer.series[one[1]].steps[one[0]]))
        steps = layer.series[kind].steps
        step, last = int(steps[at]), int(steps[np.flatnonzero(counts > 0)[-1]])
        yield rules.NOT_FINITE.found(
            seen=f"{row} ({kind}) holds {int(counts[at]):,} values that are not finite from "
            f"training step {step:,} on.",
            value=counts[at],
            steps=(step, last),
            evidence=layer.evidence(kind),
            layer=layer.id,
            gate=row.partition("/")[2] or None,
            kind=kind,
            row=row,
            title=f"has values that are not finite since training step {step:,}",
        )


def skipped_update(run: RunView) -> Iterator[Finding]:
    """Layers whose gradients were not finite, and whose weights were not given them."""
    for layer in run.layers:
        rows = layer.rows(_OF_UPDATES)
        counts = {
            row: _not_finite(layer, _OF_UPDATES, row) - _lost(layer, _OF_UPDATES, row)
            for row in rows
        }
        skipped = np.any([one > 0 for one in counts.values()], axis=0)
        if not np.any(skipped):
            continue
        steps = layer.series[_OF_UPDATES].steps[skipped]
        row = next(row for row in rows if counts[row][skipped][0] > 0)
        more = f", and at {len(steps) - 1} of the records after it" if len(steps) > 1 else ""
        yield rules.SKIPPED_UPDATE.found(
            seen=f"The gradient of {row} was not finite at training step {int(steps[0]):,}{more}.",
            value=len(steps),
            steps=(int(steps[0]), int(steps[-1])),
            evidence=layer.evidence(_OF_UPDATES),
            layer=layer.id,
            gate=row.partition("/")[2],
            kind=_OF_UPDATES,
            row=row,
        )


def near_float16_limit(run: RunView) -> Iterator[Finding]:
    """The row of each float16 layer with the largest finite magnitude, if that is too large."""
    rule = rules.FLOAT16_LIMIT
    for layer in run.layers:
        if "float16" not in (layer.options.get("compute_dtype"), layer.options.get("dtype")):
            continue
        found = [
            (float(magnitudes[-1]), kind, row)
            for kind in format.PARTS
            for row in layer.rows(kind)
            if (magnitudes := _magnitude(layer, kind, row))[-1] > rule.threshold
        ]
        if not found:
            continue
        value, kind, row = max(found)
        first, last = _stretch(layer, kind, _magnitude(layer, kind, row) > rule.threshold)
        yield rule.found(
            seen=f"{row} reaches {value:,.0f}, and the largest float16 is 65,504.",
            value=value,
            steps=(first, last),
            evidence=layer.evidence(kind),
            layer=layer.id,
            gate=row.partition("/")[2] or None,
            kind=kind,
            row=row,
        )


def runaway_state(run: RunView) -> Iterator[Finding]:
    """Cell states, and hidden states without a limit, that have grown far beyond their start."""
    for layer in run.trained("activations"):
        rows = layer.rows("activations")
        row = "cell_state" if "cell_state" in rows else "hidden_state"
        if row not in rows or (row == "hidden_state" and _is_bounded(layer)):
            continue
        magnitudes = _magnitude(layer, "activations", row)
        high = (magnitudes > rules.RUNAWAY_STATE.threshold) & (magnitudes > GROWN * magnitudes[0])
        if not high[-1]:
            continue
        first, last = _stretch(layer, "activations", high)
        rule = rules.COUNTS if _is_count(layer, magnitudes[-1]) else rules.RUNAWAY_STATE
        yield rule.found(
            seen=f"The {row.replace('_', ' ')} reaches {magnitudes[-1]:,.4g}; it was "
            f"{magnitudes[0]:.3g} at the first record.",
            value=magnitudes[-1],
            steps=(first, last),
            evidence=layer.evidence("activations"),
            layer=layer.id,
            gate=None,
            kind="activations",
            row=row,
        )


def _not_finite(layer: LayerView, kind: str, row: str) -> np.ndarray:
    counts = [np.nan_to_num(layer.column(kind, row, name)) for name in _NOT_FINITE]
    return np.asarray(np.sum(counts, axis=0))


def _lost(layer: LayerView, kind: str, row: str) -> np.ndarray:
    """As `_not_finite`, but 0 for a gradient that may not have been given to the weights."""
    counts = _not_finite(layer, kind, row)
    return counts if kind != _OF_UPDATES else np.where(_were_made(layer), counts, 0)


def _were_made(layer: LayerView) -> np.ndarray:
    """``[n]``: whether an update by a gradient that is not finite was made.

    It was where nothing finite was recorded since; of the newest record alone nothing is known.
    """
    good = _is_finite(layer, _OF_UPDATES)
    steps = layer.series[_OF_UPDATES].steps
    after = [(steps, good)]
    if "weights" in layer.series:
        after.append((layer.series["weights"].steps, _is_finite(layer, "weights")))
    finite = max((int(one[is_good][-1]) for one, is_good in after if is_good.any()), default=-1)
    made = ~good & (steps >= finite)
    is_newest = made.sum() == 1 and all(steps[made][0] >= one[-1] for one, _ in after)
    if is_newest and all(is_good[-1] for _, is_good in after[1:]):
        made[:] = False
    return np.asarray(made)


def _is_finite(layer: LayerView, kind: str) -> np.ndarray:
    """``[n]``: whether all rows of a kind are finite at each record."""
    return np.asarray(np.sum([_not_finite(layer, kind, row) for row in layer.rows(kind)], 0) == 0)


def _magnitude(layer: LayerView, kind: str, row: str) -> np.ndarray:
    low, high = layer.column(kind, row, "min"), layer.column(kind, row, "max")
    return np.asarray(np.maximum(np.abs(low), np.abs(high)))


def _is_count(layer: LayerView, magnitude: float) -> bool:
    """Whether adding at most 1 at each timestep can have made a state so large."""
    picture = layer.newest.get("activations")
    return picture is not None and _is_bounded(layer) and magnitude <= picture.header["timesteps"]


def _is_bounded(layer: LayerView) -> bool:
    return layer.options.get("activation", "tanh") in _BOUNDED


def _stretch(layer: LayerView, kind: str, seen: np.ndarray) -> tuple[int, int]:
    """The training steps of the last unbroken stretch of records in which it was seen."""
    steps = layer.series[kind].steps
    missing = np.flatnonzero(~seen)
    return int(steps[missing[-1] + 1 if len(missing) else 0]), int(steps[-1])
