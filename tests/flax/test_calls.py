"""How layers are called: in loops, in compiled functions, several times, on any axes."""

import warnings
from typing import Any

import flax.linen as nn
import jax
import numpy as np
import pytest
from flax import nnx

import lstm_gates_plugin as lg
from helpers.flax_loops import loop
from helpers.flax_models import FLAVOURS, LINEN, NNX

RNG = np.random.default_rng(0)
X = RNG.normal(size=(2, 4, 3)).astype("float32")

both = pytest.mark.parametrize("flavour", FLAVOURS, ids=lambda flavour: flavour.name)


def rnn(flavour: Any, cell: str = "LSTM", **arguments: Any) -> Any:
    return flavour.built(flavour.RNN(flavour.cell(cell, 3, 2), **arguments), X)


@both
@pytest.mark.parametrize("how", ["loop", "scan"])
def test_d6_cells_in_the_users_own_loop_are_one_sequence(flavour: Any, how: str) -> None:
    model = loop(flavour, how, X)
    (trace,) = lg.trace(model, X)
    assert (trace.layer.id, trace.call) == ("cell", 0)
    np.testing.assert_allclose(trace.hidden_state, flavour.call(model, X), atol=1e-5)
    assert trace.difference < 1e-5


@both
def test_a_backward_layer_starts_each_stretch_from_its_own_end(flavour: Any) -> None:
    class Stretches(nn.Module):
        @nn.compact
        def __call__(self, x: Any) -> Any:
            return in_stretches(nn.Bidirectional(nn.RNN(nn.GRUCell(2)), nn.RNN(nn.GRUCell(2))), x)

    class NnxStretches(nnx.Module):
        def __init__(self) -> None:
            one, other = (nnx.RNN(nnx.GRUCell(3, 2, rngs=nnx.Rngs(k))) for k in range(2))
            self.layer = nnx.Bidirectional(one, other)

        def __call__(self, x: Any) -> Any:
            return in_stretches(self.layer, x)

    model = flavour.built(Stretches() if flavour is LINEN else NnxStretches(), X)
    output = flavour.call(model, X)
    forward, one, other = sorted(
        lg.trace(model, X), key=lambda trace: (trace.layer.direction == "backward", trace.call)
    )
    np.testing.assert_allclose(forward.hidden_state, output[..., :2], atol=1e-5)
    np.testing.assert_allclose(one.hidden_state, output[:, :2, 2:], atol=1e-5)
    np.testing.assert_allclose(other.hidden_state, output[:, 2:, 2:], atol=1e-5)
    assert (one.call, other.call) == (0, 1)


def in_stretches(layer: Any, x: Any) -> Any:
    """The output for a sequence that is read in two stretches, each from where the last ended."""
    carry, first = layer(x[:, :2], return_carry=True)
    return jax.numpy.concatenate([first, layer(x[:, 2:], initial_carry=carry)], axis=1)


@both
@pytest.mark.parametrize("time_major", [False, True])
def test_a_trace_says_whether_the_batch_came_first(flavour: Any, time_major: bool) -> None:
    (trace,) = lg.trace(rnn(flavour, time_major=time_major), X)
    assert trace.batch_first is not time_major
    assert trace.hidden_state.shape == ((4, 2, 2) if time_major else (2, 4, 2))


class Inside(nn.Module):
    """A layer in a function that the user has transformed."""

    how: str

    @nn.compact
    def __call__(self, x: Any) -> Any:
        return getattr(nn, self.how)(nn.RNN)(nn.GRUCell(2))(x)


class NnxInside(nnx.Module):
    """The same."""

    def __init__(self, how: str) -> None:
        self.how = how
        self.rnn = nnx.RNN(nnx.GRUCell(3, 2, rngs=nnx.Rngs(0)))

    def __call__(self, x: Any) -> Any:
        return getattr(nnx, self.how)(lambda rnn, x: rnn(x))(self.rnn, x)


