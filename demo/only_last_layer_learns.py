"""Four LSTM layers of which only the last one learns: what a flat histogram cannot tell.

    python demo/only_last_layer_learns.py --logdir logs/only-last
    tensorboard --logdir logs                      # Weights, "change since start", layer by layer

All layers start without biases, uniform in -0.15 ... 0.15. Below the last one the gradient is
stopped, so that the histograms of the first three stay the plateau that they were. A histogram of a
layer that learns slowly looks the same for long; its change since the start does not. The findings
say so in words.
"""

import argparse

import keras
from digits import BATCH_SIZE, ROWS, ProgressBar, choose_probe, load_rows

import lstm_gates_plugin as lg

LAYERS = 4
UNITS = 32
RANGE = 0.15


def build_model() -> keras.Model:
    """Four LSTM layers, the gradient stopped below the last, on images read row by row."""
    model = keras.Sequential([keras.layers.Input((8, 8))])
    for number in range(1, LAYERS + 1):
        is_last = number == LAYERS
        if is_last:
            model.add(keras.layers.Lambda(keras.ops.stop_gradient))  # the mistake
        model.add(
            keras.layers.LSTM(
                UNITS,
                use_bias=False,
                kernel_initializer=keras.initializers.RandomUniform(-RANGE, RANGE),
                recurrent_initializer=keras.initializers.RandomUniform(-RANGE, RANGE),
                return_sequences=not is_last,
                name=f"layer_{number}",
            )
        )
    model.add(keras.layers.Dense(10, activation="softmax", name="digit"))
    model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
    return model


def print_findings(logdir: str) -> None:
    """One line per layer: how far its recurrent kernels are from where they started; and why."""
    for layer in lg.read(logdir)["."].values():
        changes = []
        for gate in ("input", "forget", "candidate", "output"):
            series = layer.series(f"recurrent_kernel/{gate}", "change_since_start")
            changes.append(f"{gate} {series.values[-1]:.0%}")
        print(f"{layer.id}: recurrent kernel, change since the start: {', '.join(changes)}")
    for finding in lg.diagnose(logdir):
        print(f"{finding.severity} {finding.id}: {finding.layer or 'the run'}: {finding.seen}")


def main() -> None:
    """Train, log, and print what changed and what did not."""
    parser = argparse.ArgumentParser(description="Four LSTM layers, only the last one learns.")
    parser.add_argument("--logdir", default="logs/only-last", help="of this run (%(default)s)")
    parser.add_argument("--epochs", type=int, default=10, help="default: %(default)s")
    arguments = parser.parse_args()

    keras.utils.set_random_seed(0)
    x_train, y_train, x_test, y_test = load_rows()
    build_model().fit(
        x_train,
        y_train,
        batch_size=BATCH_SIZE,
        epochs=arguments.epochs,
        validation_data=(x_test, y_test),
        verbose=0,
        callbacks=[
            lg.KerasCallback(arguments.logdir, probe=choose_probe(x_test, y_test, ROWS)),
            ProgressBar(arguments.epochs),
        ],
    )
    print_findings(arguments.logdir)


if __name__ == "__main__":
    main()
