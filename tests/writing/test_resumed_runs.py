"""GateWriter over several sessions in one directory: what goes on, what is replaced."""

from pathlib import Path

import numpy as np
import pytest

import lstm_gates_plugin as lg
from helpers.layers import make_layer, make_trace
from lstm_gates_plugin.reading.runs import LoggedLayer


def logged(directory: Path, layer: str = "lstm_0") -> LoggedLayer:
    return lg.read(directory)["."][layer]


def write_runs(directory: Path, *passes: list[int], every_seed: bool = False) -> None:
    """One writer per pass; the layer's seed is the step, or the pass where ``every_seed``."""
    for number, steps in enumerate(passes):
        with lg.GateWriter(directory) as writer:
            for step in steps:
                layer = make_layer(seed=100 * number + step)
                writer.log_weights([layer], step=step)
                writer.log_trace(make_trace(layer), step=step)


def test_a_run_that_goes_on_continues_its_curves(tmp_path: Path) -> None:
    write_runs(tmp_path, [0, 1, 2])
    before = logged(tmp_path).series("kernel/forget", "change_since_start")
    with lg.GateWriter(tmp_path) as writer:
        writer.log_weights([make_layer(seed=2)], step=5)
    after = logged(tmp_path).series("kernel/forget", "change_since_start")
    assert after.steps.tolist() == [0, 1, 2, 5]
    assert after.values.tolist() == [*before.values, before.values[-1]]
    assert before.values[-1] > 0.1
    assert logged(tmp_path).statistics("weights").log_calls == 4


def test_a_run_that_restarts_earlier_replaces_what_was_there(tmp_path: Path) -> None:
    """Case L4, in our own reader."""
    write_runs(tmp_path, [0, 1, 2, 3], [1, 2])
    found = logged(tmp_path)
    means = found.series("kernel/forget", "mean")
    assert means.steps.tolist() == [0, 1, 2]
    expected = [make_layer(seed=seed).kernel["forget"].mean() for seed in (0, 101, 102)]
    np.testing.assert_allclose(means.values, expected, rtol=1e-5)
    assert found.snapshot_steps() == [0, 1, 2]
    assert found.statistics("activations").log_calls == 3


def test_a_run_that_restarts_at_zero_has_a_new_start(tmp_path: Path) -> None:
    write_runs(tmp_path, [0, 1], [0, 1])
    change = logged(tmp_path).series("kernel/forget", "max_change_since_start").values
    old, new = make_layer(seed=100).kernel["forget"], make_layer(seed=101).kernel["forget"]
    np.testing.assert_allclose(change, [0, np.abs(new - old).max()], rtol=1e-6)


def test_the_kept_units_stay_the_same_over_a_resumed_run(tmp_path: Path) -> None:
    layer = make_layer(units=100)
    for steps in ([0, 1], [2, 3]):
        with lg.GateWriter(tmp_path) as writer:
            for step in steps:
                writer.log_trace(make_trace(layer, seed=step), step=step)
    found = logged(tmp_path)
    kept = [found.snapshot(step).header["units"] for step in found.snapshot_steps()]
    assert len(kept) == 4
    assert len(kept[0]) == 64
    assert all(units == kept[0] for units in kept)


def test_another_model_under_the_same_id_begins_anew(tmp_path: Path) -> None:
    write_runs(tmp_path, [0, 1])
    with lg.GateWriter(tmp_path) as writer:
        writer.log_weights([make_layer(units=7)], step=2)
    series = logged(tmp_path).statistics("weights")
    assert series.steps.tolist() == [2]
    assert series.column("kernel/forget", "max_change_since_start").tolist() == [0]
    assert [one.step for one in series.omitted] == [0, 1]


def test_change_is_not_measured_between_different_probes(tmp_path: Path) -> None:
    """The same weights on other steps: nothing has changed, and nothing can be compared."""
    layer = make_layer()
    with lg.GateWriter(tmp_path) as writer:
        for step, padded in enumerate((0, 0, 2, 2, 0)):
            writer.log_trace(make_trace(layer, padded=padded), step=step)
    found = logged(tmp_path)
    start = found.series("activation/forget", "max_change_since_start").values
    previous = found.series("activation/forget", "max_change_since_previous").values
    np.testing.assert_array_equal(start, [0, 0, np.nan, np.nan, 0])
    np.testing.assert_array_equal(previous, [np.nan, 0, np.nan, 0, np.nan])


def test_a_resumed_run_compares_with_the_same_probe_alone(tmp_path: Path) -> None:
    layer = make_layer()
    for step, padded in enumerate((0, 2, 0)):
        with lg.GateWriter(tmp_path) as writer:
            writer.log_trace(make_trace(layer, padded=padded), step=step)
    start = logged(tmp_path).series("activation/forget", "max_change_since_start").values
    np.testing.assert_array_equal(start, [0, np.nan, 0])


def test_masked_steps_are_in_no_statistic(tmp_path: Path) -> None:
    """Case F3, as it is stored: averages and histograms of 3 steps, not 5."""
    trace = make_trace(make_layer(), batch=1, timesteps=5, padded=2)
    with lg.GateWriter(tmp_path) as writer:
        writer.log_trace(trace, step=0)
    series = logged(tmp_path).statistics("activations")
    row = series.header["rows"].index("hidden_state")
    assert series.column("hidden_state", "count").tolist() == [3 * 4]
    assert series.histogram[0, row].sum() == 3 * 4
    assert series.column("hidden_state", "mean")[0] == pytest.approx(
        trace.hidden_state[0, :3].mean(), rel=1e-5
    )
    assert series.column("hidden_state", "nan").tolist() == [0]
