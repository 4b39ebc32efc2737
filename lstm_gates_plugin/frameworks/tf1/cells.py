"""TensorFlow 1: the cells inside wrappers and stacks, their ids, and their weights by gate.

A layer's id is the variable scope of its cell, such as `rnn/multi_rnn_cell/cell_0/lstm_cell`. A
cell that is used in several places of a stack is one layer, under its first scope. Should two
layers have the same scope, the second gets `#2`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import tensorflow as tf
from tf_keras.src.layers.rnn import legacy_cell_wrappers as wrappers
from tf_keras.src.layers.rnn import legacy_cells as cells

from lstm_gates_plugin.frameworks import levels
from lstm_gates_plugin.frameworks.tf1 import functions as tf1_functions
from lstm_gates_plugin.frameworks.tf1 import session as tf1_session
from lstm_gates_plugin.frameworks.tf1 import states as tf1_states
from lstm_gates_plugin.fused import Array, frozen, to_array
from lstm_gates_plugin.layer import Direction, RecurrentLayer

# By class, the kind of cell whose equations it follows, and its variables by their names within
# the cell's scope and by the attribute that holds them.
_KNOWN: Mapping[type, tuple[str, Mapping[str, str]]] = {
    cells.BasicRNNCell: ("simple_rnn", {"kernel": "_kernel", "bias": "_bias"}),
    cells.BasicLSTMCell: ("lstm", {"kernel": "_kernel", "bias": "_bias"}),
    cells.LSTMCell: (
        "lstm",
        {
            "kernel": "_kernel",
            "bias": "_bias",
            "w_i_diag": "_w_i_diag",
            "w_f_diag": "_w_f_diag",
            "w_o_diag": "_w_o_diag",
            "projection/kernel": "_proj_kernel",
        },
    ),
    cells.GRUCell: (
        "gru",
        {
            "gates/kernel": "_gate_kernel",
            "gates/bias": "_gate_bias",
            "candidate/kernel": "_candidate_kernel",
            "candidate/bias": "_candidate_bias",
        },
    ),
}

# The method in which a wrapper does what it does.
_WRAP = "_call_wrapped_cell"

DIRECTIONS: tuple[Direction, Direction] = ("forward", "backward")


@dataclass(frozen=True, eq=False)
class GraphCell:
    """A cell with weights of its own, and what is around it."""

    cell: Any
    kind: str
    wrappers: tuple[str, ...]  # the classes, outermost first
    keep_probabilities: tuple[Any, ...]  # of the DropoutWrappers: floats below 1, and tensors
    foreign: tuple[str, ...]  # the wrappers that are not TensorFlow's own, and may do anything

    def variables(self) -> dict[str, Any]:
        """The cell's variables by their names within its scope; empty if it is not built."""
        for known, (_, names) in _KNOWN.items():
            if self.kind != "unknown" and isinstance(self.cell, known):
                held = {name: getattr(self.cell, held, None) for name, held in names.items()}
                return {name: variable for name, variable in held.items() if variable is not None}
        scope = self.scope() + "/"
        return {
            _plain(variable.name).removeprefix(scope): variable
            for variable in getattr(self.cell, "weights", [])
        }

    def scope(self) -> str:
        """The variable scope of the cell, or its name if it was built outside of any."""
        if self.kind == "unknown":
            return str(getattr(self.cell, "scope_name", "") or self.cell.name)
        name, variable = next(iter(self.variables().items()))
        return _plain(variable.name).removesuffix(name).rstrip("/") or str(self.cell.name)

    def identity(self) -> int:
        """The same for cells that share their weights."""
        return id(next(iter(self.variables().values()), self.cell))

    def states(self) -> int:
        """How many arrays its state has."""
        return 2 if self.kind == "lstm" else len(tf.nest.flatten(self.cell.state_size))


def tree(cell: Any) -> levels.Node[GraphCell]:
    """What a cell is made of.

    Raises:
        ValueError: a wrapper wraps nothing.
    """
    return _tree(cell, (), (), ())


def _tree(
    cell: Any, around: tuple[str, ...], kept: tuple[Any, ...], foreign: tuple[str, ...]
) -> levels.Node[GraphCell]:
    name = type(cell).__name__
    if _is(cell, cells.MultiRNNCell, "call"):
        if not cell._cells:
            raise ValueError(f"the {name} {cell.name!r} holds no cell.")
        return levels.Stack(tuple(_tree(each, around, kept, foreign) for each in cell._cells))
    if not hasattr(cell, "cell"):
        return levels.Leaf(GraphCell(cell, _kind(cell), around, kept, foreign))
    if cell.cell is None:
        raise ValueError(f"the {name} {cell.name!r} is a wrapper around nothing.")
    around = (*around, name)
    if _is(cell, wrappers.ResidualWrapper, _WRAP):
        inner = _tree(cell.cell, around, kept, foreign)
        return levels.Residual(inner, _combination(cell._residual_fn))
    if _is(cell, wrappers.DropoutWrapper, _WRAP):
        all_kept = (cell._input_keep_prob, cell._state_keep_prob, cell._output_keep_prob)
        kept += tuple(each for each in all_kept if not isinstance(each, float) or each < 1)
    elif not _is(cell, wrappers.DeviceWrapper, _WRAP):
        foreign = (*foreign, name)
    return _tree(cell.cell, around, kept, foreign)


def _is(cell: Any, known: type, method: str) -> bool:
    """Whether a cell does what a class does, and not what a subclass makes of it."""
    return isinstance(cell, known) and getattr(type(cell), method) is getattr(known, method)


