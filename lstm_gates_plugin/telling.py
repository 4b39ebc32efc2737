"""Sentences on what cannot be shown: warnings, unless somebody else asked to be told."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable, Iterator
from contextvars import ContextVar

_listener: ContextVar[Callable[[str], None] | None] = ContextVar("listener", default=None)


def tell(sentence: str, *, stacklevel: int) -> None:
    """Warn, or tell whoever listens.

    Args:
        sentence: what cannot be shown, and why.
        stacklevel: of the warning, counted as `warnings.warn` would count at the caller.
    """
    listener = _listener.get()
    if listener is None:
        warnings.warn(sentence, stacklevel=stacklevel + 1)
    else:
        listener(sentence)


@contextlib.contextmanager
def told_to(listener: Callable[[str], None]) -> Iterator[None]:
    """Hand the sentences of the block to a function, in place of warnings."""
    before = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(before)
