"""Cases D: every gate at every timestep, for one call or many."""

import numpy as np

import lstm_gates_plugin as lg
from helpers.any_keras import array, arrays, layers, sequential


def test_d1_four_gates_by_forty_timesteps():
    model = sequential((40, 26), layers.LSTM(128))
    x = np.random.default_rng(0).normal(size=(1, 40, 26)).astype("float32")
    (trace,) = lg.trace(model, x)
    assert list(trace.gates) == ["input", "forget", "candidate", "output"]
    assert all(array.shape == (1, 40, 128) for array in trace.gates.values())
    np.testing.assert_allclose(trace.hidden_state[:, -1], array(model(x)), atol=1e-5)


def test_d2_single_step_calls_of_a_stateful_layer_are_one_sequence():
    stateful = layers.LSTM(10, stateful=True)
    stateful.build((1, 1, 3))
    whole = layers.LSTM(10, return_sequences=True)
    whole.build((1, 5, 3))
    whole.set_weights(stateful.get_weights()[:3])
    x = np.random.default_rng(0).normal(size=(1, 5, 3)).astype("float32")
    with lg.record(stateful) as recording:
        for t in range(5):
            stateful(x[:, t : t + 1])
    (trace,) = recording.traces()
    (expected,) = lg.trace(whole, x)
    assert trace.call == 0
    for name, part in expected.parts().items():
        assert trace.parts()[name].shape == (1, 5, 10)
        np.testing.assert_allclose(trace.parts()[name], part, atol=1e-6)
    # These were the user's own calls, so the layer is where they left it.
    np.testing.assert_allclose(array(stateful.states[0]), expected.final_hidden_state, atol=1e-6)


def test_d8_outputs_of_different_rank():
    layer = layers.LSTM(4, return_sequences=True, return_state=True)
    x = np.random.default_rng(0).normal(size=(2, 6, 3)).astype("float32")
    output, hidden, cell = arrays(layer(x))
    (trace,) = lg.trace(layer, x)
    assert trace.hidden_state.shape == trace.cell_state.shape == (2, 6, 4)
    np.testing.assert_allclose(trace.hidden_state, output, atol=1e-5)
    np.testing.assert_allclose(trace.hidden_state[:, -1], hidden, atol=1e-5)
    np.testing.assert_allclose(trace.cell_state[:, -1], cell, atol=1e-5)