def _kind(cell: Any) -> str:
    return next(
        (kind for known, (kind, _) in _KNOWN.items() if _is(cell, known, "call")), "unknown"
    )


def _combination(function: Any) -> Callable[[Array, Array], Array] | None:
    """A residual function on arrays `[batch, time, size]`; `None` for the sum."""
    if function is None:
        return None
    on_arrays = tf1_functions.OnArrays(getattr(function, "__name__", "residual_fn"), function)

    def combine(inputs: Array, outputs: Array) -> Array:
        rows = [array.reshape(-1, array.shape[-1]) for array in (inputs, outputs)]
        combined = on_arrays(*(each.astype(outputs.dtype) for each in rows))
        return combined.reshape(*inputs.shape[:2], -1)

    return combine


@dataclass(frozen=True)
class Found:
    """A layer: a cell, its id, and the direction in which it reads."""

    id: str
    cell: GraphCell
    direction: Direction


def find(trees: Sequence[levels.Node[GraphCell]]) -> list[Found]:
    """The layers of the cell of a forward and, if there is a second, a backward rnn op.

    Raises:
        ValueError: a cell is not built, or none of them has weights.
    """
    found: dict[tuple[int, str], Found] = {}
    ids: Counter[str] = Counter()
    for node, direction in zip(trees, DIRECTIONS, strict=False):
        for cell in levels.leaves(node):
            if not cell.variables() and not getattr(cell.cell, "built", True):
                raise ValueError(
                    f"the {type(cell.cell).__name__} {cell.cell.name!r} is not built yet, so it "
                    "has no weights. Call dynamic_rnn, static_rnn or bidirectional_dynamic_rnn "
                    "with the cell first."
                )
            if not cell.variables() or (cell.identity(), direction) in found:
                continue
            scope = cell.scope()
            ids[scope] += 1
            id_ = scope if ids[scope] == 1 else f"{scope}#{ids[scope]}"
            found[cell.identity(), direction] = Found(id_, cell, direction)
    if not found:
        raise ValueError(
            "no cell with weights was found: the wrappers are around nothing that is recurrent."
        )
    return list(found.values())


def read(found: list[Found], session: Any) -> list[RecurrentLayer]:
    """The layers with copies of their present weights.

    Raises:
        ValueError: the session is of another graph, or a variable is not initialised in it.
    """
    variables = [each.cell.variables() for each in found]
    values = iter(tf1_session.read(session, [v for own in variables for v in own.values()]))
    return [
        _layer(each, {name: next(values) for name in own})
        for each, own in zip(found, variables, strict=True)
    ]


def _layer(found: Found, values: Mapping[str, Array]) -> RecurrentLayer:
    leaf, cell = found.cell, found.cell.cell
    dtype = str(next(iter(values.values())).dtype)
    options: dict[str, Any] = {"framework": "tf1", "compute_dtype": dtype}
    if leaf.wrappers:
        options["wrappers"] = list(leaf.wrappers)
    if leaf.keep_probabilities:
        options["dropout"] = "off in traces"  # its masks cannot be had from a session
    if leaf.kind == "unknown":
        return _unknown(found, values, options)
    name, function = tf1_functions.activation(cell._activation)
    kernel, bias = values.get("kernel"), values.get("bias")
    arguments: dict[str, Any] = {}
    if leaf.kind == "gru":
        kernel = np.concatenate([values["gates/kernel"], values["candidate/kernel"]], axis=-1)
        bias = np.concatenate([values["gates/bias"], values["candidate/bias"]])
    if leaf.kind == "lstm":
        arguments["forget_bias"] = float(cell._forget_bias)
        arguments["cell_clip"] = getattr(cell, "_cell_clip", None)
    if "w_i_diag" in values:
        arguments["peephole"] = {
            gate: values[f"w_{gate[0]}_diag"] for gate in ("input", "forget", "output")
        }
    if "projection/kernel" in values:
        arguments["projection"] = values["projection/kernel"]
        arguments["projection_clip"] = cell._proj_clip
    assert kernel is not None
    layer = RecurrentLayer.from_stacked(
        leaf.kind,
        kernel,
        bias,
        id=found.id,
        direction=found.direction,
        activation=name,
        options=options,
        **arguments,
    )
    if function is None:
        return layer
    return replace(
        layer, _functions={"activation": function}, _pullbacks={"activation": function.pull}
    )


def _unknown(found: Found, values: Mapping[str, Array], options: dict[str, Any]) -> RecurrentLayer:
    """A user's own cell: weights by their own names, no gates."""
    cell = found.cell.cell
    sizes = [int(np.prod(tf.TensorShape(size))) for size in tf.nest.flatten(cell.state_size)]
    return RecurrentLayer(
        id=found.id,
        cell="unknown",
        direction=found.direction,
        input_size=0,  # nothing in the cell says it
        units=sizes[0],
        recurrent_size=sizes[0],
        kernel={},
        recurrent_kernel={},
        weights={name: frozen(to_array(value)) for name, value in values.items()},
        options={**options, "cell_class": type(cell).__name__},
    )


def zero_states(node: levels.Node[GraphCell], inputs: Array) -> tuple[Array, ...]:
    """The states of all cells before the first timestep, where the rnn op is given none."""
    return tuple(
        np.zeros((len(inputs), size), inputs.dtype)
        for leaf in levels.leaves(node)
        for size in tf1_states.sizes(leaf.cell)
    )


def _plain(name: str) -> str:
    """A variable's name without the `:0` of its tensor."""
    return name.removesuffix(":0")
