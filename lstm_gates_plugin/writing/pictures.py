"""The snapshot of one trace: whole units at exact timesteps, filled in order up to a budget."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from lstm_gates_plugin import format
from lstm_gates_plugin.gate_trace import GateTrace
from lstm_gates_plugin.measure import sampling, units

ACTIVATIONS_BUDGET = 128 * 1024
MOST_COLUMNS = 128
MOST_UNITS_MEASURED = 512
MOST_FEATURES = 32
MOST_LABEL_CHARACTERS = 40

_FLOAT16_LIMIT = 60_000
_BYTES_PER_ARRAY_NAME = 100


class Tracks(NamedTuple):
    """The probe's own data beside the gates; None where unknown.

    Arrays are ``[batch]``, ``[batch, time]`` or, for the input, ``[batch, time, features]``.
    """

    input: np.ndarray | None = None
    target: np.ndarray | None = None
    prediction: np.ndarray | None = None
    loss: np.ndarray | None = None
    time_labels: Sequence[Sequence[object]] | None = None
    sample_names: Sequence[object] | None = None
    samples: int | None = None
    """How many samples the probe has, also those that are not traced."""
    rows_are_samples: bool = True
    """False where the rows of a layer are not the probe's samples."""


def choose_units(trace: GateTrace, most: int, always: np.ndarray) -> np.ndarray:
    """The units to keep for the whole run.

    Those of the weights, then the most saturated, the most variable and the longest-remembering
    of this trace.
    """
    gates = [units.unit_statistics(values, trace.mask) for values in trace.gates.values()]
    scores = [sum(gate[2] + gate[3] for gate in gates)] if gates else []
    inner = trace.hidden_state if trace.cell_state is None else trace.cell_state
    if inner.shape[-1] == trace.layer.units:
        scores.append(units.unit_statistics(inner, trace.mask)[1])
    keep = trace.keep_factor
    if keep is not None:
        scores.append(_survival(trace, keep).timesteps)
    return units.choose_units(trace.layer.units, most, always, scores)


def activations_snapshot(
    header: dict[str, Any], trace: GateTrace, kept: np.ndarray, tracks: Tracks, max_samples: int
) -> format.Payload:
    """Per-unit numbers of all units, then whole samples, then pre-activations.

    As far as 128 KB go, but never less than one sample.

    Args:
        header: from `format.make_header`.
        trace: arrays ``[batch, time, units]``.
        kept: true indices of the units whose timesteps are kept.
        tracks: the probe's own data; its rows are those of the trace.
        max_samples: whole samples at most.
    """
    batch, timesteps = trace.mask.shape
    blocks = sampling.time_blocks(timesteps, MOST_COLUMNS)
    per_unit_header, arrays = _per_unit(trace)
    header = {
        **header,
        "record": "snapshot",
        "units": kept.tolist(),
        "hidden_units": _chosen(trace.hidden_state, kept).tolist(),
        "samples": tracks.samples or trace.rows or batch,
        "rows_match_probe": tracks.rows_are_samples,
        "timesteps": timesteps,
        "block": blocks.block,
        **per_unit_header,
    }
    samples = min(batch, max_samples)
    sequences = {
        "mask": sampling.mask_of_blocks(trace.mask[:samples], blocks).astype(np.uint8),
        **_gates_and_states(trace, samples, kept, blocks),
    }
    preactivations = {
        name: _column_means(values, trace.mask, samples, _chosen(values, kept), blocks)
        for name, values in trace.parts().items()
        if name.startswith("preactivation/")
    }
    shown = _tracks(tracks, trace.mask, samples, blocks)
    room = ACTIVATIONS_BUDGET - _bytes(arrays)
    room -= len(json.dumps(header)) + _labels_bytes(tracks, samples)
    room -= _BYTES_PER_ARRAY_NAME * (
        len(arrays) + len(sequences) + len(preactivations) + len(shown)
    )
    fitting = _fitting(room, samples, sequences | shown)
    if fitting == 0:
        shown.pop("track/input", None)
        fitting = max(min(samples, 1), _fitting(room, samples, sequences | shown))
    sequences = {name: values[:fitting] for name, values in (sequences | shown).items()}
    room -= _bytes(sequences)
    deeper = _fitting(
        room, fitting, {name: values[:fitting] for name, values in preactivations.items()}
    )
    if deeper:
        sequences |= {name: values[:deeper] for name, values in preactivations.items()}
    more = {**labels(tracks, fitting, blocks), **_features(tracks.input)}
    return format.Payload({**header, **more}, arrays | sequences)


def memory(trace: GateTrace) -> dict[str, float]:
    """How long the median unit remembers, as numbers of the record; nothing without a keep factor.

    Returns:
        ``memory``, the median over at most 512 evenly spaced units of their survival in timesteps,
        and ``memory_censored``, 1 where at least half of these had not forgotten when their
        sequences ended, so that the true median is larger, else 0.
    """
    keep = trace.keep_factor
    if keep is None:
        return {}
    measured = sampling.evenly_spaced(trace.layer.units, MOST_UNITS_MEASURED)
    remembered = _survival(trace, keep[..., measured])
    known = ~np.isnan(remembered.timesteps)
    if not known.any():
        return {}
    return {
        "memory": float(np.median(remembered.timesteps[known])),
        "memory_censored": float(remembered.censored[known].mean() >= units.HALF),
    }


