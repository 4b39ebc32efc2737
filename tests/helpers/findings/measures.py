"""What the rules of the findings look at, at each record of a run: for their pictures."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import lstm_gates_plugin as lg
from lstm_gates_plugin.diagnosis.learning import ENOUGH_WEIGHTS
from lstm_gates_plugin.diagnosis.peaks import peaks
from lstm_gates_plugin.diagnosis.recurrence import times_before
from lstm_gates_plugin.diagnosis.run_view import LayerView, view
from lstm_gates_plugin.diagnosis.training import robust_scores

Measure = Callable[[Path], tuple[Any, Any]]
"""Of a run's directory: the training steps of its records, and the number at each."""

KERNELS = ("kernel/", "recurrent_kernel/")
NOT_FINITE = ("nan", "positive_infinite", "negative_infinite")


def of_layer(measure: Callable[[LayerView], tuple[Any, Any]]) -> Measure:
    """A measure of the first layer."""
    return lambda directory: measure(view(lg.read(directory)["."]).layers[0])


def column(kind: str, row: str, name: str) -> Measure:
    return of_layer(lambda layer: (layer.series[kind].steps, layer.column(kind, row, name)))


def largest(kind: str, row: str) -> Measure:
    def measure(layer: LayerView) -> tuple[Any, Any]:
        ends = [np.abs(layer.column(kind, row, name)) for name in ("min", "max")]
        return layer.series[kind].steps, np.maximum(*ends)

    return of_layer(measure)


def over_weights(name: str, reduce: Callable[[Any], Any], *starts: str) -> Measure:
    """A statistic of several rows of the weights, made one number at each record."""

    def measure(layer: LayerView) -> tuple[Any, Any]:
        rows = [row for row in layer.rows("weights") if row.startswith(starts)]
        columns = np.array([layer.column("weights", row, name) for row in rows])
        return layer.series["weights"].steps, reduce(columns)

    return of_layer(measure)


def over_layers(measure_all: Callable[[list[LayerView]], Any]) -> Measure:
    def measure(directory: Path) -> tuple[Any, Any]:
        layers = list(view(lg.read(directory)["."]).layers)
        return layers[0].series["weights"].steps, measure_all(layers)

    return measure


def of_snapshots(number: Callable[[Any], float]) -> Measure:
    """A number of each snapshot of the first layer's activations."""

    def measure(directory: Path) -> tuple[Any, Any]:
        run = lg.read(directory)["."]
        layer = run[next(iter(run))]
        steps = layer.snapshot_steps()
        return steps, [number(layer.snapshot(step)) for step in steps]

    return measure


def of_units(row: str, name: str, reduce: Callable[[Any], float]) -> Measure:
    """A statistic of each unit, made one number at each snapshot."""

    def number(picture: Any) -> float:
        rows, columns = picture.header["unit_rows"], picture.header["unit_columns"]
        return reduce(picture.arrays["unit_statistics"][rows.index(row), columns.index(name)])

    return of_snapshots(number)


def highest(columns: Any) -> Any:
    return columns.max(axis=0)


def spread(columns: Any) -> Any:
    return highest(columns / columns[:, :1])


def changed(*starts: str) -> Measure:
    return over_weights("max_change_since_start", highest, *starts)


def count(starts: tuple[str, ...]) -> Measure:
    """How many rows of the weights there are, or learn."""

    def count(layers: list[LayerView]) -> Any:
        rows = [row for one in layers for row in one.rows("weights") if row.startswith(starts)]
        return np.full(len(layers[0].series["weights"].steps), len(rows))

    return over_layers(count)


def trainable(layer: LayerView) -> tuple[Any, Any]:
    number = 0 if layer.options.get("frozen") else len(layer.rows("weights"))
    steps = layer.series["weights"].steps
    return steps, np.full(len(steps), number)


def layers_that_change(layers: list[LayerView]) -> Any:
    name = "max_change_since_start"
    changed = [
        highest(np.array([one.column("weights", row, name) for row in one.rows("weights")]))
        for one in layers
    ]
    return (np.array(changed) > 0).sum(axis=0)


