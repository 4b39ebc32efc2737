"""Case E9: a long batch of a wide bidirectional layer, as it is logged."""

from pathlib import Path

import numpy as np

import lstm_gates_plugin as lg
from helpers.any_keras import array, layers


def test_e9_both_directions_to_the_last_timestep_with_the_numbers_of_all_units(
    tmp_path: Path,
) -> None:
    """627 sequences of 282 timesteps, 128 units in each direction."""
    x = np.random.default_rng(0).normal(size=(627, 282, 2)).astype(np.float32)
    layer = layers.Bidirectional(layers.LSTM(128, return_sequences=True))
    own = array(layer(x[:1]))[0]
    with lg.GateWriter(tmp_path) as writer:
        writer.log(layer, step=0, probe=x)
    run = lg.read(tmp_path)["."]
    for direction, hidden in (("forward", own[:, :128]), ("backward", own[:, 128:])):
        logged = run[f"bidirectional_0/{direction}"]
        snapshot = logged.snapshot(step=0)
        assert snapshot.header["layer"]["direction"] == direction
        assert snapshot.header["samples"] == 627
        assert snapshot.header["timesteps"] == 282
        block, units = snapshot.header["block"], snapshot.header["units"]
        assert len(units) == 64
        assert snapshot.header["all_units"] == list(range(128))
        last = np.arange(282) // block == 281 // block
        for name in ("hidden_state", "cell_state"):
            assert snapshot.arrays[name].shape[1] == 281 // block + 1
        means = snapshot.arrays["hidden_state"][0, -1]
        np.testing.assert_allclose(means, hidden[last].mean(axis=0)[units], atol=2e-3)
        mean = snapshot.header["unit_columns"].index("mean")
        row = snapshot.header["unit_rows"].index("hidden_state")
        assert snapshot.arrays["unit_statistics"][row, mean].shape == (128,)
        assert snapshot.arrays["survival"].shape == (128,)
