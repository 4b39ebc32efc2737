"""Tracing Keras models: exact to the framework's own output, and without leaving a mark."""

import gc
import random
import weakref

import keras
import numpy as np
import pytest
import tensorflow as tf

import lstm_gates_plugin as lg
from helpers.golden import g1_layer, sequence
from lstm_gates_plugin import capture
from lstm_gates_plugin.cells import forward
from lstm_gates_plugin.frameworks import kept
from lstm_gates_plugin.frameworks.keras import compiled as keras_compiled

layers = keras.layers
RNG = np.random.default_rng(0)


def batch(rows=2, time=5, features=3):
    return RNG.normal(size=(rows, time, features)).astype("float32")


def small_model():
    return keras.Sequential(
        [
            keras.Input((5, 3)),
            layers.LSTM(4, return_sequences=True),
            layers.BatchNormalization(),
            layers.Dropout(0.5),
            layers.GRU(2),
        ]
    )


# Thirty random configurations against Keras's own per-timestep output.

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


# Leaving no mark.


def random_numbers():
    return [
        random.random(),
        np.random.rand(),
        float(keras.random.normal(())),
        float(tf.random.normal(())),
    ]


class Noisy(keras.Model):
    """Draws from every kind of random state and writes to variables, in inference too."""

    def __init__(self, fails=False):
        super().__init__()
        self.rnn = layers.LSTM(4, stateful=True)
        self.norm = layers.BatchNormalization()
        self.seeds = keras.random.SeedGenerator(3)
        self.counter = self.add_weight(shape=(), initializer="zeros", trainable=False)
        self.plain = tf.Variable(0.0, trainable=False)
        self.fails = fails

    def call(self, x, training=False):
        self.counter.assign_add(1.0)
        self.plain.assign_add(1.0)
        x = x + keras.random.normal(keras.ops.shape(x), seed=self.seeds)
        y = self.norm(self.rnn(x), training=training)
        y = y + keras.random.normal(keras.ops.shape(y)) + tf.random.normal(tf.shape(y))
        if self.fails:
            raise RuntimeError("the user's own")
        return y + random.random() + np.random.rand()


@pytest.mark.parametrize("eager", [False, True])
@pytest.mark.parametrize("fails", [False, True])
def test_everything_is_as_before(eager, fails):
    keras.utils.set_random_seed(7)
    random_numbers()
    x = batch()
    model = Noisy()
    model(x)
    model.fails = fails
    before = [variable.value.numpy() for variable in model.variables]

    def traced():
        tf.config.run_functions_eagerly(eager)
        try:
            if fails:
                with pytest.raises(RuntimeError, match="the user's own"):
                    lg.trace(model, x)
            else:
                lg.trace(model, x)
        finally:
            tf.config.run_functions_eagerly(False)

    states = random.getstate(), np.random.get_state()[1].tolist()
    for _ in range(2):  # made, and kept from the first time
        traced()
    assert (random.getstate(), np.random.get_state()[1].tolist()) == states
    for variable, value in zip(model.variables, before, strict=True):
        np.testing.assert_array_equal(variable.value.numpy(), value)
    if not eager and not fails:
        assert float(model.plain) == 1
    assert "call" not in vars(model.rnn)

    keras.utils.set_random_seed(8)
    random_numbers()
    expected = random_numbers()
    keras.utils.set_random_seed(8)
    random_numbers()
    traced()
    assert random_numbers() == expected


