"""What cannot be traced is named and explained."""

import numpy as np
import pytest
import tensorflow as tf

import lstm_gates_plugin as lg
from helpers.tf1 import cells, dynamic, randomize, static

v1 = tf.compat.v1
X = np.ones((2, 3, 4), dtype="float32")


@pytest.fixture
def op(session):
    built = dynamic(cells.MultiRNNCell([cells.LSTMCell(4), cells.GRUCell(3)]), 4)
    randomize(session)
    return built


def test_not_built(session):
    with pytest.raises(ValueError, match=r"LSTMCell 'lstm_cell.*' is not built yet.*dynamic_rnn"):
        lg.trace(cells.LSTMCell(4), X)


def test_not_built_backward_cell(op):
    with pytest.raises(ValueError, match=r"GRUCell .* is not built yet"):
        lg.trace(op.cell, X, backward_cell=cells.GRUCell(4))


def test_a_cell_cannot_be_checked_apart_from_its_graph(op):
    with pytest.raises(ValueError, match=r"TensorFlow 1 \(MultiRNNCell\).*only in its graph"):
        lg.check(op.cell, X)


@pytest.mark.parametrize("graph", ["v1", "v2"], indirect=True)
def test_not_initialised(session):
    op = dynamic(cells.LSTMCell(4), 4)
    expected = r"not initialised in this session.*global_variables_initializer.*rnn/lstm_cell"
    for ask in (
        lambda: lg.recurrent_layers(op.cell),
        lambda: lg.trace(op.cell, X),
        lambda: lg.trace(op.cell, **op.arguments(X)),
    ):
        with pytest.raises(ValueError, match=expected):
            ask()


def test_session_of_another_graph(op):
    with (
        v1.Session(graph=tf.Graph()) as other,
        pytest.raises(ValueError, match=r"'rnn/.*' belongs to another graph than the session"),
    ):
        lg.recurrent_layers(op.cell, session=other)


def test_tensor_of_another_graph(op):
    with tf.Graph().as_default():
        stranger = tf.zeros([2, 3, 4])
    with pytest.raises(ValueError, match="belongs to another graph than the session"):
        lg.trace(op.cell, inputs=stranger)


def test_no_session():
    op = dynamic(cells.LSTMCell(4), 4)
    with pytest.raises(ValueError, match="no default session here; give session="):
        lg.recurrent_layers(op.cell)


def test_closed_session(op):
    closed = v1.Session()
    closed.close()
    with pytest.raises(ValueError, match="closed Session"):
        lg.recurrent_layers(op.cell, session=closed)


@pytest.mark.parametrize(
    ("x", "message"),
    [
        (X[0], r"\[batch, time, size\].* shape \(3, 4\) was given"),
        (X[..., None], r"shape \(2, 3, 4, 1\) was given"),
        ([X[0], X[0, :2]], r"one array \[batch, size\] per timestep"),
        (X[..., :3], r"\[batch, time, 4\].* \(2, 3, 3\) was given"),
        ([[[1.0] * 4] * 3, [[1.0] * 4] * 2], "Pad sequences of different lengths"),
    ],
)
def test_inputs_of_the_wrong_shape(op, x, message):
    with pytest.raises(ValueError, match=message):
        lg.trace(op.cell, x)


def test_inputs_of_the_wrong_rank_in_time_major_order(op):
    with pytest.raises(ValueError, match=r"\[time, batch, size\]"):
        lg.trace(op.cell, X[0], time_major=True)


@pytest.mark.parametrize("lengths", [[1], [[1, 2]], [1.5, 2.0]])
def test_wrong_lengths(op, lengths):
    with pytest.raises(ValueError, match="one whole number for each of the 2 rows"):
        lg.trace(op.cell, X, lengths=lengths)


