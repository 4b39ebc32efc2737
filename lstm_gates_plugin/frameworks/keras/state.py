"""Keras: what is noted before a look inside a model, and set back afterwards, on any backend."""

from __future__ import annotations

import contextlib
import importlib
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from lstm_gates_plugin.frameworks.keras.family import Keras, keras_of
from lstm_gates_plugin.frameworks.keras.layers import layers_of_class
from lstm_gates_plugin.frameworks.random_state import restored_random_state

# Keras 3 draws from this generator where a random function was given no seed of its own.
_SEED_GENERATOR = "global_seed_generator"
_NAME_SCOPES = "name_scope_stack"


@contextlib.contextmanager
def restored_variables(variables: Iterable[Any], snapshot: Callable[[Any], Any]) -> Iterator[None]:
    """Set the variables back to their present values at the end, also after an exception.

    Args:
        variables: of Keras or of its backend.
        snapshot: gives a variable's value, which later writes must not change.
    """
    before = [(variable, snapshot(variable)) for variable in variables]
    try:
        yield
    finally:
        for variable, value in before:
            variable.assign(value)


@contextlib.contextmanager
def restored_globals(keras: Keras, snapshot: Callable[[Any], Any]) -> Iterator[None]:
    """Set back at the end: the random state of Python, NumPy and Keras, and Keras's name scope.

    A layer that fails on entering its name scope leaves it on Keras's stack.
    """
    with restored_random_state():
        if keras.generation == 2:  # it draws from TensorFlow alone
            yield
            return
        state = importlib.import_module("keras.src.backend.common.global_state")
        generator = state.get_global_attribute(_SEED_GENERATOR)
        scopes = list(state.get_global_attribute(_NAME_SCOPES, []))
        with restored_variables([] if generator is None else [generator.state], snapshot):
            try:
                yield
            finally:
                state.set_global_attribute(_SEED_GENERATOR, generator)
                state.set_global_attribute(_NAME_SCOPES, scopes)


def changing_variables(model: Any) -> list[Any]:
    """The variables of a model that may change in inference mode: statistics, states, seeds."""
    keras = keras_of(model)
    try:
        weights = [variable for variable in model.variables if not variable.trainable]
    except ValueError:  # Keras 2 does not say before the model is built
        weights = []
    layers = layers_of_class(model, keras.layers.RNN)
    states = [layer.states for layer in layers if layer.stateful and layer.states is not None]
    known = {id(variable) for variable in weights}
    kept = [each for each in keras.flatten(states) if each is not None and id(each) not in known]
    return weights + kept
