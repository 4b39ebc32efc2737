"""The probe's own data beside the gates: input, target, prediction and loss of each timestep."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from lstm_gates_plugin.gate_trace import GateTrace
from lstm_gates_plugin.writing.arrays import (
    leaves,
    numbers_of,
    target_beside,
    without_gradients,
)
from lstm_gates_plugin.writing.pictures import Tracks
from lstm_gates_plugin.writing.predictions import predicted
from lstm_gates_plugin.writing.probe import Probe


def make_tracks(probe: Probe, outputs: Any) -> Tracks:
    """What a probe and the model's outputs on it show, as far as they are single arrays.

    Args:
        probe: the probe whose inputs the model was called with.
        outputs: what the model returned; see `predicted`.

    Returns:
        The tracks with their axes as the model has them; `of_trace` puts them in order.
    """
    inputs = _first_array([*probe.args, *probe.kwargs.values()])
    if inputs is not None and probe.kwargs.get("time_major"):  # of a TF1 rnn op
        inputs = inputs.swapaxes(0, 1)
    sequence = () if inputs is None else inputs.shape[:2]
    prediction, target = predicted(outputs, numbers_of(probe.target), sequence)
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
        order = functools.partial(
            _batch_first,
            rows=rows,
            timesteps=timesteps,
            input_size=size[:2],
            layer_is_batch_first=trace.batch_first,
        )
        return _of_each(tracks, rows, order)
    if rows == 1 and size[:1] == (timesteps,):
        return _of_each(tracks, 1, lambda array: array[None])
    return Tracks(samples=rows, rows_are_samples=False)


def _of_each(
    tracks: Tracks, samples: int, change: Callable[[np.ndarray], np.ndarray | None]
) -> Tracks:
    changed: dict[str, Any] = {
        name: None if getattr(tracks, name) is None else change(getattr(tracks, name))
        for name in ("input", "target", "prediction", "loss")
    }
    return tracks._replace(samples=samples, **changed)


def _batch_first(
    array: np.ndarray,
    *,
    rows: int,
    timesteps: int,
    input_size: tuple[int, ...],
    layer_is_batch_first: bool,
) -> np.ndarray | None:
    """An array with the rows first, ``None`` where it is not known which axis they are."""
    if array.ndim > 1:
        if rows == timesteps and not layer_is_batch_first and array.shape[:2] == (rows, rows):
            return None
        is_time_major = rows != timesteps and array.shape[:2] == (timesteps, rows)
        return array.swapaxes(0, 1) if is_time_major else array
    if len(array) == rows:
        return array
    if len(array) != rows * timesteps:
        return None
    # Answers in one line, as after .view(-1): in the order of the input, if that is the layer's.
    if layer_is_batch_first and input_size == (rows, timesteps):
        return array.reshape(rows, timesteps)
    if not layer_is_batch_first and rows != timesteps and input_size == (timesteps, rows):
        return array.reshape(timesteps, rows).swapaxes(0, 1)
    return None


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
        loss = numbers_of(probe.loss(outputs, target_beside(outputs, probe.target)))
    return loss if loss is not None and loss.ndim == 2 else None


def _count_samples(probe: Probe) -> int | None:
    arrays = (numbers_of(leaf) for leaf in leaves((probe.args, probe.kwargs)))
    return next((len(array) for array in arrays if array is not None), None)


def _first_array(values: Iterable[Any]) -> np.ndarray | None:
    """The first input with a batch and a time axis, also within dicts and lists of inputs."""
    for value in values:
        if isinstance(value, dict):
            array = _first_array(value.values())
        else:
            array = numbers_of(value)
            if array is None and isinstance(value, (list, tuple)):
                array = _first_array(value)
        if array is not None and array.ndim in (2, 3):
            return array
    return None
