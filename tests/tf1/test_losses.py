"""Losses of TF1 graphs: differentiating them leaves the user's graph alone, or is refused."""

import gc
import weakref

import numpy as np
import pytest
import tensorflow as tf

import lstm_gates_plugin as lg
from helpers.tf1 import cells, dynamic, randomize
from lstm_gates_plugin.frameworks.tf1 import losses

v1 = tf.compat.v1
SIZE = 4
X = np.random.default_rng(1).normal(size=(3, 3, SIZE)).astype("float32")


class TestUndisturbed:
    """The user's graph may be finalized, and its session goes on as if nothing had been asked."""

    def test_nothing_is_added_to_a_finalized_graph(self, session, graph):
        op = dynamic(cells.MultiRNNCell([cells.LSTMCell(4), cells.GRUCell(4)]), SIZE)
        loss = tf.reduce_mean(op.outputs**2)
        v1.train.AdamOptimizer().minimize(loss)
        randomize(session)
        graph.finalize()
        operations, values = len(graph.get_operations()), session.run(v1.global_variables())
        traces = lg.trace(op.cell, loss=loss, **op.arguments(X))
        assert all(trace.gradients is not None for trace in traces)
        assert len(graph.get_operations()) == operations
        for one, other in zip(values, session.run(v1.global_variables()), strict=True):
            np.testing.assert_array_equal(one, other)

    @pytest.mark.parametrize("graph", ["v1", "v2"], indirect=True)
    def test_the_graph_is_copied_once(self, session, monkeypatch):
        op = dynamic(cells.LSTMCell(4), SIZE)
        loss = tf.reduce_mean(op.outputs**2)
        randomize(session)
        copies, sessions = [], []

        class Counted(losses.Copy):
            def __init__(self, *arguments):
                copies.append(self)
                super().__init__(*arguments)

        def opened(*arguments):
            sessions.append(arguments)
            return original(*arguments)

        original = losses.tf1_session.opened
        monkeypatch.setattr(losses, "Copy", Counted)
        monkeypatch.setattr(losses.tf1_session, "opened", opened)
        found = []
        for seed in (0, 0, 1):
            randomize(session, seed)
            (trace,) = lg.trace(op.cell, loss=loss, **op.arguments(X))
            found.append(trace.gradients.hidden_state)
        assert (len(copies), len(sessions)) == (1, 1)
        np.testing.assert_array_equal(found[0], found[1])
        assert np.abs(found[0] - found[2]).min() > 0  # the variables' present values

    def test_the_copy_goes_with_the_graph(self):
        def traced():
            with tf.Graph().as_default() as graph, v1.Session() as session:
                op = dynamic(cells.GRUCell(4), SIZE)
                randomize(session)
                lg.trace(op.cell, loss=tf.reduce_sum(op.outputs), **op.arguments(X))
                (copy,) = losses._COPIES._by_owner[graph].values()
            return weakref.ref(copy)

        copy = traced()
        gc.collect()
        assert copy() is None

    def test_random_state_of_the_session_stays(self, graph):
        op = dynamic(cells.GRUCell(4), SIZE)
        noise = v1.random_normal([], seed=1)
        loss = tf.reduce_mean(op.outputs**2) * noise
        drawn = []
        for traced in (False, True):
            with v1.Session() as session:
                randomize(session)
                session.run(noise)
                if traced:
                    lg.trace(op.cell, loss=loss, **op.arguments(X))
                drawn.append(session.run(noise))
        assert drawn[0] == drawn[1]


def test_a_loss_that_does_not_depend_on_the_cell(session):
    op = dynamic(cells.LSTMCell(4), SIZE)
    loss = tf.reduce_sum(v1.get_variable("other", [2]))
    randomize(session)
    (trace,) = lg.trace(op.cell, loss=loss, **op.arguments(X))
    assert (trace.gradients.hidden_state == 0).all()
    assert (trace.gradients.kernel["forget"] == 0).all()


def test_a_residual_function_of_the_users_own(session):
    cell = cells.MultiRNNCell(
        [
            cells.LSTMCell(4),
            cells.ResidualWrapper(cells.GRUCell(4), residual_fn=lambda i, o: tf.tanh(i) * o),
            cells.BasicRNNCell(4),
        ]
    )
    op = dynamic(cell, SIZE)
    randomize(session)
    with pytest.warns(UserWarning, match="has no gradients") as told:
        traces = lg.trace(cell, loss=tf.reduce_sum(op.outputs**2), **op.arguments(X))
    assert [trace.gradients is None for trace in traces] == [True, True, False]
    sentences = [str(warning.message) for warning in told]
    assert sentences == [
        f"layer {trace.layer.id!r} has no gradients: a residual function of your own is between it "
        "and the loss."
        for trace in (traces[1], traces[0])
    ]


