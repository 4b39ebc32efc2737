"""check() on PyTorch: each mistake is found and named, and its correct twin passes everything."""

from typing import Any

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn.functional import cross_entropy
from torch.nn.utils.rnn import pack_padded_sequence

import lstm_gates_plugin as lg
from lstm_gates_plugin.checks.report import CheckReport, CheckResult, Outcome

SAMPLES, TIMESTEPS, FEATURES, UNITS, CLASSES = 4, 9, 5, 6, 3
X = torch.randn(SAMPLES, TIMESTEPS, FEATURES, generator=torch.Generator().manual_seed(0))
LENGTHS = torch.tensor([9, 7, 6, 4])
PADDED = X * (torch.arange(TIMESTEPS) < LENGTHS[:, None])[..., None]
TARGET = torch.tensor([0, 1, 2, 0])


def loss(outputs: torch.Tensor) -> torch.Tensor:
    return cross_entropy(outputs, TARGET)


class Classifier(nn.Module):
    """Reads a sequence with one recurrent module, and classifies its end."""

    def __init__(self, **options: Any) -> None:
        super().__init__()
        torch.manual_seed(1)
        self.rnn = nn.LSTM(FEATURES, UNITS, **{"batch_first": True, **options})
        self.head = nn.Linear(UNITS * (2 if self.rnn.bidirectional else 1), CLASSES)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.head(self.end(x))

    def end(self, x: torch.Tensor) -> torch.Tensor:
        """The final states."""
        _, (hidden, _) = self.rnn(x)
        directions = hidden[-2:] if self.rnn.bidirectional else hidden[-1:]
        return torch.cat(tuple(directions), dim=-1)


class LastTimestep(Classifier):
    """Takes the output at the last timestep."""

    def end(self, x: torch.Tensor) -> torch.Tensor:
        return self.rnn(x)[0][:, -1]


class LastOfTheFirstAxis(Classifier):
    """Takes what is last along the first axis."""

    def end(self, x: torch.Tensor) -> torch.Tensor:
        return self.rnn(x)[0][-1]


