"""Numbers of single units: saturation, memory, likeness, and which units deserve a place."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from lstm_gates_plugin.measure import sampling
from lstm_gates_plugin.measure.statistics import NEARLY_CLOSED_BELOW, NEARLY_OPEN_ABOVE

HALF = 0.5
"""A unit has forgotten when less than this share of what it held is left."""

MOST_PAIRS = 32
MOVE_TOGETHER_FROM = 0.95
"""Correlation from which two units are said to move together (our own threshold)."""

_EQUAL = 1e-9


def unit_statistics(values: np.ndarray, mask: np.ndarray) -> np.ndarray:
    """Mean, std, and the shares of steps at which each unit is nearly closed and nearly open.

    Args:
        values: ``[batch, time, units]``.
        mask: ``[batch, time]``; masked steps are left out.

    Returns:
        ``[4, units]`` float64, NaN where no step was run. Saturation is by magnitude.
    """
    steps = values[mask].astype(np.float64)
    if len(steps) == 0:
        return np.full((4, values.shape[-1]), np.nan)
    magnitude = np.abs(steps)
    with np.errstate(invalid="ignore", over="ignore"):
        return np.stack(
            [
                steps.mean(axis=0),
                steps.std(axis=0),
                (magnitude < NEARLY_CLOSED_BELOW).mean(axis=0),
                (magnitude > NEARLY_OPEN_ABOVE).mean(axis=0),
            ]
        )


class Survival(NamedTuple):
    """How long units remember.

    Attributes:
        timesteps: ``[units]`` float32, median over start positions.
        censored: ``[units]`` bool, true where at least half of the starts had not forgotten when
            their sequence ended, so that the true number is larger.
    """

    timesteps: np.ndarray
    censored: np.ndarray


def survival(keep: np.ndarray, mask: np.ndarray, *, backward: bool) -> Survival:
    """Timesteps until the product of a unit's keep factors falls below one half.

    For every start position it is the number of steps until then or, if that never happens, the
    number of steps that are left; a unit's number is the median over all starts and samples.

    Args:
        keep: ``[batch, time, units]`` keep factors (LSTM forget, GRU update, MGU 1 - forget).
            Factors outside 0 ... 1, which only unusual gate functions give, count as 0 or 1.
        mask: ``[batch, time]``; a masked step carries the state on and is no timestep.
        backward: true if the layer ran from the last input to the first.
    """
    units = keep.shape[-1]
    samples = [sample[run] for sample, run in zip(keep, mask, strict=True) if run.any()]
    if not samples:
        return Survival(np.full(units, np.nan, np.float32), np.zeros(units, bool))
    spans, censored = zip(
        *(_spans(sample[::-1] if backward else sample) for sample in samples), strict=True
    )
    all_spans = np.concatenate(spans)
    share_censored = np.concatenate(censored).mean(axis=0)
    return Survival(np.median(all_spans, axis=0).astype(np.float32), share_censored >= HALF)


def _spans(keep: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Span and censoring of each start of one sample: both ``[time, units]``."""
    timesteps, units = keep.shape
    lost = -np.log(np.clip(keep.astype(np.float64), np.finfo(np.float64).tiny, 1.0))
    total = np.concatenate([np.zeros((1, units)), np.cumsum(lost, axis=0)])
    starts = np.arange(timesteps)
    spans = np.empty((timesteps, units))
    for unit in range(units):
        limits = total[:-1, unit] - np.log(HALF) + _EQUAL
        spans[:, unit] = np.searchsorted(total[:, unit], limits, side="right") - starts
    left = (timesteps - starts)[:, None]
    censored = spans > left
    spans = np.where(np.isnan(keep).any(axis=0), np.nan, np.minimum(spans, left))
    return spans, censored


class Pairs(NamedTuple):
    """Units that move together, the most alike first.

    Attributes:
        units: ``[pairs, 2]`` int, column indices of the given values.
        correlation: ``[pairs]`` float32, Pearson, -1 to 1.
        together: how many units are in any pair, also in one that is left out here.
    """

    units: np.ndarray
    correlation: np.ndarray
    together: int


def pairs_that_move_together(values: np.ndarray, mask: np.ndarray) -> Pairs:
    """At most 32 pairs of units whose values over all steps correlate by 0.95 or more.

    Args:
        values: ``[batch, time, units]``, usually the hidden state.
        mask: ``[batch, time]``; masked steps are left out.
    """
    steps = values[mask].astype(np.float32)
    if len(steps) < 3:
        return Pairs(np.empty((0, 2), int), np.empty(0, np.float32), 0)
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        centred = steps - steps.mean(axis=0)
        scaled = centred / np.linalg.norm(centred, axis=0)
    # A constant or non-finite unit moves with nobody.
    scaled = np.where(np.isfinite(scaled).all(axis=0), scaled, 0)
    correlation = np.triu(scaled.T @ scaled, k=1)
    rows, columns = np.nonzero(np.abs(correlation) >= MOVE_TOGETHER_FROM)
    order = np.argsort(-np.abs(correlation[rows, columns]), kind="stable")[:MOST_PAIRS]
    found = np.stack([rows[order], columns[order]], axis=1)
    together = len(np.union1d(rows, columns))
    return Pairs(found, correlation[found[:, 0], found[:, 1]].astype(np.float32), together)


def choose_units(
    units: int,
    most: int,
    always: np.ndarray,
    scores: list[np.ndarray],
) -> np.ndarray:
    """The units whose activations are kept for the whole run, ascending.

    Args:
        units: how many units the layer has.
        most: how many may be kept.
        always: units that should be among them (those of the weights); where they would take more
            than five eighths of the places, evenly spaced ones of them.
        scores: ``[units]`` each; the places that are left are shared out among the highest of
            each score (saturation, variability, memory), in turn.
    """
    if units <= most:
        return np.arange(units)
    share = max(1, most * 5 // 8)
    chosen = dict.fromkeys(int(unit) for unit in always[sampling.evenly_spaced(len(always), share)])
    rankings = [np.argsort(-np.nan_to_num(score, nan=-np.inf), kind="stable") for score in scores]
    for candidates in zip(*rankings, strict=True):
        for unit in candidates:
            if len(chosen) < most:
                chosen.setdefault(int(unit))
    if len(chosen) < most:
        for unit in sampling.evenly_spaced(units, most):
            if len(chosen) < most:
                chosen.setdefault(int(unit))
    return np.array(sorted(chosen))
