"""Attributes of an object that are others for a while."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
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
