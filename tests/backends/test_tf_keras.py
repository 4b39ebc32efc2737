"""Keras 2: what only tf_keras has, and its own definitions of what both have."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

import lstm_gates_plugin as lg
from helpers.any_keras import keras, layers, sequential
from helpers.golden import G1, g1_weights, sequence
from helpers.required import require_framework
from lstm_gates_plugin.cells.activations import ACTIVATIONS

v1 = tf.compat.v1.keras.layers
RNG = np.random.default_rng(0)
X = RNG.normal(size=(3, 5, 4)).astype("float32")


def built(layer: Any, x: np.ndarray = X) -> Any:
    """The layer with random weights, biases too."""
    layer(x)
    layer.set_weights([0.4 * RNG.normal(size=weight.shape) for weight in layer.get_weights()])
    return layer


def output(trace: lg.GateTrace) -> np.ndarray:
    """The hidden state as a layer returns it, zero where it was masked."""
    return np.nan_to_num(trace.hidden_state)


# Layers that run on a GPU alone.


def on_cudnn(kind: str, **arguments: Any) -> tuple[Any, Any]:
    """A layer that runs on cuDNN, and one of the same weights that does not."""
    if kind == "lstm":
        layer, other = v1.CuDNNLSTM(2, **arguments), layers.LSTM(2, **arguments)
    else:
        layer, other = v1.CuDNNGRU(2, **arguments), layers.GRU(2, reset_after=True, **arguments)
    for each in (layer, other):
        each.build((3 if arguments.get("stateful") else None, 5, 4))
    kernel, recurrent, bias = (RNG.normal(size=weight.shape) for weight in layer.get_weights())
    layer.set_weights([kernel, recurrent, bias])
    rows = bias.reshape(2, -1)
    other.set_weights([kernel, recurrent, rows.sum(axis=0) if kind == "lstm" else rows])
    return layer, other


@pytest.mark.parametrize("kind", ["lstm", "gru"])
@pytest.mark.parametrize("backwards", [False, True])
def test_gates_of_layers_on_cudnn_are_computed_without_a_gpu(kind: str, backwards: bool) -> None:
    layer, other = on_cudnn(kind, go_backwards=backwards, return_sequences=True)
    (trace,) = lg.trace(layer, X)
    (expected,) = lg.trace(other, X)
    assert trace.layer.cell == kind
    assert trace.difference is None  # there is nothing to compare with
    for name, part in expected.parts().items():
        np.testing.assert_allclose(trace.parts()[name], part, atol=1e-5)
    for name, weights in expected.layer.parts().items():
        np.testing.assert_allclose(trace.layer.parts()[name], weights, atol=1e-6)


@pytest.mark.parametrize("kind", ["lstm", "gru"])
def test_a_model_on_cudnn_runs_while_it_is_traced(kind: str) -> None:
    first, other = on_cudnn(kind, return_sequences=True)
    last = layers.LSTM(3)
    model, same = (sequential((5, 4), part, last) for part in (first, other))
    traces = lg.trace(model, X)
    assert [trace.layer.id for trace in traces][1] == "lstm_0"
    np.testing.assert_allclose(traces[1].hidden_state[:, -1], same(X), atol=1e-5)
    with pytest.raises(tf.errors.OpError):
        model(X)  # as before


def test_a_stateful_layer_on_cudnn_goes_on() -> None:
    layer, other = on_cudnn("lstm", stateful=True, return_sequences=True)
    with lg.record(layer) as recording:
        layer(X[:, :2])
        layer(X[:, 2:])
    (trace,) = recording.traces()
    np.testing.assert_allclose(trace.hidden_state, other(X), atol=1e-5)


# The older layers, whose gates have another activation.


@pytest.mark.parametrize("kind", ["LSTM", "GRU"])
def test_layers_of_v1_have_the_hard_sigmoid_of_keras_2(kind: str) -> None:
    layer = built(getattr(v1, kind)(3, return_sequences=True))
    (trace,) = lg.trace(layer, X)
    assert trace.layer.options["recurrent_activation"] == "hard_sigmoid_keras2"
    assert trace.layer.options["framework"] == "tf_keras"
    assert trace.difference < 1e-5
    np.testing.assert_allclose(trace.hidden_state, layer(X), atol=1e-5)


def test_activations_of_the_same_name_are_the_same_functions() -> None:
    x = np.linspace(-4, 4, 24, dtype="float32").reshape(4, 6)
    names = [name for name in dir(keras.activations) if name in ACTIVATIONS]
    assert {"elu", "gelu", "relu", "selu", "softmax", "softplus", "tanh"} <= set(names)
    for name in names:
        ours = ACTIVATIONS["hard_sigmoid_keras2" if name == "hard_sigmoid" else name]
        np.testing.assert_allclose(
            ours(x), getattr(keras.activations, name)(tf.constant(x)), atol=1e-5
        )


def test_an_activation_that_only_keras_2_has() -> None:
    layer = built(layers.GRU(3, activation="swish", return_sequences=True))
    (trace,) = lg.trace(layer, X)
    assert trace.layer.options["activation"] == "swish"
    assert trace.difference < 1e-5


# Wrappers of cells.


def test_dropout_wrappers_do_not_drop_while_gates_are_recorded() -> None:
    cell = layers.LSTMCell(4)
    dropout = tf.nn.RNNCellDropoutWrapper(cell, 0.5, 0.5, 0.5)
    stack = layers.RNN([dropout, layers.GRUCell(2)], return_sequences=True)
    built(stack)
    without = layers.RNN([cell, stack.cell.cells[1]], return_sequences=True)
    assert np.abs(stack(X) - without(X)).max() > 1e-3
    lower, upper = lg.trace(stack, X)
    assert (lower.layer.id, upper.layer.id) == ("rnn_0/cell_0", "rnn_0/cell_1")
    np.testing.assert_allclose(upper.hidden_state, without(X), atol=1e-5)
    assert max(lower.difference, upper.difference) < 1e-5
    assert np.abs(stack(X) - without(X)).max() > 1e-3  # it drops again


def test_a_residual_wrapper_with_a_function_of_its_own() -> None:
    wrapped = tf.nn.RNNCellResidualWrapper(
        layers.LSTMCell(4), residual_fn=lambda x, h: tf.tanh(x) * h
    )
    stack = built(layers.RNN([wrapped, layers.SimpleRNNCell(2)], return_sequences=True))
    lower, upper = lg.trace(stack, X)
    np.testing.assert_allclose(upper.hidden_state, stack(X), atol=1e-5)
    assert max(lower.difference, upper.difference) < 1e-5


def test_a_wrapper_around_a_stack() -> None:
    stack = layers.StackedRNNCells([layers.LSTMCell(3), layers.LSTMCell(4)])
    layer = built(
        layers.RNN(
            tf.nn.RNNCellResidualWrapper(tf.nn.RNNCellDeviceWrapper(stack, "/cpu:0")),
            return_sequences=True,
        )
    )
    lower, upper = lg.trace(layer, X)
    assert (lower.layer.id, upper.layer.id) == ("rnn_0/cell_0", "rnn_0/cell_1")
    np.testing.assert_allclose(X + upper.hidden_state, layer(X), atol=1e-5)
    assert upper.difference < 1e-5


# Layouts of tensors.


@pytest.mark.parametrize("backwards", [False, True])
def test_time_major(backwards: bool) -> None:
    layer = layers.LSTM(3, time_major=True, return_sequences=True, go_backwards=backwards)
    x = X.swapaxes(0, 1)
    built(layer, x)
    (trace,) = lg.trace(layer, x)
    expected = np.array(layer(x)).swapaxes(0, 1)
    np.testing.assert_allclose(
        trace.hidden_state, expected[:, ::-1] if backwards else expected, atol=1e-5
    )
    assert trace.difference < 1e-5


@pytest.mark.parametrize("kind", [layers.LSTM, layers.GRU, layers.SimpleRNN])
def test_f7_ragged_rows_have_their_lengths(kind: Any) -> None:
    layer = built(kind(3, return_sequences=True))
    ragged = tf.RaggedTensor.from_tensor(X, lengths=[2, 5, 1])
    expected = layer(ragged)
    (trace,) = lg.trace(layer, ragged)
    assert trace.mask.sum(axis=1).tolist() == [2, 5, 1]
    assert trace.difference < 1e-5
    np.testing.assert_allclose(output(trace), expected.to_tensor(), atol=1e-5)


def test_states_that_another_layer_hands_on() -> None:
    source, target = keras.Input((5, 4)), keras.Input((5, 4))
    _, *state = layers.LSTM(3, return_state=True, name="encoder")(source)
    decoded = layers.LSTM(3, return_sequences=True, name="decoder")(target, initial_state=state)
    model = keras.Model([source, target], decoded)
    encoder, decoder = lg.trace(model, [X, -X])
    np.testing.assert_allclose(decoder.initial_cell_state, encoder.final_cell_state, atol=1e-6)
    np.testing.assert_allclose(decoder.hidden_state, model([X, -X]), atol=1e-5)


def test_both_kerases_in_one_process(tmp_path: Path) -> None:
    modern = require_framework("keras")
    new = modern.layers.LSTM(1, return_sequences=True)
    new.build((None, 3, 1))
    old = layers.LSTM(1, return_sequences=True)
    old.build((None, 3, 1))
    for layer, framework in ((new, "keras"), (old, "tf_keras")):
        layer.set_weights(g1_weights())
        (trace,) = lg.trace(layer, sequence(1, 2, 3))
        assert trace.layer.options["framework"] == framework
        np.testing.assert_allclose(trace.hidden_state.ravel(), G1["hidden_state"], atol=1e-5)
    callback = lg.KerasCallback(tmp_path, X[:2], "epoch")
    for module in (modern, keras):
        model = module.Sequential([module.layers.LSTM(2, name=module.__name__)])
        model.compile("sgd", "mse")
        model.fit(X, X[:, 0, :2], verbose=0, callbacks=[callback])
    assert list(lg.read(tmp_path)["."]) == ["keras", "tf_keras"]
