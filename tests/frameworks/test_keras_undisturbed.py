"""Tracing a Keras model leaves no mark on it, and follows what is changed."""

import gc
import random
import weakref

import keras
import numpy as np
import pytest
import tensorflow as tf

import lstm_gates_plugin as lg
from helpers.keras_models import batch, small_model
from lstm_gates_plugin import capture
from lstm_gates_plugin.frameworks import kept
from lstm_gates_plugin.frameworks.keras import compiled as keras_compiled

layers = keras.layers


def random_numbers():
    return [
        random.random(),
        np.random.rand(),
        float(keras.random.normal(())),
        float(tf.random.normal(())),
    ]


class Noisy(keras.Model):
    """Draws from every kind of random state and writes to variables, in inference too."""

    def __init__(self, fails=False):
        super().__init__()
        self.rnn = layers.LSTM(4, stateful=True)
        self.norm = layers.BatchNormalization()
        self.seeds = keras.random.SeedGenerator(3)
        self.counter = self.add_weight(shape=(), initializer="zeros", trainable=False)
        self.plain = tf.Variable(0.0, trainable=False)
        self.fails = fails

    def call(self, x, training=False):
        self.counter.assign_add(1.0)
        self.plain.assign_add(1.0)
        x = x + keras.random.normal(keras.ops.shape(x), seed=self.seeds)
        y = self.norm(self.rnn(x), training=training)
        y = y + keras.random.normal(keras.ops.shape(y)) + tf.random.normal(tf.shape(y))
        if self.fails:
            raise RuntimeError("the user's own")
        return y + random.random() + np.random.rand()


@pytest.mark.parametrize("eager", [False, True])
@pytest.mark.parametrize("fails", [False, True])
def test_everything_is_as_before(eager, fails):
    keras.utils.set_random_seed(7)
    random_numbers()
    x = batch()
    model = Noisy()
    model(x)
    model.fails = fails
    before = [variable.value.numpy() for variable in model.variables]

    def traced():
        tf.config.run_functions_eagerly(eager)
        try:
            if fails:
                with pytest.raises(RuntimeError, match="the user's own"):
                    lg.trace(model, x)
            else:
                lg.trace(model, x)
        finally:
            tf.config.run_functions_eagerly(False)

    states = random.getstate(), np.random.get_state()[1].tolist()
    for _ in range(2):  # made, and kept from the first time
        traced()
    assert (random.getstate(), np.random.get_state()[1].tolist()) == states
    for variable, value in zip(model.variables, before, strict=True):
        np.testing.assert_array_equal(variable.value.numpy(), value)
    if not eager and not fails:
        assert float(model.plain) == 1
    assert "call" not in vars(model.rnn)

    keras.utils.set_random_seed(8)
    random_numbers()
    expected = random_numbers()
    keras.utils.set_random_seed(8)
    random_numbers()
    traced()
    assert random_numbers() == expected


def test_training_is_bit_identical_with_traces_in_between():
    def train(traced):
        keras.utils.set_random_seed(1)
        model, rng = small_model(), np.random.default_rng(2)
        model.compile("adam", "mse", jit_compile=False)
        x, y = rng.normal(size=(8, 5, 3)).astype("float32"), rng.normal(size=(8, 2))
        losses = []
        for _ in range(3):
            if traced:
                lg.trace(model, x[:2])
                with lg.record(model):
                    model(x)
            losses.append(model.train_on_batch(x, y))
        return losses, model.predict(x, verbose=0), model.get_weights()

    without, with_traces = train(False), train(True)
    assert without[0] == with_traces[0]
    np.testing.assert_array_equal(without[1], with_traces[1])
    for ours, theirs in zip(without[2], with_traces[2], strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_a_trace_shows_the_weights_of_its_time():
    model, x = small_model(), batch()
    (first, _), weights = lg.trace(model, x), model.get_weights()
    model.set_weights([weight + 0.5 for weight in weights])
    (second, _) = lg.trace(model, x)  # by the function that was compiled for the first
    assert second.difference < 1e-5
    for gate in first.layer.gates:
        np.testing.assert_allclose(
            second.layer.kernel[gate], first.layer.kernel[gate] + 0.5, atol=1e-6
        )
    assert np.abs(second.gates["input"] - first.gates["input"]).max() > 0.05


def test_a_changed_model_is_compiled_anew():
    model, x = keras.Sequential([keras.Input((5, 3)), layers.LSTM(4), layers.Dense(1)]), batch()
    _, before = capture.observe(model, (x,), {}, None)
    model.pop()
    _, after = capture.observe(model, (x,), {}, None)
    assert (before.shape, after.shape) == ((2, 1), (2, 4))


def test_what_is_compiled_lives_as_long_as_the_model():
    model = small_model()
    lg.trace(model, batch())
    assert keras_compiled._kept.keys(model)
    reference = weakref.ref(model)
    del model
    gc.collect()
    assert reference() is None


def test_few_input_shapes_are_kept():
    model = keras.Sequential([keras.Input((None, 3)), layers.SimpleRNN(2)])
    for time in range(2, 9):
        lg.trace(model, batch(1, time))
    assert len(keras_compiled._kept.keys(model)) == kept.MOST


def test_a_function_that_was_compiled_earlier_inside_the_model():
    class Net(keras.Model):
        def __init__(self):
            super().__init__()
            self.rnn = layers.LSTM(4)
            self.inner = tf.function(lambda x: self.rnn(x))

        def call(self, x):
            return self.inner(x)

    model, x = Net(), batch()
    model(x)
    for _ in range(2):
        (trace,) = lg.trace(model, x)
        np.testing.assert_allclose(trace.hidden_state[:, -1], model(x), atol=1e-5)
