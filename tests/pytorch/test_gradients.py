"""Gradients through time on PyTorch: golden numbers, differences, and cells unrolled by hand."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

import lstm_gates_plugin as lg
from helpers.torch_modules import (
    by_gate,
    close,
    equal,
    g1_lstm,
    gradient_rows,
    randomized,
    sequence,
    weighted_sum,
)
from lstm_gates_plugin.measure.reach import reach


def g5(recurrent: float) -> nn.RNN:
    """A ReLU RNN of one unit with input weight 1."""
    module = nn.RNN(1, 1, nonlinearity="relu", bias=False, batch_first=True)
    with torch.no_grad():
        module.weight_ih_l0.fill_(1)
        module.weight_hh_l0.fill_(recurrent)
    return module


def last(outputs: Any) -> torch.Tensor:
    """A loss: the last output."""
    return outputs[0][0, -1, 0]


@pytest.mark.parametrize(
    ("weight", "hidden", "recurrent"),
    [(0.5, (0.0625, 0.125, 0.25, 0.5, 1), 3.25), (1, (1,) * 5, 10), (2, (16, 8, 4, 2, 1), 49)],
)
def test_h1_g5_the_total_gradient_not_that_of_the_output(
    weight: float, hidden: tuple[float, ...], recurrent: float
) -> None:
    (trace,) = lg.trace(g5(weight), sequence(*[1] * 5), loss=last)
    close(trace.gradients.hidden_state, hidden)
    close(trace.gradients.output, (0, 0, 0, 0, 1))
    close(trace.gradients.recurrent_kernel["hidden"], recurrent)
    ratios = [weight**lag for lag in range(5)]
    close(reach(trace).ratios, ratios)


def test_h2_g5l_a_weight_gradient_that_looks_healthy() -> None:
    (trace,) = lg.trace(g5(0.5), sequence(*[1] * 20), loss=last)
    np.testing.assert_allclose(trace.gradients.recurrent_kernel["hidden"], 3.99992, rtol=1e-5)
    np.testing.assert_allclose(trace.gradients.hidden_state[0, 0, 0], 1.9073486e-06, rtol=1e-5)
    assert reach(trace).timesteps == 6
    (trace,) = lg.trace(g5(2), sequence(*[1] * 20), loss=last)
    np.testing.assert_allclose(trace.gradients.hidden_state[0, 0, 0], 524288, rtol=1e-5)


def test_g5l_explosion_to_infinity_is_torchs_own() -> None:
    module, x = g5(2), sequence(*[1] * 200).requires_grad_()
    (trace,) = lg.trace(module, x, loss=last)
    assert np.isinf(trace.hidden_state).sum() == 73
    assert np.isinf(trace.hidden_state[0, 127:]).all()
    assert (~np.isfinite(trace.gradients.inputs)).sum() == 72
    assert not np.isfinite(trace.gradients.inputs[0, :72]).any()
    assert np.isnan(trace.gradients.recurrent_kernel["hidden"]).all()
    of_inputs, of_weight = torch.autograd.grad(last(module(x)), [x, module.weight_hh_l0])
    np.testing.assert_array_equal(trace.gradients.inputs, of_inputs)
    assert of_weight.isnan().all()


def test_g6_every_gradient_of_an_lstm() -> None:
    (trace,) = lg.trace(g1_lstm(), sequence(1, 2, 3), loss=last)
    found = trace.gradients
    close(found.hidden_state, (0.004392, 0.016887, 1))
    close(found.cell_state, (0.038783, 0.040487, 0.038312))
    close(found.inputs, (0.018151, 0.008785, 0.033774))
    preactivations = {"input": 0.005807, "forget": 0, "candidate": 0.011907, "output": 0.000437}
    for gate, expected in preactivations.items():
        close(found.preactivations[gate][0, 0], expected)
    for name, expected in {
        "kernel": (0.016582, 0.009064, 0.015999, 0.095399),
        "recurrent_kernel": (0.002275, 0.002067, 0.000796, 0.024832),
        "bias": (0.010595, 0.003704, 0.013870, 0.032541),
    }.items():
        close([getattr(found, name)[gate] for gate in trace.layer.gates], expected)


def test_h6_equals_torch_and_central_differences() -> None:
    module = randomized(nn.GRU(3, 4, batch_first=True).double())
    x = torch.randn(2, 6, 3, dtype=torch.float64)
    (trace,) = lg.trace(module, x, loss=weighted_sum)

    def differences(tensor: torch.Tensor) -> torch.Tensor:
        found = torch.zeros_like(tensor)
        for k in range(tensor.numel()):
            values = []
            for step in (1e-4, -2e-4):
                tensor.view(-1)[k] += step
                values.append(weighted_sum(module(x)))
            tensor.view(-1)[k] += 1e-4
            found.view(-1)[k] = (values[0] - values[1]) / 2e-4
        return found

    with torch.no_grad():
        by_differences = {
            name.removesuffix("_l0"): differences(parameter)
            for name, parameter in module.named_parameters()
        }
        np.testing.assert_allclose(trace.gradients.inputs, differences(x), rtol=0, atol=1e-6)
    names = [name.removesuffix("_l0") for name, _ in module.named_parameters()]
    own = torch.autograd.grad(weighted_sum(module(x)), list(module.parameters()))
    for stored, limit in ((by_differences, 1e-6), (dict(zip(names, own, strict=True)), 1e-12)):
        expected = by_gate(stored, "GRU")
        for name, found in gradient_rows(trace.gradients).items():
            np.testing.assert_allclose(found, expected[name], rtol=0, atol=limit, err_msg=name)


def unrolled(cell: Any, x: torch.Tensor) -> tuple[list[torch.Tensor], list[torch.Tensor]]:
    """The hidden and the cell state after each timestep, from which the next one goes on."""
    hidden, cells, state = [], [], None
    for step in x:
        state = cell(step, state)
        hidden.append(state[0] if isinstance(state, tuple) else state)
        cells += [state[1]] if isinstance(state, tuple) else []
    return hidden, cells


WEIGHTS = torch.randn(2, 24, 5, generator=torch.Generator().manual_seed(3))
X = torch.randn(2, 24, 3, generator=torch.Generator().manual_seed(4))


def as_module(cell: Any, module: Any) -> Any:
    """The module with the weights of a cell."""
    state = {f"{name}_l0": value for name, value in cell.state_dict().items()}
    module.load_state_dict(state)
    return module


MODULES: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "LSTM": (nn.LSTMCell, nn.LSTM),
    "GRU": (nn.GRUCell, nn.GRU),
}


@pytest.mark.parametrize("cell", MODULES)
def test_every_timestep_equals_a_cell_unrolled_by_hand(cell: str) -> None:
    make_cell, make = MODULES[cell]
    by_hand = randomized(make_cell(3, 5))
    hidden, cells = unrolled(by_hand, X.transpose(0, 1))
    loss = (torch.stack(hidden, dim=1) * WEIGHTS).sum()
    expected = torch.stack(torch.autograd.grad(loss, hidden, retain_graph=True), dim=1)
    module = as_module(by_hand, make(3, 5, batch_first=True))
    (trace,) = lg.trace(module, X, loss=lambda outputs: (outputs[0] * WEIGHTS).sum())
    equal(trace.gradients.hidden_state, expected)
    equal(trace.gradients.output, WEIGHTS)
    if cells:
        expected = torch.stack(torch.autograd.grad(loss, cells), dim=1)
        equal(trace.gradients.cell_state, expected)

    with lg.record(by_hand) as recording:
        outputs, _ = unrolled(by_hand, X.transpose(0, 1))
        loss = (torch.stack(outputs, dim=1) * WEIGHTS).sum()
    (of_calls,) = recording.traces(loss=loss)
    equal(of_calls.gradients.hidden_state, trace.gradients.hidden_state)
    equal(of_calls.gradients.output, WEIGHTS)
    for name, found in gradient_rows(of_calls.gradients).items():
        equal(found, gradient_rows(trace.gradients)[name], name=name)


@pytest.mark.parametrize("cell", MODULES)
def test_reach_by_lag_equals_autograd_on_a_cell_unrolled_by_hand(cell: str) -> None:
    make_cell, make = MODULES[cell]
    by_hand, positions, lags = randomized(make_cell(3, 5)), (3, 8, 14, 19, 23), 20
    hidden, _ = unrolled(by_hand, X[:1].transpose(0, 1))
    shares: list[list[float]] = [[] for _ in range(lags)]
    for position in positions:
        seed = (hidden[position][0] * WEIGHTS[0, position]).sum()
        back = hidden[max(0, position - lags + 1) : position + 1]
        norms = [g.norm().item() for g in torch.autograd.grad(seed, back, retain_graph=True)]
        for lag, norm in enumerate(reversed(norms)):
            shares[lag].append(norm / norms[-1])
    at = torch.zeros(24, 1)
    at[list(positions)] = 1
    module = as_module(by_hand, make(3, 5, batch_first=True))
    (trace,) = lg.trace(module, X[:1], loss=lambda outputs: (outputs[0] * WEIGHTS[:1] * at).sum())
    found = reach(trace)
    assert found.positions == len(positions)
    expected = [np.median(share) for share in shares]
    np.testing.assert_allclose(found.ratios[:lags], expected, rtol=1e-4)
