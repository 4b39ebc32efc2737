"""Snapshots of traces: whole units at exact timesteps, within the budget, in the right order."""

import numpy as np
import pytest

from helpers.layers import make_layer, make_trace
from lstm_gates_plugin import format
from lstm_gates_plugin.gate_trace import GateTrace
from lstm_gates_plugin.writing import pictures
from lstm_gates_plugin.writing.pictures import Tracks

BUDGET = 128 * 1024


def snapshot(
    trace: GateTrace, units: list[int] | None = None, tracks: Tracks | None = None
) -> format.Payload:
    kept = np.arange(trace.layer.units) if units is None else np.array(units)
    header = format.make_header("statistics", "activations", 9, 0, trace.layer.describe())
    payload = pictures.activations_snapshot(header, trace, kept, tracks or Tracks(), 4)
    data = format.encode(payload)
    assert len(data) <= BUDGET
    return format.decode(data)


def test_a_small_trace_is_stored_whole() -> None:
    trace = make_trace(make_layer(units=6), batch=3, timesteps=7, padded=2)
    payload = snapshot(trace)
    assert payload.arrays["mask"].tolist() == trace.mask.astype(int).tolist()
    for name, values in trace.parts().items():
        stored = payload.arrays[name]
        assert stored.shape == values.shape
        np.testing.assert_array_equal(
            stored[trace.mask], values.astype(np.float16)[trace.mask], err_msg=name
        )
    assert payload.header["samples"] == 3
    assert payload.header["timesteps"] == 7
    assert payload.header["block"] == 1


def test_nan_in_a_gate_is_kept_apart_from_masked_steps() -> None:
    trace = make_trace(make_layer(), padded=1)
    trace.gates["forget"][1, 2, 3] = np.nan
    payload = snapshot(trace)
    assert np.argwhere(np.isnan(payload.arrays["activation/forget"])).tolist() == [[1, 2, 3]]
    assert payload.arrays["mask"][0].tolist() == [1, 1, 1, 1, 0]


def test_large_numbers_are_float32_in_their_own_part_only() -> None:
    trace = make_trace(make_layer())
    trace.cell_state[0, 0, 0] = 70_000.5  # type: ignore[index]
    payload = snapshot(trace)
    assert payload.arrays["cell_state"].dtype == np.float32
    assert payload.arrays["cell_state"][0, 0, 0] == np.float32(70_000.5)
    assert payload.arrays["hidden_state"].dtype == np.float16


def test_per_unit_numbers_are_those_of_all_units() -> None:
    trace = make_trace(make_layer(units=100), batch=2, timesteps=30)
    payload = snapshot(trace, units=[0, 50, 99])
    assert payload.header["all_units"] == list(range(100))
    row = payload.header["unit_rows"].index("activation/forget")
    forget = trace.gates["forget"].reshape(-1, 100)
    np.testing.assert_allclose(
        payload.arrays["unit_statistics"][row, 0], forget.mean(axis=0), atol=1e-3
    )
    np.testing.assert_allclose(
        payload.arrays["unit_statistics"][row, 3], (forget > 0.9).mean(axis=0), atol=1e-3
    )
    assert payload.arrays["survival"].shape == (100,)
    np.testing.assert_array_equal(
        payload.arrays["activation/forget"], trace.gates["forget"][..., [0, 50, 99]].astype("f2")
    )


@pytest.mark.parametrize("cell", ["lstm", "gru", "simple_rnn"])
@pytest.mark.parametrize(
    ("units", "batch", "timesteps"),
    [(1024, 4, 50), (128, 4, 128), (520, 2, 400), (64, 4, 300), (4, 4, 5000), (520, 1, 600)],
)
def test_the_budget_holds_and_one_sample_is_always_there(
    cell: str, units: int, batch: int, timesteps: int
) -> None:
    """Case M5."""
    trace = make_trace(make_layer(cell, inputs=2, units=units), batch=batch, timesteps=timesteps)
    kept = pictures.choose_units(trace, 64, np.arange(min(units, 40)))
    labels = [[f"word {step}" for step in range(timesteps)]] * batch
    tracks = Tracks(input=np.zeros((batch, timesteps, 90)), time_labels=labels)
    payload = snapshot(trace, kept.tolist(), tracks)
    samples, columns, shown = payload.arrays["hidden_state"].shape
    assert samples >= 1
    assert columns == -(-timesteps // payload.header["block"]) <= 128
    assert shown == min(units, 64)
    assert len(payload.header["all_units"]) == min(units, 512)
    assert len(payload.header["time_labels"][0]) == columns
    assert payload.header["samples"] == batch
    assert "survival" not in payload.arrays or cell != "simple_rnn"


def test_samples_come_before_preactivations() -> None:
    trace = make_trace(make_layer(inputs=2, units=64), batch=4, timesteps=50)
    payload = snapshot(trace)
    assert len(payload.arrays["hidden_state"]) == 3
    assert "preactivation/forget" not in payload.arrays
    small = snapshot(make_trace(make_layer(units=32), batch=4, timesteps=30))
    assert len(small.arrays["hidden_state"]) == 4
    assert 1 <= len(small.arrays["preactivation/forget"]) <= 4


def test_long_sequences_are_means_over_blocks_and_say_so() -> None:
    trace = make_trace(make_layer(units=2), batch=1, timesteps=256)
    payload = snapshot(trace)
    assert payload.header["block"] == 2
    expected = trace.gates["forget"][0].reshape(128, 2, 2).mean(axis=1)
    np.testing.assert_allclose(payload.arrays["activation/forget"][0], expected, atol=1e-3)


def test_tracks_follow_the_stored_samples_and_columns() -> None:
    trace = make_trace(make_layer(), batch=2, timesteps=5)
    tracks = Tracks(
        input=np.arange(2 * 5 * 100).reshape(2, 5, 100),
        target=np.array([3, 4]),
        prediction=np.array([3, 9]),
        loss=np.arange(10.0).reshape(2, 5),
        time_labels=[list("abcde"), ["x" * 99] * 5],
        sample_names=["first", 2],
    )
    payload = snapshot(trace, tracks=tracks)
    assert payload.arrays["track/input"].shape == (2, 5, 32)
    assert payload.arrays["track/input"][1, 4, [0, -1]].tolist() == [900, 999]
    assert payload.arrays["track/target"].tolist() == [3, 4]
    assert payload.arrays["track/prediction"].tolist() == [3, 9]
    assert payload.arrays["track/loss"][1].tolist() == [5, 6, 7, 8, 9]
    assert payload.header["sample_names"] == ["first", "2"]
    assert payload.header["time_labels"][0] == list("abcde")
    assert len(payload.header["time_labels"][1][0]) == 40


def test_an_empty_batch_is_an_empty_picture() -> None:
    """Case F10."""
    payload = snapshot(make_trace(make_layer(), batch=0))
    assert payload.arrays["hidden_state"].shape == (0, 5, 4)


def test_chosen_units_are_the_most_saturated_variable_and_remembering() -> None:
    layer = make_layer(inputs=1, units=200)
    trace = make_trace(layer, batch=1, timesteps=20)
    trace.gates["forget"][..., 33] = 1.0
    trace.gates["input"][..., 34] = 0.01
    trace.cell_state[0, :, 35] = np.linspace(-50, 50, 20)  # type: ignore[index]
    always = np.arange(0, 200, 5)
    chosen = pictures.choose_units(trace, 64, always)
    assert len(chosen) == 64
    assert set(always) <= set(chosen)
    assert {33, 35} <= set(chosen.tolist())
