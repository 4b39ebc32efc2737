"""Numbers and histogram of one array: counts, moments, percentiles, saturation, change, norms."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from lstm_gates_plugin.format import HISTOGRAM_BINS

ROBUST_RANGE = (0.001, 0.999)
"""The share of finite values between the histogram's bounds; the rest is under- or overflow."""

NEARLY_CLOSED_BELOW = 0.1
NEARLY_OPEN_ABOVE = 0.9
"""Left- and right-saturated gates, after Karpathy, Johnson and Fei-Fei 2015 (arXiv 1506.02078)."""

PERCENTILES = (1, 5, 25, 50, 75, 95, 99)

_EXACT_SPECTRAL_NORM_UP_TO = 128
_LANCZOS_STEPS = 40
_LANCZOS_TOLERANCE = 1e-3
_SAFE_TO_SQUARE = (1e-140, 1e140)


class Distribution(NamedTuple):
    """What `distribution` says of one array.

    Attributes:
        numbers: count, nan, positive_infinite, negative_infinite, zero (entries); min, max, mean,
            std, norm and percentiles p1 ... p99 of the finite entries, NaN if there is none.
        histogram: ``[34]`` counts of finite entries: underflow, 32 equal bins, overflow. All
            entries of a constant are in the first bin.
        bounds: ``[2]`` the lower end of the first and the upper end of the last bin; equal for a
            constant, NaN if there is no finite entry.
    """

    numbers: dict[str, float]
    histogram: np.ndarray
    bounds: np.ndarray


def distribution(values: np.ndarray) -> Distribution:
    """Numbers and histogram of all entries of an array of any shape, also an empty one."""
    flat = np.ravel(values)
    finite = flat[np.isfinite(flat)]
    ordered = np.sort(finite).astype(np.float64)
    numbers = {
        "count": float(flat.size),
        **_special_values(flat, finite.size),
        "zero": float(finite.size - np.count_nonzero(finite)),
        **_moments(ordered),
        **_percentiles(ordered),
    }
    histogram, bounds = _histogram(ordered)
    return Distribution(numbers, histogram, bounds)


def _special_values(flat: np.ndarray, finite: int) -> dict[str, float]:
    special = flat[~np.isfinite(flat)] if finite < flat.size else flat[:0]
    return {
        "nan": float(np.count_nonzero(np.isnan(special))),
        "positive_infinite": float(np.count_nonzero(special == np.inf)),
        "negative_infinite": float(np.count_nonzero(special == -np.inf)),
    }


def _moments(ordered: np.ndarray) -> dict[str, float]:
    if ordered.size == 0:
        return dict.fromkeys(("min", "max", "mean", "std", "norm"), float("nan"))
    low, high = float(ordered[0]), float(ordered[-1])
    scale = max(abs(low), abs(high))
    if not _SAFE_TO_SQUARE[0] < scale < _SAFE_TO_SQUARE[1]:
        scale = scale or 1.0
        ordered = ordered / scale
    else:
        scale = 1.0
    mean = float(ordered.mean())
    centred = ordered - mean
    return {
        "min": low,
        "max": high,
        "mean": mean * scale,
        "std": float(np.sqrt(centred @ centred / centred.size)) * scale if low < high else 0.0,
        "norm": float(np.sqrt(ordered @ ordered)) * scale,
    }


def _percentiles(ordered: np.ndarray) -> dict[str, float]:
    """Linear interpolation between the two nearest ranks, as `numpy.percentile` does."""
    if ordered.size == 0:
        return {f"p{percent}": float("nan") for percent in PERCENTILES}
    ranks = np.array(PERCENTILES) / 100 * (ordered.size - 1)
    below = np.floor(ranks).astype(int)
    share = ranks - below
    values = ordered[below] * (1 - share) + ordered[np.ceil(ranks).astype(int)] * share
    return {f"p{percent}": float(value) for percent, value in zip(PERCENTILES, values, strict=True)}


