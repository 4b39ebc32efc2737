"""Rules on the probe: padding, and whether it is always the same one."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import lstm_gates_plugin as lg
from helpers.layers import make_layer, make_trace
from lstm_gates_plugin.diagnosis import data
from lstm_gates_plugin.diagnosis.finding import Finding
from lstm_gates_plugin.diagnosis.run_view import LayerView, RunView
from lstm_gates_plugin.diagnosis.run_view import view as view_of


def only_probe(view: RunView, hashes: list[float]) -> Iterator[Finding]:
    """The rule on a run whose records have these checksums of the probe."""
    (layer,) = view.layers
    series = layer.series["activations"]
    at = series.header["record_columns"].index("probe_hash")
    series.record[:, at] = hashes
    layer = LayerView(layer.id, layer.description, {"activations": series}, layer.newest)
    return data.probe_changed(RunView(view.name, (layer,)))


@pytest.mark.parametrize(("padded", "found"), [(2, []), (7, ["LG081"])])
def test_padding(tmp_path: Path, padded: int, found: list[str]) -> None:
    with lg.GateWriter(tmp_path) as writer:
        trace = make_trace(make_layer(), batch=1, timesteps=10, padded=padded)
        writer.log_trace(trace, step=0)
    notes = [one for one in lg.diagnose(tmp_path) if one.id != "LG090"]
    assert [one.id for one in notes] == found
    assert [one.value for one in notes] == pytest.approx([padded / 10] * len(found))


def test_a_probe_that_changed(tmp_path: Path) -> None:
    with lg.GateWriter(tmp_path) as writer:
        for step in (0, 10, 20):
            writer.log_trace(make_trace(make_layer()), step=step)
    view = view_of(lg.read(tmp_path)["."])
    assert list(only_probe(view, [5, 5, 5])) == []
    assert list(only_probe(view, [np.nan, 5, 5])) == []
    (found,) = only_probe(view, [5, 5, 7])
    assert (found.id, found.severity, found.layer) == ("LG082", "note", None)
    assert (found.first_step, found.value) == (20, 1)


@pytest.mark.parametrize(
    ("size", "is_said"), [(300.0, True), (1.0, False), (0.001, True), ("tokens", False)]
)
def test_the_scale_of_the_probe(tmp_path: Path, size: float | str, is_said: bool) -> None:
    view = probed(tmp_path, size)
    found = list(data.input_scale(view))
    assert [(one.id, one.severity) for one in found] == ([("LG080", "note")] if is_said else [])


def probed(directory: Path, size: float | str) -> RunView:
    """A run whose newest snapshot has such inputs."""
    with lg.GateWriter(directory) as writer:
        writer.log_trace(make_trace(make_layer()), step=0)
    (layer,) = view_of(lg.read(directory)["."]).layers
    rng = np.random.default_rng(0)
    inputs = (
        rng.integers(0, 1000, (2, 5))
        if isinstance(size, str)
        else size * rng.normal(size=(2, 5, 3))
    )
    layer.newest["activations"].arrays["track/input"] = inputs.astype(np.float32)
    return RunView("", (layer,))
