"""Which layers a Flax model has, under which ids, and what they are."""

from typing import Any

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import nnx

import lstm_gates_plugin as lg
from helpers.flax_models import FLAVOURS, LINEN, NNX, listed

X = np.random.default_rng(0).normal(size=(2, 4, 3)).astype("float32")


def ids(model: Any) -> list[str]:
    return [layer.id for layer in lg.recurrent_layers(model)]


def initialized(module: Any) -> Any:
    """A model whose parameters are in the order in which they were made."""
    return module, module.init(jax.random.key(0), X)


class Compact(nn.Module):
    """Everything is made while it runs."""

    @nn.compact
    def __call__(self, x: Any) -> Any:
        x = nn.RNN(nn.LSTMCell(2), name="encoder")(x)
        x = nn.RNN(nn.GRUCell(2, name="decoder"))(x)
        return nn.Bidirectional(nn.RNN(nn.SimpleCell(2)), nn.RNN(nn.SimpleCell(2)))(x)


class Setup(nn.Module):
    """Everything is there before."""

    def setup(self) -> None:
        self.encoder = nn.RNN(nn.LSTMCell(2), reverse=True)
        self.both = nn.Bidirectional(nn.RNN(nn.GRUCell(2)), nn.RNN(nn.GRUCell(2)))
        self.layers = [nn.RNN(nn.SimpleCell(2, activation_fn=nn.relu)) for _ in range(2)]

    def __call__(self, x: Any) -> Any:
        x = self.both(self.encoder(x))
        for layer in self.layers:
            x = layer(x)
        return x


def test_linen_ids_are_the_paths_of_the_parameters() -> None:
    compact = initialized(Compact())
    assert ids(compact) == ["LSTMCell_0", "decoder", "SimpleCell_0", "SimpleCell_1"]
    assert {trace.layer.id for trace in lg.trace(compact, X)} == set(ids(compact))
    setup = initialized(Setup())
    expected = ["encoder", "both/forward", "both/backward", "layers_0", "layers_1"]
    assert ids(setup) == expected
    assert [trace.layer.id for trace in lg.trace(setup, X)] == expected


def test_linen_knows_what_setup_makes_before_it_runs() -> None:
    layers = {layer.id: layer for layer in lg.recurrent_layers(initialized(Setup()))}
    assert layers["encoder"].direction == layers["both/backward"].direction == "backward"
    assert layers["both/forward"].direction == "forward"
    assert layers["layers_0"].options["activation"] == "relu"


def test_linen_knows_what_compact_makes_once_it_ran() -> None:
    class Fresh(Compact):
        pass

    model = initialized(Fresh())
    assert [layer.direction for layer in lg.recurrent_layers(model)] == ["forward"] * 4
    lg.trace(model, X)
    directions = [layer.direction for layer in lg.recurrent_layers(model)]
    assert directions == ["forward"] * 3 + ["backward"]
    # Another module of the same settings is the same module to linen.
    assert lg.recurrent_layers((Fresh(), model[1]))[3].direction == "backward"


def test_nnx_ids_are_the_paths_of_the_attributes() -> None:
    class Net(nnx.Module):
        def __init__(self, rngs: nnx.Rngs) -> None:
            self.zebra = nnx.RNN(nnx.LSTMCell(3, 2, rngs=rngs))
            self.both = nnx.Bidirectional(
                nnx.RNN(nnx.GRUCell(2, 2, rngs=rngs)), nnx.RNN(nnx.GRUCell(2, 2, rngs=rngs))
            )
            self.layers = listed([nnx.RNN(nnx.SimpleCell(4, 4, rngs=rngs)) for _ in range(2)])
            self.heads = nnx.Dict(a=nnx.RNN(nnx.SimpleCell(4, 4, rngs=rngs)))
            self.cell = nnx.LSTMCell(4, 2, rngs=rngs)
            self.again = self.zebra

        def __call__(self, x: Any) -> Any:
            x = self.both(self.zebra(x))
            for layer in (*self.layers, self.heads["a"]):
                x = layer(x)
            carry = self.cell.initialize_carry(x[:, 0].shape, nnx.Rngs(0))
            return self.cell(carry, x[:, 0])[1]

    net = Net(nnx.Rngs(0))
    expected = ["zebra", "both/forward", "both/backward", "layers/0", "layers/1", "heads/a", "cell"]
    assert ids(net) == expected
    assert [trace.layer.id for trace in lg.trace(net, X)] == expected
    layers = lg.recurrent_layers(net)
    assert layers[0].options["aliases"] == ["again"]
    assert [layer.direction for layer in layers[1:3]] == ["forward", "backward"]


