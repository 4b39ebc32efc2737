"""Probe: the few samples on which a layer's gates are watched during training."""

from __future__ import annotations

import functools
import zlib
from collections.abc import Callable, Sequence
from typing import Any

from lstm_gates_plugin.writing.arrays import leaves, mean, target_beside, to_numpy


class Probe:
    """What the model is called with at each log call, and how its samples are named.

    Args:
        *args: the model's inputs, as the model takes them.
        target: the right answers, ``[batch]`` or ``[batch, time]``, shown beside the prediction.
        loss: ``loss(outputs, target)``, of what a torch model returned, as tensors (first with
            gradients, then without), and of another model's outputs as NumPy arrays. Where it
            returns ``[batch, time]``, that is shown as the loss of each timestep. Of a TF1 cell,
            the tensor of the loss, a single number; ``outputs=`` and ``state=`` are then given as
            well.
        time_labels: ``time_labels[sample][timestep]``, the words on the time axis.
        sample_names: one name per sample.
        **kwargs: more arguments of the model's call (``mask=``, ``lengths=``).

    Raises:
        TypeError: no input was given, or ``time_labels`` is not one list per sample.
    """

    def __init__(
        self,
        *args: Any,
        target: Any = None,
        loss: Callable[[Any, Any], Any] | Any = None,
        time_labels: Sequence[Sequence[object]] | None = None,
        sample_names: Sequence[object] | None = None,
        **kwargs: Any,
    ) -> None:
        if not args and not kwargs:
            raise TypeError(
                "Probe() was given no input; pass what the model is called with: Probe(x_val[:4])."
            )
        if time_labels is not None and any(isinstance(row, str) for row in time_labels):
            raise TypeError(
                f"time_labels={time_labels!r:.60} was given; expected one list of labels per "
                'sample: [["the", "cat"], ["a", "dog"]].'
            )
        self.args = args
        self.kwargs = kwargs
        self.target = target
        self.loss = loss
        self.time_labels = time_labels
        self.sample_names = sample_names
        #: Where it is from, and what to do if it does not fit, for one that the user did not give.
        self.origin = ""
        #: The loss of what the model returns, where a callback knows it and the user gave none.
        self.own_loss: Callable[[Any], Any] | None = None

    @classmethod
    def of(cls, value: Any) -> Probe:
        """The probe itself, or a probe of the one input that was given instead."""
        return value if isinstance(value, cls) else cls(value)

    @functools.cached_property
    def mean_loss(self) -> Callable[[Any], Any] | Any:
        """The loss of what the model returns, as one number that can be differentiated.

        It is always the same function, by which frameworks know what they have compiled.
        """
        own = self.loss
        if not callable(own):  # there is none, or it is a tensor of a graph
            return own
        return lambda outputs: mean(own(outputs, target_beside(outputs, self.target)))

    def hash(self) -> int:
        """CRC-32 of all inputs: it changes when the probe does."""
        checksum = 0
        for leaf in leaves((self.args, self.kwargs)):
            checksum = zlib.crc32(_content(leaf), checksum)
        return checksum


def _content(leaf: Any) -> bytes:
    try:
        array = to_numpy(leaf)
    except NotImplementedError:  # a tensor of a graph: what is fed for it is another leaf
        return str(leaf.name).encode()
    values = repr(array.tolist()).encode() if array.dtype == object else array.tobytes()
    return f"{array.shape}{array.dtype}".encode() + values
