"""KerasCallback in real trainings: what it logs, when, and that it disturbs nothing."""

import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest

import lstm_gates_plugin as lg
from helpers.keras_training import X, Y, build, fit, logged, stack, steps


@pytest.fixture(autouse=True)
def no_warnings() -> Iterator[None]:
    """A test says so where it expects one."""
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message="LSTM Gates")
        yield


def test_every_batch_is_an_optimizer_update_and_step_0_comes_before_the_first(
    tmp_path: Path,
) -> None:
    model = stack()
    before = [layer.kernel for layer in lg.recurrent_layers(model)]
    fit(model, lg.KerasCallback(tmp_path, X[:4], "batch"))
    run = logged(tmp_path)
    assert list(run) == ["gru_0", "lstm_0"]
    for layer in run:
        gate = "update" if layer == "gru_0" else "forget"
        for row in (f"kernel/{gate}", f"activation/{gate}", "hidden_state"):
            assert steps(tmp_path, layer, row) == list(range(13))
    first = run["lstm_0"].snapshot(0, "weights").arrays["kernel/forget"]
    np.testing.assert_array_equal(first, before[0]["forget"])
    last = run["lstm_0"].snapshot(kind="weights")
    assert last.step == 12
    np.testing.assert_array_equal(
        last.arrays["kernel/forget"], lg.recurrent_layers(model)[0].kernel["forget"]
    )
    np.testing.assert_allclose(
        run["lstm_0"].snapshot().arrays["hidden_state"],
        lg.trace(model, X[:4])[0].hidden_state,
        atol=1e-3,
    )
    assert run["lstm_0"].series("hidden_state", "difference").values.max() < 1e-5


@pytest.mark.parametrize(
    ("update_freq", "expected"),
    [("epoch", [0, 4, 8, 12]), (5, [0, 5, 10, 12]), ("auto", list(range(13)))],
)
def test_other_frequencies(tmp_path: Path, update_freq: Any, expected: list[int]) -> None:
    fit(build(), lg.KerasCallback(tmp_path, X[:2], update_freq))
    assert steps(tmp_path) == expected
    assert steps(tmp_path, row="hidden_state") == expected


def test_loss_and_epoch_are_kept_with_the_records(tmp_path: Path) -> None:
    history = fit(build(), lg.KerasCallback(tmp_path, update_freq="epoch"))
    layer = logged(tmp_path)["lstm_0"]
    loss = layer.series("kernel/forget", "loss").values
    assert np.isnan(loss[0])
    np.testing.assert_allclose(loss[1:], history.history["loss"], rtol=1e-6)
    assert layer.series("kernel/forget", "epoch").values.tolist() == [0, 0, 1, 2]


def test_a_second_fit_after_compile_goes_on_counting(tmp_path: Path) -> None:
    model, callback = build(), lg.KerasCallback(tmp_path, update_freq="epoch")
    fit(model, callback, epochs=2)
    model.compile("sgd", "mse")
    fit(model, callback, epochs=1)
    assert steps(tmp_path) == [0, 4, 8, 12]
    change = logged(tmp_path)["lstm_0"].series("kernel/forget", "change_since_start").values
    assert change[0] == 0
    assert (change[1:] > 0).all()


def test_a_second_fit_without_compile_goes_on_too(tmp_path: Path) -> None:
    model, callback = build(), lg.KerasCallback(tmp_path, update_freq="epoch")
    fit(model, callback, epochs=1)
    fit(model, callback, epochs=1)
    assert steps(tmp_path) == [0, 4, 8]


def test_the_same_script_run_again_replaces_the_run(tmp_path: Path) -> None:
    fit(build(), lg.KerasCallback(tmp_path, update_freq="epoch"), epochs=3)
    fit(build(), lg.KerasCallback(tmp_path, update_freq="epoch"), epochs=1)
    assert steps(tmp_path) == [0, 4]


def test_a_model_that_is_not_built_is_built_from_the_probe(tmp_path: Path) -> None:
    fit(stack(unbuilt=True), lg.KerasCallback(tmp_path, X[:2], "epoch"))
    assert steps(tmp_path) == [0, 4, 8, 12]


def test_two_callbacks_share_one_directory(tmp_path: Path) -> None:
    first = lg.KerasCallback(tmp_path, update_freq="epoch", name="first")
    second = lg.KerasCallback(tmp_path, update_freq="epoch", name="second")
    fit(build(), first, second, epochs=2)
    assert steps(tmp_path, "first/lstm_0") == [0, 4, 8]
    assert steps(tmp_path, "second/lstm_0") == [0, 4, 8]
    assert len(list(tmp_path.rglob("*tfevents*"))) == 1


def test_a_users_own_writer_stays_open(tmp_path: Path) -> None:
    model = build()
    with lg.GateWriter(tmp_path, every=1) as writer:
        fit(model, lg.KerasCallback(tmp_path, update_freq="epoch"), epochs=1)
        writer.log_weights(model, step=100)
    assert steps(tmp_path) == [0, 4, 100]


def test_an_interrupted_training_keeps_its_records_and_can_go_on(tmp_path: Path) -> None:
    class Interrupt(keras.callbacks.Callback):
        def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
            if batch == 2:
                raise KeyboardInterrupt

    model, callback = build(), lg.KerasCallback(tmp_path, update_freq="batch")
    with pytest.raises(KeyboardInterrupt):
        fit(model, callback, Interrupt())
    fit(model, callback, epochs=1)
    assert steps(tmp_path) == [0, 1, 2, 3, 4, 5, 6, 7]


def test_multi_step_executions_are_counted_in_updates(tmp_path: Path) -> None:
    model = build()
    model.compile("adam", "mse", steps_per_execution=2)
    fit(model, lg.KerasCallback(tmp_path, update_freq="batch"), epochs=1)
    assert steps(tmp_path) == [0, 2, 4]


def test_a_wrong_frequency_is_refused_at_once(tmp_path: Path) -> None:
    for wrong in ("sometimes", 0, -2, 1.5):
        with pytest.raises(ValueError, match=r'update_freq=.*"auto", "epoch", "batch"'):
            lg.KerasCallback(tmp_path, update_freq=wrong)  # type: ignore[arg-type]


def test_a_custom_loop_needs_one_line(tmp_path: Path) -> None:
    import tensorflow as tf

    model = build()
    with lg.GateWriter(tmp_path) as writer:
        for step in range(4):
            writer.log(model, step=step, probe=X[:3])
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean((model(X, training=True)[:, 0] - Y) ** 2)
            gradients = tape.gradient(loss, model.trainable_variables)
            model.optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
    assert steps(tmp_path) == [0, 1, 2, 3]
    change = logged(tmp_path)["lstm_0"].series("activation/forget", "change_since_previous").values
    assert (change[1:] > 0).all()