@pytest.mark.parametrize(
    ("state", "message"),
    [
        (np.zeros((2, 4)), "must be a tuple of 2 states"),
        ((np.zeros((2, 4)), np.zeros((2, 3))), "LSTMStateTuple of a cell state of shape"),
        (((np.zeros((2, 4)), np.zeros((3, 4))), np.zeros((2, 3))), "LSTMStateTuple"),
        (((np.zeros((2, 4)),) * 2, np.zeros((2, 5))), "initial state of layer .*gru_cell"),
    ],
)
def test_wrong_initial_state(op, state, message):
    with pytest.raises(ValueError, match=message):
        lg.trace(op.cell, X, initial_state=state)


def test_outputs_of_another_op(op):
    with pytest.raises(ValueError, match=r"of shape \(2, 3, 3\), and .* \(2, 3, 5\) was given"):
        lg.trace(op.cell, X, outputs=np.zeros((2, 3, 5)))


def test_a_single_output_for_two_directions(session):
    op = dynamic(cells.GRUCell(3), 4, backward_cell=cells.GRUCell(3))
    randomize(session)
    with pytest.raises(ValueError, match="outputs must be a pair"):
        lg.trace(op.cell, **op.arguments(X) | {"outputs": op.outputs[0]})


def test_what_is_not_fed(op):
    with pytest.raises(ValueError, match=r"tensors cannot be computed.*must feed a value"):
        lg.trace(op.cell, inputs=op.inputs)


def test_an_input_pipeline_keeps_its_batches(session):
    data = tf.data.Dataset.range(8).map(lambda n: tf.fill([2, 3, 4], tf.cast(n, tf.float32)))
    iterator = v1.data.make_initializable_iterator(data)
    batch = iterator.get_next()
    cell = cells.GRUCell(3)
    v1.nn.dynamic_rnn(cell, batch, dtype=tf.float32)
    randomize(session)
    session.run(iterator.initializer)
    with pytest.raises(ValueError, match=r"IteratorGetNext.*feed the tensors that come out of"):
        lg.trace(cell, inputs=batch)
    assert session.run(batch)[0, 0, 0] == 0  # none was taken
    (trace,) = lg.trace(cell, inputs=batch, feed_dict={batch: X})
    assert trace.hidden_state.shape == (2, 3, 3)


def test_wrappers_around_nothing(session):
    wrapper = cells.DropoutWrapper(cells.LSTMCell(4))
    stack = cells.MultiRNNCell([cells.ResidualWrapper(wrapper)])
    wrapper.cell = None  # TensorFlow itself refuses to make one
    with pytest.raises(ValueError, match=r"DropoutWrapper '.*' is a wrapper around nothing"):
        lg.recurrent_layers(stack)


class Nothing(cells.RNNCell):
    """A cell without weights."""

    state_size = output_size = 4

    def call(self, inputs, state):
        return inputs, state


def test_wrappers_around_a_cell_without_weights(session):
    op = dynamic(cells.DropoutWrapper(Nothing()), 4)
    with pytest.raises(ValueError, match="around nothing that is recurrent"):
        lg.recurrent_layers(op.cell)


def test_a_cell_without_weights_in_a_stack(session):
    op = dynamic(cells.MultiRNNCell([Nothing(), cells.LSTMCell(4)]), 4)
    randomize(session)
    assert len(lg.recurrent_layers(op.cell)) == 1
    with pytest.raises(ValueError, match=r"the Nothing '.*' has no weights"):
        lg.trace(op.cell, X)


class Own(cells.LSTMCell):
    """A cell with equations of its own."""

    def call(self, inputs, state):
        output, state = super().call(inputs, state)
        return 2 * output, state


def test_a_cell_of_the_users_own(session):
    op = dynamic(Own(4), 4)
    randomize(session)
    (layer,) = lg.recurrent_layers(op.cell)
    assert (layer.id, layer.cell, layer.units) == ("rnn/own", "unknown", 4)
    assert sorted(layer.weights) == ["bias", "kernel"]
    assert layer.options["cell_class"] == "Own"
    with pytest.warns(UserWarning, match="'rnn/own' cannot be shown"):
        (trace,) = lg.trace(op.cell, X, session=session)
    outputs, state = session.run([op.outputs, op.state], {op.inputs: X})
    assert trace.gates == {}
    np.testing.assert_allclose(trace.hidden_state, outputs / 2, atol=1e-6)
    np.testing.assert_allclose(trace.final_cell_state, state.c, atol=1e-6)
    np.testing.assert_allclose(trace.final_hidden_state, state.h, atol=1e-6)


