"""Wrappers of torch.distributed, in one process: none of them is called."""

import socket
from collections.abc import Iterator
from typing import Any

import pytest
import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

import lstm_gates_plugin as lg
from helpers.torch_modules import close, equal, randomized
from lstm_gates_plugin import capture

X = torch.randn(4, 5, 3, generator=torch.Generator().manual_seed(3))


@pytest.fixture(scope="module", autouse=True)
def _group() -> Iterator[None]:
    with socket.create_server(("localhost", 0)) as server:
        port = server.getsockname()[1]
    dist.init_process_group("gloo", f"tcp://localhost:{port}", rank=0, world_size=1)
    yield
    dist.destroy_process_group()


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.norm = nn.BatchNorm1d(5)  # has buffers, which the wrapper would send to the others
        self.rnn = randomized(nn.LSTM(3, 4, batch_first=True))

    def forward(self, x: torch.Tensor) -> Any:
        return self.rnn(self.norm(x))[0]


class Forbidden(DistributedDataParallel):
    """Fails where the real one might wait for the other processes."""

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        raise AssertionError("the wrapper was called")


@pytest.mark.parametrize("compiled", [False, True])
def test_f8_the_wrapper_is_never_called(compiled: bool) -> None:
    wrapped = Forbidden(Net())
    model: Any = torch.compile(wrapped, backend="eager") if compiled else wrapped
    assert [layer.id for layer in lg.recurrent_layers(model)] == ["rnn"]
    (trace,) = lg.trace(model, X)
    with lg.record(model) as recording:
        model(X)
    for each in (trace, *recording.traces()):
        assert (each.layer.id, each.rows, each.call) == ("rnn", 4, 0)
        close(each.hidden_state, wrapped.module.eval()(X))


def test_gradients_pass_the_wrapper_by() -> None:
    wrapped = Forbidden(Net()).eval()
    loss = wrapped.module(X).pow(2).sum()
    (trace,) = lg.trace(wrapped, X, loss=lambda output: output.pow(2).sum())
    loss.backward()
    (found,) = capture.training_gradients(wrapped)
    assert found.layer.id == "rnn"
    for gate, gradient in trace.gradients.kernel.items():
        equal(gradient, found.parts[f"kernel/{gate}"])
        equal(trace.gradients.bias[gate], found.parts[f"bias/{gate}"])


def test_f8_a_wrapper_within_the_model_is_passed_by() -> None:
    class Outer(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.parallel = Forbidden(Net())

        def forward(self, x: torch.Tensor) -> Any:
            return self.parallel(x)

    (trace,) = lg.trace(Outer(), X)
    assert trace.layer.id == "parallel/rnn"
    assert trace.difference < 1e-5


def test_training_under_the_wrapper_is_the_same_to_the_last_bit() -> None:
    def train(look: bool) -> list[torch.Tensor]:
        torch.manual_seed(0)
        model = DistributedDataParallel(Net())
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for _ in range(3):
            if look:
                lg.trace(model, X[:2])
            optimizer.zero_grad()
            model(X).sum().backward()
            optimizer.step()
        return [value.clone() for value in model.state_dict().values()]

    for plain, looked in zip(train(False), train(True), strict=True):
        torch.testing.assert_close(plain, looked, rtol=0, atol=0)


def test_shards_are_refused_only_where_other_processes_hold_some(monkeypatch: Any) -> None:
    from torch.distributed.fsdp import fully_shard

    model = fully_shard(Net(), mesh=dist.init_device_mesh("cpu", (1,)))
    (layer,) = lg.recurrent_layers(model)
    assert layer.kernel["forget"].shape == (3, 4)
    monkeypatch.setattr(dist, "get_world_size", lambda: 2)
    with pytest.raises(ValueError, match="sharded by FSDP: each process holds a part"):
        lg.trace(model, X)
    with pytest.raises(ValueError, match="sharded by FSDP"), lg.record(model):
        pass
