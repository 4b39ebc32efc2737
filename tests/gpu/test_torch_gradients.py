"""By hand, where there is a GPU: gradients on CUDA, whose fused kernel refuses them in eval mode.

`pytest tests/gpu/test_torch_gradients.py`
"""

import copy
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence

import lstm_gates_plugin as lg
from helpers.torch_modules import equal, gradient_rows, randomized, weighted_sum

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")

X = torch.randn(3, 7, 4, generator=torch.Generator().manual_seed(0))


class Net(nn.Module):
    def __init__(self, make: Any) -> None:
        super().__init__()
        self.rnn = make(4, 5, 2, batch_first=True, dropout=0.5, bidirectional=True)
        self.head = nn.Linear(10, 2)
        randomized(self)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        packed = pack_padded_sequence(x, [7, 3, 5], batch_first=True, enforce_sorted=False)
        result: torch.Tensor = self.head(self.rnn(packed)[0].data)
        return result


def loss(output: torch.Tensor) -> torch.Tensor:
    return weighted_sum(output.cpu().double())


@pytest.fixture(autouse=True)
def _float32() -> Iterator[None]:
    """Both devices multiply float32 as such, or they would differ in the third digit."""
    settings = (torch.backends.cuda.matmul, torch.backends.cudnn)
    before = [each.allow_tf32 for each in settings]
    for each in settings:
        each.allow_tf32 = False
    yield
    for each, allowed in zip(settings, before, strict=True):
        each.allow_tf32 = allowed


def same_as_on_cpu(on_gpu: list[Any], on_cpu: list[Any]) -> None:
    for ours, theirs in zip(on_gpu, on_cpu, strict=True):
        for name, gradient in gradient_rows(theirs.gradients).items():
            equal(gradient_rows(ours.gradients)[name], gradient, relative=1e-3, name=name)
        ran = ours.mask
        equal(ours.gradients.hidden_state[ran], theirs.gradients.hidden_state[ran], relative=1e-3)
        assert np.isnan(ours.gradients.hidden_state[~ran]).all()


@pytest.mark.parametrize("make", [nn.LSTM, nn.GRU, nn.RNN])
@pytest.mark.parametrize("training", [False, True])
def test_h4_gradients_in_eval_mode_are_those_of_the_cpu(make: Any, training: bool) -> None:
    model = Net(make).train(training)
    on_cpu = lg.trace(model, X, loss=loss)
    model.cuda()
    before = copy.deepcopy(model.state_dict())
    x = X.cuda()
    same_as_on_cpu(lg.trace(model, x, loss=loss), on_cpu)
    assert all(module.training == training for module in model.modules())
    assert all(parameter.grad is None for parameter in model.parameters())
    assert all(torch.equal(value, before[name]) for name, value in model.state_dict().items())
    assert torch.backends.cudnn.enabled

    with lg.record(model) as recording:
        value = loss(model(x))
    same_as_on_cpu(recording.traces(loss=value), on_cpu)
    value.backward()
    assert all(parameter.grad is not None for parameter in model.parameters())


def test_without_a_loss_the_fused_kernel_runs() -> None:
    model = Net(nn.LSTM).cuda()
    enabled: list[bool] = []
    forward = model.rnn.forward

    def noting(*args: Any, **kwargs: Any) -> Any:
        enabled.append(torch.backends.cudnn.enabled)
        return forward(*args, **kwargs)

    model.rnn.forward = noting
    lg.trace(model, X.cuda())
    lg.trace(model, X.cuda(), loss=loss)
    assert enabled == [True, False]


def test_cells_and_autocast_on_the_gpu() -> None:
    cell = randomized(nn.LSTMCell(4, 5))
    traces = [
        lg.trace(each, X[:, 0].to(device), loss=lambda states: loss(states[0]))
        for each, device in ((cell, "cpu"), (copy.deepcopy(cell).cuda(), "cuda"))
    ]
    same_as_on_cpu(traces[1], traces[0])
    model = Net(nn.GRU)
    on_cpu = lg.trace(model, X, loss=loss)
    model.cuda()
    with torch.autocast("cuda", dtype=torch.float16):
        on_gpu = lg.trace(model, X.cuda(), loss=loss)
    for ours, theirs in zip(on_gpu, on_cpu, strict=True):
        found, expected = (each.gradients.kernel["candidate"] for each in (ours, theirs))
        equal(found, expected, relative=0.05)
