"""Keras and tf_keras on TensorFlow: graphs, strategies, strings and ragged rows."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

import lstm_gates_plugin as lg
from helpers.any_keras import array, keras, layers, sequential

X = np.random.default_rng(0).normal(size=(4, 5, 3)).astype("float32")
Y = X[:, 0, :1]


def steps(directory: Path, layer: str, row: str) -> list[int]:
    found: list[int] = lg.read(directory)["."][layer].series(row, "mean").steps.tolist()
    return found


def test_j1_a_custom_training_step_in_a_function_with_logging_outside(tmp_path: Path) -> None:
    model = sequential((5, 3), layers.LSTM(4, name="words"), layers.Dense(1))
    optimizer = keras.optimizers.SGD(0.5)

    @tf.function
    def train(x: Any, y: Any) -> None:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((model(x, training=True) - y) ** 2)
        weights = model.trainable_variables
        optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights, strict=True))

    with lg.GateWriter(tmp_path, every=1) as writer:
        for step in range(3):
            writer.log(model, step=step, probe=X[:2])
            train(X, Y)
    means = lg.read(tmp_path)["."]["words"].series("activation/forget", "mean").values
    assert len(set(means.tolist())) == 3


@pytest.mark.parametrize("look", [lg.trace, lambda model, x: lg.recurrent_layers(model)])
def test_j1_inside_a_function_a_sentence_says_so(look: Any) -> None:
    model = sequential((5, 3), layers.LSTM(4))

    @tf.function
    def step(x: Any) -> Any:
        with pytest.raises(ValueError, match=r"decorated with tf\.function"):
            look(model, x)
        return model(x)

    np.testing.assert_allclose(step(X), array(model(X)), atol=1e-6)


def test_a_call_that_is_a_function(tmp_path: Path) -> None:
    class Net(keras.Model):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.rnn = layers.LSTM(4)

        @tf.function
        def call(self, x: Any) -> Any:
            return self.rnn(x)

    model = Net()
    model(X)
    for _ in range(2):
        (trace,) = lg.trace(model, X)
        np.testing.assert_allclose(trace.hidden_state[:, -1], array(model(X)), atol=1e-5)
    model.compile("sgd", "mse")
    model.fit(X, np.zeros((4, 4)), verbose=0, callbacks=[lg.KerasCallback(tmp_path, X[:2])])
    assert steps(tmp_path, "rnn", "activation/forget") == [0, 1]


@pytest.mark.parametrize("unbuilt", [False, True])
def test_j4_a_mirrored_model_has_each_weight_once(tmp_path: Path, unbuilt: bool) -> None:
    def train(*callbacks: Any) -> Any:
        keras.utils.set_random_seed(1)
        strategy = tf.distribute.MirroredStrategy(["/cpu:0"])
        with strategy.scope():
            parts = layers.LSTM(4), layers.Dense(1)
            model = keras.Sequential(parts) if unbuilt else sequential((5, 3), *parts)
            model.compile("sgd", "mse")
        model.fit(X, Y, epochs=2, batch_size=2, verbose=0, callbacks=list(callbacks))
        return model

    without, model = train(), train(lg.KerasCallback(tmp_path, X[:2], "batch"))
    for one, other in zip(without.get_weights(), model.get_weights(), strict=True):
        np.testing.assert_array_equal(one, other)
    assert steps(tmp_path, "lstm_0", "activation/forget") == [0, 1, 2, 3, 4]
    layer = lg.read(tmp_path)["."]["lstm_0"]
    kernel = array(model.layers[0].cell.kernel)
    assert kernel.shape == (3, 16)
    np.testing.assert_array_equal(
        layer.snapshot(kind="weights").arrays["kernel/forget"], kernel[:, 4:8]
    )


def test_sentences_through_a_vectorization(tmp_path: Path) -> None:
    vectorize = layers.TextVectorization(output_sequence_length=4)
    vectorize.adapt(["red blue", "green red blue green"])
    inputs = keras.Input((), dtype="string")
    x = layers.Embedding(9, 3, mask_zero=True)(vectorize(inputs))
    model = keras.Model(inputs, layers.Dense(1)(layers.LSTM(4, name="words")(x)))
    sentences = tf.constant(["red blue", "green red blue green"])
    (trace,) = lg.trace(model, sentences)
    assert trace.mask.sum(axis=1).tolist() == [2, 4]
    assert trace.difference < 1e-5
    (same,) = lg.trace(model, np.array(["red blue", "green red blue green"]))
    np.testing.assert_array_equal(trace.hidden_state, same.hidden_state)
    model.compile("sgd", "mse")
    callback = lg.KerasCallback(tmp_path, sentences)
    model.fit(sentences, tf.zeros((2, 1)), verbose=0, callbacks=[callback])
    assert steps(tmp_path, "words", "activation/forget") == [0, 1]


def test_a_layer_inside_a_loop_of_the_graph() -> None:
    class Net(keras.Model):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.cell = layers.LSTMCell(4)

        def call(self, x: Any) -> Any:
            rows = tf.transpose(x, (1, 0, 2))
            start = [tf.zeros((4, 4)), tf.zeros((4, 4))]
            _, h, _ = tf.while_loop(
                lambda t, h, c: t < 5,
                lambda t, h, c: [t + 1, *self.cell(rows[t], [h, c])[1]],
                [0, *start],
            )
            return h

    model = Net()
    model(X)
    (trace,) = lg.trace(model, X)
    assert trace.hidden_state.shape == (4, 5, 4)
    np.testing.assert_allclose(trace.hidden_state[:, -1], array(model(X)), atol=1e-5)
