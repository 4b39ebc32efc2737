"""LG101: the output for a sample must not depend on the other samples."""

from __future__ import annotations

import numpy as np

from lstm_gates_plugin.checks.arguments import output_axis
from lstm_gates_plugin.checks.live import LiveModel, NotJudgedError
from lstm_gates_plugin.checks.report import CheckResult, Outcome, named
from lstm_gates_plugin.fused import Array

ID, NAME = "LG101", "samples stay apart"


def independence(live: LiveModel) -> CheckResult:
    """Replace all samples but one by copies of that one, and compare what comes out for it.

    A model that reads the axis of samples as time, or mixes them otherwise, gives something else.
    The first and the last sample are kept in turn: what reads forward carries nothing to the first.

    Raises:
        NotJudgedError: there are too few samples, or no output is by sample.
    """
    if live.samples < 2:
        raise NotJudgedError("There is one sample; give two or more that differ.")
    places = [output_axis(each.shape, live.samples, live.axis) for each in live.outputs]
    if all(place is None for place in places):
        return _without_samples(live)
    _refuse_random(live)
    for kept in (live.samples - 1, 0):
        try:
            others = live.outputs_of([kept] * live.samples)
        except Exception as error:  # whatever the user's model raises
            raise NotJudgedError(f"The model does not run on other samples: {error}") from error
        for before, after, place in zip(live.outputs, others, places, strict=True):
            if place is None or before.shape != after.shape:
                continue
            own, same = before.take(kept, place), after.take(kept, place)
            if not live.is_equal(own, same):
                return _mixed(live, live.difference(own, same))
    return CheckResult(
        ID,
        NAME,
        Outcome.PASSED,
        f"The output for a sample is the same whatever the other {live.samples - 1} are.",
    )


def _refuse_random(live: LiveModel) -> None:
    again = live.outputs_of(range(live.samples))
    pairs = zip(live.outputs, again, strict=True)
    if not all(a.shape == b.shape and live.is_equal(a, b) for a, b in pairs):
        raise NotJudgedError(
            "Two equal calls give different outputs: the model draws random numbers also in "
            "inference mode."
        )


def _mixed(live: LiveModel, difference: float) -> CheckResult:
    swapped = _swapped(live)
    if swapped:
        seen = (
            f"The output for a sample changes (by up to {difference:.2g}) when only the other "
            f"samples do: the {live.samples} samples are read as timesteps, and the "
            f"{live.timesteps} timesteps as samples, by {named(swapped)}."
        )
        advice = (
            "Give the layer batch_first=True (of a Keras or Flax layer: time_major=False), or "
            "swap the first two axes of what it gets. If the samples are along the second axis of "
            "your data on purpose, call check with sample_axis=1."
        )
        return CheckResult(ID, NAME, Outcome.MISTAKE, seen, advice, swapped)
    seen = (
        f"The output for a sample changes (by up to {difference:.2g}) when only the other samples "
        "do."
    )
    advice = (
        "Look for a reshape or transpose that puts values of one sample into another, or for a "
        "mean over the samples. If the samples are along the second axis of your data, call check "
        "with sample_axis=1."
    )
    return CheckResult(ID, NAME, Outcome.MISTAKE, seen, advice)


def _swapped(live: LiveModel) -> tuple[str, ...]:
    """The layers that were given as many rows as there are timesteps, and the other way round."""
    swapped = [
        call.layer.id
        for call in live.as_it_is.calls
        if (call.row_count, call.inputs.shape[1]) == (live.timesteps, live.samples)
        and (live.timesteps != live.samples or not call.batch_first)
    ]
    return tuple(dict.fromkeys(swapped))


def _without_samples(live: LiveModel) -> CheckResult:
    """No output has one entry per sample; perhaps one timestep too many was meant to be left."""
    by_time = [each for each in live.outputs if _is_by_time(each, live.timesteps)]
    if not by_time:
        shapes = ", ".join(str(each.shape) for each in live.outputs)
        raise NotJudgedError(
            f"No output has one entry for each of the {live.samples} samples; the shapes are "
            f"{shapes}."
        )
    return CheckResult(
        ID,
        NAME,
        Outcome.MISTAKE,
        f"The output has the shape {by_time[0].shape}: one entry for each of the {live.timesteps} "
        f"timesteps, and none for each of the {live.samples} samples.",
        "out[-1] is the last sample where the batch comes first; the last timestep is out[:, -1].",
    )


def _is_by_time(output: Array, timesteps: int | None) -> bool:
    return np.ndim(output) > 0 and output.shape[0] == timesteps
