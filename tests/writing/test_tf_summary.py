"""GateWriter() in TensorFlow's own default summary writer, and inside tf.function."""

import subprocess
import sys
import warnings
from pathlib import Path

import keras
import numpy as np
import pytest
import tensorflow as tf

import lstm_gates_plugin as lg
from helpers.layers import make_layer, make_trace
from helpers.served import Routes

X = np.random.default_rng(0).normal(size=(4, 5, 3)).astype(np.float32)


def write(directory: Path) -> None:
    """Three steps of weights and activations beside the user's own scalars, in one file."""
    with tf.summary.create_file_writer(str(directory)).as_default(), lg.GateWriter() as writer:
        for step in range(3):
            tf.summary.experimental.set_step(step)
            tf.summary.scalar("loss", step / 2)
            layer = make_layer(seed=step)
            writer.log_weights([layer])
            writer.log_trace(make_trace(layer))
    tf.summary.experimental.set_step(None)


def test_records_lie_in_the_default_writers_file_at_its_step(tmp_path: Path) -> None:
    write(tmp_path / "train")
    assert len(list(tmp_path.rglob("*tfevents*"))) == 1
    layer = lg.read(tmp_path)["train"]["lstm_0"]
    steps, values = layer.series("kernel/forget", "mean")
    assert steps.tolist() == [0, 1, 2]
    expected = [make_layer(seed=step).kernel["forget"].mean() for step in range(3)]
    np.testing.assert_allclose(values, expected, rtol=1e-5)
    assert layer.snapshot_steps() == [0, 1, 2]


@pytest.mark.parametrize("loader", ["--load_fast=true", "--load_fast=false"])
def test_both_loaders_show_them_beside_the_scalars(
    tmp_path: Path, serve_logdir: object, loader: str
) -> None:
    write(tmp_path / "train")
    routes = Routes(serve_logdir(tmp_path, loader))  # type: ignore[operator]
    routes.wait_for({"train": 2})
    run = routes.json("runs")["runs"][0]
    assert run["scalars"] == [{"run": "train", "tag": "loss"}]
    _, arrays = routes.series(run="train", layer="lstm_0", kind="activations")
    assert arrays["steps"].tolist() == [0, 1, 2]


def test_record_if_is_obeyed_and_the_start_is_that_of_the_first_record(tmp_path: Path) -> None:
    with tf.summary.create_file_writer(str(tmp_path)).as_default():
        writer = lg.GateWriter()
        for step in range(4):
            with tf.summary.record_if(step % 2 == 1):
                writer.log_weights([make_layer(seed=step)], step=step)
        writer.close()
    series = lg.read(tmp_path)["."]["lstm_0"].series("kernel/forget", "max_change_since_start")
    assert series.steps.tolist() == [1, 3]
    assert series.values[0] == 0
    assert series.values[1] > 0


def test_no_default_writer_and_no_step_are_said() -> None:
    writer = lg.GateWriter()
    with pytest.raises(ValueError, match="no default writer here; log inside"):
        writer.log_weights([make_layer()], step=0)
    with pytest.raises(ValueError, match="No step was given"):
        writer.log_weights([make_layer()])


def test_without_tensorflow_a_directory_is_asked_for() -> None:
    run = subprocess.run(
        [sys.executable, "-c", "import lstm_gates_plugin as lg; lg.GateWriter()"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert "has not imported TensorFlow; give a directory" in run.stderr


def test_j1_logging_outside_a_compiled_step_shows_each_steps_own_values(tmp_path: Path) -> None:
    model = keras.Sequential([keras.Input((5, 3)), keras.layers.LSTM(4), keras.layers.Dense(1)])
    optimizer = keras.optimizers.SGD(0.5)

    @tf.function
    def train_step() -> None:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(model(X, training=True) ** 2)
        variables = model.trainable_variables
        optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables, strict=True))

    with lg.GateWriter(tmp_path) as writer:
        for step in range(2):
            writer.log(model, step=step, probe=X)
            train_step()
    layer = lg.read(tmp_path)["."]["lstm_0"]
    for row in ("kernel/forget", "activation/forget"):
        values = layer.series(row, "mean").values
        assert values[0] != values[1]


def test_j1_inside_a_compiled_step_is_refused_in_one_sentence(tmp_path: Path) -> None:
    model = keras.Sequential([keras.Input((5, 3)), keras.layers.LSTM(4)])
    writer = lg.GateWriter(tmp_path)

    @tf.function
    def step_with_log() -> None:
        writer.log(model, step=0, probe=X)

    with pytest.raises(ValueError, match=r"inside a tf\.function, where it would run once"):
        step_with_log()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert writer.log(model, step=0, probe=X)
