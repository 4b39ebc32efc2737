"""A trace leaves no mark on an nnx module, and is quick enough to be left on."""

import gc
import weakref
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import nnx

import lstm_gates_plugin as lg
from helpers.flax_models import FLAVOURS, value
from helpers.jax_compiling import compiling
from helpers.memory import resident
from lstm_gates_plugin.frameworks import kept
from lstm_gates_plugin.frameworks.flax import running

X = np.random.default_rng(0).normal(size=(2, 4, 3)).astype("float32")
X8 = np.random.default_rng(0).normal(size=(4, 20, 8)).astype("float32")


class Net(nnx.Module):
    """Layers with a state of every kind, which change it whenever they run."""

    def __init__(self, fails: bool = False, inside: bool = False) -> None:
        rngs = nnx.Rngs(0)
        self.rnn = nnx.RNN(nnx.LSTMCell(3, 2, rngs=rngs))
        self.norm = nnx.BatchNorm(2, rngs=rngs)
        self.drop = nnx.Dropout(0.5, rngs=rngs)
        self.calls = nnx.Variable(jnp.zeros((), int))
        self.seen = 0
        self.fails, self.inside = fails, inside

    def __call__(self, x: Any) -> Any:
        self.calls = nnx.Variable(value(self.calls) + 1)
        self.seen += 1
        self.newest = nnx.Variable(x)
        rnn = nnx.jit(lambda rnn, x: rnn(x)) if self.inside else lambda rnn, x: rnn(x)
        output = self.drop(self.norm(rnn(self.rnn, x)))
        if self.fails:
            raise RuntimeError("the user's own")
        return output


def state_of(model: Any) -> dict[str, Any]:
    """All that a module holds: variables, random keys and plain values."""
    found: dict[str, Any] = {}
    for path, node in nnx.iter_graph(model):
        if isinstance(node, nnx.Variable):
            array = value(node)
            if jnp.issubdtype(array.dtype, jax.dtypes.prng_key):
                array = jax.random.key_data(array)
            found[str(path)] = np.asarray(array).tobytes()
        elif isinstance(node, nnx.Module):
            found[str(path)] = sorted(vars(node))
        elif isinstance(node, (bool, int, float, str)):
            found[str(path)] = node
    return found


@pytest.mark.parametrize("inside", [False, True], ids=["compiled", "uncompiled"])
@pytest.mark.parametrize("fails", [False, True], ids=["returns", "raises"])
def test_everything_is_as_before(inside: bool, fails: bool) -> None:
    model, twin = Net(fails, inside), Net(fails, inside)
    assert state_of(model) == state_of(twin)
    call, method = nnx.RNN.__call__, nnx.LSTMCell.__call__
    if fails:
        with pytest.raises(RuntimeError, match="the user's own"):
            lg.trace(model, X)
    else:
        (trace,) = lg.trace(model, X)
        assert trace.difference < 1e-5
    lg.recurrent_layers(model)
    assert state_of(model) == state_of(twin)
    assert not model.drop.deterministic
    assert (nnx.RNN.__call__, nnx.LSTMCell.__call__) == (call, method)
    if not fails:
        assert (np.asarray(model(X)) == np.asarray(twin(X))).all()
        assert state_of(model) == state_of(twin)


def test_a_trace_is_in_inference_mode() -> None:
    model = Net()
    with lg.record(model) as recording:
        first, second = model(X), model(X)
        np.testing.assert_array_equal(first, second)  # no dropout
    assert len(recording.traces()) == 2
    assert not model.drop.deterministic
    assert not hasattr(model.norm, "deterministic")
    assert model.seen == 2  # these were the user's own calls


@pytest.mark.parametrize("flavour", FLAVOURS, ids=lambda flavour: flavour.name)
def test_the_second_trace_compiles_nothing_and_shows_the_weights_of_its_time(
    flavour: Any, caplog: pytest.LogCaptureFixture
) -> None:
    module = flavour.RNN(flavour.cell("GRU", 3, 2))
    model = flavour.built(module, X)
    with compiling(caplog) as compiled:
        lg.trace(model, X)
    assert compiled
    model = flavour.built(module, X, seed=1)
    with compiling(caplog) as compiled:
        (trace,) = lg.trace(model, X)
    assert compiled == []
    np.testing.assert_allclose(trace.hidden_state, flavour.call(model, X), atol=1e-5)


@pytest.mark.parametrize("flavour", FLAVOURS, ids=lambda flavour: flavour.name)
def test_what_is_compiled_lives_as_long_as_the_model(flavour: Any) -> None:
    module = flavour.RNN(flavour.cell("optimised LSTM", 3, 5))
    model = flavour.built(module, X)
    lg.trace(model, X)
    for length in range(1, 6):
        lg.trace(model, X[:, :1].repeat(length, axis=1))
    assert len(running._kept.keys(module)) == kept.MOST
    reference = weakref.ref(module)
    del module, model
    gc.collect()
    assert reference() is None


@pytest.mark.parametrize("flavour", FLAVOURS, ids=lambda flavour: flavour.name)
def test_j8_traces_do_not_grow_memory(flavour: Any) -> None:
    model = flavour.built(flavour.RNN(flavour.cell("LSTM", 8, 32)), X8)
    size = sum(array.nbytes for trace in lg.trace(model, X8) for array in trace.parts().values())
    for _ in range(50):
        lg.trace(model, X8)
    gc.collect()
    before, arrays = resident(), len(jax.live_arrays())
    for _ in range(300):
        lg.trace(model, X8)
    gc.collect()
    assert len(jax.live_arrays()) == arrays
    assert resident() - before < 60 * size  # of the 300 that were made
