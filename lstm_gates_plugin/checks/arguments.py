"""What a model is called with, cut to some samples or to fewer timesteps."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np


def sample_count(arguments: Any, axis: int) -> int | None:
    """The number of samples in the first array of some arguments; `None` without an array."""
    for leaf in arrays(arguments):
        if len(leaf.shape) > axis:
            return int(leaf.shape[axis])
    return None


def with_samples(arguments: Any, rows: Sequence[int], count: int, axis: int) -> Any:
    """The same arguments with other samples in the places of the first, second, ... one.

    Args:
        arguments: nested in tuples, lists and mappings; an array or tensor in it is taken to hold
            the samples along `axis`, a vector along its only axis, and an array whose second of
            three axes has their number along that, as torch's initial states have.
        rows: of each place, the index of the sample.
        count: how many samples there are.
        axis: along which the arrays hold the samples.
    """

    def take(leaf: Any) -> Any:
        found = sample_axis(leaf.shape, count, axis)
        if found is None:
            return leaf
        return _indexable(leaf)[(slice(None),) * found + (list(rows),)]

    return _mapped(take, arguments)


def with_timesteps(arguments: Any, timesteps: int, all_timesteps: int, axis: int) -> Any:
    """The same arguments with the first timesteps alone.

    Args:
        arguments: see `with_samples`.
        timesteps: how many are left.
        all_timesteps: how many there are; an array without as many along `axis` is left alone.
        axis: along which the arrays hold the timesteps.
    """

    def take(leaf: Any) -> Any:
        if len(leaf.shape) <= max(axis, 1) or leaf.shape[axis] != all_timesteps:
            return leaf
        return _indexable(leaf)[(slice(None),) * axis + (slice(timesteps),)]

    return _mapped(take, arguments)


def sample_axis(shape: Sequence[int], count: int, axis: int) -> int | None:
    """Along which axis an array holds the samples; `None` if along none."""
    for candidate in (axis, 0) if len(shape) == 1 else (axis, 1 if len(shape) == 3 else axis):
        if candidate < len(shape) and shape[candidate] == count:
            return candidate
    return None


def output_axis(shape: Sequence[int], count: int, axis: int) -> int | None:
    """Along which of its first two axes an output holds the samples; `None` if along none."""
    for candidate in (axis, 0, 1):
        if candidate < len(shape) and shape[candidate] == count:
            return candidate
    return None


def arrays(value: Any) -> Iterator[Any]:
    """The arrays and tensors in a nest of tuples, lists and mappings, in their order."""
    if _is_array(value):
        yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from arrays(item)
    elif _is_sequence(value):
        for item in value:
            yield from arrays(item)


def _mapped(function: Callable[[Any], Any], value: Any) -> Any:
    if _is_array(value):
        return function(value)
    if isinstance(value, Mapping):
        return {key: _mapped(function, item) for key, item in value.items()}
    if _is_sequence(value):
        items = [_mapped(function, item) for item in value]
        return type(value)(*items) if hasattr(value, "_fields") else type(value)(items)
    return value


def _is_array(value: Any) -> bool:
    return hasattr(value, "shape") and hasattr(value, "dtype") and len(value.shape) > 0


def _is_sequence(value: Any) -> bool:
    # torch's PackedSequence is a tuple whose parts belong together.
    return isinstance(value, (list, tuple)) and not hasattr(value, "batch_sizes")


def _indexable(leaf: Any) -> Any:
    """Itself where it takes lists of indices, as torch's tensors do, else as an array of NumPy."""
    return leaf if hasattr(leaf, "index_select") else np.asarray(leaf)