@tf.custom_gradient
def one_way(x):
    """A function of the user's own that cannot be differentiated."""

    def back(gradient):
        raise NotImplementedError("there is no way back")

    return tf.tanh(x), back


class TestRefused:
    """What cannot be differentiated is explained."""

    @pytest.fixture
    def op(self, session):
        built = dynamic(cells.LSTMCell(4), SIZE)
        randomize(session)
        return built

    @pytest.mark.parametrize("loss", [lambda outputs: outputs, 0.5])
    def test_a_loss_that_is_no_tensor(self, op, loss):
        with pytest.raises(TypeError, match=r"must be a tensor of its graph, and .* (func|float)"):
            lg.trace(op.cell, loss=loss, **op.arguments(X))

    @pytest.mark.parametrize("values", [{}, {"outputs": X}, {"state": (X[:, 0], X[:, 0])}])
    def test_values_in_the_place_of_tensors(self, op, values):
        arguments = op.arguments(X) | values if values else {"inputs": X}
        with pytest.raises(ValueError, match=r"'Sum:0', give .* as tensors: lg.trace\(cell, inp"):
            lg.trace(op.cell, loss=tf.reduce_sum(op.outputs), **arguments)

    def test_a_loss_of_another_graph(self, op):
        with tf.Graph().as_default():
            stranger = tf.zeros([])
        with pytest.raises(ValueError, match="'zeros:0' belongs to another graph"):
            lg.trace(op.cell, loss=stranger, **op.arguments(X))

    def test_a_loss_that_is_no_single_number(self, op):
        with pytest.raises(ValueError, match=r"must be a single number, and one of shape \(3, 4\)"):
            lg.trace(op.cell, loss=op.outputs[:, -1], **op.arguments(X))

    def test_a_loss_of_whole_numbers(self, op):
        hits = tf.reduce_sum(tf.cast(op.outputs > 0, tf.int32))
        with pytest.raises(ValueError, match="changes smoothly, and 'Sum:0' is of type int32"):
            lg.trace(op.cell, loss=hits, **op.arguments(X))

    def test_a_loss_without_a_derivative(self, op):
        loss = one_way(tf.reduce_sum(op.outputs))
        for _ in range(2):
            with pytest.raises(ValueError, match="cannot be differentiated: there is no way back"):
                lg.trace(op.cell, loss=loss, **op.arguments(X))

    def test_a_loss_that_depends_on_more_than_what_was_given(self, session):
        op = dynamic(cells.LSTMCell(4), SIZE)
        turned = tf.transpose(op.outputs, [0, 1, 2])
        randomize(session)
        loss = tf.reduce_sum(op.state.h) + tf.reduce_sum(op.outputs)
        for missing in ({"state": None}, {"outputs": turned}):
            with pytest.raises(ValueError, match=r"would lack a part.* outputs= and state="):
                lg.trace(op.cell, loss=loss, **(op.arguments(X) | missing))
        lg.trace(op.cell, loss=tf.reduce_sum(turned), **(op.arguments(X) | {"outputs": turned}))

    @pytest.mark.parametrize("is_fed", [False, True])
    def test_dropout_in_the_cells(self, session, is_fed):
        keep = v1.placeholder_with_default(0.5, []) if is_fed else 0.5
        op = dynamic(cells.DropoutWrapper(cells.GRUCell(4), output_keep_prob=keep), SIZE)
        randomize(session)
        with pytest.raises(ValueError, match=r"computed with dropout.*Feed keep probabilities of"):
            lg.trace(op.cell, loss=tf.reduce_sum(op.outputs), **op.arguments(X))

    def test_an_input_pipeline(self, session, op):
        labels = v1.data.make_initializable_iterator(tf.data.Dataset.range(8)).get_next()
        loss = tf.reduce_sum(op.outputs) * tf.cast(labels, tf.float32)
        arguments = op.arguments(X)
        with pytest.raises(ValueError, match=r"feed the tensors that come out of an input pipel"):
            lg.trace(op.cell, loss=loss, **arguments)
        arguments["feed_dict"] |= {labels: 1}
        (trace,) = lg.trace(op.cell, loss=loss, **arguments)
        assert trace.gradients is not None

    def test_an_activation_without_a_derivative(self, session):
        op = dynamic(cells.GRUCell(4, activation=one_way), SIZE)
        randomize(session)
        with pytest.warns(
            UserWarning, match="function 'one_way' .* cannot be differentiated: there"
        ):
            (trace,) = lg.trace(op.cell, loss=tf.reduce_sum(op.outputs), **op.arguments(X))
        assert trace.gradients is None
