"""How far back the error reaches, on recurrences whose answer is known."""

import math
from dataclasses import replace

import numpy as np
import pytest

import lstm_gates_plugin as lg
from helpers.layers import make_layer
from lstm_gates_plugin import cells
from lstm_gates_plugin.cells.through_time import backward
from lstm_gates_plugin.measure.reach import POSITIONS, reach


def traced(layer: lg.RecurrentLayer, x: np.ndarray, seed: np.ndarray, mask=None) -> lg.GateTrace:
    trace = cells.forward(layer, x, mask)
    return replace(trace, gradients=backward(trace, x, seed))


def relu_rnn(weight: float, direction: str = "forward") -> lg.RecurrentLayer:
    one = np.ones((1, 1))
    return lg.RecurrentLayer.from_arrays(
        "simple_rnn", one, weight * one, activation="relu", direction=direction
    )


@pytest.mark.parametrize("direction", ["forward", "backward"])
@pytest.mark.parametrize(("weight", "timesteps"), [(0.5, 6), (0.1, 2), (0.001, 0)])
def test_a_relu_recurrence_leaves_the_weight_to_the_power_of_the_lag(weight, timesteps, direction):
    x = np.ones((2, 20, 1))
    found = reach(traced(relu_rnn(weight, direction), x, np.ones_like(x)))
    np.testing.assert_allclose(found.ratios, weight ** np.arange(20.0), rtol=1e-12)
    assert found.timesteps == timesteps
    assert not found.is_censored
    assert found.positions == 2 * POSITIONS


def test_all_of_a_sequence_is_reached_and_said_to_be():
    x = np.ones((1, 12, 1))
    found = reach(traced(relu_rnn(1.0), x, np.ones_like(x)))
    assert (found.timesteps, found.is_censored) == (11, True)


def test_it_does_not_depend_on_where_the_loss_is():
    x = np.ones((1, 20, 1))
    for at in ([19], [3, 4, 5], range(20)):
        seed = np.zeros_like(x)
        seed[:, list(at)] = 0.3
        found = reach(traced(relu_rnn(0.5), x, seed))
        assert found.ratios[2] == pytest.approx(0.25)
        assert len(found.ratios) == max(at) + 1


def test_masked_timesteps_are_no_lag():
    x = np.ones((1, 8, 1))
    mask = np.array([[True, True, False, False, True, True, True, False]])
    found = reach(traced(relu_rnn(0.5), x, np.ones_like(x), mask))
    np.testing.assert_allclose(found.ratios, 0.5 ** np.arange(5.0))


def test_an_exploding_gradient_reaches_as_far_as_it_is_finite():
    one = np.ones((1, 1), np.float32)
    layer = lg.RecurrentLayer.from_arrays("simple_rnn", one, 2 * one, activation="linear")
    seed = np.zeros((1, 200, 1), np.float32)
    seed[0, -1] = 1
    found = reach(traced(layer, np.ones((1, 200, 1), np.float32), seed))
    assert np.isinf(found.ratios[128:]).all()
    assert (found.timesteps, found.is_censored) == (127, False)


def test_no_loss_no_reach():
    x = np.ones((1, 8, 1))
    assert reach(traced(relu_rnn(0.5), x, np.zeros_like(x))) is None
    assert reach(cells.forward(relu_rnn(0.5), x)) is None


def test_what_is_no_number_is_none():
    layer = relu_rnn(math.nan)
    x = np.ones((1, 8, 1))
    found = reach(traced(layer, x, np.ones_like(x)))
    assert np.isnan(found.ratios).all()
    assert found.timesteps == 0


@pytest.mark.parametrize("cell", ["lstm", "gru", "simple_rnn"])
def test_few_numbers_at_once_give_the_same(cell, monkeypatch):
    layer = make_layer(cell)
    rng = np.random.default_rng(0)
    x, seed = rng.normal(size=(3, 25, 3)), rng.normal(size=(3, 25, 4))
    trace = traced(layer, x, seed)
    at_once = reach(trace)
    monkeypatch.setattr("lstm_gates_plugin.measure.reach._AT_ONCE", 1)
    np.testing.assert_array_equal(at_once.ratios, reach(trace).ratios)
