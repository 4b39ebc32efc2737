"""Gradients through time on linen and nnx: golden numbers, and JAX's own weight gradients."""

from pathlib import Path
from typing import Any

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import nnx

import lstm_gates_plugin as lg
from helpers.flax_loops import Loop, loop
from helpers.flax_matrix import LENGTHS, ROWS, TIME, Plain, X, rnn
from helpers.flax_models import FLAVOURS, LINEN, NNX, one_unit
from lstm_gates_plugin.frameworks.flax import running

RELATIVE = 1e-4
SHORT = X[:, :3]
DIRECTIONS = ["forward", "backward", "forward", "backward"]

both = pytest.mark.parametrize("flavour", FLAVOURS, ids=lambda flavour: flavour.name)


def weighted(outputs: Any) -> Any:
    """A sum of all that a model returns, each number with a weight of its own."""
    rng = np.random.default_rng(2)
    leaves = jax.tree.leaves(outputs)
    return sum((leaf * rng.normal(size=leaf.shape).astype("float32")).sum() for leaf in leaves)


def last(output: Any) -> Any:
    return output[0, -1, 0]


def rows(gradients: Any) -> dict[str, np.ndarray]:
    """The weight gradients of a trace by row name."""
    names = ("kernel", "recurrent_kernel", "bias", "recurrent_bias")
    return {
        f"{name}/{gate}": by_gate[gate]
        for name in names
        if (by_gate := getattr(gradients, name)) is not None
        for gate in by_gate
    }


def check_weights(traces: list[lg.GateTrace], gradients: Any) -> None:
    """Compare with a model whose weights are the gradients."""
    expected = {layer.id: layer.parts() for layer in lg.recurrent_layers(gradients)}
    assert [trace.layer.id for trace in traces] == list(expected)
    for trace in traces:
        found = rows(trace.gradients)
        assert found.keys() == expected[trace.layer.id].keys()
        for name, gradient in expected[trace.layer.id].items():
            largest = np.abs(gradient).max()
            np.testing.assert_allclose(
                found[name], gradient, atol=RELATIVE * largest, rtol=0, err_msg=name
            )
            assert largest > 1e-3


def chain(flavour: Any, cell: str) -> Any:
    """A model of layers in every arrangement, each on top of the others."""
    both_ways = flavour.Bidirectional(rnn(flavour, cell), rnn(flavour, cell))
    layers = (rnn(flavour, cell), rnn(flavour, cell, reverse=True), both_ways)
    return flavour.built(flavour.Stack(layers), X)


@pytest.mark.parametrize(
    ("flavour", "cell"),
    [(flavour, cell) for flavour in FLAVOURS for cell in flavour.cells],
    ids=lambda value: getattr(value, "name", value),
)
def test_weight_gradients_equal_jaxs_own(flavour: Any, cell: str) -> None:
    """Of each layer of a chain; also of what it puts out behind the lengths, which is read."""
    model = chain(flavour, cell)
    for lengths in LENGTHS.values():
        arguments = {} if lengths is None else {"seq_lengths": lengths}
        traces = lg.trace(model, X, loss=weighted, **arguments)
        assert [trace.layer.direction for trace in traces] == DIRECTIONS
        # With full lengths instead of none, JAX's own is compiled once.
        all_of_it = np.full(ROWS, TIME) if lengths is None else lengths
        check_weights(traces, flavour.gradients(model, weighted, X, seq_lengths=all_of_it))


@both
def test_carries_of_sequences_of_any_length(flavour: Any) -> None:
    """The carry of a row without timesteps is that behind all of its padding."""
    model = Plain(flavour, "LSTM").model
    arguments = {"seq_lengths": np.array([3, 5, 0]), "return_carry": True}
    traces = lg.trace(model, X, loss=weighted, **arguments)
    check_weights(traces, flavour.gradients(model, weighted, X, **arguments))
    # What is behind a length does not reach the carry, and so nothing reaches back from there.
    (trace,) = lg.trace(model, X, loss=lambda outputs: weighted(outputs[0]), **arguments)
    assert np.isnan(trace.gradients.hidden_state[0, 3:]).all()
    direct = np.abs(trace.gradients.output).max(axis=-1) > 0
    assert direct[0].tolist() == [False, False, True, False, False]
    assert direct[1].tolist() == [False, False, False, False, True]
    assert not direct[2].any()


