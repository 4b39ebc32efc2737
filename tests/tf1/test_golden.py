"""Golden numbers G1 to G4 and G7 on TensorFlow 1 cells, through the public API."""

import numpy as np
import pytest
import tensorflow as tf

import lstm_gates_plugin as lg
from helpers.tf1 import cells, dynamic, put_all, static

LN3 = np.log(3.0)
G1 = {
    "input": (0.731059, 0.898877, 0.967567),
    "forget": (0.731059, 0.898877, 0.967567),
    "candidate": (0.761594, 0.975004, 0.997755),
    "output": (0.731059, 0.898877, 0.967567),
    "cell_state": (0.556770, 1.376876, 2.297615),
    "hidden_state": (0.369606, 0.791236, 0.948218),
}
X = np.array([1, 2, 3], dtype="float32").reshape(1, 3, 1)
#: One input row of ones and one recurrent row of halves.
G1_WEIGHTS = {"kernel": [[1.0] * 4, [0.5] * 4], "bias": 0.0}


def g1_cell():
    return cells.BasicLSTMCell(1, forget_bias=0.0)


def close(array, expected):
    np.testing.assert_allclose(np.ravel(array), expected, atol=1e-5)


def values(trace, name):
    return trace.gates[name] if name in trace.gates else getattr(trace, name)


def test_g1_every_gate_and_state(session):
    op = dynamic(g1_cell(), 1)
    put_all(session, G1_WEIGHTS)
    (trace,) = lg.trace(op.cell, **op.arguments(X))
    for name, expected in G1.items():
        close(values(trace, name), expected)
    assert trace.difference < 1e-6


def test_g1b_backward_by_input_time(session):
    op = dynamic(g1_cell(), 1, backward_cell=g1_cell())
    put_all(session, G1_WEIGHTS)
    forward, backward = lg.trace(op.cell, **op.arguments(X))
    assert [forward.layer.direction, backward.layer.direction] == ["forward", "backward"]
    close(forward.hidden_state, G1["hidden_state"])
    close(backward.hidden_state, (0.784998, 0.860805, 0.703775))
    close(backward.final_cell_state, 2.141613)
    close(backward.final_hidden_state, 0.784998)
    for gate in ("input", "forget", "output"):
        close(backward.gates[gate][0, 2], 0.952574)
    close(backward.gates["candidate"][0, 2], 0.995055)


def test_g1l2_two_levels(session):
    op = dynamic(cells.MultiRNNCell([g1_cell(), g1_cell()]), 1)
    put_all(session, G1_WEIGHTS)
    lower, upper = lg.trace(op.cell, **op.arguments(X))
    close(lower.hidden_state, G1["hidden_state"])
    close(upper.hidden_state, (0.121902, 0.392109, 0.606613))
    close(upper.final_cell_state, 1.098037)


def test_g1s_initial_state(session):
    ones = np.ones((1, 1), dtype="float32")
    state = cells.LSTMStateTuple(ones, ones)
    op = dynamic(g1_cell(), 1, initial_state=state)
    put_all(session, G1_WEIGHTS)
    (trace,) = lg.trace(op.cell, initial_state=state, **op.arguments(X))
    close(trace.hidden_state, (0.748106, 0.897465, 0.966102))
    for gate in ("input", "forget", "output"):
        close(trace.gates[gate][0, 0], 0.817574)
    close(trace.gates["candidate"][0, 0], 0.905148)
    assert trace.difference < 1e-6


@pytest.mark.parametrize(
    ("forget_bias", "forget", "cell_state", "hidden_state"),
    [
        (0.0, 0.5, (0.571196, 0.856793, 0.999592), (0.129059, 0.173650, 0.190356)),
        (1.0, 0.731059, (0.571196, 0.988773, 1.294047), (0.129059, 0.189210, 0.215046)),
    ],
)
@pytest.mark.parametrize("make", [cells.BasicLSTMCell, cells.LSTMCell])
def test_g2_forget_bias_is_added_at_run_time(
    session, make, forget_bias, forget, cell_state, hidden_state
):
    op = static(make(1, forget_bias=forget_bias), 1, 3)
    put_all(session, {"kernel": 0.0, "bias": [LN3, 1.0, 0.0, -LN3]})  # i, j, f, o
    (trace,) = lg.trace(op.cell, **op.arguments(X))
    for gate, expected in (
        ("input", 0.75),
        ("forget", forget),
        ("candidate", 0.761594),
        ("output", 0.25),
    ):
        close(trace.gates[gate], [expected] * 3)
    close(trace.cell_state, cell_state)
    close(trace.hidden_state, hidden_state)
    assert trace.layer.options["forget_bias"] == forget_bias
    close(trace.layer.bias["forget"], 0)  # as stored
    assert trace.difference < 1e-6


