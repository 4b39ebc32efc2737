"""What was compiled for an object, kept as long as the object lives, and no longer."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Hashable
from typing import Any, Generic, TypeVar

T = TypeVar("T")

#: How much is kept for one object: the newest.
MOST = 4


class Kept(Generic[T]):
    """Values by object and key. A value must not refer to its object, or both would stay."""

    def __init__(self) -> None:
        self._by_owner: weakref.WeakKeyDictionary[Any, dict[Hashable, T | None]] = (
            weakref.WeakKeyDictionary()
        )

    def get(self, owner: Any, key: Hashable, make: Callable[[], T]) -> T | None:
        """The value of that key, made where there is none.

        Returns:
            `None` where making it went wrong earlier.

        Raises:
            Exception: what `make` raises, the first time.
        """
        kept = self._by_owner.setdefault(owner, {})
        if key not in kept:
            while len(kept) >= MOST:
                del kept[next(iter(kept))]
            kept[key] = None
            kept[key] = make()
        return kept[key]

    def keys(self, owner: Any) -> list[Hashable]:
        """What is kept for an object."""
        return list(self._by_owner.get(owner, {}))
