"""Keras on TensorFlow: run a model with recording as a compiled function, kept for later calls.

Eager execution of a recurrent layer costs several times as much, which a writer would pay at every
log call.
"""

from __future__ import annotations

import weakref
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import tensorflow as tf

from lstm_gates_plugin.frameworks.kept import Kept
from lstm_gates_plugin.frameworks.keras.backend import Backend, NotRecordableError
from lstm_gates_plugin.frameworks.keras.call import TensorCall
from lstm_gates_plugin.frameworks.keras.layers import Found
from lstm_gates_plugin.frameworks.keras.losses import Follow, Loss
from lstm_gates_plugin.frameworks.keras.recording import Recorder
from lstm_gates_plugin.frameworks.keras.state import restored_variables

# How the names of the operations begin that write to a variable.
_WRITING = (
    "Assign",
    "ResourceApply",
    "ResourceScatter",
    "ResourceStridedSliceAssign",
    "Rng",
    "StatefulRandom",
    "StatefulStandardNormal",
    "StatefulTruncatedNormal",
    "StatefulUniform",
)


@dataclass(frozen=True)
class _Compiled:
    """A model's call with recording. Refers to no layer, lest the cache keep its keys alive."""

    function: Any
    calls: list[TensorCall]  # with the tensors of the graph, to be replaced by those of a run
    written: list[Any]  # variables to restore after a run


_kept: Kept[_Compiled] = Kept()


def run(
    backend: Backend,
    model: Any,
    found: Sequence[Found],
    key: str,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    loss: Loss | None = None,
) -> tuple[list[TensorCall], Any]:
    """Call a model with recording, see `Backend.run`.

    Raises:
        NotRecordableError: it cannot be compiled with these arguments, now or as found out earlier.
        Exception: whatever the model raises; that is remembered as not compilable.
    """
    if tf.config.functions_run_eagerly():
        raise NotRecordableError("TensorFlow is set to run functions eagerly.")
    leaves = tf.nest.flatten((args, kwargs))
    places = [place for place, leaf in enumerate(leaves) if _is_array(leaf)]
    tensors = [tf.convert_to_tensor(leaves[place]) for place in places]
    compiled = _kept.get(
        model,
        (*_key(model, key, args, kwargs, leaves, tensors), loss and weakref.ref(loss)),
        lambda: _compile(backend, model, found, (args, kwargs), leaves, places, tensors, loss),
    )
    if compiled is None:
        raise NotRecordableError(f"the model {model.name!r} could not be compiled earlier.")
    with restored_variables(compiled.written, backend.snapshot):
        outputs, values = compiled.function(*tensors)
    calls = [
        replace(call, tensors=value) for call, value in zip(compiled.calls, values, strict=True)
    ]
    return calls, outputs


def _is_array(leaf: Any) -> bool:
    return isinstance(leaf, (np.ndarray, np.generic, tf.Tensor))


def _key(
    model: Any,
    key: str,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    leaves: Sequence[Any],
    tensors: Sequence[Any],
) -> tuple[Hashable, ...]:
    """All that the compiled function depends on, as far as it can be told from outside."""
    return (
        tuple(weakref.ref(layer) for layer in model._flatten_layers(include_self=False)),
        key,
        repr(tf.nest.map_structure(lambda leaf: None, (args, kwargs))),
        tuple("array" if _is_array(leaf) else leaf for leaf in leaves),
        tuple((tensor.dtype, tuple(tensor.shape)) for tensor in tensors),
    )


def _compile(
    backend: Backend,
    model: Any,
    found: Sequence[Found],
    structure: tuple[tuple[Any, ...], dict[str, Any]],
    leaves: Sequence[Any],
    places: Sequence[int],
    tensors: Sequence[Any],
    loss: Loss | None,
) -> _Compiled:
    calls: list[TensorCall] = []

    def run(arguments: tuple[Any, Any], follow: Follow | None) -> tuple[list[TensorCall], Any]:
        made: list[TensorCall] = []
        with Recorder(backend, made.append, follow).recording(model, found):
            outputs = model(*arguments[0], **arguments[1])
        return made, outputs

    def call(*inputs: Any) -> Any:
        filled = list(leaves)
        for place, tensor in zip(places, inputs, strict=True):
            filled[place] = tensor
        arguments = tf.nest.pack_sequence_as(structure, filled)
        if loss is None:
            calls[:], outputs = run(arguments, None)
        else:
            calls[:], outputs = backend.differentiate(lambda follow: run(arguments, follow), loss)
        return outputs, [each.tensors for each in calls]

    specs = [tf.TensorSpec(tensor.shape, tensor.dtype) for tensor in tensors]
    with backend.inline():  # those inside the model; this one is compiled all the same
        function = tf.function(call, autograph=False).get_concrete_function(*specs)
    return _Compiled(function, calls, _written(function.graph))


def _written(graph: Any) -> list[Any]:
    """The variables of a graph, if any of its operations writes to one; in inference few do."""
    definition = graph.as_graph_def()
    nodes = [*definition.node, *(n for f in definition.library.function for n in f.node_def)]
    return list(graph.variables) if any(node.op.startswith(_WRITING) for node in nodes) else []
