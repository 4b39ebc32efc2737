"""From a layer or a trace to the records on disk. Pure: no I/O, no state."""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from lstm_gates_plugin import format
from lstm_gates_plugin.layer import RecurrentLayer
from lstm_gates_plugin.measure import sampling, statistics

WEIGHTS_BUDGET = 64 * 1024
GRID = 40
"""Inputs and units in a weights snapshot of a layer that is too large to be stored whole."""

_WHOLE_UP_TO_UNITS = 64
_HEADER_ALLOWANCE = 3 * 1024

Entries = Mapping[str, np.ndarray]


def run_steps_only(parts: Entries, mask: np.ndarray) -> dict[str, np.ndarray]:
    """The same parts as ``[steps, units]``, without the masked steps."""
    return {name: values[mask] for name, values in parts.items()}


def entries(parts: Entries) -> dict[str, np.ndarray]:
    """Up to 4,096 fixed entries of each part: enough to measure change by."""
    return {
        name: np.ravel(values)[sampling.fixed_entries(values.size)].astype(_exact_dtype(values))
        for name, values in parts.items()
    }


def statistics_record(
    header: dict[str, Any],
    parts: Entries,
    now: Entries,
    record: Mapping[str, float],
    start: Entries | None,
    previous: Entries | None,
) -> format.Payload:
    """The statistics and the histogram of every part.

    Args:
        header: from `format.make_header`.
        parts: arrays by row name, without masked steps.
        now: `entries` of these parts.
        record: values of `format.RECORD_COLUMNS` that are known.
        start: `entries` of the first record of this layer and kind, None if they were measured on
            something else.
        previous: `entries` of the record before, likewise; None for the first one of a writer.
    """
    measured = {name: statistics.distribution(values) for name, values in parts.items()}
    rows = [
        {
            **measured[name].numbers,
            **(_saturation(name, values) if header["kind"] == "activations" else {}),
            **_change("start", start.get(name) if start else None, now[name]),
            **_change("previous", previous.get(name) if previous else None, now[name]),
            **(_spectral_norm(name, values) if header["kind"] == "weights" else {}),
        }
        for name, values in parts.items()
    ]
    arrays = {
        "statistics": np.array(
            [[row.get(name, np.nan) for name in format.COLUMNS] for row in rows]
        ),
        "record": np.array([record.get(name, np.nan) for name in format.RECORD_COLUMNS], float),
        "histogram": np.stack([one.histogram for one in measured.values()]),
        "bounds": np.stack([one.bounds for one in measured.values()]),
    }
    names = {
        "rows": list(parts),
        "columns": list(format.COLUMNS),
        "record_columns": list(format.RECORD_COLUMNS),
    }
    return format.Payload({**header, "record": "statistics", **names}, arrays)


def entries_record(header: dict[str, Any], now: Entries, basis: int) -> format.Payload:
    """The record of the fixed entries, from which a resumed run measures change.

    `basis` says on what they were measured: entries of another basis are not compared.
    """
    return format.Payload({**header, "record": "entries", "basis": basis}, dict(now))


def basis(mask: np.ndarray, probe_hash: float | None) -> int:
    """What the entries of activations are measured on: the probe, and which timesteps were run."""
    return zlib.crc32(np.packbits(mask).tobytes(), zlib.crc32(f"{mask.shape}{probe_hash}".encode()))


def weights_units(layer: RecurrentLayer) -> np.ndarray:
    """The units whose weights are in the snapshots: all where the layer is small, else 40."""
    return sampling.evenly_spaced(layer.units, layer.units if _is_whole(layer) else GRID)


def weights_snapshot(header: dict[str, Any], layer: RecurrentLayer) -> format.Payload:
    """Exact entries of the weights, at most 64 KB.

    All of them where the layer is small; else those at 40 inputs and 40 units, or at fewer where
    an unknown cell has too many weights for that.
    """
    most = None if _is_whole(layer) else GRID
    while True:
        payload = _grid(header, layer, most)
        size = sum(values.nbytes for values in payload.arrays.values())
        if most is None or most == 1 or size <= WEIGHTS_BUDGET - _HEADER_ALLOWANCE:
            return payload
        most = most * 3 // 4


def _grid(header: dict[str, Any], layer: RecurrentLayer, most: int | None) -> format.Payload:
    units = _kept(layer.units, most)
    inputs = _kept(layer.input_size, most)
    recurrent = _kept(layer.recurrent_size, most)
    chosen = {
        "kernel": (inputs, units),
        "recurrent_kernel": (recurrent, units),
        "projection": (units, recurrent),
    }
    arrays = {}
    for name, values in layer.parts().items():
        kind = name.split("/")[0]
        axes: Sequence[np.ndarray] = chosen.get(kind, (units,))
        if kind == "weights":
            axes = [_kept(size, most) for size in values.shape]
        arrays[name] = _exact(values[np.ix_(*axes)] if axes else values)
    indices = {"units": units, "inputs": inputs, "recurrent_inputs": recurrent}
    lists = {name: values.tolist() for name, values in indices.items()}
    return format.Payload({**header, "record": "snapshot", **lists}, arrays)


def _is_whole(layer: RecurrentLayer) -> bool:
    size = sum(values.size for values in layer.parts().values()) * np.float32().itemsize
    return layer.units <= _WHOLE_UP_TO_UNITS and size <= WEIGHTS_BUDGET - _HEADER_ALLOWANCE


def _kept(count: int, most: int | None) -> np.ndarray:
    return sampling.evenly_spaced(count, count if most is None else most)


def _exact(values: np.ndarray) -> np.ndarray:
    """float32, or float64 where a finite number would become infinite."""
    with np.errstate(over="ignore"):
        single = values.astype(np.float32)
    return values if (np.isinf(single) & np.isfinite(values)).any() else single


def _exact_dtype(values: np.ndarray) -> type:
    return np.float64 if values.dtype == np.float64 else np.float32


def _saturation(name: str, values: np.ndarray) -> dict[str, float]:
    bounded = name.startswith("activation/") or name == "hidden_state"
    return statistics.saturation(values) if bounded else {}


def _change(since: str, before: np.ndarray | None, now: np.ndarray) -> dict[str, float]:
    if before is None or before.shape != now.shape:
        return {}
    relative, largest = statistics.change(before, now)
    return {f"change_since_{since}": relative, f"max_change_since_{since}": largest}


def _spectral_norm(name: str, values: np.ndarray) -> dict[str, float]:
    """Of recurrent kernels alone: they are what is applied again at every timestep."""
    is_recurrent = name.startswith("recurrent_kernel/")
    return {"spectral_norm": statistics.spectral_norm(values)} if is_recurrent else {}
