"""The numbers that the health of a run tells of each gate: which, and how exact."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lstm_gates_plugin as lg
from helpers.layers import make_layer, make_trace
from lstm_gates_plugin.reading.files import FileSource
from lstm_gates_plugin.serve import answers


def kinds_of(logdir: Path) -> dict[str, Any]:
    """The kinds of the only layer of the only run."""
    source = FileSource(logdir)
    (run,) = source.series()
    (layer,) = answers.health(source, run, answers.HealthCache())["layers"]
    return dict(layer["kinds"])


def test_tiles_are_the_logged_numbers_to_six_digits(tmp_path: Path) -> None:
    with lg.GateWriter(tmp_path / "run") as writer:
        for step in range(3):
            writer.log_weights([make_layer(seed=step)], step=step)
            writer.log_trace(make_trace(make_layer(seed=step)), step=step)
    kinds = kinds_of(tmp_path)
    logged = lg.read(tmp_path)["run"]["lstm_0"]
    gates = make_layer().gates
    parts = ("kernel", "recurrent_kernel", "bias")
    assert list(kinds["activations"]["rows"]) == [f"activation/{gate}" for gate in gates]
    assert list(kinds["weights"]["rows"]) == [f"{part}/{gate}" for part in parts for gate in gates]
    for kind in kinds.values():
        for row, tile in kind["rows"].items():
            assert "not_finite" not in tile
            for column, values in tile.items():
                assert values == pytest.approx(logged.series(row, column).values, rel=1e-5)
                assert [float(f"{value:.6g}") for value in values] == values


def test_entries_that_are_not_finite_are_counted(tmp_path: Path) -> None:
    trace = make_trace(make_layer(), batch=1)
    forget = trace.gates["forget"].copy()
    forget[0, :2, 0] = np.nan
    with lg.GateWriter(tmp_path / "run") as writer:
        writer.log_trace(trace, step=0)
        writer.log_trace(replace(trace, gates={**trace.gates, "forget": forget}), step=1)
    rows = kinds_of(tmp_path)["activations"]["rows"]
    assert rows["activation/forget"]["not_finite"] == [0, 2]
    assert "not_finite" not in rows["activation/input"]
