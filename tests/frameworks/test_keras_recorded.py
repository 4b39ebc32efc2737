"""What a user's own calls of a Keras model did, recorded."""

import numpy as np
import pytest
import tensorflow as tf

import lstm_gates_plugin as lg
from helpers.keras_models import batch, small_model


def test_record_around_predict():
    model, x = small_model(), batch(3)
    model.predict(x, verbose=0)  # compiled before
    with lg.record(model) as recording:
        output = model.predict(x, batch_size=3, verbose=0)
    lstm, gru = recording.traces()
    assert (lstm.layer.id, gru.layer.id) == ("lstm_0", "gru_0")
    np.testing.assert_allclose(gru.hidden_state[:, -1], output, atol=1e-5)
    assert not tf.config.functions_run_eagerly()


def test_record_numbers_the_calls():
    model = small_model()
    with lg.record(model) as recording:
        model(batch())
        assert len(recording.traces()) == 2
        model(batch())
    assert [(t.layer.id, t.call) for t in recording.traces()] == [
        ("lstm_0", 0),
        ("gru_0", 0),
        ("lstm_0", 1),
        ("gru_0", 1),
    ]


def test_record_keeps_the_weights_that_a_call_had():
    model = small_model()
    with lg.record(model) as recording:
        model(batch())
    model.set_weights([0 * weight for weight in model.get_weights()])
    assert all(trace.difference < 1e-5 for trace in recording.traces())


def test_record_refuses_a_training_step():
    model = small_model()
    model.compile("sgd", "mse")
    weights = model.get_weights()
    with (
        pytest.raises(ValueError, match=r"layer 'lstm_0' was called with training=True while"),
        lg.record(model),
    ):
        model(batch(), training=True)
    for before, after in zip(weights, model.get_weights(), strict=True):
        np.testing.assert_array_equal(before, after)
    assert "call" not in vars(model.layers[0])


def test_record_without_a_call():
    with lg.record(small_model()) as recording:
        pass
    with pytest.raises(ValueError, match="no recurrent layer of the model ran inside"):
        recording.traces()
