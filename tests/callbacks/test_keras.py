"""KerasCallback in real trainings: what it logs, when, and that it disturbs nothing."""

import random
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest

import lstm_gates_plugin as lg
from lstm_gates_plugin.reading.runs import LoggedRun

RNG = np.random.default_rng(0)
X = RNG.normal(size=(32, 6, 3)).astype(np.float32)
Y = (X.sum(axis=(1, 2)) > 0).astype(np.float32)


def build(*, dropout: float = 0.0, unbuilt: bool = False, seed: int = 1) -> keras.Model:
    """A compiled model with an LSTM and a GRU."""
    keras.utils.set_random_seed(seed)
    shape = [] if unbuilt else [keras.Input((6, 3))]
    model = keras.Sequential(
        [
            *shape,
            keras.layers.LSTM(4, return_sequences=True, dropout=dropout),
            keras.layers.GRU(3, dropout=dropout, recurrent_dropout=dropout),
            keras.layers.Dense(1, activation="sigmoid"),
        ]
    )
    model.compile("adam", "binary_crossentropy", metrics=["accuracy"])
    return model


def fit(model: keras.Model, *callbacks: Any, **more: Any) -> keras.callbacks.History:
    arguments = {"epochs": 3, "batch_size": 8, "verbose": 0, "shuffle": True, **more}
    return model.fit(X, Y, callbacks=list(callbacks), **arguments)


def logged(directory: Path) -> LoggedRun:
    return lg.read(directory)["."]


def steps(directory: Path, layer: str = "lstm_0", row: str = "kernel/forget") -> list[int]:
    found: list[int] = logged(directory)[layer].series(row, "mean").steps.tolist()
    return found


@pytest.fixture(autouse=True)
def no_warnings() -> Iterator[None]:
    """A test says so where it expects one."""
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message="LSTM Gates")
        yield


def test_every_batch_is_an_optimizer_update_and_step_0_comes_before_the_first(
    tmp_path: Path,
) -> None:
    model = build()
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


def train(directory: Path | None) -> dict[str, Any]:
    """Everything that must not depend on whether the callback is there."""
    model = build(dropout=0.3, seed=7)
    callbacks = []
    if directory:
        probe = lg.Probe(X[:4], target=Y[:4], sample_names=list("abcd"))
        callbacks = [lg.KerasCallback(directory, probe, "batch")]
    history = fit(model, *callbacks, validation_data=(X[:8], Y[:8]))
    return {
        "weights": [variable.numpy() for variable in model.variables],
        "optimizer": [variable.numpy() for variable in model.optimizer.variables],
        "outputs": model.predict(X, verbose=0),
        "history": history.history,
        "random": (random.random(), np.random.random(), keras.random.normal((2,)).numpy()),
        "dropout": model(X, training=True).numpy(),
    }


def test_training_is_bit_identical_with_and_without(tmp_path: Path) -> None:
    without, with_callback = train(None), train(tmp_path)
    assert len(steps(tmp_path)) == 13
    assert without["history"] == with_callback["history"]
    for name in ("weights", "optimizer"):
        assert len(without[name]) == len(with_callback[name])
        for one, other in zip(without[name], with_callback[name], strict=True):
            np.testing.assert_array_equal(one, other)
    for name in ("outputs", "dropout"):
        np.testing.assert_array_equal(without[name], with_callback[name])
    np.testing.assert_array_equal(without["random"][2], with_callback["random"][2])
    assert without["random"][:2] == with_callback["random"][:2]


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
    fit(build(unbuilt=True), lg.KerasCallback(tmp_path, X[:2], "epoch"))
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


def warned(caught: list[warnings.WarningMessage]) -> list[str]:
    return [str(one.message) for one in caught if "LSTM Gates" in str(one.message)]


@pytest.mark.parametrize(
    "probe",
    [np.zeros((2, 6, 5), np.float32), np.zeros(3), "text", {"a": X[:2]}, lg.Probe(X[:2], X[:2])],
)
def test_a_probe_that_does_not_fit_is_one_warning_and_weights_go_on(
    tmp_path: Path, probe: Any
) -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        history = fit(build(), lg.KerasCallback(tmp_path, probe, "batch"))
    assert len(history.history["loss"]) == 3
    assert steps(tmp_path) == list(range(13))
    messages = warned(caught)
    assert len(messages) == 1, messages
    assert "could not log the activations, training goes on" in messages[0]