def _histogram(ordered: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    counts = np.zeros(HISTOGRAM_BINS + 2, np.uint32)
    if ordered.size == 0:
        return counts, np.full(2, np.nan)
    low = ordered[int(np.floor(ROBUST_RANGE[0] * (ordered.size - 1)))]
    high = ordered[int(np.ceil(ROBUST_RANGE[1] * (ordered.size - 1)))]
    fractions = np.linspace(0, 1, HISTOGRAM_BINS + 1)
    # Not low + f (high - low): the difference of two finite numbers can overflow.
    inner = (low * (1 - fractions) + high * fractions)[1:-1] if low < high else np.empty(0)
    first = np.searchsorted(ordered, low, side="left")
    last = np.searchsorted(ordered, high, side="right")
    # Between neighbouring floats the edges may be rounded past each other.
    inner = np.maximum.accumulate(np.clip(inner, low, high))
    edges = np.concatenate([[first], np.searchsorted(ordered, inner, side="left"), [last]])
    counts[0] = first
    counts[1 : len(edges)] = np.diff(edges)
    counts[-1] = ordered.size - last
    return counts, np.array([low, high])


def saturation(values: np.ndarray) -> dict[str, float]:
    """Shares of the entries that are nearly closed and nearly open, 0 to 1; NaN if there is none.

    By magnitude, so that a gate with a sign (candidate, hidden state) is nearly open at both of
    its limits. NaN entries count as neither.
    """
    magnitude = np.abs(values[~np.isnan(values)])
    if magnitude.size == 0:
        return {"nearly_closed": float("nan"), "nearly_open": float("nan")}
    return {
        "nearly_closed": float(np.mean(magnitude < NEARLY_CLOSED_BELOW)),
        "nearly_open": float(np.mean(magnitude > NEARLY_OPEN_ABOVE)),
    }


def change(before: np.ndarray, after: np.ndarray) -> tuple[float, float]:
    """How far ``after`` is from ``before``: (relative, largest absolute).

    Relative is ||after - before|| / max(||before||, ||after||), 0 if both are 0: symmetric, and
    at most 2. Both are NaN where an entry is not finite.
    """
    before = before.astype(np.float64)
    after = after.astype(np.float64)
    if before.size == 0 or not (np.isfinite(before).all() and np.isfinite(after).all()):
        return float("nan"), float("nan")
    largest = max(np.abs(before).max(), np.abs(after).max()) or 1.0
    before, after = before / largest, after / largest
    norm = max(np.linalg.norm(before), np.linalg.norm(after)) or 1.0
    difference = after - before
    return float(np.linalg.norm(difference) / norm), float(np.abs(difference).max() * largest)


def spectral_norm(matrix: np.ndarray) -> float:
    """The largest singular value, to about three digits; NaN if an entry is not finite.

    Exact up to 128 rows or columns, else by Golub-Kahan-Lanczos bidiagonalisation (Golub and
    Kahan 1965), which needs some twenty products where power iteration needs hundreds.
    """
    if matrix.size == 0 or not np.isfinite(matrix).all():
        return float("nan")
    largest = float(max(matrix.max(), -matrix.min())) or 1.0
    scaled = np.asarray(matrix / largest, np.float32 if matrix.dtype != np.float64 else np.float64)
    if min(scaled.shape) <= _EXACT_SPECTRAL_NORM_UP_TO:
        return float(np.linalg.norm(scaled, 2)) * largest
    return _bidiagonalised_norm(scaled) * largest


def _bidiagonalised_norm(matrix: np.ndarray) -> float:
    right = np.random.default_rng(0).standard_normal(matrix.shape[1:]).astype(matrix.dtype)
    right /= np.linalg.norm(right)
    left = np.zeros(matrix.shape[0], matrix.dtype)
    diagonal: list[float] = []
    above: list[float] = []
    beta = value = 0.0
    for _ in range(_LANCZOS_STEPS):
        left = matrix @ right - beta * left
        diagonal.append(float(np.linalg.norm(left)))
        previous, value = value, float(np.linalg.norm(np.diag(diagonal) + np.diag(above, 1), 2))
        if diagonal[-1] == 0 or abs(value - previous) <= _LANCZOS_TOLERANCE * value:
            break
        left /= diagonal[-1]
        right = left @ matrix - diagonal[-1] * right
        beta = float(np.linalg.norm(right))
        if beta == 0:
            break
        right /= beta
        above.append(beta)
    return value
