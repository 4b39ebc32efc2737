"""Rules on saturation, dead units and values, on traces of layers with chosen biases."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import lstm_gates_plugin as lg
from helpers.layers import make_layer, make_trace
from lstm_gates_plugin import cells
from lstm_gates_plugin.diagnosis.finding import Finding
from lstm_gates_plugin.layer import RecurrentLayer


def diagnosed(directory: Path, *layers: RecurrentLayer) -> list[Finding]:
    """What is found where these layers are logged one after the other, ten steps apart."""
    with lg.GateWriter(directory) as writer:
        for number, layer in enumerate(layers):
            writer.log_trace(make_trace(layer, timesteps=8), step=10 * number)
    return [one for one in lg.diagnose(directory) if one.id != "LG090"]


def biased(gate: str, by: float, cell: str = "lstm") -> RecurrentLayer:
    layer = make_layer(cell, scale=0.3)
    assert layer.bias is not None
    return replace(layer, bias={**layer.bias, gate: np.full(4, by, np.float32)})


@pytest.mark.parametrize("cell", ["lstm", "gru", "simple_rnn"])
def test_small_weights_are_fine(tmp_path: Path, cell: str) -> None:
    assert diagnosed(tmp_path, *[make_layer(cell, scale=0.3)] * 5) == []


@pytest.mark.parametrize(
    ("gate", "by", "cell", "id"),
    [
        ("input", -12, "lstm", "LG031"),
        ("update", 12, "gru", "LG031"),
        ("output", -12, "lstm", "LG032"),
        ("candidate", 8, "lstm", "LG035"),
        ("hidden", 8, "simple_rnn", "LG035"),
    ],
)
def test_a_gate_at_its_limit_from_the_second_record_on(
    tmp_path: Path, gate: str, by: float, cell: str, id: str
) -> None:
    layer = biased(gate, by, cell)
    found = diagnosed(tmp_path, make_layer(cell, scale=0.3), layer, layer, layer)
    assert [(one.id, one.severity, one.gate) for one in found] == [(id, "warning", gate)]
    assert (found[0].first_step, found[0].last_step) == (10, 30)
    assert found[0].evidence.startswith("2 samples x 8 timesteps, 4 records")


def test_a_short_visit_to_the_limit_is_none(tmp_path: Path) -> None:
    calm = make_layer(scale=0.3)
    assert diagnosed(tmp_path, calm, biased("input", -12), calm, calm, calm) == []


@pytest.mark.parametrize("gate", ["input", "output"])
def test_a_gate_that_opens_once_in_a_long_sequence_is_fine(tmp_path: Path, gate: str) -> None:
    layer = biased(gate, -12)
    opening = np.repeat(np.float32([[30], [0], [0]]), 4, axis=1)  # the first input alone
    layer = replace(layer, kernel={**layer.kernel, gate: opening})
    x = np.zeros((2, 400, 3), np.float32)
    x[:, 200, 0] = 1
    trace = cells.forward(layer, x, np.ones((2, 400), bool))
    assert (trace.gates[gate] > 0.01).mean() < 0.01
    with lg.GateWriter(tmp_path) as writer:
        for step in range(0, 40, 10):
            writer.log_trace(trace, step=step)
    assert [one.id for one in lg.diagnose(tmp_path) if one.severity != "note"] == []


def test_a_gate_that_keeps_nothing_of_haiku_is_judged_the_other_way(tmp_path: Path) -> None:
    layer = biased("update", -12, "gru")
    layer = replace(layer, options={**layer.options, "update_keeps": False})
    assert [one.id for one in diagnosed(tmp_path, *[layer] * 4)] == ["LG031"]


def test_open_forget_gates_remember_and_are_a_note(tmp_path: Path) -> None:
    (found,) = diagnosed(tmp_path, *[biased("forget", 8)] * 4)
    assert (found.id, found.severity, found.gate) == ("LG033", "note", "forget")
    assert "remember" in found.meaning


def test_closed_forget_gates_are_a_note(tmp_path: Path) -> None:
    (found,) = diagnosed(tmp_path, *[biased("forget", -8)] * 4)
    assert (found.id, found.severity, found.gate) == ("LG037", "note", "forget")


@pytest.mark.parametrize("size", [0.0, 1.0])
def test_a_gate_that_does_not_look_at_its_input(tmp_path: Path, size: float) -> None:
    layer = make_layer(scale=0.3)
    blind = {
        part: {**getattr(layer, part), "output": getattr(layer, part)["output"] * np.float32(size)}
        for part in ("kernel", "recurrent_kernel")
    }
    found = diagnosed(tmp_path, *[replace(layer, **blind)] * 4)
    assert [(one.id, one.gate) for one in found] == ([] if size else [("LG034", "output")])


def test_dead_units(tmp_path: Path) -> None:
    def relu(by: float) -> RecurrentLayer:
        layer = biased("hidden", by, "simple_rnn")
        return replace(layer, options={**layer.options, "activation": "relu"})

    assert [one.id for one in diagnosed(tmp_path / "dead", *[relu(-9)] * 4)] == ["LG036"]
    assert diagnosed(tmp_path / "alive", *[relu(0.5)] * 4) == []
