"""Keras: the tensors that recorded layers put out, by which a loss is differentiated."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

from lstm_gates_plugin.frameworks.keras.call import TensorCall
from lstm_gates_plugin.frameworks.keras.family import keras_of

#: Gives what goes on in the place of a tensor, and the tensor by which a loss is differentiated.
Follow: TypeAlias = Callable[[Any], tuple[Any, Any]]

#: The user's own: what the model returned, as tensors, to a single number.
Loss: TypeAlias = Callable[[Any], Any]

#: The gradients of a loss by tensors, `None` for those it does not depend on.
Gradient: TypeAlias = Callable[[Any, Sequence[Any]], Sequence[Any]]

#: Runs a model with its tensors followed; the calls that were recorded, and the outputs.
Run: TypeAlias = Callable[[Follow | None], tuple[list[TensorCall], Any]]


def followed(follow: Follow, tensors: Sequence[Any]) -> tuple[list[Any], list[Any]]:
    """Follow what a call put out.

    Returns:
        What goes on in their places, and the same as the sources of gradients: a tensor that is in
        several places is there once, and else `None`.
    """
    known: dict[int, Any] = {}
    going_on, sources = [], []
    for tensor in tensors:
        source = None
        if id(tensor) not in known:
            known[id(tensor)], source = follow(tensor)
        going_on.append(known[id(tensor)])
        sources.append(source)
    return going_on, sources


def flat_sources(calls: Sequence[TensorCall]) -> list[Any]:
    """All tensors by which the loss of some calls is differentiated."""
    return [source for call in calls for source in call.sources if source is not None]


def with_gradients(calls: Sequence[TensorCall], gradients: Sequence[Any]) -> list[TensorCall]:
    """The calls, each with its part of the gradients by `flat_sources`."""
    remaining = iter(gradients)
    return [
        replace(
            call,
            tensors={
                **call.tensors,
                "arriving": [None if s is None else next(remaining) for s in call.sources],
            },
            sources=(),
        )
        for call in calls
    ]


class OwnLoss:
    """The loss that a model was compiled with, and which its optimizer lowers.

    Attributes:
        target: the right answers.
        compiled: what the model was compiled with.
    """

    def __init__(self, model: Any, target: Any) -> None:
        self._model = weakref.ref(model)
        self.target = target
        self.compiled = model.loss

    def __call__(self, outputs: Any) -> Any:
        """The loss; the running means of losses that the model shows stay as they are."""
        model = self._model()
        assert model is not None
        keras = keras_of(model)
        target = keras.map(keras.tensor, self.target)
        trackers = [variable for metric in model.metrics for variable in metric.variables]
        before = [(variable, keras.tensor(variable)) for variable in trackers]
        try:
            return model.compute_loss(y=target, y_pred=outputs)
        finally:
            for variable, value in before:
                variable.assign(value)
