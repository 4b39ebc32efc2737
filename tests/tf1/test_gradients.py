"""Gradients through time of TF1 cells: golden numbers, and TensorFlow's own weight gradients."""

import numpy as np
import pytest
import tensorflow as tf

import lstm_gates_plugin as lg
from helpers.tf1 import Op, cells, dynamic, put_all, randomize, static
from lstm_gates_plugin import capture

v1 = tf.compat.v1
SIZE, TIMESTEPS = 4, 3
X = np.random.default_rng(1).normal(size=(3, TIMESTEPS, SIZE)).astype("float32")
LENGTHS = [3, 1, 2]


@pytest.fixture
def session(graph):
    """As everywhere, without the time that optimizing takes for a graph that is run once."""
    config = v1.ConfigProto()
    config.graph_options.rewrite_options.disable_meta_optimizer = True
    config.graph_options.optimizer_options.opt_level = -1
    with v1.Session(graph=graph, config=config) as opened:
        yield opened


CELLS = {
    "BasicRNNCell": lambda: cells.BasicRNNCell(SIZE),
    "BasicLSTMCell": lambda: cells.BasicLSTMCell(SIZE),
    "LSTMCell": lambda: cells.LSTMCell(5, use_peepholes=True, num_proj=SIZE, forget_bias=0.25),
    "LSTMCell, clipped": lambda: cells.LSTMCell(5, cell_clip=0.3, num_proj=SIZE, proj_clip=0.2),
    "GRUCell": lambda: cells.GRUCell(SIZE),
    "GRUCell, own activation": lambda: cells.GRUCell(SIZE, activation=lambda x: tf.sin(x)),
}


def wrapped(cell):
    return cells.ResidualWrapper(cells.DropoutWrapper(cell, output_keep_prob=1.0))


def stack(*levels):
    return cells.MultiRNNCell(levels)


SINGLE = {
    "plain": lambda cell, lengths: dynamic(cell, SIZE, lengths=lengths),
    "static": lambda cell, lengths: static(cell, SIZE, TIMESTEPS, lengths=lengths),
}
DOUBLE = {
    "bidirectional": lambda one, other, lengths: dynamic(
        one, SIZE, backward_cell=other, lengths=lengths
    ),
    "stacked": lambda one, other, lengths: dynamic(stack(one, other), SIZE, lengths=lengths),
    "wrapped": lambda one, other, lengths: dynamic(
        stack(wrapped(one), wrapped(other)), SIZE, lengths=lengths
    ),
    "static": lambda one, other, lengths: static(
        stack(wrapped(one), other), SIZE, TIMESTEPS, lengths=lengths
    ),
}
PAIRS = [("BasicRNNCell", "LSTMCell"), ("GRUCell", "BasicLSTMCell")]
ARRANGED = {
    **{
        f"{cell} {name}": (arrange, (cell,))
        for name, arrange in SINGLE.items()
        for cell in ("BasicRNNCell", "BasicLSTMCell", "LSTMCell", "GRUCell")
    },
    **{
        f"{one} {other} {name}": (DOUBLE[name], (one, other))
        for name in ("bidirectional", "stacked", "wrapped")
        for one, other in PAIRS
    },
    "all else": (DOUBLE["static"], ("LSTMCell, clipped", "GRUCell, own activation")),
}


def weighted(tensors):
    """A sum of all that an rnn op returned, each number with a weight of its own."""
    rng = np.random.default_rng(2)
    terms = []
    for tensor in tf.nest.flatten(tensors):
        shape = (len(X), TIMESTEPS, SIZE) if len(tensor.shape) == 3 else (len(X), tensor.shape[-1])
        terms.append(tf.reduce_sum(tensor * rng.normal(size=shape).astype("float32")))
    return tf.add_n(terms)


def differentiated(loss):
    """TensorFlow's gradients by all variables; to be asked for before a session runs the graph."""
    return [tf.convert_to_tensor(each) for each in tf.gradients(loss, v1.trainable_variables())]


def own_gradients(session, op: Op, own, feed):
    """The values of TensorFlow's gradients, by layer id and row name."""
    variables = v1.trainable_variables()
    values, gradients = session.run([variables, own], feed)
    for variable, gradient in zip(variables, gradients, strict=True):
        variable.load(gradient, session)
    layers = lg.recurrent_layers(op.cell, backward_cell=op.backward_cell, session=session)
    for variable, value in zip(variables, values, strict=True):
        variable.load(value, session)
    return {layer.id: layer.parts() for layer in layers}


