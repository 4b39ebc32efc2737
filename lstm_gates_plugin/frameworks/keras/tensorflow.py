"""Keras on TensorFlow, of either generation."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Iterator, Sequence
from typing import Any

import tensorflow as tf
from tensorflow.python.eager import context

from lstm_gates_plugin.frameworks.keras import compiled as keras_compiled
from lstm_gates_plugin.frameworks.keras.backend import Backend, NotRecordableError
from lstm_gates_plugin.frameworks.keras.call import TensorCall
from lstm_gates_plugin.frameworks.keras.family import Keras, keras_of
from lstm_gates_plugin.frameworks.keras.layers import Found
from lstm_gates_plugin.frameworks.keras.losses import Follow, Gradient, Loss
from lstm_gates_plugin.frameworks.keras.recording import run_eagerly
from lstm_gates_plugin.frameworks.keras.state import restored_globals


class TensorFlow(Backend):
    """Runs a model as a compiled function, kept for later calls, and eagerly where it must."""

    def refuse_graphs(self) -> None:
        """See `Backend`: a `tf.function` is being traced."""
        if not tf.executing_eagerly():
            raise ValueError(
                "gates cannot be recorded while TensorFlow builds a graph, which has no values "
                "yet. Log and trace outside of functions that are decorated with tf.function."
            )

    def graph(self) -> Any:
        """See `Backend`."""
        return None if tf.executing_eagerly() else tf.compat.v1.get_default_graph()

    def is_computed(self, tensor: Any, graph: Any) -> bool:
        """See `Backend`: a graph within the graph is a loop's, or a function's."""
        if self.graph() is graph:
            return True
        if graph is not None:
            raise NotRecordableError("A layer runs inside a graph within the graph.")
        return False  # Keras works out shapes

    def snapshot(self, value: Any) -> Any:
        """See `Backend`. A tensor is never written to, so nothing is copied."""
        return tf.convert_to_tensor(value)

    def padded(self, tensor: Any) -> tuple[Any, Any]:
        """See `Backend`."""
        if not isinstance(tensor, tf.RaggedTensor):
            return tensor, None
        dense = tensor.to_tensor()
        return dense, tf.sequence_mask(tensor.row_lengths(), tf.shape(dense)[1])

    def precision(self, dtype: str) -> str:
        """See `Backend`."""
        tensor_float = tf.config.experimental.tensor_float_32_execution_enabled()
        if dtype == "float32" and tensor_float and tf.config.list_logical_devices("GPU"):
            return "tensorfloat32"
        return dtype

    @contextlib.contextmanager
    def restored(self, keras: Keras) -> Iterator[None]:
        """See `Backend`."""
        with restored_globals(keras, self.snapshot), self.building():
            yield

    @contextlib.contextmanager
    def building(self) -> Iterator[None]:
        """See `Backend`. Eager operations draw seeds that the operations of a graph do not."""
        seeds = getattr(context.context(), "_rng", None)  # there only after tf.random.set_seed
        before = seeds and seeds.getstate()
        try:
            yield
        finally:
            if seeds is not None and seeds.getstate() != before:
                seeds.setstate(before)
                # A kernel made for one of these seeds would go on where it stopped.
                context.context().clear_kernel_cache()

    @contextlib.contextmanager
    def inline(self) -> Iterator[None]:
        """See `Backend`."""
        before = tf.config.functions_run_eagerly()
        tf.config.run_functions_eagerly(True)
        try:
            with warnings.catch_warnings():
                # That tf.data does not run eagerly is all the same here.
                warnings.filterwarnings("ignore", message="Even though the .*run_functions_eagerly")
                yield
        finally:
            tf.config.run_functions_eagerly(before)

    def run(
        self,
        model: Any,
        found: Sequence[Found],
        key: str,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        loss: Loss | None = None,
    ) -> tuple[list[TensorCall], Any]:
        """See `Backend`."""
        # Whatever goes wrong: if it is the user's own error, eagerly it shows best.
        with contextlib.suppress(Exception):
            return keras_compiled.run(self, model, found, key, args, kwargs, loss)
        try:
            with self.inline():
                return run_eagerly(self, model, found, args, kwargs, loss)
        except Exception as error:
            if _has_ragged((args, kwargs)) and keras_of(model).generation > 2:
                raise ValueError(
                    "the model was given a ragged tensor, and the recurrent layers of Keras 3 take "
                    "none. Pad it with to_tensor(), and mask what is padding."
                ) from error
            raise

    @contextlib.contextmanager
    def following(self) -> Iterator[tuple[Follow | None, Gradient]]:
        """See `Backend`."""
        with tf.GradientTape(persistent=True) as tape:

            def follow(tensor: Any) -> tuple[Any, Any]:
                # A copy: a state may be part of the output, and its gradient that of both.
                copy = tf.identity(tensor)
                tape.watch(copy)
                return copy, copy

            yield follow, tape.gradient


def _has_ragged(structure: Any) -> bool:
    return any(isinstance(leaf, tf.RaggedTensor) for leaf in tf.nest.flatten(structure))
