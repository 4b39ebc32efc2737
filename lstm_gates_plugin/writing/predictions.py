"""What a model predicts of a probe, as far as the shapes of its outputs and of the target say."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np

from lstm_gates_plugin.writing.arrays import is_packed, numbers_of


class Prediction(NamedTuple):
    """A prediction and the target beside it, as numbers or as classes: one for each answer."""

    prediction: np.ndarray | None
    target: np.ndarray | None


def predicted(outputs: Any, target: np.ndarray | None, sequence: tuple[int, ...]) -> Prediction:
    """The prediction in what a model returned: the first array in it that fits the target.

    Without a target, the outputs are one if they are a single array: of numbers, or of
    probabilities on the last axis.

    Args:
        outputs: what the model returned.
        target: the right answers, if they are known: numbers, classes, or one-hot.
        sequence: the first two axes of the model's input, batch and time in its own order.
    """
    if target is None:
        scores = None if _is_nest(outputs) else numbers_of(outputs)
        return Prediction(None if scores is None else _by_itself(scores), None)
    for leaf in _leaves(outputs):
        scores = numbers_of(leaf)
        found = None if scores is None else _beside(scores, target, sequence, _is_of_torch(leaf))
        if found is not None:
            return found
    return Prediction(None, target)


def _by_itself(scores: np.ndarray) -> np.ndarray | None:
    if scores.ndim < 2:
        return scores
    if scores.shape[-1] == 1:
        return scores[..., 0]
    return scores.argmax(axis=-1) if _are_probabilities(scores, -1) else None


def _beside(
    scores: np.ndarray, target: np.ndarray, sequence: tuple[int, ...], is_of_torch: bool
) -> Prediction | None:
    """What some scores predict, `None` where they do not fit the target."""
    if scores.shape == target.shape:
        return _of_same_shape(scores, target, sequence)
    if scores.shape == (*target.shape, 1):
        return Prediction(scores[..., 0], target)
    if target.shape == (*scores.shape, 1):
        return Prediction(scores, target[..., 0])
    if not (target == np.round(target)).all():
        return None
    if target.ndim > 1 and scores.ndim == 2 and len(scores) == target.size:  # .view(-1, classes)
        return Prediction(scores.argmax(axis=-1).reshape(target.shape), target)
    axis = _axis_of_classes(scores, target, is_of_torch)
    return None if axis is None else Prediction(scores.argmax(axis=axis), target)


def _of_same_shape(
    scores: np.ndarray, target: np.ndarray, sequence: tuple[int, ...]
) -> Prediction | None:
    if scores.ndim < 2:
        return Prediction(scores, target)
    if scores.shape[-1] == 1:
        return Prediction(scores[..., 0], target[..., 0])
    is_number_of_each_timestep = scores.shape == sequence
    is_one_hot = bool(np.isin(target, (0, 1)).all() and (target.sum(axis=-1) == 1).all())
    if is_one_hot and (not is_number_of_each_timestep or _are_probabilities(scores, -1)):
        return Prediction(scores.argmax(axis=-1), target.argmax(axis=-1))
    return Prediction(scores, target) if is_number_of_each_timestep else None


def _axis_of_classes(scores: np.ndarray, target: np.ndarray, is_of_torch: bool) -> int | None:
    """The axis without which scores have the shape of the target; `None` if that is not one axis.

    Where there are as many classes as timesteps, both fit: torch has classes second, as its losses
    take them, or last, and the other frameworks have them last.
    """
    last = scores.ndim - 1
    fitting = [
        axis
        for axis in sorted({1, last})
        if scores.ndim > 1 and scores.shape[:axis] + scores.shape[axis + 1 :] == target.shape
    ]
    if len(fitting) > 1 and is_of_torch:
        fitting = [axis for axis in fitting if _are_probabilities(scores, axis)]
    if not fitting or (len(fitting) > 1 and is_of_torch):
        return None
    return fitting[-1]


def _are_probabilities(scores: np.ndarray, axis: int) -> bool:
    return bool(np.allclose(scores.sum(axis=axis), 1, atol=1e-3) and (scores >= 0).all())


def _is_nest(value: Any) -> bool:
    return isinstance(value, (list, tuple, Mapping)) and not is_packed(value)


def _leaves(value: Any) -> Iterable[Any]:
    """What is in nested outputs, in the order of the model."""
    if not _is_nest(value):
        yield value
        return
    for item in value.values() if isinstance(value, Mapping) else value:
        yield from _leaves(item)


def _is_of_torch(value: Any) -> bool:
    return is_packed(value) or hasattr(value, "detach")
