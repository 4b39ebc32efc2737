"""Several peaks of a distribution are counted, and chance makes none."""

from pathlib import Path

import keras
import numpy as np
import pytest

import lstm_gates_plugin as lg
from lstm_gates_plugin import RecurrentLayer
from lstm_gates_plugin.diagnosis.peaks import peaks
from lstm_gates_plugin.measure.statistics import distribution

SIZES = (256, 1024, 16384)
WITH_ONE_PEAK = {
    "uniform": lambda rng, size: rng.uniform(-1, 1, size),
    "bell": lambda rng, size: rng.normal(size=size),
    "Laplace": lambda rng, size: rng.laplace(size=size),
    "Cauchy": lambda rng, size: rng.standard_cauchy(size),
    "Student's t": lambda rng, size: rng.standard_t(3, size),
    "to one side": lambda rng, size: rng.lognormal(size=size),
    "two spreads": lambda rng, size: rng.normal(size=size) * rng.choice([0.2, 1], size),
    "outliers": lambda rng, size: np.append(rng.normal(size=size - 4), [30, 31, 32, 33]),
}


def found(values: np.ndarray) -> list[float]:
    seen = distribution(values)
    return peaks(seen.histogram, seen.bounds)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", WITH_ONE_PEAK)
def test_one_peak_stays_one(name: str, size: int) -> None:
    for seed in range(100):
        assert len(found(WITH_ONE_PEAK[name](np.random.default_rng(seed), size))) == 1


INITIALISERS = [
    *("GlorotNormal", "GlorotUniform", "HeNormal", "HeUniform", "LecunNormal", "LecunUniform"),
    *("Orthogonal", "RandomNormal", "RandomUniform", "TruncatedNormal", "VarianceScaling"),
]


@pytest.mark.parametrize("name", INITIALISERS)
def test_random_initialisers_of_keras_have_one_peak(name: str) -> None:
    for seed in range(20):
        for shape in ((16, 64), (64, 256)):
            whole = np.asarray(getattr(keras.initializers, name)(seed=seed)(shape))
            for gate in np.split(whole, 4, axis=1):
                assert len(found(gate)) == 1


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize(
    ("places", "shares"),
    [([-1.0, 1.0], [0.5, 0.5]), ([-1.0, 0.0, 1.0], [0.3, 0.4, 0.3]), ([0.0, 0.15], [0.6, 0.4])],
)
def test_peaks_are_found_where_they_are(
    size: int, places: list[float], shares: list[float]
) -> None:
    width = np.ptp(places) / len(places) / 8
    for seed in range(50):
        rng = np.random.default_rng(seed)
        values = rng.choice(places, size, p=shares) + rng.normal(scale=width, size=size)
        # Where a bell is highest is known to about its own width.
        assert found(values) == pytest.approx(places, abs=1.5 * width)


def test_a_peak_is_said_to_be_at_a_round_number() -> None:
    assert found(np.repeat([-1.0, 0.0, 1.0], 400)) == [-1, 0, 1]
    assert found(np.repeat([0.0, 0.15], 400)) == [0, 0.15]
    assert found(np.repeat([-2000.0, 3000.0], 400)) == [-2000, 3000]


def test_extreme_values_have_peaks_too() -> None:
    tiny = 5e-324
    assert len(found(np.repeat([0, tiny], 400))) in (1, 2)
    assert found(np.repeat([1.0, np.nextafter(1, 2)], 400)) == pytest.approx([1, 1])
    assert found(np.empty(0)) == []


def logged(directory: Path, spread: float) -> list[tuple[str, str | None]]:
    rng = np.random.default_rng(0)
    start = rng.uniform(-0.25, 0.25, (32, 4 * 32))
    with lg.GateWriter(directory) as writer:
        for step in (0, 10, 20, 30):
            kernel = start * (1 - step / 100)
            if step >= 20:  # the forget gate's weights become ternary
                kernel[:, 32:64] = np.round(start[:, 32:64] * 4) / 4
                kernel[:, 32:64] += rng.normal(scale=spread, size=(32, 32))
            layer = RecurrentLayer.from_arrays("lstm", kernel, kernel, gate_order="ifco")
            writer.log_weights([layer], step=step)
    found = [one for one in lg.diagnose(directory) if one.id == "LG024"]
    return [(one.gate, one.first_step, one.value) for one in found]


def test_lg024_a_kernel_that_gathers(tmp_path: Path) -> None:
    assert logged(tmp_path / "ternary", 0.01) == [("forget", 20, 3)]
    assert logged(tmp_path / "noise", 0.3) == []
