"""recurrent_layers(), trace() and record(): open the recurrent layers of a model of any framework.

The framework is chosen by the type of the model, so none is imported that the user's process does
not already have.
"""

from __future__ import annotations

import contextlib
import importlib
from collections.abc import Iterator
from types import ModuleType
from typing import Any

from lstm_gates_plugin.frameworks.recorded import Observation, Observe, RecordedCall
from lstm_gates_plugin.frameworks.traces import to_traces
from lstm_gates_plugin.gate_trace import GateTrace
from lstm_gates_plugin.gradients import TrainingGradients
from lstm_gates_plugin.layer import RecurrentLayer
from lstm_gates_plugin.telling import tell

# By the module or package in which a type is defined, the module that opens its objects.
_ADAPTERS = {
    "flax": "lstm_gates_plugin.frameworks.flax.adapter",
    "keras": "lstm_gates_plugin.frameworks.keras.adapter",
    "torch": "lstm_gates_plugin.frameworks.torch.adapter",
    "tf_keras": "lstm_gates_plugin.frameworks.keras.adapter",
    "tf_keras.src.layers.rnn.legacy_cell_wrappers": "lstm_gates_plugin.frameworks.tf1.adapter",
    "tf_keras.src.layers.rnn.legacy_cells": "lstm_gates_plugin.frameworks.tf1.adapter",
}


def recurrent_layers(model: Any, **source: Any) -> list[RecurrentLayer]:
    """List the recurrent layers of a model, each with a copy of its present weights by gate.

    A layer whose cell's equations are not known is listed as cell `"unknown"`, with its weights
    under their own names.

    Args:
        model: a Keras model or layer, a TF1 cell such as `MultiRNNCell`, a PyTorch module, a Flax
            nnx module, or a Flax linen module with its variables: `(module, variables)`.
        **source: of a TF1 cell, `session=` with its variables (by default the default session),
            and `backward_cell=`, the second cell of a `bidirectional_dynamic_rnn`.

    Returns:
        One layer per cell and direction, in the order of the model; empty if it has none.

    Raises:
        TypeError: the model is of no framework that is known here.
        ValueError: the model is not built, so that it has no weights.
    """
    layers: list[RecurrentLayer] = _adapter(model).recurrent_layers(model, **source)
    return layers


def trace(model: Any, *args: Any, loss: Any = None, **kwargs: Any) -> list[GateTrace]:
    """Call a model and return what its recurrent layers did, gate by gate and timestep by timestep.

    The model runs in inference mode, and everything is as before afterwards: weights, statistics,
    states and random state.

    A TF1 cell is given what its rnn op is given, as arrays, or as tensors with a `feed_dict`:

        lg.trace(cell, x, session=session, lengths=None, time_major=False, initial_state=None)
        lg.trace(cell, inputs=embedded, feed_dict={tokens: ...}, session=session,
                 outputs=outputs, state=state)

    `frameworks.tf1.arguments.Call` describes these arguments.

    Args:
        model: as for `recurrent_layers`.
        *args: what the model is called with, as arrays or tensors.
        loss: a function that gives a single number for what the model returns, as the framework's
            own tensors: then every trace has its `gradients`, through all of time. Of a TF1 graph,
            the tensor of the loss. For a model whose own call takes a `loss`, use `record`.
            Gradients are of the number as it is: nothing scales it, also in mixed precision.
            What the model itself does to gradients on their way, as by `register_hook` of torch on
            a tensor, is done: it is part of the gradient that is trained with.
        **kwargs: what the model is called with, by name.

    Returns:
        One trace per call of a layer, in the order in which the framework makes the calls: a
        functional Keras model has an order of its own, which need not be that of your script.
        Calls that go on from the state in which the layer's previous call ended are one trace.

    Raises:
        TypeError: the model is of no framework that is known here.
        ValueError: the model is not built, has no recurrent layer, or one of them did not run or
            ran where it cannot be recorded.
    """
    seen = observation(model, args, kwargs, loss=loss)
    if unseen := _unseen(seen):
        raise ValueError(unseen)
    if missing := _missing(seen):
        raise ValueError(
            missing + " If it is meant to, call the model yourself inside record(model), which "
            "takes the layers that run."
        )
    return to_traces(seen.calls)


def observe(
    model: Any,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    samples: int | None,
    loss: Any = None,
) -> tuple[list[GateTrace], Any]:
    """Trace a model for a writer: on few samples, and with the model's outputs.

    A layer that did not run is named in a warning, and the others go on.

    Args:
        model: as for `recurrent_layers`.
        args: what the model is called with.
        kwargs: the same, by name.
        samples: how many rows to trace at most; the model runs on all. `None` traces all.
        loss: as for `trace`.

    Returns:
        The traces, and what the model returned, as it did: torch's own tensors, without gradients,
        or NumPy arrays.

    Raises:
        TypeError: the model is of no framework that is known here.
        ValueError: the model is not built, or has no recurrent layer.
    """
    seen = observation(model, args, kwargs, samples, loss)
    for sentence in filter(None, (_unseen(seen), _missing(seen))):
        tell(sentence, stacklevel=2)
    return to_traces(seen.calls, samples), seen.outputs


def observation(
    model: Any,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    samples: int | None = None,
    loss: Any = None,
) -> Observation:
    """Run a model as `trace` does, and give all that was seen, also of layers that did not run.

    Args:
        model: as for `recurrent_layers`.
        args: what the model is called with.
        kwargs: the same, by name.
        samples: how many rows to record at most; the model runs on all. `None` records all.
        loss: as for `trace`.

    Raises:
        TypeError: the model is of no framework that is known here.
        ValueError: the model is not built, or has no recurrent layer.
    """
    asked = {} if loss is None else {"loss": loss}
    seen: Observation = _adapter(model).observe(model, args, kwargs, samples, **asked)
    return seen


