"""What a source holds, in order and checked: the one place where stored records become answers."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np

from lstm_gates_plugin import format
from lstm_gates_plugin.reading.source import BlobDatum, MissingError, Source


class _HasStep(Protocol):
    @property
    def step(self) -> int: ...


_Record = TypeVar("_Record", bound=_HasStep)


class Key(NamedTuple):
    """One layer, kind and call of one run."""

    run: str
    layer: str
    kind: str
    call: int = 0

    def tag(self, stream: str) -> format.Tag:
        """The tag of one of the streams ``statistics``, ``snapshots``, ``first``."""
        return format.Tag(self.layer, self.call, self.kind, stream)


class Omitted(NamedTuple):
    """A record that could not be used, and why."""

    step: int
    reason: str


@dataclass(frozen=True)
class StatisticsSeries:
    """All statistics records of one key whose rows and layer are those of the newest.

    Attributes:
        header: the newest record's header.
        steps: ``[n]`` int64, ascending.
        wall_time: ``[n]`` float64, seconds since 1970.
        statistics: ``[n, rows, columns]`` float64.
        record: ``[n, record columns]`` float64.
        histogram: ``[n, rows, 34]`` uint32.
        bounds: ``[n, rows, 2]`` float64.
        omitted: records that are corrupt, newer, or of another layer or other rows.
    """

    header: dict[str, Any]
    steps: np.ndarray
    wall_time: np.ndarray
    statistics: np.ndarray
    record: np.ndarray
    histogram: np.ndarray
    bounds: np.ndarray
    omitted: list[Omitted]

    @property
    def log_calls(self) -> int:
        """How many records were written in all, those that TensorBoard thinned out included."""
        if "log_call" not in self.header["record_columns"]:
            return len(self.steps)
        number = self.record_column("log_call")[-1]
        return int(number) + 1 if np.isfinite(number) else len(self.steps)

    def column(self, row: str, column: str) -> np.ndarray:
        """``[n]``: one statistic of one row over the steps.

        Raises:
            ValueError: there is no such row or column.
        """
        row_index = _position("row", row, self.header["rows"])
        return self.statistics[:, row_index, _position("column", column, self.header["columns"])]

    def record_column(self, name: str) -> np.ndarray:
        """``[n]``: one number of the whole record (``loss``, ``difference``) over the steps."""
        return self.record[:, _position("column", name, self.header["record_columns"])]


class Picture(NamedTuple):
    """Where one snapshot is."""

    step: int
    wall_time: float
    key: str


class Pictures(NamedTuple):
    """All snapshots of one key: ascending steps, the run's first one, and what to know of them."""

    pictures: list[Picture]
    first: Picture | None
    notes: list[str]


def last_pass(stored: Iterable[_Record]) -> list[_Record]:
    """The records that count, ascending by step.

    A step not above the one stored before it means that the run went back: everything stored from
    that step on is dropped.
    """
    kept: list[_Record] = []
    for record in stored:
        while kept and kept[-1].step >= record.step:
            kept.pop()
        kept.append(record)
    return kept


def read_statistics(source: Source, key: Key) -> StatisticsSeries | None:
    """All statistics of one key; None if there is no valid record at all."""
    records = last_pass(source.tensors(key.run, key.tag("statistics")))
    found: list[tuple[float, format.Payload]] = []
    omitted: list[Omitted] = []
    for datum in records:
        try:
            found.append((datum.wall_time, _checked(datum.data, "statistics", key, datum.step)))
        except (format.CorruptPayloadError, format.NewerVersionError) as error:
            omitted.append(Omitted(datum.step, str(error)))
    known = {datum.step for datum in records}
    found = _first_statistics(source, key, known) + found
    if not found:
        return None
    newest = found[-1][1].header
    fitting = [one for one in found if _same_layout(one[1].header, newest)]
    reason = "This record has another layer or other rows than the newest one."
    omitted += [Omitted(p.step, reason) for _, p in found if not _same_layout(p.header, newest)]
    return _stacked(newest, fitting, sorted(omitted))


def read_newest(source: Source, key: Key) -> format.Payload | None:
    """The newest statistics record of one key that can be read; None if there is none."""
    for datum in reversed(last_pass(source.tensors(key.run, key.tag("statistics")))):
        try:
            return _checked(datum.data, "statistics", key, datum.step)
        except (format.CorruptPayloadError, format.NewerVersionError):
            continue
    return None


