"""Keras 3 on TensorFlow: what is set for a look inside a model, and set back afterwards."""

from __future__ import annotations

import contextlib
import random
import warnings
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import tensorflow as tf
from keras.src.backend.common import global_state
from tensorflow.python.eager import context

# Keras draws from this generator where a random function was given no seed of its own.
_SEED_GENERATOR = "global_seed_generator"


@contextlib.contextmanager
def restored_variables(variables: Iterable[Any]) -> Iterator[None]:
    """Set the variables back to their present values at the end, also after an exception.

    A read tensor is never written to, so keeping one copies nothing.
    """
    before = [(variable, tf.convert_to_tensor(variable)) for variable in variables]
    try:
        yield
    finally:
        for variable, value in before:
            variable.assign(value)


@contextlib.contextmanager
def restored_random_state() -> Iterator[None]:
    """Set the random state of Python, NumPy, Keras and TensorFlow back at the end."""
    python, numpy = random.getstate(), np.random.get_state()
    keras_generator = global_state.get_global_attribute(_SEED_GENERATOR)
    with restored_variables([] if keras_generator is None else [keras_generator.state]):
        seeds = getattr(context.context(), "_rng", None)  # there only after tf.random.set_seed
        seeds_before = seeds and seeds.getstate()
        try:
            yield
        finally:
            random.setstate(python)
            np.random.set_state(numpy)
            global_state.set_global_attribute(_SEED_GENERATOR, keras_generator)
            if seeds is not None and seeds.getstate() != seeds_before:
                seeds.setstate(seeds_before)
                # A kernel made for one of these seeds would go on where it stopped.
                context.context().clear_kernel_cache()


@contextlib.contextmanager
def functions_inline() -> Iterator[None]:
    """Run every `tf.function` as the Python function that it was made of, to the end of the block.

    What was compiled before would run without its layers' `call` being called.
    """
    before = tf.config.functions_run_eagerly()
    tf.config.run_functions_eagerly(True)
    try:
        with warnings.catch_warnings():
            # That tf.data does not run eagerly is all the same here.
            warnings.filterwarnings("ignore", message="Even though the .*run_functions_eagerly")
            yield
    finally:
        tf.config.run_functions_eagerly(before)
