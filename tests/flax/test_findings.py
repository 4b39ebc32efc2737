"""Fresh networks of Flax with its own initialisers, and their first updates: no warning."""

from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import linen

import lstm_gates_plugin as lg

CELLS = {
    "LSTM": linen.LSTMCell,
    "optimised LSTM": linen.OptimizedLSTMCell,
    "GRU": linen.GRUCell,
    "MGU": linen.MGUCell,
    "simple RNN": linen.SimpleCell,
}
X = np.random.default_rng(0).normal(size=(16, 12, 3)).astype("float32")
Y = X.mean(axis=(1, 2))


class Regression(linen.Module):
    """One recurrent layer, and a number from its last output."""

    cell: type[linen.RNNCellBase]

    @linen.compact
    def __call__(self, x: jax.Array) -> jax.Array:
        return linen.Dense(1)(linen.RNN(self.cell(16))(x)[:, -1])[:, 0]


@pytest.mark.parametrize("name", CELLS)
def test_a_fresh_network_and_its_first_updates_have_no_warning(tmp_path: Path, name: str) -> None:
    module = Regression(CELLS[name])
    variables = module.init(jax.random.key(0), X)
    update = jax.jit(jax.grad(lambda v: jnp.mean((module.apply(v, X) - Y) ** 2)))
    with lg.GateWriter(tmp_path) as writer:
        for step in range(13):
            writer.log((module, variables), step=step, probe=X[:4])
            if step == 0:
                assert worse(tmp_path) == []
            change = update(variables)
            variables = jax.tree.map(lambda v, g: v - 0.05 * g, variables, change)
    assert worse(tmp_path) == []


def test_a_forget_bias_that_starts_at_0_is_said_to_be_the_default(tmp_path: Path) -> None:
    module = Regression(linen.OptimizedLSTMCell)
    with lg.GateWriter(tmp_path) as writer:
        writer.log((module, module.init(jax.random.key(0), X)), step=0)
    (found,) = [one for one in lg.diagnose(tmp_path) if one.id == "LG041"]
    assert (found.severity, found.gate, found.value) == ("note", "forget", 0)
    assert found.seen.endswith(", which is Flax's default.")


def worse(directory: Path) -> list[str]:
    return [one.id for one in lg.diagnose(directory) if one.severity != "note"]
