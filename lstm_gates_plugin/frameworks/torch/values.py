"""PyTorch: nested arguments as tensors on the model's device, and tensors as NumPy arrays."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Callable, Mapping, MutableMapping, MutableSequence
from typing import Any

import numpy as np
import torch
from torch.nn.utils.rnn import PackedSequence

from lstm_gates_plugin.fused import Array


def to_array(tensor: Any) -> Array:
    """A copy of a tensor in NumPy, which has no bfloat16: that becomes float32."""
    tensor = tensor.detach()
    if tensor.is_quantized:
        tensor = tensor.dequantize()
    if tensor.layout != torch.strided:
        tensor = tensor.to_dense()
    if tensor.is_floating_point() and tensor.dtype not in (torch.float64, torch.float16):
        tensor = tensor.to(torch.float32)
    array: Array = np.array(tensor.cpu().resolve_conj().resolve_neg().numpy())
    return array


def copied(tensor: Any) -> Any:
    """A copy that can be written to as the tensor can, and through which nothing reaches that.

    It requires gradients where the tensor does, and no gradient goes on to the tensor, or to what
    that was made of.
    """
    copy = tensor.detach().clone()
    if not tensor.requires_grad:
        return copy
    copy.requires_grad_()
    return copy if tensor.is_leaf else copy.clone()


def to_model(model: Any, value: Any) -> Any:
    """What a model is called with: tensors where the model is, and in place of arrays.

    Arrays of floating point numbers get the type of the model's first parameter, unless another one
    has theirs. Tensors that are elsewhere move to the model, unless others are there already: then
    they are elsewhere on purpose, as the lengths that `pack_padded_sequence` takes from the CPU
    alone.

    Args:
        model: the module, whose first parameter says where the model is.
        value: arguments, nested in tuples, lists, dicts, their subclasses, and dataclasses.
    """
    parameters = [each for each in model.parameters() if not each.is_meta]
    devices = [each.device for each in parameters]
    floating = [each.dtype for each in parameters if each.is_floating_point()]
    given: set[Any] = set()
    _walked(lambda leaf: given.add(_device(leaf)) if _is_tensor(leaf) else None, value)
    moves = bool(devices) and not given & set(devices)

    def convert(value: Any) -> Any:
        if isinstance(value, (np.ndarray, np.generic)):
            tensor = torch.tensor(value)
            is_other = tensor.is_floating_point() and tensor.dtype not in floating
            dtype = floating[0] if floating and is_other else tensor.dtype
            return tensor.to(devices[0] if devices else tensor.device, dtype)
        return value.to(devices[0]) if moves and _is_tensor(value) else value

    return _walked(convert, value)


def copied_arguments(value: Any) -> Any:
    """The same arguments with copies of all tensors, so that a model may write into what it gets.

    What is one tensor stays one.
    """
    copies: dict[int, Any] = {}

    def copy(leaf: Any) -> Any:
        if isinstance(leaf, PackedSequence):
            return leaf._replace(data=copy(leaf.data))
        if not isinstance(leaf, torch.Tensor):
            return leaf
        if id(leaf) not in copies:
            copies[id(leaf)] = copied(leaf)
        return copies[id(leaf)]

    return _walked(copy, value)


def mapped(function: Callable[[Any], Any], value: Any) -> Any:
    """The same nest of tuples, lists and dicts with a function of each tensor, in a fixed order.

    Anything else, such as an object of the user's own class, is left as it is.
    """
    if isinstance(value, PackedSequence):
        return value._replace(data=function(value.data))
    if isinstance(value, torch.Tensor):
        return function(value)
    if type(value) is dict:
        return {key: mapped(function, item) for key, item in value.items()}
    if type(value) in (list, tuple) or hasattr(value, "_fields"):
        return _rebuilt(lambda item: mapped(function, item), value)
    return value


def _walked(convert: Callable[[Any], Any], value: Any) -> Any:
    """The same nest with a function of all that is not nested; each object keeps its class."""

    def inner(item: Any) -> Any:
        return _walked(convert, item)

    if _is_tensor(value) or isinstance(value, (str, bytes, range, np.ndarray)):
        return convert(value)
    if type(value) is dict:
        return {key: inner(item) for key, item in value.items()}
    if type(value) is list or isinstance(value, tuple):
        return _rebuilt(inner, value)
    items = _items(value)
    return convert(value) if items is None else _reassigned(value, items, inner)


def _items(value: Any) -> Mapping[Any, Any] | None:
    """What an object of a class of its own holds, by key, index or field."""
    if isinstance(value, MutableMapping):
        return dict(value.items())
    if isinstance(value, MutableSequence):
        return dict(enumerate(value))
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        names = [field.name for field in dataclasses.fields(value)]
        return {name: getattr(value, name) for name in names if hasattr(value, name)}
    return None


def _reassigned(value: Any, items: Mapping[Any, Any], convert: Callable[[Any], Any]) -> Any:
    """A copy of an object that holds converted items; itself where that cannot be copied."""
    try:
        changed = copy.copy(value)
    except Exception:  # whatever the user's class raises
        return value
    is_container = isinstance(value, (MutableMapping, MutableSequence))
    for key, item in items.items():
        if is_container:
            changed[key] = convert(item)
        else:
            object.__setattr__(changed, key, convert(item))  # it may be frozen
    return changed


def _rebuilt(convert: Callable[[Any], Any], value: Any) -> Any:
    """A list or tuple of converted items."""
    items = list(map(convert, value))
    return type(value)(*items) if hasattr(value, "_fields") else type(value)(items)


def _is_tensor(value: Any) -> bool:
    return isinstance(value, (torch.Tensor, PackedSequence))


def _device(tensor: Any) -> Any:
    return tensor.data.device if isinstance(tensor, PackedSequence) else tensor.device
