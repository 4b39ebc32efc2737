"""Keras: record what goes into the recurrent layers of a model while it runs, on any backend."""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from lstm_gates_plugin.frameworks.keras import cells as keras_cells
from lstm_gates_plugin.frameworks.keras import cudnn as keras_cudnn
from lstm_gates_plugin.frameworks.keras.backend import Backend
from lstm_gates_plugin.frameworks.keras.call import TensorCall
from lstm_gates_plugin.frameworks.keras.family import Keras, keras_of
from lstm_gates_plugin.frameworks.keras.layers import Found, layers_of_class
from lstm_gates_plugin.frameworks.keras.losses import Follow, Loss, followed
from lstm_gates_plugin.frameworks.keras.state import changing_variables, restored_variables
from lstm_gates_plugin.frameworks.levels import leaves
from lstm_gates_plugin.frameworks.replaced import replaced_attributes

_NOT_NOW = (
    "while gates are recorded, which is done in inference mode. Take training steps outside of "
    "record()."
)


class Recorder:
    """Hands on the calls of some layers, in the order in which they are made.

    Args:
        backend: what Keras runs on.
        keep: is given each call right after it was made.
        follow: gives what goes on in the place of a tensor that a layer put out, where there is a
            loss to be differentiated by it.
    """

    def __init__(
        self, backend: Backend, keep: Callable[[TensorCall], None], follow: Follow | None = None
    ) -> None:
        self._backend = backend
        self._keep = keep
        self._follow = follow
        self._groups = 0
        self._group: int | None = None
        self._in_both_directions: set[int] = set()  # layers of a `Bidirectional`, by identity

    @contextlib.contextmanager
    def recording(self, model: Any, found: Sequence[Found]) -> Iterator[None]:
        """Record every call of the layers until the end of the block."""
        keras, graph = keras_of(model), self._backend.graph()
        with contextlib.ExitStack() as stack:

            def replace(owner: Any, **attributes: Any) -> None:
                stack.enter_context(replaced_attributes(owner, **attributes))

            for index, each in enumerate(found):
                replace(each.layer, call=self._either(keras, index, each, graph))
                for wrapper in keras_cells.dropout_wrappers(each.layer):
                    replace(wrapper, **keras_cells.WITHOUT_DROPOUT)
                if keras_cudnn.lacks_gpu(each.layer):
                    read = next(leaves(each.read())).layer
                    process = keras_cudnn.process_batch(keras, each.layer, read)
                    replace(each.layer, _process_batch=process)
            for layer in layers_of_class(model, keras.layers.TimeDistributed):
                replace(layer, call=self._grouped(layer.call))
            for layer in layers_of_class(model, keras.layers.Bidirectional):
                # Keras 3 has kernels for both directions at once, which call neither layer.
                fused = [name for name in dir(layer) if name.startswith("_can_attempt_fused")]
                replace(layer, **dict.fromkeys(fused, lambda *arguments: False))
                self._in_both_directions |= {id(layer.forward_layer), id(layer.backward_layer)}
            if hasattr(model, "make_train_function"):
                replace(model, make_train_function=_refuse_training)
            yield

    def _either(self, keras: Keras, index: int, found: Found, graph: Any) -> Callable[..., Any]:
        """A layer's `call`, recorded where it is computed."""
        call = found.layer.call
        record = self._cell_call if found.is_cell else self._layer_call
        parameters = inspect.signature(call)

        def either(*args: Any, **kwargs: Any) -> Any:
            given = parameters.bind(*args, **kwargs).arguments
            if not self._backend.is_computed(keras.flatten(next(iter(given.values())))[0], graph):
                return call(*args, **kwargs)
            if given.get("training"):
                raise ValueError(f"layer {found.id!r} was called with training=True {_NOT_NOW}")
            return record(keras, index, found, given, lambda: call(*args, **kwargs))

        return either

    def _layer_call(
        self,
        keras: Keras,
        index: int,
        found: Found,
        given: Mapping[str, Any],
        call: Callable[[], Any],
    ) -> Any:
        layer = found.layer
        inputs, initial = next(iter(given.values())), given.get("initial_state")
        if isinstance(inputs, list):  # Keras 2 hands on states from other layers in this way
            inputs, *states = inputs
            initial = states or initial
        first, *more = keras.flatten(inputs)
        if initial is None and layer.stateful:
            initial = layer.states
        elif initial is None and found.has_own_start:
            initial = keras.initial_state(layer, inputs)
        started = self._states(keras, initial)  # now: the call sets those of a stateful layer
        output, returned = _call_with_states(keras, layer, call)
        output, returned, sources = self._followed(keras, output, returned)
        ended = returned or (layer.states if layer.stateful else None)
        dense, mask = self._backend.padded(first)
        if given.get("mask") is not None:
            mask = keras.flatten(given["mask"])[0]  # one for all inputs
        self._keep(
            TensorCall(
                index,
                self._group,
                self._backend.precision(layer.compute_dtype),
                {
                    "inputs": self._backend.snapshot(dense),
                    "mask": mask,
                    "initial_state": started,
                    "output": self._backend.padded(output)[0],
                    "final_state": self._states(keras, ended),
                },
                sequences=layer.return_sequences,
                backward=layer.go_backwards,
                time_major=getattr(layer, "time_major", False),
                more_inputs=bool(more) or given.get("constants") is not None,
                joins=not (layer.go_backwards and id(layer) in self._in_both_directions),
                compared=not keras_cudnn.lacks_gpu(layer),
                repeats_output=not getattr(layer, "zero_output_for_mask", False),
                sources=sources,
            )
        )
        return [output, *returned] if layer.return_state else output

    def _cell_call(
        self,
        keras: Keras,
        index: int,
        found: Found,
        given: Mapping[str, Any],
        call: Callable[[], Any],
    ) -> Any:
        """A cell that the model calls by itself, once for each timestep."""
        inputs, states, *_ = given.values()
        first, *more = keras.flatten(inputs)
        initial = self._states(keras, states)
        result = call()
        if not isinstance(result, (list, tuple)) or len(result) != 2:
            return result  # a layer that only looks like a cell
        output, new, sources = self._followed(keras, *result)
        self._keep(
            TensorCall(
                index,
                self._group,
                self._backend.precision(found.layer.compute_dtype),
                {
                    "inputs": self._backend.snapshot(first),
                    "mask": None,
                    "initial_state": initial,
                    "output": output,
                    "final_state": self._states(keras, new),
                },
                is_timestep=True,
                more_inputs=bool(more),
                sources=sources,
            )
        )
        return output, new

    def _followed(self, keras: Keras, output: Any, states: Any) -> tuple[Any, Any, list[Any]]:
        """What goes on in the places of an output and of states, and the sources of gradients."""
        if self._follow is None:
            return output, states, []
        (output, *flat), sources = followed(self._follow, [output, *keras.flatten(states)])
        remaining = iter(flat)
        return output, keras.map(lambda state: next(remaining), states), sources

    def _states(self, keras: Keras, states: Any) -> list[Any] | None:
        if states is None:
            return None
        return [self._backend.snapshot(state) for state in keras.flatten(states)]

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


