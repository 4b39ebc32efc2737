"""Where records come from: the interface, and TensorBoard's DataProvider behind it."""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol, TypeVar

from tensorboard import errors
from tensorboard.data import provider

from lstm_gates_plugin import format

# Ingestion has thinned the series already; 0 would mean "nothing" to the provider.
_ALL = 2**31 - 1
_SCALARS_PLUGIN = "scalars"

# With 300 records of 8 KB each some 100 MB: gRPC of the data server takes 256 MB at most.
_TAGS_TOGETHER = 40

# What the data server says of a key that holds what JSON escapes; it makes such keys itself.
_UNREADABLE_KEY = "failed to parse blob key"
_ABOUT_UNREADABLE_KEYS = (
    "TensorBoard's fast data server cannot read this picture's key. It cannot where a run's name "
    "holds a double quote or a backslash: rename the run's directory, or start TensorBoard with "
    "--load_fast=false."
)

_Result = TypeVar("_Result")


class Datum(NamedTuple):
    """One stored record of a tensor series."""

    step: int
    wall_time: float
    data: bytes


class BlobDatum(NamedTuple):
    """One stored blob sequence: an opaque key for each of its items."""

    step: int
    wall_time: float
    keys: tuple[str, ...]


class Scalar(NamedTuple):
    """One value of a scalar series."""

    step: int
    wall_time: float
    value: float


class SeriesInfo(NamedTuple):
    """What is known of a series without reading it."""

    last_step: int
    last_wall_time: float


class MissingError(LookupError):
    """The run, series or blob is not there, or no longer."""


class Source(Protocol):
    """Stored records, in the order in which they were stored. Several threads may ask at once."""

    def series(self) -> dict[str, dict[format.Tag, SeriesInfo]]:
        """Every series of ours, by run."""

    def tensors(self, run: str, tag: format.Tag) -> Sequence[Datum]:
        """The records of a tensor series; empty if there is none."""

    def blobs(self, run: str, tag: format.Tag) -> Sequence[BlobDatum]:
        """The records of a blob series; empty if there is none."""

    def blob(self, key: str) -> bytes:
        """One blob.

        Raises:
            MissingError: no such blob, or TensorBoard has dropped it meanwhile.
        """

    def together(self, run: str, tags: Sequence[format.Tag]) -> Source:
        """The same source, which has read these series of a run in as few questions as it can."""