@pytest.mark.parametrize("how", ["jit", "remat"])
@both
def test_a_layer_in_a_transformed_function(flavour: Any, how: str) -> None:
    model = flavour.built(Inside(how) if flavour is LINEN else NnxInside(how), X)
    expected = flavour.call(model, X)
    for _ in range(2):
        (trace,) = lg.trace(model, X)
        np.testing.assert_allclose(trace.hidden_state, expected, atol=1e-5)
    np.testing.assert_array_equal(flavour.call(model, X), expected)


def test_a_cell_under_remat_keeps_its_equations() -> None:
    model = LINEN.built(nn.RNN(nn.remat(nn.LSTMCell)(2)), X)
    (trace,) = lg.trace(model, X)
    assert trace.layer.cell == "lstm"
    assert trace.difference < 1e-5


def test_what_runs_inside_vmap_is_refused_by_name() -> None:
    class Mapped(nn.Module):
        @nn.compact
        def __call__(self, x: Any) -> Any:
            axes = {"variable_axes": {"params": None}, "split_rngs": {"params": False}}
            y = nn.RNN(nn.GRUCell(2, name="seen"))(x)
            return nn.vmap(nn.RNN, **axes)(nn.LSTMCell(2, name="mapped"))(y)

    model = LINEN.built(Mapped(), X)
    sentence = r"layer 'mapped' could not be recorded: it runs inside jax\.grad or jax\.vmap"
    with pytest.raises(ValueError, match=sentence):
        lg.trace(model, X)
    with lg.record(model) as recording:
        model[0].apply(model[1], X)
    assert [trace.layer.id for trace in recording.traces()] == ["seen"]


@both
def test_calls_that_go_on_are_one_sequence_and_others_are_numbered(flavour: Any) -> None:
    model = rnn(flavour)
    call = model if flavour is NNX else lambda *a, **k: model[0].apply(model[1], *a, **k)
    with lg.record(model) as recording:
        carry, _ = call(X[:, :1], return_carry=True)
        carry, _ = call(X[:, 1:], initial_carry=carry, return_carry=True)
        call(X[:1])
    whole, other = recording.traces()
    assert (whole.call, other.call) == (0, 1)
    (expected,) = lg.trace(model, X)
    np.testing.assert_allclose(whole.hidden_state, expected.hidden_state, atol=1e-6)
    np.testing.assert_allclose(other.hidden_state, expected.hidden_state[:1], atol=1e-6)


@both
def test_record_sees_into_functions_that_were_compiled_before(flavour: Any) -> None:
    model = rnn(flavour)
    if flavour is LINEN:
        apply = jax.jit(model[0].apply)
        call = lambda x: apply(model[1], x)  # noqa: E731
    else:
        compiled = nnx.jit(lambda model, x: model(x))
        call = lambda x: compiled(model, x)  # noqa: E731
    call(X)
    with lg.record(model) as recording:
        output = call(X)
    (trace,) = recording.traces()
    np.testing.assert_allclose(trace.hidden_state, output, atol=1e-6)


def test_record_takes_whichever_variables_a_linen_module_is_applied_to() -> None:
    module, variables = rnn(LINEN)
    others = jax.tree.map(lambda leaf: leaf + 1, variables)
    with lg.record((module, variables)) as recording:
        nn.RNN(nn.LSTMCell(2)).apply(others, X)
        nn.Dense(2).init(jax.random.key(0), X)
    (trace,) = recording.traces()
    np.testing.assert_array_equal(
        trace.layer.kernel["input"], others["params"]["cell"]["ii"]["kernel"]
    )


@both
def test_a_training_step_while_recording_is_refused(flavour: Any) -> None:
    model = rnn(flavour)
    if flavour is LINEN:
        step = jax.grad(lambda variables: model[0].apply(variables, X).sum())
        argument = model[1]
    else:
        step, argument = nnx.grad(lambda model: model(X).sum()), model
    refused = pytest.raises(ValueError, match=r"'rnn_0' was called inside jax\.grad")
    with lg.record(model), refused:
        step(argument)
    step(argument)  # and afterwards it can be done


