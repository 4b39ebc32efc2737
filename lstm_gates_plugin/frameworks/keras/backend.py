"""Keras: what is asked of the framework that it runs on."""

from __future__ import annotations

import abc
import contextlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from lstm_gates_plugin.frameworks.arriving import single_number
from lstm_gates_plugin.frameworks.keras.family import Keras
from lstm_gates_plugin.frameworks.keras.losses import (
    Follow,
    Gradient,
    Loss,
    Run,
    flat_sources,
    with_gradients,
)

if TYPE_CHECKING:
    from lstm_gates_plugin.frameworks.keras.call import TensorCall
    from lstm_gates_plugin.frameworks.keras.layers import Found


class NotRecordableError(Exception):
    """A layer runs inside a graph of its own, out of which no tensor can be handed."""


class Backend(abc.ABC):
    """One framework that Keras runs on."""

    @abc.abstractmethod
    def refuse_graphs(self) -> None:
        """Refuse to look inside a model from within a function that is being compiled.

        Raises:
            ValueError: this is called from within one.
        """

    def graph(self) -> Any:
        """What is being compiled now, or `None` where all is computed at once."""
        return None

    @abc.abstractmethod
    def is_computed(self, tensor: Any, graph: Any) -> bool:
        """Whether a call of a layer is computed, and not just tried out for its shapes.

        Args:
            tensor: the inputs of the call.
            graph: what `graph()` returned when the recording began.

        Raises:
            NotRecordableError: it is, but its values cannot be handed out.
        """

    @abc.abstractmethod
    def snapshot(self, value: Any) -> Any:
        """A tensor, or a variable's present value, that later writes do not change."""

    def padded(self, tensor: Any) -> tuple[Any, Any]:
        """A tensor, padded if it is ragged, and in that case the mask of what is not padding."""
        return tensor, None

    @abc.abstractmethod
    def precision(self, dtype: str) -> str:
        """What layers of this type are computed in: a key of `recorded.TOLERANCES`."""

    @abc.abstractmethod
    def restored(self, keras: Keras) -> contextlib.AbstractContextManager[None]:
        """Set all random state back at the end of the block."""

    def building(self) -> contextlib.AbstractContextManager[None]:
        """Leave random state as if a model had been built in its first update, in the block.

        Initializers draw in any case; so this is about what a call draws beside.
        """
        return contextlib.nullcontext()

    @abc.abstractmethod
    def inline(self) -> contextlib.AbstractContextManager[None]:
        """Run functions that were compiled as the Python that they were made of, in the block."""

    @abc.abstractmethod
    def run(
        self,
        model: Any,
        found: Sequence[Found],
        key: str,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        loss: Loss | None = None,
    ) -> tuple[list[TensorCall], Any]:
        """Call a model with recording; its variables are as before afterwards.

        Args:
            model: a Keras model or layer.
            found: its recurrent layers.
            key: names all about the layers that the recording depends on.
            args: what the model is called with.
            kwargs: the same, by name.
            loss: to be differentiated by what the layers put out.

        Returns:
            The calls that were recorded, and the model's outputs.
        """

    @abc.abstractmethod
    def following(self) -> contextlib.AbstractContextManager[tuple[Follow | None, Gradient]]:
        """Remember in the block how tensors were made of each other.

        Yields:
            what takes the place of a tensor, and by what a loss is differentiated; and the function
            that gives the gradients of a loss by several, `None` for those it does not depend on.
            That function raises a `ValueError` where the framework remembers nothing of the kind.
        """

    def differentiate(self, run: Run, loss: Loss) -> tuple[list[TensorCall], Any]:
        """Run a model, and differentiate a loss of its outputs by what its layers put out.

        Raises:
            ValueError: the loss is not a single number.
        """
        with self.following() as (follow, gradient):
            calls, outputs = run(follow)
            value = single_number(loss(outputs))
        return with_gradients(calls, gradient(value, flat_sources(calls))), outputs
