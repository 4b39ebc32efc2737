"""TensorFlow 1 graph cells: list their layers, and trace them on what their rnn op is given.

`dynamic_rnn`, `static_rnn` and `bidirectional_dynamic_rnn` leave no gates behind in the graph that
could be asked for, and nothing may be added to a finalized graph. So what the cells did is
replayed, level by level, from the inputs of the rnn op and the variables in the session.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import tensorflow as tf
from tf_keras.src.layers.rnn import legacy_cells

from lstm_gates_plugin.frameworks import levels
from lstm_gates_plugin.frameworks.arriving import Arriving
from lstm_gates_plugin.frameworks.recorded import Observation, Observe, RecordedCall
from lstm_gates_plugin.frameworks.tf1 import arguments as tf1_arguments
from lstm_gates_plugin.frameworks.tf1 import cells as tf1_cells
from lstm_gates_plugin.frameworks.tf1 import session as tf1_session
from lstm_gates_plugin.frameworks.tf1.arguments import Call
from lstm_gates_plugin.frameworks.tf1.cells import Found, GraphCell
from lstm_gates_plugin.frameworks.tf1.stepping import Stepper
from lstm_gates_plugin.layer import RecurrentLayer


def recurrent_layers(
    cell: Any, *, session: Any = None, backward_cell: Any = None
) -> list[RecurrentLayer]:
    """The layers of a cell, from the lowest level up, with copies of their present weights.

    Args:
        cell: the cell that was given to the rnn op.
        session: where its variables are; by default the default session.
        backward_cell: the second cell of a `bidirectional_dynamic_rnn`.

    Raises:
        ValueError: the cell is not built, its variables are not initialised, or the session is of
            another graph.
    """
    cells = [each for each in (cell, backward_cell) if each is not None]
    found = tf1_cells.find([tf1_cells.tree(each) for each in cells])
    return tf1_cells.read(found, tf1_session.choose(session))


def observe(
    cell: Any,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    samples: int | None,
    loss: Any = None,
) -> Observation:
    """Replay the rnn op that runs a cell, without dropout and without a change to the session.

    Args:
        cell: the cell that was given to the rnn op.
        args: of `Call`.
        kwargs: of `Call`.
        samples: how many rows to replay at most.
        loss: of `Call`.

    Raises:
        TypeError: an argument is none of `Call`'s, or of another type.
        ValueError: as `recurrent_layers`; or an argument does not fit the cell, or a tensor cannot
            be computed, or the loss cannot be differentiated.
    """
    call = Call(*args, **kwargs, loss=loss)
    cells = [each for each in (cell, call.backward_cell) if each is not None]
    trees = [tf1_cells.tree(each) for each in cells]
    found = tf1_cells.find(trees)
    _check_traceable(trees, found)
    session = tf1_session.choose(call.session)
    layers = tf1_cells.read(found, session)
    values = tf1_arguments.evaluate(call, session, trees)
    calls: list[RecordedCall] = []
    for number, (each, tree) in enumerate(zip(cells, trees, strict=True)):
        own = {
            layer_found.cell.identity(): layer
            for layer_found, layer in zip(found, layers, strict=True)
            if layer.direction == tf1_cells.DIRECTIONS[number]
        }
        given = tf1_arguments.of_cell(values, call, each, number, len(trees))
        if given["initial_state"] is None and any(
            leaf.kind == "unknown" for leaf in levels.leaves(tree)
        ):
            given["initial_state"] = tf1_cells.zero_states(tree, given["inputs"])
        whole = RecordedCall(
            layer=layers[0],
            rows=len(given["inputs"]),
            precision=_precision(layers[0], session),
            **{name: _first_rows(value, samples) for name, value in given.items()},
        )
        calls += levels.replay(levels.convert(tree, partial(_replayable, own)), whole)
    return Observation(layers, calls, None)


def recording(cell: Any) -> contextlib.AbstractContextManager[Observe]:
    """Refuse: what runs inside a session cannot be recorded.

    Raises:
        ValueError: always.
    """
    raise ValueError(
        "a TF1 cell runs inside the session, where nothing can be recorded; use lg.trace(cell, "
        "inputs=tensor, feed_dict=..., session=...) with what you give to the rnn op."
    )


def _check_traceable(trees: Sequence[levels.Node[GraphCell]], found: Sequence[Found]) -> None:
    """Refuse wrappers and cells that may do anything."""
    ids = {each.cell.identity(): each.id for each in found}
    for cell in [cell for tree in trees for cell in levels.leaves(tree)]:
        if cell.foreign:
            raise ValueError(
                f"what the wrapper {cell.foreign[0]} does is not known, so "
                f"{ids[cell.identity()]!r} cannot be traced in it. Trace the cell inside it: "
                "lg.trace(inner_cell, inputs=the tensor that it reads, ...)."
            )
        if cell.identity() not in ids:
            raise ValueError(
                f"the {type(cell.cell).__name__} {cell.cell.name!r} has no weights and is not a "
                "cell of TensorFlow's, so what it does is not known. Trace the cells around it one "
                "by one: lg.trace(cell, inputs=the tensor that it reads, ...)."
            )


def _replayable(layers: Mapping[int, RecurrentLayer], cell: GraphCell) -> levels.Cell:
    layer = layers[cell.identity()]
    if cell.kind != "unknown":
        return levels.Cell(layer, states=cell.states())
    step = Stepper(cell.cell, cell.scope(), layer.weights)
    # A subclass of an LSTM with equations of its own still has its states.
    is_lstm = isinstance(cell.cell, (legacy_cells.BasicLSTMCell, legacy_cells.LSTMCell))
    return levels.Cell(layer, cell.states(), step, known_states=2 if is_lstm else 1)


def _first_rows(value: Any, samples: int | None) -> Any:
    if isinstance(value, Arriving):
        return value.map(lambda array: array[:samples])
    if isinstance(value, tuple):
        return tuple(each[:samples] for each in value)
    return None if value is None else value[:samples]


def _precision(layer: RecurrentLayer, session: Any) -> str:
    """What TensorFlow computes the layer in."""
    dtype = str(layer.options["compute_dtype"])
    rough = tf.config.experimental.tensor_float_32_execution_enabled()
    if dtype == "float32" and rough and tf1_session.has_gpu(session):
        return "tensorfloat32"
    return dtype
