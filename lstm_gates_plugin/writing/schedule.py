"""When a log call is due, and when it also takes a picture. Pure counting, no clock."""

from __future__ import annotations

import math
from typing import Literal

Every = Literal["auto"] | int

LOG_GROWTH = 1.05
"""At most about 300 log calls in a million steps, dense early."""

SNAPSHOT_GROWTH = 1.2
"""About 45 pictures in ten thousand steps, 70 in a million."""


class Schedule:
    """Due at the first step it is asked about, at step 0, and then at growing or equal distances.

    Args:
        every: "auto", or the number of steps between two log calls.

    Raises:
        ValueError: ``every`` is neither "auto" nor a whole number of at least 1.
    """

    def __init__(self, every: Every, growth: float = LOG_GROWTH) -> None:
        if every != "auto" and (isinstance(every, bool) or not isinstance(every, int) or every < 1):
            raise ValueError(
                f'every={every!r} was given; expected "auto" or a whole number of at least 1.'
            )
        self._every = every
        self._growth = growth
        self._next = 0
        self.last: int | None = None

    def is_due(self, step: int) -> bool:
        """Whether a record at this training step is wanted."""
        return step >= self._next

    def done(self, step: int) -> None:
        """A record was made at this training step, which is now the `last` one."""
        self.last = step
        if self._every == "auto":
            self._next = max(step + 1, math.ceil(step * self._growth - 1e-9))
        else:
            self._next = step + self._every


def snapshot_schedule() -> Schedule:
    """When the pictures of one layer and kind are due."""
    return Schedule("auto", SNAPSHOT_GROWTH)
