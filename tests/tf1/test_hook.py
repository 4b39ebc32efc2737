"""GateHook in a MonitoredTrainingSession, and a writer in a loop of the user's own."""

import warnings

import numpy as np
import pytest
import tensorflow as tf

import lstm_gates_plugin as lg
from helpers.tf1 import cells, randomize

v1 = tf.compat.v1
ONE_THREAD = v1.ConfigProto(inter_op_parallelism_threads=1, intra_op_parallelism_threads=1)
LAYERS = [f"rnn/multi_rnn_cell/cell_{level}/lstm_cell" for level in (0, 1)]


class Model:
    """Tokens, an embedding, two LSTMCells with dropout, and one update of them."""

    def __init__(self, global_step: bool = True) -> None:
        self.tokens = v1.placeholder(tf.int32, [None, None])
        self.keep = v1.placeholder_with_default(1.0, [])
        table = v1.get_variable("table", [10, 3], initializer=v1.random_normal_initializer(seed=1))
        self.embedded = tf.nn.embedding_lookup(table, self.tokens)
        initializer = v1.random_normal_initializer(seed=2)
        self.cell = cells.MultiRNNCell(
            [
                cells.DropoutWrapper(
                    cells.LSTMCell(4, initializer=initializer), output_keep_prob=self.keep, seed=3
                )
                for _ in range(2)
            ]
        )
        self.outputs, self.state = v1.nn.dynamic_rnn(
            self.cell, self.embedded, dtype=tf.float32, parallel_iterations=1
        )
        self.loss = tf.reduce_mean(self.outputs[:, -1] ** 2)
        step = v1.train.get_or_create_global_step() if global_step else None
        self.train = v1.train.AdamOptimizer(0.01).minimize(self.loss, global_step=step)

    def probe(self, **arguments):
        tokens = [[1, 2, 3], [4, 5, 6]]
        given = {"feed_dict": {self.tokens: tokens}, **arguments}
        return lg.Probe(inputs=self.embedded, **given)


def train(model, hooks, updates=10, session=v1.train.MonitoredTrainingSession):
    """The losses, and the last values of all variables."""
    random = np.random.default_rng(0)
    losses = []
    with session(hooks=hooks, config=ONE_THREAD) as opened:
        for _ in range(updates):
            feed = {model.tokens: random.integers(0, 10, (4, 5)), model.keep: 0.5}
            losses.append(opened.run([model.loss, model.train], feed)[0])
        return losses, opened.run(v1.trainable_variables())


def test_records_before_the_first_update_on_schedule_and_at_the_end(tmp_path, capsys):
    model = Model()
    hook = lg.GateHook(
        tmp_path, model.cell, probe=model.probe(outputs=model.outputs), every=4, loss=model.loss
    )
    losses, values = train(model, [hook])
    printed = capsys.readouterr().out
    assert "watching weights, activations and gradients of multi_rnn_cell" in printed
    run = lg.read(tmp_path)["."]
    assert list(run) == LAYERS
    for layer in LAYERS:
        for kind, row in (("weights", "kernel/forget"), ("activations", "activation/forget")):
            series = run[layer].series(row, "mean")
            assert series.steps.tolist() == [0, 4, 8, 10], kind
        loss = run[layer].statistics("weights").header
        assert loss["layer"]["options"]["framework"] == "tf1"
    names = [variable.op.name for variable in v1.trainable_variables()]
    kernel = values[names.index(f"{LAYERS[0]}/kernel")]
    logged = run[LAYERS[0]].series("kernel/candidate", "mean").values[-1]
    assert logged == pytest.approx(kernel[:3, 4:8].mean(), rel=1e-6)
    assert "track/input" in run[LAYERS[0]].snapshot(kind="activations").arrays
    recorded = run[LAYERS[0]].statistics("weights").record_column("loss")
    np.testing.assert_allclose(recorded, [np.nan, losses[3], losses[7], losses[7]], rtol=1e-6)


