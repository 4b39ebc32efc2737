"""JAX: whether arrays have values, and in which precision they were computed."""

from __future__ import annotations

from typing import Any, NoReturn

import jax
import numpy as np

from lstm_gates_plugin.fused import Array


def is_traced(*trees: Any) -> bool:
    """Whether any array in nested values stands for values that are not there yet."""
    return any(isinstance(leaf, jax.core.Tracer) for leaf in jax.tree.leaves(trees))


def refuse_tracing(*trees: Any) -> None:
    """Refuse to look at values inside a function that JAX is tracing, where there are none.

    Raises:
        ValueError: this is called while JAX traces a function, or one of the arrays is traced.
    """
    # Inside `jit`, even a constant has no value.
    if is_traced(jax.numpy.zeros(()), *trees):
        raise ValueError(
            "gates cannot be recorded inside a function that jax.jit (or grad, vmap, scan) is "
            "tracing, which has no values yet. Log and trace outside of it, on the values that "
            "it returns."
        )


def refuse_loss_afterwards() -> NoReturn:
    """Refuse to differentiate a loss that was computed already.

    Raises:
        ValueError: always.
    """
    raise ValueError(
        "JAX does not remember how a loss was computed, so it cannot be differentiated afterwards. "
        "Give the function of the loss to trace(model, ..., loss=)."
    )


def precision(dtype: str) -> str:
    """What JAX computes in, a key of `recorded.TOLERANCES`.

    Off the CPU, JAX multiplies float32 in fewer digits by default.
    """
    reduced = jax.default_backend() != "cpu"
    return "tensorfloat32" if dtype == "float32" and reduced else dtype


def to_numpy(value: Any) -> Array:
    """An array of JAX, or anything else, as one of NumPy; of random keys, their numbers.

    Raises:
        ValueError: it lies, in part, on devices of other processes.
    """
    if isinstance(value, jax.Array):
        if not value.is_fully_addressable:
            raise ValueError(
                f"an array of shape {value.shape} lies on devices of several processes, so this "
                "one cannot read it. Gather it first, with "
                "jax.experimental.multihost_utils.process_allgather."
            )
        if jax.numpy.issubdtype(value.dtype, jax.dtypes.prng_key):
            value = jax.random.key_data(value)
    return np.asarray(value)
