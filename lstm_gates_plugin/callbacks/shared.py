"""One writer for all callbacks of a process that log into the same directory."""

from __future__ import annotations

import os
import weakref
from typing import Any

from lstm_gates_plugin.writing.writer import GateWriter, live_writer

_users: weakref.WeakKeyDictionary[GateWriter, int] = weakref.WeakKeyDictionary()


def acquire(log_dir: str | os.PathLike[str], **options: Any) -> GateWriter:
    """The live writer of this directory, or a new one.

    Args:
        log_dir: the run's directory.
        **options: of `GateWriter`, for a new one.

    Raises:
        ValueError: see `GateWriter`.
    """
    writer = live_writer(log_dir)
    if writer is None:
        writer = GateWriter(log_dir, **options)
        _users[writer] = 0
    if writer in _users:
        _users[writer] += 1
    return writer


def release(writer: GateWriter) -> None:
    """Close the writer when its last callback is done; a user's own writer stays open."""
    if writer not in _users:
        return
    _users[writer] -= 1
    if _users[writer] == 0:
        del _users[writer]
        writer.close()
