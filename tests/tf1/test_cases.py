"""Reported problems of users of TensorFlow 1 graphs: cases A, B, C and I."""

import warnings

import numpy as np
import pytest
import tensorflow as tf

import lstm_gates_plugin as lg
from helpers.tf1 import cells, dynamic, put, put_all

v1 = tf.compat.v1


def a1_cell():
    return cells.MultiRNNCell(
        [
            cells.DropoutWrapper(cells.LSTMCell(units), input_keep_prob=0.5, output_keep_prob=0.5)
            for units in (1, 2)
        ]
    )


def test_a1_weights_inside_dropout_wrappers_in_a_stack(session):
    op = dynamic(a1_cell(), 1)
    session.run(v1.global_variables_initializer())
    lower, upper = lg.recurrent_layers(op.cell)
    assert lower.id == "rnn/multi_rnn_cell/cell_0/lstm_cell"
    assert upper.id == "rnn/multi_rnn_cell/cell_1/lstm_cell"
    assert [lower.input_size, lower.recurrent_size] == [1, 1]
    assert [upper.input_size, upper.recurrent_size] == [1, 2]
    kernels = [session.run(v1.global_variables()[index]) for index in (0, 2)]
    assert [kernel.shape for kernel in kernels] == [(2, 4), (3, 8)]
    for layer, kernel in zip((lower, upper), kernels, strict=True):
        order = ("input", "candidate", "forget", "output")
        for block, gate in enumerate(order):
            columns = kernel[:, block * layer.units : (block + 1) * layer.units]
            np.testing.assert_array_equal(layer.kernel[gate], columns[:1])
            np.testing.assert_array_equal(layer.recurrent_kernel[gate], columns[1:])
        assert layer.options["wrappers"] == ["DropoutWrapper"]
        assert layer.options["dropout"] == "off in traces"


def test_a1_before_it_is_built(session):
    with pytest.raises(ValueError, match=r"'lstm_cell.*' is not built yet, so it has no weights"):
        lg.recurrent_layers(a1_cell())


def test_b1_no_colon_and_no_warning(session, tmp_path):
    class TwoNames(cells.RNNCell):
        """A cell of its own with the variables `a` and `a_0`."""

        state_size = output_size = 2

        def call(self, inputs, state):
            for name in ("a", "a_0"):
                state = state + v1.get_variable(name, [2], initializer=v1.ones_initializer())
            return state, state

    op = dynamic(TwoNames(), 1)
    session.run(v1.global_variables_initializer())
    assert [variable.name for variable in v1.global_variables()] == [
        "rnn/two_names/a:0",
        "rnn/two_names/a_0:0",
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        (layer,) = lg.recurrent_layers(op.cell)
        with lg.GateWriter(tmp_path) as writer:
            writer.log_weights(op.cell, step=0, session=session)
    assert (layer.id, layer.cell) == ("rnn/two_names", "unknown")
    assert list(layer.weights) == ["a", "a_0"]
    assert lg.read(tmp_path)["."]["rnn/two_names"].statistics("weights").header["rows"] == [
        "weights/a",
        "weights/a_0",
    ]


def test_b1_variables_of_a_checkpoint(session, tmp_path):
    op = dynamic(a1_cell(), 1)
    session.run(v1.global_variables_initializer())
    path = v1.train.Saver().save(session, str(tmp_path / "model.ckpt"))
    checkpoint = tf.train.load_checkpoint(path)
    for layer in lg.recurrent_layers(op.cell):
        loaded = lg.RecurrentLayer.from_stacked(
            "lstm",
            checkpoint.get_tensor(f"{layer.id}/kernel"),
            checkpoint.get_tensor(f"{layer.id}/bias"),
            id=layer.id,
        )
        assert loaded.options["forget_bias"] == 1
        for name, part in layer.parts().items():
            np.testing.assert_array_equal(loaded.parts()[name], part)


def test_c2_old_cells_store_the_candidate_before_the_forget_gate(session):
    """With the weights of a Keras LSTM, the gates of the same letters have the same values."""
    op = dynamic(cells.BasicLSTMCell(1, forget_bias=0.0), 1)
    i, f, g, o = np.log(3.0), 0.0, 1.0, -np.log(3.0)
    put_all(session, {"kernel": 0.0, "bias": [i, g, f, o]})
    zeros = np.zeros((1, 4))
    keras = lg.RecurrentLayer.from_arrays("lstm", zeros, zeros, [i, f, g, o], gate_order="ifco")
    x = np.ones((1, 3, 1), dtype="float32")
    (ours,) = lg.trace(op.cell, x)
    theirs = lg.cells.forward(keras, x)
    for gate in ours.gates:
        np.testing.assert_allclose(ours.gates[gate], theirs.gates[gate], atol=1e-6)


def test_i2_a_kernel_that_is_not_a_number(session, tmp_path):
    op = dynamic(cells.LSTMCell(2), 1)
    session.run(v1.global_variables_initializer())
    kernel = v1.global_variables()[0]
    with lg.GateWriter(tmp_path) as writer:
        for step in range(4):
            value = session.run(kernel)
            value[:, 4:6] = np.nan if step == 2 else 0.5  # the forget gate
            put(session, kernel, value)
            writer.log_weights(op.cell, step=step, session=session)
    layer = lg.read(tmp_path)["."]["rnn/lstm_cell"]
    assert layer.series("kernel/forget", "nan").values.tolist() == [0, 0, 2, 0]
    assert layer.series("kernel/input", "nan").values.tolist() == [0, 0, 0, 0]
