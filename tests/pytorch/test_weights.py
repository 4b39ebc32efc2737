"""Weights that are more than parameters: they are shown as the module computes with them."""

from typing import Any

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn.utils import parametrizations, parametrize, prune, spectral_norm, weight_norm

import lstm_gates_plugin as lg
from helpers.torch_modules import close, randomized

# Gate i 0.1, f 0.2, g -0.3, o 0.4: magnitudes, and the signs of the directions.
G1_DIRECTIONS = torch.tensor([[2.0], [3.0], [-4.0], [5.0]])
G1_MAGNITUDES = torch.tensor([[0.1], [0.2], [0.3], [0.4]])
X = torch.randn(2, 5, 3, generator=torch.Generator().manual_seed(2))


def recurrent(model: Any) -> list[float]:
    """The recurrent kernel of a layer of one unit, gate by gate."""
    (layer,) = lg.recurrent_layers(model)
    return [kernel.item() for kernel in layer.recurrent_kernel.values()]


def old_weight_norm() -> nn.LSTM:
    module = weight_norm(nn.LSTM(1, 1), "weight_hh_l0")
    with torch.no_grad():
        module.weight_hh_l0_v.copy_(G1_DIRECTIONS)
        module.weight_hh_l0_g.copy_(G1_MAGNITUDES)
    return module


def new_weight_norm() -> nn.LSTM:
    module = parametrizations.weight_norm(nn.LSTM(1, 1), "weight_hh_l0")
    with torch.no_grad():
        module.parametrizations.weight_hh_l0.original0.copy_(G1_MAGNITUDES)
        module.parametrizations.weight_hh_l0.original1.copy_(G1_DIRECTIONS)
    return module


@pytest.mark.parametrize("make", [old_weight_norm, new_weight_norm])
def test_g1_weight_norm_also_before_any_forward_pass(make: Any) -> None:
    module = make()
    for _ in range(2):
        close(recurrent(module), (0.1, 0.2, -0.3, 0.4))
        (layer,) = lg.recurrent_layers(module)
        assert not any("_g" in name or "_v" in name for name in layer.parts())
        (trace,) = lg.trace(module, torch.ones(4, 1, 1))
        assert trace.difference < 1e-6
        module(torch.ones(4, 1, 1))


@pytest.mark.parametrize(
    "wrap",
    [
        lambda module: weight_norm(module, "weight_hh_l1_reverse"),
        lambda module: parametrizations.weight_norm(module, "weight_ih_l1"),
        lambda module: spectral_norm(module, "weight_hh_l0"),
        lambda module: parametrizations.spectral_norm(module, "weight_hh_l0"),
        lambda module: parametrizations.orthogonal(module, "weight_hh_l0"),
        lambda module: prune.random_unstructured(module, "weight_hh_l0", 0.5),
    ],
    ids=["old weight_norm", "weight_norm", "old spectral_norm", "spectral", "orthogonal", "pruned"],
)
def test_weights_after_an_update_equal_those_of_the_next_forward_pass(wrap: Any) -> None:
    module = wrap(nn.LSTM(3, 4, 2, bidirectional=True, batch_first=True))
    module(X)
    with torch.no_grad():  # as an optimizer would
        for parameter in module.parameters():
            parameter.add_(torch.randn_like(parameter))
    layers = lg.recurrent_layers(module)
    traces = lg.trace(module, X)
    assert all(trace.difference < 1e-5 for trace in traces)
    own, _ = module.eval()(X)
    close(np.concatenate([trace.hidden_state for trace in traces[2:]], axis=-1), own)
    for layer, trace in zip(layers, traces, strict=True):
        for name, array in layer.parts().items():
            close(array, trace.layer.parts()[name], atol=0)


def test_reading_takes_no_step_of_a_power_iteration() -> None:
    module = parametrizations.spectral_norm(nn.LSTM(3, 4), "weight_hh_l0").train()
    before = {name: buffer.clone() for name, buffer in module.named_buffers()}
    lg.recurrent_layers(module)
    for name, buffer in module.named_buffers():
        torch.testing.assert_close(buffer, before[name], rtol=0, atol=0)


def test_g3_pruned_weights_are_zero() -> None:
    module = prune.l1_unstructured(nn.LSTM(4, 4), "weight_hh_l0", amount=0.5)

    def kernels() -> np.ndarray:
        (layer,) = lg.recurrent_layers(module)
        assert not any("orig" in name or "mask" in name for name in layer.parts())
        return np.stack(list(layer.recurrent_kernel.values()))

    before = kernels()
    assert (before == 0).sum() == 32
    prune.remove(module, "weight_hh_l0")
    close(kernels(), before, atol=0)


