"""Numbers that rules take from papers are the papers' numbers, and the papers are named."""

import numpy as np
import pytest

from lstm_gates_plugin.diagnosis.finding import Rule
from lstm_gates_plugin.diagnosis.recurrence import STEEPEST
from lstm_gates_plugin.diagnosis.rules import memory, recurrence, saturation, values
from lstm_gates_plugin.measure.statistics import saturation as shares

KARPATHY = "Karpathy, Johnson and Fei-Fei 2015 (arXiv 1506.02078)"
PASCANU = "Pascanu, Mikolov and Bengio 2013 (arXiv 1211.5063), section 2.1"
JOZEFOWICZ = "Jozefowicz, Zaremba and Sutskever 2015 (ICML, PMLR 37)"


@pytest.mark.parametrize(
    ("rule", "limit"),
    [
        (saturation.ALWAYS_REMEMBERS, "above 0.9"),
        (saturation.AT_LIMITS, "above 0.9"),
        (saturation.ALWAYS_FORGETS, "below 0.1"),
    ],
    ids=lambda one: one.id if isinstance(one, Rule) else "",
)
def test_gates_are_saturated_below_a_tenth_and_above_nine_tenths(rule: Rule, limit: str) -> None:
    """Left-saturated below 0.1, right-saturated above 0.9 (section 4.2 and figure 3)."""
    assert rule.source.startswith(limit)
    assert KARPATHY in rule.source
    assert limit in rule.formula
    gates = np.array([0.09, 0.1, 0.11, 0.5, 0.5, 0.5, 0.5, 0.89, 0.9, 0.91])
    assert shares(gates) == {"nearly_closed": 0.1, "nearly_open": 0.1}


def test_the_forget_bias_is_to_be_1() -> None:
    rule = memory.LOW_FORGET_BIAS
    assert rule.source.startswith(f"a forget bias of 1: {JOZEFOWICZ}; halfway to it from 0")
    assert rule.threshold == (0 + 1) / 2


@pytest.mark.parametrize("rule", [recurrence.EXPLODES, recurrence.VANISHES], ids=lambda one: one.id)
def test_gamma_is_the_steepest_slope(rule: Rule) -> None:
    """1 for tanh and 1/4 for the sigmoid, as in the paper."""
    assert PASCANU in rule.source
    assert "1 for tanh and ReLU, 1/4 for sigmoid" in rule.formula
    z = np.linspace(-4, 4, 8001)
    functions = {"tanh": np.tanh(z), "sigmoid": 1 / (1 + np.exp(-z)), "relu": np.maximum(z, 0)}
    for name, values_at in functions.items():
        assert np.gradient(values_at, z).max() == pytest.approx(STEEPEST[name], rel=1e-4)


def test_the_largest_float16() -> None:
    assert values.FLOAT16_LIMIT.threshold == float(np.finfo(np.float16).max) / 4
    assert "IEEE 754" in values.FLOAT16_LIMIT.source
