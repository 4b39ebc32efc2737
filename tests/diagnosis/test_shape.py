"""The shape of a distribution in words, over many seeds and sizes."""

import numpy as np
import pytest

from lstm_gates_plugin.diagnosis import shape
from lstm_gates_plugin.diagnosis.initialisers import default_initialiser
from lstm_gates_plugin.measure.statistics import distribution

SEEDS = range(200)


def described(values: np.ndarray) -> str:
    found = distribution(values)
    return shape.describe(
        found.histogram, found.bounds, found.numbers["mean"], found.numbers["std"]
    )


def share(start: str, draw: str, entries: int) -> float:
    """The share of samples of a distribution that are described as such."""
    named = [
        described(getattr(np.random.default_rng(seed), draw)(size=entries)).startswith(start)
        for seed in SEEDS
    ]
    return float(np.mean(named))


@pytest.mark.parametrize("entries", [256, 1024, 4096, 65536])
def test_a_plateau_is_told_from_a_bell(entries: int) -> None:
    assert share("a plateau", "uniform", entries) >= 0.97
    assert share("a plateau", "standard_normal", entries) == 0
    assert share("a bell", "standard_normal", entries) >= 0.97
    assert share("a bell", "uniform", entries) <= 0.03


def test_k1_the_range_of_a_plateau_is_said() -> None:
    values = np.random.default_rng(0).uniform(-0.15, 0.15, 4096)
    assert described(values) == "a plateau between -0.15 and 0.15"


def test_k3_zeros_and_ones_are_two_spikes() -> None:
    values = np.repeat([0.0, 1.0], [300, 100])
    assert described(values) == "2 spikes, at 0 and 1"


def test_a_sharp_peak_is_neither() -> None:
    values = np.random.default_rng(0).laplace(size=4096)
    assert described(values).startswith("neither a bell nor a plateau, with one peak at 0, between")


@pytest.mark.parametrize("value", [0.0, 1.0, 0.5])
def test_k6_a_constant_is_a_single_spike(value: float) -> None:
    found = distribution(np.full(400, value))
    assert int(found.histogram.sum()) == 400
    assert described(np.full(400, value)) == f"a single spike at {value:.3g}"


def test_k4_an_outlier_does_not_hide_the_bell() -> None:
    values = np.append(np.random.default_rng(0).normal(size=4095), 1e6)
    found = distribution(values)
    # The outlier's spread is not the bell's: nothing wrong is said, and the range is the bell's.
    assert found.bounds[1] < 10
    assert not described(values).startswith("a plateau")


def test_k7_counts_add_up_to_the_number_of_weights() -> None:
    assert distribution(np.random.default_rng(0).normal(size=16)).histogram.sum() == 16


def test_too_few_entries_have_no_shape() -> None:
    assert described(np.linspace(0, 1, 16)) == "16 values between 0 and 1, too few to tell a shape"
    assert described(np.full(3, np.nan)) == "nothing finite"


@pytest.mark.parametrize(
    ("framework", "part", "name", "limit"),
    [
        ("torch", "kernel", "uniform", 0.25),
        ("torch", "recurrent_kernel", "uniform", 0.25),
        ("keras", "kernel", "Glorot uniform", np.sqrt(6 / (8 + 64))),
        ("tf_keras", "recurrent_kernel", "orthogonal", None),
        ("tf1", "kernel", "Glorot uniform", np.sqrt(6 / (8 + 16 + 64))),
        ("flax", "kernel", "LeCun normal", None),
    ],
)
def test_defaults(framework: str, part: str, name: str, limit: float | None) -> None:
    layer = {
        **{"gates": ["input", "forget", "candidate", "output"], "options": {}},
        **{"input_size": 8, "units": 16, "recurrent_size": 16},
    }
    layer["options"] = {"framework": framework}
    found = default_initialiser(layer, part)
    assert found is not None
    assert found.name == name
    assert found.limit == (None if limit is None else pytest.approx(limit))
