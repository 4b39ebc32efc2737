"""How long the median unit remembers, in the records and in the health of a run."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import lstm_gates_plugin as lg
from helpers.layers import make_layer, make_trace
from lstm_gates_plugin.reading.files import FileSource
from lstm_gates_plugin.serve import answers

RUN = "run"


def with_keep(values: list[float], cell: str = "lstm") -> lg.GateTrace:
    """A trace of 20 timesteps whose units keep these shares of their state at each of them."""
    trace = make_trace(make_layer(cell, units=len(values)), batch=1, timesteps=20)
    gate = {"lstm": "forget", "gru": "update"}[cell]
    kept = np.broadcast_to(np.array(values, np.float32), trace.gates[gate].shape)
    return replace(trace, gates={**trace.gates, gate: kept})


def health_of(logdir: Path) -> dict[str, list[float | str]]:
    """What the health route says of the activations of the only layer."""
    source = FileSource(logdir)
    (run,) = source.series()
    (layer,) = answers.health(source, run, answers.HealthCache())["layers"]
    tiles: dict[str, list[float | str]] = layer["kinds"]["activations"]
    return tiles


@pytest.mark.parametrize("cell", ["lstm", "gru"])
def test_memory_is_that_of_the_median_unit(tmp_path: Path, cell: str) -> None:
    with lg.GateWriter(tmp_path / RUN) as writer:
        # 0.9 ** 7 is the first power below one half, 0.6 ** 2, and 0.4 ** 1.
        writer.log_trace(with_keep([0.9, 0.6, 0.4], cell), step=0)
        writer.log_trace(with_keep([0.9, 0.9, 0.4], cell), step=1)
    tiles = health_of(tmp_path)
    assert tiles["memory"] == [2, 7]
    assert tiles["memory_censored"] == [0, 0]
    layer = lg.read(tmp_path)[RUN]["lstm_0"]
    assert layer.series("cell_state" if cell == "lstm" else "hidden_state", "memory").values[1] == 7


def test_memory_is_a_lower_bound_where_most_units_never_forget(tmp_path: Path) -> None:
    with lg.GateWriter(tmp_path / RUN) as writer:
        writer.log_trace(with_keep([1.0, 1.0, 0.4]), step=0)
    tiles = health_of(tmp_path)
    # The median over the 20 starts of what is left of the sequence.
    assert tiles["memory"] == [10.5]
    assert tiles["memory_censored"] == [1]


def test_memory_of_a_cell_without_a_keep_factor_is_unknown(tmp_path: Path) -> None:
    with lg.GateWriter(tmp_path / RUN) as writer:
        writer.log_trace(make_trace(make_layer("simple_rnn")), step=0)
        writer.log_trace(make_trace(make_layer("simple_rnn", seed=1)), step=1)
    assert health_of(tmp_path)["memory"] == ["NaN", "NaN"]


def test_units_that_are_not_numbers_have_no_part_in_the_median(tmp_path: Path) -> None:
    with lg.GateWriter(tmp_path / RUN) as writer:
        writer.log_trace(with_keep([np.nan, 0.6, 0.6]), step=0)
        writer.log_trace(with_keep([np.nan] * 3), step=1)
    assert health_of(tmp_path)["memory"] == [2, "NaN"]
