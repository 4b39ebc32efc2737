"""What a run that goes on in the same directory takes over from its earlier files."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from lstm_gates_plugin import format
from lstm_gates_plugin.reading import store
from lstm_gates_plugin.reading.files import FileSource


class Earlier(NamedTuple):
    """One layer, kind and call as its earlier files left it.

    Attributes:
        layer: the layer's description at the first record.
        entries: the fixed entries of the first record, by row name.
        basis: what they were measured on, see `records.basis`.
        units: the units of the first snapshot.
        log_calls: how many records there are before the new first step.
    """

    layer: dict[str, Any]
    entries: dict[str, np.ndarray]
    basis: int
    units: np.ndarray
    log_calls: int


def read_earlier(directory: Path, first_step: int) -> dict[format.Tag, Earlier]:
    """By the tag of its first record, everything that stays when a session starts at a step.

    Args:
        directory: where this run's event files are; it need not exist.
        first_step: what was logged from this step on is about to be replaced.
    """
    if not directory.is_dir():
        return {}
    source = FileSource(directory, below=False)
    found = {}
    for tag in source.series().get(".", {}):
        key = store.Key(".", tag.layer, tag.kind, tag.call)
        earlier = None
        if tag.stream == "first":
            earlier = _read(source, key, first_step)
        elif tag.stream == "statistics" and tag.kind not in format.PARTS:
            earlier = _read_numbers(source, key, first_step)
        if earlier:
            found[key.tag("first")] = earlier
    return found


def _read(source: FileSource, key: store.Key, first_step: int) -> Earlier | None:
    first = store.read_first(source, key)
    series = store.read_statistics(source, key)
    if not first or series is None or first["snapshot"].step >= first_step:
        return None
    return Earlier(
        layer=first["snapshot"].header["layer"],
        entries=first["entries"].arrays,
        basis=int(first["entries"].header.get("basis", 0)),
        units=np.array(first["snapshot"].header.get("units", []), int),
        log_calls=_log_calls(series, first_step),
    )


def _read_numbers(source: FileSource, key: store.Key, first_step: int) -> Earlier | None:
    """Of a kind without pictures, which has no first record."""
    series = store.read_statistics(source, key)
    if series is None:
        return None
    return Earlier(series.header["layer"], {}, 0, np.arange(0), _log_calls(series, first_step))


def _log_calls(series: store.StatisticsSeries, first_step: int) -> int:
    kept = series.record_column("log_call")[series.steps < first_step]
    return int(kept[-1]) + 1 if len(kept) else 0
