"""What goes wrong is named and explained, and the user's own errors stay the user's own."""

import warnings
from typing import Any

import pytest
import torch
from torch import nn

import lstm_gates_plugin as lg
from helpers.torch_modules import close
from lstm_gates_plugin import capture

X = torch.randn(2, 5, 3, generator=torch.Generator().manual_seed(4))


class OwnLSTMCell(nn.Module):
    """A recurrent cell of the user's own, of linear layers."""

    def __init__(self) -> None:
        super().__init__()
        self.gates = nn.Linear(3 + 4, 16)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        h = c = torch.zeros(len(x), 4)
        for t in range(x.shape[1]):
            i, f, g, o = self.gates(torch.cat([x[:, t], h], dim=-1)).chunk(4, dim=-1)
            c = f.sigmoid() * c + i.sigmoid() * g.tanh()
            h = o.sigmoid() * c.tanh()
        return h


def test_a_module_without_a_recurrent_layer() -> None:
    assert lg.recurrent_layers(nn.Linear(3, 4)) == []
    expected = r"class Linear has no recurrent layer: no nn.LSTM, .* was found.*from_arrays"
    with pytest.raises(ValueError, match=expected):
        lg.trace(nn.Linear(3, 4), X)
    with pytest.raises(ValueError, match=expected), lg.record(nn.Linear(3, 4)):
        pass


def test_a_custom_recurrent_module_is_named() -> None:
    with pytest.raises(ValueError, match=r"the model itself \(OwnLSTMCell\) cannot be opened"):
        lg.trace(OwnLSTMCell(), X)
    model = nn.Sequential(nn.GRU(3, 3, batch_first=True), nn.Identity())
    model.extra = OwnLSTMCell()

    named = pytest.warns(UserWarning, match=r"extra \(OwnLSTMCell\) cannot be opened")
    with named, lg.record(model) as recording:
        model[0](X)
    assert len(recording.traces()) == 1


def test_a_custom_cells_gates_can_be_shown_from_its_arrays() -> None:
    cell = OwnLSTMCell()
    weight = cell.gates.weight.detach().numpy().T
    layer = lg.RecurrentLayer.from_arrays(
        "lstm", weight[:3], weight[3:], cell.gates.bias.detach().numpy(), gate_order="ifgo"
    )
    from lstm_gates_plugin.cells import forward

    close(forward(layer, X.numpy()).final_hidden_state, cell(X))


def test_the_users_own_errors_are_shown() -> None:
    module = nn.LSTM(3, 4, batch_first=True)
    with pytest.raises(RuntimeError, match=r"input.size\(-1\) must be equal to input_size"):
        lg.trace(module, X[..., :2])
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'input'"):
        lg.trace(module)
    with pytest.raises(TypeError, match="unexpected keyword argument 'mask'"):
        lg.trace(module, X, mask=X)
    assert "forward" not in vars(module)


