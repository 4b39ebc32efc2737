"""The golden numbers as PyTorch modules, and what the tests of PyTorch share."""

import math
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.nn.utils.rnn import PackedSequence

LN3 = math.log(3.0)

#: G1: an LSTM of one unit, input weights 1, recurrent weights 0.5, biases 0, on x = 1, 2, 3.
G1 = {
    "input": (0.731059, 0.898877, 0.967567),
    "forget": (0.731059, 0.898877, 0.967567),
    "candidate": (0.761594, 0.975004, 0.997755),
    "output": (0.731059, 0.898877, 0.967567),
    "cell_state": (0.556770, 1.376876, 2.297615),
    "hidden_state": (0.369606, 0.791236, 0.948218),
}
G1_BACKWARD = (0.784998, 0.860805, 0.703775)


def sequence(*values: float) -> torch.Tensor:
    """One sample with one feature, `[1, time, 1]`."""
    return torch.tensor(values, dtype=torch.float32).reshape(1, -1, 1)


def g1(module: Any) -> Any:
    """The module with the weights of G1."""
    with torch.no_grad():
        for name, parameter in module.named_parameters():
            parameter.fill_({"weight_ih": 1.0, "weight_hh": 0.5}.get(name[:9], 0.0))
    return module


def g1_lstm(**options: Any) -> nn.LSTM:
    """An LSTM with the weights of G1, batch first."""
    return g1(nn.LSTM(1, 1, **{"batch_first": True, **options}))


def randomized(module: Any, seed: int = 0) -> Any:
    """The module with every parameter drawn anew, biases too."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.copy_(torch.randn(parameter.shape, generator=generator) / 2)
    return module


def close(array: Any, expected: Any, atol: float = 1e-5) -> None:
    """Numbers are equal, in order, whatever their shape."""
    with torch.no_grad():
        np.testing.assert_allclose(_flat(array), _flat(expected), rtol=0, atol=atol)


def _flat(array: Any) -> np.ndarray:
    flat: np.ndarray = np.ravel(array.detach() if isinstance(array, torch.Tensor) else array)
    return flat


def values(trace: Any, name: str) -> np.ndarray:
    """A gate, or a state, of a trace."""
    array: np.ndarray = trace.gates[name] if name in trace.gates else getattr(trace, name)
    return array


#: The gates of torch's modules, in the order in which they are stored.
STORED_GATES = {
    "LSTM": ("input", "forget", "candidate", "output"),
    "GRU": ("reset", "update", "candidate"),
    "RNN": ("hidden",),
}


def by_gate(stored: dict[str, torch.Tensor], mode: str) -> dict[str, np.ndarray]:
    """The gradients of one layer's stored weights by row name; `mode` is the module's class."""
    gates = STORED_GATES[mode]
    rows: dict[str, np.ndarray] = {}
    for name, row in (("weight_ih", "kernel"), ("weight_hh", "recurrent_kernel")):
        blocks = stored[name].chunk(len(gates))
        rows |= {f"{row}/{g}": b.T.numpy() for g, b in zip(gates, blocks, strict=True)}
    if "bias_ih" in stored:
        blocks = stored["bias_ih"].chunk(len(gates))
        rows |= {f"bias/{g}": b.numpy() for g, b in zip(gates, blocks, strict=True)}
        if mode == "GRU":
            rows["recurrent_bias/candidate"] = stored["bias_hh"].chunk(3)[2].numpy()
    if "weight_hr" in stored:
        rows["projection"] = stored["weight_hr"].T.numpy()
    return rows


def gradient_rows(gradients: Any) -> dict[str, np.ndarray]:
    """The weight gradients of a trace by row name."""
    rows = {
        f"{name}/{gate}": values
        for name in ("kernel", "recurrent_kernel", "bias", "recurrent_bias")
        for gate, values in (getattr(gradients, name) or {}).items()
    }
    if gradients.projection is not None:
        rows["projection"] = gradients.projection
    return rows


def weighted_sum(outputs: Any) -> torch.Tensor:
    """A loss: the sum of all that a module returned, each number with a weight of its own."""
    generator = torch.Generator().manual_seed(2)
    return sum(  # type: ignore[return-value]
        (each * torch.randn(each.shape, generator=generator, dtype=each.dtype)).sum()
        for each in leaves(outputs)
    )


def leaves(nested: Any) -> list[torch.Tensor]:
    """The tensors in a nest; of a packed sequence its data."""
    if isinstance(nested, torch.Tensor):
        return [nested]
    if isinstance(nested, PackedSequence):
        return [nested.data]
    return [leaf for part in nested for leaf in leaves(part)]


def equal(array: Any, expected: Any, relative: float = 1e-4, name: str = "") -> None:
    """Arrays of one shape are equal within a share of the largest number."""
    expected = np.asarray(expected)
    limit = relative * np.abs(expected).max(initial=0)
    np.testing.assert_allclose(array, expected, rtol=0, atol=limit, err_msg=name)
