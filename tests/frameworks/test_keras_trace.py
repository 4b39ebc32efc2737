"""Tracing Keras models: exact to the framework's own output."""

import keras
import numpy as np
import pytest
import tensorflow as tf

import lstm_gates_plugin as lg
from helpers.keras_models import batch, small_model
from lstm_gates_plugin import capture
from lstm_gates_plugin.cells import forward

layers = keras.layers
RNG = np.random.default_rng(0)


CELLS = {
    "lstm": lambda units, arguments: layers.LSTM(units, **arguments),
    "gru": lambda units, arguments: layers.GRU(units, **arguments),
    "gru before": lambda units, arguments: layers.GRU(units, reset_after=False, **arguments),
    "simple rnn": lambda units, arguments: layers.SimpleRNN(units, **arguments),
    "rnn of a cell": lambda units, arguments: layers.RNN(layers.LSTMCell(units), **arguments),
}


def configuration(seed):
    """A layer with random weights, and random arguments of its call."""
    rng = np.random.default_rng(seed)
    kind = list(CELLS)[seed % len(CELLS)]
    units, time, rows, features = (int(rng.integers(1, high)) for high in (9, 12, 5, 6))
    arguments = {
        "return_sequences": True,
        "return_state": True,
        "go_backwards": bool(rng.integers(2)),
    }
    if kind in ("lstm", "gru"):
        arguments["recurrent_activation"] = str(rng.choice(["sigmoid", "hard_sigmoid"]))
        arguments["use_bias"] = bool(rng.integers(2))
    layer = CELLS[kind](units, arguments)
    layer.build((None, time, features))
    layer.set_weights([rng.normal(size=weight.shape) for weight in layer.get_weights()])
    x = rng.normal(size=(rows, time, features)).astype("float32")
    call = {}
    if rng.integers(2):
        call["mask"] = rng.random((rows, time)) < 0.7
    if rng.integers(2):
        states = 2 if "lstm" in kind or "cell" in kind else 1
        call["initial_state"] = [
            rng.normal(size=(rows, units)).astype("float32") for _ in range(states)
        ]
    return layer, x, call


def largest_difference(trace, reference):
    """From Keras's own hidden state at every timestep that was run, and its final states."""
    output, *states = (np.asarray(part) for part in reference)
    if trace.layer.direction == "backward":
        output = output[:, ::-1]
    differences = [np.abs(trace.hidden_state - output)[trace.mask]]
    finals = [trace.final_hidden_state, trace.final_cell_state]
    differences += [np.abs(ours - own) for ours, own in zip(finals, states, strict=False)]
    return max(difference.max(initial=0) for difference in differences)


@pytest.mark.parametrize("seed", range(30))
def test_recomputed_states_agree_with_keras(seed):
    layer, x, call = configuration(seed)
    reference = layer(x, **call)
    (trace,) = lg.trace(layer, x, **call)
    assert largest_difference(trace, reference) < 1e-5
    assert trace.difference < 1e-5
    read = trace.layer
    if len(read.gates) > 1:
        first, second = read.gates[:2]
        for weights in (read.kernel, read.recurrent_kernel):
            weights[first], weights[second] = weights[second], weights[first]
        state = call.get("initial_state")
        swapped = forward(read, x, call.get("mask"), state and tuple(state))
        assert largest_difference(swapped, reference) > 1e-5


@pytest.mark.parametrize("name", ["relu", "elu", "softmax", "sparsemax", "gelu", "log_sigmoid"])
def test_activations_of_keras(name):
    layer = layers.LSTM(4, activation=name, return_sequences=True)
    layer.build((None, 5, 3))
    (trace,) = lg.trace(layer, batch())
    assert trace.layer.options["activation"] == name
    assert trace.difference < 1e-5


def test_a_users_own_activation():
    def cube(x):
        return x * x * x

    layer = layers.GRU(4, activation=cube, recurrent_activation=layers.LeakyReLU(0.3))
    layer.build((None, 5, 3))
    (trace,) = lg.trace(layer, batch())
    assert trace.difference < 1e-5
    assert trace.layer.options["activation"] == "cube"
    assert trace.layer.options["recurrent_activation"] == "LeakyReLU"
    np.testing.assert_allclose(
        trace.gates["candidate"], trace.preactivations["candidate"] ** 3, rtol=1e-5, atol=1e-6
    )


@pytest.mark.parametrize("policy", ["mixed_float16", "mixed_bfloat16", "float64"])
def test_other_precisions(policy, recwarn):
    layer = layers.LSTM(16, return_sequences=True, dtype=policy)
    layer.build((None, 50, 3))
    (trace,) = lg.trace(layer, batch(4, 50))
    limit = {"mixed_float16": 2e-3, "mixed_bfloat16": 2e-2, "float64": 1e-12}[policy]
    assert trace.difference < limit
    assert trace.hidden_state.dtype == ("float64" if policy == "float64" else "float32")
    assert not recwarn.list


