"""Golden numbers G1 to G9: Keras layers whose gates are known, through the public API."""

import numpy as np
import pytest

import lstm_gates_plugin as lg
from helpers.any_keras import array, layers, sequential
from helpers.golden import G1, LN3, g1_layer, g3_layer, sequence

X = sequence(1, 2, 3)


def close(array, expected):
    np.testing.assert_allclose(np.ravel(array), expected, atol=1e-5)


def values(trace, name):
    return trace.gates[name] if name in trace.gates else getattr(trace, name)


def test_g1_every_gate_and_state():
    (trace,) = lg.trace(g1_layer(return_sequences=True), X)
    for name, expected in G1.items():
        close(values(trace, name), expected)
    close(trace.final_cell_state, G1["cell_state"][-1])
    assert trace.difference < 1e-6


def test_g1b_backward_by_input_time():
    (trace,) = lg.trace(g1_layer(go_backwards=True), X)
    assert trace.layer.direction == "backward"
    close(trace.hidden_state, (0.784998, 0.860805, 0.703775))
    close(trace.final_cell_state, 2.141613)
    close(trace.final_hidden_state, 0.784998)
    for gate in ("input", "forget", "output"):
        close(trace.gates[gate][0, 2], 0.952574)
    close(trace.gates["candidate"][0, 2], 0.995055)


def test_g1s_initial_state():
    ones = np.ones((1, 1), dtype="float32")
    (trace,) = lg.trace(g1_layer(return_state=True), X, initial_state=[ones, ones])
    close(trace.hidden_state, (0.748106, 0.897465, 0.966102))
    for gate in ("input", "forget", "output"):
        close(trace.gates[gate][0, 0], 0.817574)
    close(trace.gates["candidate"][0, 0], 0.905148)


def test_g2_every_gate_has_its_own_value():
    layer = layers.LSTM(1)
    layer.build((None, 3, 1))
    layer.set_weights([np.zeros((1, 4)), np.zeros((1, 4)), np.array([LN3, 0, 1, -LN3])])
    (trace,) = lg.trace(layer, X)
    for gate, expected in (
        ("input", 0.75),
        ("forget", 0.5),
        ("candidate", 0.761594),
        ("output", 0.25),
    ):
        close(trace.gates[gate], [expected] * 3)
    close(trace.cell_state, (0.571196, 0.856793, 0.999592))
    close(trace.hidden_state, (0.129059, 0.173650, 0.190356))


@pytest.mark.parametrize(
    ("reset_after", "candidate", "hidden"),
    [
        (True, (0.964028, 0.971622), (0.241007, 0.423661)),
        (False, (0.761594, 0.798768), (0.190399, 0.342491)),
    ],
)
def test_g3_reset_after_and_before(reset_after, candidate, hidden):
    (trace,) = lg.trace(g3_layer(reset_after), sequence(5, -5))
    close(trace.gates["reset"], [0.5] * 2)
    close(trace.gates["update"], [0.75] * 2)
    close(trace.gates["candidate"], candidate)
    close(trace.hidden_state, hidden)
    layer = trace.layer
    close(layer.bias["candidate"], 1)
    assert (layer.recurrent_bias is None) == (not reset_after)
    if reset_after:
        close(layer.recurrent_bias["candidate"], 2)


@pytest.mark.parametrize(
    ("layer", "means"),
    [
        (layers.LSTM(3), {"input": 1, "forget": 2, "candidate": 3, "output": 4}),
        (layers.GRU(3), {"reset": 2, "update": 1, "candidate": 3}),
    ],
)
def test_g4_storage_order(layer, means):
    layer.build((None, None, 2))
    blocks = np.repeat(np.arange(1, len(means) + 1), 3)
    kernel, *rest = layer.get_weights()
    layer.set_weights([np.broadcast_to(blocks, kernel.shape), *rest])
    (read,) = lg.recurrent_layers(layer)
    assert {gate: kernel.mean() for gate, kernel in read.kernel.items()} == means
    assert list(read.kernel) == list(read.gates)


@pytest.mark.parametrize(
    ("x", "expected"),
    [
        ((1, 2, 3, 0, 0), (0.369606, 0.791236, 0.948218, None, None)),
        ((0, 0, 1, 2, 3), (None, None, 0.369606, 0.791236, 0.948218)),
        ((1, 0, 2, 0, 3), (0.369606, None, 0.791236, None, 0.948218)),
        ((0, 0, 0, 0, 0), (None,) * 5),
    ],
)
@pytest.mark.parametrize("zero_output", [False, True])
def test_g7_masked_timesteps_are_absent(x, expected, zero_output):
    layer = g1_layer(return_sequences=True)
    layer.zero_output_for_mask = zero_output
    model = sequential((5, 1), layers.Masking(0.0), layer)
    (trace,) = lg.trace(model, sequence(*x))
    close(trace.hidden_state, [np.nan if value is None else value for value in expected])
    assert trace.mask.tolist() == [[value is not None for value in expected]]
    assert trace.difference < 1e-6


def test_g9_stateful_goes_on_where_it_stopped():
    layer = g1_layer(stateful=True, return_sequences=True)
    first, second = (0.369606, 0.791236, 0.948218), (0.804791, 0.914459, 0.968970)
    close(array(layer(X)), first)
    (trace,) = lg.trace(layer, X)
    close(trace.hidden_state, second)
    close(array(layer(X)), second)  # the trace left the states as they were
