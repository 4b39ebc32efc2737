"""Three LSTMCells in DropoutWrappers under dynamic_rnn: the weights of each layer during training.

    python demo/tf1_dynamic_rnn.py --logdir logs/tf1-dynamic-rnn
    tensorboard --logdir logs                      # then open the tab LSTM Gates

TensorFlow 1 code on handwritten digits, read row by row. `MultiRNNCell` and `DropoutWrapper` do not
say where the weights of their cells are; the hook finds them, and splits them by gate. The package
tf_keras must be installed. Some twenty seconds on two cores.
"""

import argparse
import os
import warnings
from collections.abc import Iterator
from typing import Any

os.environ["TF_USE_LEGACY_KERAS"] = "1"  # TF1's cells live in tf_keras, not in Keras 3

import numpy as np
import tensorflow.compat.v1 as tf
from rich.progress import track
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

import lstm_gates_plugin as lg

UNITS = 32
LAYERS = 3
BATCH_SIZE = 64
PROBED_DIGITS = (1, 3, 7, 0)
ROWS = [f"row {row}" for row in range(8)]

warnings.filterwarnings("ignore", message=".*rnn_cell.* is deprecated")
tf.logging.set_verbosity(tf.logging.ERROR)
tf.disable_v2_behavior()


def load_rows() -> Any:
    """Images as eight rows of eight pixels, float32 [samples, 8, 8] within 0..1, and digits."""
    digits = load_digits()
    images = (digits.images / 16).astype("float32")
    return train_test_split(
        images, digits.target, test_size=0.2, stratify=digits.target, random_state=0
    )


class Model:
    """The graph: images [batch, 8, 8] to the scores of ten digits."""

    def __init__(self) -> None:
        self.images = tf.placeholder(tf.float32, [None, 8, 8])
        self.digits = tf.placeholder(tf.int64, [None])
        self.keep = tf.placeholder_with_default(1.0, [])
        cells = [
            tf.nn.rnn_cell.DropoutWrapper(
                tf.nn.rnn_cell.LSTMCell(UNITS), output_keep_prob=self.keep
            )
            for _ in range(LAYERS)
        ]
        self.cell = tf.nn.rnn_cell.MultiRNNCell(cells)
        self.outputs, self.state = tf.nn.dynamic_rnn(self.cell, self.images, dtype=tf.float32)
        scores = tf.matmul(self.outputs[:, -1], tf.get_variable("scores", [UNITS, 10]))
        self.right = tf.reduce_mean(tf.cast(tf.equal(tf.argmax(scores, 1), self.digits), "float"))
        self.loss = tf.losses.sparse_softmax_cross_entropy(self.digits, scores)
        self.train = tf.train.AdamOptimizer(0.005).minimize(
            self.loss, global_step=tf.train.get_or_create_global_step()
        )


def batches(images: np.ndarray, digits: np.ndarray, seed: int) -> Iterator[Any]:
    """All samples once, in a random order, in batches."""
    order = np.random.default_rng(seed).permutation(len(images))
    for start in range(0, len(order), BATCH_SIZE):
        chosen = order[start : start + BATCH_SIZE]
        yield images[chosen], digits[chosen]


def choose_probe(images: np.ndarray, digits: np.ndarray) -> lg.Probe:
    """The first image of each of some digits: the samples whose gates the tab shows."""
    samples = [int(np.flatnonzero(digits == digit)[0]) for digit in PROBED_DIGITS]
    return lg.Probe(
        images[samples],
        target=digits[samples],
        time_labels=[ROWS] * len(samples),
        sample_names=[f"a handwritten {digit}" for digit in PROBED_DIGITS],
    )


def print_changes(logdir: str) -> None:
    """How far each gate of each layer has moved since the start of training."""
    run = lg.read(logdir)["."]
    for layer in run:
        gates = ("input", "forget", "candidate", "output")
        changes = [
            run[layer].series(f"recurrent_kernel/{gate}", "change_since_start").values[-1]
            for gate in gates
        ]
        moved = ", ".join(
            f"{gate} {change:.0%}" for gate, change in zip(gates, changes, strict=True)
        )
        print(f"{layer}: recurrent kernel, change since the start: {moved}")


def main() -> None:
    """Train, log, print what has changed."""
    parser = argparse.ArgumentParser(description="Watch three wrapped LSTMCells of TensorFlow 1.")
    parser.add_argument("--logdir", default="logs/tf1-dynamic-rnn", help="(%(default)s)")
    parser.add_argument("--epochs", type=int, default=15, help="default: %(default)s")
    arguments = parser.parse_args()

    tf.set_random_seed(0)
    x_train, x_test, y_train, y_test = load_rows()
    model = Model()
    hook = lg.GateHook(
        arguments.logdir, model.cell, probe=choose_probe(x_test, y_test), loss=model.loss
    )
    with tf.train.MonitoredTrainingSession(hooks=[hook]) as session:
        for epoch in track(range(arguments.epochs), "Training"):
            for images, digits in batches(x_train, y_train, seed=epoch):
                feed = {model.images: images, model.digits: digits, model.keep: 0.8}
                session.run([model.train, model.loss], feed)
        right = session.run(model.right, {model.images: x_test, model.digits: y_test})
    print(f"Of {len(x_test)} test images the model reads {right:.1%} right.")
    print_changes(arguments.logdir)


if __name__ == "__main__":
    main()
