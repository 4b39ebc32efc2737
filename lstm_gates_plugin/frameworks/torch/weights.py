"""PyTorch: the weights with which a recurrent module computes, whatever they are made of.

| what a module was put under           | where its weight comes from                              |
|---------------------------------------|----------------------------------------------------------|
| nothing                               | its parameter                                            |
| `parametrize` (new `weight_norm`)     | its attribute, computed when it is read                  |
| old `weight_norm`, `spectral_norm`    | the hook; the attribute is of the last forward pass      |
| pruning                               | the hook's mask on the original, for the same reason     |
| weight drop                           | `<name>_raw` of the module or of its wrapper: no dropout |
| dynamic quantization                  | dequantized                                              |
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch.nn.utils import parametrize

from lstm_gates_plugin.frameworks.torch import kinds
from lstm_gates_plugin.frameworks.torch.kinds import Place
from lstm_gates_plugin.frameworks.torch.layers import Found
from lstm_gates_plugin.fused import Array
from lstm_gates_plugin.layer import RecurrentLayer

#: The stored weights of one layer, each with the layer's suffix.
PARTS = ("weight_ih", "weight_hh", "bias_ih", "bias_hh", "weight_hr")

#: By cell, the order in which the gates are stored, see `fused.GATE_LETTERS`.
GATE_ORDERS = {"lstm": "ifgo", "gru": "rzn", "simple_rnn": ""}


class RefusedError(Exception):
    """A layer that cannot be opened; the message says which one, why, and what can be done."""


def read(found: Found) -> list[RecurrentLayer]:
    """The layers of a module, with copies of their present weights.

    Raises:
        RefusedError: a weight cannot be read.
    """
    with torch.no_grad():
        return [_read(found, place) for place in found.places]


def _read(found: Found, place: Place) -> RecurrentLayer:
    module, cell = found.module, kinds.cell_of(found.module)
    arrays: dict[str, Array] = {}
    dtype = ""
    for part in PARTS:
        name = part + place.suffix
        tensor = _quantized(module, name) if kinds.is_quantized(module) else _weight(found, name)
        if tensor is None and part in ("weight_ih", "weight_hh"):
            raise RefusedError(
                f"layer {found.id!r} cannot be opened: it has no {name!r} at present."
            )
        if tensor is not None:
            arrays[part] = to_array(found, name, tensor, 1 if part.startswith("bias") else 2)
            dtype = dtype or str(tensor.dtype).removeprefix("torch.")
    options: dict[str, Any] = {"framework": "torch", "dtype": dtype}
    if found.aliases:
        options["aliases"] = list(found.aliases)
    if _is_frozen(found, place):
        options["frozen"] = True
    return RecurrentLayer.from_arrays(
        cell,
        arrays["weight_ih"].T,
        arrays["weight_hh"].T,
        arrays.get("bias_ih"),
        gate_order=GATE_ORDERS[cell],
        id=found.layer_id(place),
        direction=place.direction,
        recurrent_bias=arrays.get("bias_hh"),
        projection=arrays["weight_hr"].T if "weight_hr" in arrays else None,
        reset_after=True if cell == "gru" else None,
        activation=kinds.activation_of(module),
        options=options,
    )


def trained(found: Found, name: str) -> Any:
    """The parameter that training changes in place of a weight, if there is just one.

    Anything else, such as the tensor that weight norm computes, is no parameter.
    """
    module = found.module
    if parametrize.is_parametrized(module, name):
        return None
    for hook in module._forward_pre_hooks.values():
        if name == getattr(hook, "_tensor_name", None):  # pruning: no gradient where it is zero
            return getattr(module, f"{name}_orig")
    raw = [getattr(owner, f"{name}_raw", None) for owner in (module, found.parent)]
    return next((each for each in raw if each is not None), getattr(module, name, None))


def _is_frozen(found: Found, place: Place) -> bool:
    """Whether training changes none of the parameters that a layer's weights are made of."""
    parameters = [each for part in PARTS for each in _made_of(found, part + place.suffix)]
    return bool(parameters) and not any(each.requires_grad for each in parameters)


def _made_of(found: Found, name: str) -> list[Any]:
    module = found.module
    if parametrize.is_parametrized(module, name):
        return list(module.parametrizations[name].parameters())
    held = [getattr(module, name + end, None) for end in ("", "_raw", "_orig", "_g", "_v")]
    held.append(getattr(found.parent, f"{name}_raw", None))
    return [each for each in held if isinstance(each, torch.nn.Parameter)]


def _weight(found: Found, name: str) -> Any:
    """The weight with which the next forward pass in inference mode computes, or `None`."""
    module = found.module
    for hook in module._forward_pre_hooks.values():
        if name == getattr(hook, "_tensor_name", None):  # pruning
            return hook.apply_mask(module)
        if name == getattr(hook, "name", None) and hasattr(hook, "compute_weight"):
            inference = {"do_power_iteration": False} if hasattr(hook, "n_power_iterations") else {}
            return hook.compute_weight(module, **inference)
    for owner in (module, found.parent):
        raw = getattr(owner, f"{name}_raw", None)
        if raw is not None:
            return raw
    return getattr(module, name, None)


def _quantized(module: Any, name: str) -> Any:
    weights = {**module.get_weight(), **module.get_bias()}
    return weights.get(name)


def to_array(found: Found, name: str, tensor: Any, axes: int) -> Array:
    """A weight, or its gradient, as an array.

    float64 stays as it is, every other type becomes float32, which holds it exactly.

    Raises:
        RefusedError: the tensor has no values here, or not all of them.
    """

    def refuse(reason: str) -> RefusedError:
        return RefusedError(f"layer {found.id!r} cannot be opened: its {name!r} {reason}.")

    if tensor.is_meta:
        raise refuse("is on the meta device, which holds no values")
    if hasattr(tensor, "to_local"):  # a DTensor
        split = any(not placement.is_replicate() for placement in tensor.placements)
        if split and tensor.device_mesh.size() > 1:
            raise refuse("is spread over several processes, and only a shard of it is here")
        tensor = tensor.to_local()
    if tensor.is_quantized:
        tensor = tensor.dequantize()
    if not tensor.is_floating_point():
        raise refuse(f"has the type {tensor.dtype}, which is not a floating point type")
    if tensor.ndim != axes:
        raise refuse(
            f"has the shape {tuple(tensor.shape)} at present, which is not that of a weight: "
            "probably a shard of it (FSDP, ZeRO), whose other parts are in other processes"
        )
    kept = torch.float64 if tensor.dtype == torch.float64 else torch.float32
    array: Array = np.array(tensor.detach().to("cpu", kept).numpy())
    return array
