"""The probe's own data beside the gates: input, target, prediction and loss of each timestep."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from lstm_gates_plugin.writing.pictures import Tracks
from lstm_gates_plugin.writing.probe import Probe


def make_tracks(probe: Probe, outputs: Any) -> Tracks:
    """What a probe and the model's outputs on it show, as far as they are single arrays.

    Args:
        probe: the probe whose inputs the model was called with.
        outputs: what the model returned, as NumPy: ``[batch, classes]`` or
            ``[batch, time, classes]`` for a prediction.
    """
    inputs = _first_array([*probe.args, *probe.kwargs.values()])
    if inputs is not None and probe.kwargs.get("time_major"):  # of a TF1 rnn op
        inputs = inputs.swapaxes(0, 1)
    target = _array(probe.target)
    classes = _array(outputs)
    if target is not None and classes is not None and target.shape == classes.shape:
        target = _most_likely(target)
    return Tracks(
        input=inputs,
        target=target,
        prediction=None if classes is None else _most_likely(classes),
        loss=_loss_of_timesteps(probe, outputs),
        time_labels=probe.time_labels,
        sample_names=probe.sample_names,
    )


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


def _most_likely(scores: np.ndarray) -> np.ndarray | None:
    """The index of the largest score of each row; a single score per row is the value itself."""
    if scores.ndim < 2:
        return scores
    return scores[..., 0] if scores.shape[-1] == 1 else scores.argmax(axis=-1)


def _loss_of_timesteps(probe: Probe, outputs: Any) -> np.ndarray | None:
    if probe.loss is None or probe.target is None:
        return None
    loss = _array(probe.loss(outputs, probe.target))
    return loss if loss is not None and loss.ndim == 2 else None