def test_training_is_the_same_with_and_without(tmp_path):
    trained = []
    for watched in (False, True):
        with tf.Graph().as_default() as graph:
            v1.set_random_seed(0)
            model = Model()
            hooks = []
            if watched:
                probe = model.probe(outputs=model.outputs, state=model.state)
                hooks = [lg.GateHook(tmp_path, model.cell, probe, every=1, loss=model.loss)]
            operations = len(graph.get_operations())
            trained.append(train(model, hooks))
            added = [o.name for o in graph.get_operations()[operations:]]
            assert not [name for name in added if "lstm" in name.lower()]
    np.testing.assert_array_equal(trained[0][0], trained[1][0])
    for one, other in zip(trained[0][1], trained[1][1], strict=True):
        np.testing.assert_array_equal(one, other)
    difference = (
        lg.read(tmp_path)["."][LAYERS[0]].statistics("activations").record_column("difference")
    )
    assert (difference < 1e-6).all()


def test_nothing_is_added_to_a_finalized_graph(tmp_path, graph):
    model = Model()
    hook = lg.GateHook(tmp_path, model.cell, model.probe(state=model.state), every=1)

    class Counting(v1.train.SessionRunHook):
        """Counts after GateHook has begun, when the graph is finalized."""

        def after_create_session(self, session, coord):
            self.operations = len(graph.get_operations())
            assert graph.finalized

    counting = Counting()
    train(model, [counting, hook])
    assert len(graph.get_operations()) == counting.operations


def test_goes_on_from_a_checkpoint(tmp_path):
    def resumable(**arguments):
        return v1.train.MonitoredTrainingSession(
            checkpoint_dir=str(tmp_path / "checkpoint"), log_step_count_steps=None, **arguments
        )

    for _ in range(2):
        with tf.Graph().as_default():
            model = Model()
            train(model, [lg.GateHook(tmp_path, model.cell, every=5)], 6, resumable)
    steps = lg.read(tmp_path)["."][LAYERS[0]].series("kernel/forget", "mean").steps
    assert steps.tolist() == [0, 5, 6, 11, 12]


def test_both_directions_and_a_name(tmp_path):
    x = tf.random.stateless_normal([2, 3, 4], (0, 1))
    forward, backward = cells.GRUCell(3), cells.GRUCell(3)
    outputs, _ = v1.nn.bidirectional_dynamic_rnn(forward, backward, x, dtype=tf.float32)
    v1.train.get_or_create_global_step()
    hook = lg.GateHook(
        tmp_path,
        forward,
        lg.Probe(inputs=x, outputs=outputs),
        backward_cell=backward,
        name="encoder",
    )
    with v1.train.MonitoredTrainingSession(hooks=[hook]) as session:
        session.run(outputs)
    run = lg.read(tmp_path)["."]
    assert list(run) == [
        f"encoder/bidirectional_rnn/{direction}/gru_cell" for direction in ("bw", "fw")
    ]
    backward_layer = run["encoder/bidirectional_rnn/bw/gru_cell"]
    assert backward_layer.statistics("activations").header["layer"]["direction"] == "backward"


