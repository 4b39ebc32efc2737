"""Cases E: direction and states."""

import numpy as np

import lstm_gates_plugin as lg
from helpers.any_keras import array, layers, sequential
from helpers.golden import G1, g1_layer, g1_weights, sequence

X = sequence(1, 2, 3)


def test_e6_the_reversed_output_of_go_backwards_is_read_by_input_time():
    layer = g1_layer(go_backwards=True, return_sequences=True)
    np.testing.assert_allclose(np.ravel(array(layer(X))), (0.703775, 0.860805, 0.784998), atol=1e-5)
    (trace,) = lg.trace(layer, X)
    assert trace.layer.direction == "backward"
    expected = (0.784998, 0.860805, 0.703775)
    np.testing.assert_allclose(trace.hidden_state.ravel(), expected, atol=1e-5)
    assert trace.difference < 1e-6


def test_e6_both_directions_of_a_bidirectional_layer():
    model = sequential((3, 1), layers.Bidirectional(g1_layer(return_sequences=True)))
    model.set_weights(g1_weights() * 2)
    forward, backward = lg.trace(model, X)
    output = array(model(X))
    np.testing.assert_allclose(forward.hidden_state, output[..., :1], atol=1e-5)
    np.testing.assert_allclose(backward.hidden_state, output[..., 1:], atol=1e-5)
    np.testing.assert_allclose(backward.final_hidden_state, 0.784998, atol=1e-5)


def test_e8_every_cell_state_not_only_the_last():
    (trace,) = lg.trace(g1_layer(), X)
    np.testing.assert_allclose(trace.cell_state.ravel(), G1["cell_state"], atol=1e-5)
