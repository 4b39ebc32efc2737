"""Rules on recurrent kernels of simple RNNs, and on units that do the same."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lstm_gates_plugin as lg
from helpers.layers import make_layer, make_trace
from lstm_gates_plugin import RecurrentLayer
from lstm_gates_plugin.diagnosis import recurrence
from lstm_gates_plugin.diagnosis.run_view import LayerView, RunView, view

ORTHOGONAL = np.linalg.qr(np.random.default_rng(0).normal(size=(6, 6)))[0]


def viewed(directory: Path, sizes: list[float], **options: Any) -> LayerView:
    """A simple RNN whose recurrent kernel has these singular values, record by record."""
    kernel = np.random.default_rng(1).normal(size=(2, 6))
    with lg.GateWriter(directory) as writer:
        for number, size in enumerate(sizes):
            layer = RecurrentLayer.from_arrays(
                "simple_rnn", kernel, size * ORTHOGONAL, gate_order="", id="a", **options
            )
            writer.log_weights([layer], step=10 * number)
    (found,) = view(lg.read(directory)["."]).layers
    return found


@pytest.mark.parametrize(
    ("size", "activation", "vanishes"),
    [(0.5, "tanh", True), (1.0, "tanh", False), (2.0, "sigmoid", True), (4.1, "sigmoid", False)],
)
def test_the_bound_of_pascanu_mikolov_and_bengio(
    tmp_path: Path, size: float, activation: str, vanishes: bool
) -> None:
    layer = viewed(tmp_path, [size] * 3, activation=activation)
    found = list(recurrence.vanishes(RunView("", (layer,))))
    assert [one.id for one in found] == (["LG062"] if vanishes else [])


@pytest.mark.parametrize(
    ("sizes", "largest", "explodes"),
    [([1, 1.2, 1.5], 1e4, True), ([1, 1.2, 1.5], 10, False), ([1, 0.9, 0.8], 1e4, False)],
)
def test_gradients_that_explode(
    tmp_path: Path, sizes: list[float], largest: float, explodes: bool
) -> None:
    layer = viewed(tmp_path, [sizes[0], *sizes])
    gradients = viewed(tmp_path / "gradients", [sizes[0], *sizes]).series["weights"]
    rows, columns = gradients.header["rows"], gradients.header["columns"]
    at = rows.index("recurrent_kernel/hidden"), columns.index("norm")
    gradients.statistics[:, at[0], at[1]] = [1, 1, 1, largest]
    layer = LayerView("a", layer.description, {**layer.series, "training_gradients": gradients})
    found = list(recurrence.explodes(RunView("", (layer,))))
    assert [one.id for one in found] == (["LG061"] if explodes else [])
    assert [one.first_step for one in found] == ([30] if explodes else [])


@pytest.mark.parametrize("alike", [True, False])
def test_units_that_move_together(tmp_path: Path, alike: bool) -> None:
    layer = make_layer(scale=0.5)
    trace = make_trace(layer, timesteps=30)
    if alike:
        trace.hidden_state.setflags(write=True)
        trace.hidden_state[:] = trace.hidden_state[..., :1]
    with lg.GateWriter(tmp_path) as writer:
        for step in (0, 10, 20):
            writer.log_trace(trace, step=step)
    found = [one for one in lg.diagnose(tmp_path) if one.id == "LG050"]
    assert [(one.severity, one.value) for one in found] == ([("note", 1.0)] if alike else [])
