"""The shape of a histogram in words, at each training step."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import lstm_gates_plugin as lg
from helpers.layers import make_layer
from lstm_gates_plugin.layer import RecurrentLayer
from lstm_gates_plugin.reading.files import FileSource
from lstm_gates_plugin.reading.source import MissingError
from lstm_gates_plugin.reading.store import Key
from lstm_gates_plugin.serve.shapes import shapes

KEY = Key("run/lstm_gates", "lstm_0", "weights")


def with_kernel(values: np.ndarray) -> RecurrentLayer:
    layer = make_layer(units=32, inputs=32)
    return replace(layer, kernel={**layer.kernel, "forget": values.astype("float32")})


def test_each_step_has_its_words(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    uniform = rng.uniform(-0.15, 0.15, (32, 32))
    normal = rng.normal(1, 0.5, (32, 32))
    with lg.GateWriter(tmp_path / "run") as writer:
        for step, values in ((0, uniform), (7, normal), (9, np.full((32, 32), 0.25))):
            writer.log_weights([with_kernel(values)], step=step)
    found = shapes(FileSource(tmp_path), KEY, "kernel/forget")
    assert found["steps"] == [0, 7, 9]
    assert found["shapes"] == [
        "a plateau between -0.15 and 0.15",
        f"a bell around {normal.mean():.2g} with spread {normal.std():.2g}",
        "a single spike at 0.25",
    ]
    with pytest.raises(MissingError, match="row 'kernel/nothing'"):
        shapes(FileSource(tmp_path), KEY, "kernel/nothing")
    with pytest.raises(MissingError, match="no readable weights of the layer 'lstm_1'"):
        shapes(FileSource(tmp_path), KEY._replace(layer="lstm_1"), "kernel/forget")
