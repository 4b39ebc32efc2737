"""The answers of the routes: pure functions from a source to JSON values or payload bytes."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from lstm_gates_plugin import format
from lstm_gates_plugin.reading import store
from lstm_gates_plugin.reading.runs import short_name
from lstm_gates_plugin.reading.source import MissingError, ProviderSource, SeriesInfo, Source
from lstm_gates_plugin.serve.kept import Kept


class Tiles(NamedTuple):
    """Which numbers of a kind are told of every gate: those columns of the rows of these parts."""

    parts: tuple[str, ...]
    columns: tuple[str, ...]


TILES: Mapping[str, Tiles] = {
    "activations": Tiles(("activation",), ("nearly_open", "nearly_closed")),
    "weights": Tiles(("kernel", "recurrent_kernel", "bias"), ("change_since_start",)),
    "gradients": Tiles(("preactivation",), ("norm",)),
    "training_gradients": Tiles(("kernel", "recurrent_kernel", "bias"), ("norm",)),
}
LAYER_COLUMNS: Mapping[str, tuple[str, ...]] = {
    "activations": ("memory", "memory_censored"),
    "gradients": ("reach", "reach_limit"),
}
"""Numbers of the layer as a whole, beside those of its gates; the writer's record columns."""
NOT_FINITE = ("nan", "positive_infinite", "negative_infinite")
TILE_DIGITS = 6
"""Significant digits of a tile's numbers: 300 layers at 200 steps are many numbers."""


def runs(source: ProviderSource) -> dict[str, Any]:
    """Every run of ours: its layers, kinds and calls, its last step, the scalars beside it."""
    scalar_tags = source.scalar_tags()
    listed = [
        {
            "run": run,
            "name": short_name(run),
            "last_step": max(info.last_step for info in tags.values()),
            "last_wall_time": max(info.last_wall_time for info in tags.values()),
            "layers": _layers(tags),
            "scalars": _sibling_scalars(run, scalar_tags),
        }
        for run, tags in sorted(source.series().items())
    ]
    return {"runs": listed}


def _layers(tags: Mapping[format.Tag, SeriesInfo]) -> list[dict[str, Any]]:
    layers: dict[str, dict[str, dict[str, Any]]] = {}
    for tag, info in sorted(tags.items()):
        kind = layers.setdefault(tag.layer, {}).setdefault(tag.kind, {"last_step": 0, "calls": []})
        kind["last_step"] = max(kind["last_step"], info.last_step)
        if tag.call not in kind["calls"]:
            kind["calls"].append(tag.call)
    return [{"id": layer, "kinds": kinds} for layer, kinds in layers.items()]


def _sibling_scalars(run: str, tags: Mapping[str, list[str]]) -> list[dict[str, str]]:
    """Scalars of the run's parent directory and of all runs below it."""
    parent = short_name(run)
    beside = [
        other
        for other in sorted(tags)
        if parent == "." or other == parent or other.startswith(parent + "/")
    ]
    return [{"run": other, "tag": tag} for other in beside for tag in tags[other]]


class LayerHealth(NamedTuple):
    """What the health of a run says of one layer and kind."""

    layer: dict[str, Any]
    tiles: dict[str, Any]
    loss: dict[int, list[Any]]


class HealthCache(Kept[store.Key, SeriesInfo, LayerHealth | None]):
    """The health of each layer and kind; None where there is no valid record."""

    most = 4096


def health(source: Source, run: str, cache: HealthCache) -> dict[str, Any]:
    """Layers of a run with their description and tile values over steps, and the run's loss.

    Raises:
        MissingError: there is no such run.
    """
    tags = source.series().get(run)
    if tags is None:
        raise MissingError(f"There is no run {run!r} with records of recurrent layers.")
    layers: dict[str, dict[str, Any]] = {}
    loss: dict[int, list[Any]] = {}
    keys = {
        store.Key(run, tag.layer, tag.kind): info
        for tag, info in sorted(tags.items())
        if tag.stream == "statistics" and tag.call == 0
    }
    unknown = [key for key, info in keys.items() if not cache.has(key, info)]
    wanted = [key.tag(stream) for key in unknown for stream in ("statistics", "first")]
    source = source.together(run, wanted)
    for key, info in keys.items():
        found = cache.get(key, info, partial(_read_health, source, key))
        if found is None:
            continue
        layer = layers.setdefault(key.layer, {"layer": found.layer, "kinds": {}})
        layer["kinds"][key.kind] = found.tiles
        loss |= found.loss
    ordered = [loss[step] for step in sorted(loss)]
    return {"run": run, "layers": list(layers.values()), "loss": ordered}


