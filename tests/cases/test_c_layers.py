"""Cases C: which block is which gate, and what an open gate means."""

import numpy as np
import pytest

import lstm_gates_plugin as lg
from helpers.any_keras import layers
from helpers.golden import sequence


def test_c1_the_forget_block_is_the_one_with_the_bias_of_one():
    layer = layers.LSTM(5)
    layer.build((None, None, 2))
    (read,) = lg.recurrent_layers(layer)
    means = {gate: bias.mean() for gate, bias in read.bias.items()}
    assert means == {"input": 0, "forget": 1, "candidate": 0, "output": 0}


@pytest.mark.parametrize("reset_after", [True, False])
def test_c6_an_open_update_gate_keeps_the_old_state(reset_after):
    layer = layers.GRU(1, reset_after=reset_after)
    layer.build((None, None, 1))
    kernel, recurrent_kernel, bias = layer.get_weights()
    bias[..., 0] = 50.0  # update is the first block
    layer.set_weights([kernel, recurrent_kernel, bias])
    state = np.array([[0.7]], dtype="float32")
    (trace,) = lg.trace(layer, sequence(3, -8, 2), initial_state=state)
    np.testing.assert_allclose(trace.gates["update"], 1)
    np.testing.assert_allclose(trace.hidden_state, 0.7, atol=1e-6)
    np.testing.assert_array_equal(trace.keep_factor, trace.gates["update"])


def test_c8_raw_matrices_have_a_declared_order():
    blocks = np.repeat([[1.0, 2.0, 3.0, 4.0]], 2, axis=0)
    layer = lg.RecurrentLayer.from_arrays("lstm", blocks, np.ones((1, 4)), gate_order="iofc")
    assert {gate: kernel.mean() for gate, kernel in layer.kernel.items()} == {
        "input": 1,
        "output": 2,
        "forget": 3,
        "candidate": 4,
    }


@pytest.mark.parametrize("order", ["", "if", "iifo", "ifxo", "zrh", "ifcof"])
def test_c8_an_unknown_order_is_refused(order):
    with pytest.raises(ValueError, match="is not an order of the 4 gates"):
        lg.RecurrentLayer.from_arrays("lstm", np.ones((2, 4)), np.ones((1, 4)), gate_order=order)


def test_c9_kernels_are_turned_to_one_orientation():
    layer = layers.LSTM(9)
    layer.build((None, 4, 2))
    kernel, recurrent_kernel, bias = layer.get_weights()
    kernel[1, 2 * 9 + 3] = 7  # of the third block, the candidate: unit 3 from input 1
    layer.set_weights([kernel, recurrent_kernel, bias])
    (found,) = lg.recurrent_layers(layer)
    for gate in found.gates:
        assert found.kernel[gate].shape == (2, 9)
        assert found.recurrent_kernel[gate].shape == (9, 9)
        assert (found.kernel[gate][1, 3] == 7) == (gate == "candidate")
