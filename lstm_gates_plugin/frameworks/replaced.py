"""Attributes of an object that are others for a while."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any


@contextlib.contextmanager
def replaced_attributes(owner: Any, **attributes: Any) -> Iterator[None]:
    """Put attributes into an object's own `__dict__`, to the end of the block.

    That goes past `__setattr__`, with which frameworks look for layers and weights to track.
    """
    mine = vars(owner)
    before = {name: mine[name] for name in attributes if name in mine}
    mine.update(attributes)
    try:
        yield
    finally:
        for name in attributes:
            del mine[name]
        mine.update(before)


@contextlib.contextmanager
def replaced_method(
    cls: type, name: str, replace: Callable[[Callable[..., Any]], Callable[..., Any]]
) -> Iterator[None]:
    """Replace a method of a class, to the end of the block, by one that is made of it."""
    before = vars(cls).get(name)
    setattr(cls, name, replace(getattr(cls, name)))
    try:
        yield
    finally:
        if before is None:  # it is a base's
            delattr(cls, name)
        else:
            setattr(cls, name, before)