def test_bidirectional_with_a_mask_and_every_merge():
    for merge in ("sum", "concat", None):
        model = keras.Sequential(
            [
                keras.Input((5, 3)),
                layers.Masking(0.0),
                layers.Bidirectional(layers.GRU(4, return_sequences=True), merge_mode=merge),
            ]
        )
        x = batch()
        x[0, 3:] = 0
        forward_trace, backward_trace = lg.trace(model, x)
        assert forward_trace.mask.tolist() == backward_trace.mask.tolist()
        assert forward_trace.mask[0].tolist() == [True] * 3 + [False] * 2
        assert max(forward_trace.difference, backward_trace.difference) < 1e-5


def test_a_stateful_bidirectional_layer_reads_each_stretch_from_its_own_end():
    layer = layers.Bidirectional(layers.LSTM(4, return_sequences=True, stateful=True))
    layer.build((2, 5, 3))
    with lg.record(layer) as recording:
        own = [np.asarray(layer(batch())) for _ in range(2)]
    whole, *stretches = sorted(recording.traces(), key=lambda trace: trace.layer.direction)[::-1]
    assert [trace.call for trace in stretches] == [1, 0]
    np.testing.assert_allclose(whole.hidden_state, np.concatenate(own, axis=1)[..., :4], atol=1e-5)
    for trace in stretches:
        np.testing.assert_allclose(trace.hidden_state, own[trace.call][..., 4:], atol=1e-5)


def test_time_distributed_calls_are_one_call_on_more_rows():
    inner = layers.LSTM(4, return_sequences=True)
    model = keras.Sequential([keras.Input((2, 5, 3)), layers.TimeDistributed(inner)])
    x = RNG.normal(size=(3, 2, 5, 3)).astype("float32")
    (trace,) = lg.trace(model, x)
    assert trace.hidden_state.shape == (6, 5, 4)
    np.testing.assert_allclose(
        trace.hidden_state.reshape(3, 2, 5, 4), np.asarray(model(x)), atol=1e-5
    )


def test_calls_with_a_handed_on_state_are_one_sequence():
    class Decoder(keras.Model):
        def __init__(self):
            super().__init__()
            self.rnn = layers.LSTM(4, return_state=True)

        def call(self, x):
            state = None
            for t in range(x.shape[1]):
                output, *state = self.rnn(x[:, t : t + 1], initial_state=state)
            self.rnn(x)  # from zero: a call of its own
            return output

    model, x = Decoder(), batch()
    output = np.asarray(model(x))
    stepped, whole = lg.trace(model, x)
    assert [trace.call for trace in (stepped, whole)] == [0, 1]
    np.testing.assert_allclose(stepped.hidden_state, whole.hidden_state, atol=1e-6)
    np.testing.assert_allclose(stepped.hidden_state[:, -1], output, atol=1e-5)


@pytest.mark.parametrize("sequences", [False, True])
def test_a_gru_hands_on_its_state_as_its_output(sequences):
    layer = layers.GRU(4, return_sequences=sequences)
    layer.build((None, 5, 3))
    x = batch()
    with lg.record(layer) as recording:
        output = layer(x[:, :2])
        layer(x[:, 2:], initial_state=output[:, -1] if sequences else output)
    (trace,) = recording.traces()
    (whole,) = lg.trace(layer, x)
    np.testing.assert_allclose(trace.hidden_state, whole.hidden_state, atol=1e-6)


def test_encoder_and_decoder_with_dict_inputs():
    source, target = keras.Input((4, 3), name="source"), keras.Input((6, 2), name="target")
    _, *state = layers.LSTM(5, return_state=True, name="encoder")(source)
    decoded = layers.LSTM(5, return_sequences=True, name="decoder")(target, initial_state=state)
    model = keras.Model({"source": source, "target": target}, decoded)
    x = {"source": batch(2, 4, 3), "target": batch(2, 6, 2)}
    encoder, decoder = lg.trace(model, x)
    assert (encoder.layer.id, decoder.layer.id) == ("encoder", "decoder")
    np.testing.assert_allclose(decoder.initial_cell_state, encoder.final_cell_state, atol=1e-5)
    assert decoder.difference < 1e-5


def test_a_models_own_arguments_are_handed_on():
    class Net(keras.Model):
        def __init__(self):
            super().__init__()
            self.rnn = layers.LSTM(4)

        def call(self, x, lengths=None, scale=1.0):
            mask = None if lengths is None else tf.sequence_mask(lengths, x.shape[1])
            return self.rnn(x * scale, mask=mask)

    model, x = Net(), batch()
    model(x)
    (trace,) = lg.trace(model, x, lengths=np.array([2, 5]), scale=2.0)
    assert trace.mask.sum(axis=1).tolist() == [2, 5]
    (plain,) = lg.trace(model, 2 * x)
    np.testing.assert_allclose(trace.hidden_state[1], plain.hidden_state[1], atol=1e-6)


def test_observe_cuts_rows_and_returns_outputs():
    model, x = small_model(), batch(6)
    traces, outputs = capture.observe(model, (x,), {}, 2)
    assert [trace.hidden_state.shape[0] for trace in traces] == [2, 2]
    np.testing.assert_array_equal(outputs, model(x))
    whole = lg.trace(model, x)
    np.testing.assert_allclose(traces[1].hidden_state, whole[1].hidden_state[:2], atol=1e-6)
