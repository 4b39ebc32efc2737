"""Case J9: inside `jit` there are no values, and a sentence says so."""

from pathlib import Path
from typing import Any

import jax
import numpy as np
import pytest
from flax import nnx

import lstm_gates_plugin as lg
from helpers.flax_models import FLAVOURS, LINEN, NNX

X = np.random.default_rng(0).normal(size=(2, 4, 3)).astype("float32")

both = pytest.mark.parametrize("flavour", FLAVOURS, ids=lambda flavour: flavour.name)


def compiled(flavour: Any, function: Any) -> Any:
    """`function(model, x)`, compiled, with the weights as arguments."""
    if flavour is NNX:
        return nnx.jit(function)

    def call(model: Any, x: Any) -> Any:
        module, variables = model
        return jax.jit(lambda variables, x: function((module, variables), x))(variables, x)

    return call


def output(model: Any, x: Any) -> Any:
    return model(x) if isinstance(model, nnx.Module) else model[0].apply(model[1], x)


@both
@pytest.mark.parametrize(
    "look",
    [
        lambda model, x: lg.trace(model, x),
        lambda model, x: lg.recurrent_layers(model),
        lambda model, x: lg.record(model).__enter__(),
    ],
)
def test_j9_inside_jit_a_sentence_names_it(flavour: Any, look: Any) -> None:
    model = flavour.built(flavour.RNN(flavour.cell("LSTM", 3, 2)), X)

    def step(model: Any, x: Any) -> Any:
        with pytest.raises(ValueError, match=r"inside a function that jax\.jit"):
            look(model, x)
        return output(model, x)

    np.testing.assert_allclose(compiled(flavour, step)(model, X), flavour.call(model, X), atol=1e-6)


@both
def test_j9_a_writer_inside_jit_says_so_and_the_step_goes_on(flavour: Any, tmp_path: Path) -> None:
    model = flavour.built(flavour.RNN(flavour.cell("LSTM", 3, 2)), X)
    with lg.GateWriter(tmp_path, every=1) as writer:

        def step(model: Any, x: Any) -> Any:
            writer.log(model, step=0, probe=x)
            return output(model, x)

        with pytest.warns(UserWarning, match=r"inside a function that jax\.jit"):
            result = compiled(flavour, step)(model, X)
        np.testing.assert_allclose(result, flavour.call(model, X), atol=1e-6)
        writer.log(model, step=1, probe=X)
    run = lg.read(tmp_path)["."]["rnn_0"]
    assert run.series("activation/forget", "mean").steps.tolist() == [1]
    assert run.series("kernel/forget", "norm").steps.tolist() == [1]


def test_weights_that_are_traced_while_nothing_is_compiled() -> None:
    module, variables = LINEN.built(LINEN.RNN(LINEN.cell("GRU", 3, 2)), X)

    def loss(variables: Any) -> Any:
        with pytest.raises(ValueError, match=r"\(or grad, vmap, scan\) is tracing"):
            lg.trace((module, variables), X)
        return module.apply(variables, X).sum()

    jax.grad(loss)(variables)
