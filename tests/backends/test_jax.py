"""Keras on JAX: what is compiled, by us or by the user."""

import gc
import weakref
from typing import Any

import jax
import numpy as np
import pytest

import lstm_gates_plugin as lg
from helpers.any_keras import array, keras, layers, sequential
from helpers.jax_compiling import compiling
from lstm_gates_plugin.frameworks import kept
from lstm_gates_plugin.frameworks.keras import jax as keras_jax

X = np.random.default_rng(0).normal(size=(2, 5, 3)).astype("float32")


def model() -> Any:
    return sequential((5, 3), layers.LSTM(4))


@pytest.mark.parametrize(
    "look",
    [
        lambda model, x: lg.trace(model, x),
        lambda model, x: lg.recurrent_layers(model),
        lambda model, x: lg.record(model).__enter__(),
    ],
)
def test_j9_inside_jit_a_sentence_names_it(look: Any) -> None:
    lstm = model()

    @jax.jit
    def step(x: Any) -> Any:
        with pytest.raises(ValueError, match=r"inside a function that jax\.jit"):
            look(lstm, x)
        return lstm(x)

    np.testing.assert_allclose(step(X), array(lstm(X)), atol=1e-6)
    (trace,) = lg.trace(lstm, X)  # outside it works
    assert trace.difference < 1e-5


def test_j9_a_writer_inside_jit_says_so_and_the_step_goes_on(tmp_path: Any) -> None:
    lstm = model()
    with lg.GateWriter(tmp_path, every=1) as writer:

        @jax.jit
        def step(x: Any) -> Any:
            writer.log(lstm, step=0, probe=x)
            return lstm(x)

        with pytest.warns(UserWarning, match=r"inside a function that jax\.jit"):
            output = step(X)
        np.testing.assert_allclose(output, array(lstm(X)), atol=1e-6)
        writer.log(lstm, step=1, probe=X)
    assert lg.read(tmp_path)["."]["lstm_0"].series("activation/forget", "mean").steps.tolist() == [
        1
    ]


def test_a_model_that_calls_a_layer_inside_jit_is_traced() -> None:
    class Net(keras.Model):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.rnn = layers.LSTM(4)
            self.inner = jax.jit(lambda x: self.rnn(x))

        def call(self, x: Any) -> Any:
            return self.inner(x)

    net = Net()
    net.rnn.build(X.shape)
    net(X)
    (trace,) = lg.trace(net, X)
    np.testing.assert_allclose(trace.hidden_state[:, -1], array(net(X)), atol=1e-5)
    with lg.record(net) as recording:
        net(X)
    assert recording.traces()[0].difference < 1e-5


def test_the_second_trace_compiles_nothing_and_shows_the_weights_of_its_time(
    caplog: pytest.LogCaptureFixture,
) -> None:
    lstm = model()
    with compiling(caplog) as compiled:
        lg.trace(lstm, X)
    assert compiled
    lstm.set_weights([weight + 0.5 for weight in lstm.get_weights()])
    with compiling(caplog) as compiled:
        (trace,) = lg.trace(lstm, X)
    assert compiled == []
    assert trace.difference < 1e-5


def test_what_is_compiled_lives_as_long_as_the_model() -> None:
    lstm = model()
    lg.trace(lstm, X)
    assert keras_jax._kept.keys(lstm)
    reference = weakref.ref(lstm)
    del lstm
    gc.collect()
    assert reference() is None


def test_few_input_shapes_are_kept() -> None:
    rnn = sequential((None, 3), layers.SimpleRNN(2))
    for time_steps in range(2, 8):
        lg.trace(rnn, np.zeros((1, time_steps, 3), "float32"))
    assert len(keras_jax._kept.keys(rnn)) == kept.MOST


def test_a_variable_that_is_not_the_models_is_read_anew_each_time() -> None:
    scale = keras.Variable(1.0)
    hidden = [scale]  # where Keras does not look

    class Net(keras.Model):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.rnn = layers.LSTM(4)

        def call(self, x: Any) -> Any:
            return self.rnn(x * hidden[0])

    net = Net()
    net(X)
    for factor in (1.0, 3.0):
        scale.assign(factor)
        (trace,) = lg.trace(net, X)
        np.testing.assert_allclose(trace.hidden_state[:, -1], array(net(X)), atol=1e-5)


def test_the_users_own_error_is_shown() -> None:
    with pytest.raises(TypeError, match="contracting dimensions"):
        lg.trace(model(), X[..., :2])
