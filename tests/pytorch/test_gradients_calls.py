"""Gradients on PyTorch: however modules are arranged, called and recorded, and what is refused."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence
from torch.utils.checkpoint import checkpoint

import lstm_gates_plugin as lg
from helpers.torch_modules import by_gate, equal, gradient_rows, randomized, weighted_sum
from lstm_gates_plugin import capture
from lstm_gates_plugin.frameworks.torch.following import differentiable

X = torch.randn(2, 6, 3, generator=torch.Generator().manual_seed(5))


class Net(nn.Module):
    """Two recurrent modules and what is done with the states between them."""

    def __init__(self, between: Callable[[Any], Any] = lambda x: x) -> None:
        super().__init__()
        self.lower = nn.GRU(3, 4, batch_first=True)
        self.upper = nn.LSTM(4, 4, batch_first=True)
        self.head = nn.Linear(4, 2)
        self.between = between
        randomized(self)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        output = self.between(self.lower(x)[0])
        output, (hidden, cell) = self.upper(output)
        result: torch.Tensor = self.head(output + hidden[0][:, None] + cell[0][:, None])
        return result


def expected(module: Any, loss: torch.Tensor) -> dict[str, np.ndarray]:
    """Autograd's gradients by the weights of one recurrent module."""
    names = [name.removesuffix("_l0") for name, _ in module.named_parameters()]
    own = torch.autograd.grad(loss, list(module.parameters()), retain_graph=True)
    mode = type(module).__name__.removesuffix("Cell")
    return by_gate(dict(zip(names, own, strict=True)), mode)


def same_gradients(trace: Any, module: Any, loss: torch.Tensor) -> None:
    for name, gradient in expected(module, loss).items():
        equal(gradient_rows(trace.gradients)[name], gradient, name=name)


def half_in_place(x: torch.Tensor) -> torch.Tensor:
    return x.mul_(0.5)


@pytest.mark.parametrize(
    "between", [lambda x: x, torch.relu, half_in_place], ids=["nothing", "relu", "in place"]
)
@pytest.mark.parametrize("frozen", [False, True], ids=["trained", "frozen"])
def test_modules_on_top_of_each_other(between: Any, frozen: bool) -> None:
    model = Net(between)
    loss = weighted_sum(model(X))
    theirs = [expected(module, loss) for module in (model.lower, model.upper)]
    model.lower.requires_grad_(not frozen)
    model.upper.requires_grad_(not frozen)
    traces = lg.trace(model, X, loss=weighted_sum)
    for trace, gradients in zip(traces, theirs, strict=True):
        assert ("frozen" in trace.layer.options) == frozen
        for name, gradient in gradients.items():
            equal(gradient_rows(trace.gradients)[name], gradient, name=name)


@pytest.mark.parametrize(
    "call",
    [
        lambda model: lg.trace(torch.compile(model), X, loss=weighted_sum),
        lambda model: lg.trace(nn.DataParallel(model), X, loss=weighted_sum),
        lambda model: lg.trace(model, X.numpy(), loss=weighted_sum),
        lambda model: lg.trace(model, made_in_inference_mode(), loss=weighted_sum),
    ],
    ids=["compiled", "data parallel", "arrays", "tensors of inference mode"],
)
def test_wrappers_and_inputs(call: Any) -> None:
    model = Net()
    loss = weighted_sum(model(X))
    with torch.no_grad():
        lower, upper = call(model)
    same_gradients(lower, model.lower, loss)
    same_gradients(upper, model.upper, loss)


def made_in_inference_mode() -> torch.Tensor:
    with torch.inference_mode():
        return X.clone()


def test_a_trace_within_inference_mode() -> None:
    model = Net()
    with torch.inference_mode():
        lower, upper = lg.trace(model, X.clone(), loss=weighted_sum)
    loss = weighted_sum(model(X))
    same_gradients(lower, model.lower, loss)
    same_gradients(upper, model.upper, loss)


def test_part_of_a_model_that_runs_without_gradients() -> None:
    class Frozen(Net):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            with torch.no_grad():
                output, _ = self.lower(x)
                output, _ = self.upper(output)
            result: torch.Tensor = self.head(output)
            return result

    model = Frozen()
    traces = lg.trace(model, X, loss=weighted_sum)
    loss = weighted_sum(model.head(model.upper(model.lower(X)[0])[0]))
    same_gradients(traces[0], model.lower, loss)
    same_gradients(traces[1], model.upper, loss)


