"""Keras 3 on TensorFlow: record what goes into the recurrent layers of a model while it runs."""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import keras
import numpy as np
import tensorflow as tf

from lstm_gates_plugin.frameworks.keras_layers import Found
from lstm_gates_plugin.frameworks.recorded import RecordedCall
from lstm_gates_plugin.fused import Array
from lstm_gates_plugin.layer import RecurrentLayer


class NotRecordableError(Exception):
    """A layer runs inside a graph of its own, out of which no tensor can be handed."""


@dataclass(frozen=True)
class TensorCall:
    """One call of one layer, in the framework's tensors and the framework's order of time."""

    index: int  # of the layer, among those that are recorded
    group: int | None
    sequences: bool  # whether `output` is that of every timestep
    tensors: dict[str, Any] = field(repr=False)  # tensors, lists of tensors, or None

    def to_numpy(self, layer: RecurrentLayer, samples: int | None = None) -> RecordedCall:
        """The first rows of the call in NumPy, by input time."""

        def array(tensor: Any) -> Any:
            return None if tensor is None else to_numpy(tensor[:samples])

        def states(name: str) -> tuple[Array, ...] | None:
            tensors = self.tensors[name]
            return None if tensors is None else tuple(array(tensor) for tensor in tensors)

        mask, output = array(self.tensors["mask"]), array(self.tensors["output"])
        if mask is not None:
            mask = mask.astype(bool).reshape(mask.shape[:2])
        hidden = output if self.sequences else None
        if hidden is not None and layer.direction == "backward":
            hidden = hidden[:, ::-1]
        return RecordedCall(
            layer=layer,
            inputs=array(self.tensors["inputs"]),
            mask=mask,
            initial_state=states("initial_state"),
            hidden_state=hidden,
            last_hidden_state=None if self.sequences else output,
            final_state=states("final_state"),
            group=self.group,
            precision=_precision(layer),
        )


@dataclass
class Recorder:
    """The calls of some layers, in the order in which they are made."""

    calls: list[TensorCall] = field(default_factory=list)
    before_call: Callable[[int], None] = lambda index: None
    _groups: int = 0
    _group: int | None = None

    @contextlib.contextmanager
    def recording(self, model: Any, found: Sequence[Found]) -> Iterator[None]:
        """Record every call of the layers until the end of the block.

        `call` is replaced on the instances, in their `__dict__`, where Keras does not look for
        layers and weights to track.
        """
        graph = _graph()
        replaced: list[tuple[Any, Any]] = []

        def replace(layer: Any, wrapper: Callable[..., Any]) -> None:
            replaced.append((layer, vars(layer).get("call")))
            vars(layer)["call"] = wrapper

        try:
            for index, each in enumerate(found):
                replace(each.layer, self._recorded(index, each, graph))
            for layer in _time_distributed(model):
                replace(layer, self._grouped(layer.call))
            yield
        finally:
            for layer, earlier in reversed(replaced):
                del vars(layer)["call"]
                if earlier is not None:
                    vars(layer)["call"] = earlier

    def _recorded(self, index: int, found: Found, graph: Any) -> Callable[..., Any]:
        layer, call = found.layer, found.layer.call
        signature = inspect.signature(call)

        def recorded(*args: Any, **kwargs: Any) -> Any:
            if _graph() is not graph:
                if graph is not None:
                    raise NotRecordableError(found.id)
                return call(*args, **kwargs)  # Keras works out shapes, nothing is computed
            given = signature.bind(*args, **kwargs).arguments
            if given.get("training"):
                raise ValueError(
                    f"layer {found.id!r} was called with training=True while gates are recorded, "
                    "which is done in inference mode. Take training steps outside of record()."
                )
            self.before_call(index)
            initial = given.get("initial_state")
            if initial is None and layer.stateful:
                initial = layer.states
            initial = _tensors(initial)  # before the call, which sets the states of a stateful one
            result = call(*args, **kwargs)
            output, *states = result if layer.return_state else (result,)
            if not states and layer.stateful:
                states = _tensors(layer.states)
            self.calls.append(
                TensorCall(
                    index,
                    self._group,
                    layer.return_sequences,
                    {
                        "inputs": next(iter(given.values())),
                        "mask": keras.tree.flatten(given.get("mask"))[0],  # one for all inputs
                        "initial_state": initial,
                        "output": output,
                        "final_state": keras.tree.flatten(states) or None,
                    },
                )
            )
            return result

        return recorded

    def _grouped(self, call: Callable[..., Any]) -> Callable[..., Any]:
        def grouped(*args: Any, **kwargs: Any) -> Any:
            outer = self._group
            self._groups += 1
            self._group = self._groups if outer is None else outer
            try:
                return call(*args, **kwargs)
            finally:
                self._group = outer

        return grouped


def _precision(layer: RecurrentLayer) -> str:
    """What TensorFlow computes the layer in."""
    dtype = str(layer.options["compute_dtype"])
    tensor_float = tf.config.experimental.tensor_float_32_execution_enabled()
    if dtype == "float32" and tensor_float and tf.config.list_logical_devices("GPU"):
        return "tensorfloat32"
    return dtype


def _graph() -> Any:
    """The graph that TensorFlow is building, or `None` if it computes at once."""
    return None if tf.executing_eagerly() else tf.compat.v1.get_default_graph()


def _time_distributed(model: Any) -> list[Any]:
    layers = model._flatten_layers(include_self=True, recursive=True)
    return [each for each in layers if isinstance(each, keras.layers.TimeDistributed)]


def _tensors(states: Any) -> list[Any] | None:
    """The present values of a layer's states, flat."""
    if states is None:
        return None
    return [tf.convert_to_tensor(state) for state in keras.tree.flatten(states)]


def to_numpy(value: Any) -> Array:
    """A copy of a tensor, or of what a model returns beside tensors, as an array."""
    return np.array(value.numpy() if hasattr(value, "numpy") else value)
