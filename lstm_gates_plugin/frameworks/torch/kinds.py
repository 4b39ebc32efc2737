"""PyTorch: which modules are recurrent, of what kind, and which layers each is made of."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import torch

from lstm_gates_plugin.layer import Direction

#: What can be opened, as a user reads it.
SUPPORTED = "nn.LSTM, nn.GRU, nn.RNN, nn.LSTMCell, nn.GRUCell and nn.RNNCell"

# By class of torch, the cell.
_CELLS = {
    "LSTM": "lstm",
    "LSTMCell": "lstm",
    "GRU": "gru",
    "GRUCell": "gru",
    "RNN": "simple_rnn",
    "RNNCell": "simple_rnn",
}
# `nn.RNNBase("LSTM", ...)` is an LSTM as well; its class says nothing, its mode does.
_MODES = {"LSTM": "LSTM", "GRU": "GRU", "RNN_TANH": "RNN", "RNN_RELU": "RNN"}
_MODULES_OF_TORCH = ("torch.nn.modules.rnn", "torch.ao.nn.quantized.dynamic.modules.rnn")


@dataclass(frozen=True)
class Place:
    """One layer within a module: a level in one direction."""

    level: int
    direction: Direction
    suffix: str  # of its weights' names: "_l0", "_l1_reverse"; nothing in a cell


def class_name(module: Any) -> str | None:
    """The class of torch that a recurrent module is, such as `"LSTM"`; `None` for other modules."""
    if isinstance(module, torch.jit.ScriptModule):
        name = getattr(module, "original_name", None)
        return name if name in _CELLS else None
    for cls in type(module).__mro__:
        if cls.__module__ in _MODULES_OF_TORCH:
            name = _MODES.get(module.mode) if cls.__name__ == "RNNBase" else cls.__name__
            if name in _CELLS:
                return name
    return None


def cell_of(module: Any) -> str:
    """The kind of cell of a recurrent module, a key of `layer.GATES`."""
    return _CELLS[class_name(module) or ""]


def is_single_cell(module: Any) -> bool:
    """Whether a recurrent module is called once for each timestep."""
    return (class_name(module) or "").endswith("Cell")


def is_scripted(module: Any) -> bool:
    """Whether torch.jit runs the module, past everything that Python could record."""
    return isinstance(module, torch.jit.ScriptModule)


def is_quantized(module: Any) -> bool:
    """Whether it is a module of torch's dynamic quantization."""
    return any(cls.__module__ == _MODULES_OF_TORCH[1] for cls in type(module).__mro__)


def activation_of(module: Any) -> str:
    """The name of a simple RNN's activation; that of the other cells is always tanh."""
    return (
        str(getattr(module, "nonlinearity", "tanh")) if cell_of(module) == "simple_rnn" else "tanh"
    )


def places_of(module: Any) -> list[Place]:
    """The layers of a recurrent module, level by level, forward before backward."""
    if is_single_cell(module):
        return [Place(0, "forward", "")]
    if is_scripted(module):  # a traced one has no attributes, but parameters
        names = [name for name, _ in module.named_parameters()]
        count = len([name for name in names if re.fullmatch(r"weight_ih_l\d+", name)])
        both = "weight_ih_l0_reverse" in names
    else:
        count, both = module.num_layers, module.bidirectional
    directions: tuple[tuple[Direction, str], ...] = (("forward", ""), ("backward", "_reverse"))
    return [
        Place(level, direction, f"_l{level}{suffix}")
        for level in range(count)
        for direction, suffix in directions[: 2 if both else 1]
    ]
