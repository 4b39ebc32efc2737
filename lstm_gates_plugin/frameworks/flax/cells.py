"""Flax: which equations a cell follows, and its weights by gate.

Both kinds of Flax have the same cells. Their weights come here as nested dicts of arrays: linen's
parameters under the cell, and of nnx the cell's parameters by attribute. LSTMs whose input and
recurrent products are computed for all gates at once differ in nnx alone, where their weights are
stored side by side, and so do nnx's GRU and simple RNN.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import jax
import numpy as np
from flax import linen, nnx

from lstm_gates_plugin.cells.activations import ACTIVATIONS
from lstm_gates_plugin.fused import Array, frozen, to_array
from lstm_gates_plugin.layer import Direction, RecurrentLayer

#: Arrays by name, nested as Flax nests them.
Weights: TypeAlias = Mapping[str, Any]

# In which order Flax stores the gates, side by side or each under its own letter.
_LETTERS = {"lstm": "ifgo", "gru": "rzn", "mgu": "fn", "simple_rnn": ""}

_KINDS = (
    ("lstm", linen.LSTMCell),
    ("lstm", linen.OptimizedLSTMCell),
    ("gru", linen.GRUCell),
    ("mgu", linen.MGUCell),
    ("simple_rnn", linen.SimpleCell),
    ("lstm", nnx.LSTMCell),
    ("lstm", nnx.OptimizedLSTMCell),
    ("gru", nnx.GRUCell),
    ("simple_rnn", nnx.SimpleCell),
)

# Linen's transformations of a class that leave what it computes as it is, as they name it.
_SAME = ("Checkpoint", "Remat", "Jit")

# JAX's functions that are ours. Of these two names, its are others by default.
_NAMES = (
    (jax.numpy.tanh, "tanh"),
    (jax.nn.soft_sign, "softsign"),
    *(
        (getattr(jax.nn, name), name)
        for name in ACTIVATIONS
        if hasattr(jax.nn, name) and name not in ("gelu", "leaky_relu")
    ),
)


@dataclass(frozen=True)
class Description:
    """What is known of a cell besides its weights. It refers to no module.

    Attributes:
        kind: a key of `layer.GATES`.
        cell_class: the name of its class.
        activations: names of its functions, by option.
        functions: the same as functions of NumPy arrays, where they are none of ours.
        pullbacks: of the same, by option, pre-activation and gradient after it to that before it.
        compute_dtype: what it computes in, where it says so.
        has_cell_state: whether its carry is that of an LSTM, `(cell, hidden)`.
        feature_axes: how many axes of an input are features; more than one in a convolution.
        units: of an unknown cell, the size of its state, as far as it is known.
        input_size: of an unknown cell, as far as it is known.
    """

    kind: str
    cell_class: str = ""
    activations: Mapping[str, str] = field(default_factory=dict)
    functions: Mapping[str, Callable[[Array], Array]] = field(default_factory=dict)
    pullbacks: Mapping[str, Callable[[Array, Array], Array]] = field(default_factory=dict)
    compute_dtype: str | None = None
    has_cell_state: bool = False
    feature_axes: int = 1
    units: int = 0
    input_size: int = 0


def describe(cell: Any) -> Description:
    """What a cell is, linen or nnx."""
    kind = _kind(cell)
    activations, own = _activations(cell)
    dtype = getattr(cell, "dtype", None)
    return Description(
        kind,
        type(cell).__name__,
        activations,
        {option: _array_function(function) for option, function in own.items()},
        {option: _pullback(function) for option, function in own.items()},
        None if dtype is None else str(np.dtype(dtype)),
        any(isinstance(cell, known) for name, known in _KINDS if name == "lstm"),
        _feature_axes(cell),
        int(getattr(cell, "features", getattr(cell, "hidden_features", 0)) or 0),
        int(getattr(cell, "in_features", 0) or 0),
    )


def _kind(cell: Any) -> str:
    """The kind whose equations a cell follows; a subclass with its own `__call__` has its own."""
    cls = type(cell)
    if cls.__module__ == "flax.linen.transforms" and cls.__name__.startswith(_SAME):
        cls = cls.__mro__[1]
    for kind, known in _KINDS:
        if issubclass(cls, known) and cls.__call__ is known.__call__:
            changed = getattr(cell, "residual", False) or not getattr(cell, "reset_gate", True)
            return "unknown" if changed or not _has_plain_parts(cell) else kind
    return "unknown"


def _has_plain_parts(cell: Any) -> bool:
    """Whether a cell of nnx holds the layers that it was made with; they can be put in others."""
    if not isinstance(cell, nnx.Module):
        return True
    return all(
        type(part) is nnx.Linear for part in vars(cell).values() if isinstance(part, nnx.Module)
    )


def starts_from_zero(cell: Any) -> bool:
    """Whether the carry that a cell makes for itself is known to be zero."""
    # Both kinds of Flax have the same function of JAX for that, or nnx none.
    has_zeros = getattr(cell, "carry_init", None) in (None, jax.nn.initializers.zeros)
    start = type(cell).initialize_carry
    has_own = all(start is not known.initialize_carry for _, known in _KINDS)
    return has_zeros and not has_own and _kind(cell) != "unknown"


def _feature_axes(cell: Any) -> int:
    try:
        return int(cell.num_feature_axes)
    except NotImplementedError:  # a cell that is never put into an RNN need not say so
        return 1


def _activations(cell: Any) -> tuple[dict[str, str], dict[str, Any]]:
    """Names of a cell's activations, and those functions that are none of ours."""
    names: dict[str, str] = {}
    functions: dict[str, Any] = {}
    for option, attribute in (("activation", "activation_fn"), ("recurrent_activation", "gate_fn")):
        function = getattr(cell, attribute, None)
        if function is None:  # a simple RNN has no gates
            continue
        ours = next((name for known, name in _NAMES if known is function), None)
        own: str = getattr(function, "__name__", type(function).__name__)
        names[option] = ours or own
        if ours is None:
            functions[option] = function
    return names, functions


