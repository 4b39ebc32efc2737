"""Cases A: recurrent layers are found in every style of Keras model, each under its own id."""

import numpy as np
import pytest

import lstm_gates_plugin as lg
from helpers.any_keras import array, keras, layers, sequential


def ids(model):
    return [layer.id for layer in lg.recurrent_layers(model)]


def test_a2_cells_wrapped_in_rnn_stay_apart():
    cells = layers.LSTMCell(4, name="a"), layers.LSTMCell(4, name="b")
    model = sequential(
        (5, 3),
        layers.RNN(cells[0], return_sequences=True),
        layers.RNN(cells[1]),
    )
    first, second = lg.recurrent_layers(model)
    assert first.id != second.id
    for layer, inputs in ((first, 3), (second, 4)):
        assert layer.gates == ("input", "forget", "candidate", "output")
        for gate in layer.gates:
            assert layer.kernel[gate].shape == (inputs, 4)
            assert layer.recurrent_kernel[gate].shape == (4, 4)
            assert layer.bias[gate].shape == (4,)


def test_a4_bidirectional_is_two_directions():
    model = sequential((5, 3), layers.Bidirectional(layers.LSTM(4)))
    forward, backward = lg.recurrent_layers(model)
    assert (forward.direction, backward.direction) == ("forward", "backward")
    assert (forward.id, backward.id) == ("bidirectional_0/forward", "bidirectional_0/backward")
    arrays = [part for layer in (forward, backward) for part in layer.parts()]
    assert len(arrays) == 2 * 3 * 4  # kernel, recurrent kernel and bias of four gates
    assert not np.array_equal(forward.kernel["input"], backward.kernel["input"])


def test_a6_model_inside_a_trainer_model():
    class Trainer(keras.Model):
        def __init__(self, net):
            super().__init__()
            self.net = net

        def call(self, x):
            return self.net(x)

    net = sequential(
        (5, 3),
        layers.LSTM(4, return_sequences=True),
        layers.LSTM(4),
        layers.Dense(1),
    )
    assert ids(Trainer(net)) == ["net/lstm_0", "net/lstm_1"]


def test_a8_shared_layer_is_one_layer_with_numbered_calls():
    shared = layers.LSTM(4, return_sequences=True)
    inputs = [keras.Input((5, 3)), keras.Input((5, 3))]
    model = keras.Model(inputs, layers.add([shared(each) for each in inputs]))
    assert ids(model) == ["lstm_0"]
    rng = np.random.default_rng(0)
    batches = [rng.normal(size=(2, 5, 3)).astype("float32") for _ in range(2)]
    traces = lg.trace(model, batches)
    assert [(trace.layer.id, trace.call) for trace in traces] == [("lstm_0", 0), ("lstm_0", 1)]
    for trace, batch in zip(traces, batches, strict=True):
        assert trace.gates["forget"].shape == (2, 5, 4)
        np.testing.assert_allclose(trace.hidden_state, array(shared(batch)), atol=1e-5)


def test_a13_a_rebuilt_or_cloned_model_has_the_same_ids():
    def build():
        return sequential(
            (5, 3),
            layers.LSTM(4, return_sequences=True),
            layers.Bidirectional(layers.GRU(4, return_sequences=True)),
            layers.LSTM(2, name="last"),
        )

    first, second = build(), build()
    assert first.layers[0].name != second.layers[0].name  # Keras counts on through the process
    expected = ["lstm_0", "bidirectional_0/forward", "bidirectional_0/backward", "last"]
    assert ids(first) == ids(second) == ids(keras.models.clone_model(first)) == expected


def test_a14_layers_in_lists_and_dicts_of_a_subclassed_model():
    class Net(keras.Model):
        def __init__(self):
            super().__init__()
            self.blocks = [layers.LSTM(4, return_sequences=True) for _ in range(2)]
            self.heads = {"a": layers.GRU(3)}

        def call(self, x):
            for block in self.blocks:
                x = block(x)
            return self.heads["a"](x)

    model = Net()
    with pytest.raises(ValueError, match=r"not built yet.*blocks/0, blocks/1, heads/a"):
        lg.recurrent_layers(model)
    model(np.zeros((1, 5, 3)))
    assert ids(model) == ["blocks/0", "blocks/1", "heads/a"]
