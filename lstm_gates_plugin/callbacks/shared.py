"""One writer for all callbacks of a process that log into the same directory."""

from __future__ import annotations

import os
import weakref
from typing import Any

from lstm_gates_plugin.writing.live import live_writer
from lstm_gates_plugin.writing.writer import GateWriter

# By writer, the callbacks that log into it, each under the prefix of its layer ids.
_users: weakref.WeakKeyDictionary[GateWriter, dict[str, weakref.ref[Any]]] = (
    weakref.WeakKeyDictionary()
)


def acquire(
    log_dir: str | os.PathLike[str], name: str, callback: object, **options: Any
) -> GateWriter:
    """The writer of this directory, or a new one.

    A second callback under the same name would log the same layers: it is another training, whose
    records replace those of the first from its own first step on. So it gets a new writer, also
    where the first training was interrupted and never ended.

    Args:
        log_dir: the run's directory.
        name: the prefix of the callback's layer ids.
        callback: who asks.
        **options: of `GateWriter`, for a new one.

    Raises:
        ValueError: see `GateWriter`.
    """
    writer = live_writer(log_dir)
    if writer is not None and writer in _users:
        earlier = _users[writer].get(name)
        if earlier is not None and earlier() is not callback:
            writer.close()
            writer = None
    if writer is None:
        writer = GateWriter(log_dir, **options)
        _users[writer] = {}
    if writer in _users:
        _users[writer][name] = weakref.ref(callback)
    return writer


def acquire_anew(
    log_dir: str | os.PathLike[str], name: str, callback: object, **options: Any
) -> GateWriter:
    """As `acquire`, for a training whose steps may begin again or go on: one after the other.

    A writer that rests is not taken up again but closed. The new one replaces what was logged from
    its own first step on.
    """
    writer = live_writer(log_dir)
    if writer is not None and writer.is_resting:
        writer.close()
    return acquire(log_dir, name, callback, **options)


def rest(writer: GateWriter) -> None:
    """A training has ended: what waits is written; the same callback may train on.

    A user's own writer is left alone.

    Raises:
        OSError: it cannot be written.
    """
    if writer in _users:
        writer.rest()
