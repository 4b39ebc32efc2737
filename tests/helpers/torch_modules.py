"""The golden numbers as PyTorch modules, and what the tests of PyTorch share."""

import math
from typing import Any

import numpy as np
import torch
from torch import nn

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
