"""What the rules look at: the records of one run, read once and not changed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from lstm_gates_plugin import format
from lstm_gates_plugin.reading.runs import LoggedLayer, LoggedRun
from lstm_gates_plugin.reading.store import StatisticsSeries

ENOUGH_RECORDS = 3
ENOUGH_STEPS = 10
"""Records, and training steps between the first and the last, from which training is judged."""


SIDE_BY_SIDE = 16
"""Layers that are read at once: each picture is a question to the data server, which waits more
than it works."""


@dataclass(frozen=True)
class LayerView:
    """One layer's records, of one of its calls.

    Attributes:
        id: the layer's id.
        description: `RecurrentLayer.describe()` of its newest record.
        series: its statistics by kind.
        newest: its newest snapshot by kind.
        call: which call of the layer; weights are kept with the first, which is 0.
    """

    id: str
    description: Mapping[str, Any]
    series: Mapping[str, StatisticsSeries]
    newest: Mapping[str, format.Payload] = field(default_factory=dict)
    call: int = 0

    @property
    def options(self) -> Mapping[str, Any]:
        """How the layer is computed, see `RecurrentLayer.options`."""
        options: Mapping[str, Any] = self.description["options"]
        return options

    def rows(self, kind: str) -> list[str]:
        """The rows that were recorded of a kind; none if it was not recorded."""
        return list(self.series[kind].header["rows"]) if kind in self.series else []

    def column(self, kind: str, row: str, column: str) -> np.ndarray:
        """``[n]``: one statistic over the records, NaN where it is not recorded."""
        series = self.series[kind]
        if row not in series.header["rows"] or column not in series.header["columns"]:
            return np.full(len(series.steps), np.nan)
        return series.column(row, column)

    def record_column(self, kind: str, name: str) -> np.ndarray:
        """``[n]``: one number of the whole record, NaN where it is not recorded."""
        series = self.series[kind]
        if name not in series.header["record_columns"]:
            return np.full(len(series.steps), np.nan)
        return series.record_column(name)

    def steps(self, kind: str) -> tuple[int, int]:
        """The first and the last training step of a kind."""
        steps = self.series[kind].steps
        return int(steps[0]), int(steps[-1])

    def is_trained(self, kind: str) -> bool:
        """Whether there are records enough of a kind to judge how the training goes."""
        if kind not in self.series or len(self.series[kind].steps) < ENOUGH_RECORDS:
            return False
        first, last = self.steps(kind)
        return last - first >= ENOUGH_STEPS

    def evidence(self, kind: str) -> str:
        """How much there is to look at."""
        records = len(self.series[kind].steps)
        first, last = self.steps(kind)
        text = f"{records} records, training steps {first:,} to {last:,}"
        picture = self.newest.get(kind)
        if picture is None or "timesteps" not in picture.header:
            return text
        samples, timesteps = picture.header["samples"], picture.header["timesteps"]
        return f"{samples} samples x {timesteps} timesteps, {text}"

    def unit_column(self, row: str, column: str) -> np.ndarray | None:
        """``[units]``: a statistic of each unit in the newest snapshot of activations, if known."""
        picture = self.newest.get("activations")
        if picture is None or "unit_statistics" not in picture.arrays:
            return None
        rows, columns = picture.header["unit_rows"], picture.header["unit_columns"]
        if row not in rows or column not in columns:
            return None
        values = picture.arrays["unit_statistics"][rows.index(row), columns.index(column)]
        return np.asarray(values, np.float64)


@dataclass(frozen=True)
class RunView:
    """One run: its layers in the order of their ids, numbers in them counted as numbers.

    Attributes:
        name: the run's short name.
        layers: those with a readable record.
        unreadable: the ids of the others.
        later_calls: for each further call, the run as it is seen in that call alone: the layers
            that are called so often.
    """

    name: str
    layers: tuple[LayerView, ...]
    unreadable: tuple[str, ...] = ()
    later_calls: tuple[RunView, ...] = ()

    def trained(self, kind: str) -> Iterator[LayerView]:
        """The layers with records enough of a kind to be judged."""
        return (layer for layer in self.layers if layer.is_trained(kind))


def view(run: LoggedRun) -> RunView:
    """Read what the rules look at."""
    ids = sorted(run, key=_natural)
    with ThreadPoolExecutor(SIDE_BY_SIDE) as pool:
        views = dict(zip(ids, pool.map(lambda id: _layer_view(run[id]), ids), strict=True))
    layers = tuple(layer for layer in views.values() if layer is not None)
    unreadable = tuple(id for id, layer in views.items() if layer is None)
    return RunView(run.name, layers, unreadable, tuple(_later_calls(run)))


def _later_calls(run: LoggedRun) -> Iterator[RunView]:
    for call in sorted({call for layer in run.values() for call in layer.calls if call > 0}):
        layers = (_layer_view(run[id], call) for id in sorted(run, key=_natural))
        yield RunView(run.name, tuple(layer for layer in layers if layer is not None))


def _layer_view(layer: LoggedLayer, call: int = 0) -> LayerView | None:
    series: dict[str, StatisticsSeries] = {}
    newest: dict[str, format.Payload] = {}
    for kind in layer.kinds:
        try:
            series[kind] = layer.statistics(kind, call)
        except KeyError:
            continue
        picture = _newest(layer, kind, call)
        if picture is not None:
            newest[kind] = picture
    if not series:
        return None
    latest = max(series.values(), key=lambda one: int(one.steps[-1]))
    return LayerView(layer.id, latest.header["layer"], series, newest, call)


def _newest(layer: LoggedLayer, kind: str, call: int) -> format.Payload | None:
    try:
        return layer.snapshot(kind=kind, call=call)
    except (LookupError, format.CorruptPayloadError, format.NewerVersionError):
        return None


def _natural(id: str) -> list[tuple[int, str]]:
    """``lstm_10`` comes after ``lstm_2``."""
    return [(int(part), "") if part.isdigit() else (-1, part) for part in re.split(r"(\d+)", id)]
