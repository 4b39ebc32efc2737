"""TensorFlow 1: a user's own cell, stepped in a graph of its own with the weights as constants.

Nothing is added to the user's graph, which may be finalized, and their session is left alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import tensorflow as tf

from lstm_gates_plugin.frameworks.stepped import CannotStepError
from lstm_gates_plugin.frameworks.tf1 import states as tf1_states
from lstm_gates_plugin.fused import Array

v1 = tf.compat.v1


class Stepper:
    """One timestep of a cell, on arrays: its inputs and states give its output and new states.

    Args:
        cell: the user's cell.
        scope: its variable scope.
        weights: its variables' values, by their names within the scope.
    """

    def __init__(self, cell: Any, scope: str, weights: Mapping[str, Array]) -> None:
        self._cell = cell
        self._scope = scope
        self._weights = {f"{scope}/{name}": value for name, value in weights.items()}
        self._session: Any = None

    def __call__(self, inputs: Array, states: tuple[Array, ...]) -> tuple[Array, tuple[Array, ...]]:
        """Run one timestep.

        Raises:
            CannotStepError: the cell cannot be built outside of the user's graph.
        """
        if self._session is None:
            self._build(inputs, states)
        fed = dict(zip(self._fed, (inputs, *states), strict=True))
        output, *new = self._session.run(self._fetched, fed)
        return output, tuple(new)

    def _build(self, inputs: Array, states: tuple[Array, ...]) -> None:
        graph = tf.Graph()
        try:
            with graph.as_default():
                constants = {name: tf.constant(value) for name, value in self._weights.items()}
                self._fed = [
                    v1.placeholder(array.dtype, [None, *array.shape[1:]])
                    for array in (inputs, *states)
                ]
                output, new = self._call(constants, *self._fed)
                flat = tf1_states.flat_tensors(self._cell, new)
                self._fetched = [tf.convert_to_tensor(each) for each in (output, *flat)]
        except Exception as error:  # whatever the user's own code raises
            raise CannotStepError(str(error)) from error
        self._session = v1.Session(graph=graph, config=v1.ConfigProto(device_count={"GPU": 0}))

    def _call(self, constants: Mapping[str, Any], inputs: Any, *states: Any) -> Any:
        stand_in = object.__new__(type(self._cell))
        vars(stand_in).update(
            {name: _replaced(value, constants) for name, value in vars(self._cell).items()}
        )

        def get(getter: Any, name: str, *args: Any, **kwargs: Any) -> Any:
            return constants[name]

        nested = tf1_states.nested(self._cell, states)
        with v1.variable_scope(self._scope, custom_getter=get):
            return stand_in.call(inputs, nested)


def _replaced(value: Any, constants: Mapping[str, Any]) -> Any:
    """An attribute of the cell, with constants in the places of variables."""
    if isinstance(value, tf.Variable):
        return constants[value.name.removesuffix(":0")]
    if type(value) in (list, tuple):
        return type(value)(_replaced(each, constants) for each in value)
    if type(value) is dict:
        return {name: _replaced(each, constants) for name, each in value.items()}
    return value
