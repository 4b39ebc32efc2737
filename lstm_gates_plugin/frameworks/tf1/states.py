"""TensorFlow 1: states in the structure of a cell, as a flat list of arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import tensorflow as tf
from tf_keras.src.layers.rnn import legacy_cells as cells

from lstm_gates_plugin.fused import Array


def flat(cell: Any, state: Any, batch: int) -> tuple[Array, ...]:
    """The states of all cells in a cell, level by level; of an LSTM the hidden state first.

    Args:
        cell: a cell, a wrapper or a stack.
        state: in the structure of `cell.state_size`: an `LSTMStateTuple` of cell and hidden state,
            a tuple of one state per level, or, with `state_is_tuple=False`, one array of all.
        batch: the number of rows.

    Raises:
        ValueError: the state has another structure or shape.
    """
    if isinstance(cell, cells.MultiRNNCell):
        levels = zip(cell._cells, _by_level(cell, state), strict=True)
        return tuple(part for level, own in levels for part in flat(level, own, batch))
    if hasattr(cell, "cell"):
        return flat(cell.cell, state, batch)
    if _is_lstm(cell):
        return _lstm(cell, state, batch)
    return tuple(_parts(state))


def _by_level(stack: Any, state: Any) -> list[Any]:
    sizes = [level.state_size for level in stack._cells]
    if not stack._state_is_tuple and not isinstance(state, tuple):
        return np.split(state, np.cumsum(sizes)[:-1], axis=-1)
    if not isinstance(state, tuple) or len(state) != len(sizes):
        raise ValueError(
            f"a state of the MultiRNNCell {stack.name!r} must be a tuple of {len(sizes)} states, "
            "one for each level."
        )
    return list(state)


def _lstm(cell: Any, state: Any, batch: int) -> tuple[Array, Array]:
    units, recurrent_size = cell._num_units, cell.output_size
    if not isinstance(state, tuple) and state.ndim == 2:
        state = (state[:, :units], state[:, units:])  # state_is_tuple=False
    shapes = [np.shape(part) for part in _parts(state)]
    if shapes != [(batch, units), (batch, recurrent_size)]:
        raise ValueError(
            f"a state of the {type(cell).__name__} {cell.name!r} must be an LSTMStateTuple of a "
            f"cell state of shape ({batch}, {units}) and a hidden state of shape ({batch}, "
            f"{recurrent_size}), and arrays of the shapes {shapes} were given."
        )
    cell_state, hidden_state = _parts(state)
    return hidden_state, cell_state


def _parts(state: Any) -> list[Array]:
    if isinstance(state, tuple):
        return [part for each in state for part in _parts(each)]
    return [state]


def flat_tensors(cell: Any, state: Any) -> list[Any]:
    """The tensors of one cell's new state, in the order of `flat`."""
    if _is_lstm(cell):
        cell_state, hidden_state = tf.nest.flatten(state) if _is_nested(state) else _halves(state)
        return [hidden_state, cell_state]
    return list(tf.nest.flatten(state))


def nested(cell: Any, states: Sequence[Any]) -> Any:
    """The states of one cell, given in the order of `flat`, in the structure of its state."""
    if not _is_lstm(cell):
        return tf.nest.pack_sequence_as(cell.state_size, list(states))
    hidden_state, cell_state = states
    if cell._state_is_tuple:
        return cells.LSTMStateTuple(cell_state, hidden_state)
    return tf.concat([cell_state, hidden_state], axis=1)


def sizes(cell: Any) -> list[int]:
    """The sizes of one cell's states, in the order of `flat`."""
    if _is_lstm(cell):
        return [cell.output_size, cell._num_units]
    return [int(np.prod(tf.TensorShape(size))) for size in tf.nest.flatten(cell.state_size)]


def _is_lstm(cell: Any) -> bool:
    return isinstance(cell, (cells.BasicLSTMCell, cells.LSTMCell))


def _is_nested(state: Any) -> bool:
    return isinstance(state, (list, tuple))


def _halves(state: Any) -> list[Any]:
    return list(tf.split(state, 2, axis=1))
