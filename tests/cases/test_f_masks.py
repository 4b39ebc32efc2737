"""Cases F: masked timesteps are in no number."""

import numpy as np

import lstm_gates_plugin as lg
from helpers.any_keras import layers, sequential
from helpers.golden import G1, g1_layer, sequence


def masked_model(length):
    return sequential((length, 1), layers.Masking(0.0), g1_layer())


def test_f3_masked_steps_are_flagged_and_left_out_of_the_mean():
    (trace,) = lg.trace(masked_model(5), sequence(1, 2, 3, 0, 0))
    assert trace.mask.tolist() == [[True, True, True, False, False]]
    assert abs(trace.hidden_state[trace.mask].mean() - 0.703020) < 1e-5


def test_f5_a_fully_masked_sample():
    batch = np.concatenate([sequence(1, 2, 3), sequence(0, 0, 0)])
    (trace,) = lg.trace(masked_model(3), batch)
    np.testing.assert_allclose(trace.hidden_state[0].ravel(), G1["hidden_state"], atol=1e-5)
    assert not trace.mask[1].any()
    for part in trace.parts().values():
        assert np.isnan(part[1]).all()
        assert np.isfinite(part[trace.mask].mean())
    assert trace.final_hidden_state[1] == 0
    assert trace.final_cell_state[1] == 0
