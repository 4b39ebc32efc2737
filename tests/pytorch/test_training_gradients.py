"""The real gradients of training on PyTorch: `log_gradients` after `backward()`."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn.utils import parametrizations, prune, weight_norm

import lstm_gates_plugin as lg
from helpers.torch_matrix import ARRANGEMENTS, CELLS
from helpers.torch_modules import by_gate, randomized
from lstm_gates_plugin import capture
from lstm_gates_plugin.reading.files import FileSource
from lstm_gates_plugin.reading.source import MissingError
from lstm_gates_plugin.reading.store import Key
from lstm_gates_plugin.serve import answers
from lstm_gates_plugin.serve.answers import HealthCache

X = torch.randn(2, 6, 3, generator=torch.Generator().manual_seed(5))
KIND = "training_gradients"


class Net(nn.Module):
    """A frozen LSTM below one that is trained, as H7 has it."""

    def __init__(self) -> None:
        super().__init__()
        self.frozen = nn.LSTM(3, 4, batch_first=True).requires_grad_(False)
        self.trained = nn.LSTM(4, 4, batch_first=True)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        result: torch.Tensor = self.trained(self.frozen(x)[0])[0]
        return result


def gradients_of(module: Any) -> dict[str, np.ndarray]:
    """`.grad` of a module of one layer, by row name."""
    stored = {name.removesuffix("_l0"): each.grad for name, each in module.named_parameters()}
    return by_gate(stored, type(module).__name__)


def test_h7_frozen_and_not_yet_computed_are_told_apart(tmp_path: Path) -> None:
    model = Net()
    with lg.GateWriter(tmp_path / "run") as writer:
        writer.log_gradients(model, step=0)
        model(X).pow(2).mean().backward()
        writer.log_gradients(model, step=1)
    run = lg.read(tmp_path)["run"]
    expected = gradients_of(model.trained)
    norms = [np.linalg.norm(expected["kernel/forget"])]
    frozen, trained = run["frozen"].statistics(KIND), run["trained"].statistics(KIND)
    assert set(frozen.header["missing"].values()) == {"frozen"}
    assert list(frozen.header["missing"]) == frozen.header["rows"] == list(expected)
    assert trained.header["missing"] == {}
    for row in frozen.header["rows"]:
        assert frozen.column(row, "count").tolist() == [0, 0]
        assert frozen.column(row, "zero").tolist() == [0, 0]
        for column in ("mean", "norm", "max", "p50"):
            assert np.isnan(frozen.column(row, column)).all()
    series = run["trained"].series("kernel/forget", "norm", kind=KIND)
    assert series.steps.tolist() == [0, 1]
    assert np.isnan(series.values[0])
    np.testing.assert_allclose(series.values[1:], norms, rtol=1e-6)
    assert trained.column("kernel/forget", "count").tolist() == [0, expected["kernel/forget"].size]


def test_what_the_server_answers_of_them(tmp_path: Path) -> None:
    model = Net()
    model(X).sum().backward()
    with lg.GateWriter(tmp_path / "run") as writer:
        writer.log_gradients(model, step=5)
    source, run = FileSource(tmp_path), "run/lstm_gates"
    found = {
        one["layer"]["id"]: one for one in answers.health(source, run, HealthCache())["layers"]
    }
    assert found["frozen"]["kinds"][KIND]["rows"]["kernel/input"]["norm"] == ["NaN"]
    assert found["trained"]["kinds"][KIND]["rows"]["kernel/input"]["norm"][0] > 0
    key = Key(run, "frozen", KIND)
    assert b'kernel/input\\":\\"frozen' in answers.statistics(source, key)
    with pytest.raises(MissingError):
        answers.snapshots(source, key)


def test_before_backward_there_is_none_yet() -> None:
    frozen, trained = capture.training_gradients(Net())
    assert frozen.parts == trained.parts == {}
    assert set(frozen.missing.values()) == {"frozen"}
    assert set(trained.missing.values()) == {"not computed yet"}
    assert frozen.layer.options["frozen"] is True
    assert "frozen" not in trained.layer.options


@pytest.mark.parametrize("arrangement", ARRANGEMENTS, ids=lambda each: each[0])
@pytest.mark.parametrize("cell", CELLS)
def test_gradients_are_split_as_the_weights_are(cell: str, arrangement: Any) -> None:
    """With each parameter as its own gradient, each row but the biases is that of the weights."""
    _, count, both, bias = arrangement
    module = CELLS[cell](3, 4, count, bias=bias, bidirectional=both)
    for name, parameter in module.named_parameters():
        parameter.grad = parameter.detach().clone()
        if "bias_hh" in name:  # as autograd has it: both biases of a sum have its gradient
            parameter.grad = getattr(module, name.replace("hh", "ih")).detach().clone()
    for found in capture.training_gradients(module):
        assert found.missing == {}
        assert list(found.parts) == list(found.layer.parts())
        for row, weight in found.layer.parts().items():
            assert found.parts[row].shape == weight.shape
            if "bias" not in row:
                np.testing.assert_array_equal(found.parts[row], weight)


@pytest.mark.parametrize("make", [nn.LSTM, nn.GRU, nn.RNN])
def test_both_biases_count_once(make: Any) -> None:
    module = randomized(make(3, 4, batch_first=True))
    module(X)[0].pow(2).sum().backward()
    (found,) = capture.training_gradients(module)
    for row, gradient in gradients_of(module).items():
        np.testing.assert_array_equal(found.parts[row], gradient)
    (trace,) = lg.trace(module, X, loss=lambda outputs: outputs[0].pow(2).sum())
    for gate, gradient in trace.gradients.bias.items():
        np.testing.assert_allclose(found.parts[f"bias/{gate}"], gradient, atol=1e-4)


def test_one_frozen_bias_leaves_the_gradient_of_the_sum() -> None:
    module = nn.GRU(3, 4, batch_first=True)
    module.bias_ih_l0.requires_grad_(False)
    module(X)[0].sum().backward()
    (found,) = capture.training_gradients(module)
    assert found.missing == {"bias/candidate": "frozen"}
    recurrent = module.bias_hh_l0.grad.chunk(3)
    np.testing.assert_array_equal(found.parts["bias/reset"], recurrent[0])
    np.testing.assert_array_equal(found.parts["recurrent_bias/candidate"], recurrent[2])


def test_a_part_of_the_weights_is_frozen(tmp_path: Path) -> None:
    module = nn.LSTM(3, 4, batch_first=True)
    module.weight_hh_l0.requires_grad_(False)
    module(X)[0].sum().backward()
    (found,) = capture.training_gradients(module)
    assert set(found.missing) == {f"recurrent_kernel/{gate}" for gate in found.layer.gates}
    assert set(found.missing.values()) == {"frozen"}
    assert "frozen" not in found.layer.options


def test_a_layer_that_is_unfrozen_later_keeps_its_curve(tmp_path: Path) -> None:
    model = Net()
    with lg.GateWriter(tmp_path / "run") as writer:
        for step in range(4):
            model.frozen.requires_grad_(step >= 2)
            model.zero_grad()
            model(X).pow(2).mean().backward()
            writer.log_gradients(model, step=step)
            writer.log_weights(model, step=step)
    layer = lg.read(tmp_path)["run"]["frozen"]
    values = layer.series("kernel/forget", "norm", kind=KIND).values
    assert np.isnan(values).tolist() == [True, True, False, False]
    assert layer.statistics(KIND).omitted == []
    weights = layer.statistics("weights")
    assert weights.steps.tolist() == [0, 1, 2, 3]
    assert weights.column("kernel/forget", "change_since_start").tolist() == [0] * 4


def test_scaled_gradients_are_unscaled() -> None:
    module = nn.GRU(3, 4, batch_first=True)
    (module(X)[0].sum() * 1024).backward()
    (scaled,) = capture.training_gradients(module, 1024.0)
    module.zero_grad()
    module(X)[0].sum().backward()
    (plain,) = capture.training_gradients(module)
    for row, gradient in plain.parts.items():
        np.testing.assert_allclose(scaled.parts[row], gradient, rtol=1e-5)
    for scale in (0, -1.0, float("nan"), float("inf")):
        with pytest.raises(ValueError, match=r"scale=.* was given; expected what the loss"):
            capture.training_gradients(module, scale)


def test_gradients_in_half_precision_and_infinite_ones(tmp_path: Path) -> None:
    module = nn.LSTM(3, 4, batch_first=True).to(torch.bfloat16)
    module(X.to(torch.bfloat16))[0].sum().backward()
    module.weight_hh_l0.grad[0, 0] = float("inf")
    module.weight_hh_l0.grad[1, 0] = float("nan")
    with lg.GateWriter(tmp_path / "run") as writer:
        writer.log_gradients(module, step=3)
    found = lg.read(tmp_path)["run"]["lstm_0"].statistics(KIND)
    assert found.column("recurrent_kernel/input", "nan") == 1
    assert found.column("recurrent_kernel/input", "positive_infinite") == 1
    kernel = module.weight_ih_l0.grad.float().chunk(4)[0]
    np.testing.assert_allclose(found.column("kernel/input", "norm"), kernel.norm(), rtol=1e-5)


def with_parametrization(module: nn.LSTM) -> nn.Module:
    return parametrizations.weight_norm(module, "weight_hh_l0")


@pytest.mark.parametrize("wrap", [with_parametrization, lambda m: weight_norm(m, "weight_hh_l0")])
def test_weights_that_are_computed_are_refused_by_name(wrap: Any, tmp_path: Path) -> None:
    model = nn.ModuleDict({"normed": wrap(nn.LSTM(3, 4)), "plain": nn.GRU(3, 4)})
    with pytest.warns(UserWarning, match=r"layer 'normed' cannot be logged: its 'weight_hh_l0'"):
        (plain,) = capture.training_gradients(model)
    assert plain.layer.id == "plain"
    with (
        lg.GateWriter(tmp_path / "run") as writer,
        pytest.raises(ValueError, match=r"torch keeps no gradient by the weight itself"),
    ):
        writer.log_gradients(model["normed"], step=0)


def test_pruned_weights_have_the_gradients_of_what_is_trained() -> None:
    module = nn.LSTM(3, 4, batch_first=True)
    prune.random_unstructured(module, "weight_ih_l0", amount=0.5)
    module(X)[0].sum().backward()
    (found,) = capture.training_gradients(module)
    own = module.weight_ih_l0_orig.grad.chunk(4)[1].T
    np.testing.assert_array_equal(found.parts["kernel/forget"], own)
    assert (found.layer.kernel["forget"][found.parts["kernel/forget"] == 0] == 0).all()


def test_nothing_is_changed() -> None:
    model = Net().train()
    model(X).sum().backward()
    before = {name: each.grad for name, each in model.named_parameters()}
    values = {name: None if g is None else g.clone() for name, g in before.items()}
    capture.training_gradients(model)
    for name, each in model.named_parameters():
        assert each.grad is before[name]
        assert each.grad is None or torch.equal(each.grad, values[name])
    assert model.trained.training


def test_refusing_computes_no_weight() -> None:
    """A spectral norm goes on by one iteration whenever its weight is computed in training."""
    module = parametrizations.spectral_norm(nn.LSTM(3, 4), "weight_hh_l0")
    before = [buffer.clone() for buffer in module.buffers()]
    with pytest.raises(ValueError, match="torch keeps no gradient by the weight itself"):
        capture.training_gradients(module)
    assert len(before) > 0
    assert all(map(torch.equal, module.buffers(), before))


def test_weight_drop_has_the_gradients_of_the_raw_weight() -> None:
    module = nn.GRU(3, 4, batch_first=True)
    raw = nn.Parameter(module.weight_hh_l0.detach().clone())
    del module._parameters["weight_hh_l0"]
    module.register_parameter("weight_hh_l0_raw", raw)
    raw.grad = torch.ones_like(raw)
    (found,) = capture.training_gradients(module)
    assert (found.parts["recurrent_kernel/reset"] == 1).all()
    assert found.missing["kernel/reset"] == "not computed yet"


def test_a_run_that_goes_on_counts_on(tmp_path: Path) -> None:
    module = nn.GRU(3, 4, batch_first=True)
    module(X)[0].sum().backward()
    for first in (0, 3):
        with lg.GateWriter(tmp_path / "run") as writer:
            for step in range(first, first + 3):
                writer.log_gradients(module, step=step)
    found = lg.read(tmp_path)["run"]["gru_0"].statistics(KIND)
    assert found.steps.tolist() == [0, 1, 2, 3, 4, 5]
    assert found.log_calls == 6


def test_layers_names_and_steps(tmp_path: Path) -> None:
    model = Net()
    with lg.GateWriter(tmp_path / "run", layers="*trained") as writer:
        writer.log_gradients(model, step=2, name="critic")
        with pytest.raises(ValueError, match=r"step=2 was given for the training_gradients of"):
            writer.log_gradients(model, step=2, name="critic")
        with pytest.raises(ValueError, match=r"Linear has no recurrent layer to log"):
            writer.log_gradients(nn.Linear(2, 2), step=3)
    assert list(lg.read(tmp_path)["run"]) == ["critic/trained"]


def test_other_models_are_refused_with_what_to_do() -> None:
    with pytest.raises(TypeError, match=r"a model must be"):
        capture.training_gradients(object())