def _survival(trace: GateTrace, keep: np.ndarray) -> units.Survival:
    return units.survival(keep, trace.mask, backward=trace.layer.direction == "backward")


def _per_unit(trace: GateTrace) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    measured = sampling.evenly_spaced(trace.layer.units, MOST_UNITS_MEASURED)
    rows = {
        name: values[..., measured]
        for name, values in trace.parts().items()
        if not name.startswith("preactivation/") and values.shape[-1] == trace.layer.units
    }
    numbers = [units.unit_statistics(values, trace.mask) for values in rows.values()]
    stacked = np.stack(numbers) if numbers else np.empty((0, 4, len(measured)))
    arrays = {"unit_statistics": _compact(stacked)}
    keep = trace.keep_factor
    if keep is not None:
        remembered = _survival(trace, keep[..., measured])
        arrays["survival"] = remembered.timesteps
        arrays["survival_censored"] = remembered.censored.astype(np.uint8)
    if "hidden_state" in rows:
        pairs = units.pairs_that_move_together(rows["hidden_state"], trace.mask)
        arrays["pairs"] = measured[pairs.units].astype(np.uint32)
        arrays["pair_correlation"] = pairs.correlation
        together = {"units_together": pairs.together}
    else:
        together = {}
    header = {
        **together,
        "all_units": measured.tolist(),
        "unit_rows": list(rows),
        "unit_columns": list(format.UNIT_COLUMNS),
    }
    return header, arrays


def _gates_and_states(
    trace: GateTrace, samples: int, kept: np.ndarray, blocks: sampling.TimeBlocks
) -> dict[str, np.ndarray]:
    return {
        name: _column_means(values, trace.mask, samples, _chosen(values, kept), blocks)
        for name, values in trace.parts().items()
        if not name.startswith("preactivation/")
    }


def _chosen(values: np.ndarray, kept: np.ndarray) -> np.ndarray:
    """The kept units; a projected hidden state has other, fewer components."""
    size = values.shape[-1]
    if len(kept) and kept[-1] < size:
        return kept
    return sampling.evenly_spaced(size, len(kept))


def _column_means(
    values: np.ndarray,
    mask: np.ndarray,
    samples: int,
    chosen: np.ndarray,
    blocks: sampling.TimeBlocks,
) -> np.ndarray:
    return _compact(sampling.mean_over_blocks(values[:samples, :, chosen], mask[:samples], blocks))


def _compact(values: np.ndarray) -> np.ndarray:
    """float16 where the numbers allow it, else float32, else float64."""
    finite = values[np.isfinite(values)]
    largest = float(np.abs(finite).max()) if finite.size else 0.0
    if largest <= _FLOAT16_LIMIT:
        return values.astype(np.float16)
    return values.astype(np.float32 if largest <= np.finfo(np.float32).max else np.float64)


def _fitting(room: int, samples: int, sequences: Mapping[str, np.ndarray]) -> int:
    """How many samples fit into so many bytes."""
    size = _bytes(sequences)
    if samples == 0 or size == 0:
        return 0
    return max(0, min(samples, room * samples // size))


def _bytes(arrays: Mapping[str, np.ndarray]) -> int:
    return sum(values.nbytes for values in arrays.values())


def _tracks(
    tracks: Tracks, mask: np.ndarray, samples: int, blocks: sampling.TimeBlocks
) -> dict[str, np.ndarray]:
    arrays = {}
    for name in ("input", "target", "prediction", "loss"):
        values = getattr(tracks, name)
        if values is None or not np.issubdtype(values.dtype, np.number):
            continue
        if values.ndim == 3:
            values = values[..., sampling.evenly_spaced(values.shape[-1], MOST_FEATURES)]
        values = values[:samples].astype(np.float32)
        if values.ndim >= 2 and values.shape[:2] != mask[:samples].shape:
            continue
        if values.ndim == 1:
            arrays[f"track/{name}"] = values
        elif name in ("input", "loss"):
            arrays[f"track/{name}"] = sampling.mean_over_blocks(values, mask[:samples], blocks)
        else:
            arrays[f"track/{name}"] = values[:, :: blocks.block]
    return arrays


def _features(inputs: np.ndarray | None) -> dict[str, Any]:
    """Which features of the input the track shows."""
    if inputs is None or inputs.ndim < 3:
        return {}
    count = inputs.shape[-1]
    kept = sampling.evenly_spaced(count, MOST_FEATURES).tolist()
    return {"track_features": kept, "track_features_total": count}


def labels(tracks: Tracks, samples: int, blocks: sampling.TimeBlocks) -> dict[str, Any]:
    """The names of the first samples and of their columns, as header fields."""
    names, by_time = tracks.sample_names, tracks.time_labels
    return {
        "sample_names": None if names is None else [_short(name) for name in names[:samples]],
        "time_labels": None
        if by_time is None
        else [[_short(label) for label in list(row)[:: blocks.block]] for row in by_time[:samples]],
    }


def _labels_bytes(tracks: Tracks, samples: int) -> int:
    whole = labels(tracks, samples, sampling.TimeBlocks(1, 0))
    return len(json.dumps(json.dumps(whole)))


def _short(label: object) -> str:
    text = str(label)
    cut = len(text) > MOST_LABEL_CHARACTERS
    return text[: MOST_LABEL_CHARACTERS - 1] + "…" if cut else text