@both
@pytest.mark.parametrize("time_major", [False, True])
@pytest.mark.parametrize("reverse", [False, True])
def test_axes_of_time_and_batch(flavour: Any, time_major: bool, reverse: bool) -> None:
    model = rnn(flavour)
    expected = lg.trace(model, X, reverse=reverse)[0]
    x = np.stack([X, X + 1])  # two axes of batch
    x = np.moveaxis(x, 2, 0) if time_major else x
    flags = {"time_major": time_major, "reverse": reverse}
    (trace,) = lg.trace(model, x, **flags)
    assert trace.hidden_state.shape == (4, 4, 2)
    np.testing.assert_allclose(trace.hidden_state[:2], expected.hidden_state, atol=1e-6)
    output = flavour.call(model, x, **flags)
    output = np.moveaxis(output, 0, 2) if time_major else output
    output = output.reshape(4, 4, 2)
    own = output[:, ::-1] if reverse else output
    np.testing.assert_allclose(trace.hidden_state, own, atol=1e-5)


@both
def test_e10_one_sequence_without_a_batch(flavour: Any) -> None:
    model = rnn(flavour, "GRU", unroll=2)
    (trace,) = lg.trace(model, X[0])
    np.testing.assert_allclose(trace.hidden_state[0], flavour.call(model, X[0]), atol=1e-5)


@both
def test_f5_a_row_without_timesteps(flavour: Any) -> None:
    model = rnn(flavour, return_carry=True)
    (trace,) = lg.trace(model, X, seq_lengths=np.array([4, 0]))
    assert np.isnan(trace.hidden_state[1]).all()
    assert trace.final_hidden_state[1].tolist() == [0, 0]
    assert trace.difference < 1e-5


@both
def test_f10_an_empty_batch(flavour: Any) -> None:
    (trace,) = lg.trace(rnn(flavour), X[:0])
    assert trace.hidden_state.shape == (0, 4, 2)


@both
def test_a_carry_that_a_cell_draws_at_random_is_the_one_that_was_used(flavour: Any) -> None:
    normal = jax.nn.initializers.normal()
    if flavour is LINEN:
        model = LINEN.built(nn.RNN(nn.LSTMCell(2, carry_init=normal), return_carry=True), X)
    else:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of Flax, which would rather have it elsewhere
            cell = nnx.LSTMCell(3, 2, carry_init=normal, rngs=nnx.Rngs(0))
        model = nnx.RNN(cell)
    (trace,) = lg.trace(model, X)
    assert np.abs(trace.initial_hidden_state).min() > 0
    assert trace.difference < 1e-5


def test_arguments_of_apply_are_handed_on() -> None:
    class Net(nn.Module):
        def setup(self) -> None:
            self.rnn = nn.RNN(nn.GRUCell(2))
            self.norm = nn.BatchNorm(use_running_average=False)
            self.drop = nn.Dropout(0.5, deterministic=False)

        def __call__(self, x: Any) -> Any:
            return self.encode(x)

        def encode(self, x: Any, scale: float = 1.0) -> Any:
            return self.drop(self.norm(self.rnn(x * scale)))

    module = Net()
    keys = {"params": jax.random.key(0), "dropout": jax.random.key(1)}
    variables = jax.jit(module.init)(keys, X)
    more = {"rngs": {"dropout": jax.random.key(2)}, "mutable": ["batch_stats"]}
    once = lg.trace((module, variables), X, **more)[0]
    twice = lg.trace((module, variables), X, scale=2.0, method=Net.encode, **more)[0]
    again = lg.trace((module, variables), 2 * X, **more)[0]
    assert np.abs(once.hidden_state - twice.hidden_state).max() > 1e-3
    np.testing.assert_allclose(twice.hidden_state, again.hidden_state, atol=1e-6)