class WeightDrop(nn.Module):
    """As in fastai and AWD-LSTM: the wrapper keeps the weight, the module gets it with dropout."""

    def __init__(self, module: Any, name: str) -> None:
        super().__init__()
        self.module, self.name = module, name
        self.register_parameter(f"{name}_raw", nn.Parameter(getattr(module, name).data))
        del module._parameters[name]

    def forward(self, *args: Any) -> Any:
        raw = getattr(self, f"{self.name}_raw")
        setattr(self.module, self.name, nn.functional.dropout(raw, 0.5, self.training))
        return self.module(*args)


class WeightDropLSTM(nn.LSTM):
    """As in PyTorch-NLP: `forward` is another one, on the instance."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        raw = nn.Parameter(self.weight_hh_l0.data)
        forward = super().forward
        del self._parameters["weight_hh_l0"]
        self.weight_hh_l0_raw = raw

        def dropped(*given: Any) -> Any:
            self.weight_hh_l0 = nn.functional.dropout(raw, 0.5, self.training)
            return forward(*given)

        self.forward = dropped


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda: WeightDrop(nn.LSTM(3, 4, batch_first=True), "weight_hh_l0"), "module"),
        (lambda: WeightDropLSTM(3, 4, batch_first=True), "weight_drop_lstm_0"),
    ],
)
def test_g5_weight_drop_shows_the_weight_without_dropout(make: Any, name: str) -> None:
    model = make()
    raw = model.weight_hh_l0_raw.detach().reshape(4, 4, 4).transpose(1, 2)
    for _ in range(2):
        (layer,) = lg.recurrent_layers(model)
        assert layer.id == name
        close(np.stack(list(layer.recurrent_kernel.values())), raw, atol=0)
        (trace,) = lg.trace(model, X)
        assert trace.difference < 1e-5
        model.train()(X)  # leaves a weight with dropout behind


def test_g10_weights_that_are_not_contiguous() -> None:
    module = nn.LSTM(2, 3)
    fill = torch.arange(1.0, 5).repeat_interleave(3)[:, None].expand(12, 2)
    module.weight_ih_l0 = nn.Parameter(fill.t().contiguous().t())
    assert not module.weight_ih_l0.is_contiguous()
    (layer,) = lg.recurrent_layers(module)
    means = {gate: kernel.mean() for gate, kernel in layer.kernel.items()}
    assert means == {"input": 1, "forget": 2, "candidate": 3, "output": 4}


@pytest.mark.parametrize(
    "make", [torch.jit.script, lambda model: torch.jit.trace(model, torch.zeros(2, 5, 3))]
)
def test_g11_scripted_modules_show_their_weights_and_refuse_the_rest(make: Any) -> None:
    module = nn.Sequential(nn.LSTM(3, 4, 2, bidirectional=True))
    model = make(module)
    layers = lg.recurrent_layers(model)
    for layer, plain in zip(layers, lg.recurrent_layers(module), strict=True):
        assert layer.describe() == plain.describe()
        for name, array in layer.parts().items():
            close(array, plain.parts()[name], atol=0)
    with pytest.raises(ValueError, match=r"layer '0' is scripted.*Its weights can be shown"):
        lg.trace(model, X)
    with pytest.raises(ValueError, match="layer '0' is scripted"), lg.record(model):
        pass
    assert model.training


def test_g11_what_is_not_scripted_beside_it_is_traced() -> None:
    class Half(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.scripted = torch.jit.script(nn.Sequential(nn.LSTM(3, 4)))
            self.plain = nn.GRU(4, 2)

        def forward(self, x: torch.Tensor) -> Any:
            return self.plain(self.scripted(x)[0])

    assert [layer.id for layer in lg.recurrent_layers(Half())] == ["scripted/0", "plain"]
    with pytest.warns(UserWarning, match="layer 'scripted/0' is scripted"):
        (trace,) = lg.trace(Half(), X)
    assert trace.layer.id == "plain"


def test_i6_bfloat16_weights_are_shown_exactly() -> None:
    module = nn.LSTM(3, 4, batch_first=True, dtype=torch.bfloat16)
    with torch.no_grad():
        module.weight_ih_l0.fill_(1.0078125)
    (trace,) = lg.trace(module, X.bfloat16())
    assert trace.layer.options["dtype"] == "bfloat16"
    assert (trace.layer.kernel["forget"] == 1.0078125).all()
    assert trace.layer.kernel["forget"].dtype == np.float32
    assert trace.difference < 2e-2
    (same,) = lg.trace(module, X.bfloat16().float().numpy())  # NumPy has no bfloat16
    close(same.hidden_state, trace.hidden_state, atol=0)


def test_i7_float16_that_overflows_is_infinite() -> None:
    module = nn.LSTM(3, 4)
    with torch.no_grad():
        module.weight_ih_l0[0, 0] = 70000.0
    (layer,) = lg.recurrent_layers(module.half())
    assert layer.options["dtype"] == "float16"
    assert np.isinf(layer.kernel["input"]).sum() == 1


def test_i7_a_type_without_numbers_between_is_refused_by_name() -> None:
    model = nn.ModuleDict({"odd": nn.RNN(3, 4), "plain": nn.RNN(3, 4)})
    model["odd"].weight_ih_l0 = nn.Parameter(torch.ones(4, 3, dtype=torch.int8), False)
    with pytest.warns(UserWarning, match=r"layer 'odd' cannot be opened.*torch.int8"):
        (layer,) = lg.recurrent_layers(model)
    assert layer.id == "plain"


def test_float64_is_computed_in_float64() -> None:
    module = randomized(nn.GRU(3, 4, 2, batch_first=True).double())
    traces = lg.trace(module, X.double())
    assert traces[1].hidden_state.dtype == np.float64
    assert all(trace.difference < 1e-12 for trace in traces)


@pytest.mark.parametrize("make", [nn.LSTM, nn.GRU, nn.LSTMCell])
def test_autocast_widens_what_may_differ(make: Any) -> None:
    module = make(3, 4)
    with torch.autocast("cpu", dtype=torch.bfloat16):  # a warning would be an error
        (trace,) = lg.trace(module, X[0] if make is nn.LSTMCell else X)
    assert 0 < trace.difference < 5e-2


@pytest.mark.parametrize("dtype", [torch.qint8, torch.float16])
def test_quantized_layers_are_opened(dtype: Any) -> None:
    plain = nn.Sequential(randomized(nn.LSTM(3, 8, 2, bidirectional=True)))
    model = torch.ao.quantization.quantize_dynamic(plain, {nn.LSTM}, dtype=dtype)
    for layer, original in zip(lg.recurrent_layers(model), lg.recurrent_layers(plain), strict=True):
        assert (layer.id, layer.cell) == (original.id, "lstm")
        close(layer.kernel["forget"], original.kernel["forget"], atol=2e-2)
        close(layer.bias["forget"], original.bias["forget"])
    limit = 5e-2 if dtype == torch.qint8 else 1e-3
    assert all(trace.difference < limit for trace in lg.trace(model, X))


def test_quantized_cells_are_opened() -> None:
    model = nn.ModuleList([nn.LSTMCell(3, 4), nn.RNNCell(3, 4, nonlinearity="relu")])
    model = torch.ao.quantization.quantize_dynamic(model, {nn.LSTMCell, nn.RNNCell})
    lstm, rnn = lg.recurrent_layers(model)
    assert lstm.options["dtype"] == "qint8"
    assert rnn.options["activation"] == "relu"
    with lg.record(model) as recording:
        state = None
        for x in X.transpose(0, 1):
            state = model[0](x, state)
    (trace,) = recording.traces()
    assert trace.hidden_state.shape == (2, 5, 4)
    assert trace.difference < 5e-2


def test_weights_without_values_are_refused_by_name() -> None:
    with pytest.warns(UserWarning, match=r"layer 'lstm_0' cannot be opened.*meta device"):
        assert lg.recurrent_layers(nn.LSTM(3, 4, device="meta")) == []


def test_a_shard_is_refused_by_name() -> None:
    module = nn.LSTM(3, 4)
    module.weight_ih_l0 = nn.Parameter(torch.zeros(24))  # as FSDP and ZeRO leave it
    with pytest.warns(UserWarning, match=r"'weight_ih_l0' has the shape \(24,\).*a shard"):
        assert lg.recurrent_layers(module) == []
    with pytest.raises(ValueError, match="a shard"):
        lg.trace(module, X)


def test_a_users_own_parametrization() -> None:
    class Symmetric(nn.Module):
        def forward(self, weight: torch.Tensor) -> torch.Tensor:
            return weight.triu() + weight.triu(1).transpose(-1, -2)

    module = nn.RNN(3, 4, batch_first=True)
    parametrize.register_parametrization(module, "weight_hh_l0", Symmetric())
    (trace,) = lg.trace(module, X)
    kernel = trace.layer.recurrent_kernel["hidden"]
    close(kernel, kernel.T, atol=0)
    assert trace.difference < 1e-6
