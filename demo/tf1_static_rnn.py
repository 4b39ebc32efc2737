"""A BasicLSTMCell under static_rnn: i, j, f and o of each of seven timesteps.

    python demo/tf1_static_rnn.py --logdir logs/tf1-static-rnn
    tensorboard --logdir logs                      # then open the tab LSTM Gates

TensorFlow 1 code that learns to go on with Python's manual, one character after seven. The cell
splits its gates with an operation of its own at each timestep, `rnn/basic_lstm_cell/split`,
`.../split_1` and so on, so the script can show that the gates of the trace are those of the graph:
all but the forget gate's bias of one, which the cell adds after the split. The package tf_keras
must be installed. Some ten seconds on two cores.
"""

import argparse
import os
import pydoc_data.topics
import warnings

os.environ["TF_USE_LEGACY_KERAS"] = "1"  # TF1's cells live in tf_keras, not in Keras 3

import numpy as np
import tensorflow.compat.v1 as tf
from rich.progress import track

import lstm_gates_plugin as lg

TIMESTEPS = 7
UNITS = 16
BATCH_SIZE = 128
PROBED_TEXTS = ("the obj", "functio", "stateme", "    def")
# The cell's own letters and order.
SPLIT = {"i": "input", "j": "candidate", "f": "forget", "o": "output"}

warnings.filterwarnings("ignore", message=".*rnn_cell.* is deprecated")
tf.logging.set_verbosity(tf.logging.ERROR)
tf.disable_v2_behavior()


class Text:
    """Python's manual as numbers, one per character."""

    def __init__(self) -> None:
        manual = "".join(pydoc_data.topics.topics.values())
        self.characters = sorted(set(manual))
        self.codes = self.encode(manual)

    def encode(self, text: str) -> np.ndarray:
        """The numbers of some characters."""
        return np.array([self.characters.index(character) for character in text])

    def one_hot(self, codes: np.ndarray) -> np.ndarray:
        """Numbers as vectors with a single one."""
        vectors: np.ndarray = np.eye(len(self.characters), dtype="float32")[codes]
        return vectors

    def batch(self, random: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Seven characters [batch, 7] from random places, and the one after them [batch]."""
        starts = random.integers(0, len(self.codes) - TIMESTEPS, BATCH_SIZE)
        windows = self.codes[starts[:, np.newaxis] + np.arange(TIMESTEPS + 1)]
        return windows[:, :-1], windows[:, -1]


class Model:
    """The graph: one-hot characters [batch, 7, characters] to scores of the next one."""

    def __init__(self, characters: int) -> None:
        self.text = tf.placeholder(tf.float32, [None, TIMESTEPS, characters])
        self.next = tf.placeholder(tf.int64, [None])
        self.cell = tf.nn.rnn_cell.BasicLSTMCell(UNITS)
        timesteps = tf.unstack(self.text, axis=1)
        self.outputs, self.state = tf.nn.static_rnn(self.cell, timesteps, dtype=tf.float32)
        scores = tf.matmul(self.outputs[-1], tf.get_variable("scores", [UNITS, characters]))
        self.loss = tf.losses.sparse_softmax_cross_entropy(self.next, scores)
        self.train = tf.train.AdamOptimizer(0.001).minimize(
            self.loss, global_step=tf.train.get_or_create_global_step()
        )

    def splits(self) -> list[dict[str, tf.Tensor]]:
        """The cell's own i, j, f and o of each timestep, before their nonlinearity."""
        graph = tf.get_default_graph()
        names = ["split", *(f"split_{t}" for t in range(1, TIMESTEPS))]
        return [
            {
                letter: graph.get_tensor_by_name(f"rnn/basic_lstm_cell/{name}:{output}")
                for output, letter in enumerate(SPLIT)
            }
            for name in names
        ]


def compare(trace: lg.GateTrace, splits: list[dict[str, np.ndarray]], characters: str) -> float:
    """Print the gates of the first sample at each timestep; the largest difference of all."""
    print("mean over the units, before the nonlinearity: ours / the graph's own")
    largest = 0.0
    for t, own in enumerate(splits):
        line = []
        for letter, gate in SPLIT.items():
            ours = trace.preactivations[gate][:, t]
            if gate == "forget":
                ours = ours - trace.layer.options["forget_bias"]
            largest = max(largest, float(np.abs(ours - own[letter]).max()))
            line.append(f"{letter} {ours[0].mean():+.4f} / {own[letter][0].mean():+.4f}")
        print(f"  {t} {characters[t]!r}:  " + "   ".join(line))
    return largest


def main() -> None:
    """Train, log, compare the gates with the graph's."""
    parser = argparse.ArgumentParser(description="Compare the gates of a BasicLSTMCell.")
    parser.add_argument("--logdir", default="logs/tf1-static-rnn", help="(%(default)s)")
    parser.add_argument("--updates", type=int, default=600, help="default: %(default)s")
    arguments = parser.parse_args()

    tf.set_random_seed(0)
    random = np.random.default_rng(0)
    text = Text()
    model = Model(len(text.characters))
    probed = text.one_hot(np.stack([text.encode(each) for each in PROBED_TEXTS]))
    with (
        tf.Session() as session,
        lg.GateWriter(arguments.logdir) as writer,
    ):
        session.run(tf.global_variables_initializer())
        probe = lg.Probe(
            probed, time_labels=[list(t) for t in PROBED_TEXTS], sample_names=PROBED_TEXTS
        )
        writer.log(model.cell, step=0, probe=probe, session=session)
        for step in track(range(1, arguments.updates + 1), "Training"):
            codes, following = text.batch(random)
            feed = {model.text: text.one_hot(codes), model.next: following}
            loss, _ = session.run([model.loss, model.train], feed)
            writer.log(model.cell, step=step, probe=probe, loss=loss, session=session)

        (trace,) = lg.trace(
            model.cell,
            inputs=model.text,
            feed_dict={model.text: probed},
            outputs=model.outputs,
            state=model.state,
            session=session,
        )
        splits = session.run(model.splits(), {model.text: probed})
    difference = compare(trace, splits, PROBED_TEXTS[0])
    print(f"largest difference of any gate, unit, timestep and text: {difference:.1e}")
    print(
        f"largest difference of the hidden state from the graph's outputs: {trace.difference:.1e}"
    )


if __name__ == "__main__":
    main()