@pytest.mark.parametrize("time_major", [False, True])
def test_packed_rows_are_the_callers(time_major: bool) -> None:
    module = randomized(nn.GRU(3, 4, batch_first=not time_major))
    x = X.transpose(0, 1) if time_major else X
    packed = pack_padded_sequence(x, [4, 6], batch_first=not time_major, enforce_sorted=False)
    (trace,) = lg.trace(module, packed, loss=lambda outputs: outputs[1][0, 0].sum())
    found = trace.gradients.hidden_state
    assert trace.mask.sum(axis=1).tolist() == [4, 6]
    equal(found[0, 3], np.ones(4))
    assert np.isnan(found[0, 4:]).all()
    assert (found[1] == 0).all()
    assert (trace.gradients.output[0, :3] == 0).all()


def test_a_module_called_step_by_step_continues() -> None:
    module = randomized(nn.LSTM(3, 4, batch_first=True))

    class Steps(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.rnn = module

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            state, outputs = None, []
            for part in x.split([1, 3, 2], dim=1):
                output, state = self.rnn(part, state)
                outputs.append(output)
            return torch.cat(outputs, dim=1)

    (trace,) = lg.trace(Steps(), X, loss=weighted_sum)
    (whole,) = lg.trace(module, X, loss=lambda outputs: weighted_sum(outputs[0]))
    same_gradients(trace, module, weighted_sum(module(X)[0]))
    for name in ("hidden_state", "cell_state", "output", "inputs"):
        equal(getattr(trace.gradients, name), getattr(whole.gradients, name), name=name)


def test_a_state_that_is_cut_off_is_cut_off() -> None:
    module = randomized(nn.GRU(3, 4, batch_first=True))
    with lg.record(module) as recording:
        _, state = module(X[:, :3])
        output, _ = module(X[:, 3:], state.detach())
        loss = output.sum()
    (trace,) = recording.traces(loss=loss)
    assert (trace.gradients.hidden_state[:, :3] == 0).all()
    same_gradients(trace, module, loss)


def test_a_module_that_is_used_twice_has_gradients_of_each_call() -> None:
    module = randomized(nn.GRU(3, 3, batch_first=True))

    class Twice(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.one = self.other = module

        def forward(self, x: torch.Tensor) -> Any:
            return self.other(self.one(x)[0])

    traces = lg.trace(Twice(), X, loss=weighted_sum)
    assert [trace.call for trace in traces] == [0, 1]
    together = [gradient_rows(trace.gradients) for trace in traces]
    own = expected(module, weighted_sum(module(module(X)[0])))
    for name, gradient in own.items():
        equal(together[0][name] + together[1][name], gradient, name=name)


def test_cells_in_a_loop_with_the_state_as_output() -> None:
    class Cells(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.cells = nn.ModuleList([nn.LSTMCell(3, 4), nn.GRUCell(4, 4)])

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            lower, upper, outputs = None, None, []
            for step in x.unbind(1):
                lower = self.cells[0](step, lower)
                upper = self.cells[1](lower[0], upper)
                outputs.append(upper)
            return torch.stack(outputs, dim=1)

    model = randomized(Cells())
    loss = weighted_sum(model(X))
    traces = lg.trace(model, X, loss=weighted_sum)
    for trace, cell in zip(traces, model.cells, strict=True):
        same_gradients(trace, cell, loss)


def test_a_checkpointed_module() -> None:
    model = Net()

    class Saving(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.net = model

        def forward(self, x: torch.Tensor) -> Any:
            return checkpoint(self.net, x, use_reentrant=False)

    lower, upper = lg.trace(Saving(), X, loss=weighted_sum)
    loss = weighted_sum(model(X))
    same_gradients(lower, model.lower, loss)
    same_gradients(upper, model.upper, loss)


def test_autocast_gives_gradients_of_the_loss_as_it_is() -> None:
    model = Net()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        traces = lg.trace(model, X, loss=lambda output: weighted_sum(output.float()))
    loss = weighted_sum(model(X))
    for trace, module in zip(traces, (model.lower, model.upper), strict=True):
        for name, gradient in expected(module, loss).items():
            equal(gradient_rows(trace.gradients)[name], gradient, relative=0.05, name=name)


def test_a_recording_gives_gradients_and_the_user_goes_on() -> None:
    model = Net()
    with lg.record(model) as recording:
        loss = weighted_sum(model(X))
        inside = recording.traces(loss=loss)
    outside = recording.traces(loss=loss)
    assert all(parameter.grad is None for parameter in model.parameters())
    loss.backward()
    own = by_gate(
        {name.removesuffix("_l0"): p.grad for name, p in model.upper.named_parameters()}, "LSTM"
    )
    for traces in (inside, outside):
        assert [trace.layer.id for trace in traces] == ["lower", "upper"]
        for name, gradient in own.items():
            equal(gradient_rows(traces[1].gradients)[name], gradient, name=name)
    with pytest.raises(ValueError, match=r"before loss.backward\(\), or call .*retain_graph=True"):
        recording.traces(loss=loss)
    assert recording.traces()[0].gradients is None


def test_only_the_first_rows_are_recomputed() -> None:
    model = Net()
    traces, outputs = capture.observe(model, (X,), {}, 1, weighted_sum)
    whole = lg.trace(model, X, loss=weighted_sum)
    assert not outputs.requires_grad
    for cut, full in zip(traces, whole, strict=True):
        equal(cut.gradients.hidden_state, full.gradients.hidden_state[:1])
        assert cut.rows == 2


@pytest.mark.parametrize(
    ("loss", "sentence"),
    [
        (lambda output: output, r"must be a single number, and one of shape \(2, 6, 2\)"),
        (lambda output: output.sum().item(), r"must be a tensor of torch.*'?float.*\.item\(\)"),
        (lambda output: output.detach().sum(), r"did not record how the loss.*\.detach\(\)"),
    ],
    ids=["many", "float", "detached"],
)
def test_losses_that_cannot_be_differentiated(loss: Any, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        lg.trace(Net(), X, loss=loss)


def test_a_recording_without_gradients_says_so() -> None:
    model = Net()
    with lg.record(model) as recording, torch.no_grad():
        loss = weighted_sum(model(X))
    refused = pytest.raises(
        ValueError, match=r"compute it from what the model returned, outside of"
    )
    with pytest.warns(UserWarning, match=r"layer 'upper' cannot be computed"), refused:
        recording.traces(loss=loss)
    with lg.record(model) as recording:
        with torch.no_grad():
            output, _ = model.lower(X)
        loss = weighted_sum(model.upper(output))
    with pytest.warns(
        UserWarning, match=r"layer 'lower' cannot be computed: it ran under torch\.n"
    ):
        lower, upper = recording.traces(loss=loss)
    assert lower.gradients is None
    assert upper.gradients is not None


def test_a_frozen_model_puts_out_what_it_did_while_recorded() -> None:
    model = Net()
    model.lower.requires_grad_(False)
    with lg.record(model) as recording:
        output, _ = model.lower(X)
        assert not output.requires_grad
        output.numpy()
        loss = weighted_sum(model(X))
    with pytest.warns(UserWarning, match=r"layer 'lower' cannot be computed: it is frozen.*trace"):
        *lower, upper = recording.traces(loss=loss)
    assert [trace.gradients for trace in lower] == [None, None]
    assert upper.gradients is not None
    assert all(trace.gradients is not None for trace in lg.trace(model, X, loss=weighted_sum))
    model.requires_grad_(False)
    with lg.record(model) as recording:
        model(X).numpy()
    assert len(recording.traces()) == 2


def test_a_layer_on_which_the_loss_does_not_depend_has_gradients_of_zero() -> None:
    model = Net()
    traces = lg.trace(model, X, loss=lambda _: model.head.weight.sum())
    assert all((trace.gradients.hidden_state == 0).all() for trace in traces)


def test_quantized_modules_have_no_gradients() -> None:
    model = Net()
    quantized = torch.ao.quantization.quantize_dynamic(model, {nn.LSTM}, dtype=torch.qint8)
    with pytest.raises(ValueError, match=r"weights of layer 'upper' are quantized"):
        lg.trace(quantized, X, loss=weighted_sum)


def test_a_subclass_that_returns_something_else_has_no_gradients() -> None:
    class Pooled(nn.LSTM):
        def forward(self, x: torch.Tensor) -> Any:
            return super().forward(x)[0].mean(dim=1)

    with pytest.warns(UserWarning, match=r"'pooled_0' cannot be computed: Pooled returns"):
        (trace,) = lg.trace(Pooled(3, 4, batch_first=True), X, loss=weighted_sum)
    assert trace.gradients is None


def test_h4_cudnn_is_off_while_a_module_on_a_gpu_is_to_be_differentiated() -> None:
    """The result itself is compared in tests/gpu, by hand."""
    on_gpu = SimpleNamespace(is_cuda=True)
    with differentiable(on_gpu):
        assert not torch.backends.cudnn.enabled
    with pytest.raises(KeyError), differentiable(on_gpu):
        raise KeyError
    assert torch.backends.cudnn.enabled
    with differentiable(X):
        assert torch.backends.cudnn.enabled
