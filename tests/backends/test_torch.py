"""Keras on torch: modes, gradients, and modules of torch's own."""

from typing import Any

import numpy as np
import pytest
import torch

import lstm_gates_plugin as lg
from helpers.any_keras import array, keras, layers, sequential

X = np.random.default_rng(0).normal(size=(2, 5, 3)).astype("float32")


class Mixed(keras.Model):  # type: ignore[misc]
    """A module of torch's own, with buffers, in front of a recurrent layer."""

    def __init__(self) -> None:
        super().__init__()
        self.norm = keras.layers.TorchModuleWrapper(torch.nn.BatchNorm1d(5))
        self.rnn = layers.LSTM(4)

    def call(self, x: Any, training: bool = False) -> Any:
        return self.rnn(self.norm(x, training=training))


def test_modes_and_buffers_are_as_before() -> None:
    model = Mixed()
    model(X, training=True)
    modes = [(name, module.training) for name, module in model.named_modules()]
    buffers = {name: buffer.clone() for name, buffer in model.named_buffers()}
    assert any(training for _, training in modes)
    (trace,) = lg.trace(model, X)
    assert trace.difference < 1e-5
    assert [(name, module.training) for name, module in model.named_modules()] == modes
    for name, buffer in model.named_buffers():
        torch.testing.assert_close(buffer, buffers[name], rtol=0, atol=0)


def test_random_numbers_and_gradients_are_as_before() -> None:
    model = sequential((5, 3), layers.LSTM(4))
    model(X).sum().backward()
    trained = [parameter for parameter in model.parameters() if parameter.requires_grad]
    gradients = [parameter.grad.clone() for parameter in trained]
    torch.manual_seed(3)
    expected = torch.rand(3)
    torch.manual_seed(3)
    lg.trace(model, X)
    torch.testing.assert_close(torch.rand(3), expected, rtol=0, atol=0)
    for parameter, gradient in zip(trained, gradients, strict=True):
        torch.testing.assert_close(parameter.grad, gradient, rtol=0, atol=0)
    assert torch.is_grad_enabled()
    assert model(X).requires_grad


def test_recording_keeps_the_users_gradients() -> None:
    model = sequential((5, 3), layers.LSTM(4))
    with lg.record(model) as recording:
        output = model(X)
    output.sum().backward()
    trained = [parameter for parameter in model.parameters() if parameter.requires_grad]
    assert all(parameter.grad is not None for parameter in trained)
    assert recording.traces()[0].difference < 1e-5


def test_a_layer_that_was_compiled_is_traced() -> None:
    class Net(keras.Model):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.rnn = layers.LSTM(4)
            self.inner = torch.compile(lambda x: self.rnn(x), backend="eager")

        def call(self, x: Any) -> Any:
            return self.inner(x)

    net = Net()
    net(X)
    (trace,) = lg.trace(net, X)
    np.testing.assert_allclose(trace.hidden_state[:, -1], array(net(X)), atol=1e-5)


def test_i6_bfloat16_weights_are_shown_exactly() -> None:
    layer = layers.LSTM(2, dtype="bfloat16", recurrent_initializer="zeros")
    layer.build((None, 5, 3))
    layer.set_weights([np.full(weight.shape, 1.0078125) for weight in layer.get_weights()])
    (read,) = lg.recurrent_layers(layer)
    assert read.options["dtype"] == "bfloat16"
    assert (read.kernel["forget"] == 1.0078125).all()


def test_the_users_own_error_is_shown() -> None:
    with pytest.raises(RuntimeError, match="shapes cannot be multiplied"):
        lg.trace(sequential((5, 3), layers.LSTM(4)), X[..., :2])
