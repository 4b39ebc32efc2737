"""check() on any Keras: each mistake is found and named, and its correct twin passes everything."""

from typing import Any

import numpy as np
import pytest

import lstm_gates_plugin as lg
from helpers.any_keras import BACKEND, IS_TF_KERAS, backend, functional, keras, layers, sequential
from lstm_gates_plugin.checks.report import CheckReport, CheckResult, Outcome

SAMPLES, TIMESTEPS, FEATURES, UNITS = 4, 9, 5, 6
X = np.random.default_rng(0).normal(size=(SAMPLES, TIMESTEPS, FEATURES)).astype("float32")
LENGTHS = np.array([9, 7, 6, 4])
PADDED = X * (np.arange(TIMESTEPS) < LENGTHS[:, None])[..., None].astype("float32")


def loss(outputs: Any) -> Any:
    """The mean square of what a model puts out."""
    if BACKEND == "tensorflow":
        return backend.reduce_mean(outputs**2)
    return keras.ops.mean(outputs**2)


def only_mistake(report: CheckReport) -> CheckResult:
    (mistake,) = report.mistakes
    return mistake


def assert_silent(report: CheckReport) -> None:
    assert {result.outcome for result in report} == {Outcome.PASSED}, report


def last(sequences: Any) -> Any:
    return sequences[:, -1]


def swapped(sequences: Any) -> Any:
    """Time first, as a layer that takes the batch first should not get it."""
    transpose = backend.transpose if BACKEND == "tensorflow" else keras.ops.transpose
    return transpose(sequences, (1, 0, 2))


def test_a_correct_model_passes_everything():
    model = sequential(
        (TIMESTEPS, FEATURES),
        layers.Bidirectional(layers.LSTM(UNITS, return_sequences=True)),
        layers.GRU(UNITS),
        layers.Dense(3),
    )
    assert_silent(lg.check(model, X, loss=loss))


def test_swapped_axes_are_named_with_the_layer():
    model = sequential(
        (TIMESTEPS, FEATURES),
        layers.Lambda(swapped),
        layers.LSTM(UNITS, return_sequences=True),
        layers.Lambda(swapped),
        layers.Dense(3),
    )
    mistake = only_mistake(lg.check(model, X, loss=loss))
    assert (mistake.id, mistake.layers) == ("LG101", ("lstm_0",))


def test_the_backward_direction_read_after_one_timestep():
    both = layers.Bidirectional(layers.LSTM(UNITS, return_sequences=True))
    wrong = sequential((TIMESTEPS, FEATURES), both, layers.Lambda(last))
    mistake = only_mistake(lg.check(wrong, X, loss=loss))
    assert (mistake.id, mistake.layers) == ("LG102", ("bidirectional_0/backward",))
    right = sequential((TIMESTEPS, FEATURES), layers.Bidirectional(layers.LSTM(UNITS)))
    assert_silent(lg.check(right, X, loss=loss))


def test_the_state_read_after_padding_that_is_not_masked():
    wrong = sequential((None, FEATURES), layers.LSTM(UNITS), layers.Dense(3))
    mistake = only_mistake(lg.check(wrong, PADDED, loss=loss))
    assert (mistake.id, mistake.layers) == ("LG103", ("lstm_0",))
    right = sequential((None, FEATURES), layers.Masking(), layers.LSTM(UNITS), layers.Dense(3))
    assert_silent(lg.check(right, PADDED, loss=loss))


def test_padding_of_tokens():
    tokens = np.random.default_rng(1).integers(1, 11, (SAMPLES, TIMESTEPS))
    tokens *= np.arange(TIMESTEPS) < LENGTHS[:, None]
    wrong = sequential((None,), layers.Embedding(11, FEATURES), layers.GRU(UNITS))
    assert only_mistake(lg.check(wrong, tokens, loss=loss)).id == "LG103"
    masked = layers.Embedding(11, FEATURES, mask_zero=True)
    assert_silent(lg.check(sequential((None,), masked, layers.GRU(UNITS)), tokens, loss=loss))


def test_inputs_that_are_not_scaled():
    model = sequential((TIMESTEPS, FEATURES), layers.LSTM(UNITS))
    assert only_mistake(lg.check(model, 100 * X, loss=loss)).id == "LG104"
    normalization = layers.Normalization()
    normalization.adapt(100 * X)
    right = sequential((TIMESTEPS, FEATURES), normalization, layers.LSTM(UNITS))
    assert_silent(lg.check(right, 100 * X, loss=loss))


def test_layers_that_the_loss_does_not_reach():
    class TwoHeads(layers.Layer):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.one, self.other = layers.LSTM(UNITS), layers.GRU(UNITS)

        def call(self, x: Any) -> Any:
            return self.one(x), self.other(x)

    model = functional((TIMESTEPS, FEATURES), TwoHeads())
    mistake = only_mistake(lg.check(model, X, loss=lambda outputs: loss(outputs[0])))
    assert mistake.id == "LG105"
    assert [id.rpartition("/")[2] for id in mistake.layers] == ["other"]
    assert_silent(lg.check(model, X, loss=lambda outputs: loss(outputs[0]) + loss(outputs[1])))


def test_a_state_carried_from_batch_to_batch():
    stateful = layers.LSTM(UNITS, stateful=True)
    model = sequential((TIMESTEPS, FEATURES), stateful, layers.Dense(3), batch=SAMPLES)
    mistake = only_mistake(lg.check(model, X, loss=loss))
    assert (mistake.id, mistake.layers) == ("LG106", ("lstm_0",))
    states = stateful.states if IS_TF_KERAS else [each.value for each in stateful.states]
    for state in states:
        assert not np.asarray(state.cpu() if BACKEND == "torch" else state).any()


@pytest.mark.parametrize("arguments", [{"sample_axis": -1}])
def test_wrong_use_is_explained(arguments):
    model = sequential((TIMESTEPS, FEATURES), layers.LSTM(UNITS))
    with pytest.raises(ValueError, match="sample_axis=-1"):
        lg.check(model, X, **arguments)
