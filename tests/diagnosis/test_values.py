"""Rules on values that are not finite, near float16's limit, or growing without bound."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

import lstm_gates_plugin as lg
from helpers.layers import make_layer, make_trace
from lstm_gates_plugin.diagnosis.finding import Finding
from lstm_gates_plugin.gate_trace import GateTrace


def diagnosed(directory: Path, traces: Sequence[GateTrace]) -> list[Finding]:
    with lg.GateWriter(directory) as writer:
        for number, trace in enumerate(traces):
            writer.log_trace(trace, step=10 * number)
    return [one for one in lg.diagnose(directory) if one.id != "LG090"]


def with_state(trace: GateTrace, scale: float) -> GateTrace:
    assert trace.cell_state is not None
    return replace(trace, cell_state=trace.cell_state * scale)


def test_the_first_gate_and_step_that_are_not_finite(tmp_path: Path) -> None:
    trace = make_trace(make_layer(scale=0.3))
    forget = trace.gates["forget"].copy()
    forget[0, 2, 1] = np.inf
    broken = replace(trace, gates={**trace.gates, "forget": forget})
    (found,) = diagnosed(tmp_path, [trace, trace, broken, broken])
    assert (found.id, found.severity, found.gate) == ("LG001", "error", "forget")
    assert (found.first_step, found.last_step, found.value) == (20, 30, 1)
    assert found.row == "activation/forget"


def test_masked_steps_are_no_missing_numbers(tmp_path: Path) -> None:
    assert diagnosed(tmp_path, [make_trace(make_layer(scale=0.3), padded=2)] * 4) == []


def test_a_state_that_runs_away(tmp_path: Path) -> None:
    trace = make_trace(make_layer(scale=0.3))
    grown = [with_state(trace, scale) for scale in (1, 100, 1e4, 1e5)]
    (found,) = diagnosed(tmp_path, grown)
    assert (found.id, found.row, found.last_step) == ("LG003", "cell_state", 30)
    assert grown[3].cell_state is not None
    assert np.isclose(found.value, np.abs(grown[3].cell_state).max(), rtol=1e-3)


def test_a_count_over_many_timesteps_does_not_run_away(tmp_path: Path) -> None:
    trace = make_trace(make_layer(scale=0.3), timesteps=200)
    largest = float(np.abs(trace.cell_state).max())
    counted = [with_state(trace, scale / largest) for scale in (1, 50, 150, 190)]
    (found,) = [one for one in diagnosed(tmp_path, counted) if one.row == "cell_state"]
    assert (found.id, found.severity, found.row) == ("LG004", "note", "cell_state")


def test_a_state_that_was_large_from_the_start_does_not_run_away(tmp_path: Path) -> None:
    trace = make_trace(make_layer(scale=0.3))
    assert diagnosed(tmp_path, [with_state(trace, 1e4)] * 4) == []


def test_near_the_limit_of_float16(tmp_path: Path) -> None:
    layer = make_layer(scale=0.3)
    half = replace(layer, options={**layer.options, "compute_dtype": "float16"})
    trace = make_trace(half)
    large = with_state(trace, 40_000 / float(np.abs(trace.cell_state).max()))
    (found,) = diagnosed(tmp_path / "half", [large] * 4)
    assert (found.id, found.row) == ("LG002", "cell_state")
    assert diagnosed(tmp_path / "single", [replace(large, layer=layer)] * 4) == []
