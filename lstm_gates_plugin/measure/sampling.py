"""Which units, entries and timesteps are kept: whole and exact, chosen the same way every time."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

FIXED_ENTRIES = 4096
"""Entries of each part that are kept from the first record, to measure change since the start."""

_GOLDEN_RATIO = (math.sqrt(5) - 1) / 2


def evenly_spaced(count: int, keep: int) -> np.ndarray:
    """At most ``keep`` of the indices 0 ... count-1, ascending, both ends among them."""
    if count <= keep:
        return np.arange(count)
    return np.round(np.linspace(0, count - 1, keep)).astype(int)


def fixed_entries(size: int, keep: int = FIXED_ENTRIES) -> np.ndarray:
    """At most ``keep`` distinct positions in a flat array of ``size`` entries.

    A stride near the golden section of the size spreads them over all rows and all columns of a
    matrix; evenly spaced positions would fall into the same few columns again and again.
    """
    if size <= keep:
        return np.arange(size)
    stride = round(size * _GOLDEN_RATIO)
    while math.gcd(stride, size) != 1:
        stride += 1
    return np.sort(np.arange(keep, dtype=np.int64) * stride % size)


class TimeBlocks(NamedTuple):
    """How a sequence is cut into at most so many columns.

    Attributes:
        block: timesteps in one column (the last column may have fewer); 1 if none are joined.
        columns: the number of columns.
    """

    block: int
    columns: int


def time_blocks(timesteps: int, most: int) -> TimeBlocks:
    """The smallest block with which ``timesteps`` need at most ``most`` columns."""
    block = max(1, math.ceil(timesteps / most))
    return TimeBlocks(block, math.ceil(timesteps / block))


def mean_over_blocks(values: np.ndarray, mask: np.ndarray, blocks: TimeBlocks) -> np.ndarray:
    """Means over the steps of each block that were really run, 0 where there is none.

    Args:
        values: ``[batch, time, ...]``; what masked steps hold is of no account.
        mask: ``[batch, time]``, true where the step was really run.
        blocks: from `time_blocks`.

    Returns:
        ``[batch, columns, ...]``, float32 or the dtype of ``values`` where nothing is joined.
    """
    expanded = mask.reshape(mask.shape + (1,) * (values.ndim - 2))
    kept = np.where(expanded, values, 0)
    if blocks.block == 1:
        return kept.astype(values.dtype)
    starts = np.arange(blocks.columns) * blocks.block
    sums = np.add.reduceat(kept.astype(np.float64), starts, axis=1)
    counts = np.add.reduceat(expanded.astype(np.float64), starts, axis=1)
    return (sums / np.maximum(counts, 1)).astype(np.float32)


def mask_of_blocks(mask: np.ndarray, blocks: TimeBlocks) -> np.ndarray:
    """``[batch, columns]``, true where at least one step of the block was really run."""
    if blocks.block == 1:
        return mask
    return np.logical_or.reduceat(mask, np.arange(blocks.columns) * blocks.block, axis=1)
