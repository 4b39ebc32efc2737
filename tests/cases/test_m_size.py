"""Cases M: what a large layer costs on disk."""

from pathlib import Path

import keras
import numpy as np
import pytest

import lstm_gates_plugin as lg


@pytest.mark.timeout(600)
def test_m1_a_hundred_records_of_a_large_layer_take_at_most_10_mb(tmp_path: Path) -> None:
    """LSTM(512 -> 1024): 25.18 MB of weights at each step; probe of 4 x 50; every step logged."""
    model = keras.Sequential([keras.Input((None, 512)), keras.layers.LSTM(1024)])
    assert model.count_params() == 6_295_552
    probe = np.random.default_rng(0).normal(size=(4, 50, 512)).astype(np.float32)
    kernel = model.layers[0].cell.recurrent_kernel
    with lg.GateWriter(tmp_path, every=1) as writer:
        for step in range(100):
            if step % 20 == 0:  # a trace costs more time here than bytes are worth
                traces = lg.trace(model, probe)
            writer.log_weights(model, step=step)
            writer.log_trace(traces, step=step)
            kernel.assign(kernel * 1.001)
    size = sum(path.stat().st_size for path in tmp_path.rglob("*tfevents*"))
    assert size <= 10 * 10**6
    layer = lg.read(tmp_path)["."]["lstm_0"]
    for kind, row in (("weights", "kernel/forget"), ("activations", "activation/forget")):
        assert layer.series(row, "mean").steps.tolist() == list(range(100))
        pictures = layer.snapshot_steps(kind)
        assert len(pictures) >= 15
        assert (pictures[0], pictures[-1]) == (0, 99)
    newest = layer.snapshot()
    units = newest.header["units"]
    assert len(units) == 64
    np.testing.assert_allclose(
        newest.arrays["activation/forget"][0],
        lg.trace(model, probe)[0].gates["forget"][0][:, units],
        atol=0.02,
    )
