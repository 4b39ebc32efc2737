"""A live model and what it is called with: run as it is, with other samples, or in a row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from lstm_gates_plugin import capture
from lstm_gates_plugin.checks import arguments
from lstm_gates_plugin.frameworks.recorded import TOLERANCES, Observation
from lstm_gates_plugin.fused import Array


class NotJudgedError(Exception):
    """A test cannot be made on this model; the message is a sentence that says why."""


@dataclass(frozen=True)
class LiveModel:
    """A model with its arguments. Each run leaves the model as it was.

    Attributes:
        model: as for `capture.trace`.
        args: what it is called with.
        kwargs: the same, by name.
        axis: along which the arguments hold the samples: 0 or 1.
    """

    model: Any
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]
    axis: int

    @cached_property
    def samples(self) -> int:
        """How many samples there are.

        Raises:
            NotJudgedError: the arguments hold no array of samples.
        """
        found = arguments.sample_count((self.args, self.kwargs), self.axis)
        if found is None:
            raise NotJudgedError("The model is called without an array whose samples can be told.")
        return found

    @cached_property
    def timesteps(self) -> int | None:
        """How many timesteps the first argument with two or more axes has."""
        for leaf in arguments.arrays((self.args, self.kwargs)):
            if len(leaf.shape) >= 2:
                return int(leaf.shape[1 - self.axis])
        return None

    @cached_property
    def as_it_is(self) -> Observation:
        """What is seen when the model is called with its arguments as they are."""
        return capture.observation(self.model, self.args, dict(self.kwargs))

    @cached_property
    def tolerance(self) -> float:
        """How far equal outputs may be apart, relative to one plus their largest magnitude."""
        precisions = [call.precision for call in self.as_it_is.calls]
        return max((TOLERANCES[each] for each in precisions), default=TOLERANCES["float32"])

    def outputs_of(self, rows: Sequence[int]) -> list[Array]:
        """What the model returns with other samples in the places of the first, second, ... one."""
        return self._outputs(self._with_samples(rows))

    def outputs_of_one(self, row: int, timesteps: int) -> list[Array]:
        """What the model returns for one sample, of which it gets the first timesteps alone."""
        if self.timesteps is None:
            raise NotJudgedError("The model is called without an array that has timesteps.")
        cut = arguments.with_timesteps(
            self._with_samples([row]), timesteps, self.timesteps, 1 - self.axis
        )
        return self._outputs(cut)

    @cached_property
    def outputs(self) -> list[Array]:
        """What the model returns, as it is called, its arrays in their order."""
        return _floating(self.as_it_is.outputs)

    def is_equal(self, a: Array, b: Array) -> bool:
        """Whether two outputs of one shape are equal but for rounding."""
        return self.difference(a, b) <= self.tolerance * (1 + _largest(a))

    def difference(self, a: Array, b: Array) -> float:
        """The largest difference of two outputs of one shape."""
        return _largest(np.asarray(a, np.float64) - np.asarray(b, np.float64))

    def _with_samples(self, rows: Sequence[int]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        args, kwargs = arguments.with_samples(
            (self.args, dict(self.kwargs)), rows, self.samples, self.axis
        )
        return args, kwargs

    def _outputs(self, called_with: tuple[tuple[Any, ...], dict[str, Any]]) -> list[Array]:
        return _floating(capture.observation(self.model, *called_with).outputs)


def _floating(outputs: Any) -> list[Array]:
    found = [
        each.float().cpu().numpy() if hasattr(each, "index_select") else np.asarray(each)
        for each in arguments.arrays(outputs)
    ]
    return [each for each in found if np.issubdtype(each.dtype, np.number)]


def _largest(array: Array) -> float:
    magnitudes = np.abs(array[np.isfinite(array)])
    return float(magnitudes.max(initial=0.0))