@pytest.mark.parametrize("flavour", FLAVOURS, ids=lambda flavour: flavour.name)
def test_a_model_that_is_itself_a_layer(flavour: Any) -> None:
    def rnn() -> Any:
        return flavour.RNN(flavour.cell("GRU", 3, 2))

    assert ids(flavour.built(rnn(), X)) == ["rnn_0"]
    both = flavour.built(flavour.Bidirectional(rnn(), rnn()), X)
    assert ids(both) == ["bidirectional_0/forward", "bidirectional_0/backward"]


def test_a_cell_alone() -> None:
    cell = nn.OptimizedLSTMCell(2)
    carry = cell.initialize_carry(jax.random.key(0), X[:, 0].shape)
    model = cell, cell.init(jax.random.key(0), carry, X[:, 0])
    assert ids(model) == ["optimized_lstm_cell_0"]
    (trace,) = lg.trace(model, carry, X[:, 0])
    assert trace.hidden_state.shape == (2, 1, 2)
    assert ids(NNX.cell("simple RNN", 3, 2)) == ["simple_cell_0"]


@pytest.mark.parametrize("flavour", FLAVOURS, ids=lambda flavour: flavour.name)
@pytest.mark.parametrize(
    ("functions", "names"),
    [
        ({"gate_fn": jax.nn.hard_sigmoid}, ("tanh", "hard_sigmoid")),
        ({"activation_fn": jax.nn.relu}, ("relu", "sigmoid")),
        ({"activation_fn": jnp.sin, "gate_fn": lambda x: jnp.clip(x, 0, 1)}, ("sin", "<lambda>")),
        ({"activation_fn": jax.nn.gelu}, ("gelu", "sigmoid")),  # by default another one than ours
    ],
)
def test_activations(flavour: Any, functions: Any, names: Any) -> None:
    model = flavour.built(flavour.RNN(flavour.cell("GRU", 3, 2, **functions)), X)
    (trace,) = lg.trace(model, X)
    options = trace.layer.options
    assert (options["activation"], options["recurrent_activation"]) == names
    assert trace.difference < 1e-5


def test_every_function_that_goes_by_our_name_is_ours() -> None:
    from lstm_gates_plugin.cells.activations import activation
    from lstm_gates_plugin.frameworks.flax.cells import _NAMES

    x = np.linspace(-4, 4, 33, dtype="float32").reshape(3, 11)
    assert len(_NAMES) > 20
    for function, name in _NAMES:
        np.testing.assert_allclose(
            activation(name)(x), np.asarray(function(x)), atol=2e-6, err_msg=name
        )


class Leaky(nn.RNNCellBase):
    """A cell that is not one of Flax's; what it puts out is not its state."""

    units: int = 4

    @nn.compact
    def __call__(self, carry: Any, x: Any) -> Any:
        new = jnp.tanh(nn.Dense(self.units, name="mix")(jnp.concatenate([carry, x], -1)))
        carry = 0.5 * carry + 0.5 * new
        return carry, 2 * carry

    def initialize_carry(self, rng: Any, input_shape: Any) -> Any:
        return jnp.full((*input_shape[:-1], self.units), 0.1)

    num_feature_axes = 1


class NnxLeaky(nnx.RNNCellBase):
    """The same."""

    def __init__(self, rngs: nnx.Rngs) -> None:
        self.mix = nnx.Linear(7, 4, rngs=rngs)

    def __call__(self, carry: Any, x: Any) -> Any:
        new = jnp.tanh(self.mix(jnp.concatenate([carry, x], -1)))
        carry = 0.5 * carry + 0.5 * new
        return carry, 2 * carry

    def initialize_carry(self, input_shape: Any, rngs: Any = None, carry_init: Any = None) -> Any:
        return jnp.full((*input_shape[:-1], 4), 0.1)

    num_feature_axes = 1


@pytest.mark.parametrize("flavour", FLAVOURS, ids=lambda flavour: flavour.name)
@pytest.mark.parametrize("arguments", [{}, {"reverse": True}, {"seq_lengths": np.array([4, 2])}])
def test_of_a_custom_cell_the_states(flavour: Any, arguments: Any) -> None:
    cell = Leaky() if flavour is LINEN else NnxLeaky(nnx.Rngs(0))
    model = flavour.built(flavour.RNN(cell), X)
    with pytest.warns(UserWarning, match=r"'rnn_0' cannot be shown: .*\. Its states and"):
        (trace,) = lg.trace(model, X, **arguments)
    layer = trace.layer
    assert (layer.cell, layer.options["cell_class"]) == ("unknown", type(cell).__name__)
    assert {name: array.shape for name, array in layer.weights.items()} == {
        "mix/kernel": (7, 4),
        "mix/bias": (4,),
    }
    assert (layer.input_size, layer.units) == (3, 4)
    output = flavour.call(model, X, **arguments)
    if "reverse" in arguments:
        output = output[:, ::-1]
    np.testing.assert_allclose(trace.hidden_state[trace.mask], output[trace.mask] / 2, atol=1e-6)
    assert trace.difference < 1e-6
    assert trace.initial_hidden_state[0, 0] == np.float32(0.1)