def _read_health(source: Source, key: store.Key) -> LayerHealth | None:
    series = store.read_statistics(source, key)
    return None if series is None else _layer_health(series)


def _layer_health(series: store.StatisticsSeries) -> LayerHealth:
    kind = series.header["kind"]
    records = {
        name: json_floats(series.record_column(name))
        for name in LAYER_COLUMNS.get(kind, ())
        if name in series.header["record_columns"]
    }
    tiles = {
        "call": 0,
        "steps": series.steps.tolist(),
        **records,
        "rows": {
            row: _tile(series, row, TILES[kind].columns)
            for row in series.header["rows"]
            if row.partition("/")[0] in TILES[kind].parts
        },
    }
    return LayerHealth(series.header["layer"], tiles, _loss(series))


def _tile(
    series: store.StatisticsSeries, row: str, columns: tuple[str, ...]
) -> dict[str, list[float | str]]:
    """The columns of one row over steps, and how many entries are NaN or infinite, if any are."""
    known = series.header["columns"]
    tile = {
        name: json_floats(_rounded(series.column(row, name))) for name in columns if name in known
    }
    special = [series.column(row, name) for name in NOT_FINITE if name in known]
    if special and np.any(special):
        tile["not_finite"] = json_floats(np.sum(special, axis=0))
    return tile


def _rounded(values: np.ndarray) -> np.ndarray:
    return np.array([float(f"{value:.{TILE_DIGITS}g}") for value in values.tolist()])


def _loss(series: store.StatisticsSeries) -> dict[int, list[Any]]:
    if "loss" not in series.header["record_columns"]:
        return {}
    losses = series.record_column("loss")
    known = ~np.isnan(losses)
    return {
        int(step): [int(step), float(wall_time), json_float(loss)]
        for step, wall_time, loss in zip(
            series.steps[known], series.wall_time[known], losses[known], strict=True
        )
    }


def scalars(source: ProviderSource, run: str, tag: str) -> list[list[Any]]:
    """``[[step, wall time, value]]`` of one scalar series, ascending.

    Raises:
        MissingError: there is no such series.
    """
    values = store.last_pass(source.scalars(run, tag))
    if not values:
        raise MissingError(f"There is no scalar {tag!r} in the run {run!r}.")
    return [[one.step, one.wall_time, json_float(one.value)] for one in values]


def statistics(source: Source, key: store.Key) -> bytes:
    """All steps of one layer, kind and call, stacked.

    Raises:
        MissingError: there is no such series, or no valid record in it.
    """
    series = store.read_statistics(source, key)
    if series is None:
        raise MissingError(_nothing(key))
    header = {
        **series.header,
        "record": "statistics_series",
        "log_calls": series.log_calls,
        "omitted": [one._asdict() for one in series.omitted],
    }
    names = ("steps", "wall_time", "statistics", "record", "histogram", "bounds")
    return format.encode(format.Payload(header, {name: getattr(series, name) for name in names}))


def snapshots(source: Source, key: store.Key) -> dict[str, Any]:
    """Steps and opaque keys of the snapshots of one layer, kind and call.

    Raises:
        MissingError: there is none.
    """
    found = store.read_pictures(source, key)
    if not found.pictures:
        raise MissingError(_nothing(key))
    return {
        "snapshots": [picture._asdict() for picture in found.pictures],
        "first": found.first._asdict() if found.first else None,
        "notes": found.notes,
    }


def snapshot(source: Source, key: str) -> bytes:
    """The bytes of one snapshot, checked.

    Raises:
        MissingError: there is none under this key, TensorBoard has dropped it meanwhile, or it is
            corrupt or newer than this installation.
    """
    try:
        return format.encode(store.read_picture(source, key))
    except (format.CorruptPayloadError, format.NewerVersionError) as error:
        raise MissingError(f"This picture cannot be shown. {error}") from error


def json_float(value: float) -> float | str:
    """The number, or ``"NaN"``, ``"Infinity"``, ``"-Infinity"``, which strict JSON lacks."""
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    return float(value)


def json_floats(values: np.ndarray) -> list[float | str]:
    """`json_float` of every value."""
    return [json_float(value) for value in values.tolist()]


def _nothing(key: store.Key) -> str:
    return (
        f"The run {key.run!r} has no readable {key.kind} of the layer {key.layer!r}, "
        f"call {key.call}."
    )
