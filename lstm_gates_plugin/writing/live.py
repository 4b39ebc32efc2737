"""Which writer of this process has which log directory: one directory has one writer."""

from __future__ import annotations

import os
import weakref
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lstm_gates_plugin.writing.writer import GateWriter

_live: weakref.WeakValueDictionary[Path, GateWriter] = weakref.WeakValueDictionary()


def live_writer(logdir: str | os.PathLike[str]) -> GateWriter | None:
    """The writer of this process that has this log directory now, if there is one."""
    return _live.get(Path(logdir).resolve())


def take(logdir: str | os.PathLike[str], writer: GateWriter) -> None:
    """Take a run's directory; a writer that rests there is closed.

    Raises:
        ValueError: a writer that does not rest has it.
    """
    earlier = live_writer(logdir)
    if earlier is not None and not earlier.is_resting:
        raise ValueError(
            f"Another live GateWriter of this process already writes to {str(logdir)!r}; use that "
            "one, close() it first, or give another directory."
        )
    if earlier is not None:
        earlier.close()
    _live[Path(logdir).resolve()] = writer


def leave(writer: GateWriter) -> None:
    """Let go of the log directory that a writer has, if it has one."""
    for logdir in [key for key, owner in _live.items() if owner is writer]:
        del _live[logdir]
