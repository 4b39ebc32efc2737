"""Fresh cells of TensorFlow 1 with its own initialisers, and their first updates: no warning."""

from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf

import lstm_gates_plugin as lg
from helpers.tf1 import cells, dynamic

v1 = tf.compat.v1
X = np.random.default_rng(0).normal(size=(16, 12, 3)).astype("float32")
Y = X.mean(axis=(1, 2))
CELLS = {
    "BasicLSTMCell": cells.BasicLSTMCell,
    "LSTMCell": cells.LSTMCell,
    "GRUCell": cells.GRUCell,
    "BasicRNNCell": cells.BasicRNNCell,
}


@pytest.mark.parametrize("name", CELLS)
def test_a_fresh_cell_and_its_first_updates_have_no_warning(tmp_path: Path, name: str) -> None:
    op = dynamic(CELLS[name](16), 3)
    loss = tf.reduce_mean((tf.reduce_sum(op.outputs[:, -1], axis=-1) - Y) ** 2)
    step = v1.train.get_or_create_global_step()
    train = v1.train.AdamOptimizer().minimize(loss, global_step=step)
    probe = lg.Probe(inputs=op.inputs, feed_dict=op.feed(X[:4]))
    hook = lg.GateHook(tmp_path, op.cell, probe, every=1)
    with v1.train.SingularMonitoredSession(hooks=[hook]) as session:
        assert worse(tmp_path) == []
        for _ in range(12):
            session.run(train, op.feed(X))
    assert worse(tmp_path) == []


@pytest.mark.parametrize("forget_bias", [0.0, 1.0])
def test_the_forget_bias_that_is_added_counts(tmp_path: Path, forget_bias: float) -> None:
    """TensorFlow 1 stores zeros and adds 1 unless it is told otherwise."""
    more = {} if forget_bias else {"forget_bias": forget_bias}
    op = dynamic(cells.BasicLSTMCell(16, **more), 3)
    v1.train.get_or_create_global_step()
    hook = lg.GateHook(tmp_path, op.cell, every=1)
    with v1.train.SingularMonitoredSession(hooks=[hook]):
        pass
    found = [one for one in lg.diagnose(tmp_path) if one.id == "LG041"]
    assert [one.value for one in found] == ([] if forget_bias else [0])
    assert all("default" not in one.seen for one in found)


def test_the_hook_reports_in_the_console(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    op = dynamic(cells.BasicLSTMCell(8), 3)
    step = v1.train.get_or_create_global_step()
    bias = [variable for variable in v1.trainable_variables() if "bias" in variable.name]
    train = v1.train.AdamOptimizer().minimize(
        tf.reduce_mean(op.outputs**2), global_step=step, var_list=bias
    )
    hook = lg.GateHook(tmp_path, op.cell, every=1, report=True)
    with v1.train.SingularMonitoredSession(hooks=[hook]) as session:
        for _ in range(15):
            session.run(train, op.feed(X))
    lines = capsys.readouterr().out.splitlines()
    assert len([line for line in lines if line.startswith("LSTM Gates, warning LG013: ")]) == 1


def worse(directory: Path) -> list[str]:
    return [one.id for one in lg.diagnose(directory) if one.severity != "note"]
