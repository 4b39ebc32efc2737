"""A cell in the user's own loop over time, or in a scan of Flax, as linen and as nnx."""

from typing import Any

import flax.linen as nn
import jax
import jax.numpy as jnp
from flax import nnx


def looped(cell: Any, carry: Any, x: Any, added: Any) -> Any:
    """Call a cell at each timestep; `added` is added to its carry, `[time, batch, units]` each."""
    outputs = []
    for t in range(x.shape[1]):
        carry, output = cell(carry, x[:, t])
        if added is not None:
            carry = tuple(state + more[t] for state, more in zip(carry, added, strict=True))
            output = carry[1]
        outputs.append(output)
    return jnp.stack(outputs, axis=1)


class Loop(nn.Module):
    """The user's own loop over time."""

    how: str = "loop"
    units = 2

    def setup(self) -> None:
        self.cell = nn.LSTMCell(self.units)

    def __call__(self, x: Any, added: Any = None) -> Any:
        carry = self.cell.initialize_carry(jax.random.key(0), x[:, 0].shape)
        if self.how == "loop":
            return looped(self.cell, carry, x, added)
        scan = nn.scan(
            lambda cell, carry, x: cell(carry, x),
            variable_broadcast="params",
            split_rngs={"params": False},
            in_axes=1,
            out_axes=1,
        )
        return scan(self.cell, carry, x)[1]


class NnxLoop(nnx.Module):
    """The same."""

    def __init__(self, how: str, size: int) -> None:
        self.how = how
        self.cell = nnx.LSTMCell(size, Loop.units, rngs=nnx.Rngs(0))

    def __call__(self, x: Any, added: Any = None) -> Any:
        carry = self.cell.initialize_carry(x[:, 0].shape, nnx.Rngs(0))
        if self.how == "loop":
            return looped(self.cell, carry, x, added)
        axes = {"in_axes": (None, nnx.Carry, 1), "out_axes": (nnx.Carry, 1)}
        return nnx.scan(lambda cell, carry, x: cell(carry, x), **axes)(self.cell, carry, x)[1]


def loop(flavour: Any, how: str, x: Any) -> Any:
    """A model of the one or the other."""
    is_nnx = flavour.name == "Flax nnx"
    return flavour.built(NnxLoop(how, x.shape[-1]) if is_nnx else Loop(how), x)
