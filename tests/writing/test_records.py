"""Records of weights and statistics: exact entries, true numbers, bounded size."""

import numpy as np
import pytest

from helpers.layers import make_layer, make_trace
from lstm_gates_plugin import RecurrentLayer, format
from lstm_gates_plugin.writing import records


def header(layer: RecurrentLayer, kind: str = "weights") -> dict[str, object]:
    return format.make_header("statistics", kind, 3, 0, layer.describe())


def statistics_of(layer: RecurrentLayer, **more: object) -> format.Payload:
    now = records.entries(layer.parts())
    return records.statistics_record(
        header(layer), layer.parts(), now, {"loss": 0.5}, **{"start": now, "previous": None, **more}
    )


def number(payload: format.Payload, row: str, column: str) -> float:
    rows, columns = payload.header["rows"], payload.header["columns"]
    return float(payload.arrays["statistics"][rows.index(row), columns.index(column)])


def test_every_gate_has_its_own_row_with_its_own_numbers() -> None:
    layer = make_layer(units=5)
    payload = format.decode(format.encode(statistics_of(layer)))
    gates = ["input", "forget", "candidate", "output"]
    parts = ["kernel", "recurrent_kernel", "bias"]
    assert payload.header["rows"] == [f"{part}/{gate}" for part in parts for gate in gates]
    for gate in gates:
        assert number(payload, f"kernel/{gate}", "mean") == pytest.approx(
            layer.kernel[gate].mean(), rel=1e-5
        )
        assert number(payload, f"recurrent_kernel/{gate}", "spectral_norm") == pytest.approx(
            np.linalg.norm(layer.recurrent_kernel[gate], 2), rel=1e-4
        )
        assert np.isnan(number(payload, f"bias/{gate}", "spectral_norm"))
    assert payload.arrays["record"][format.RECORD_COLUMNS.index("loss")] == 0.5
    assert np.isnan(payload.arrays["record"][format.RECORD_COLUMNS.index("epoch")])


def test_change_is_measured_from_the_start_and_from_the_record_before() -> None:
    start, before, now = (make_layer(seed=seed) for seed in (0, 1, 2))
    payload = statistics_of(
        now, start=records.entries(start.parts()), previous=records.entries(before.parts())
    )
    for other, column in ((start, "change_since_start"), (before, "change_since_previous")):
        old, new = other.kernel["forget"], now.kernel["forget"]
        largest = max(np.linalg.norm(old), np.linalg.norm(new))
        expected = np.linalg.norm(new - old) / largest
        assert number(payload, "kernel/forget", column) == pytest.approx(expected, rel=1e-5)
        assert number(payload, "kernel/forget", f"max_{column}") == pytest.approx(
            np.abs(new - old).max(), rel=1e-5
        )


def test_unchanged_weights_have_changed_by_exactly_zero() -> None:
    """Case K1."""
    payload = statistics_of(make_layer(inputs=200, units=300))
    assert number(payload, "recurrent_kernel/forget", "max_change_since_start") == 0
    assert np.isnan(number(payload, "recurrent_kernel/forget", "change_since_previous"))


def test_gates_and_hidden_state_have_saturation_the_rest_has_not() -> None:
    trace = make_trace(make_layer(scale=4), padded=2)
    parts = records.run_steps_only(trace.parts(), trace.mask)
    now = records.entries(parts)
    payload = records.statistics_record(
        header(trace.layer, "activations"), parts, now, {}, now, None
    )
    forget = trace.gates["forget"][trace.mask]
    assert number(payload, "activation/forget", "count") == 8 * 4
    assert number(payload, "activation/forget", "nearly_open") == np.mean(forget > 0.9)
    assert number(payload, "activation/forget", "nearly_closed") == np.mean(forget < 0.1)
    assert np.isnan(number(payload, "cell_state", "nearly_open"))
    assert np.isnan(number(payload, "preactivation/forget", "nearly_open"))


def test_a_small_layer_is_stored_whole_and_exact() -> None:
    layer = make_layer(inputs=7, units=12)
    payload = format.decode(format.encode(records.weights_snapshot(header(layer), layer)))
    assert payload.header["units"] == list(range(12))
    for name, values in layer.parts().items():
        np.testing.assert_array_equal(payload.arrays[name], values)


