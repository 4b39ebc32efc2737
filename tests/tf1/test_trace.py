"""What a trace of a TF1 cell may be given, and what it leaves untouched."""

import numpy as np
import pytest
import tensorflow as tf

import lstm_gates_plugin as lg
from helpers.tf1 import cells, dynamic, randomize, static

v1 = tf.compat.v1
X = np.random.default_rng(2).normal(size=(3, 5, 4)).astype("float32")


def hidden(traces):
    return [trace.hidden_state for trace in traces]


def same(first, second):
    assert len(first) == len(second)
    for one, other in zip(first, second, strict=True):
        np.testing.assert_array_equal(one, other)


def stack():
    return cells.MultiRNNCell([cells.LSTMCell(4), cells.GRUCell(3)])


def test_values_or_tensors(session):
    op = dynamic(stack(), 4, lengths=True)
    randomize(session)
    lengths = [5, 1, 3]
    by_tensors = lg.trace(op.cell, **op.arguments(X, lengths))
    by_values = lg.trace(op.cell, X, lengths=lengths, session=session)
    same(hidden(by_tensors), hidden(by_values))
    assert all(trace.difference < 1e-6 for trace in by_tensors)
    assert [trace.difference for trace in by_values] == [None, None]
    assert [trace.layer.id for trace in by_values] == [
        "rnn/multi_rnn_cell/cell_0/lstm_cell",
        "rnn/multi_rnn_cell/cell_1/gru_cell",
    ]


def test_an_embedding_in_front(session):
    tokens = v1.placeholder(tf.int32, [None, None])
    table = v1.get_variable("table", [10, 4])
    embedded = tf.nn.embedding_lookup(table, tokens)
    cell = cells.GRUCell(3)
    outputs, state = v1.nn.dynamic_rnn(cell, embedded, dtype=tf.float32)
    randomize(session)
    (trace,) = lg.trace(
        cell, inputs=embedded, feed_dict={tokens: [[1, 2, 3]]}, outputs=outputs, state=state
    )
    assert trace.hidden_state.shape == (1, 3, 3)
    assert trace.difference < 1e-6


def test_only_the_state_to_compare_with(session):
    op = dynamic(stack(), 4)
    randomize(session)
    arguments = op.arguments(X) | {"outputs": None}
    assert all(trace.difference < 1e-6 for trace in lg.trace(op.cell, **arguments))


def test_time_major(session):
    cell, backward = stack(), stack()
    op = dynamic(cell, 4, backward_cell=backward, time_major=True, lengths=True)
    randomize(session)
    turned = X.swapaxes(0, 1)
    lengths = [2, 5, 4]
    by_tensors = lg.trace(cell, time_major=True, **op.arguments(turned, lengths))
    by_values = lg.trace(cell, X, lengths=lengths, backward_cell=backward)
    same(hidden(by_tensors), hidden(by_values))
    assert all(trace.difference < 1e-6 for trace in by_tensors)


def test_one_array_per_timestep(session):
    op = static(stack(), 4, 5)
    randomize(session)
    same(hidden(lg.trace(op.cell, [X[:, t] for t in range(5)])), hidden(lg.trace(op.cell, X)))
    same(hidden(lg.trace(op.cell, X.tolist())), hidden(lg.trace(op.cell, X)))


def test_states_in_one_piece(session):
    """state_is_tuple=False joins all states of a stack, the cell state before the hidden one."""
    cell = cells.MultiRNNCell(
        [cells.BasicLSTMCell(3, state_is_tuple=False), cells.GRUCell(2)], state_is_tuple=False
    )
    initial = np.random.default_rng(3).normal(size=(3, 8)).astype("float32")
    op = dynamic(cell, 4, initial_state=initial)
    randomize(session)
    traces = lg.trace(cell, initial_state=initial, **op.arguments(X))
    assert all(trace.difference < 1e-6 for trace in traces)
    np.testing.assert_array_equal(traces[0].initial_cell_state, initial[:, :3])


def test_an_initial_state_that_is_a_tensor(session):
    initial = stack().zero_state(3, tf.float32)
    initial = tf.nest.map_structure(lambda state: state + 0.5, initial)
    op = dynamic(stack(), 4, initial_state=initial)
    randomize(session)
    traces = lg.trace(op.cell, initial_state=initial, **op.arguments(X))
    assert all(trace.difference < 1e-6 for trace in traces)
    np.testing.assert_array_equal(traces[1].initial_hidden_state, np.full((3, 3), 0.5))


def test_a_residual_function_of_the_users_own(session):
    cell = cells.MultiRNNCell(
        [
            cells.ResidualWrapper(cells.LSTMCell(4), residual_fn=lambda i, o: tf.tanh(i) * o),
            cells.ResidualWrapper(cells.GRUCell(4)),
        ]
    )
    op = dynamic(cell, 4)
    randomize(session)
    assert all(trace.difference < 1e-6 for trace in lg.trace(cell, **op.arguments(X)))


