"""What a writer tells the user: one line when it starts, one warning per cause, one at the end."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from lstm_gates_plugin.writing.schedule import Every

_COLOURS = re.compile(r"\x1b\[[0-9;]*m")


class Notices:
    """Warns once per cause, and never ends the training that logs."""

    def __init__(self) -> None:
        self._told: set[str] = set()

    @contextmanager
    def training_goes_on(self, what: str) -> Iterator[None]:
        """Turn whatever is raised inside into one warning that says what could not be logged."""
        try:
            yield
        except Exception as error:
            self.warn_once(
                f"{what}: {type(error).__name__}",
                f"LSTM Gates could not log {what}, training goes on: {one_sentence(error)}",
            )

    def warn_once(self, cause: str, message: str) -> None:
        """Warn, unless this cause has been told of before."""
        if self.is_new(cause):
            warnings.warn(message, stacklevel=2)

    def is_new(self, cause: str) -> bool:
        """Whether this cause has not been told of; from now on it has."""
        new = cause not in self._told
        self._told.add(cause)
        return new


def start_line(name: str, where: str, every: Every, parts: list[str]) -> str:
    """Which parts are watched, when, and where they go."""
    when = 'every="auto": often at first, then rarely'
    if every != "auto":
        when = f"every {every} step(s)"
    what = " and ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts)
    hint = "" if parts != ["weights"] else "; give a probe to see the gates of each timestep"
    return f"LSTM Gates: watching {what} of {name}, {when}, in {where}{hint}."


def one_sentence(error: BaseException) -> str:
    """The first line of a message, without the colours of a terminal."""
    lines = [line.strip() for line in without_colours(error).splitlines() if line.strip()]
    return lines[0] if lines else type(error).__name__


def without_colours(error: BaseException) -> str:
    """A message without the colours of a terminal."""
    return _COLOURS.sub("", str(error))
