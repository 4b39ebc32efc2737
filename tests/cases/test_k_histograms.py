"""Cases K: histograms that were misread, with the numbers of those who asked."""

from pathlib import Path

import numpy as np
import pytest

import lstm_gates_plugin as lg
from lstm_gates_plugin import RecurrentLayer
from lstm_gates_plugin.diagnosis import shape
from lstm_gates_plugin.measure.statistics import Distribution, distribution
from lstm_gates_plugin.reading.runs import LoggedLayer

UNITS = 32


def described(values: np.ndarray) -> str:
    found = distribution(values)
    return shape.describe(
        found.histogram, found.bounds, found.numbers["mean"], found.numbers["std"]
    )


def bars(found: Distribution) -> dict[float, int]:
    """The bars that are not empty, by their left edge."""
    edges = np.linspace(*found.bounds, len(found.histogram) - 1)
    inner = found.histogram[1:-1]
    return {float(edges[at]): int(inner[at]) for at in np.flatnonzero(inner)}


def logged(directory: Path, kernels: list[np.ndarray]) -> LoggedLayer:
    """One LSTM with these kernels, ten training steps apart; its other weights change."""
    with lg.GateWriter(directory) as writer:
        for number, kernel in enumerate(kernels):
            layer = RecurrentLayer.from_arrays(
                "lstm", kernel, np.eye(UNITS, 4 * UNITS) + number, gate_order="ifco", id="a"
            )
            writer.log_weights([layer], step=10 * number)
    return lg.read(directory)["."]["a"]


def uniform() -> np.ndarray:
    return np.random.default_rng(0).uniform(-0.15, 0.15, (UNITS, 4 * UNITS)).astype(np.float32)


def test_k1_a_plateau_is_the_initialiser_and_unchanged_since_step_0(tmp_path: Path) -> None:
    with lg.GateWriter(tmp_path) as writer:
        for step in (0, 5, 10):
            still = RecurrentLayer.from_arrays(
                "lstm", uniform(), uniform(), gate_order="ifco", id="a"
            )
            learned = uniform() * (1 + step / 100)
            learns = RecurrentLayer.from_arrays("lstm", learned, learned, gate_order="ifco", id="b")
            writer.log_weights([still, learns], step=step)
    change = lg.read(tmp_path)["."]["a"].series("kernel/forget", "max_change_since_start")
    assert change.steps.tolist() == [0, 5, 10]
    assert change.values.tolist() == [0, 0, 0]
    found = {(one.id, one.layer): one for one in lg.diagnose(tmp_path)}
    assert found["LG010", "a"].title == "has not changed since training step 0"
    assert "a plateau between -0.15 and 0.15 (a uniform distribution)" in found["LG020", "a"].seen
    assert not {"LG010", "LG020"} & {id for id, layer in found if layer == "b"}


def test_k3_zeros_and_ones_are_two_bars() -> None:
    found = distribution(np.repeat([0.0, 1.0], [30, 10]))
    assert sorted(bars(found).values()) == [10, 30]
    assert int(found.histogram.sum()) == 40
    first, last = bars(found)
    assert bars(found)[first] == 30
    assert last - first == pytest.approx(31 / 32)


def test_k4_an_outlier_at_one_step_leaves_the_others_readable(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    kernels = [rng.uniform(-1, 1, (UNITS, 4 * UNITS)) for _ in range(11)]
    kernels[10][0, UNITS] = 1e6  # a weight of the forget gate
    layer = logged(tmp_path, kernels)
    series = layer.statistics("weights")
    at = series.header["rows"].index("kernel/forget")
    width = np.ptp(series.bounds[:, at], axis=1)
    assert (width < 4).all()
    inner = series.histogram[:, at, 1:-1]
    assert ((inner > 0).sum(axis=1) > 10).all()
    assert layer.series("kernel/forget", "max").values[10] == 1e6
    assert series.histogram[10, at].sum() == UNITS * UNITS


@pytest.mark.parametrize("value", [0.0, 0.5, 1.0])
def test_k6_a_constant_gate_is_one_spike_with_the_full_count(value: float) -> None:
    found = distribution(np.full(400, value))
    assert found.bounds.tolist() == [value, value]
    assert found.histogram[1] == found.histogram.sum() == 400
    assert described(np.full(400, value)) == f"a single spike at {value:g}"


def test_k7_counts_add_up_to_the_number_of_weights_at_every_step(tmp_path: Path) -> None:
    with lg.GateWriter(tmp_path) as writer:
        for step in range(5):
            kernel = np.random.default_rng(step).normal(size=(4, 16))
            layer = RecurrentLayer.from_arrays("lstm", kernel, kernel, gate_order="ifco", id="a")
            writer.log_weights([layer], step=step)
    series = lg.read(tmp_path)["."]["a"].statistics("weights")
    for row in ("kernel/forget", "recurrent_kernel/output"):
        counts = series.histogram[:, series.header["rows"].index(row)].sum(axis=1)
        assert counts.tolist() == [16] * 5