def rows(gradients):
    """The weight gradients of a trace by row name."""
    found = {
        f"{name}/{gate}": by_gate[gate]
        for name in ("kernel", "recurrent_kernel", "bias", "recurrent_bias", "peephole")
        if (by_gate := getattr(gradients, name)) is not None
        for gate in by_gate
    }
    return found | ({} if gradients.projection is None else {"projection": gradients.projection})


@pytest.mark.parametrize("lengths", [None, LENGTHS], ids=["whole", "lengths"])
@pytest.mark.parametrize("arranged", ARRANGED)
def test_weight_gradients_equal_tensorflows_own(session, arranged, lengths):
    arrange, names = ARRANGED[arranged]
    op = arrange(*(CELLS[name]() for name in names), lengths is not None)
    loss = weighted([op.outputs, op.state])
    own = differentiated(loss)
    randomize(session)
    traces = lg.trace(op.cell, loss=loss, **op.arguments(X, lengths))
    expected = own_gradients(session, op, own, op.feed(X, lengths))
    assert [trace.layer.id for trace in traces] == list(expected)
    for trace in traces:
        assert trace.difference < 1e-5
        found = rows(trace.gradients)
        assert found.keys() == expected[trace.layer.id].keys()
        for name, theirs in expected[trace.layer.id].items():
            limit = 1e-4 * np.abs(theirs).max()
            np.testing.assert_allclose(found[name], theirs, atol=limit, rtol=0, err_msg=name)
            assert limit > 0


class TestGolden:
    """Known numbers, which neither TensorFlow nor we compute here."""

    def ramp(self, session, weight, timesteps):
        """A cell that keeps `weight` of its state and adds one."""
        op = dynamic(cells.BasicRNNCell(1, activation=tf.nn.relu), 1)
        put_all(session, {"kernel": [[1.0], [weight]], "bias": 0.0})
        x = np.ones((1, timesteps, 1), dtype="float32")
        return lg.trace(op.cell, loss=op.outputs[0, -1, 0], **op.arguments(x))[0].gradients

    @pytest.mark.parametrize(
        ("weight", "hidden", "recurrent"),
        [(0.5, (0.0625, 0.125, 0.25, 0.5, 1), 3.25), (1, (1,) * 5, 10), (2, (16, 8, 4, 2, 1), 49)],
    )
    def test_h1_g5_the_total_gradient_not_that_of_the_output(
        self, session, weight, hidden, recurrent
    ):
        found = self.ramp(session, weight, 5)
        np.testing.assert_allclose(np.ravel(found.hidden_state), hidden, atol=1e-5)
        np.testing.assert_allclose(np.ravel(found.output), (0, 0, 0, 0, 1))
        np.testing.assert_allclose(found.recurrent_kernel["hidden"], recurrent, rtol=1e-4)

    def test_h2_g5l_a_weight_gradient_that_looks_healthy(self, session):
        found = self.ramp(session, 0.5, 20)
        np.testing.assert_allclose(found.recurrent_kernel["hidden"], 3.99992, rtol=1e-4)
        np.testing.assert_allclose(found.hidden_state[0, 0, 0], 1.9073486e-06, rtol=1e-4)

    def test_g5l_a_gradient_that_grows(self, session):
        np.testing.assert_allclose(self.ramp(session, 2, 20).hidden_state[0, 0, 0], 524288)

    def test_g5l_gradients_that_are_not_finite(self, session):
        found = self.ramp(session, 2, 200)
        assert np.flatnonzero(~np.isfinite(found.inputs[0, :, 0])).tolist() == list(range(72))
        assert np.isnan(found.recurrent_kernel["hidden"]).all()

    @pytest.mark.parametrize("arrange", ["dynamic", "static"])
    @pytest.mark.parametrize("source", ["outputs", "state"])
    def test_g6_every_gradient_of_an_lstm(self, session, arrange, source):
        cell = cells.BasicLSTMCell(1, forget_bias=0.0)
        op = dynamic(cell, 1) if arrange == "dynamic" else static(cell, 1, 3)
        put_all(session, {"kernel": [[1.0] * 4, [0.5] * 4], "bias": 0.0})
        last = op.outputs[0, -1, 0] if arrange == "dynamic" else op.outputs[-1][0, 0]
        loss = last if source == "outputs" else op.state.h[0, 0]
        x = np.array([1, 2, 3], dtype="float32").reshape(1, 3, 1)
        (trace,) = lg.trace(op.cell, loss=loss, **op.arguments(x))
        found = trace.gradients

        def close(values, expected):
            np.testing.assert_allclose(np.ravel(values), expected, atol=1e-5)

        close(found.output, (0, 0, 1))
        close(found.hidden_state, (0.004392, 0.016887, 1))
        close(found.cell_state, (0.038783, 0.040487, 0.038312))
        close(found.inputs, (0.018151, 0.008785, 0.033774))
        close(
            [found.preactivations[gate][0, 0, 0] for gate in trace.layer.gates],
            (0.005807, 0, 0.011907, 0.000437),
        )
        for part, expected in (
            (found.kernel, (0.016582, 0.009064, 0.015999, 0.095399)),
            (found.recurrent_kernel, (0.002275, 0.002067, 0.000796, 0.024832)),
            (found.bias, (0.010595, 0.003704, 0.013870, 0.032541)),
        ):
            close([part[gate] for gate in trace.layer.gates], expected)


