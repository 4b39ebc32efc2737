"""Fused arrays, as frameworks store them: checked, turned to one orientation, split by gate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

Array: TypeAlias = npt.NDArray[Any]

#: The letters by which a gate order is declared, as the frameworks' own documentation uses them.
GATE_LETTERS: Mapping[str, Mapping[str, str]] = {
    "lstm": {
        "i": "input",
        "f": "forget",
        "g": "candidate",
        "c": "candidate",
        "j": "candidate",
        "o": "output",
    },
    "gru": {
        "r": "reset",
        "z": "update",
        "u": "update",
        "n": "candidate",
        "h": "candidate",
        "c": "candidate",
        "a": "candidate",
    },
    "mgu": {"f": "forget", "n": "candidate", "h": "candidate", "c": "candidate"},
}

#: What TensorFlow 1 does with the kernels that it stores stacked.
STACKED_DEFAULTS: Mapping[str, Mapping[str, Any]] = {
    "lstm": {"gate_order": "ijfo", "forget_bias": 1.0},
    "gru": {"gate_order": "ruc", "reset_after": False},
}


def to_array(value: npt.ArrayLike) -> Array:
    """A float array: float64 as it is, every other type as float32."""
    array = np.asarray(value)
    return array if array.dtype == np.float64 else array.astype(np.float32)


def to_matrix(value: npt.ArrayLike) -> Array:
    """The same, refusing anything but a matrix."""
    array = to_array(value)
    if array.ndim != 2:
        raise ValueError(f"a kernel must be a matrix, and one of shape {array.shape} was given.")
    return array


def frozen(array: Array) -> Array:
    """A read-only copy: a layer is what the weights were, whatever happens to them later."""
    copy = np.array(array, order="C")
    copy.flags.writeable = False
    return copy


def gate_names(cell: str, gate_order: str, gates: tuple[str, ...]) -> tuple[str, ...]:
    """The gates that a declared order stands for."""
    if len(gates) == 1 and not gate_order:
        return gates
    if len(gates) == 1:
        raise ValueError(
            f"gate_order={gate_order!r} was given, but a {cell!r} has one gate; leave it out."
        )
    if cell not in GATE_LETTERS:
        known = ", ".join([*GATE_LETTERS, "simple_rnn"])
        raise ValueError(f"cell must be one of {known}, and {cell!r} was given.")
    letters = GATE_LETTERS[cell]
    names = tuple(letters.get(letter, "") for letter in gate_order)
    if sorted(names) != sorted(gates):
        meanings = ", ".join(f"{letter} = {name}" for letter, name in letters.items())
        raise ValueError(
            f"gate_order={gate_order!r} is not an order of the {len(gates)} gates of a "
            f"{cell!r}. Give one letter per gate, in the order of storage: {meanings}."
        )
    return names


def count_units(
    cell: str, gates: int, kernel: Array, recurrent_kernel: Array, projection: Array | None
) -> int:
    """The number of units, after checking that the arrays fit together."""
    rows, columns = recurrent_kernel.shape
    expected_rows = columns // gates if projection is None else projection.shape[1]
    if columns % gates or rows != expected_rows or columns == 0:
        turned = columns and rows == gates * columns and projection is None
        raise ValueError(
            f"the recurrent_kernel of a {cell!r} must have the shape (recurrent_size, {gates} * "
            f"units), where recurrent_size is units or the projection's second size, and "
            f"{recurrent_kernel.shape} was given." + _transpose_hint("recurrent_kernel", turned)
        )
    if kernel.shape[1] != columns:
        raise ValueError(
            f"the kernel of a {cell!r} with a recurrent_kernel of shape {recurrent_kernel.shape} "
            f"must have the shape (input_size, {columns}), and {kernel.shape} was given."
            + _transpose_hint("kernel", kernel.shape[0] == columns)
        )
    units: int = columns // gates
    if projection is not None and projection.shape[0] != units:
        raise ValueError(
            f"the projection must have the shape ({units}, recurrent_size), and "
            f"{projection.shape} was given."
        )
    return units


def input_rows(cell: str, gates: int, kernel: Array, projection: npt.ArrayLike | None) -> int:
    """How many rows of a stacked kernel belong to the input; the recurrent rows follow them."""
    columns = kernel.shape[-1] if kernel.ndim == 2 else 0
    recurrent = columns // gates if projection is None else np.shape(projection)[-1]
    rows: int = kernel.shape[0] - recurrent if columns else 0
    if columns % gates or rows < 1:
        turned = kernel.ndim == 2 and kernel.shape[0] % gates == 0
        turned = turned and kernel.shape[1] > kernel.shape[0] // gates
        raise ValueError(
            f"the stacked kernel of a {cell!r} must have the shape (input_size + recurrent_size, "
            f"{gates} * units), where recurrent_size is units or the projection's second size, and "
            f"{kernel.shape} was given." + _transpose_hint("kernel", turned)
        )
    return rows


def _transpose_hint(name: str, turned: object) -> str:
    return f" It looks transposed: give {name}.T." if turned else ""


def split(name: str, array: Array, gates: Sequence[str], units: int) -> dict[str, Array]:
    """A fused array as one read-only copy per gate, in the order given."""
    width = len(gates) * units
    if array.shape[-1] != width or (array.ndim != 1 and "kernel" not in name):
        raise ValueError(f"{name} must have the shape ({width},), and {array.shape} was given.")
    return {gate: frozen(array[..., k * units : (k + 1) * units]) for k, gate in enumerate(gates)}


def sum_biases(
    bias: dict[str, Array] | None, recurrent: dict[str, Array] | None, reset_after: bool
) -> tuple[dict[str, Array] | None, dict[str, Array] | None]:
    """The effective bias by gate, and the part that must stay apart.

    The reset gate of a reset-after cell scales the recurrent product and its bias, so only there
    the two biases of the candidate cannot be summed.
    """
    if recurrent is None:
        return bias, None
    apart = {"candidate": recurrent["candidate"]} if reset_after else None
    zeros = {gate: np.zeros_like(array) for gate, array in recurrent.items()}
    summed = {}
    for gate, array in (bias or zeros).items():
        keep_apart = apart is not None and gate in apart
        summed[gate] = array if keep_apart else frozen(array + recurrent[gate])
    return summed, apart


def cell_options(
    cell: str,
    *,
    reset_after: bool | None,
    update_keeps: bool,
    forget_keeps: bool | None,
    **lstm_options: float | None,
) -> dict[str, Any]:
    """The options that belong to this kind of cell; the required ones must be given."""
    given = {name: float(v) for name, v in lstm_options.items() if v is not None}
    if given and cell != "lstm":
        raise ValueError(f"{', '.join(given)} belongs to an LSTM, and this is a {cell!r}.")
    if cell in ("gru", "mgu"):
        if reset_after is None:
            raise ValueError(
                f"a {cell!r} needs reset_after=True (the gate scales the recurrent product, as in "
                "torch, Flax and, by default, Keras) or reset_after=False (it scales the hidden "
                "state before the product)."
            )
        given["reset_after"] = reset_after
    if not update_keeps:
        if cell != "gru":
            raise ValueError(f"update_keeps=False belongs to a GRU, and this is a {cell!r}.")
        given["update_keeps"] = False
    if cell == "mgu":
        if forget_keeps is None:
            raise ValueError(
                "a 'mgu' needs forget_keeps=True (the forget gate multiplies the old state, as in "
                "Flax) or forget_keeps=False (it multiplies the candidate, as in arXiv 1603.09420)."
            )
        given["forget_keeps"] = forget_keeps
    return given


def peepholes(
    peephole: Mapping[str, npt.ArrayLike] | npt.ArrayLike | None, order: str, units: int
) -> dict[str, Array] | None:
    """Checked and copied peephole weights, from a mapping or from a vector in a declared order."""
    gates = ("input", "forget", "output")
    if peephole is None:
        return None
    if not isinstance(peephole, Mapping):
        names = [GATE_LETTERS["lstm"].get(letter, "") for letter in order]
        if sorted(names) != sorted(gates):
            raise ValueError(
                f"peepholes side by side need their order, and peephole_order={order!r} was given. "
                "Give one letter per gate, in the order of storage: i = input, f = forget, o = "
                "output; or give the peepholes by gate."
            )
        blocks = split("peephole", to_array(peephole), names, units)
        return {gate: blocks[gate] for gate in gates}
    if not set(peephole) <= set(gates):
        raise ValueError(
            f"peepholes are by gate, 'input', 'forget' and 'output', and {sorted(peephole)} was "
            "given."
        )
    arrays = {gate: to_array(array) for gate, array in peephole.items()}
    for gate, array in arrays.items():
        if array.shape != (units,):
            raise ValueError(
                f"peephole[{gate!r}] must have the shape ({units},), and {array.shape} was given."
            )
    return {gate: frozen(array) for gate, array in arrays.items()}