def test_a_subclass_with_its_own_equations_has_the_states_of_an_lstm() -> None:
    class Scaled(nn.LSTMCell):
        @nn.compact
        def __call__(self, carry: Any, x: Any) -> Any:
            (c, h), _ = nn.LSTMCell(self.features, name="inner")(carry, x)
            return (0.5 * c, h), h

    model = LINEN.built(nn.RNN(Scaled(2), return_carry=True), X)
    with pytest.warns(UserWarning, match="Its states and"):
        (trace,) = lg.trace(model, X)
    (c, h), _ = LINEN.call(model, X)
    np.testing.assert_allclose(trace.final_cell_state, c, atol=1e-6)
    np.testing.assert_allclose(trace.final_hidden_state, h, atol=1e-6)
    # What it has inside is its own affair.
    assert [layer.cell for layer in lg.recurrent_layers(model)] == ["unknown"]


@pytest.mark.parametrize(
    "cell",
    [
        nn.SimpleCell(3, residual=True),
        nn.MGUCell(3, reset_gate=False),
        nnx.SimpleCell(3, 3, residual=True, rngs=nnx.Rngs(0)),
    ],
    ids=lambda cell: type(cell).__name__,
)
def test_options_that_change_the_equations_make_a_cell_unknown(cell: Any) -> None:
    flavour = LINEN if isinstance(cell, nn.Module) else NNX
    model = flavour.built(flavour.RNN(cell), X)
    with pytest.warns(UserWarning, match="the equations of its cell are not known"):
        (trace,) = lg.trace(model, X)
    np.testing.assert_allclose(trace.hidden_state, flavour.call(model, X), atol=1e-5)


def test_a_convolution_has_its_weights_alone() -> None:
    x = np.zeros((1, 2, 5, 5, 1), "float32")
    model = LINEN.built(nn.RNN(nn.ConvLSTMCell(2, kernel_size=(3, 3))), x)
    with pytest.warns(UserWarning, match=r"'rnn_0' cannot be shown.*Its weights can be"):
        assert lg.trace(model, x) == []
    (layer,) = lg.recurrent_layers(model)
    assert layer.cell == "unknown"
    assert layer.weights["ih/kernel"].shape == (3, 3, 1, 8)


def test_weights_that_are_spread_over_devices_are_taken_out_of_their_boxes() -> None:
    init = nn.with_partitioning(nn.initializers.lecun_normal(), (None, "model"))
    model = LINEN.built(nn.RNN(nn.LSTMCell(2, kernel_init=init)), X)
    (layer,) = lg.recurrent_layers(model)
    assert layer.kernel["input"].shape == (3, 2)
    (trace,) = lg.trace(model, X)
    assert trace.difference < 1e-5


@pytest.mark.parametrize("flavour", FLAVOURS, ids=lambda flavour: flavour.name)
def test_bfloat16(flavour: Any) -> None:
    cell = flavour.cell("LSTM", 3, 2, dtype=jnp.bfloat16, param_dtype=jnp.bfloat16)
    model = flavour.built(flavour.RNN(cell), X)
    (trace,) = lg.trace(model, X)
    assert trace.layer.options["dtype"] == trace.layer.options["compute_dtype"] == "bfloat16"
    assert trace.layer.kernel["input"].dtype == np.float32
    assert 0 < trace.difference < 0.1


def test_cells_made_side_by_side_by_a_scan_are_seen_by_their_weights() -> None:
    class Block(nn.Module):
        @nn.compact
        def __call__(self, x: Any, _: Any) -> Any:
            return nn.RNN(nn.LSTMCell(3))(x), None

    class Deep(nn.Module):
        @nn.compact
        def __call__(self, x: Any) -> Any:
            axes = {"variable_axes": {"params": 0}, "split_rngs": {"params": True}}
            return nn.scan(Block, length=2, **axes)()(x, None)[0]

    model = LINEN.built(Deep(), X)
    (layer,) = lg.recurrent_layers(model)
    assert (layer.id, layer.cell) == ("ScanBlock_0/LSTMCell_0", "unknown")
    assert layer.weights["ii/kernel"].shape == (2, 3, 3)
    first, second = lg.trace(model, X)
    assert (first.call, second.call) == (0, 1)
    np.testing.assert_allclose(second.hidden_state, LINEN.call(model, X), atol=1e-5)
