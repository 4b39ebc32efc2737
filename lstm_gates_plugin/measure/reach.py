"""How far back the error reaches: how much of a gradient is left so many timesteps earlier."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from lstm_gates_plugin.cells.back import Taken, in_reading_order
from lstm_gates_plugin.cells.through_time import carry_back
from lstm_gates_plugin.fused import Array
from lstm_gates_plugin.gate_trace import GateTrace
from lstm_gates_plugin.measure.sampling import evenly_spaced

#: Positions of each sample from which the gradient is carried back.
POSITIONS = 16

#: The error has faded where less than this share of it is left: a threshold of our own.
FADED = 0.01

#: Numbers that are held at once, at 4 bytes each.
_AT_ONCE = 2**24


class Reach(NamedTuple):
    """The share of a gradient that is left by lag.

    Attributes:
        ratios: `[lags]`, from lag 0: the median over positions of the L2 norm of the gradient by
            the hidden state, so many timesteps that were run before the position, relative to that
            at the position. Not a number where the gradient is not.
        positions: how many positions there were.
    """

    ratios: Array
    positions: int

    @property
    def timesteps(self) -> int:
        """How many timesteps back the error reaches: up to there every ratio is 0.01 or more.

        What is infinite or not a number reaches nowhere.
        """
        left = (self.ratios >= FADED) & np.isfinite(self.ratios)
        return len(left) - 1 if left.all() else max(int(left.argmin()) - 1, 0)

    @property
    def is_censored(self) -> bool:
        """Whether it reaches as far back as there are timesteps, and perhaps would go further."""
        return self.timesteps == len(self.ratios) - 1


def reach(trace: GateTrace) -> Reach | None:
    """Carry the gradient by the layer's output at single positions back through its recurrence.

    The loss may be anywhere in the sequence: each position is taken alone, so the number does not
    depend on where the loss is, as a comparison of the first timestep with the last would.

    Args:
        trace: with gradients.

    Returns:
        `None` where the loss depends on no output of the layer.
    """
    if trace.gradients is None:
        return None
    taken = Taken.of(trace)
    ran = in_reading_order(trace.layer, trace.mask)
    given = in_reading_order(trace.layer, trace.gradients.output)
    given = np.where(ran[..., None], given, 0)
    positions = _positions(given)
    if not (positions >= 0).any():
        return None
    left: list[Array] = []
    together = max(1, _AT_ONCE // given.size)
    for first in range(0, positions.shape[1], together):
        left += _left(taken, given, ran, positions[:, first : first + together])
    lags = max(map(len, left))
    medians = [np.median([row[lag] for row in left if lag < len(row)]) for lag in range(lags)]
    return Reach(np.array(medians), len(left))


def _positions(given: Array) -> Array:
    """The timesteps of the positions, `[batch, positions]`; -1 where a sample has fewer."""
    positions = np.full((given.shape[1], POSITIONS), -1)
    for sample, row in enumerate(positions):
        sizes = np.abs(given[:, sample]).max(axis=-1, initial=0)
        there = np.flatnonzero((sizes > 0) & np.isfinite(sizes))
        chosen = evenly_spaced(len(there), POSITIONS)
        row[: len(chosen)] = there[chosen]
    return positions


def _left(taken: Taken, given: Array, ran: Array, positions: Array) -> list[Array]:
    """For each position alone, the share that is left by lag."""
    samples, columns = np.nonzero(positions >= 0)
    times = positions[samples, columns]
    arriving = np.zeros((len(given), positions.shape[1], *given.shape[1:]), given.dtype)
    arriving[times, columns, samples] = given[times, samples]
    norms = np.linalg.norm(carry_back(taken, arriving).astype(np.float64), axis=-1)
    shares = []
    for t, column, sample in zip(times, columns, samples, strict=True):
        back = norms[: t + 1, column, sample][ran[: t + 1, sample]][::-1]
        with np.errstate(invalid="ignore"):
            shares.append(back / back[0])
    return shares
