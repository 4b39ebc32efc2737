"""Networks really trained into trouble get its finding; fresh and healthy ones no warning."""

from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from torch import nn

import lstm_gates_plugin as lg
from helpers.torch_findings import (
    CHARACTERS,
    Batch,
    Stack,
    adding,
    copying,
    guessing,
    lstm,
    signs,
    sine,
    trained,
    worse,
)
from lstm_gates_plugin.diagnosis.diagnose import verdict

HEALTHY: dict[str, tuple[Callable[[], nn.Module], Batch]] = {
    "adding, LSTM": (lambda: Stack([lstm(2)], 1), adding),
    "adding, GRU": (lambda: Stack([nn.GRU(2, 16, batch_first=True)], 1), adding),
    "adding, two LSTMs": (lambda: Stack([lstm(2), lstm(16)], 1), adding),
    "sine, LSTM": (lambda: Stack([lstm(1)], 1, last=False), sine),
    "sine, tanh RNN": (lambda: Stack([nn.RNN(1, 16, batch_first=True)], 1, last=False), sine),
    "sine, ReLU RNN": (
        lambda: Stack([nn.RNN(1, 16, nonlinearity="relu", batch_first=True)], 1, last=False),
        sine,
    ),
    "copying, GRU": (lambda: Stack([nn.GRU(1, 16, batch_first=True)], 1, last=False), copying),
    "copying, both ways": (lambda: Stack([lstm(1, bidirectional=True)], 1, last=False), copying),
    "copying, two layers both ways": (
        lambda: Stack([lstm(1, bidirectional=True), lstm(32, bidirectional=True)], 1, last=False),
        copying,
    ),
    "characters, two LSTMs": (
        lambda: Stack([lstm(len(CHARACTERS)), lstm(16)], len(CHARACTERS), last=False),
        guessing,
    ),
    "characters, GRU": (
        lambda: Stack([nn.GRU(len(CHARACTERS), 16, batch_first=True)], len(CHARACTERS), last=False),
        guessing,
    ),
    "signs, LSTM": (lambda: Stack([lstm(1, 32)], 1, last=False), signs),
    "signs, no bias": (lambda: Stack([lstm(1, bias=False)], 1, last=False), signs),
}


@pytest.mark.parametrize("name", HEALTHY)
def test_a_healthy_training_has_no_warning(tmp_path: Path, name: str) -> None:
    build, batch = HEALTHY[name]
    assert worse(trained(tmp_path, build(), batch)) == []


@pytest.mark.parametrize("kind", [nn.LSTM, nn.GRU, nn.RNN])
@pytest.mark.parametrize("units", [2, 16, 128])
def test_a_fresh_network_has_no_warning(tmp_path: Path, kind: type[nn.RNNBase], units: int) -> None:
    for seed in range(3):
        torch.manual_seed(seed)
        directory = tmp_path / str(seed)
        with lg.GateWriter(directory) as writer:
            writer.log(kind(3, units, batch_first=True), step=0, probe=torch.randn(4, 20, 3))
        assert worse(lg.diagnose(directory)) == []


@pytest.mark.parametrize("kind", [nn.LSTM, nn.GRU, nn.RNN])
def test_the_first_updates_have_no_warning(tmp_path: Path, kind: type[nn.RNNBase]) -> None:
    for seed, (batch, inputs) in enumerate([(adding, 2), (copying, 1), (sine, 1)]):
        torch.manual_seed(seed)
        layers = [kind(inputs, 16, batch_first=True), kind(16, 16, batch_first=True)]
        model = Stack(layers, 1, last=batch is adding)
        directory = tmp_path / str(seed)
        updates = torch.optim.Adam(model.parameters())
        probe = batch()[0][:4]
        with lg.GateWriter(directory, every=1) as writer:
            for step in range(15):
                writer.log(model, step=step, probe=probe)
                x, y = batch()
                updates.zero_grad()
                nn.functional.mse_loss(model(x), y).backward()
                updates.step()
        assert worse(lg.diagnose(directory)) == []


def question(bias: bool) -> Stack:
    """Four layers, uniform in -0.15 ... 0.15, as in the question about the flat histogram."""
    model = Stack([lstm(2, 32, bias=bias), *(lstm(32, 32, bias=bias) for _ in range(3))], 1)
    for name, weight in model.named_parameters():
        if "weight" in name:
            nn.init.uniform_(weight, -0.15, 0.15)
    return model


