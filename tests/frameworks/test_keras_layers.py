"""Finding Keras layers: the table of ids, the kinds of cells, and what cannot be opened."""

import re

import keras
import numpy as np
import pytest

import lstm_gates_plugin as lg
from lstm_gates_plugin.frameworks.keras import layers as keras_layers

layers = keras.layers


def sequential(*parts):
    return keras.Sequential([keras.Input((5, 3)), *parts])


def lstm(**arguments):
    return layers.LSTM(4, return_sequences=True, **arguments)


def subclass(**attributes):
    """A subclassed model that holds and runs layers, or lists or dicts of them."""

    class Net(keras.Model):
        def __init__(self):
            super().__init__()
            for name, value in attributes.items():
                setattr(self, name, value)

        def call(self, x):
            for layer in keras.tree.flatten(attributes):
                x = layer(x)
            return x

    model = Net()
    model(np.zeros((1, 5, 3), "float32"))
    return model


def functional(inner):
    x = keras.Input((5, 3))
    return keras.Model(x, inner(x))


def root():
    layer = lstm()
    layer.build((None, 5, 3))
    return layer


def own_loop():
    class Loop(keras.Model):
        def __init__(self):
            super().__init__()
            self.cell = layers.LSTMCell(4)

        def call(self, x):
            states = [keras.ops.zeros((x.shape[0], 4)) for _ in range(2)]
            return self.cell(x[:, 0], states)[0]

    model = Loop()
    model(np.zeros((1, 5, 3), "float32"))
    return model


# One row for each row of the table in `keras_layers`, which holds the same text.
TABLE = {
    "`Sequential([LSTM(4), LSTM(4)])`": lambda: sequential(lstm(), lstm()),
    '`Sequential([LSTM(4, name="enc"), LSTM(4)])`': lambda: sequential(lstm(name="enc"), lstm()),
    "`Sequential([Bidirectional(GRU(4))])`": lambda: sequential(
        layers.Bidirectional(layers.GRU(4))
    ),
    "`Sequential([RNN(LSTMCell(4))])`": lambda: sequential(layers.RNN(layers.LSTMCell(4))),
    "`Sequential([RNN([LSTMCell(4), GRUCell(4)])])`": lambda: sequential(
        layers.RNN([layers.LSTMCell(4), layers.GRUCell(4)])
    ),
    "`Sequential([TimeDistributed(LSTM(4))])`": lambda: keras.Sequential(
        [keras.Input((2, 5, 3)), layers.TimeDistributed(lstm())]
    ),
    "subclass with `self.encoder = LSTM(4)`": lambda: subclass(encoder=lstm()),
    "subclass with `self.cell = LSTMCell(4)`": own_loop,
    "subclass with `self.blocks = [LSTM(4), GRU(4)]`": lambda: subclass(
        blocks=[lstm(), layers.GRU(4)]
    ),
    'subclass with `self.heads = {"a": GRU(3)}`': lambda: subclass(heads={"a": layers.GRU(3)}),
    "subclass with `self.net = Sequential([LSTM(4)])`": lambda: subclass(
        net=keras.Sequential([lstm()])
    ),
    "functional model around `Sequential([LSTM(4)])`": lambda: functional(sequential(lstm())),
    "`LSTM(4)` itself": root,
}


def documented():
    """The table's rows: model, and its ids as a list."""
    rows = re.findall(r"^\| (.*?) +\| (`.*`) +\|$", keras_layers.__doc__, flags=re.MULTILINE)
    for model, listed in rows:
        ids = re.findall(r"`([^`]*)`", listed)
        yield model, [each.replace("...", ids[0].rpartition("/")[0]) for each in ids]


def test_every_row_of_the_table_is_tested():
    assert [model for model, _ in documented()] == list(TABLE)


@pytest.mark.parametrize(("model", "expected"), list(documented()))
def test_table_of_ids(model, expected):
    assert [layer.id for layer in lg.recurrent_layers(TABLE[model]())] == expected


