"""One line about a run: what its newest records say, for the table of all runs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from lstm_gates_plugin import format
from lstm_gates_plugin.reading import store
from lstm_gates_plugin.reading.source import MissingError, SeriesInfo, Source
from lstm_gates_plugin.serve.answers import json_float
from lstm_gates_plugin.serve.kept import Kept

# A bias that starts at zero has changed by all of its size after the first update.
_CHANGE_PARTS = ("kernel", "recurrent_kernel")

_State = tuple[tuple[format.Tag, SeriesInfo], ...]


class SummaryCache(Kept[str, _State, dict[str, Any]]):
    """The summary of each run."""


def summary(source: Source, run: str, cache: SummaryCache) -> dict[str, Any]:
    """The numbers of a run's newest records, over its layers; NaN where there are none.

    - ``memory``: the longest of the layers, each the timesteps until its median unit has forgotten
      half, and ``memory_is_bound`` where the sequences ended before that;
    - ``reach``: how many timesteps back the error reaches in the layer where it reaches furthest,
      and ``reach_is_bound`` where the sequences are no longer;
    - ``change``: of the layers' change since the start, ``|W - W0| / max(|W|, |W0|)`` of the
      kernel of any gate that changed most, the median;
    - ``loss``: the newest that is known.

    Raises:
        MissingError: there is no such run.
    """
    tags = source.series().get(run)
    if tags is None:
        raise MissingError(f"There is no run {run!r} with records of recurrent layers.")
    wanted = {tag: info for tag, info in sorted(tags.items()) if _counts(tag)}
    return cache.get(
        run,
        tuple(wanted.items()),
        lambda: {"run": run, **_numbers(_newest(source, run, list(wanted)))},
    )


def _counts(tag: format.Tag) -> bool:
    return tag.stream == "statistics" and tag.call == 0 and tag.kind in format.PARTS


def _newest(source: Source, run: str, tags: Sequence[format.Tag]) -> list[format.Payload]:
    source = source.together(run, tags)
    found = (
        store.read_newest(source, store.Key(run, tag.layer, tag.kind, tag.call)) for tag in tags
    )
    return [payload for payload in found if payload is not None]


def _numbers(newest: Iterable[format.Payload]) -> dict[str, Any]:
    records = list(newest)
    memory, memory_is_bound = _longest(records, "memory", "memory_censored")
    reach, limit = _longest(records, "reach", "reach_limit")
    changes = [_change(record) for record in records if record.header["kind"] == "weights"]
    known = [change for change in changes if not np.isnan(change)]
    losses = [(record.step, _record(record, "loss")) for record in records]
    losses = [(step, loss) for step, loss in losses if not np.isnan(loss)]
    return {
        "memory": json_float(memory),
        "memory_is_bound": memory_is_bound == 1,
        "reach": json_float(reach),
        "reach_is_bound": reach > 0 and reach == limit,
        "change": json_float(float(np.median(known)) if known else np.nan),
        "loss": json_float(max(losses)[1] if losses else np.nan),
    }


def _longest(records: Sequence[format.Payload], value: str, more: str) -> tuple[float, float]:
    """The largest value of all records, and what stands beside it."""
    pairs = [(_record(record, value), _record(record, more)) for record in records]
    known = [pair for pair in pairs if not np.isnan(pair[0])]
    return max(known) if known else (np.nan, np.nan)


def _record(record: format.Payload, name: str) -> float:
    names: list[str] = record.header["record_columns"]
    return float(record.arrays["record"][names.index(name)]) if name in names else np.nan


def _change(record: format.Payload) -> float:
    """The change since the start of the kernel that changed most."""
    header: Mapping[str, Any] = record.header
    if "change_since_start" not in header["columns"]:
        return np.nan
    column = record.arrays["statistics"][:, header["columns"].index("change_since_start")]
    parts = [row.partition("/")[0] in _CHANGE_PARTS for row in header["rows"]]
    known = [value for value, wanted in zip(column, parts, strict=True) if wanted]
    known = [value for value in known if not np.isnan(value)]
    return float(max(known)) if known else np.nan