@both
@pytest.mark.parametrize("reverse", [False, True])
def test_axes_of_time_and_batch(flavour: Any, reverse: bool) -> None:
    model = Plain(flavour, "GRU").model
    x = np.stack([X, X + 1])  # two axes of batch
    (expected,) = lg.trace(model, x.reshape(-1, *X.shape[1:]), loss=_squares, reverse=reverse)
    x = np.moveaxis(x, 2, 0)
    (trace,) = lg.trace(model, x, loss=_squares, reverse=reverse, time_major=True)
    for name in ("output", "hidden_state", "inputs"):
        ours, theirs = getattr(trace.gradients, name), getattr(expected.gradients, name)
        np.testing.assert_allclose(ours, theirs, atol=1e-5, err_msg=name)
    np.testing.assert_allclose(trace.gradients.output, 2 * trace.hidden_state, atol=1e-5)


def _squares(output: Any) -> Any:
    return (output**2).sum()


@both
def test_a_cell_that_the_model_calls_itself(flavour: Any) -> None:
    """Its output is its state: what is direct is told from what comes back through time.

    JAX's own gradients by its states are those by a zero that is added after each timestep.
    """
    model = loop(flavour, "loop", SHORT)
    (trace,) = lg.trace(model, SHORT, loss=weighted)
    found = trace.gradients
    weights = np.random.default_rng(2).normal(size=trace.hidden_state.shape)
    np.testing.assert_allclose(found.output, weights, atol=1e-4)

    def score(added: Any) -> Any:
        if flavour is NNX:
            return weighted(model(SHORT, added))
        return weighted(model[0].apply(model[1], SHORT, added))

    zeros = jnp.zeros((SHORT.shape[1], ROWS, Loop.units))
    own = jax.jit(jax.grad(score))((zeros, zeros))
    cell, hidden = (gradient.swapaxes(0, 1) for gradient in own)
    np.testing.assert_allclose(found.hidden_state, hidden, atol=1e-5)
    # What is added comes too late for the hidden state of its timestep.
    through_hidden = hidden * trace.gates["output"] * (1 - np.tanh(trace.cell_state) ** 2)
    np.testing.assert_allclose(found.cell_state, cell + through_hidden, atol=1e-5)


@both
def test_a_cell_in_a_scan(flavour: Any) -> None:
    """It cannot be compiled: the loop then is one of Python."""
    model = loop(flavour, "scan", SHORT)
    traces = lg.trace(model, SHORT, loss=weighted)
    check_weights(traces, flavour.gradients(model, weighted, SHORT))


class Inside(nn.Module):
    """A layer in a function that the user has compiled, which is run uncompiled."""

    @nn.compact
    def __call__(self, x: Any) -> Any:
        return nn.jit(nn.RNN)(nn.GRUCell(4))(x)


class NnxInside(nnx.Module):
    """The same, in a model that changes whenever it runs."""

    def __init__(self) -> None:
        rngs = nnx.Rngs(0)
        self.rnn = nnx.RNN(nnx.GRUCell(4, 4, rngs=rngs))
        self.drop = nnx.Dropout(0.5, rngs=rngs)
        self.norm = nnx.BatchNorm(4, rngs=rngs)
        self.calls = nnx.Variable(jnp.zeros((), int))
        self.seen = 0

    def __call__(self, x: Any) -> Any:
        self.calls = nnx.Variable(self.calls + 1)
        self.seen += 1
        return self.norm(self.drop(nnx.jit(lambda rnn, x: rnn(x))(self.rnn, x)))


def state_of(model: Any) -> dict[str, Any]:
    """All values that a module holds."""
    _, state = nnx.split(model)
    leaves = jax.tree.leaves_with_path(state)
    found = {str(path): _bytes(leaf) for path, leaf in leaves}
    return {**found, "seen": model.seen, "deterministic": model.drop.deterministic}


