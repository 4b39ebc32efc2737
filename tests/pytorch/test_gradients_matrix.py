"""The matrix on PyTorch: gradients of weights and inputs of every module equal autograd's own."""

from typing import Any

import numpy as np
import pytest
import torch
from torch.nn.utils.rnn import PackedSequence, pad_packed_sequence

import lstm_gates_plugin as lg
from helpers.torch_matrix import ARRANGEMENTS, CELLS, INPUTS, SIZE, initial_states
from helpers.torch_modules import by_gate, equal, gradient_rows, randomized, weighted_sum

PARTS = ("weight_ih", "weight_hh", "bias_ih", "bias_hh", "weight_hr")


def followed(inputs: Any) -> tuple[Any, torch.Tensor]:
    """The inputs such that autograd gives their gradient, and the tensor that it is of."""
    if isinstance(inputs, PackedSequence):
        data = inputs.data.clone().requires_grad_()
        return inputs._replace(data=data), data
    inputs = inputs.clone().requires_grad_()
    return inputs, inputs


def padded(inputs: Any, gradient: torch.Tensor) -> torch.Tensor:
    """The gradient by the inputs as `[batch, time, size]`."""
    if isinstance(inputs, PackedSequence):
        return pad_packed_sequence(inputs._replace(data=gradient), batch_first=True)[0]
    return gradient if gradient.ndim == 3 else gradient[None]


def stored(module: Any, gradients: dict[str, torch.Tensor], number: int) -> dict[str, Any]:
    """The gradients of one layer of a module, by what torch calls its weights there."""
    directions = 2 if module.bidirectional else 1
    suffix = f"_l{number // directions}{'_reverse' if number % directions else ''}"
    return {part: gradients[part + suffix] for part in PARTS if part + suffix in gradients}


@pytest.mark.parametrize("form", INPUTS)
@pytest.mark.parametrize("arrangement", ARRANGEMENTS, ids=lambda each: each[0])
@pytest.mark.parametrize("cell", CELLS)
def test_gradients_equal_autograds_own(cell: str, arrangement: Any, form: str) -> None:
    _, count, both, bias = arrangement
    module = randomized(
        CELLS[cell](SIZE, SIZE, count, bias=bias, batch_first=True, bidirectional=both)
    )
    states = initial_states(module, form)
    given = tuple(states) if len(states) > 1 else states[0]
    inputs, data = followed(INPUTS[form])
    of_inputs, *own = torch.autograd.grad(
        weighted_sum(module(inputs, given)), [data, *module.parameters()]
    )
    gradients = dict(zip(dict(module.named_parameters()), own, strict=True))
    mode = module.mode.partition("_")[0]
    traces = lg.trace(module, INPUTS[form], given, loss=weighted_sum)
    for number, trace in enumerate(traces):
        expected = by_gate(stored(module, gradients, number), mode)
        found = gradient_rows(trace.gradients)
        assert found.keys() == expected.keys()
        for name, gradient in expected.items():
            equal(found[name], gradient, name=f"{trace.layer.id} {name}")
            assert np.abs(gradient).max() > 1e-3
    lowest = [trace.gradients.inputs for trace in traces[: 2 if both else 1]]
    total = np.where(traces[0].mask[..., None], np.sum(lowest, axis=0), 0)
    equal(total, padded(inputs, of_inputs))
    assert all(parameter.grad is None for parameter in module.parameters())
