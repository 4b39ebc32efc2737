"""Fresh layers are not blamed, and too little data is said."""

from pathlib import Path

import numpy as np
import pytest

import lstm_gates_plugin as lg
from helpers.layers import make_layer, make_trace
from lstm_gates_plugin.diagnosis.diagnose import summary, verdict


@pytest.mark.parametrize("cell", ["lstm", "gru", "simple_rnn"])
def test_one_record_is_too_early_and_no_warning(tmp_path: Path, cell: str) -> None:
    layer = make_layer(cell, scale=0.3)
    with lg.GateWriter(tmp_path) as writer:
        writer.log_weights([layer], step=0)
        writer.log_trace(make_trace(layer), step=0)
    (found,) = [one for one in lg.diagnose(tmp_path) if one.id != "LG041"]
    assert (found.id, found.severity, found.layer) == ("LG090", "note", None)
    assert found.seen == "Not judged: the weights of lstm_0; the activations of lstm_0."
    assert "too early" in verdict([found], 1)
    assert summary([found], 1)["severity"] == "fine"


def test_a_chrono_start_is_at_most_a_note(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    units, longest = 64, 1000
    remember = np.log(rng.uniform(1, longest - 1, units))
    zeros = np.zeros(units)
    bias = np.concatenate([-remember, remember, zeros, zeros]).astype(np.float32)

    def layer(step: int) -> lg.RecurrentLayer:
        rng = np.random.default_rng(1)
        limit = 1 / np.sqrt(units)
        return lg.RecurrentLayer.from_arrays(
            "lstm",
            rng.uniform(-limit, limit, (8, 4 * units)) * (1 + step / 1000),
            rng.uniform(-limit, limit, (units, 4 * units)) * (1 + step / 1000),
            bias,
            gate_order="ifco",
            id="lstm_0",
        )

    with lg.GateWriter(tmp_path) as writer:
        for step in (0, 10, 20, 30):
            writer.log_weights([layer(step)], step=step)
            writer.log_trace(make_trace(layer(step), timesteps=50), step=step)
    found = lg.diagnose(tmp_path)
    assert {one.severity for one in found} <= {"note"}
    assert [(one.id, one.gate) for one in found if one.gate == "forget"] in (
        [],
        [("LG033", "forget")],
    )


def test_nothing_readable_is_said() -> None:
    assert verdict([], 0) == "No layer of this run has a readable record."


def test_wrong_arguments_are_refused(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="takes a run of"):
        lg.diagnose(3)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="should hold one run"):
        lg.diagnose(tmp_path)
