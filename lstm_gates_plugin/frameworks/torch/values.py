"""PyTorch: nested arguments as tensors on the model's device, and tensors as NumPy arrays."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
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


def to_model(model: Any, value: Any) -> Any:
    """What a model is called with: tensors where the model is, and in place of arrays.

    Arrays of floating point numbers get the type of the model's parameters. Tensors that are
    elsewhere move to the model, unless others are there already: then they are elsewhere on
    purpose, as the lengths that `pack_padded_sequence` takes from the CPU alone. Tensors that were
    made in `torch.inference_mode` are copied outside of it, since no gradient goes through them.

    Args:
        model: the module, whose first parameter says where the model is.
        value: arguments, nested in tuples, lists and dicts.
    """
    parameters = [each for each in model.parameters() if not each.is_meta]
    devices = [each.device for each in parameters]
    floating = [each.dtype for each in parameters if each.is_floating_point()]
    given = {tensor.device for tensor in _tensors(value)}
    moves = bool(devices) and not given & set(devices)

    def convert(value: Any) -> Any:
        if isinstance(value, (np.ndarray, np.generic)):
            tensor = torch.tensor(value)
            dtype = floating[0] if floating and tensor.is_floating_point() else tensor.dtype
            return tensor.to(devices[0] if devices else tensor.device, dtype)
        if isinstance(value, (torch.Tensor, PackedSequence)):
            value = value.to(devices[0]) if moves else value
            if torch.is_inference_mode_enabled():
                return value
            return mapped(lambda each: each.clone() if each.is_inference() else each, value)
        if isinstance(value, dict):
            return {key: convert(item) for key, item in value.items()}
        return _rebuilt(convert, value)

    return convert(value)


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


def _rebuilt(convert: Callable[[Any], Any], value: Any) -> Any:
    """A list or tuple of converted items; anything else as it is."""
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*map(convert, value))
    if isinstance(value, (list, tuple)):
        return (tuple if isinstance(value, tuple) else list)(map(convert, value))
    return value


def _tensors(value: Any) -> Iterator[Any]:
    if isinstance(value, PackedSequence):
        yield value.data  # batch_sizes stay on the CPU
    elif isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, Mapping):
        yield from _tensors(list(value.values()))
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _tensors(item)
