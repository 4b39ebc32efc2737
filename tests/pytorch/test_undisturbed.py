"""Nothing is changed, to the last bit: output, gradients, buffers, modes, random state, hooks."""

import contextlib
import gc
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn.utils import parametrizations, weight_norm

import lstm_gates_plugin as lg
from helpers.memory import resident

X = torch.randn(4, 7, 3, generator=torch.Generator().manual_seed(1))
PROBE = -X


class Stateful(nn.Module):
    """Whatever a model may hold: statistics, noise, states, lists, hooks, weights under hooks."""

    def __init__(self) -> None:
        super().__init__()
        self.norm = nn.BatchNorm1d(3)
        self.frozen = nn.BatchNorm1d(3).eval()  # in a mode of its own
        self.rnn = nn.LSTM(3, 5, 2, dropout=0.5, batch_first=True)
        self.gru = weight_norm(nn.GRU(5, 4, batch_first=True), "weight_hh_l0")
        self.head = parametrizations.spectral_norm(nn.Linear(4, 2))
        self.register_buffer("calls", torch.zeros((), dtype=torch.long))
        self.hidden: Any = None
        self.seen: list[torch.Tensor] = []
        self.count = torch.zeros(2)
        self.noted: Any = {"outputs": [], "sums": (torch.zeros(2), [torch.zeros(2)])}
        self.generators = {"torch": torch.Generator(), "python": random.Random(1)}
        self.numpy = (np.random.default_rng(1), np.random.RandomState(1))
        self.fails = False
        self.gru.register_forward_hook(lambda module, inputs, outputs: None)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.calls.add_(1)
        self.calls.data.add_(1)  # torch does not count this one as a change
        self.count.add_(1)
        self.noted["outputs"].append(1)
        for total in (self.noted["sums"][0], self.noted["sums"][1][0]):
            total += 1
        x = x + self.generators["python"].random() + sum(each.random() for each in self.numpy)
        x = x + torch.rand(x.shape[-1], generator=self.generators["torch"])
        x = self.frozen(self.norm(x.transpose(1, 2))).transpose(1, 2)
        x = x + torch.randn_like(x) + random.random() + np.random.rand()
        x, self.hidden = self.rnn(x, self.hidden)
        self.seen.append(x)
        if self.fails:
            raise KeyError("the user's own")
        with torch.enable_grad():  # as models do whose output is a gradient
            (self.head.bias * 2).sum().backward()
        for parameter in self.head.parameters():
            parameter.requires_grad_(self.training)
        return self.head(self.gru(x)[0])


def built() -> Stateful:
    torch.manual_seed(0)
    random.seed(0)
    np.random.seed(0)
    return Stateful()


def train(model: Stateful, between: Any = lambda: None) -> list[Any]:
    """Two updates, with something in the midst of each; everything that they can be told from."""
    optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
    results: list[Any] = []
    for _ in range(2):
        optimizer.zero_grad()
        model.hidden = None
        output = model(X)
        between()
        output.pow(2).mean().backward()
        between()
        results += [output, *(parameter.grad.clone() for parameter in model.parameters())]
        optimizer.step()
        results += [value.clone() for value in model.state_dict().values()]
        results += [state.clone() for state in model.hidden] + list(model.seen)
        results += [model.count.clone(), len(model.noted["outputs"]), *sums_of(model)]
        results += [torch.rand(2), random.random(), np.random.rand()]
    return results


def sums_of(model: Stateful) -> list[torch.Tensor]:
    first, (second,) = model.noted["sums"]
    return [first.clone(), second.clone()]


def tensors_with_graphs() -> list[torch.Tensor]:
    tensors = [each for each in gc.get_objects() if issubclass(type(each), torch.Tensor)]
    return [tensor for tensor in tensors if tensor.grad_fn is not None]


def hooks(model: nn.Module) -> list[tuple[int, ...]]:
    names = ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_state_dict_hooks")
    return [tuple(len(getattr(module, name)) for name in names) for module in model.modules()]


def attributes(model: nn.Module) -> list[tuple[str, list[int]]]:
    """Every attribute of every module, by identity."""
    return [
        (name, [id(value) for value in vars(module).values()])
        for name, module in model.named_modules()
    ]


def same(a: list[Any], b: list[Any]) -> None:
    assert len(a) == len(b)
    for first, second in zip(a, b, strict=True):
        if isinstance(first, torch.Tensor):
            torch.testing.assert_close(first, second, rtol=0, atol=0, equal_nan=True)
        else:
            assert first == second


@contextlib.contextmanager
def failing(model: Stateful) -> Iterator[None]:
    model.fails = True
    with pytest.raises(KeyError, match="the user's own"):
        yield
    model.fails = False