def test_training_is_bit_identical_with_traces_in_between():
    def train(traced):
        keras.utils.set_random_seed(1)
        model, rng = small_model(), np.random.default_rng(2)
        model.compile("adam", "mse", jit_compile=False)
        x, y = rng.normal(size=(8, 5, 3)).astype("float32"), rng.normal(size=(8, 2))
        losses = []
        for _ in range(3):
            if traced:
                lg.trace(model, x[:2])
                with lg.record(model):
                    model(x)
            losses.append(model.train_on_batch(x, y))
        return losses, model.predict(x, verbose=0), model.get_weights()

    without, with_traces = train(False), train(True)
    assert without[0] == with_traces[0]
    np.testing.assert_array_equal(without[1], with_traces[1])
    for ours, theirs in zip(without[2], with_traces[2], strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_a_trace_shows_the_weights_of_its_time():
    model, x = small_model(), batch()
    (first, _), weights = lg.trace(model, x), model.get_weights()
    model.set_weights([weight + 0.5 for weight in weights])
    (second, _) = lg.trace(model, x)  # by the function that was compiled for the first
    assert second.difference < 1e-5
    for gate in first.layer.gates:
        np.testing.assert_allclose(
            second.layer.kernel[gate], first.layer.kernel[gate] + 0.5, atol=1e-6
        )
    assert np.abs(second.gates["input"] - first.gates["input"]).max() > 0.05


def test_a_changed_model_is_compiled_anew():
    model, x = keras.Sequential([keras.Input((5, 3)), layers.LSTM(4), layers.Dense(1)]), batch()
    _, before = capture.observe(model, (x,), {}, None)
    model.pop()
    _, after = capture.observe(model, (x,), {}, None)
    assert (before.shape, after.shape) == ((2, 1), (2, 4))


def test_what_is_compiled_lives_as_long_as_the_model():
    model = small_model()
    lg.trace(model, batch())
    assert keras_compiled._kept.keys(model)
    reference = weakref.ref(model)
    del model
    gc.collect()
    assert reference() is None


def test_few_input_shapes_are_kept():
    model = keras.Sequential([keras.Input((None, 3)), layers.SimpleRNN(2)])
    for time in range(2, 9):
        lg.trace(model, batch(1, time))
    assert len(keras_compiled._kept.keys(model)) == kept.MOST


def test_a_function_that_was_compiled_earlier_inside_the_model():
    class Net(keras.Model):
        def __init__(self):
            super().__init__()
            self.rnn = layers.LSTM(4)
            self.inner = tf.function(lambda x: self.rnn(x))

        def call(self, x):
            return self.inner(x)

    model, x = Net(), batch()
    model(x)
    for _ in range(2):
        (trace,) = lg.trace(model, x)
        np.testing.assert_allclose(trace.hidden_state[:, -1], model(x), atol=1e-5)


# record


def test_record_around_predict():
    model, x = small_model(), batch(3)
    model.predict(x, verbose=0)  # compiled before
    with lg.record(model) as recording:
        output = model.predict(x, batch_size=3, verbose=0)
    lstm, gru = recording.traces()
    assert (lstm.layer.id, gru.layer.id) == ("lstm_0", "gru_0")
    np.testing.assert_allclose(gru.hidden_state[:, -1], output, atol=1e-5)
    assert not tf.config.functions_run_eagerly()


def test_record_numbers_the_calls():
    model = small_model()
    with lg.record(model) as recording:
        model(batch())
        assert len(recording.traces()) == 2
        model(batch())
    assert [(t.layer.id, t.call) for t in recording.traces()] == [
        ("lstm_0", 0),
        ("gru_0", 0),
        ("lstm_0", 1),
        ("gru_0", 1),
    ]


def test_record_keeps_the_weights_that_a_call_had():
    model = small_model()
    with lg.record(model) as recording:
        model(batch())
    model.set_weights([0 * weight for weight in model.get_weights()])
    assert all(trace.difference < 1e-5 for trace in recording.traces())


def test_record_refuses_a_training_step():
    model = small_model()
    model.compile("sgd", "mse")
    weights = model.get_weights()
    with (
        pytest.raises(ValueError, match=r"layer 'lstm_0' was called with training=True while"),
        lg.record(model),
    ):
        model(batch(), training=True)
    for before, after in zip(weights, model.get_weights(), strict=True):
        np.testing.assert_array_equal(before, after)
    assert "call" not in vars(model.layers[0])


def test_record_without_a_call():
    with lg.record(small_model()) as recording:
        pass
    with pytest.raises(ValueError, match="no recurrent layer of the model ran inside"):
        recording.traces()


# What cannot be traced.


def test_no_recurrent_layer():
    model = keras.Sequential([keras.Input((3,)), layers.Dense(2)], name="plain")
    sentence = "the model 'plain' has no recurrent layer: no LSTM, GRU, SimpleRNN or RNN"
    with pytest.raises(ValueError, match=sentence):
        lg.trace(model, np.zeros((1, 3)))
    with pytest.raises(ValueError, match=sentence), lg.record(model):
        pass


def test_what_looks_recurrent_is_named():
    class OwnLSTM(layers.Dense):
        """A recurrent layer that is made of none of Keras's."""

    model = keras.Sequential([keras.Input((3,)), OwnLSTM(2, name="encoder")])
    with pytest.raises(ValueError, match=r"encoder \(OwnLSTM\) cannot be opened.*from_arrays"):
        lg.trace(model, np.zeros((1, 3)))


def test_not_built():
    with pytest.raises(ValueError, match="is not built yet"):
        lg.trace(keras.Sequential([layers.LSTM(4)]), batch())


def test_training_true_is_refused():
    with pytest.raises(ValueError, match="inference mode; leave training=True out"):
        lg.trace(small_model(), batch(), training=True)


def test_the_users_own_error_is_shown():
    with pytest.raises(tf.errors.InvalidArgumentError, match="size-incompatible"):
        lg.trace(small_model(), batch(features=7))


def test_a_layer_that_did_not_run():
    class Net(keras.Model):
        def __init__(self):
            super().__init__()
            self.main, self.other = layers.LSTM(4), layers.LSTM(4)

        def call(self, x, both=False):
            return self.main(x) + (self.other(x) if both else 0)

    model, x = Net(), batch()
    model(x, both=True)
    with pytest.raises(ValueError, match="did not run its recurrent layer 'other'"):
        lg.trace(model, x)
    with pytest.warns(UserWarning, match="did not run its recurrent layer 'other'"):
        traces, _ = capture.observe(model, (x,), {}, None)
    assert [trace.layer.id for trace in traces] == ["main"]
    with lg.record(model) as recording:
        model(x)
    assert [trace.layer.id for trace in recording.traces()] == ["main"]


def test_an_unknown_cell_without_vectors_is_refused_by_name_and_the_rest_goes_on():
    model = keras.Sequential(
        [
            keras.Input((5, 3, 2)),
            layers.ConvLSTM1D(4, 3, return_sequences=True),
            layers.Reshape((5, 4)),
            layers.LSTM(2),
        ]
    )
    with pytest.warns(UserWarning, match="the gates of layer 'conv_lstm1d_0' cannot be shown"):
        (trace,) = lg.trace(model, RNG.normal(size=(2, 5, 3, 2)).astype("float32"))
    assert trace.layer.id == "lstm_0"


def test_a_layer_that_does_more_than_its_cell_is_named():
    class Doubled(layers.LSTM):
        def call(self, sequences, initial_state=None, mask=None, training=False):
            return 2 * super().call(sequences, initial_state, mask, training)

    layer = Doubled(4, return_sequences=True)
    layer.build((None, 5, 3))
    with pytest.warns(UserWarning, match=r"hidden state of layer 'doubled_0'.*do not rely on"):
        (trace,) = lg.trace(layer, batch())
    assert trace.difference > 1e-3


def test_nan_weights_are_traced():
    layer = g1_layer(return_sequences=True)
    kernel, *rest = layer.get_weights()
    kernel[0, 1] = np.nan
    layer.set_weights([kernel, *rest])
    (trace,) = lg.trace(layer, sequence(1, 2, 3))
    assert np.isnan(trace.gates["forget"]).all()
    assert np.isfinite(trace.gates["input"][0, 0])
    assert trace.mask.all()
    assert trace.difference == 0


def test_inside_a_graph():
    model = small_model()

    @tf.function
    def step(x):
        with pytest.raises(ValueError, match="while TensorFlow builds a graph"):
            lg.trace(model, x)
        return model(x)

    step(batch())


def test_another_backend_is_refused_by_name(monkeypatch):
    model = small_model()
    monkeypatch.setattr(keras.backend, "backend", lambda: "numpy")
    with pytest.raises(ValueError, match=r"Keras runs on 'numpy' here.*only on 'tensorflow'"):
        lg.trace(model, batch())


def test_a_setting_that_was_changed_is_followed():
    class Scaled(keras.Model):
        def __init__(self):
            super().__init__()
            self.scale = 1.0
            self.lstm = keras.layers.LSTM(3, return_sequences=True)

        def call(self, inputs):
            return self.lstm(inputs * self.scale)

    model, x = Scaled(), np.ones((2, 4, 3), "float32")
    model(x)
    lg.trace(model, x)
    model.scale = 0.0
    (trace,) = lg.trace(model, x)
    np.testing.assert_allclose(trace.hidden_state, model(x), atol=1e-6)


def test_the_gradients_of_a_training_step_are_not_in_a_keras_model() -> None:
    model = keras.Sequential([keras.Input((5, 3)), keras.layers.LSTM(4)])
    with pytest.raises(
        ValueError, match=r"only PyTorch keeps .*Sequential was given.*target and a"
    ):
        capture.training_gradients(model)
