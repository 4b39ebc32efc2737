"""The probe's own data beside the gates: input, target, prediction and loss of each timestep."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from lstm_gates_plugin.gate_trace import GateTrace
from lstm_gates_plugin.writing.arrays import (
    is_packed,
    leaves,
    padded_rows,
    target_beside,
    to_numpy,
    without_gradients,
)
from lstm_gates_plugin.writing.pictures import Tracks
from lstm_gates_plugin.writing.probe import Probe


def make_tracks(probe: Probe, outputs: Any) -> Tracks:
    """What a probe and the model's outputs on it show, as far as they are single arrays.

    Args:
        probe: the probe whose inputs the model was called with.
        outputs: what the model returned: ``[batch, classes]`` or ``[batch, time, classes]`` for a
            prediction of classes, a last axis of one for that of a number.

    Returns:
        The tracks with their axes as the model has them; `of_trace` puts them in order.
    """
    inputs = _first_array([*probe.args, *probe.kwargs.values()])
    if inputs is not None and probe.kwargs.get("time_major"):  # of a TF1 rnn op
        inputs = inputs.swapaxes(0, 1)
    target = _array(probe.target)
    is_single = is_packed(outputs) or not isinstance(outputs, (list, tuple))
    scores = _array(outputs) if is_single else None
    prediction = None
    if scores is not None and _are_classes(scores, target):
        prediction = scores.argmax(axis=-1)
        if target is not None and target.shape == scores.shape:
            target = target.argmax(axis=-1)
    elif scores is not None and (scores.ndim < 2 or scores.shape[-1] == 1):
        prediction = scores if scores.ndim < 2 else scores[..., 0]
    return Tracks(
        input=inputs,
        target=target,
        prediction=prediction,
        time_labels=probe.time_labels,
        sample_names=probe.sample_names,
        samples=_count_samples(probe) if inputs is None else len(inputs),
    )


def of_trace(tracks: Tracks, trace: GateTrace) -> Tracks:
    """The tracks for the rows of one trace, ``[batch, time, ...]``.

    A model of torch may take ``[time, batch, ...]``, or a single sample without a batch axis.
    Where the rows of a layer are not the probe's samples (a layer inside `TimeDistributed` has one
    row for each outer timestep) neither names nor tracks belong to them.
    """
    rows, timesteps = trace.rows, trace.mask.shape[1]
    if rows is None or tracks.samples is None:
        return tracks
    size = () if tracks.input is None else tracks.input.shape
    if rows == tracks.samples or size[:2] == (timesteps, rows):
        batch_first = functools.partial(_batch_first, rows=rows, timesteps=timesteps)
        return _of_each(tracks, rows, batch_first)
    if rows == 1 and size[:1] == (timesteps,):
        return _of_each(tracks, 1, lambda array: array[None])
    return Tracks(samples=rows, rows_are_samples=False)


def _of_each(tracks: Tracks, samples: int, change: Callable[[np.ndarray], np.ndarray]) -> Tracks:
    changed: dict[str, Any] = {
        name: None if getattr(tracks, name) is None else change(getattr(tracks, name))
        for name in ("input", "target", "prediction", "loss")
    }
    return tracks._replace(samples=samples, **changed)


def _batch_first(array: np.ndarray, rows: int, timesteps: int) -> np.ndarray:
    is_time_major = rows != timesteps and array.shape[:2] == (timesteps, rows)
    return array.swapaxes(0, 1) if is_time_major else array


def loss_of_timesteps(probe: Probe, outputs: Any) -> np.ndarray | None:
    """``[batch, time]``, or as the model has them, if the probe has a loss that says so much.

    Args:
        probe: the probe, with its loss and its target.
        outputs: what the model returned, as the loss takes it.

    Raises:
        Exception: whatever the user's own loss function raises.
    """
    if not callable(probe.loss) or probe.target is None:
        return None
    with without_gradients():
        loss = _array(probe.loss(outputs, target_beside(outputs, probe.target)))
    return loss if loss is not None and loss.ndim == 2 else None


def _are_classes(scores: np.ndarray, target: np.ndarray | None) -> bool:
    """Whether the last axis holds the scores of classes, as far as the target or they tell."""
    if scores.ndim < 2 or scores.shape[-1] == 1:
        return False
    if target is None:
        return bool(np.allclose(scores.sum(axis=-1), 1, atol=1e-3) and (scores >= 0).all())
    if target.shape == scores.shape:
        return bool(np.isin(target, (0, 1)).all() and (target.sum(axis=-1) == 1).all())
    return np.issubdtype(target.dtype, np.integer) or bool((target == np.round(target)).all())


def _count_samples(probe: Probe) -> int | None:
    arrays = (_array(leaf) for leaf in leaves((probe.args, probe.kwargs)))
    return next((len(array) for array in arrays if array is not None), None)


def _first_array(values: Iterable[Any]) -> np.ndarray | None:
    """The first input with a batch and a time axis, also within dicts and lists of inputs."""
    for value in values:
        if isinstance(value, dict):
            array = _first_array(value.values())
        else:
            array = _array(value)
            if array is None and isinstance(value, (list, tuple)):
                array = _first_array(value)
        if array is not None and array.ndim in (2, 3):
            return array
    return None


def _array(value: Any) -> np.ndarray | None:
    """The value as an array of numbers, None if it is none: a tensor of a graph, several arrays."""
    if value is None or isinstance(value, dict):
        return None
    try:
        array = padded_rows(value) if is_packed(value) else to_numpy(value)
    except (ValueError, TypeError, NotImplementedError):
        return None
    return array if array.ndim and np.issubdtype(array.dtype, np.number) else None