def not_finite(layer: LayerView) -> tuple[Any, Any]:
    counts = [layer.column("weights", "kernel/hidden", name) for name in NOT_FINITE]
    return layer.series["weights"].steps, np.sum(counts, axis=0)


def overflows(layer: LayerView) -> tuple[Any, Any]:
    """How many records so far hold a gradient that is not finite."""
    kind = "training_gradients"
    counts = [layer.column(kind, row, name) for row in layer.rows(kind) for name in NOT_FINITE]
    return layer.series[kind].steps, np.cumsum(np.sum(counts, axis=0) > 0)


def per_update(layer: LayerView) -> tuple[Any, Any]:
    rows = [
        row
        for row in layer.rows("weights")
        if row.startswith(KERNELS) and layer.column("weights", row, "count")[0] >= ENOUGH_WEIGHTS
    ]
    steps = layer.series["weights"].steps
    changes = [layer.column("weights", row, "change_since_previous")[1:] for row in rows]
    return steps[1:], highest(np.array(changes)) / np.diff(steps)


def drift(layer: LayerView) -> tuple[Any, Any]:
    rows = [row for row in layer.rows("weights") if row.startswith(KERNELS)]
    mean = np.array([layer.column("weights", row, "mean") for row in rows])
    std = np.array([layer.column("weights", row, "std") for row in rows])
    moved = np.abs(mean - mean[:, :1]) / np.maximum(std, std[:, :1])
    return layer.series["weights"].steps, highest(moved)


def number_of_peaks(layer: LayerView) -> tuple[Any, Any]:
    series = layer.series["weights"]
    rows = [row for row in layer.rows("weights") if row.startswith("recurrent_kernel/")]
    at = [series.header["rows"].index(row) for row in rows]
    tops = [
        max(len(peaks(series.histogram[record, row], series.bounds[record, row])) for row in at)
        for record in range(len(series.steps))
    ]
    return series.steps, tops


def of_the_record(kind: str, name: str, divided_by: float = 1) -> Measure:
    def measure(layer: LayerView) -> tuple[Any, Any]:
        return layer.series[kind].steps, layer.record_column(kind, name) / divided_by

    return of_layer(measure)


def explosion(layer: LayerView) -> tuple[Any, Any]:
    norms = layer.column("training_gradients", "recurrent_kernel/hidden", "norm")
    times = times_before(norms)
    return layer.series["training_gradients"].steps, np.where(times > 0, times, np.nan)


def jumps(layer: LayerView) -> tuple[Any, Any]:
    loss = layer.record_column("weights", "loss")
    known = np.isfinite(loss)
    return layer.series["weights"].steps[known], robust_scores(loss[known])[0]


def probes(layer: LayerView) -> tuple[Any, Any]:
    hashes = layer.record_column("activations", "probe_hash")
    changes = np.cumsum([0, *(np.diff(hashes) != 0)])
    return layer.series["activations"].steps, changes


def records(layer: LayerView) -> tuple[Any, Any]:
    steps = layer.series["weights"].steps
    return steps, np.arange(1, len(steps) + 1)


def dead(picture: Any) -> float:
    row = picture.header["unit_rows"].index("hidden_state")
    mean, std = picture.arrays["unit_statistics"][row, :2]
    return float(((mean == 0) & (std == 0)).mean())


def alike(picture: Any) -> float:
    return float(picture.header["units_together"] / len(picture.header["all_units"]))


def size(picture: Any) -> float:
    return float(np.sqrt(np.mean(np.square(picture.arrays["track/input"], dtype=float))))


def padded(picture: Any) -> float:
    return float(1 - np.mean(picture.arrays["mask"] != 0))


def median(values: Any) -> float:
    return float(np.median(values))


def forget_bias(layer: LayerView) -> tuple[Any, Any]:
    return layer.series["weights"].steps, layer.column("weights", "bias/forget", "mean")
