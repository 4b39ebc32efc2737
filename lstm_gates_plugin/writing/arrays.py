"""Tensors of any framework as NumPy arrays, without importing one."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterable
from typing import Any

import numpy as np


def leaves(value: Any) -> Iterable[Any]:
    """The arrays in nested dicts, lists and tuples, in a fixed order."""
    if isinstance(value, dict):
        value = [item for _, item in sorted(value.items(), key=lambda pair: str(pair[0]))]
    if isinstance(value, (list, tuple)):
        for item in value:
            yield from leaves(item)
    elif value is not None:
        yield value


def to_numpy(value: Any) -> np.ndarray:
    """An array or tensor as NumPy, from any device, also if it requires gradients.

    bfloat16, which NumPy does not have, becomes float32. What is on the CPU may share memory.

    Raises:
        Exception: whatever the framework raises where a tensor has no values.
    """
    if not (hasattr(value, "detach") and hasattr(value, "cpu")):  # torch's own names
        array = np.asarray(value)
        return array.astype(np.float32) if array.dtype.name == "bfloat16" else array
    tensor = value.detach().cpu()
    array = (tensor.float() if "bfloat16" in str(tensor.dtype) else tensor).numpy(force=True)
    return np.asarray(array)


def is_packed(value: Any) -> bool:
    """Whether a value is torch's `PackedSequence`."""
    return hasattr(value, "batch_sizes") and hasattr(value, "unsorted_indices")


def padded_rows(packed: Any) -> np.ndarray:
    """A `PackedSequence` as ``[batch, time, ...]`` in the caller's order of rows, padded with 0."""
    data, sizes = to_numpy(packed.data), to_numpy(packed.batch_sizes)
    rows = np.zeros((sizes[0], len(sizes), *data.shape[1:]), data.dtype)
    ends = np.cumsum(sizes)
    for time, (size, end) in enumerate(zip(sizes, ends, strict=True)):
        rows[:size, time] = data[end - size : end]
    order = packed.unsorted_indices
    return rows if order is None else rows[to_numpy(order)]


def numbers_of(value: Any) -> np.ndarray | None:
    """The value as an array of numbers, None if it is none: a tensor of a graph, several arrays."""
    if value is None or isinstance(value, dict):
        return None
    try:
        array = padded_rows(value) if is_packed(value) else to_numpy(value)
    except (ValueError, TypeError, NotImplementedError):
        return None
    return array if array.ndim and np.issubdtype(array.dtype, np.number) else None


def target_beside(outputs: Any, target: Any) -> Any:
    """The target as a loss takes it: beside torch's outputs a tensor on their device."""
    torch = sys.modules.get("torch")
    if torch is None or not isinstance(target, (np.ndarray, torch.Tensor)):
        return target
    devices = [leaf.device for leaf in leaves(outputs) if isinstance(leaf, torch.Tensor)]
    return torch.as_tensor(target, device=devices[0]) if devices else target


def without_gradients() -> contextlib.AbstractContextManager[Any]:
    """Where torch is in the process, nothing in the block is recorded for a backward pass."""
    torch = sys.modules.get("torch")
    return torch.no_grad() if torch is not None else contextlib.nullcontext()


def mean(tensor: Any) -> Any:
    """The mean of a tensor, as a tensor of its own framework; a single number as it is."""
    if len(getattr(tensor, "shape", ())) == 0:
        return tensor
    # A tensor of TensorFlow has no such method.
    return (
        tensor.mean() if hasattr(tensor, "mean") else sys.modules["tensorflow"].reduce_mean(tensor)
    )
