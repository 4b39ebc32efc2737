"""Gradients in the records: their numbers, their pictures within 32 KB, and how far they reach."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import lstm_gates_plugin as lg
from helpers.layers import make_layer, make_trace
from lstm_gates_plugin import cells, format
from lstm_gates_plugin.cells.through_time import backward
from lstm_gates_plugin.measure.reach import reach
from lstm_gates_plugin.writing.gradient_pictures import GRADIENTS_BUDGET, gradients_snapshot
from lstm_gates_plugin.writing.pictures import Tracks


def with_gradients(trace: lg.GateTrace, seed: np.ndarray) -> lg.GateTrace:
    """The trace with the gradients of a loss whose gradient by the output is `seed`."""
    size = trace.layer.input_size
    x = np.random.default_rng(1).normal(size=(*trace.mask.shape, size)).astype(np.float32)
    traced = cells.forward(trace.layer, x, trace.mask)
    return replace(traced, gradients=backward(traced, x, seed))


def relu_rnn(weight: float) -> lg.GateTrace:
    """Six timesteps of which the loss is the last output, in two samples, one shorter."""
    one = np.ones((1, 1), np.float32)
    layer = lg.RecurrentLayer.from_arrays("simple_rnn", one, weight * one, activation="relu")
    mask = np.array([[True] * 6, [True] * 4 + [False] * 2])
    x, seed = np.ones((2, 6, 1), np.float32), np.zeros((2, 6, 1), np.float32)
    seed[0, 5], seed[1, 3] = 1, 2
    trace = cells.forward(layer, x, mask)
    return replace(trace, gradients=backward(trace, x, seed))


def test_norms_of_each_timestep_and_reach(tmp_path: Path) -> None:
    with lg.GateWriter(tmp_path) as writer:
        for step, weight in enumerate((0.5, 0.1, 1.0)):
            writer.log_trace(relu_rnn(weight), step=step)
    logged = lg.read(tmp_path)["."]["layer"]
    assert logged.kinds == ["activations", "gradients"]
    halves = logged.snapshot(step=0, kind="gradients")
    np.testing.assert_allclose(
        halves.arrays["norm/hidden_state"],
        [[1 / 32, 1 / 16, 1 / 8, 1 / 4, 1 / 2, 1], [1 / 4, 1 / 2, 1, 2, 0, 0]],
    )
    np.testing.assert_array_equal(
        halves.arrays["norm/output"], [[0, 0, 0, 0, 0, 1], [0, 0, 0, 2, 0, 0]]
    )
    np.testing.assert_array_equal(halves.arrays["mask"].sum(axis=1), [6, 4])
    np.testing.assert_allclose(halves.arrays["reach/ratios"], 0.5 ** np.arange(6))
    assert halves.header["reach"] == {
        "timesteps": 5,
        "limit": 5,
        "positions": 2,
        "threshold": 0.01,
    }
    reached = logged.series("hidden_state", "reach", kind="gradients")
    assert reached.values.tolist() == [5, 2, 5]
    norm = logged.series("recurrent_kernel/hidden", "norm", kind="gradients").values[0]
    # The sums of dL/dh times the state before: 1/16 + 1.5/8 + 1.75/4 + 1.875/2 + 1.9375, and 5.5.
    assert norm == pytest.approx(3.5625 + 5.5)
    count = logged.series("hidden_state", "count", kind="gradients").values[0]
    assert count == 10


def test_a_trace_without_gradients_has_no_such_records(tmp_path: Path) -> None:
    with lg.GateWriter(tmp_path) as writer:
        writer.log_trace(make_trace(make_layer()), step=0)
    assert lg.read(tmp_path)["."]["lstm_0"].kinds == ["activations"]


def test_gradients_alone(tmp_path: Path) -> None:
    with lg.GateWriter(tmp_path, parts=["gradients"]) as writer:
        writer.log_trace(relu_rnn(0.5), step=0)
    assert lg.read(tmp_path)["."]["layer"].kinds == ["gradients"]


def test_a_loss_that_reaches_no_output_has_no_reach(tmp_path: Path) -> None:
    trace = make_trace(make_layer())
    with lg.GateWriter(tmp_path) as writer:
        writer.log_trace(with_gradients(trace, np.zeros_like(trace.hidden_state)), step=0)
    logged = lg.read(tmp_path)["."]["lstm_0"]
    assert logged.snapshot(kind="gradients").header["reach"] is None
    assert np.isnan(logged.series("hidden_state", "reach", kind="gradients").values).all()
    assert logged.series("hidden_state", "zero", kind="gradients").values.tolist() == [40]


@pytest.mark.parametrize("cell", ["lstm", "gru", "simple_rnn"])
@pytest.mark.parametrize(("batch", "timesteps", "units"), [(4, 128, 64), (4, 3000, 8), (1, 1, 300)])
def test_the_budget_holds(cell: str, batch: int, timesteps: int, units: int) -> None:
    layer = make_layer(cell, units=units, scale=0.3)
    trace = make_trace(layer, batch=batch, timesteps=timesteps)
    trace = with_gradients(trace, np.ones_like(trace.hidden_state))
    header = format.make_header("statistics", "gradients", 0, 0, layer.describe())
    labels = Tracks(time_labels=[["word"] * timesteps] * batch)
    payload = gradients_snapshot(header, trace, reach(trace), labels, 4)
    assert len(format.encode(payload)) <= GRADIENTS_BUDGET
    assert payload.arrays["mask"].shape == (batch, 125 if timesteps == 3000 else timesteps)
    assert payload.arrays["reach/lags"][-1] == timesteps - 1
    columns = payload.header["block"] == 1
    if columns:
        np.testing.assert_allclose(
            payload.arrays["norm/hidden_state"],
            np.linalg.norm(trace.gradients.hidden_state, axis=-1),
            rtol=1e-5,
        )


def test_a_run_that_goes_on_keeps_its_gradients(tmp_path: Path) -> None:
    for step in (0, 1):
        with lg.GateWriter(tmp_path) as writer:
            writer.log_trace(relu_rnn(0.5), step=step)
    logged = lg.read(tmp_path)["."]["layer"]
    assert logged.series("hidden_state", "reach", kind="gradients").steps.tolist() == [0, 1]
    changes = logged.series("preactivation/hidden", "change_since_start", kind="gradients")
    assert changes.values.tolist() == [0, 0]
