"""The matrix on TensorFlow 1: what is recomputed against what the rnn op itself returns.

TensorFlow 1 masks by `sequence_length` alone, so there are no other masks than right padding.
"""

from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf

import lstm_gates_plugin as lg
from helpers.matrix import TABLE, documented_rows
from helpers.tf1 import Op, cells, dynamic, randomize, static
from lstm_gates_plugin import fused

DOCUMENT = Path(__file__).parents[2] / "docs" / "matrix.md"
BATCH, TIMESTEPS, SIZE = 3, 6, 4
LENGTHS = [6, 2, 4]
TOLERANCE = 1e-5

CELLS = {
    "BasicRNNCell": lambda: cells.BasicRNNCell(SIZE),
    "BasicLSTMCell": lambda: cells.BasicLSTMCell(SIZE),
    "LSTMCell": lambda: cells.LSTMCell(SIZE),
    "LSTMCell, peepholes": lambda: cells.LSTMCell(SIZE, use_peepholes=True),
    "LSTMCell, projection": lambda: cells.LSTMCell(7, num_proj=SIZE, use_peepholes=True),
    "LSTMCell, clipped": lambda: cells.LSTMCell(7, cell_clip=0.3, num_proj=SIZE, proj_clip=0.2),
    "LSTMCell, relu": lambda: cells.LSTMCell(SIZE, activation=tf.nn.relu, forget_bias=0.25),
    "GRUCell": lambda: cells.GRUCell(SIZE),
    "GRUCell, own activation": lambda: cells.GRUCell(SIZE, activation=lambda x: tf.sin(x)),
}


def wrapped(make):
    return cells.ResidualWrapper(
        cells.DropoutWrapper(cells.DeviceWrapper(make(), "/cpu:0"), output_keep_prob=1.0)
    )


ARRANGEMENTS = {
    "plain": lambda make, lengths: dynamic(make(), SIZE, lengths=lengths),
    "static": lambda make, lengths: static(make(), SIZE, TIMESTEPS, lengths=lengths),
    "bidirectional": lambda make, lengths: dynamic(
        make(), SIZE, backward_cell=make(), lengths=lengths
    ),
    "stacked": lambda make, lengths: dynamic(
        cells.MultiRNNCell([make(), make(), make()]), SIZE, lengths=lengths
    ),
    "wrapped": lambda make, lengths: dynamic(
        cells.MultiRNNCell([wrapped(make), wrapped(make)]), SIZE, lengths=lengths
    ),
}


def largest_difference(session, op: Op, x, lengths, arrangement) -> float:
    """Between traces and everything that the rnn op returns, at every timestep that was run."""
    traces = lg.trace(op.cell, **op.arguments(x, lengths), session=session)
    outputs, state = session.run([op.outputs, op.state], op.feed(x, lengths))
    if arrangement == "static":
        outputs = np.stack(outputs, axis=1)
    directions = 2 if op.backward_cell else 1
    tops = traces[len(traces) // directions - 1 :: len(traces) // directions]
    differences = []
    for top, own in zip(tops, outputs if directions == 2 else [outputs], strict=True):
        if arrangement == "wrapped":  # what the residual wrappers add
            own = own - (x + np.nan_to_num(traces[0].hidden_state))
        differences.append(np.abs(top.hidden_state - own)[top.mask].max())
        assert np.isnan(top.hidden_state[~top.mask]).all()
    finals = [
        final
        for trace in traces
        for final in (trace.final_cell_state, trace.final_hidden_state)
        if final is not None
    ]
    for ours, own in zip(finals, tf.nest.flatten(state), strict=True):
        differences.append(np.abs(ours - own).max())
    assert all(trace.difference is not None for trace in traces)
    return float(max(differences))


@pytest.mark.parametrize("mask", ["none", "right"])
@pytest.mark.parametrize("arrangement", ARRANGEMENTS)
@pytest.mark.parametrize("cell", CELLS)
def test_states_are_those_of_the_rnn_op(session, monkeypatch, cell, arrangement, mask):
    op = ARRANGEMENTS[arrangement](CELLS[cell], mask == "right")
    randomize(session)
    x = np.random.default_rng(1).normal(size=(BATCH, TIMESTEPS, SIZE)).astype("float32")
    lengths = LENGTHS if mask == "right" else None
    difference = largest_difference(session, op, x, lengths, arrangement)
    TABLE.add("TF1", cell, arrangement, mask, difference)
    assert difference < TOLERANCE

    if "RNN" in cell:  # it has one gate
        return
    swapped = {"lstm": "ijof", "gru": "urc"}
    for kind, order in swapped.items():
        monkeypatch.setitem(fused.STACKED_DEFAULTS[kind], "gate_order", order)
    with pytest.warns(UserWarning, match="does more than its cell's equations say"):
        assert largest_difference(session, op, x, lengths, arrangement) > 100 * TOLERANCE


def test_the_documented_table_has_these_rows():
    combinations = {(cell, arrangement) for cell in CELLS for arrangement in ARRANGEMENTS}
    assert documented_rows(DOCUMENT, "TF1") == combinations
