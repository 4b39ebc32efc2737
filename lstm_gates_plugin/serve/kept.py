"""Answers that are kept until what they were made from has changed, for all routes."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

_Key = TypeVar("_Key", bound=Hashable)
_State = TypeVar("_State")
_Answer = TypeVar("_Answer")


class Kept(Generic[_Key, _State, _Answer]):
    """The answer of each key, as long as its state is the same: last steps and wall times.

    Attributes:
        most: how many answers are kept; those that were not asked for longest are dropped.
    """

    most = 1024

    def __init__(self) -> None:
        self._entries: OrderedDict[_Key, tuple[_State, _Answer]] = OrderedDict()
        self._lock = threading.Lock()

    def has(self, key: _Key, state: _State) -> bool:
        """Whether the answer of a key in this state is known."""
        with self._lock:
            return key in self._entries and self._entries[key][0] == state

    def get(self, key: _Key, state: _State, make: Callable[[], _Answer]) -> _Answer:
        """The answer of a key, made once for each state."""
        with self._lock:
            known = self._entries.get(key)
            if known and known[0] == state:
                self._entries.move_to_end(key)
                return known[1]
        answer = make()
        with self._lock:
            self._entries[key] = (state, answer)
            self._entries.move_to_end(key)
            while len(self._entries) > self.most:
                self._entries.popitem(last=False)
        return answer
