"""KerasCallback where a model is built late, a training ends early, or one follows another."""

from pathlib import Path
from typing import Any

import keras
import pytest

import lstm_gates_plugin as lg
from helpers.keras_training import X, build, fit, logged, steps


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