def in_a_row(
    model: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[list[RecordedCall], list[RecordedCall]]:
    """The calls of a model's layers in two calls of the model, the second right after the first.

    Only afterwards everything is as it was before. What a Flax linen module keeps between calls is
    returned to its caller, so nothing is carried.

    Args:
        model: as for `recurrent_layers`, but a TF1 cell.
        args: what the model is called with.
        kwargs: the same, by name.

    Raises:
        TypeError: the model is of no framework that is known here.
        ValueError: the model is not built, or has no recurrent layer; or it is a TF1 cell.
    """
    run_twice = getattr(_adapter(model), "in_a_row", None)
    if run_twice is None:
        raise ValueError(
            f"a cell of TensorFlow 1 ({type(model).__qualname__}) was given, which runs only in "
            "its graph; expected a model that can be called."
        )
    both: tuple[list[RecordedCall], list[RecordedCall]] = run_twice(model, args, kwargs)
    return both


def own_loss(model: Any, target: Any) -> Any:
    """The loss that a model is trained with, as a function of its outputs.

    Args:
        model: as for `recurrent_layers`.
        target: the right answers.

    Returns:
        `None` where the model does not know its loss: only a compiled Keras model does. It is the
        same function as long as model, loss and target are the same.
    """
    try:
        find = getattr(_adapter(model), "own_loss", None)
    except TypeError:  # no model that is known here
        return None
    return None if find is None else find(model, target)


def training_gradients(model: Any, scale: float = 1.0) -> list[TrainingGradients]:
    """The gradients that `loss.backward()` has left in the recurrent layers of a torch model.

    Args:
        model: a PyTorch module.
        scale: what the loss was multiplied with, by which the gradients are divided.

    Raises:
        TypeError: the model is of no framework that is known here.
        ValueError: of another framework than torch, which keeps no gradients; or those of none of
            its layers can be read, or the scale is not a positive number.
    """
    read = getattr(_adapter(model), "training_gradients", None)
    if read is None:
        raise ValueError(
            "only PyTorch keeps the gradients of a training step, in .grad after loss.backward(), "
            f"and a model of type {type(model).__qualname__} was given. Of every framework, "
            "GateWriter.log records the gradients of a probe through time, if the probe has a "
            "target and a loss."
        )
    if not 0 < scale < float("inf"):
        raise ValueError(
            f"scale={scale!r} was given; expected what the loss was multiplied with, a positive "
            "number, such as scaler.get_scale()."
        )
    found: list[TrainingGradients] = read(model, float(scale))
    return found


class Recording:
    """What a model's recurrent layers did inside a `record` block.

    It keeps what the framework recorded for gradients, of every call, as long as it lives: where no
    loss will be asked for, run the model under `torch.no_grad()`.
    """

    def __init__(self, observe: Observe) -> None:
        self._observe = observe

    def traces(self, loss: Any = None) -> list[GateTrace]:
        """The traces of the calls that were made so far, in their order.

        Args:
            loss: a single number that was computed in the block from what the model returned, as
                the framework's own tensor: then every trace has its `gradients`. For torch, and
                for TensorFlow outside of graphs; elsewhere give its function to `trace`.

        Raises:
            ValueError: there was no call, or the framework cannot differentiate the loss.
        """
        observation = self._observe() if loss is None else self._observe(loss)
        if not observation.calls:
            raise ValueError(
                "no recurrent layer of the model ran inside the record() block. Call the very "
                "model that record() was given, inside the block."
            )
        return to_traces(observation.calls)


@contextlib.contextmanager
def record(model: Any) -> Iterator[Recording]:
    """Record a model's recurrent layers while you run it yourself, in any way but training.

        with record(model) as recording:
            model.predict({"tokens": tokens, "lengths": lengths})
        traces = recording.traces()

    Args:
        model: as for `recurrent_layers`.

    Yields:
        The recording, whose `traces()` can be asked for inside and after the block.

    Raises:
        TypeError: the model is of no framework that is known here.
        ValueError: the model is not built, or has no recurrent layer; in the block, if a recurrent
            layer is run in training mode.
    """
    with _adapter(model).recording(model) as observe:
        yield Recording(observe)


def _unseen(seen: Observation) -> str:
    """Sentences on the layers that ran, but not where one could see it, or nothing."""
    return " ".join(
        f"the calls of layer {id!r} could not be recorded: {why}."
        for id, why in seen.unseen.items()
    )


def _missing(seen: Observation) -> str:
    """A sentence on the layers that did not run, or nothing."""
    ran = {*seen.unseen, *(call.layer.id for call in seen.calls)}
    missing = [repr(layer.id) for layer in seen.layers if layer.id not in ran]
    return f"the model did not run its recurrent layer {', '.join(missing)}." if missing else ""


def _adapter(model: Any) -> ModuleType:
    # A Flax linen module comes with its variables.
    module = model[0] if isinstance(model, tuple) and model else model
    for cls in type(module).__mro__:
        for place in (cls.__module__, cls.__module__.partition(".")[0]):
            if place in _ADAPTERS:
                return importlib.import_module(_ADAPTERS[place])
    raise TypeError(
        "a model must be a Keras or tf_keras model or layer, a TF1 cell, a PyTorch module, a Flax "
        "nnx module, or a Flax linen module with its variables, (module, variables), and an object "
        f"of type {type(model).__module__}.{type(model).__qualname__} was given."
    )
