"""Networks of Keras that learn to read digits have no warning, at any of their first epochs."""

from pathlib import Path
from typing import Any

import keras
import pytest
from sklearn.datasets import load_digits

import lstm_gates_plugin as lg

UNITS = 32


def stack(kind: Any) -> list[Any]:
    return [kind(UNITS, return_sequences=True), kind(UNITS)]


HEALTHY = {
    "two LSTMs": lambda: stack(keras.layers.LSTM),
    "two GRUs": lambda: stack(keras.layers.GRU),
    "two simple RNNs": lambda: stack(keras.layers.SimpleRNN),
    "both ways": lambda: [keras.layers.Bidirectional(keras.layers.LSTM(UNITS))],
}


@pytest.mark.parametrize("name", HEALTHY)
def test_digits_are_learned_without_a_warning(tmp_path: Path, name: str) -> None:
    keras.utils.set_random_seed(0)
    images, digits = load_digits(return_X_y=True)
    x, y = images.reshape(-1, 8, 8).astype("float32") / 16, digits
    model = keras.Sequential(
        [keras.Input((8, 8)), *HEALTHY[name](), keras.layers.Dense(10, activation="softmax")]
    )
    model.compile(
        keras.optimizers.Adam(0.005), "sparse_categorical_crossentropy", metrics=["accuracy"]
    )

    class Judge(keras.callbacks.Callback):
        def on_epoch_end(self, epoch: int, logs: dict[str, float] | None = None) -> None:
            found = lg.diagnose(tmp_path)
            assert [one.id for one in found if one.severity != "note"] == []

    probe = lg.Probe(x[:4], target=y[:4])
    history = model.fit(
        x,
        y,
        batch_size=64,
        epochs=5,
        verbose=0,
        callbacks=[lg.KerasCallback(tmp_path, probe), Judge()],
    )
    assert history.history["accuracy"][-1] > 0.7
