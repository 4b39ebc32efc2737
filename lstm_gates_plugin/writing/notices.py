"""What a writer tells the user: one line when it starts, one warning per cause, one at the end."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from lstm_gates_plugin.writing.schedule import Every

_COLOURS = re.compile(r"\x1b\[[0-9;]*m")


# A number in a sentence, and none that is part of a name.
_NUMBER = re.compile(r"(?<![\w'\"/.#-])[-+]?\d[\w.+-]*")


class Notices:
    """Warns once per cause, and never ends the training that logs."""

    def __init__(self) -> None:
        self._told: dict[str, set[str]] = {}
        self._of: dict[str, Notices] = {}

    def of(self, name: str) -> Notices:
        """The notices of one of several models, whose causes are its own."""
        return self if not name else self._of.setdefault(name, Notices())

    @contextmanager
    def training_goes_on(self, what: str) -> Iterator[None]:
        """Turn whatever is raised inside into one warning that says what could not be logged.

        Once that succeeds, what stood in its way is forgotten, and is told again if it comes back.
        """
        try:
            yield
        except Exception as error:
            sentence = one_sentence(error)
            if self._is_new(what, f"{type(error).__name__} {_NUMBER.sub('0', sentence)}"):
                _warn(f"LSTM Gates could not log {what}, training goes on: {sentence}")
        else:
            self._told.pop(what, None)

    def tell_once(self, sentence: str) -> None:
        """Warn, unless the same was said before, if with other numbers."""
        self.warn_once(_NUMBER.sub("0", sentence), sentence)

    def warn_once(self, cause: str, message: str) -> None:
        """Warn, unless this cause has been told of before."""
        if self.is_new(cause):
            _warn(message)

    def is_new(self, cause: str) -> bool:
        """Whether this cause has not been told of; from now on it has."""
        return self._is_new("", cause)

    def _is_new(self, what: str, cause: str) -> bool:
        told = self._told.setdefault(what, set())
        new = cause not in told
        told.add(cause)
        return new


def _warn(message: str) -> None:
    # A registry of its own: Python would keep silent where the same cause comes back.
    line = _warn.__code__.co_firstlineno
    warnings.warn_explicit(message, UserWarning, __file__, line, __name__, registry={})


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
