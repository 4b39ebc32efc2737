"""A simple RNN on handwritten digits: its hidden state over training, and over samples.

    python demo/hidden_state.py --logdir logs/hidden-state
    tensorboard --logdir logs                      # Activations: hidden state, one row per unit

What is the largest and the smallest hidden state, and how is it distributed? The tab shows every
unit at every timestep of four samples; the lines below are the same numbers, read back in Python.
"""

import argparse

import keras
import numpy as np
from digits import (
    BATCH_SIZE,
    PROBED_DIGITS,
    ROWS,
    ProgressBar,
    choose_probe,
    load_rows,
)

import lstm_gates_plugin as lg

UNITS = 32


def build_model() -> keras.Model:
    """One simple RNN that reads an image row by row."""
    model = keras.Sequential(
        [
            keras.layers.Input((8, 8)),
            keras.layers.SimpleRNN(UNITS, name="rnn"),
            keras.layers.Dense(10, activation="softmax", name="digit"),
        ]
    )
    model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
    return model


def print_over_training(logdir: str) -> None:
    """Smallest, median and largest hidden state of the probe at a few training steps."""
    layer = lg.read(logdir)["."]["rnn"]
    columns = ("min", "p5", "p50", "p95", "max", "nearly_open")
    series = {column: layer.series("hidden_state", column) for column in columns}
    steps = series["min"].steps
    print("hidden state over training:")
    print("  step     min      5%     50%     95%     max   beyond 0.9")
    for index in np.linspace(0, len(steps) - 1, 6).astype(int):
        numbers = [series[column].values[index] for column in columns]
        print(f"  {steps[index]:>4}  " + "".join(f"{n:7.3f} " for n in numbers[:-1]), end="")
        print(f"  {numbers[-1]:.0%}")


def print_over_samples(trace: lg.GateTrace) -> None:
    """Smallest and largest hidden state of each sample, and where they are."""
    print("hidden state over samples, after training:")
    for digit, hidden in zip(PROBED_DIGITS, trace.hidden_state, strict=True):
        low = np.unravel_index(hidden.argmin(), hidden.shape)
        high = np.unravel_index(hidden.argmax(), hidden.shape)
        print(
            f"  a {digit}: min {hidden[low]:.3f} (unit {low[1]}, {ROWS[low[0]]}), "
            f"max {hidden[high]:.3f} (unit {high[1]}, {ROWS[high[0]]}), std {hidden.std():.3f}"
        )


def main() -> None:
    """Train, log, and print the hidden state's range."""
    parser = argparse.ArgumentParser(description="Watch the hidden state of a simple RNN.")
    parser.add_argument("--logdir", default="logs/hidden-state", help="of this run (%(default)s)")
    parser.add_argument("--epochs", type=int, default=20, help="default: %(default)s")
    arguments = parser.parse_args()

    keras.utils.set_random_seed(0)
    x_train, y_train, x_test, y_test = load_rows()
    probe = choose_probe(x_test, y_test, ROWS)
    model = build_model()
    model.fit(
        x_train,
        y_train,
        batch_size=BATCH_SIZE,
        epochs=arguments.epochs,
        validation_data=(x_test, y_test),
        verbose=0,
        callbacks=[
            lg.KerasCallback(arguments.logdir, probe=probe),
            ProgressBar(arguments.epochs),
        ],
    )
    print_over_training(arguments.logdir)
    print_over_samples(lg.trace(model, *probe.args)[0])


if __name__ == "__main__":
    main()