@pytest.mark.parametrize("graph", ["v1", "v2"], indirect=True)
def test_a_loss_behind_another_rnn_op_and_an_embedding(session):
    tokens, labels = v1.placeholder(tf.int32, [None, None]), v1.placeholder(tf.int32, [None])
    table = v1.get_variable("table", [10, SIZE])
    embedded = tf.nn.embedding_lookup(table, tokens)
    cell, upper = cells.LSTMCell(4), cells.GRUCell(4)
    outputs, state = v1.nn.dynamic_rnn(cell, embedded, dtype=tf.float32, scope="lower")
    above, _ = v1.nn.dynamic_rnn(upper, outputs, dtype=tf.float32, scope="upper")
    logits = tf.gather(above, 2, axis=1) + tf.gather(outputs, [1], axis=1)[:, 0]
    entropy = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
    penalty = tf.add_n([tf.nn.l2_loss(variable) for variable in v1.trainable_variables()])
    loss = tf.reduce_mean(entropy)
    own = differentiated(loss)
    randomize(session)
    feed = {tokens: [[1, 2, 3], [4, 5, 6]], "Placeholder_1:0": [0, 3]}
    asked = {"inputs": embedded, "feed_dict": feed, "outputs": outputs, "state": state}
    (trace,) = lg.trace(cell, loss=loss, **asked)
    expected = own_gradients(session, Op(cell, None, None, None, None, None), own, feed)
    for name, found in rows(trace.gradients).items():
        np.testing.assert_allclose(found, expected[trace.layer.id][name], atol=1e-6, err_msg=name)
    (penalized,) = lg.trace(cell, loss=loss + 0.1 * penalty, **asked)
    np.testing.assert_array_equal(penalized.gradients.hidden_state, trace.gradients.hidden_state)


def test_order_and_structure_of_what_the_op_returns(session):
    """Time major, states in one piece and an initial state change no gradient."""
    cell = stack_of_pieces = cells.MultiRNNCell(
        [cells.BasicLSTMCell(4, state_is_tuple=False), cells.GRUCell(4)], state_is_tuple=False
    )
    initial = np.random.default_rng(3).normal(size=(3, 12)).astype("float32")
    op = dynamic(cell, SIZE, initial_state=initial, time_major=True)
    loss = tf.reduce_sum(op.outputs**2) + tf.reduce_sum(op.state**3)
    own = differentiated(loss)
    randomize(session)
    arguments = op.arguments(X.swapaxes(0, 1)) | {"initial_state": initial, "time_major": True}
    traces = lg.trace(stack_of_pieces, loss=loss, **arguments)
    expected = own_gradients(session, op, own, op.feed(X.swapaxes(0, 1)))
    for trace in traces:
        for name, found in rows(trace.gradients).items():
            theirs = expected[trace.layer.id][name]
            np.testing.assert_allclose(found, theirs, rtol=1e-4, atol=1e-5, err_msg=name)


def test_the_first_rows_alone(session):
    op = dynamic(cells.GRUCell(4), SIZE)
    randomize(session)
    arguments, loss = op.arguments(X), tf.reduce_sum(op.outputs**2)
    (trace,) = lg.trace(op.cell, loss=loss, **arguments)
    ((cut,), _) = capture.observe(op.cell, (), arguments, 2, loss)
    np.testing.assert_array_equal(cut.gradients.inputs, trace.gradients.inputs[:2])
