"""check() on Flax, linen and nnx: mistakes are found, and the correct twins pass everything."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from flax import linen, nnx

import lstm_gates_plugin as lg
from lstm_gates_plugin.checks.report import CheckReport, CheckResult, Outcome

SAMPLES, TIMESTEPS, FEATURES, UNITS = 4, 7, 5, 6
X = np.random.default_rng(0).normal(size=(SAMPLES, TIMESTEPS, FEATURES)).astype("float32")


def loss(outputs: Any) -> Any:
    return jnp.mean(outputs**2)


def only_mistake(report: CheckReport) -> CheckResult:
    (mistake,) = report.mistakes
    return mistake


def assert_silent(report: CheckReport) -> None:
    assert {result.outcome for result in report} == {Outcome.PASSED}, report


class Linen(linen.Module):
    """The last output of a recurrent layer."""

    time_major: bool = False

    @linen.compact
    def __call__(self, x: Any) -> Any:
        outputs = linen.RNN(linen.LSTMCell(UNITS), time_major=self.time_major)(x)
        return outputs[:, -1]


class Carrying(nnx.Module):
    """Keeps its state for the next batch, if it is told to."""

    def __init__(self, carries: bool) -> None:
        rngs = nnx.Rngs(0)
        self.rnn = nnx.RNN(nnx.GRUCell(FEATURES, UNITS, rngs=rngs))
        self.state = nnx.Variable(jnp.zeros((SAMPLES, UNITS)))
        self.carries = carries

    def __call__(self, x: Any) -> Any:
        state, outputs = self.rnn(x, initial_carry=self.state[...], return_carry=True)
        if self.carries:
            self.state[...] = state
        return outputs[:, -1]


def test_swapped_axes_of_linen():
    for time_major in (False, True):
        module = Linen(time_major)
        variables = module.init(jax.random.key(0), X)
        report = lg.check((module, variables), X, loss=loss)
        if time_major:
            assert only_mistake(report).id == "LG101"
            assert len(only_mistake(report).layers) == 1
        else:
            assert_silent(report)


def test_a_state_carried_by_nnx():
    model = Carrying(carries=True)
    assert only_mistake(lg.check(model, X, loss=loss)).id == "LG106"
    assert not np.asarray(model.state[...]).any()
    assert_silent(lg.check(Carrying(carries=False), X, loss=loss))
