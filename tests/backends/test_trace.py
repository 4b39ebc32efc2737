"""Tracing on every Keras: what a model may be made of, and that nothing is changed by it."""

import random
from typing import Any

import numpy as np
import pytest

import lstm_gates_plugin as lg
from helpers.any_keras import (
    IS_TF_KERAS,
    array,
    arrays,
    functional,
    keras,
    layers,
    sequential,
    zeros,
)
from lstm_gates_plugin import capture

RNG = np.random.default_rng(0)
X = RNG.normal(size=(2, 5, 3)).astype("float32")
TOLERANCE = {"rtol": 0, "atol": 1e-5}


class Leaky(layers.Layer):  # type: ignore[misc]
    """A user's own cell: four weights, two states, and an output that is neither."""

    def __init__(self, units: int) -> None:
        super().__init__()
        self.units, self.state_size = units, [units, units]

    def build(self, shape: Any) -> None:
        for name, rows in (("kernel", shape[-1]), ("memory", self.units), ("mixing", self.units)):
            setattr(self, name, self.add_weight(shape=(rows, self.units), name=name))
        self.shift = self.add_weight(shape=(self.units,), name="shift", initializer="ones")
        self.built = True

    def call(self, inputs: Any, states: Any) -> Any:
        fast, slow = states
        fast = 0.5 * fast + inputs @ self.kernel + slow @ self.memory
        slow = 0.9 * slow + 0.1 * fast + self.shift
        return fast @ self.mixing, [fast, slow]

    def run(self, x: np.ndarray, mask: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The first state at every timestep, and the last of the second, in NumPy."""
        kernel, memory, _, shift = (array(weight) for weight in self.weights)
        fast = slow = np.zeros((len(x), self.units), "float32")
        visited = []
        for t in range(x.shape[1]):
            ran = mask[:, t, None]
            new = 0.5 * fast + x[:, t] @ kernel + slow @ memory
            slow = np.where(ran, 0.9 * slow + 0.1 * new + shift, slow)
            fast = np.where(ran, new, fast)
            visited.append(fast)
        return np.stack(visited, axis=1), slow


def test_a11_a_custom_cell_has_its_weights_and_its_states() -> None:
    cell = Leaky(4)
    model = functional((5, 3), layers.Masking(0.0), layers.RNN(cell, return_state=True))
    x = X.copy()
    x[0, 3:] = 0
    (layer,) = lg.recurrent_layers(model)
    assert (layer.cell, layer.gates) == ("unknown", ())
    names = ["kernel", "memory", "mixing", "shift"]
    assert list(layer.parts()) == [f"weights/{name}" for name in names]
    with pytest.warns(UserWarning, match=r"gates of layer 'rnn_0' cannot be shown.*Its states"):
        (trace,) = lg.trace(model, x)
    hidden, slow = cell.run(x, trace.mask)
    assert trace.mask.tolist() == [[True] * 3 + [False] * 2, [True] * 5]
    assert trace.gates == {}
    assert trace.cell_state is None  # nobody says that the second state is one
    np.testing.assert_allclose(trace.hidden_state[trace.mask], hidden[trace.mask], **TOLERANCE)
    _, *finals = arrays(model(x))
    np.testing.assert_allclose(trace.final_hidden_state, finals[0], **TOLERANCE)
    np.testing.assert_allclose(slow, finals[1], **TOLERANCE)
    assert trace.difference < 1e-5


def test_a_custom_cell_in_a_stack_feeds_the_next() -> None:
    layer = layers.RNN([Leaky(4), layers.LSTMCell(3)], return_sequences=True)
    model = sequential((5, 3), layer)
    with pytest.warns(UserWarning, match="gates of layer 'rnn_0/cell_0' cannot be shown"):
        lower, upper = lg.trace(model, X)
    assert (lower.layer.cell, upper.layer.cell) == ("unknown", "lstm")
    np.testing.assert_allclose(upper.hidden_state, array(model(X)), **TOLERANCE)
    assert max(lower.difference, upper.difference) < 1e-5


def test_a_subclass_of_a_known_cell_keeps_the_names_of_its_states() -> None:
    class Half(layers.LSTMCell):  # type: ignore[misc]
        def call(self, inputs: Any, states: Any, training: bool = False) -> Any:
            output, new = super().call(inputs, states, training=training)
            return 0.5 * output, new

    model = functional((5, 3), layers.RNN(Half(4), return_state=True, go_backwards=True))
    with pytest.warns(UserWarning, match="cannot be shown"):
        (trace,) = lg.trace(model, X)
    _, hidden, cell = arrays(model(X))
    np.testing.assert_allclose(trace.hidden_state[:, 0], hidden, **TOLERANCE)
    np.testing.assert_allclose(trace.cell_state[:, 0], cell, **TOLERANCE)


class Loop(keras.Model):  # type: ignore[misc]
    """Calls its cells itself, one timestep after the other."""

    def __init__(self) -> None:
        super().__init__()
        self.cells = {"lstm": layers.LSTMCell(4), "gru": layers.GRUCell(3)}
        self.head = layers.Dense(1)

    def call(self, x: Any) -> Any:
        states, state = [zeros((2, 4))] * 2, [zeros((2, 3))]
        for t in range(x.shape[1]):
            h, states = self.cells["lstm"](x[:, t], states)
            h, state = self.cells["gru"](h, state)
        return self.head(h)


def test_cells_that_the_model_calls_itself_are_one_sequence() -> None:
    model = Loop()
    model(X)
    lstm, gru = sorted(lg.trace(model, X), key=lambda trace: -trace.layer.units)
    assert (lstm.layer.id, gru.layer.id) == ("cells/lstm", "cells/gru")
    assert (lstm.call, gru.call) == (0, 0)
    rnn = layers.RNN(model.cells["lstm"], return_sequences=True, return_state=True)
    hidden, _, cell = arrays(rnn(X))
    np.testing.assert_allclose(lstm.hidden_state, hidden, **TOLERANCE)
    np.testing.assert_allclose(lstm.final_cell_state, cell, **TOLERANCE)
    rnn = layers.RNN(model.cells["gru"], return_sequences=True)
    np.testing.assert_allclose(gru.hidden_state, array(rnn(hidden)), **TOLERANCE)
    with lg.record(model) as recording:
        model(X)
        model(X)
    assert sorted((t.layer.id, t.call) for t in recording.traces()) == [
        ("cells/gru", 0),
        ("cells/gru", 1),
        ("cells/lstm", 0),
        ("cells/lstm", 1),
    ]


def test_a_cell_that_starts_from_a_learned_state() -> None:
    class Started(layers.LSTMCell):  # type: ignore[misc]
        def build(self, shape: Any) -> None:
            super().build(shape)
            self.start = self.add_weight(shape=(1, self.units), initializer="ones", name="start")

        def get_initial_state(self, *args: Any, **kwargs: Any) -> Any:
            start = self.start + zeros((2, self.units))
            return [start, 2 * start]

    model = sequential((5, 3), layers.RNN(Started(4), return_sequences=True), batch=2)
    (trace,) = lg.trace(model, X)
    assert trace.layer.cell == "lstm"
    np.testing.assert_array_equal(trace.initial_cell_state, 2)
    np.testing.assert_allclose(trace.hidden_state, array(model(X)), **TOLERANCE)


@pytest.mark.parametrize("merge", ["concat", "sum", "mul", "ave", None])
def test_bidirectional_layers_of_different_kinds(merge: str | None) -> None:
    layer = layers.Bidirectional(
        layers.LSTM(4, return_sequences=True),
        backward_layer=layers.GRU(4, return_sequences=True, go_backwards=True),
        merge_mode=merge,
    )
    model = functional((5, 3), layers.Masking(0.0), layer)
    x = X.copy()
    x[0, :2] = 0
    ahead, back = lg.trace(model, x)
    assert (ahead.layer.id, back.layer.id) == (
        "bidirectional_0/forward",
        "bidirectional_0/backward",
    )
    assert (ahead.layer.cell, back.layer.cell) == ("lstm", "gru")
    a, b = (np.nan_to_num(trace.hidden_state) for trace in (ahead, back))
    merged = {
        "concat": np.concatenate([a, b], axis=-1),
        "sum": a + b,
        "mul": a * b,
        "ave": (a + b) / 2,
        None: [a, b],
    }[merge]
    for ours, own in zip(np.asarray(merged), arrays(model(x)), strict=True):
        np.testing.assert_allclose(ours, own, **TOLERANCE)


def test_time_distributed_calls_are_one_call_on_more_rows() -> None:
    inner = layers.LSTM(4, return_sequences=True)
    model = sequential((2, 5, 3), layers.TimeDistributed(inner))
    x = RNG.normal(size=(3, 2, 5, 3)).astype("float32")
    (trace,) = lg.trace(model, x)
    assert trace.hidden_state.shape == (6, 5, 4)
    np.testing.assert_allclose(trace.hidden_state.reshape(3, 2, 5, 4), array(model(x)), **TOLERANCE)


@pytest.mark.parametrize("policy", ["mixed_float16", "mixed_bfloat16"])
def test_mixed_precision(policy: str, recwarn: Any) -> None:
    layer = layers.LSTM(8, return_sequences=True, dtype=policy)
    model = sequential((5, 3), layer)
    (trace,) = lg.trace(model, X)
    options = trace.layer.options
    assert (options["dtype"], options["compute_dtype"]) == ("float32", policy[6:])
    assert trace.difference < 2e-2
    assert not [warning for warning in recwarn if "recomputed" in str(warning.message)]


def test_several_inputs_by_name() -> None:
    source, target = keras.Input((4, 3), name="source"), keras.Input((6, 2), name="target")
    _, *state = layers.LSTM(5, return_state=True, name="encoder")(source)
    decoded = layers.LSTM(5, return_sequences=True, name="decoder")(target, initial_state=state)
    model = keras.Model({"source": source, "target": target}, decoded)
    x = {
        "source": RNG.normal(size=(2, 4, 3)).astype("float32"),
        "target": RNG.normal(size=(2, 6, 2)).astype("float32"),
    }
    traces, outputs = capture.observe(model, (x,), {}, 1)
    encoder, decoder = traces
    assert (encoder.layer.id, decoder.layer.id) == ("encoder", "decoder")
    np.testing.assert_allclose(decoder.initial_cell_state, encoder.final_cell_state, **TOLERANCE)
    np.testing.assert_allclose(decoder.hidden_state, outputs[:1], **TOLERANCE)


def test_words_through_an_embedding_with_its_mask() -> None:
    model = sequential((5,), layers.Embedding(7, 3, mask_zero=True), layers.GRU(4))
    words = np.array([[1, 2, 3, 0, 0], [6, 5, 4, 3, 2]])
    (trace,) = lg.trace(model, words)
    assert trace.mask.sum(axis=1).tolist() == [3, 5]
    np.testing.assert_allclose(trace.final_hidden_state, array(model(words)), **TOLERANCE)


def test_equal_paths_get_a_number(tmp_path: Any) -> None:
    class Pair(keras.Model):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.first = layers.LSTM(4, return_sequences=True, name="enc")
            self.second = layers.LSTM(2, return_sequences=True, name="enc")

        def call(self, x: Any) -> Any:
            return self.second(self.first(x))

    model = Pair()
    model(X)
    assert [layer.id for layer in lg.recurrent_layers(model)] == ["enc", "enc#2"]
    assert [trace.layer.id for trace in lg.trace(model, X)] == ["enc", "enc#2"]
    with lg.GateWriter(tmp_path) as writer:
        writer.log(model, step=0, probe=X)
    logged = {id: layer.snapshot() for id, layer in lg.read(tmp_path)["."].items()}
    units = {id: len(snapshot.header["units"]) for id, snapshot in logged.items()}
    assert units == {"enc": 4, "enc#2": 2}


def test_record_around_predict() -> None:
    model = sequential((5, 3), layers.LSTM(4, return_sequences=True), layers.GRU(3))
    model.predict(X, verbose=0)  # compiled before
    with lg.record(model) as recording:
        output = model.predict(X, verbose=0)
    lstm, gru = recording.traces()
    assert (lstm.layer.id, gru.layer.id) == ("lstm_0", "gru_0")
    np.testing.assert_allclose(gru.hidden_state[:, -1], output, **TOLERANCE)
    np.testing.assert_array_equal(model.predict(X, verbose=0).shape, output.shape)


def test_record_refuses_a_training_step() -> None:
    model = sequential((5, 3), layers.LSTM(4))
    model.compile("sgd", "mse")
    weights = model.get_weights()
    for train in (
        lambda: model.fit(X, np.zeros((2, 4)), verbose=0),
        lambda: model.train_on_batch(X, np.zeros((2, 4))),
    ):
        with pytest.raises(ValueError, match="to be trained while gates"), lg.record(model):
            train()
    with pytest.raises(ValueError, match="layer 'lstm_0' was called"), lg.record(model):
        model(X, training=True)
    for before, after in zip(weights, model.get_weights(), strict=True):
        np.testing.assert_array_equal(before, after)


# Leaving no mark.


def noisy() -> Any:
    """A model with statistics, states, dropout and seeds, all of which have been used."""
    model = sequential(
        (5, 3),
        layers.LSTM(4, stateful=True, return_sequences=True, dropout=0.2),
        layers.BatchNormalization(),
        layers.GRU(3, stateful=True, recurrent_dropout=0.2),
        layers.Dropout(0.5),
        layers.Dense(1),
        batch=2,
    )
    for _ in range(2):
        model(X, training=True)
    return model


def everything(model: Any) -> list[np.ndarray]:
    states = [
        state
        for layer in model.layers
        if getattr(layer, "stateful", False) and isinstance(layer, layers.RNN)
        for state in layer.states
    ]
    return [array(variable).copy() for variable in [*model.variables, *states]]


@pytest.mark.parametrize("way", ["trace", "observe", "writer"])
def test_everything_is_as_before(way: str, tmp_path: Any) -> None:
    keras.utils.set_random_seed(5)
    model = noisy()
    before, states = everything(model), (random.getstate(), np.random.get_state()[1].tolist())
    if way == "trace":
        lg.trace(model, X)
    elif way == "observe":
        capture.observe(model, (X,), {}, 1)
    else:
        with lg.GateWriter(tmp_path) as writer:
            writer.log(model, step=0, probe=X)
    assert (random.getstate(), np.random.get_state()[1].tolist()) == states
    for one, other in zip(before, everything(model), strict=True):
        np.testing.assert_array_equal(one, other)
    assert all("call" not in vars(layer) for layer in model.layers)


def test_random_numbers_go_on_as_without() -> None:
    def draws(traced: bool) -> list[np.ndarray]:
        keras.utils.set_random_seed(8)
        model = noisy()
        if traced:
            lg.trace(model, X)
        drawn = [array(model(X, training=True)), np.array(random.random()), np.random.rand(2)]
        return drawn if IS_TF_KERAS else [*drawn, array(keras.random.normal((3,)))]

    for one, other in zip(draws(False), draws(True), strict=True):
        np.testing.assert_array_equal(one, other)