def _array_function(function: Any) -> Callable[[Array], Array]:
    return lambda x: np.asarray(function(jax.numpy.asarray(x))).astype(x.dtype)


def _pullback(function: Any) -> Callable[[Array, Array], Array]:
    def pull(z: Array, gradient: Array) -> Array:
        _, back = jax.vjp(function, jax.numpy.asarray(z))
        return np.asarray(back(jax.numpy.asarray(gradient))[0]).astype(z.dtype)

    return pull


def recognized(weights: Weights) -> str | None:
    """The kind of the cell whose weights linen stores by these names, if it is one of its own."""
    for kind, letters in _LETTERS.items():
        expected = {side + letter for side in "ih" for letter in letters or [""]}
        if set(weights) == expected and all(_is_dense(part) for part in weights.values()):
            # Anybody may call two layers i and h.
            is_cell = kind != "simple_rnn" or (
                "bias" in weights["i"]
                and "bias" not in weights["h"]
                and len(set(np.shape(weights["h"]["kernel"]))) == 1
            )
            return kind if is_cell else None
    return None


def _is_dense(part: Any) -> bool:
    return isinstance(part, Mapping) and "kernel" in part and set(part) <= {"kernel", "bias"}


def read(
    id: str,
    description: Description,
    direction: Direction,
    weights: Weights,
    aliases: Sequence[str] = (),
) -> RecurrentLayer:
    """A layer with its weights by gate, or, of an unknown cell, by their own names.

    Args:
        id: the layer's id.
        description: what its cell is.
        direction: the order in which it reads.
        weights: the cell's, as NumPy arrays.
        aliases: further paths of the layer.
    """
    leaves = dict(named(weights))
    stored = str(np.result_type(*leaves.values())) if leaves else "float32"
    options: dict[str, Any] = {
        "framework": "flax",
        "dtype": stored,
        "compute_dtype": description.compute_dtype or stored,
    }
    if aliases:
        options["aliases"] = list(aliases)
    if description.kind == "unknown" or _is_stacked(leaves):
        return _read_unknown(id, description, direction, leaves, options)
    kernel, bias = _side(description.kind, weights, "i")
    recurrent_kernel, recurrent_bias = _side(description.kind, weights, "h")
    layer = RecurrentLayer.from_arrays(
        description.kind,
        kernel,
        recurrent_kernel,
        bias,
        gate_order=_LETTERS[description.kind],
        id=id,
        direction=direction,
        recurrent_bias=recurrent_bias,
        reset_after=True if description.kind in ("gru", "mgu") else None,
        forget_keeps=True if description.kind == "mgu" else None,
        activation=description.activations.get("activation", "tanh"),
        recurrent_activation=description.activations.get("recurrent_activation", "sigmoid"),
        options=options,
    )
    return replace(layer, _functions=description.functions, _pullbacks=description.pullbacks)


def _is_stacked(leaves: Mapping[str, Array]) -> bool:
    """Whether the weights are those of several cells at once, made by a `scan` or `vmap` over them.

    They have one more axis then.
    """
    return any(array.ndim != 2 for name, array in leaves.items() if name.endswith("kernel"))


def _side(kind: str, weights: Weights, side: str) -> tuple[Array, Array | None]:
    """The kernel and bias from the inputs (`i`) or from the hidden state (`h`), side by side."""
    if f"dense_{side}" in weights:
        parts = [weights[f"dense_{side}"]]
    else:
        parts = [_part(weights, side + letter) for letter in _LETTERS[kind] or [""]]
    kernel = np.concatenate([part["kernel"] for part in parts], axis=-1)
    if not any("bias" in part for part in parts):
        return kernel, None
    biases = [part.get("bias", np.zeros(part["kernel"].shape[-1])) for part in parts]
    return kernel, np.concatenate(biases, dtype=kernel.dtype, casting="unsafe")


def _part(weights: Weights, name: str) -> Any:
    """The part of that name; an attribute of nnx cannot be called `if`."""
    return weights[name] if name in weights else weights[f"{name}_"]


def _read_unknown(
    id: str,
    description: Description,
    direction: Direction,
    leaves: Mapping[str, Array],
    options: Mapping[str, Any],
) -> RecurrentLayer:
    return RecurrentLayer(
        id=id,
        cell="unknown",
        direction=direction,
        input_size=description.input_size,
        units=description.units,
        recurrent_size=description.units,
        kernel={},
        recurrent_kernel={},
        weights={name: frozen(to_array(array)) for name, array in leaves.items()},
        options={**options, "cell_class": description.cell_class},
    )


def named(weights: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, Array]]:
    """The arrays of nested weights, by their path."""
    for name, value in weights.items():
        if isinstance(value, Mapping):
            yield from named(value, (*path, str(name)))
        else:
            yield "/".join((*path, str(name))), value