def record(model: Stateful) -> None:
    """Record another batch, and leave of that what the model itself keeps."""
    with lg.record(model) as recording:
        assert not any(module.training for module in model.modules())
        model.rnn(PROBE)
    assert recording.traces()


def fail(model: Stateful) -> None:
    with failing(model):
        lg.trace(model, PROBE)


def squares(output: torch.Tensor) -> torch.Tensor:
    return output.pow(2).sum()


def fail_in_the_loss(model: Stateful) -> None:
    def loss(output: torch.Tensor) -> None:
        raise KeyError("the user's own")

    with pytest.raises(KeyError, match="the user's own"):
        lg.trace(model, PROBE, loss=loss)


def record_with_loss(model: Stateful) -> None:
    with lg.record(model) as recording, torch.random.fork_rng():
        loss = squares(model.rnn(PROBE)[0])
    assert recording.traces(loss=loss)[0].gradients is not None


@pytest.mark.parametrize(
    "look",
    [
        lambda model: lg.trace(model, PROBE),
        lambda model: lg.trace(model, PROBE.numpy()),
        lambda model: lg.recurrent_layers(model),
        lambda model: lg.trace(model, PROBE, loss=squares),
        fail,
        fail_in_the_loss,
        record,
        record_with_loss,
    ],
    ids=[
        *("trace", "trace arrays", "layers", "trace with loss", "fail", "fail in the loss"),
        *("record", "record with loss"),
    ],
)
def test_training_is_the_same_to_the_last_bit(look: Any) -> None:
    plain = built()
    expected = train(plain)
    model = built()
    before = hooks(model), [module.training for module in model.modules()]

    def between() -> None:
        weights = dict(model.named_parameters())
        gradients = [parameter.grad for parameter in model.parameters()]
        look(model)
        assert all(
            a is b for a, b in zip(gradients, (p.grad for p in weights.values()), strict=True)
        )

    same(train(model, between), expected)
    assert (hooks(model), [module.training for module in model.modules()]) == before
    assert [p.requires_grad for p in model.parameters()] == [
        p.requires_grad for p in plain.parameters()
    ]
    assert torch.is_grad_enabled()


@pytest.mark.parametrize(
    "look",
    [
        lambda model: lg.trace(model, PROBE),
        lambda model: lg.recurrent_layers(model),
        lambda model: lg.trace(model, PROBE, loss=squares),
        fail,
        fail_in_the_loss,
    ],
    ids=["trace", "layers", "trace with loss", "fail", "fail in the loss"],
)
def test_every_attribute_is_the_same_object(look: Any) -> None:
    """But not after `record`, in whose block the user calls the model."""
    model = built()
    train(model)
    held = attributes(model)
    look(model)
    assert attributes(model) == held


def test_training_with_gradients_logged_at_every_step_is_the_same(tmp_path: Path) -> None:
    def train(writer: lg.GateWriter | None) -> list[Any]:
        torch.manual_seed(0)
        model = nn.LSTM(3, 4, 2, dropout=0.5, batch_first=True)
        optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
        probe = lg.Probe(PROBE, target=PROBE[:, :1], loss=lambda out, _: squares(out[0]))
        results: list[Any] = []
        for step in range(5):
            if writer is not None:
                writer.log(model, step=step, probe=probe)
            optimizer.zero_grad()
            squares(model(X)[0]).backward()
            if writer is not None:
                writer.log_gradients(model, step=step)
            results += [parameter.grad.clone() for parameter in model.parameters()]
            optimizer.step()
        return results + [parameter.detach() for parameter in model.parameters()] + [torch.rand(1)]

    with lg.GateWriter(tmp_path / "run", every=1) as writer:
        logged = train(writer)
    same(logged, train(None))
    layer = lg.read(tmp_path)["run"]["lstm_0/layer_1"]
    assert set(layer.kinds) == {"weights", "activations", "gradients", "training_gradients"}
    for kind in layer.kinds:
        assert layer.statistics(kind).steps.tolist() == list(range(5))
    assert np.isfinite(layer.series("hidden_state", "norm", kind="gradients").values).all()


def test_hooks_that_wait_for_gradients_are_not_called() -> None:
    model = nn.Sequential(nn.Linear(3, 3), nn.LSTM(3, 4, batch_first=True))
    called: list[str] = []
    for module in model:
        module.register_full_backward_hook(lambda *_: called.append("backward"))
        module.register_full_backward_pre_hook(lambda *_: called.append("before"))
    for parameter in model.parameters():
        parameter.register_hook(lambda _: called.append("gradient"))
    lg.trace(model, X, loss=lambda outputs: squares(outputs[0]))
    assert called == []
    squares(model(X)[0]).backward()
    assert {"backward", "before", "gradient"} == set(called)