def _bytes(leaf: Any) -> bytes:
    is_key = jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key)
    return np.asarray(jax.random.key_data(leaf) if is_key else leaf).tobytes()


def test_a_layer_in_a_compiled_function() -> None:
    model = LINEN.built(Inside(), X)
    check_weights(lg.trace(model, X, loss=weighted), LINEN.gradients(model, weighted, X))


@pytest.mark.parametrize("compiled", [True, False])
def test_an_nnx_module_is_as_before(compiled: bool) -> None:
    model = NnxInside()
    if compiled:
        model.__class__ = type("Outside", (NnxInside,), {"__call__": _outside})
    before = state_of(model)
    (trace,) = lg.trace(model, X, loss=weighted)
    assert np.abs(trace.gradients.hidden_state).max() > 0.1
    assert state_of(model) == before
    assert (model.norm.mean[...] == 0).all()


def _outside(self: Any, x: Any) -> Any:
    self.calls = nnx.Variable(self.calls + 1)
    self.seen += 1
    return self.norm(self.drop(self.rnn(x)))


@both
def test_a_function_of_the_users_own_in_a_cell(flavour: Any) -> None:
    def bent(z: Any) -> Any:
        return jnp.sin(z) + 0.1 * z

    cell = flavour.cell("LSTM", 4, 4, activation_fn=bent, gate_fn=lambda z: jax.nn.sigmoid(2 * z))
    model = flavour.built(flavour.RNN(cell), X)
    check_weights(lg.trace(model, X, loss=weighted), flavour.gradients(model, weighted, X))


@both
@pytest.mark.parametrize(
    ("weight", "hidden", "recurrent"),
    [(0.5, (0.0625, 0.125, 0.25, 0.5, 1), 3.25), (1, (1,) * 5, 10), (2, (16, 8, 4, 2, 1), 49)],
)
def test_h1_g5_the_total_gradient_not_that_of_the_output(
    flavour: Any, weight: float, hidden: tuple[float, ...], recurrent: float
) -> None:
    model = relu_rnn(flavour, weight)
    (trace,) = lg.trace(model, np.ones((1, 5, 1), "float32"), loss=last)
    np.testing.assert_allclose(np.ravel(trace.gradients.hidden_state), hidden, atol=1e-5)
    np.testing.assert_allclose(np.ravel(trace.gradients.output), (0, 0, 0, 0, 1))
    np.testing.assert_allclose(trace.gradients.recurrent_kernel["hidden"], recurrent, rtol=1e-4)


@both
def test_h2_g5l_a_weight_gradient_that_looks_healthy(flavour: Any) -> None:
    model = relu_rnn(flavour, 0.5)
    (trace,) = lg.trace(model, np.ones((1, 20, 1), "float32"), loss=last)
    np.testing.assert_allclose(trace.gradients.recurrent_kernel["hidden"], 3.99992, rtol=1e-4)
    np.testing.assert_allclose(trace.gradients.hidden_state[0, 0, 0], 1.9073486e-06, rtol=1e-4)


def relu_rnn(flavour: Any, weight: float) -> Any:
    """One unit with input weight 1, recurrent weight `weight` and bias 0."""
    cell = flavour.cell("simple RNN", 1, 1, activation_fn=jax.nn.relu)
    one = np.ones((1, 1), "float32")
    names = ("i", "h") if flavour is LINEN else ("dense_i", "dense_h")
    inputs, recurrent = {"kernel": one, "bias": one[0] * 0}, {"kernel": weight * one}
    return flavour.with_params(
        flavour.RNN(cell), dict(zip(names, (inputs, recurrent), strict=True))
    )