def test_a_layer_that_does_not_run() -> None:
    class Skips(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.used, self.unused = nn.GRU(3, 4), nn.GRU(3, 4, 2)

        def forward(self, x: torch.Tensor) -> Any:
            return self.used(x)

    with pytest.raises(ValueError, match="did not run its recurrent layer 'unused/layer_0', 'unu"):
        lg.trace(Skips(), X)
    with pytest.warns(UserWarning, match="did not run its recurrent layer 'unused/layer_0'"):
        traces, _ = capture.observe(Skips(), (X,), {}, None)
    assert [trace.layer.id for trace in traces] == ["used"]
    model = Skips()
    with lg.record(model) as recording:
        model(X)
    assert len(recording.traces()) == 1


class Doubled(nn.LSTM):
    """A subclass that does more than its cell."""

    def forward(self, x: Any, lengths: Any = None) -> Any:
        return super().forward(2 * x)[0]


class Scaled(Doubled):
    """A subclass that does no more, and returns less."""

    def forward(self, x: Any, lengths: Any = None) -> Any:
        return super(Doubled, self).forward(x)[0]


class Embeds(nn.LSTM):
    """A subclass that is given something else."""

    def forward(self, tokens: Any) -> Any:
        return super().forward(nn.functional.one_hot(tokens, 3).float())


def test_a_subclass_that_does_more_is_named_by_the_self_check() -> None:
    with pytest.warns(UserWarning, match="layer 'doubled_0' that was recomputed .* does more than"):
        (trace,) = lg.trace(Doubled(3, 4, batch_first=True), X)
    assert trace.difference > 1e-3
    (trace,) = lg.trace(Scaled(3, 4, batch_first=True), X, lengths=torch.tensor([5, 5]))
    assert trace.difference < 1e-5


def test_a_subclass_that_is_given_something_else_is_named() -> None:
    tokens = torch.tensor([[0, 1, 2]])
    expected = r"layer 'embeds_0' could not be recorded: .* of 3 features.*Embeds .* shape \(1, 3\)"
    with pytest.raises(ValueError, match=expected):
        lg.trace(Embeds(3, 4), tokens)
    model = Embeds(3, 4)
    with pytest.warns(UserWarning, match=expected), lg.record(model) as recording:
        model(tokens)
    with pytest.raises(ValueError, match="no recurrent layer of the model ran"):
        recording.traces()


def test_a_model_whose_forward_takes_no_batch_is_recorded() -> None:
    class NoForward(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.net = nn.ModuleDict({"rnn": nn.GRU(3, 4, batch_first=True)})

    model = NoForward()
    with lg.record(model) as recording:
        output, _ = model.net["rnn"](X)
    (trace,) = recording.traces()
    close(trace.hidden_state, output)
    with lg.record(model) as recording:
        pass
    with pytest.raises(ValueError, match="no recurrent layer of the model ran inside"):
        recording.traces()


def test_lazy_modules_are_called_by_the_user_first() -> None:
    model = nn.Sequential(nn.GRU(3, 4, batch_first=True))
    model.head = nn.LazyLinear(2)
    for look in (lambda: lg.trace(model, X), lambda: lg.recurrent_layers(model)):
        with pytest.raises(ValueError, match=r"no weights yet .* head\.weight, head\.bias\. Call"):
            look()


def test_a_name_that_only_begins_like_that_of_a_recurrent_module() -> None:
    class LSTMHead(nn.Linear):
        pass

    model = nn.Sequential(nn.GRU(3, 4, batch_first=True))
    model.head = LSTMHead(4, 2)
    with warnings.catch_warnings(), lg.record(model) as recording:
        warnings.simplefilter("error")
        model[0](X)
    assert len(recording.traces()) == 1


def test_other_objects_are_no_models() -> None:
    with pytest.raises(TypeError, match=r"torch\.Tensor was given"):
        lg.trace(X, X)


def test_layers_inside_torch_func_are_named() -> None:
    class Jacobian(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.rnn = nn.LSTM(3, 4)

        def forward(self, x: torch.Tensor) -> Any:
            return torch.func.grad(lambda each: self.rnn(each)[0].sum())(x)

    sentence = r"layer 'rnn' could not be recorded: torch\.func transforms the function"
    with pytest.raises(ValueError, match=sentence):
        lg.trace(Jacobian(), torch.randn(5, 2, 3))
    model = nn.Sequential(nn.LSTM(3, 4))
    parameters = dict(model.named_parameters())

    def loss(parameters: Any) -> torch.Tensor:
        output, _ = torch.func.functional_call(model, parameters, (torch.ones(5, 2, 3),))
        return output.sum()

    with lg.record(model) as recording, pytest.warns(UserWarning, match="torch.func transforms"):
        gradients = torch.func.grad(loss)(parameters)
    assert gradients.keys() == parameters.keys()
    with pytest.raises(ValueError, match="no recurrent layer of the model ran"):
        recording.traces()


@pytest.mark.filterwarnings("error")
def test_what_torch_refuses_is_said_by_torch_alone() -> None:
    module = nn.LSTM(3, 4)
    with lg.record(module), pytest.raises((RuntimeError, ValueError), match="input"):
        module(torch.randn(5, 2, 2))


def test_a_subclass_that_returns_more_is_compared() -> None:
    class More(nn.LSTM):
        def forward(self, x: Any, state: Any = None) -> Any:
            return (*super().forward(x, state), "more")

    (trace,) = lg.trace(More(3, 4), torch.randn(5, 2, 3), loss=lambda outputs: outputs[0].sum())
    assert trace.difference is not None
    assert trace.difference < 1e-5
    assert trace.gradients is not None
