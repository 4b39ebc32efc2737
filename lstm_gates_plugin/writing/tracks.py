"""The probe's own data beside the gates: input, target, prediction and loss of each timestep."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from lstm_gates_plugin.writing.pictures import Tracks
from lstm_gates_plugin.writing.probe import Probe, leaves


def make_tracks(probe: Probe, outputs: Any) -> Tracks:
    """What a probe and the model's outputs on it show, as far as they are single arrays.

    Args:
        probe: the probe whose inputs the model was called with.
        outputs: what the model returned, as NumPy: ``[batch, classes]`` or
            ``[batch, time, classes]`` for a prediction of classes, a last axis of one for that of
            a number.
    """
    inputs = _first_array([*probe.args, *probe.kwargs.values()])
    if inputs is not None and probe.kwargs.get("time_major"):  # of a TF1 rnn op
        inputs = inputs.swapaxes(0, 1)
    target = _array(probe.target)
    scores = None if isinstance(outputs, (list, tuple)) else _array(outputs)
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


def of_rows(tracks: Tracks, rows: int | None) -> Tracks:
    """The tracks for a layer whose call had so many rows.

    Where those are not the probe's samples (a layer inside `TimeDistributed` has one row for each
    outer timestep) neither names nor tracks belong to them.
    """
    if rows is None or tracks.samples is None or rows == tracks.samples:
        return tracks
    return Tracks(samples=rows, rows_are_samples=False)


def loss_of_timesteps(probe: Probe, outputs: Any) -> np.ndarray | None:
    """``[batch, time]``, if the probe has a loss that says so much.

    Raises:
        Exception: whatever the user's own loss function raises.
    """
    if probe.loss is None or probe.target is None:
        return None
    loss = _array(probe.loss(outputs, probe.target))
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
    if value is None or isinstance(value, dict):
        return None
    try:
        array = np.asarray(value)
    except (ValueError, TypeError, NotImplementedError):  # the last for a tensor of a graph
        return None
    return array if array.ndim and np.issubdtype(array.dtype, np.number) else None