def test_a_private_attribute_is_an_attribute():
    assert [layer.id for layer in lg.recurrent_layers(subclass(_rnn=lstm()))] == ["_rnn"]


def test_two_builds_of_a_subclassed_model_have_the_same_ids():
    first, second = (subclass(blocks=[lstm(), lstm()]) for _ in range(2))
    ids = [[layer.id for layer in lg.recurrent_layers(model)] for model in (first, second)]
    assert ids[0] == ids[1] == ["blocks/0", "blocks/1"]


def test_equal_paths_get_a_number():
    x = keras.Input((5, 3))
    left = keras.Sequential([keras.Input((5, 3)), lstm(name="enc")], name="left")
    right = keras.Sequential([keras.Input((5, 3)), lstm(name="enc")], name="right")

    class Pair(layers.Layer):
        def __init__(self, first, second):
            super().__init__()
            self.first, self.second = first, second

        def call(self, x):
            return self.first(x) + self.second(x)

    pair = Pair(left.layers[0], right.layers[0])
    model = keras.Model(x, pair(x))
    assert [layer.id for layer in lg.recurrent_layers(model)] == ["pair_0/enc", "pair_0/enc#2"]


def test_a_layer_in_two_places_is_under_its_first_path_and_knows_the_other():
    shared = layers.LSTM(3, return_sequences=True, name="shared")
    model = subclass(a=keras.Sequential([shared]), b=keras.Sequential([shared]))
    (layer,) = lg.recurrent_layers(model)
    assert layer.id == "a/shared"
    assert layer.options["aliases"] == ["b/shared"]


@pytest.mark.parametrize(
    ("layer", "kind", "options"),
    [
        (layers.LSTM(2), "lstm", {"activation": "tanh", "recurrent_activation": "sigmoid"}),
        (layers.GRU(2), "gru", {"reset_after": True}),
        (layers.GRU(2, reset_after=False), "gru", {"reset_after": False}),
        (layers.SimpleRNN(2, activation="relu"), "simple_rnn", {"activation": "relu"}),
        (layers.RNN(layers.GRUCell(2)), "gru", {"recurrent_activation": "sigmoid"}),
        (layers.RNN(layers.SimpleRNNCell(2)), "simple_rnn", {}),
    ],
)
def test_kinds_and_options(layer, kind, options):
    layer.build((None, 5, 3))
    (read,) = lg.recurrent_layers(layer)
    assert read.cell == kind
    assert (read.input_size, read.units, read.recurrent_size) == (3, 2, 2)
    assert options.items() <= read.options.items()
    assert read.options["framework"] == "keras"
    assert ("recurrent_activation" in read.options) == (kind != "simple_rnn")


def test_no_bias_is_none():
    layer = layers.LSTM(2, use_bias=False)
    layer.build((None, 5, 3))
    (read,) = lg.recurrent_layers(layer)
    assert read.bias is None
    assert not any(name.startswith("bias") for name in read.parts())


def test_half_precision_keeps_stored_and_computed_type_apart():
    for policy, stored, computed in (
        ("mixed_float16", "float32", "float16"),
        ("bfloat16", "bfloat16", "bfloat16"),
    ):
        # TensorFlow has no orthogonal matrices in bfloat16.
        layer = layers.LSTM(2, dtype=policy, recurrent_initializer="zeros")
        layer.build((None, 5, 3))
        (read,) = lg.recurrent_layers(layer)
        assert (read.options["dtype"], read.options["compute_dtype"]) == (stored, computed)
        assert read.kernel["input"].dtype == np.float32


class CustomCell(layers.Layer):
    """A cell of the user's own, with named and unnamed weights and a layer inside."""

    def __init__(self, units):
        super().__init__()
        self.units = self.state_size = units
        self.inner = layers.Dense(units)

    def build(self, shape):
        self.mixing = self.add_weight(shape=(shape[-1], self.units))
        self.memory = self.add_weight(shape=(self.units, self.units), name="memory_kernel")
        self.inner.build((None, self.units))
        self.built = True

    def call(self, x, states):
        h = keras.ops.tanh(x @ self.mixing + states[0] @ self.memory)
        return self.inner(h), [h]


