"""Rnn ops of TensorFlow 1 with known or random weights; only for the process of tests/tf1."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import tensorflow as tf

v1 = tf.compat.v1
cells = v1.nn.rnn_cell


@dataclass
class Op:
    """An rnn op in the default graph, with placeholders for what goes in."""

    cell: Any
    backward_cell: Any
    inputs: Any
    lengths: Any
    outputs: Any
    state: Any

    def feed(self, x: np.ndarray, lengths: Any = None) -> dict[Any, Any]:
        """A feed_dict."""
        return {self.inputs: x} | ({} if self.lengths is None else {self.lengths: lengths})

    def arguments(self, x: np.ndarray, lengths: Any = None) -> dict[str, Any]:
        """The arguments of `trace` for the op on some values, with all that it returns."""
        return {
            "inputs": self.inputs,
            "feed_dict": self.feed(x, lengths),
            "lengths": self.lengths,
            "outputs": self.outputs,
            "state": self.state,
            "backward_cell": self.backward_cell,
        }


def dynamic(
    cell: Any, size: int, *, backward_cell: Any = None, lengths: bool = False, **arguments: Any
) -> Op:
    """`dynamic_rnn`, or `bidirectional_dynamic_rnn` where there are two cells."""
    inputs = v1.placeholder(tf.float32, [None, None, size])
    given = v1.placeholder(tf.int32, [None]) if lengths else None
    arguments = {"dtype": tf.float32, "sequence_length": given, **arguments}
    if backward_cell is None:
        outputs, state = v1.nn.dynamic_rnn(cell, inputs, **arguments)
    else:
        outputs, state = v1.nn.bidirectional_dynamic_rnn(cell, backward_cell, inputs, **arguments)
    return Op(cell, backward_cell, inputs, given, outputs, state)


def static(cell: Any, size: int, timesteps: int, *, lengths: bool = False) -> Op:
    """`static_rnn`."""
    inputs = v1.placeholder(tf.float32, [None, timesteps, size])
    given = v1.placeholder(tf.int32, [None]) if lengths else None
    outputs, state = v1.nn.static_rnn(
        cell, tf.unstack(inputs, axis=1), dtype=tf.float32, sequence_length=given
    )
    return Op(cell, None, inputs, given, outputs, state)


def randomize(session: Any, seed: int = 0) -> None:
    """Normal values for every variable, biases too."""
    random = np.random.default_rng(seed)
    for variable in v1.global_variables():
        shape = variable.shape.as_list()
        put(session, variable, 0.4 * random.normal(size=shape))


def put(session: Any, variable: Any, value: Any) -> None:
    """Give a variable a value."""
    session.run(variable.initializer, {variable.initializer.inputs[1]: value})


def put_all(session: Any, values: Mapping[str, Any]) -> None:
    """Give variables values by the ends of their names."""
    session.run(v1.global_variables_initializer())
    for end, value in values.items():
        for variable in v1.global_variables():
            if variable.op.name.endswith(end):
                put(session, variable, np.broadcast_to(value, variable.shape.as_list()))
