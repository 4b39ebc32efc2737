"""The peaks of a distribution, counted on its histogram so that chance makes none."""

from __future__ import annotations

import itertools
import math

import numpy as np

SMOOTHING = np.array([1, 2, 1]) / 4
"""Over neighbouring bins, before peaks are looked for."""
UNLIKELY = 4.5
"""Standard deviations (of counts, which are Poisson) by which a peak rises over the lowest point
on the way to a higher one. Our own: tests/diagnosis/test_peaks.py."""
DEPTH = 0.4
"""The share of its height by which it does so."""
ENOUGH = 0.05
"""The share of all entries that a peak has, from one lowest point to the next."""


def peaks(histogram: np.ndarray, bounds: np.ndarray) -> list[float]:
    """Where a distribution has peaks, from left to right; not empty, if there is an entry.

    A peak is a bin of the smoothed histogram of which the prominence (how far one must come down
    from it before it goes up to a higher one) is more than chance explains.

    Args:
        histogram: ``[34]`` underflow, 32 equal bins, overflow.
        bounds: ``[2]`` ends of the bins.
    """
    counts = histogram[1:-1].astype(float)
    smooth = np.convolve(counts, SMOOTHING, mode="same")
    noise = float((SMOOTHING**2).sum())
    found = [int(np.argmax(smooth))] if counts.any() else []
    for peak, saddle in _joins(smooth):
        rise = smooth[peak] - smooth[saddle]
        by_chance = UNLIKELY * math.sqrt(noise * (smooth[peak] + smooth[saddle]))
        if rise > max(by_chance, DEPTH * smooth[peak]):
            found.append(peak)
    edges = np.linspace(bounds[0], bounds[1], len(counts) + 1)
    kept = _large_enough(sorted(found), smooth, counts, ENOUGH * histogram.sum())
    return [_round_number(float(edges[peak]), float(edges[peak + 1])) for peak in kept]


def _joins(heights: np.ndarray) -> list[tuple[int, int]]:
    """Each peak but the highest, and the highest saddle over which it joins a higher one."""
    top_of: dict[int, int] = {}
    joins = []
    for place in sorted(range(len(heights)), key=lambda at: (-heights[at], at)):
        tops = {_top(top_of, near) for near in (place - 1, place + 1) if near in top_of}
        highest = min(tops, key=lambda at: (-heights[at], at), default=place)
        top_of[place] = highest
        for lower in tops - {highest}:
            joins.append((lower, place))
            top_of[lower] = highest
    return joins


def _top(top_of: dict[int, int], place: int) -> int:
    while top_of[place] != place:
        place = top_of[place]
    return place


def _large_enough(
    found: list[int], smooth: np.ndarray, counts: np.ndarray, enough: float
) -> list[int]:
    """The peaks that have their share of the entries; the only one always."""
    if len(found) < 2:
        return found
    cuts = [
        left + int(np.argmin(smooth[left : right + 1])) for left, right in itertools.pairwise(found)
    ]
    shares = [part.sum() for part in np.split(counts, cuts)]
    return [peak for peak, share in zip(found, shares, strict=True) if share >= enough]


def _round_number(low: float, high: float) -> float:
    """The number of the fewest digits in a bin, so that a peak at 0.15 is said to be there."""
    middle = low / 2 + high / 2
    if not 0 < high - low < math.inf:
        return middle
    decimals = -math.floor(math.log10(high - low)) - 1
    candidates = (round(middle, decimals + more) for more in range(4))
    return next((one + 0.0 for one in candidates if low <= one <= high), middle)