@both
def test_g6_every_gradient_of_an_lstm(flavour: Any) -> None:
    gates = ("input", "forget", "candidate", "output")
    params = one_unit(flavour, "lstm", dict.fromkeys(gates, 1), dict.fromkeys(gates, 0.5), {})
    kind = "optimised LSTM" if flavour is NNX else "LSTM"
    model = flavour.with_params(flavour.RNN(flavour.cell(kind, 1, 1)), params)
    x = np.array([1, 2, 3], "float32").reshape(1, 3, 1)
    (trace,) = lg.trace(model, x, loss=last)
    found = trace.gradients

    def close(values: Any, expected: Any) -> None:
        np.testing.assert_allclose(np.ravel(values), expected, atol=1e-5)

    close(found.hidden_state, (0.004392, 0.016887, 1))
    close(found.cell_state, (0.038783, 0.040487, 0.038312))
    close(found.inputs, (0.018151, 0.008785, 0.033774))
    close(
        [found.preactivations[gate][0, 0, 0] for gate in gates], (0.005807, 0, 0.011907, 0.000437)
    )
    for part, expected in (
        (found.kernel, (0.016582, 0.009064, 0.015999, 0.095399)),
        (found.recurrent_kernel, (0.002275, 0.002067, 0.000796, 0.024832)),
        (found.bias, (0.010595, 0.003704, 0.013870, 0.032541)),
    ):
        close([part[gate] for gate in gates], expected)


def test_with_mutable_the_loss_is_given_what_linen_returns() -> None:
    class Net(nn.Module):
        @nn.compact
        def __call__(self, x: Any) -> Any:
            return nn.BatchNorm(use_running_average=False)(nn.RNN(nn.GRUCell(4))(x))

    model = LINEN.built(Net(), X)

    def loss(returned: Any) -> Any:
        outputs, state = returned
        assert set(state) == {"batch_stats"}
        return weighted(outputs)

    traces = lg.trace(model, X, mutable=["batch_stats"], loss=loss)
    own = jax.grad(
        lambda variables: loss(model[0].apply(variables, X, mutable=["batch_stats"])),
    )
    check_weights(traces, (model[0], jax.jit(own)(model[1])))


@both
def test_a_loss_that_does_not_depend_on_a_layer(flavour: Any) -> None:
    model = flavour.built(flavour.Stack((rnn(flavour, "GRU"), rnn(flavour, "GRU"))), X)
    used, unused = lg.trace(model, X, loss=lambda output: 3.0 * jnp.sum(X))
    for trace in (used, unused):
        assert (trace.gradients.hidden_state == 0).all()
        assert (trace.gradients.kernel["update"] == 0).all()


@both
def test_a_loss_that_is_no_single_number(flavour: Any) -> None:
    model = Plain(flavour, "GRU").model
    sentence = r"must be a single number, and one of shape \(3, 5, 4\)"
    with pytest.raises(ValueError, match=sentence):
        lg.trace(model, X, loss=lambda output: output)


def test_a_loss_in_the_block_of_record() -> None:
    model = Plain(NNX, "GRU").model
    with lg.record(model) as recording:
        loss = model(X).sum()
    with pytest.raises(ValueError, match=r"Give the function of the loss to trace"):
        recording.traces(loss=loss)
    assert recording.traces()[0].gradients is None


@both
def test_the_loss_is_compiled_once_and_others_anew(flavour: Any) -> None:
    model = flavour.built(flavour.RNN(flavour.cell("GRU", 4, 3)), X)
    owner = model if flavour is NNX else model[0]
    for loss in (_squares, None, _squares, last):
        (trace,) = lg.trace(model, X, loss=loss)
        assert (trace.gradients is None) == (loss is None)
    assert len(running._kept.keys(owner)) == 3
    np.testing.assert_array_equal(trace.gradients.output[1:], 0)


@both
def test_a_writer_logs_the_gradients_of_its_probes_loss(flavour: Any, tmp_path: Path) -> None:
    model = Plain(flavour, "GRU").model
    probe = lg.Probe(X, target=X, loss=lambda outputs, target: (outputs - target) ** 2)
    with lg.GateWriter(tmp_path, every=1) as writer:
        writer.log(model, step=0, probe=probe)
    logged = lg.read(tmp_path)["."]["rnn_0"]
    assert set(logged.kinds) == {"weights", "activations", "gradients"}
    (trace,) = lg.trace(model, X, loss=lambda outputs: ((outputs - X) ** 2).mean())
    norm = logged.series("kernel/candidate", "norm", kind="gradients").values[0]
    assert norm == pytest.approx(np.linalg.norm(trace.gradients.kernel["candidate"]), rel=1e-4)