def test_the_flat_histogram_is_explained(tmp_path: Path) -> None:
    model = question(bias=False)
    last = [*model.layer[3].parameters(), *model.head.parameters()]
    found = trained(tmp_path, model, adding, learning=last)
    still = [f"layer/{number}" for number in range(3)]
    assert worse(found) == [("LG012", None), *[("LG010", layer) for layer in still]]
    assert [one.title for one in found if one.id == "LG012"] == ["only the last layer learns"]
    assert [one.layer for one in found if one.id == "LG020"] == [one for one in still for _ in "12"]
    recurrent = [one for one in found if one.id == "LG020" and "recurrent" in str(one.row)]
    for one in recurrent:
        assert one.title == "still has the weights that it started with"
        assert "a plateau between -0.15 and 0.15 (a uniform distribution)" in one.seen
        assert one.seen.endswith("The framework's default is uniform between -0.18 and 0.18.")
        assert (one.first_step, one.last_step) == (0, 120)
    (bias,) = [one for one in found if one.id == "LG021"]
    assert bias.seen == "None of the 4 recurrent layers has a bias."
    assert all(one.try_ for one in found)
    assert verdict(found, 4) == "1 of 4 layers looks fine; only the last layer learns."


def test_the_corrected_network_is_fine(tmp_path: Path) -> None:
    found = trained(tmp_path, question(bias=True), adding)
    assert worse(found) == []
    assert not {"LG020", "LG021"} & {one.id for one in found}


def test_a_layer_told_to_be_frozen_is_a_note(tmp_path: Path) -> None:
    model = Stack([lstm(2), lstm(16)], 1)
    model.layer[0].requires_grad_(False)
    rest = [weight for weight in model.parameters() if weight.requires_grad]
    found = trained(tmp_path, model, adding, learning=rest)
    assert worse(found) == []
    (frozen,) = [one for one in found if one.id == "LG014"]
    assert (frozen.layer, frozen.first_step, frozen.last_step) == ("layer/0", 0, 120)
    still = [one for one in found if one.id == "LG020"]
    assert [one.layer for one in still] == ["layer/0", "layer/0"]
    assert still[1].seen.endswith(
        "That is the framework's default, uniform between -0.25 and 0.25."
    )


def test_weights_that_were_learned_before_are_not_called_the_initialisers(tmp_path: Path) -> None:
    model = Stack([lstm(2), lstm(16)], 1)
    trained(tmp_path / "before", model, adding, rate=0.02)
    model.layer[0].requires_grad_(False)
    rest = [weight for weight in model.parameters() if weight.requires_grad]
    found = trained(tmp_path / "after", model, adding, learning=rest)
    still = [one for one in found if one.id == "LG020"]
    assert "a bell" in still[1].seen
    assert still[1].seen.endswith("The framework's default is uniform between -0.25 and 0.25.")


def test_only_biases_learn(tmp_path: Path) -> None:
    model = Stack([lstm(2)], 1)
    biases = [weight for name, weight in model.named_parameters() if "bias" in name]
    found = trained(tmp_path, model, adding, learning=biases)
    assert worse(found) == [("LG013", "layer/0")]
    assert (found[0].gate, found[0].first_step, found[0].last_step) == ("bias", 0, 120)


def test_sequences_of_one_timestep_teach_no_recurrent_kernel(tmp_path: Path) -> None:
    def one_timestep() -> tuple[torch.Tensor, torch.Tensor]:
        x, y = adding()
        return x.reshape(-1, 1, 2), y.repeat_interleave(20, 0)

    found = trained(tmp_path, Stack([lstm(2)], 1), one_timestep)
    still = [one for one in found if one.id == "LG011"]
    # Without a state before, the forget gate does nothing, and learns nothing.
    assert [one.gate for one in still] == ["recurrent_kernel", "forget"]
    assert {(one.layer, one.first_step, one.last_step) for one in still} == {("layer/0", 0, 120)}


def test_a_learning_rate_far_too_high(tmp_path: Path) -> None:
    found = trained(tmp_path, Stack([lstm(2)], 1), adding, rate=10.0)
    assert worse(found) == [("LG035", "layer/0")]
    (spread,) = [one for one in found if one.id == "LG022"]
    assert (spread.first_step, spread.last_step) == (8, 120)
    assert spread.value > 100


def test_a_learning_rate_far_too_low(tmp_path: Path) -> None:
    found = trained(tmp_path, Stack([lstm(2)], 1), adding, rate=1e-8)
    assert worse(found) == [("LG016", "layer/0")]


def test_an_exploding_training_is_an_error_from_its_first_step(tmp_path: Path) -> None:
    model = Stack([nn.RNN(2, 16, nonlinearity="relu", batch_first=True)], 1)
    found = trained(tmp_path, model, adding, rate=5.0, optimizer=torch.optim.SGD, clip=None)
    (error,) = [one for one in found if one.severity == "error"]
    assert (error.id, error.layer) == ("LG001", "layer/0")
    weights = lg.read(tmp_path)["."]["layer/0"].series("kernel/hidden", "nan")
    assert error.first_step == weights.steps[(weights.values > 0).argmax()]
