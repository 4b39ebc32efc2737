"""Cases J that are about any Keras: a look inside changes nothing."""

from pathlib import Path

import numpy as np

import lstm_gates_plugin as lg
from helpers.any_keras import array
from helpers.golden import g1_layer, sequence

X = sequence(1, 2, 3)
FIRST, SECOND = (0.369606, 0.791236, 0.948218), (0.804791, 0.914459, 0.968970)


def test_j6_a_stateful_layer_goes_on_as_if_nobody_had_looked(tmp_path: Path) -> None:
    layer = g1_layer(stateful=True, return_sequences=True)
    np.testing.assert_allclose(np.ravel(array(layer(X))), FIRST, atol=1e-6)
    with lg.GateWriter(tmp_path) as writer:
        for step in (0, 1):
            writer.log(layer, step=step, probe=X)
    lg.trace(layer, X)
    np.testing.assert_allclose(np.ravel(array(layer(X))), SECOND, atol=1e-6)
    logged = lg.read(tmp_path)["."]["lstm_0"].snapshot(step=1).arrays["hidden_state"]
    np.testing.assert_allclose(np.ravel(logged), SECOND, atol=1e-3)
