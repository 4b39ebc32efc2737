"""The answer of the route `shapes`: what the histogram of one row shows at each step, in words."""

from __future__ import annotations

from typing import Any

from lstm_gates_plugin.diagnosis.shape import describe
from lstm_gates_plugin.reading import store
from lstm_gates_plugin.reading.source import MissingError, Source


def shapes(source: Source, key: store.Key, row: str) -> dict[str, Any]:
    """The shape of one row of a layer, kind and call over steps: "a bell around 0.1 with spread 1".

    Raises:
        MissingError: there is no such series, no valid record in it, or no such row.
    """
    series = store.read_statistics(source, key)
    if series is None or row not in series.header["rows"]:
        raise MissingError(
            f"The run {key.run!r} has no readable {key.kind} of the layer {key.layer!r}, call "
            f"{key.call}, row {row!r}."
        )
    at = series.header["rows"].index(row)
    mean, std = series.column(row, "mean"), series.column(row, "std")
    words = [
        describe(series.histogram[record, at], series.bounds[record, at], mean[record], std[record])
        for record in range(len(series.steps))
    ]
    return {"row": row, "steps": series.steps.tolist(), "shapes": words}