def test_a_model_without_recurrent_layers_trains_on_with_one_warning(tmp_path: Path) -> None:
    model = keras.Sequential([keras.Input((6, 3)), keras.layers.Flatten(), keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fit(model, lg.KerasCallback(tmp_path, update_freq="batch"))
    assert [message for message in warned(caught) if "no recurrent layer" in message]
    assert len(warned(caught)) == 1


def test_a_directory_that_cannot_be_written_trains_on_with_one_warning(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        history = fit(build(), lg.KerasCallback(tmp_path / "file" / "run", X[:2]))
    assert len(history.history["loss"]) == 3
    assert len(warned(caught)) == 1
    assert "cannot be written" in warned(caught)[0]


def test_nan_weights_end_nothing(tmp_path: Path) -> None:
    """Case I2: one gate becomes NaN in the second update."""

    class Break(keras.callbacks.Callback):
        def on_train_batch_begin(self, batch: int, logs: Any = None) -> None:
            if batch == 2:
                kernel = self.model.layers[0].cell.kernel
                values = kernel.numpy()
                values[:, 4:8] = np.nan
                kernel.assign(values)

    fit(build(), lg.KerasCallback(tmp_path, X[:2], "batch"), Break(), epochs=1)
    layer = logged(tmp_path)["lstm_0"]
    assert layer.series("kernel/forget", "nan").values.tolist() == [0, 0, 0, 12, 12]
    assert layer.series("activation/forget", "nan").values.tolist()[:3] == [0, 0, 0]
    assert layer.series("activation/forget", "nan").values[3] == 2 * 6 * 4
    forget = layer.snapshot(3).arrays["activation/forget"]
    assert np.isnan(forget).all()


def test_layer_names_of_any_kind_are_kept(tmp_path: Path) -> None:
    names = ["слой 1", "<b>x", "call 1", "50%20"]
    layers = [keras.layers.LSTM(2, return_sequences=True, name=name) for name in names]
    model = keras.Sequential([keras.Input((6, 3)), *layers, keras.layers.Flatten()])
    # TensorFlow takes no such name as the scope of a graph.
    model.compile("sgd", "mse", run_eagerly=True)
    model.fit(X, np.zeros((32, 12)), verbose=0, callbacks=[lg.KerasCallback(tmp_path, X[:2])])
    run = logged(tmp_path)
    assert set(run) == set(names)
    for name in names:
        assert run[name].snapshot().header["layer"]["id"] == name


class Unbuilt(keras.Model):
    """Keras does not know its shapes before it is called."""

    def __init__(self, **lstm: Any) -> None:
        super().__init__()
        self.lstm = keras.layers.LSTM(4, dropout=0.2, **lstm)
        self.head = keras.layers.Dense(1)

    def call(self, inputs: Any, training: bool = False) -> Any:
        return self.head(self.lstm(inputs, training=training))


def train_unbuilt(*callbacks: Any, **lstm: Any) -> list[float]:
    keras.utils.set_random_seed(3)
    model = Unbuilt(**lstm)
    model.compile("sgd", "mse")
    return fit(model, *callbacks, epochs=2, shuffle=False).history["loss"]  # type: ignore[no-any-return]


def test_building_from_the_probe_changes_nothing_in_the_training(tmp_path: Path) -> None:
    callback = lg.KerasCallback(tmp_path, X[:3], "epoch")
    assert train_unbuilt(callback) == train_unbuilt()
    assert steps(tmp_path, "lstm") == [0, 4, 8]


def test_a_stateful_model_is_not_built_for_the_probes_batch_size(tmp_path: Path) -> None:
    callback = lg.KerasCallback(tmp_path, X[:8], "epoch")
    assert train_unbuilt(callback, stateful=True) == train_unbuilt(stateful=True)
    assert steps(tmp_path, "lstm")[-1] == 8


def test_a_new_callback_after_an_interrupted_training_replaces_its_run(tmp_path: Path) -> None:
    """A notebook cell that is run again; the old callback lives on in the traceback."""

    class Interrupt(keras.callbacks.Callback):
        def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
            if batch == 2:
                raise KeyboardInterrupt

    old = lg.KerasCallback(tmp_path, update_freq="batch")
    with pytest.raises(KeyboardInterrupt):
        fit(build(), old, Interrupt())
    fit(build(), lg.KerasCallback(tmp_path, update_freq="epoch"), epochs=1)
    assert steps(tmp_path) == [0, 4]
    del old


def test_one_fit_per_epoch_writes_one_file(tmp_path: Path) -> None:
    model, callback = build(), lg.KerasCallback(tmp_path)
    for _ in range(4):
        fit(model, callback, epochs=1)
    assert steps(tmp_path) == list(range(17))
    assert logged(tmp_path)["lstm_0"].snapshot_steps("weights")[-1] == 16
    assert len(list(tmp_path.rglob("*tfevents*"))) == 1
    with lg.GateWriter(tmp_path) as writer:
        writer.log_weights(model, step=20)
    assert steps(tmp_path)[-1] == 20


@pytest.mark.parametrize(
    "options", [{"layers": 3}, {"parts": ("gates",)}, {"max_units": 0}, {"max_samples": 1.5}]
)
def test_wrong_options_are_refused_before_training(tmp_path: Path, options: Any) -> None:
    with pytest.raises(ValueError, match=f"{next(iter(options))}="):
        lg.KerasCallback(tmp_path, **options)


def test_a_wrong_probe_gets_a_sentence_with_what_was_given_and_expected(tmp_path: Path) -> None:
    with pytest.warns(UserWarning, match=r"shape \(2, 6, 5\); it expects \(None, 6, 3\)") as caught:
        fit(build(), lg.KerasCallback(tmp_path, np.zeros((2, 6, 5), np.float32)), epochs=1)
    message = next(str(one.message) for one in caught if "LSTM Gates" in str(one.message))
    assert "\x1b" not in message
    assert "\n" not in message


def test_a_loss_that_fails_leaves_the_activations(tmp_path: Path) -> None:
    def broken(outputs: Any, target: Any) -> Any:
        raise RuntimeError("no loss today")

    probe = lg.Probe(X[:2], target=Y[:2], loss=broken)
    with pytest.warns(UserWarning, match="could not log the loss of each timestep"):
        fit(build(), lg.KerasCallback(tmp_path, probe), epochs=1)
    assert len(steps(tmp_path, row="hidden_state")) == 5


def test_the_optimizers_own_counter_is_a_step(tmp_path: Path) -> None:
    model = build()
    with lg.GateWriter(tmp_path) as writer:
        assert writer.log(model, step=model.optimizer.iterations)
    assert steps(tmp_path) == [0]


def test_the_probes_true_size_is_kept(tmp_path: Path) -> None:
    with lg.GateWriter(tmp_path) as writer:
        writer.log(build(), step=0, probe=X[:10])
    picture = logged(tmp_path)["lstm_0"].snapshot()
    assert picture.header["samples"] == 10
    assert len(picture.arrays["hidden_state"]) == 4


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