def test_a_trace_with_a_loss_leaves_no_graph_behind() -> None:
    model = nn.LSTM(3, 4, batch_first=True)
    gc.collect()
    graphs = len(tensors_with_graphs())
    traces = lg.trace(model, X, loss=lambda outputs: squares(outputs[0]))
    gc.collect()
    assert len(tensors_with_graphs()) == graphs
    assert traces[0].gradients is not None


def test_inter_layer_dropout_is_off() -> None:
    model = nn.LSTM(3, 8, 3, dropout=0.9, batch_first=True)
    traces = lg.trace(model, X)
    assert model.training
    assert all(trace.difference < 1e-5 for trace in traces)
    model.eval()
    np.testing.assert_allclose(traces[-1].hidden_state, model(X)[0].detach(), atol=1e-5)


def test_a_trace_within_autocast_leaves_the_gradients() -> None:
    """Autocast keeps cast weights: those of a trace, without gradients, must not be among them."""

    def gradients(look: bool) -> list[Any]:
        torch.manual_seed(0)
        model = nn.Sequential(nn.Linear(3, 3), nn.LSTM(3, 4, batch_first=True))
        with torch.autocast("cpu", dtype=torch.bfloat16):
            if look:
                lg.trace(model, X)
            model(X)[0].float().sum().backward()
        return [parameter.grad for parameter in model.parameters()]

    same(gradients(True), gradients(False))


def test_a_buffer_that_a_graph_has_kept_can_still_be_used_backward() -> None:
    class Scaled(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.rnn = nn.RNN(3, 4)
            self.register_buffer("scale", torch.ones(4))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            if not self.training:
                self.scale.mul_(2)
            result: torch.Tensor = self.rnn(x)[0] * self.scale
            return result

    model = Scaled()
    output = model(X)
    lg.trace(model, X)
    output.sum().backward()
    assert model.scale.tolist() == [1] * 4


def test_the_probe_is_not_written_to_where_it_is_an_array() -> None:
    class InPlace(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.rnn = nn.RNN(3, 4)

        def forward(self, x: torch.Tensor) -> Any:
            return self.rnn(x.mul_(2))

    x = X.numpy().copy()
    (trace,) = lg.trace(InPlace(), x)
    np.testing.assert_array_equal(x, X.numpy())
    assert trace.difference < 1e-5


def test_training_while_recording_is_refused() -> None:
    model = nn.Sequential(nn.LSTM(3, 4))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with lg.record(model) as recording:
        model(X)[0].sum().backward()
        with pytest.raises(ValueError, match=r"an optimizer was to update the model.*outside of"):
            optimizer.step()
        model.train()
        with pytest.raises(ValueError, match=r"layer '0' was run in training mode.*outside of"):
            model(X)
    assert model[0].training
    optimizer.step()
    assert len(recording.traces()) == 1


def test_another_models_training_goes_on_while_recording() -> None:
    model, other = nn.LSTM(3, 4), nn.Linear(3, 3)
    optimizer = torch.optim.SGD(other.parameters(), lr=0.1)
    with lg.record(model):
        other(X).sum().backward()
        optimizer.step()


def test_recording_keeps_the_users_gradients() -> None:
    model = nn.LSTM(3, 4)
    with lg.record(model) as recording:
        output, _ = model(X)
    output.sum().backward()
    assert all(parameter.grad is not None for parameter in model.parameters())
    assert recording.traces()[0].difference < 1e-5


def traced(model: Any, x: torch.Tensor) -> Any:
    return lg.trace(model, x)


def traced_with_loss(model: Any, x: torch.Tensor) -> Any:
    return lg.trace(model, x, loss=lambda outputs: squares(outputs[0]))


def recorded(model: Any, x: torch.Tensor) -> Any:
    with lg.record(model) as recording:
        model(x)
    return recording.traces()


@pytest.mark.parametrize("look", [traced, traced_with_loss, recorded])
def test_j8_hundreds_of_traces_do_not_grow_memory(look: Any) -> None:
    model = nn.LSTM(8, 32, batch_first=True)
    x = torch.randn(4, 20, 8)
    gc.collect()
    graphs = len(tensors_with_graphs())
    size = sum(array.nbytes for trace in look(model, x) for array in trace.parts().values())
    for _ in range(100):
        look(model, x)
    gc.collect()
    before = resident()
    for _ in range(500):
        look(model, x)
    gc.collect()
    assert resident() - before < 100 * size  # of the 500 that were made
    assert hooks(model) == [(0, 0, 0, 0)]
    assert "forward" not in vars(model)
    assert len(tensors_with_graphs()) == graphs
