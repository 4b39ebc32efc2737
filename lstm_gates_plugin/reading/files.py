"""Event files as a source, for reading a log directory without TensorBoard running."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from tensorboard.compat.proto import event_pb2, summary_pb2

from lstm_gates_plugin import format
from lstm_gates_plugin.event_file import read_events
from lstm_gates_plugin.reading.source import BlobDatum, Datum, MissingError, SeriesInfo

_Stored = dict[format.Tag, list[tuple[int, float, tuple[bytes, ...]]]]


class FileSource:
    """Every run under a log directory, read whole when the object is made.

    A run is a directory that holds event files; its name is its path below the log directory, as
    in TensorBoard.

    Args:
        logdir: the directory that `tensorboard --logdir` is given.
        below: whether the directories below it are runs too.

    Raises:
        ValueError: there is no such directory.
    """

    def __init__(self, logdir: Path, *, below: bool = True) -> None:
        if not logdir.is_dir():
            raise ValueError(f"{str(logdir)!r} was given as log directory, but there is none.")
        self._runs = {
            directory.relative_to(logdir).as_posix(): _read_run(paths)
            for directory, paths in _event_files(logdir, below).items()
        }
        self._blobs: dict[str, bytes] = {}
        self._numbers = itertools.count()

    def series(self) -> dict[str, dict[format.Tag, SeriesInfo]]:
        """See `Source`."""
        return {
            run: {
                tag: SeriesInfo(max(one[0] for one in data), max(one[1] for one in data))
                for tag, data in tags.items()
                if data
            }
            for run, tags in self._runs.items()
            if any(tags.values())
        }

    def together(self, run: str, tags: Sequence[format.Tag]) -> FileSource:
        """See `Source`: everything was read already."""
        return self

    def tensors(self, run: str, tag: format.Tag) -> list[Datum]:
        """See `Source`."""
        return [Datum(step, time, items[0]) for step, time, items in self._stored(run, tag)]

    def blobs(self, run: str, tag: format.Tag) -> list[BlobDatum]:
        """See `Source`."""
        return [
            BlobDatum(step, time, tuple(self._key(item) for item in items))
            for step, time, items in self._stored(run, tag)
        ]

    def blob(self, key: str) -> bytes:
        """See `Source`."""
        try:
            return self._blobs[key]
        except KeyError as error:
            raise MissingError(f"There is no blob {key!r}.") from error

    def _stored(self, run: str, tag: format.Tag) -> list[tuple[int, float, tuple[bytes, ...]]]:
        return self._runs.get(run, {}).get(tag, [])

    def _key(self, item: bytes) -> str:
        key = str(next(self._numbers))
        self._blobs[key] = item
        return key


def _event_files(logdir: Path, below: bool) -> dict[Path, list[Path]]:
    """By directory, in the order in which TensorBoard reads them; links are followed, as there."""
    found: dict[Path, list[Path]] = {}
    for directory, folders, names in os.walk(logdir, followlinks=True):
        folders.sort()
        files = [Path(directory, name) for name in sorted(names) if "tfevents" in name]
        if files:
            found[Path(directory)] = files
        if not below:
            break
    return found


def _read_run(paths: list[Path]) -> _Stored:
    stored: _Stored = {}
    for path in paths:
        for event in read_events(path):
            if event.session_log.status == event_pb2.SessionLog.START:
                _drop_from(stored, event.step)
            for tag, items in _ours(event.summary):
                stored.setdefault(tag, []).append((event.step, event.wall_time, items))
    return stored


def _drop_from(stored: _Stored, step: int) -> None:
    """A session that starts at a step replaces what was stored from that step on."""
    for tag, data in stored.items():
        stored[tag] = [one for one in data if one[0] < step]


def _ours(summary: summary_pb2.Summary) -> Iterator[tuple[format.Tag, tuple[bytes, ...]]]:
    for value in summary.value:
        if value.metadata.plugin_data.plugin_name != format.PLUGIN_NAME:
            continue
        tag = format.parse_tag(value.tag)
        if tag and value.tensor.string_val:
            yield tag, tuple(value.tensor.string_val)
