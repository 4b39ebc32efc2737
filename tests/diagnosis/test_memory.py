"""Rules on memory: the forget bias at the start, survival, and how far the error reaches."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import lstm_gates_plugin as lg
from helpers.layers import make_layer, make_trace
from lstm_gates_plugin.diagnosis import memory
from lstm_gates_plugin.diagnosis.run_view import LayerView, RunView, view


@pytest.mark.parametrize(
    ("stored", "added", "is_low"),
    [(0.0, None, True), (0.0, 1.0, False), (1.0, None, False), (-2.0, 1.0, True)],
)
def test_the_effective_forget_bias_counts(
    tmp_path: Path, stored: float, added: float | None, is_low: bool
) -> None:
    layer = make_layer()
    assert layer.bias is not None
    options = {**layer.options, **({} if added is None else {"forget_bias": added})}
    bias = {**layer.bias, "forget": np.full(4, stored, np.float32)}
    with lg.GateWriter(tmp_path) as writer:
        writer.log_weights([replace(layer, bias=bias, options=options)], step=0)
    found = [one for one in lg.diagnose(tmp_path) if one.id == "LG041"]
    assert [(one.severity, one.gate, one.value) for one in found] == (
        [("note", "forget", stored + (added or 0))] if is_low else []
    )


def test_a_start_that_is_the_framework_s_own_is_said_to_be_that(tmp_path: Path) -> None:
    layer = make_layer()
    assert layer.bias is not None
    bias = {**layer.bias, "forget": np.zeros(4, np.float32)}
    for framework, said in (("torch", True), ("keras", False)):
        options = {**layer.options, "framework": framework}
        with lg.GateWriter(tmp_path / framework) as writer:
            writer.log_weights([replace(layer, bias=bias, options=options)], step=0)
        (found,) = [one for one in lg.diagnose(tmp_path / framework) if one.id == "LG041"]
        assert found.seen.endswith(", which is PyTorch's default.") == said


def test_a_resumed_run_does_not_show_how_it_began(tmp_path: Path) -> None:
    layer = make_layer()
    assert layer.bias is not None
    bias = {**layer.bias, "forget": np.zeros(4, np.float32)}
    with lg.GateWriter(tmp_path) as writer:
        writer.log_weights([replace(layer, bias=bias)], step=500)
    assert "LG041" not in [one.id for one in lg.diagnose(tmp_path)]


@pytest.mark.parametrize(
    ("reach", "limit", "survival", "is_short"),
    [(3, 100, 0.2, True), (50, 100, 0.2, False), (1, 15, 0.2, False), (3, 100, 4, False)],
)
def test_reach(tmp_path: Path, reach: int, limit: int, survival: float, is_short: bool) -> None:
    with lg.GateWriter(tmp_path) as writer:
        for step in (0, 10, 20):
            writer.log_trace(make_trace(make_layer()), step=step)
    (layer,) = view(lg.read(tmp_path)["."]).layers
    series = layer.series["activations"]
    names = series.header["record_columns"]
    series.record[:, names.index("reach")] = reach
    series.record[:, names.index("reach_limit")] = limit
    layer.newest["activations"].arrays["survival"][1:] = 0.2
    layer.newest["activations"].arrays["survival"][:1] = survival  # of 5 timesteps, one in 4 units
    gradients = LayerView(layer.id, layer.description, {"gradients": series}, layer.newest)
    found = list(memory.short_reach(RunView(".", (gradients,))))
    assert [(one.id, one.severity) for one in found] == ([("LG060", "note")] if is_short else [])


@pytest.mark.parametrize(
    ("bias", "timesteps", "is_short"), [(0, 40, True), (3, 40, False), (0, 10, False)]
)
def test_survival_against_the_length_of_the_sequences(
    tmp_path: Path, bias: float, timesteps: int, is_short: bool
) -> None:
    layer = make_layer(scale=0.1)
    assert layer.bias is not None
    layer = replace(layer, bias={**layer.bias, "forget": np.full(4, bias, np.float32)})
    with lg.GateWriter(tmp_path) as writer:
        for step in (0, 10, 20):
            writer.log_trace(make_trace(layer, timesteps=timesteps), step=step)
    found = [(one.id, one.severity) for one in lg.diagnose(tmp_path) if one.id == "LG042"]
    assert found == ([("LG042", "note")] if is_short else [])