def _refuse_training(*arguments: Any, **more: Any) -> None:
    """Takes the place of a method that is called before anything is trained.

    An error later on, in the training step, would leave a model on JAX without its weights.
    """
    raise ValueError(f"the model was to be trained {_NOT_NOW}")


def _call_with_states(keras: Keras, layer: Any, call: Callable[[], Any]) -> tuple[Any, list[Any]]:
    """Call a layer; its output, and its final states where they can be had.

    They are compared with ours, and tell which calls go on from each other. A subclass with its own
    `call` might not expect that they are returned.
    """
    asked: contextlib.AbstractContextManager[None] = contextlib.nullcontext()
    if not layer.return_state and keras.defines(type(layer).call):
        asked = replaced_attributes(layer, return_state=True)
    with asked:
        result = call()
        output, *states = result if layer.return_state else (result,)
    return output, states


def run_eagerly(
    backend: Backend,
    model: Any,
    found: Sequence[Found],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    loss: Loss | None = None,
) -> tuple[list[TensorCall], Any]:
    """Call a model with recording, not compiled; its variables are as before afterwards.

    Returns:
        The calls that were recorded, and the model's outputs.
    """
    if loss is not None:
        return backend.differentiate(
            lambda follow: _run(backend, model, found, args, kwargs, follow), loss
        )
    return _run(backend, model, found, args, kwargs, None)


def _run(
    backend: Backend,
    model: Any,
    found: Sequence[Found],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    follow: Follow | None,
) -> tuple[list[TensorCall], Any]:
    calls: list[TensorCall] = []
    recorder = Recorder(backend, calls.append, follow)
    restored = restored_variables(changing_variables(model), backend.snapshot)
    with restored, recorder.recording(model, found):
        outputs = model(*args, **kwargs)
    return calls, outputs