def read_pictures(source: Source, key: Key) -> Pictures:
    """Steps and keys of all snapshots, without reading one."""
    stored = source.blobs(key.run, key.tag("snapshots"))
    kept = [datum for datum in last_pass(stored) if datum.keys]
    pictures = [Picture(datum.step, datum.wall_time, datum.keys[0]) for datum in kept]
    first = _first(source, key)
    begin = Picture(first.step, first.wall_time, first.keys[0]) if first else None
    if begin and all(begin.step < picture.step for picture in pictures):
        pictures = [begin, *pictures]
    return Pictures(pictures, begin, _notes(stored))


def read_picture(source: Source, key: str) -> format.Payload:
    """One snapshot, checked.

    Raises:
        MissingError: it is not there, or no longer.
        format.CorruptPayloadError, format.NewerVersionError: it cannot be shown.
    """
    return _checked(source.blob(key), "snapshot")


def read_first(source: Source, key: Key) -> dict[str, format.Payload]:
    """The first record of a run by item (`format.FIRST_ITEMS`); empty if missing or corrupt."""
    datum = _first(source, key)
    if datum is None:
        return {}
    try:
        return {
            name: _checked(source.blob(blob), name, key, datum.step)
            for name, blob in zip(format.FIRST_ITEMS, datum.keys, strict=True)
        }
    except (format.CorruptPayloadError, format.NewerVersionError, MissingError):
        return {}


def _first(source: Source, key: Key) -> BlobDatum | None:
    kept = last_pass(source.blobs(key.run, key.tag("first")))
    return kept[-1] if kept and len(kept[-1].keys) == len(format.FIRST_ITEMS) else None


def _first_statistics(
    source: Source, key: Key, known: set[int]
) -> list[tuple[float, format.Payload]]:
    """The run's first record, if the series itself no longer has it."""
    datum = _first(source, key)
    if datum is None or datum.step in known:
        return []
    try:
        data = source.blob(datum.keys[format.FIRST_ITEMS.index("statistics")])
        return [(datum.wall_time, _checked(data, "statistics", key, datum.step))]
    except (format.CorruptPayloadError, format.NewerVersionError, MissingError):
        return []


def _checked(
    data: bytes, record: str, key: Key | None = None, step: int | None = None
) -> format.Payload:
    """The payload, if it is what the place where it was found says."""
    payload = format.decode(data)
    header = payload.header
    found = {**header, "layer": header["layer"]["id"]}
    expected: dict[str, Any] = {"record": record}
    if key is not None:
        expected |= {"kind": key.kind, "layer": key.layer, "call": key.call, "step": step}
    for name, value in expected.items():
        if found[name] != value:
            raise format.CorruptPayloadError(
                f"The record's {name} is {found[name]!r}, but it lies where {value!r} is expected."
            )
    return payload


def _same_layout(header: dict[str, Any], other: dict[str, Any]) -> bool:
    names = ("rows", "columns", "record_columns")
    return all(header[name] == other[name] for name in names) and format.is_same_layer(
        header["layer"], other["layer"]
    )


def _stacked(
    header: dict[str, Any], found: Sequence[tuple[float, format.Payload]], omitted: list[Omitted]
) -> StatisticsSeries:
    payloads = [payload for _, payload in found]
    return StatisticsSeries(
        header=header,
        steps=np.array([payload.step for payload in payloads], np.int64),
        wall_time=np.array([wall_time for wall_time, _ in found]),
        statistics=np.stack([payload.arrays["statistics"] for payload in payloads]),
        record=np.stack([payload.arrays["record"] for payload in payloads]),
        histogram=np.stack([payload.arrays["histogram"] for payload in payloads]),
        bounds=np.stack([payload.arrays["bounds"] for payload in payloads]),
        omitted=omitted,
    )


def _notes(stored: Sequence[_HasStep]) -> list[str]:
    went_back = any(after.step <= before.step for before, after in itertools.pairwise(stored))
    if not went_back:
        return []
    return [
        "This run went back to an earlier step without a session start; with "
        "--load_fast=false TensorBoard keeps the first picture of a repeated step, not the last."
    ]


def _position(what: str, name: str, names: Sequence[str]) -> int:
    if name not in names:
        raise ValueError(f"There is no {what} {name!r}; there are: {', '.join(names)}.")
    return list(names).index(name)
