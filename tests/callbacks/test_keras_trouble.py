"""KerasCallback in trouble: the training goes on, and one sentence says what is wrong."""

import warnings
from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest

import lstm_gates_plugin as lg
from helpers.keras_training import X, Y, build, fit, logged, stack, steps


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
        history = fit(stack(), lg.KerasCallback(tmp_path, probe, "batch"))
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


def test_i2_nan_weights_end_nothing(tmp_path: Path) -> None:
    """One gate becomes NaN in the second update."""

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
    # Nor may what we tried have left its mark on the names of later variables.
    assert keras.Variable(np.zeros(1), name="later").path == "later"
    run = logged(tmp_path)
    assert set(run) == set(names)
    for name in names:
        assert run[name].snapshot().header["layer"]["id"] == name


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