def test_a_large_layer_keeps_40_by_40_exact_entries_in_64_kb() -> None:
    layer = make_layer(inputs=512, units=1024)
    data = format.encode(records.weights_snapshot(header(layer), layer))
    assert len(data) <= 64 * 1024
    payload = format.decode(data)
    units, inputs = payload.header["units"], payload.header["inputs"]
    assert len(units) == len(inputs) == len(payload.header["recurrent_inputs"]) == 40
    assert (units[0], units[-1], inputs[-1]) == (0, 1023, 511)
    expected = layer.kernel["output"][np.ix_(inputs, units)]
    np.testing.assert_array_equal(payload.arrays["kernel/output"], expected)
    assert payload.header["units"] == records.weights_units(layer).tolist()


@pytest.mark.parametrize("cell", ["lstm", "gru", "simple_rnn"])
@pytest.mark.parametrize(("inputs", "units"), [(1, 64), (28, 50), (60, 55), (1, 300), (300, 1)])
def test_every_weights_snapshot_fits_its_budget(cell: str, inputs: int, units: int) -> None:
    layer = make_layer(cell, inputs=inputs, units=units)
    data = format.encode(records.weights_snapshot(header(layer), layer))
    assert len(data) <= 64 * 1024
    whole = sum(values.nbytes for values in layer.parts().values()) < 61 * 1024 and units <= 64
    assert len(format.decode(data).header["units"]) == min(units, units if whole else 40)


def test_an_unknown_cell_with_many_weights_fits_the_budget_too() -> None:
    rng = np.random.default_rng(0)
    layer = RecurrentLayer(
        id="custom",
        cell="unknown",
        direction="forward",
        input_size=64,
        units=64,
        recurrent_size=64,
        kernel={},
        recurrent_kernel={},
        weights={f"w{k}": rng.normal(size=(64, 300)).astype("f4") for k in range(16)},
    )
    data = format.encode(records.weights_snapshot(header(layer), layer))
    assert len(data) <= 64 * 1024
    assert format.decode(data).arrays["weights/w3"].shape[0] >= 20


def test_a_weight_beyond_float32_is_not_drawn_as_infinite() -> None:
    layer = RecurrentLayer.from_arrays("simple_rnn", [[1e300]], [[0.5]], [0.0])
    payload = records.weights_snapshot(header(layer), layer)
    assert payload.arrays["kernel/hidden"].tolist() == [[1e300]]


def test_peepholes_and_a_projection_fit_their_budgets_too() -> None:
    rng = np.random.default_rng(0)
    layer = RecurrentLayer.from_arrays(
        "lstm",
        rng.normal(size=(300, 4 * 200)).astype("f4"),
        rng.normal(size=(100, 4 * 200)).astype("f4"),
        rng.normal(size=4 * 200).astype("f4"),
        gate_order="ifco",
        peephole={gate: rng.normal(size=200) for gate in ("input", "forget", "output")},
        projection=rng.normal(size=(200, 100)).astype("f4"),
        id="x" * 300,
    )
    data = format.encode(records.weights_snapshot(header(layer), layer))
    assert len(data) <= 64 * 1024
    payload = format.decode(data)
    chosen = np.ix_(payload.header["units"], payload.header["recurrent_inputs"])
    np.testing.assert_array_equal(payload.arrays["projection"], layer.projection[chosen])
    statistics = format.encode(statistics_of(layer))
    assert len(statistics) <= 8 * 1024
    assert len(format.decode(statistics).header["rows"]) == 16


def test_float64_weights_change_is_seen_below_float32() -> None:
    start = {"kernel/hidden": np.array([1.0])}
    now = records.entries({"kernel/hidden": np.array([1.0 + 1e-12])})
    payload = records.statistics_record(
        header(make_layer()), {"kernel/hidden": np.array([1.0 + 1e-12])}, now, {}, start, None
    )
    assert number(payload, "kernel/hidden", "max_change_since_start") == pytest.approx(
        1e-12, rel=1e-3
    )