def unharmed(model, hook, message):
    """Train with a hook that has something to complain of; it must do so once."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        losses, _ = train(model, [hook])
    assert len(losses) == 10
    ours = [str(w.message) for w in caught if "LSTM Gates" in str(w.message)]
    assert len(ours) == 1, ours
    assert message in ours[0]


def test_a_cell_that_was_never_built(tmp_path):
    model = Model()
    unharmed(model, lg.GateHook(tmp_path, cells.LSTMCell(3), every=1), "is not built yet")


def test_a_cell_of_another_graph(tmp_path):
    with tf.Graph().as_default():
        stranger = Model().cell
    unharmed(Model(), lg.GateHook(tmp_path, stranger, every=1), "another graph than the session")


def test_a_probe_of_the_wrong_rank(tmp_path):
    model = Model()
    hook = lg.GateHook(tmp_path, model.cell, probe=np.ones((3, 3)), every=1)
    unharmed(model, hook, "must have the shape [batch, time, size]")
    steps = lg.read(tmp_path)["."][LAYERS[0]].series("kernel/forget", "mean").steps
    assert steps.tolist() == list(range(11))  # the weights are logged all the same


def test_a_probe_with_an_unknown_argument(tmp_path):
    model = Model()
    hook = lg.GateHook(tmp_path, model.cell, probe=model.probe(mask=1), every=1)
    unharmed(model, hook, "unexpected keyword argument 'mask'")


def test_no_global_step(tmp_path):
    def without_checks(hooks, config):
        creator = v1.train.ChiefSessionCreator(config=config)
        return v1.train.MonitoredSession(session_creator=creator, hooks=hooks)

    model = Model(global_step=False)
    with pytest.warns(UserWarning, match="has no global step"):
        losses, _ = train(model, [lg.GateHook(tmp_path, model.cell)], session=without_checks)
    assert len(losses) == 10


def test_a_directory_that_cannot_be_written(tmp_path):
    (tmp_path / "file").write_text("")
    model = Model()
    unharmed(model, lg.GateHook(tmp_path / "file", model.cell), "cannot be written")


def test_a_loss_that_a_run_does_not_compute(tmp_path):
    """Asking for it would need what this run is not fed with."""
    model = Model()
    other = model.loss * v1.placeholder(tf.float32, [])
    train(model, [lg.GateHook(tmp_path, model.cell, loss=other, every=1)])
    recorded = lg.read(tmp_path)["."][LAYERS[0]].statistics("weights").record_column("loss")
    assert np.isnan(recorded).all()


def test_a_wrong_schedule(tmp_path):
    with pytest.raises(ValueError, match="every=0 was given"):
        lg.GateHook(tmp_path, Model().cell, every=0)


def test_a_writer_in_a_loop(session, tmp_path):
    model = Model()
    randomize(session)
    with lg.GateWriter(tmp_path, every=2) as writer:
        for step in range(4):
            writer.log(model.cell, step=step, session=session, probe=model.probe())
            session.run(model.train, {model.tokens: [[1, 2]]})
        writer.log_weights(model.cell, step=4, session=session)
    run = lg.read(tmp_path)["."]
    assert run[LAYERS[1]].series("kernel/forget", "mean").steps.tolist() == [0, 2, 4]
    assert run[LAYERS[1]].series("activation/forget", "mean").steps.tolist() == [0, 2]


def test_log_weights_says_what_is_missing(tmp_path):
    model = Model()
    with lg.GateWriter(tmp_path) as writer, pytest.raises(ValueError, match="give session="):
        writer.log_weights(model.cell, step=0)


def test_the_input_of_a_time_major_probe_is_shown_batch_first(session, tmp_path):
    x = np.random.default_rng(0).normal(size=(3, 2, 4)).astype("float32")
    cell = cells.GRUCell(3)
    v1.nn.dynamic_rnn(cell, tf.constant(x), dtype=tf.float32, time_major=True)
    randomize(session)
    with lg.GateWriter(tmp_path) as writer:
        writer.log(cell, step=0, session=session, probe=lg.Probe(x, time_major=True))
    shown = lg.read(tmp_path)["."]["rnn/gru_cell"].snapshot().arrays["track/input"]
    np.testing.assert_allclose(shown, x.swapaxes(0, 1), rtol=1e-3)


@pytest.mark.parametrize("where", ["hook", "probe"])
def test_gradients_of_the_loss(tmp_path, where):
    model = Model()
    probe = model.probe(
        outputs=model.outputs,
        state=model.state,
        **({"loss": model.loss} if where == "probe" else {}),
    )
    hook = lg.GateHook(
        tmp_path, model.cell, probe, every=5, loss=model.loss if where == "hook" else None
    )
    train(model, [hook])
    run = lg.read(tmp_path)["."]
    for layer in LAYERS:
        series = run[layer].series("kernel/forget", "norm", kind="gradients")
        assert series.steps.tolist() == [0, 5, 10]
        assert (series.values > 0).all()


def test_a_loss_that_the_probe_does_not_feed(tmp_path):
    """The gates are logged without gradients, and one warning says why."""
    model = Model()
    scale = v1.placeholder(tf.float32, [])
    probe = model.probe(outputs=model.outputs, state=model.state)
    hook = lg.GateHook(tmp_path, model.cell, probe, every=5, loss=model.loss * scale)
    with pytest.warns(UserWarning, match="must feed a value") as told:
        train(model, [hook])
    assert len([each for each in told if "must feed a value" in str(each.message)]) == 1
    run = lg.read(tmp_path)["."]
    assert run[LAYERS[0]].series("activation/forget", "mean").steps.tolist() == [0, 5, 10]
