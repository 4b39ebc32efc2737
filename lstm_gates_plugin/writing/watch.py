"""The model on the probe: what its layers do, and what else there is to show beside their gates."""

from __future__ import annotations

import traceback
from typing import Any, NamedTuple

from lstm_gates_plugin import capture
from lstm_gates_plugin.gate_trace import GateTrace
from lstm_gates_plugin.writing.arrays import leaves
from lstm_gates_plugin.writing.notices import Notices, one_sentence, without_colours
from lstm_gates_plugin.writing.pictures import Tracks
from lstm_gates_plugin.writing.probe import Probe
from lstm_gates_plugin.writing.tracks import loss_of_timesteps, make_tracks

_PACKAGE = __name__.partition(".")[0]


class Watched(NamedTuple):
    """What one call of the model on the probe showed."""

    traces: list[GateTrace]
    tracks: Tracks
    probe_hash: int


def watch(
    model: Any,
    source: dict[str, Any],
    probe: Probe,
    samples: int,
    notices: Notices,
    *,
    gradients: bool,
) -> Watched:
    """Call the model on the probe.

    Args:
        model: the model, as the framework has it.
        source: further arguments of `trace` that say where a model's weights are.
        probe: what it is called with.
        samples: how many of the probe's samples are traced.
        notices: told where the probe's loss cannot be had or differentiated; all else goes on.
        gradients: whether traces are to have the gradients of the probe's loss, if it has one.

    Raises:
        ValueError: the framework refuses the probe; the message says what was given and, where the
            model knows it, what it expects.
    """
    seen = None
    loss = loss_of(model, probe) if gradients else None
    if loss is not None:
        with notices.training_goes_on("the gradients through time"):
            seen = _observe(model, source, probe, samples, loss)
    traces, outputs = seen or _observe(model, source, probe, samples, None)
    tracks = make_tracks(probe, outputs)
    with notices.training_goes_on("the loss of each timestep"):
        tracks = tracks._replace(loss=loss_of_timesteps(probe, outputs))
    return Watched(traces, tracks, probe.hash())


def loss_of(model: Any, probe: Probe) -> Any:
    """The loss of the model's outputs: the probe's own, or that which the model is trained with."""
    if probe.mean_loss is not None or probe.target is None:
        return probe.mean_loss
    return probe.own_loss or capture.own_loss(model, probe.target)


def _observe(
    model: Any, source: dict[str, Any], probe: Probe, samples: int, loss: Any
) -> tuple[list[GateTrace], Any]:
    try:
        return capture.observe(model, probe.args, {**probe.kwargs, **source}, samples, loss)
    except Exception as error:
        if _is_our_own(error):
            raise
        if loss is not None:
            raise ValueError(
                f"the loss of the probe cannot be differentiated. The framework says: "
                f"{one_sentence(error)}"
            ) from error
        raise ValueError(
            f"the model cannot be called with this probe, of shape {_shapes(probe)}"
            f"{_expected(model, probe)}. {probe.origin}The framework says: {one_sentence(error)}"
        ) from error


def _is_our_own(error: Exception) -> bool:
    """Whether it was raised here, not in the framework or in the user's model.

    Keras takes its own frames out of a traceback, and says more than a sentence.
    """
    *_, (frame, _) = traceback.walk_tb(error.__traceback__)
    is_from_here = str(frame.f_globals.get("__name__")).startswith(f"{_PACKAGE}.")
    is_sentence = "\n" not in without_colours(error).strip()
    return is_from_here and is_sentence and isinstance(error, (ValueError, TypeError))


def _shapes(probe: Probe) -> str:
    return ", ".join(_shape(leaf) for leaf in leaves((probe.args, probe.kwargs)))


def _shape(leaf: Any) -> str:
    shape = getattr(leaf, "shape", None)
    return repr(leaf)[:40] if shape is None else str(tuple(shape))


def _expected(model: Any, probe: Probe) -> str:
    """What the model expects instead, as far as it is known."""
    shape = getattr(model, "input_shape", None)
    if shape:
        return f"; it expects {shape}"
    devices = {str(leaf.device) for leaf in leaves((probe.args, probe.kwargs)) if _on_device(leaf)}
    parameters = model.parameters() if hasattr(model, "parameters") else ()
    devices_of_model = {str(parameter.device) for parameter in parameters}
    if not devices or not devices_of_model or devices <= devices_of_model:
        return ""
    ours, theirs = (" and ".join(sorted(names)) for names in (devices, devices_of_model))
    return f"; the probe is on {ours} and the model on {theirs}: move the probe there"


def _on_device(leaf: Any) -> bool:
    return hasattr(leaf, "detach") and hasattr(leaf, "device")