class Packed(Classifier):
    """Packs the sequences; takes the final states."""

    def forward(self, x: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
        packed = pack_padded_sequence(x, lengths, batch_first=True)
        _, (hidden, _) = self.rnn(packed)
        return self.head(hidden[-1])


class Carrying(Classifier):
    """Keeps the state for the next batch."""

    state: Any = None

    def end(self, x: torch.Tensor) -> torch.Tensor:
        output, self.state = self.rnn(x, self.state)
        return output[:, -1]


class WithUnused(Classifier):
    """Has a second layer whose output goes nowhere, and a third that is never called."""

    def __init__(self) -> None:
        super().__init__()
        self.extra = nn.GRU(FEATURES, UNITS, batch_first=True)
        self.never = nn.GRU(FEATURES, UNITS, batch_first=True)

    def end(self, x: torch.Tensor) -> torch.Tensor:
        self.extra(x)
        return super().end(x)


def only_mistake(report: CheckReport) -> CheckResult:
    (mistake,) = report.mistakes
    assert mistake.advice
    return mistake


def assert_silent(report: CheckReport) -> None:
    assert {result.outcome for result in report} == {Outcome.PASSED}, report


def result(report: CheckReport, id: str) -> CheckResult:
    return next(one for one in report if one.id == id)


@pytest.mark.parametrize(
    "model",
    [
        Classifier(),
        Classifier(bidirectional=True, num_layers=2),
        LastTimestep(),
        Classifier(num_layers=2),
    ],
    ids=["final state", "both directions", "last timestep", "two layers"],
)
def test_correct_models_pass_everything(model):
    assert_silent(lg.check(model, X, loss=loss))
    assert model.training


def test_swapped_axes_are_named_with_the_layer():
    mistake = only_mistake(lg.check(LastTimestep(batch_first=False), X, loss=loss))
    assert (mistake.id, mistake.layers) == ("LG101", ("rnn",))
    assert "4 samples are read as timesteps" in mistake.seen
    assert "batch_first=True" in mistake.advice


def test_swapped_axes_are_found_where_there_are_as_many_timesteps_as_samples():
    x = X[:, :SAMPLES]
    mistake = only_mistake(lg.check(LastTimestep(batch_first=False), x, loss=loss))
    assert (mistake.id, mistake.layers) == ("LG101", ("rnn",))
    assert_silent(lg.check(LastTimestep(), x, loss=loss))


def test_time_first_on_purpose_passes_with_its_sample_axis():
    model = LastOfTheFirstAxis(batch_first=False)
    assert_silent(lg.check(model, X.transpose(0, 1), loss=loss, sample_axis=1))


def test_the_last_sample_in_place_of_the_last_timestep():
    report = lg.check(LastOfTheFirstAxis(), X, loss=lambda outputs: outputs.sum())
    assert only_mistake(report).id == "LG101"
    assert "(9, 3)" in only_mistake(report).seen
    assert "out[:, -1]" in only_mistake(report).advice


def test_samples_mixed_by_the_model_itself():
    class Mixing(Classifier):
        def end(self, x: torch.Tensor) -> torch.Tensor:
            return super().end(x) - super().end(x).mean(dim=0)

    mistake = only_mistake(lg.check(Mixing(), X, loss=loss))
    assert (mistake.id, mistake.layers) == ("LG101", ())


def test_the_backward_direction_read_after_one_timestep():
    mistake = only_mistake(lg.check(LastTimestep(bidirectional=True), X, loss=loss))
    assert (mistake.id, mistake.layers) == ("LG102", ("rnn/backward",))
    assert "exactly zero" in mistake.seen


def test_only_the_top_layer_is_read_too_early():
    report = lg.check(LastTimestep(bidirectional=True, num_layers=2), X, loss=loss)
    assert only_mistake(report).layers == ("rnn/layer_1/backward",)


def test_the_state_read_after_padding_that_is_not_masked():
    mistake = only_mistake(lg.check(Classifier(), PADDED, loss=loss))
    assert (mistake.id, mistake.layers) == ("LG103", ("rnn",))
    assert "3 of 4 samples" in mistake.seen
    assert_silent(lg.check(Packed(), PADDED, LENGTHS, loss=loss))


def test_a_loss_that_reads_the_padding_of_an_output():
    class Outputs(Classifier):
        def end(self, x: torch.Tensor) -> torch.Tensor:
            return self.rnn(x)[0]

    mistake = only_mistake(lg.check(Outputs(), PADDED, loss=lambda out: loss(out[:, -1])))
    assert mistake.id == "LG103"
    rows = torch.arange(SAMPLES)
    assert_silent(lg.check(Outputs(), PADDED, loss=lambda out: loss(out[rows, LENGTHS - 1])))


def test_padding_of_tokens():
    class Reader(Classifier):
        def __init__(self) -> None:
            super().__init__()
            self.embedding = nn.Embedding(11, FEATURES)

        def end(self, x: torch.Tensor) -> torch.Tensor:
            return super().end(self.embedding(x))

    tokens = torch.randint(1, 11, (SAMPLES, TIMESTEPS), generator=torch.Generator().manual_seed(2))
    assert_silent(lg.check(Reader(), tokens, loss=loss))
    tokens = tokens * (torch.arange(TIMESTEPS) < LENGTHS[:, None])
    assert only_mistake(lg.check(Reader(), tokens, loss=loss)).id == "LG103"


def test_inputs_that_are_not_scaled():
    mistake = only_mistake(lg.check(Classifier(), 100 * X, loss=loss))
    assert (mistake.id, mistake.layers) == ("LG104", ("rnn",))
    assert f"mean {100 * float(X.mean()):.3g}" in mistake.seen
    mistake = only_mistake(lg.check(Classifier(), X / 1000, loss=loss))
    assert "Tiny" in mistake.seen


def test_layers_that_the_loss_does_not_reach():
    mistake = only_mistake(lg.check(WithUnused(), X, loss=loss))
    assert (mistake.id, mistake.layers) == ("LG105", ("never", "extra"))
    assert "did not run layer 'never'" in mistake.seen
    assert "does not depend on layer 'extra'" in mistake.seen


@pytest.mark.parametrize("both", [False, True], ids=["one direction", "both directions"])
def test_a_state_carried_from_batch_to_batch(both):
    model = Carrying(bidirectional=both)
    report = lg.check(model, X, loss=loss)
    expected = ("rnn/forward", "rnn/backward") if both else ("rnn",)
    assert result(report, "LG106").layers == expected
    assert result(report, "LG106").outcome is Outcome.MISTAKE
    assert model.state is None


def test_what_needs_a_loss_says_so():
    report = lg.check(Classifier(), X)
    unjudged = {one.id for one in report if one.outcome is Outcome.NOT_JUDGED}
    assert unjudged == {"LG102", "LG105"}
    assert "loss=fn" in result(report, "LG102").seen


def test_one_sample_is_too_few():
    seen = result(lg.check(Classifier(), X[:1]), "LG101")
    assert seen.outcome is Outcome.NOT_JUDGED
    assert "two or more" in seen.seen


def test_random_outputs_are_not_judged():
    class Noisy(Classifier):
        def end(self, x: torch.Tensor) -> torch.Tensor:
            return super().end(x) + torch.tensor(np.random.default_rng().normal())

    assert "random" in result(lg.check(Noisy(), X), "LG101").seen


def test_the_table_has_a_line_and_a_sentence_for_each():
    lines = repr(lg.check(LastTimestep(bidirectional=True), X, loss=loss)).splitlines()
    heads = [line for line in lines if line.startswith("LG")]
    assert [head[:5] for head in heads] == [f"LG10{number}" for number in range(1, 7)]
    assert heads[1].split() == [
        *("LG102", "states", "are", "read", "at", "their", "end", "MISTAKE", "rnn/backward")
    ]
    assert max(map(len, lines)) <= 100


def test_everything_is_as_before():
    model = Carrying()
    model.rnn.weight_hh_l0.grad = torch.ones_like(model.rnn.weight_hh_l0)
    weights = {name: value.clone() for name, value in model.state_dict().items()}
    random = torch.random.get_rng_state()
    lg.check(model, X, loss=loss)
    assert all(torch.equal(value, weights[name]) for name, value in model.state_dict().items())
    assert torch.equal(torch.random.get_rng_state(), random)
    assert torch.equal(model.rnn.weight_hh_l0.grad, torch.ones_like(model.rnn.weight_hh_l0))


def test_wrong_use_is_explained():
    with pytest.raises(ValueError, match="sample_axis=2"):
        lg.check(Classifier(), X, sample_axis=2)
    with pytest.raises(ValueError, match="recurrent"):
        lg.check(nn.Linear(3, 3), torch.ones(2, 3))