class ProviderSource:
    """TensorBoard's own data: fast loader, Python loader and remote data server alike."""

    def __init__(self, data_provider: provider.DataProvider, context: Any, experiment: str) -> None:
        self._provider = data_provider
        self._where = {"ctx": context, "experiment_id": experiment}

    def series(self) -> dict[str, dict[format.Tag, SeriesInfo]]:
        """See `Source`."""
        found: dict[str, dict[format.Tag, SeriesInfo]] = {}
        for list_series in (self._provider.list_tensors, self._provider.list_blob_sequences):
            listed = _found(list_series, **self._where, plugin_name=format.PLUGIN_NAME)
            for run, tags in listed.items():
                for text, info in tags.items():
                    tag = format.parse_tag(text)
                    if tag:
                        information = SeriesInfo(info.max_step, info.max_wall_time)
                        found.setdefault(run, {})[tag] = information
        return found

    def tensors(self, run: str, tag: format.Tag) -> list[Datum]:
        """See `Source`. An element that is not one byte string reads as an empty record."""
        data = self._read(self._provider.read_tensors, run, [str(tag)], format.PLUGIN_NAME)
        return _tensors(data.get(str(tag), []))

    def blobs(self, run: str, tag: format.Tag) -> list[BlobDatum]:
        """See `Source`."""
        data = self._read(self._provider.read_blob_sequences, run, [str(tag)], format.PLUGIN_NAME)
        return _blobs(data.get(str(tag), []))

    def blob(self, key: str) -> bytes:
        """See `Source`."""
        try:
            data = self._provider.read_blob(self._where["ctx"], blob_key=key)
        except (LookupError, ValueError, TypeError, RecursionError, errors.PublicError) as error:
            if _UNREADABLE_KEY in str(error) and _holds_escapes(key):
                raise MissingError(_ABOUT_UNREADABLE_KEYS) from error
            message = f"There is no picture under this key, or TensorBoard has dropped it: {error}"
            raise MissingError(message) from error
        if not isinstance(data, bytes):
            raise MissingError("The blob is not a byte string.")
        return data

    def together(self, run: str, tags: Sequence[format.Tag]) -> Source:
        """See `Source`. Each question to the data server takes some 45 ms, whatever it is about."""
        numbers = [tag for tag in tags if tag.stream == "statistics"]
        pictures = [tag for tag in tags if tag.stream != "statistics"]
        tensors = self._read_many(self._provider.read_tensors, run, numbers)
        blobs = self._read_many(self._provider.read_blob_sequences, run, pictures)
        return _Together(
            self,
            run,
            {tag: _tensors(data) for tag, data in tensors.items()},
            {tag: _blobs(data) for tag, data in blobs.items()},
        )

    def _read_many(
        self, read: Callable[..., Any], run: str, tags: Sequence[format.Tag]
    ) -> dict[format.Tag, Sequence[Any]]:
        """Series by tag; one that TensorBoard cannot read is as if it were empty."""
        found: dict[format.Tag, Sequence[Any]] = {}
        for first in range(0, len(tags), _TAGS_TOGETHER):
            some = tags[first : first + _TAGS_TOGETHER]
            try:
                data = self._read(read, run, [str(tag) for tag in some], format.PLUGIN_NAME)
            except Exception:  # one record that cannot be read fails the whole question
                halves = (some[: len(some) // 2], some[len(some) // 2 :])
                for half in halves if len(some) > 1 else ():
                    found |= self._read_many(read, run, half)
                data = {}
            found = {tag: data.get(str(tag), []) for tag in some} | found
        return found

    def scalar_tags(self) -> dict[str, list[str]]:
        """The tags of every scalar series of TensorBoard's own kind, by run."""
        listed = _found(self._provider.list_scalars, **self._where, plugin_name=_SCALARS_PLUGIN)
        return {run: sorted(tags) for run, tags in listed.items()}

    def scalars(self, run: str, tag: str) -> list[Scalar]:
        """The values of one scalar series, in stored order; empty if there is none."""
        data = self._read(self._provider.read_scalars, run, [tag], _SCALARS_PLUGIN)
        return [Scalar(one.step, one.wall_time, float(one.value)) for one in data.get(tag, [])]

    def _read(
        self, read: Callable[..., Any], run: str, tags: Sequence[str], plugin: str
    ) -> Mapping[str, Sequence[Any]]:
        chosen = provider.RunTagFilter(runs=[run], tags=tags)
        found = _found(
            read, **self._where, plugin_name=plugin, downsample=_ALL, run_tag_filter=chosen
        )
        return found.get(run, {})  # type: ignore[no-any-return]


class _Together(NamedTuple):
    """A source that holds some series of a run already."""

    source: Source
    run: str
    read_tensors: Mapping[format.Tag, list[Datum]]
    read_blobs: Mapping[format.Tag, list[BlobDatum]]

    def series(self) -> dict[str, dict[format.Tag, SeriesInfo]]:
        """See `Source`."""
        return self.source.series()

    def tensors(self, run: str, tag: format.Tag) -> Sequence[Datum]:
        """See `Source`."""
        known = self.read_tensors.get(tag) if run == self.run else None
        return self.source.tensors(run, tag) if known is None else known

    def blobs(self, run: str, tag: format.Tag) -> Sequence[BlobDatum]:
        """See `Source`."""
        known = self.read_blobs.get(tag) if run == self.run else None
        return self.source.blobs(run, tag) if known is None else known

    def blob(self, key: str) -> bytes:
        """See `Source`."""
        return self.source.blob(key)

    def together(self, run: str, tags: Sequence[format.Tag]) -> Source:
        """See `Source`."""
        return self.source.together(run, tags)


def _holds_escapes(key: str) -> bool:
    """Whether it is a key of the data server's own, base64 of JSON, in which a name is escaped."""
    try:
        return b"\\" in base64.urlsafe_b64decode(key + "=" * (-len(key) % 4))
    except ValueError:
        return False


def _tensors(data: Sequence[Any]) -> list[Datum]:
    return [Datum(one.step, one.wall_time, _scalar_bytes(one.numpy)) for one in data]


def _blobs(data: Sequence[Any]) -> list[BlobDatum]:
    return [
        BlobDatum(one.step, one.wall_time, tuple(value.blob_key for value in one.values))
        for one in data
    ]


def _found(read: Callable[..., dict[str, Any]], **arguments: Any) -> dict[str, Any]:
    """A run can vanish between list and read: then there is nothing, which is no error."""
    try:
        return read(**arguments)
    except errors.NotFoundError:
        return {}


def _scalar_bytes(array: Any) -> bytes:
    item = array.item() if array.size == 1 else b""
    return item if isinstance(item, bytes) else b""