def test_a_custom_cell_is_listed_under_its_own_names():
    read, known = lg.recurrent_layers(
        sequential(layers.RNN(CustomCell(4), return_sequences=True), layers.LSTM(2))
    )
    assert (read.cell, read.gates, known.cell) == ("unknown", (), "lstm")
    assert list(read.parts()) == [
        "weights/mixing",
        "weights/memory_kernel",
        "weights/inner/kernel",
        "weights/inner/bias",
    ]
    assert (read.input_size, read.units) == (3, 4)


def test_stacked_cells_are_layers_of_their_own():
    lower, upper = lg.recurrent_layers(
        sequential(layers.RNN([layers.LSTMCell(4), layers.GRUCell(2)]))
    )
    assert (lower.id, lower.cell, lower.input_size) == ("rnn_0/cell_0", "lstm", 3)
    assert (upper.id, upper.cell, upper.input_size) == ("rnn_0/cell_1", "gru", 4)


def test_a_stack_of_one_cell_is_that_cell():
    (layer,) = lg.recurrent_layers(sequential(layers.RNN([layers.LSTMCell(4)])))
    assert (layer.id, layer.cell) == ("rnn_0", "lstm")


def test_a_layer_with_a_state_size_is_not_always_a_cell():
    class Block(layers.Layer):
        state_size = 3

        def __init__(self):
            super().__init__()
            self.rnn = layers.LSTM(4)

        def call(self, x):
            return self.rnn(x)

    (read,) = lg.recurrent_layers(subclass(block=Block()))
    assert (read.id, read.cell) == ("block/rnn", "lstm")


def test_a_subclassed_cell_with_its_own_equations_is_unknown():
    class Leaky(layers.LSTMCell):
        def call(self, inputs, states, training=False):
            h, new = super().call(inputs, states, training=training)
            return 0.9 * h, new

    (read,) = lg.recurrent_layers(sequential(layers.RNN(Leaky(4))))
    assert read.cell == "unknown"


def test_a_model_that_is_not_built_says_so():
    with pytest.raises(ValueError, match=r"is not built yet.*lstm_0.*Call it once on a batch"):
        lg.recurrent_layers(keras.Sequential([layers.LSTM(4)]))

    class Late(keras.Model):
        def build(self, shape):
            self.rnn = layers.LSTM(4)

        def call(self, x):
            return self.rnn(x)

    with pytest.raises(ValueError, match="is not built yet"):
        lg.recurrent_layers(Late())


def test_a_layer_that_was_never_called_is_named():
    class Net(keras.Model):
        def __init__(self):
            super().__init__()
            self.used, self.spare = layers.LSTM(4), layers.LSTM(4)

        def call(self, x):
            return self.used(x)

    model = Net()
    model(np.zeros((1, 5, 3), "float32"))
    with pytest.warns(UserWarning, match="never called and have no weights yet: spare"):
        assert [layer.id for layer in lg.recurrent_layers(model)] == ["used"]


@pytest.mark.parametrize("name", ["two words", "<img onerror=x>", "энкодер", "a%20#1"])
def test_any_name_is_the_id(name):
    assert lg.recurrent_layers(sequential(lstm(name=name)))[0].id == name


def test_an_unbuilt_model_without_recurrent_layers_says_so():
    with pytest.raises(ValueError, match="is not built yet, so its layers have no weights"):
        lg.recurrent_layers(keras.Sequential([layers.Dense(2)]))


def test_a_built_model_without_recurrent_layers_has_none():
    model = keras.Sequential([keras.Input((3,)), layers.Dense(2)])
    assert lg.recurrent_layers(model) == []


def test_what_is_no_model_is_refused():
    with pytest.raises(TypeError, match=r"object of type builtins\.list was given"):
        lg.recurrent_layers([1, 2])