def test_a_cell_used_twice_is_one_layer_with_two_calls(session):
    cell = cells.LSTMCell(4)
    op = dynamic(cells.MultiRNNCell([cell, cell]), 4)
    randomize(session)
    assert len(lg.recurrent_layers(op.cell)) == 1
    traces = lg.trace(op.cell, **op.arguments(X))
    assert [trace.call for trace in traces] == [0, 1]
    assert all(trace.difference < 1e-6 for trace in traces)


def test_one_cell_for_both_directions_is_two_layers(session):
    cell = cells.LSTMCell(4)
    op = dynamic(cell, 4, backward_cell=cell)
    randomize(session)
    forward, backward = lg.trace(cell, **op.arguments(X))
    assert forward.layer.id == "bidirectional_rnn/fw/lstm_cell"
    assert backward.layer.id == "bidirectional_rnn/fw/lstm_cell#2"
    assert max(forward.difference, backward.difference) < 1e-6


def test_partitioned_kernels(session):
    op = dynamic(cells.LSTMCell(4, num_unit_shards=2, num_proj=6, num_proj_shards=3), 4)
    randomize(session)
    (trace,) = lg.trace(op.cell, **op.arguments(X))
    assert trace.layer.id == "rnn/lstm_cell"
    assert trace.difference < 1e-6


def test_float64(session):
    inputs = v1.placeholder(tf.float64, [None, None, 4])
    cell = cells.LSTMCell(3)
    outputs, _ = v1.nn.dynamic_rnn(cell, inputs, dtype=tf.float64)
    randomize(session)
    (trace,) = lg.trace(cell, inputs=inputs, feed_dict={inputs: X}, outputs=outputs)
    assert trace.hidden_state.dtype == np.float64
    assert trace.difference < 1e-14


def test_the_session_of_monitored_training_without_its_hooks():
    op = dynamic(stack(), 4)
    v1.train.get_or_create_global_step()

    class Counting(v1.train.SessionRunHook):
        runs = 0

        def before_run(self, run_context):
            self.runs += 1

    counting = Counting()
    with v1.train.MonitoredTrainingSession(hooks=[counting]) as monitored:
        traces = lg.trace(op.cell, **op.arguments(X), session=monitored)
    assert all(trace.difference < 1e-6 for trace in traces)
    assert counting.runs == 0


@pytest.mark.parametrize("graph", ["eager"], indirect=True)
def test_eager_cells():
    cell = stack()
    outputs, state = v1.nn.dynamic_rnn(cell, tf.constant(X), dtype=tf.float32)
    traces = lg.trace(cell, X, outputs=outputs, state=state)
    assert [trace.layer.id for trace in traces] == [
        "rnn/multi_rnn_cell/cell_0/lstm_cell",
        "rnn/multi_rnn_cell/cell_1/gru_cell",
    ]
    assert all(trace.difference < 1e-6 for trace in traces)


class TestWithDropout:
    """Dropout in the graph: traces are without it, and draw no random number of the session's."""

    @pytest.fixture
    def keep(self):
        return v1.placeholder_with_default(1.0, [])

    @pytest.fixture
    def op(self, keep):
        wrapped = [
            cells.DropoutWrapper(cells.LSTMCell(4), output_keep_prob=keep, seed=1) for _ in range(2)
        ]
        return dynamic(cells.MultiRNNCell(wrapped), 4, parallel_iterations=1)

    def test_compared_where_all_is_kept(self, session, op):
        randomize(session)
        traces = lg.trace(op.cell, **op.arguments(X))
        assert all(trace.difference < 1e-6 for trace in traces)
        assert traces[0].layer.options["dropout"] == "off in traces"

    def test_not_compared_where_it_is_on(self, session, op, keep):
        randomize(session)
        arguments = op.arguments(X)
        arguments["feed_dict"] |= {keep: 0.5}
        with pytest.warns(UserWarning, match="not compared .* computed with dropout"):
            traces = lg.trace(op.cell, **arguments)
        assert [trace.difference for trace in traces] == [None, None]
        same(hidden(traces), hidden(lg.trace(op.cell, X)))

    def test_a_constant_probability(self, session):
        op = dynamic(cells.DropoutWrapper(cells.GRUCell(3), 0.5, 0.5), 4)
        randomize(session)
        with pytest.warns(UserWarning, match="not compared"):
            (trace,) = lg.trace(op.cell, **op.arguments(X))
        same(hidden([trace]), hidden(lg.trace(op.cell, X)))

    @pytest.mark.parametrize("graph", ["v1", "v2"], indirect=True)
    def test_random_state_of_the_session_stays(self, graph, op, keep):
        dropped = op.feed(X) | {keep: 0.5}
        drawn = []
        for traced in (False, True):
            with v1.Session(
                config=v1.ConfigProto(
                    inter_op_parallelism_threads=1, intra_op_parallelism_threads=1
                )
            ) as session:
                randomize(session)
                first = session.run(op.outputs, dropped)
                if traced:
                    assert lg.trace(op.cell, **op.arguments(X))[0].difference < 1e-6
                drawn.append((first, session.run(op.outputs, dropped)))
        same(drawn[0], drawn[1])
        assert (drawn[0][0] != drawn[0][1]).any()