class Leaky(cells.RNNCell):
    """A cell as people wrote them: with `get_variable` where it computes."""

    state_size = output_size = 3

    def call(self, inputs, state):
        kernel = v1.get_variable("kernel", [inputs.shape[-1], 3])
        state = 0.5 * state + tf.matmul(inputs, kernel)
        return state + 1, state


def test_a_cell_that_makes_its_variables_while_it_computes(session):
    op = dynamic(Leaky(), 4)
    randomize(session)
    session.graph.finalize()
    with pytest.warns(UserWarning, match="leaky' cannot be shown"):
        (trace,) = lg.trace(op.cell, X, session=session)
    outputs = session.run(op.outputs, {op.inputs: X})
    np.testing.assert_allclose(trace.hidden_state, outputs - 1, atol=1e-6)


def test_a_cell_of_the_users_own_that_needs_the_users_graph(session):
    scale = v1.get_variable("scale", [])

    class Scaled(cells.GRUCell):
        def call(self, inputs, state):
            output, state = super().call(inputs, state)
            return scale * output, state

    op = dynamic(Scaled(3), 4)
    randomize(session)
    with pytest.warns(UserWarning, match="'rnn/scaled' cannot be shown.*Its weights can be"):
        assert lg.trace(op.cell, X, session=session) == []


def test_a_cell_of_the_users_own_below_others(session):
    op = dynamic(cells.MultiRNNCell([Own(4), cells.GRUCell(4)]), 4)
    randomize(session)
    with pytest.warns(UserWarning, match="cell_0/own' cannot be shown"):
        own, gru = lg.trace(op.cell, X, session=session)
    assert own.layer.id == "rnn/multi_rnn_cell/cell_0/own"
    outputs = session.run(op.outputs, {op.inputs: X})
    np.testing.assert_allclose(gru.hidden_state, outputs, atol=1e-6)


def test_a_wrapper_of_the_users_own(session):
    class Doubling(cells.DropoutWrapper):
        def _call_wrapped_cell(self, inputs, state, cell_call_fn, **kwargs):
            return cell_call_fn(2 * inputs, state, **kwargs)

    op = dynamic(Doubling(cells.LSTMCell(4)), 4)
    randomize(session)
    (layer,) = lg.recurrent_layers(op.cell)
    assert layer.id == "rnn/lstm_cell"
    with pytest.raises(ValueError, match="what the wrapper Doubling does is not known"):
        lg.trace(op.cell, X)


def test_an_activation_that_needs_the_users_graph(session):
    scale = v1.get_variable("scale", [])
    op = dynamic(cells.GRUCell(3, activation=lambda x: x * scale), 4)
    randomize(session)
    with pytest.raises(ValueError, match="cannot be computed outside of your graph"):
        lg.trace(op.cell, X)


def test_recording_is_refused(op):
    with pytest.raises(ValueError, match="runs inside the session"), lg.record(op.cell):
        pass


def test_an_unknown_argument(op):
    with pytest.raises(TypeError, match="sequence_length"):
        lg.trace(op.cell, X, sequence_length=[3, 3])


def test_two_layers_built_under_one_name(tmp_path):
    """In two graphs, logged by one writer: the second is refused by name, the first is kept."""
    ops = []
    for _ in range(2):
        with tf.Graph().as_default(), v1.Session() as session:
            op = static(cells.LSTMCell(4), 4, 3)
            randomize(session)
            ops.append(lg.recurrent_layers(op.cell))
    with lg.GateWriter(tmp_path) as writer:
        writer.log_weights(ops[0], step=0)
        with pytest.raises(ValueError, match="'rnn/lstm_cell', whose last record is at step 0"):
            writer.log_weights(ops[1], step=0)
        writer.log_weights(ops[1], step=0, name="second")
    assert list(lg.read(tmp_path)["."]) == ["rnn/lstm_cell", "second/rnn/lstm_cell"]
