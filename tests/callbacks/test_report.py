"""report=True in real trainings of Keras: what is printed, how often, and that nothing changes."""

from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest

import lstm_gates_plugin as lg
from helpers.keras_training import X, build, fit, stack
from lstm_gates_plugin.writing import reporting

HEADING = "LSTM Gates, warning "


def cut_off() -> keras.Model:
    """A model whose lower layer the loss does not reach."""
    keras.utils.set_random_seed(1)
    model = keras.Sequential(
        [
            keras.Input((6, 3)),
            keras.layers.LSTM(4, return_sequences=True, name="lower"),
            keras.layers.Lambda(keras.ops.stop_gradient),
            keras.layers.LSTM(4, name="upper"),
            keras.layers.Dense(1, activation="sigmoid"),
        ]
    )
    model.compile("adam", "binary_crossentropy")
    return model


@pytest.mark.filterwarnings("ignore:Gradients do not exist")
def test_each_finding_is_printed_once_while_training_goes_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    printed: list[str] = []

    class Listener(keras.callbacks.Callback):
        def on_epoch_end(self, epoch: int, logs: dict[str, Any] | None = None) -> None:
            printed.append(capsys.readouterr().out)

    callback = lg.KerasCallback(tmp_path, X[:4], "batch", report=True)
    fit(cut_off(), callback, Listener(), epochs=12)
    printed.append(capsys.readouterr().out)
    lines = [line for text in printed for line in text.splitlines() if line.startswith(HEADING)]
    assert [line[: len(HEADING) + 5] for line in lines] == [
        f"{HEADING}LG012",
        f"{HEADING}LG010",
    ]
    assert lines[1].startswith(f"{HEADING}LG010: lower has not changed since training step 0. No w")
    assert lines[1].endswith("To try first: check that the layer is trainable.")
    assert HEADING not in printed[-1]


def test_a_healthy_training_and_one_without_report_print_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fit(build(), lg.KerasCallback(tmp_path / "on", X[:4], "batch", report=True), epochs=5)
    fit(build(), lg.KerasCallback(tmp_path / "off", X[:4], "batch"), epochs=5)
    assert all("watching" in line for line in capsys.readouterr().out.splitlines())


def test_training_is_the_same_to_the_last_bit(tmp_path: Path) -> None:
    def trained(*callbacks: Any) -> list[np.ndarray]:
        model = stack(dropout=0.3)
        history = fit(model, *callbacks, epochs=4)
        return [*model.get_weights(), np.array(history.history["loss"]), np.random.rand(3)]

    without = trained()
    with_it = trained(lg.KerasCallback(tmp_path, X[:4], "batch", report=True))
    for one, other in zip(without, with_it, strict=True):
        np.testing.assert_array_equal(one, other)


def test_the_run_is_read_seldom(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[int] = []
    monkeypatch.setattr(reporting, "diagnose", lambda directory: read.append(1) or [])
    fit(build(), lg.KerasCallback(tmp_path, None, "batch", report=True), epochs=50)  # 201 calls
    assert 10 <= len(read) <= 20


def test_trouble_is_told_once_and_training_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(directory: Path) -> list[Any]:
        raise OSError("the disk is gone")

    monkeypatch.setattr(reporting, "diagnose", fails)
    with pytest.warns(UserWarning, match="could not log the findings.*the disk is gone") as told:
        fit(build(), lg.KerasCallback(tmp_path, X[:4], "batch", report=True), epochs=5)
    assert len([one for one in told if "disk is gone" in str(one.message)]) == 1


def test_what_cannot_be_read_back_is_refused() -> None:
    with pytest.raises(ValueError, match="report=True was given, but"):
        lg.GateWriter(report=True)