def test_g3_resets_before_the_product(session):
    op = dynamic(cells.GRUCell(1), 1)
    put_all(
        session,
        {
            "gates/kernel": 0.0,
            "gates/bias": [0.0, LN3],  # r, u
            "candidate/kernel": [[0.0], [1.0]],
            "candidate/bias": 1.0,
        },
    )
    (trace,) = lg.trace(op.cell, **op.arguments(X[:, :2]))
    close(trace.gates["reset"], [0.5] * 2)
    close(trace.gates["update"], [0.75] * 2)
    close(trace.gates["candidate"], (0.761594, 0.798768))
    close(trace.hidden_state, (0.190399, 0.342491))
    assert trace.layer.options["reset_after"] is False
    assert trace.difference < 1e-6


def test_g4_storage_order(session):
    lstm, gru = dynamic(cells.LSTMCell(3), 2, scope="a"), dynamic(cells.GRUCell(3), 2, scope="b")
    put_all(
        session,
        {
            "a/lstm_cell/kernel": np.repeat([1.0, 2.0, 3.0, 4.0], 3),
            "gates/kernel": np.repeat([1.0, 2.0], 3),
            "candidate/kernel": 3.0,
        },
    )
    (layer,) = lg.recurrent_layers(lstm.cell)
    means = {gate: kernel.mean() for gate, kernel in layer.kernel.items()}
    assert means == {"input": 1, "candidate": 2, "forget": 3, "output": 4}
    assert list(layer.kernel) == list(layer.gates)
    (layer,) = lg.recurrent_layers(gru.cell)
    assert {g: k.mean() for g, k in layer.kernel.items()} == {
        "reset": 1,
        "update": 2,
        "candidate": 3,
    }


@pytest.mark.parametrize(
    ("length", "expected"),
    [
        (5, (0.369606, 0.791236, 0.948218)),
        (3, (0.369606, 0.791236, 0.948218, None, None)),
        (0, (None,) * 5),
    ],
)
@pytest.mark.parametrize("arrange", [dynamic, static])
def test_g7_timesteps_beyond_the_length_are_absent(session, arrange, length, expected):
    extra = (5,) if arrange is static else ()
    op = arrange(g1_cell(), 1, *extra, lengths=True)
    put_all(session, G1_WEIGHTS)
    x = np.array([1, 2, 3, 0, 0], dtype="float32").reshape(1, 5, 1)
    (trace,) = lg.trace(op.cell, **op.arguments(x, [length]))
    assert trace.mask.tolist() == [[t < length for t in range(5)]]
    shown = [np.nan if value is None else value for value in expected]
    close(trace.hidden_state[0, : len(shown)], shown)
    if length < 5:
        close(trace.final_hidden_state, 0.948218 if length else 0)
    assert trace.difference < 1e-6


@pytest.mark.parametrize("graph", ["v1", "v2"], indirect=True)
def test_graphs_of_both_generations(session):
    """Reference variables and while loops as of TensorFlow 1, or as TensorFlow 2 has them."""
    op = dynamic(g1_cell(), 1, backward_cell=g1_cell(), lengths=True)
    put_all(session, G1_WEIGHTS)
    kinds = {operation.type for operation in tf.compat.v1.get_default_graph().get_operations()}
    assert ("VariableV2" in kinds) != ("VarHandleOp" in kinds)
    assert ("Enter" in kinds) != bool(kinds & {"While", "StatelessWhile"})
    for trace in lg.trace(op.cell, **op.arguments(X, [3])):
        assert trace.difference < 1e-6
