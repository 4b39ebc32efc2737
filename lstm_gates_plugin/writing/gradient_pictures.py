"""The gradients of one trace as rows of statistics and as a snapshot. Pure: no I/O, no state."""

from __future__ import annotations

from typing import Any

import numpy as np

from lstm_gates_plugin import format
from lstm_gates_plugin.gate_trace import GateTrace
from lstm_gates_plugin.gradients import Gradients
from lstm_gates_plugin.measure import sampling
from lstm_gates_plugin.measure.reach import FADED, Reach
from lstm_gates_plugin.writing.pictures import MOST_COLUMNS, Tracks, labels

GRADIENTS_BUDGET = 32 * 1024
MOST_LAGS = 512

_HEADER_ALLOWANCE = 6 * 1024


def weight_parts(gradients: Gradients) -> dict[str, np.ndarray]:
    """The gradients of a layer's weights by row name, such as ``kernel/forget``."""
    parts: dict[str, np.ndarray] = {}
    for name in ("kernel", "recurrent_kernel", "bias", "recurrent_bias", "peephole"):
        by_gate = getattr(gradients, name) or {}
        parts |= {f"{name}/{gate}": values for gate, values in by_gate.items()}
    if gradients.projection is not None:
        parts["projection"] = gradients.projection
    return parts


def gradient_parts(gradients: Gradients, mask: np.ndarray) -> dict[str, np.ndarray]:
    """Every gradient by its row name, those of masked timesteps left out."""
    over_time = {f"preactivation/{g}": values for g, values in gradients.preactivations.items()}
    if gradients.cell_state is not None:
        over_time["cell_state"] = gradients.cell_state
    over_time |= {"hidden_state": gradients.hidden_state, "inputs": gradients.inputs}
    return {name: values[mask] for name, values in over_time.items()} | weight_parts(gradients)


def gradients_snapshot(
    header: dict[str, Any], trace: GateTrace, reach: Reach | None, tracks: Tracks, max_samples: int
) -> format.Payload:
    """Norms over units at each timestep, and how much of a gradient is left by lag.

    As many samples as fit into 32 KB, but never less than one. Over a block of timesteps the mean
    of their norms is kept.

    Args:
        header: from `format.make_header`.
        trace: with gradients.
        reach: of the trace.
        tracks: the probe's own data, for the names of samples and timesteps.
        max_samples: samples at most.
    """
    assert trace.gradients is not None
    batch, timesteps = trace.mask.shape
    blocks = sampling.time_blocks(timesteps, MOST_COLUMNS)
    norms = _norms(trace.gradients)
    lags = sampling.evenly_spaced(0 if reach is None else len(reach.ratios), MOST_LAGS)
    of_lags = {
        "reach/ratios": np.array([] if reach is None else reach.ratios[lags], np.float32),
        "reach/lags": lags.astype(np.int32),
    }
    columns = -(-timesteps // blocks.block) if timesteps else 0
    per_sample = max(1, columns * (4 * len(norms) + 1))
    room = GRADIENTS_BUDGET - _HEADER_ALLOWANCE - sum(values.nbytes for values in of_lags.values())
    samples = min(batch, max_samples, max(1, room // per_sample))
    mask = trace.mask[:samples]
    arrays: dict[str, np.ndarray] = {
        "mask": sampling.mask_of_blocks(mask, blocks).astype(np.uint8),
        **{
            f"norm/{name}": sampling.mean_over_blocks(values[:samples, :, None], mask, blocks)[
                ..., 0
            ].astype(np.float32)
            for name, values in norms.items()
        },
        **of_lags,
    }
    described: dict[str, Any] = {
        "record": "snapshot",
        "samples": tracks.samples or trace.rows or batch,
        "rows_match_probe": tracks.rows_are_samples,
        "timesteps": timesteps,
        "block": blocks.block,
        "reach": None if reach is None else _described(reach),
        "frozen": bool(trace.layer.options.get("frozen")),
        **labels(tracks, samples, blocks),
    }
    return format.Payload({**header, **described}, arrays)


def _norms(gradients: Gradients) -> dict[str, np.ndarray]:
    """By name, the L2 norm over units, `[batch, time]`."""
    vectors = {"hidden_state": gradients.hidden_state, "output": gradients.output}
    if gradients.cell_state is not None:
        vectors["cell_state"] = gradients.cell_state
    vectors |= {f"preactivation/{g}": values for g, values in gradients.preactivations.items()}
    # In float64, where no square of a float32 is infinite.
    return {
        name: np.linalg.norm(values.astype(np.float64), axis=-1) for name, values in vectors.items()
    }


def _described(reach: Reach) -> dict[str, Any]:
    return {
        "timesteps": reach.timesteps,
        "limit": len(reach.ratios) - 1,
        "positions": reach.positions,
        "threshold": FADED,
    }
