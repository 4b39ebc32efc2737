"""The line about a run in the table of all runs: the numbers of its newest records."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest

import lstm_gates_plugin as lg
from helpers.layers import make_layer, make_trace
from lstm_gates_plugin.measure.units import survival
from lstm_gates_plugin.reading.files import FileSource
from lstm_gates_plugin.reading.source import MissingError
from lstm_gates_plugin.serve import summaries

RUN = "run/lstm_gates"


def summary_of(logdir: Path) -> dict[str, Any]:
    return summaries.summary(FileSource(logdir), RUN, summaries.SummaryCache())


def test_a_run_is_summed_up_by_its_newest_records(tmp_path: Path) -> None:
    layers = [make_layer(seed=k, id=f"lstm_{k}") for k in range(3)]
    factors = (1.0, 1.5, 3.0)
    with lg.GateWriter(tmp_path / "run") as writer:
        writer.log_weights(layers, step=0)
        changed = []
        for layer, factor in zip(layers, factors, strict=True):
            kernel = {gate: factor * value for gate, value in layer.kernel.items()}
            changed.append(replace(layer, kernel=kernel))
        writer.log_weights(changed, step=9)
        traces = [make_trace(layer, timesteps=12) for layer in layers]
        writer.log_trace(traces, step=9)
    found = summary_of(tmp_path)
    assert found["change"] == pytest.approx(1 / 3)  # |W - W0| / max(|W|, |W0|)
    spans = [survival(t.gates["forget"], t.mask, backward=False).timesteps for t in traces]
    assert found["memory"] == pytest.approx(max(float(np.median(each)) for each in spans))
    assert (found["reach"], found["reach_is_bound"]) == ("NaN", False)


def test_what_was_not_logged_is_not_a_number(tmp_path: Path) -> None:
    with lg.GateWriter(tmp_path / "run") as writer:
        writer.log_trace(make_trace(make_layer("simple_rnn")), step=0)
    found = summary_of(tmp_path)
    assert {name: found[name] for name in ("memory", "reach", "change", "loss")} == dict.fromkeys(
        ("memory", "reach", "change", "loss"), "NaN"
    )


def test_the_newest_loss_and_what_was_written_since(tmp_path: Path) -> None:
    model = keras.Sequential([keras.Input((3, 2)), keras.layers.GRU(2)])
    cache = summaries.SummaryCache()
    with lg.GateWriter(tmp_path / "run") as writer:
        writer.log(model, step=0, loss=4.0)
    first = summaries.summary(FileSource(tmp_path), RUN, cache)
    assert first["loss"] == 4.0
    assert summaries.summary(FileSource(tmp_path), RUN, cache) is first
    with lg.GateWriter(tmp_path / "run") as writer:
        writer.log(model, step=1, loss=3.0)
    assert summaries.summary(FileSource(tmp_path), RUN, cache)["loss"] == 3.0


def test_an_unknown_run_is_missing(tmp_path: Path) -> None:
    with pytest.raises(MissingError, match="There is no run 'x'"):
        summaries.summary(FileSource(tmp_path), "x", summaries.SummaryCache())
