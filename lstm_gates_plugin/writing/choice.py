"""Which layers and traces of a model are logged, and under which ids. Pure: no I/O."""

from __future__ import annotations

import fnmatch
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from lstm_gates_plugin.gate_trace import GateTrace
from lstm_gates_plugin.gradients import TrainingGradients
from lstm_gates_plugin.layer import RecurrentLayer


def choose_layers(
    layers: Sequence[RecurrentLayer], name: str, patterns: Sequence[str]
) -> list[RecurrentLayer]:
    """The layers with weights whose ids fit one of the patterns, with the model's prefix.

    Raises:
        ValueError: two layers have one id, or none fits.
    """
    named = [_named(layer, name) for layer in layers if layer.parts()]
    _refuse_repeated([layer.id for layer in named])
    chosen = [layer for layer in named if _fits(layer, patterns)]
    if not chosen:
        there_are = ", ".join(layer.id for layer in named) or "none with weights"
        raise ValueError(f"No layer fits layers={list(patterns)}; there are: {there_are}.")
    return chosen


def choose_traces(
    traces: Sequence[GateTrace], name: str, patterns: Sequence[str]
) -> list[GateTrace]:
    """The traces of layers whose ids fit one of the patterns, with the model's prefix.

    Raises:
        ValueError: two traces are of the same call of the same layer.
    """
    named = [replace(trace, layer=_named(trace.layer, name)) for trace in traces]
    _refuse_repeated([f"{trace.layer.id} (call {trace.call})" for trace in named])
    return [trace for trace in named if _fits(trace.layer, patterns)]


def choose_gradients(
    gradients: Sequence[TrainingGradients], name: str, patterns: Sequence[str]
) -> list[TrainingGradients]:
    """The gradients of layers whose ids fit one of the patterns, with the model's prefix.

    Raises:
        ValueError: none fits.
    """
    chosen = {layer.id for layer in choose_layers([one.layer for one in gradients], name, patterns)}
    named = [replace(one, layer=_named(one.layer, name)) for one in gradients]
    return [one for one in named if one.layer.id in chosen]


def _named(layer: RecurrentLayer, name: str) -> RecurrentLayer:
    return replace(layer, id=f"{name}/{layer.id}") if name else layer


def _fits(layer: RecurrentLayer, patterns: Sequence[str]) -> bool:
    return any(fnmatch.fnmatchcase(layer.id, pattern) for pattern in patterns)


def _refuse_repeated(ids: Sequence[str]) -> None:
    repeated = sorted(id for id, times in Counter(ids).items() if times > 1)
    if repeated:
        raise ValueError(
            f"{', '.join(repeated)} was given more than once for one step; give every layer an id "
            "of its own, and log several traces of one layer at steps of their own."
        )
