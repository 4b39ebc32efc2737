"""Trains two LSTM layers on handwritten digits, read pixel by pixel, and logs what their gates do.

    python demo/digits.py --logdir logs/digits
    tensorboard --logdir logs                      # then open the tab LSTM Gates

A digit is an image of 8 x 8 pixels, here a sequence of 64 timesteps: row by row from the top, each
row from the left. About a minute on two cores.
"""

import argparse
from collections.abc import Sequence
from typing import Any

import keras
import numpy as np
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

import lstm_gates_plugin as lg

UNITS = 32
BATCH_SIZE = 64
PROBED_DIGITS = (1, 3, 7, 0)
ROWS = [f"row {row}" for row in range(8)]
PIXELS = [f"row {row}, column {column}" for row in range(8) for column in range(8)]


def load_sequences() -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Images as float32 [samples, 64 timesteps, 1] within 0..1 and digits as integers [samples]."""
    digits = load_digits()
    pixels = (digits.data / 16).astype("float32")[:, :, np.newaxis]
    split = train_test_split(
        pixels, digits.target, test_size=0.2, stratify=digits.target, random_state=0
    )
    x_train, x_test, y_train, y_test = split
    return x_train, y_train, x_test, y_test


def load_rows() -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """The same images as eight timesteps of eight pixels: float32 [samples, 8, 8]."""
    x_train, y_train, x_test, y_test = load_sequences()
    return x_train.reshape(-1, 8, 8), y_train, x_test.reshape(-1, 8, 8), y_test


def build_model(updates: int) -> keras.Model:
    """Two LSTM layers; `updates` is the number of optimizer updates that training will make."""
    model = keras.Sequential(
        [
            keras.layers.Input((len(PIXELS), 1)),
            keras.layers.LSTM(UNITS, return_sequences=True, name="lower"),
            keras.layers.LSTM(UNITS, name="upper"),
            keras.layers.Dense(10, activation="softmax", name="digit"),
        ]
    )
    learning_rate = keras.optimizers.schedules.CosineDecay(0.01, updates)
    model.compile(
        keras.optimizers.Adam(learning_rate, clipnorm=1.0),
        loss="sparse_categorical_crossentropy",
        metrics=["accuracy"],
    )
    return model


def choose_probe(x: np.ndarray, y: np.ndarray, labels: Sequence[str]) -> lg.Probe:
    """The first image of each of four digits: the samples whose gates the tab shows.

    `labels` are those of the timesteps.
    """
    samples = [int(np.flatnonzero(y == digit)[0]) for digit in PROBED_DIGITS]
    return lg.Probe(
        x[samples],
        target=y[samples],
        time_labels=[labels] * len(samples),
        sample_names=[f"a handwritten {digit}" for digit in PROBED_DIGITS],
    )


class ProgressBar(keras.callbacks.Callback):
    """One line on the terminal: epochs done, accuracy on the test images, time that remains."""

    def __init__(self, epochs: int) -> None:
        super().__init__()
        self._bar = Progress(
            TextColumn("Training"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("epochs, test accuracy {task.fields[accuracy]:.1%},"),
            TimeRemainingColumn(),
            TextColumn("left"),
        )
        self._task = self._bar.add_task("", total=epochs, accuracy=0.0)

    def on_train_begin(self, logs: dict[str, Any] | None = None) -> None:
        """Show the bar."""
        self._bar.start()

    def on_epoch_end(self, epoch: int, logs: dict[str, Any] | None = None) -> None:
        """Move the bar."""
        accuracy = (logs or {}).get("val_accuracy", 0.0)
        self._bar.update(self._task, completed=epoch + 1, accuracy=accuracy)

    def on_train_end(self, logs: dict[str, Any] | None = None) -> None:
        """Leave the bar as it is."""
        self._bar.stop()


def main() -> None:
    """Train, log, print the accuracy."""
    parser = argparse.ArgumentParser(description="Train an LSTM on digits and log its gates.")
    parser.add_argument("--logdir", default="logs/digits", help="folder of this run (%(default)s)")
    parser.add_argument("--epochs", type=int, default=30, help="default: %(default)s")
    arguments = parser.parse_args()

    keras.utils.set_random_seed(0)
    x_train, y_train, x_test, y_test = load_sequences()
    model = build_model(updates=arguments.epochs * -(-len(x_train) // BATCH_SIZE))
    model.fit(
        x_train,
        y_train,
        batch_size=BATCH_SIZE,
        epochs=arguments.epochs,
        validation_data=(x_test, y_test),
        verbose=0,
        callbacks=[
            lg.KerasCallback(arguments.logdir, probe=choose_probe(x_test, y_test, PIXELS)),
            keras.callbacks.TensorBoard(arguments.logdir, write_graph=False),
            ProgressBar(arguments.epochs),
        ],
    )
    _, accuracy = model.evaluate(x_test, y_test, verbose=0)
    print(f"Of {len(x_test)} test images the model reads {accuracy:.1%} right.")
    worse = [one for one in lg.diagnose(arguments.logdir) if one.severity != "note"]
    print(f"{len(worse)} warnings or errors.")


if __name__ == "__main__":
    main()
