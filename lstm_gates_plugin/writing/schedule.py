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


class Schedules:
    """One schedule for each model that is logged into one run, by the prefix of its layer ids.

    Args:
        every: see `Schedule`.

    Raises:
        ValueError: see `Schedule`.
    """

    def __init__(self, every: Every) -> None:
        self.every: Every = every
        self._schedules = {"": Schedule(every)}

    @property
    def any_done(self) -> bool:
        """Whether a record of any model was due so far."""
        return any(schedule.last is not None for schedule in self._schedules.values())

    def is_due(self, name: str, step: int) -> bool:
        """Whether a record of this model at this training step is wanted."""
        return self._of(name).is_due(step)

    def done(self, name: str, step: int) -> None:
        """A record of this model was made at this training step."""
        self._of(name).done(step)

    def check_above_last(self, name: str, step: int) -> None:
        """Refuse a step that is not above that of the model's last record.

        Raises:
            ValueError: it is not.
        """
        last = self._of(name).last
        if last is not None and step <= last:
            raise ValueError(
                f"step={step} was given to log(), but this writer's last record is at step {last}; "
                "expected a larger step: the number of optimizer updates done so far, which never "
                "starts again at an epoch."
            )

    def _of(self, name: str) -> Schedule:
        return self._schedules.setdefault(name, Schedule(self.every))
