"""Keras models and calls that cannot be traced, and the sentences that say so."""

import keras
import numpy as np
import pytest
import tensorflow as tf

import lstm_gates_plugin as lg
from helpers.golden import g1_layer, sequence
from helpers.keras_models import batch, small_model
from lstm_gates_plugin import capture

layers = keras.layers
RNG = np.random.default_rng(0)


def test_no_recurrent_layer():
    model = keras.Sequential([keras.Input((3,)), layers.Dense(2)], name="plain")
    sentence = "the model 'plain' has no recurrent layer: no LSTM, GRU, SimpleRNN or RNN"
    with pytest.raises(ValueError, match=sentence):
        lg.trace(model, np.zeros((1, 3)))
    with pytest.raises(ValueError, match=sentence), lg.record(model):
        pass


def test_what_looks_recurrent_is_named():
    class OwnLSTM(layers.Dense):
        """A recurrent layer that is made of none of Keras's."""

    model = keras.Sequential([keras.Input((3,)), OwnLSTM(2, name="encoder")])
    with pytest.raises(ValueError, match=r"encoder \(OwnLSTM\) cannot be opened.*from_arrays"):
        lg.trace(model, np.zeros((1, 3)))


def test_not_built():
    with pytest.raises(ValueError, match="is not built yet"):
        lg.trace(keras.Sequential([layers.LSTM(4)]), batch())


def test_training_true_is_refused():
    with pytest.raises(ValueError, match="inference mode; leave training=True out"):
        lg.trace(small_model(), batch(), training=True)


def test_the_users_own_error_is_shown():
    with pytest.raises(tf.errors.InvalidArgumentError, match="size-incompatible"):
        lg.trace(small_model(), batch(features=7))


def test_a_layer_that_did_not_run():
    class Net(keras.Model):
        def __init__(self):
            super().__init__()
            self.main, self.other = layers.LSTM(4), layers.LSTM(4)

        def call(self, x, both=False):
            return self.main(x) + (self.other(x) if both else 0)

    model, x = Net(), batch()
    model(x, both=True)
    with pytest.raises(ValueError, match="did not run its recurrent layer 'other'"):
        lg.trace(model, x)
    with pytest.warns(UserWarning, match="did not run its recurrent layer 'other'"):
        traces, _ = capture.observe(model, (x,), {}, None)
    assert [trace.layer.id for trace in traces] == ["main"]
    with lg.record(model) as recording:
        model(x)
    assert [trace.layer.id for trace in recording.traces()] == ["main"]


def test_an_unknown_cell_without_vectors_is_refused_by_name_and_the_rest_goes_on():
    model = keras.Sequential(
        [
            keras.Input((5, 3, 2)),
            layers.ConvLSTM1D(4, 3, return_sequences=True),
            layers.Reshape((5, 4)),
            layers.LSTM(2),
        ]
    )
    with pytest.warns(UserWarning, match="the gates of layer 'conv_lstm1d_0' cannot be shown"):
        (trace,) = lg.trace(model, RNG.normal(size=(2, 5, 3, 2)).astype("float32"))
    assert trace.layer.id == "lstm_0"


def test_a_layer_that_does_more_than_its_cell_is_named():
    class Doubled(layers.LSTM):
        def call(self, sequences, initial_state=None, mask=None, training=False):
            return 2 * super().call(sequences, initial_state, mask, training)

    layer = Doubled(4, return_sequences=True)
    layer.build((None, 5, 3))
    with pytest.warns(UserWarning, match=r"hidden state of layer 'doubled_0'.*do not rely on"):
        (trace,) = lg.trace(layer, batch())
    assert trace.difference > 1e-3


def test_nan_weights_are_traced():
    layer = g1_layer(return_sequences=True)
    kernel, *rest = layer.get_weights()
    kernel[0, 1] = np.nan
    layer.set_weights([kernel, *rest])
    (trace,) = lg.trace(layer, sequence(1, 2, 3))
    assert np.isnan(trace.gates["forget"]).all()
    assert np.isfinite(trace.gates["input"][0, 0])
    assert trace.mask.all()
    assert trace.difference == 0


def test_inside_a_graph():
    model = small_model()

    @tf.function
    def step(x):
        with pytest.raises(ValueError, match="while TensorFlow builds a graph"):
            lg.trace(model, x)
        return model(x)

    step(batch())


def test_another_backend_is_refused_by_name(monkeypatch):
    model = small_model()
    monkeypatch.setattr(keras.backend, "backend", lambda: "numpy")
    with pytest.raises(ValueError, match=r"Keras runs on 'numpy' here.*only on 'tensorflow'"):
        lg.trace(model, batch())


def test_a_setting_that_was_changed_is_followed():
    class Scaled(keras.Model):
        def __init__(self):
            super().__init__()
            self.scale = 1.0
            self.lstm = keras.layers.LSTM(3, return_sequences=True)

        def call(self, inputs):
            return self.lstm(inputs * self.scale)

    model, x = Scaled(), np.ones((2, 4, 3), "float32")
    model(x)
    lg.trace(model, x)
    model.scale = 0.0
    (trace,) = lg.trace(model, x)
    np.testing.assert_allclose(trace.hidden_state, model(x), atol=1e-6)


def test_the_gradients_of_a_training_step_are_not_in_a_keras_model() -> None:
    model = keras.Sequential([keras.Input((5, 3)), keras.layers.LSTM(4)])
    with pytest.raises(
        ValueError, match=r"only PyTorch keeps .*Sequential was given.*target and a"
    ):
        capture.training_gradients(model)
