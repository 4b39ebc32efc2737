"""Rules on how long a layer remembers: its forget bias at the start, the reach of its error."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from lstm_gates_plugin.diagnosis.finding import Finding
from lstm_gates_plugin.diagnosis.rules import memory as rules
from lstm_gates_plugin.diagnosis.run_view import LayerView, RunView

RECORDS = 3
"""The newest records in all of which the reach must be short."""
LONG = 20
"""Timesteps that the sequences must have before a reach is called short."""

LONG_MEMORY = 0.1
"""The share of units with a long memory from which the error is not said to fade."""

_START_NEAR_0 = {"torch": ("PyTorch", 2.0), "flax": ("Flax", 0.0)}
"""Whose forget bias starts near 0, and its largest magnitude times the root of the units."""


def low_forget_bias(run: RunView) -> Iterator[Finding]:
    """LSTMs whose forget gates start about half open."""
    rule = rules.LOW_FORGET_BIAS
    for layer in run.layers:
        if layer.description["cell"] != "lstm" or "weights" not in layer.series:
            continue
        first, _ = layer.steps("weights")
        bias = _effective_forget_bias(layer)
        # A run that was resumed does not show how it began.
        if first > 1 or not bias < rule.threshold:
            continue
        yield rule.found(
            seen=f"The forget bias was {bias:.2g} on average at training step {first:,}"
            f"{_of_the_framework(layer, bias)}.",
            value=bias,
            steps=(first, first),
            evidence=layer.evidence("weights"),
            layer=layer.id,
            gate="forget",
            kind="weights",
            row="bias/forget",
        )


def short_reach(run: RunView) -> Iterator[Finding]:
    """Layers in which the error reaches back a small part of long sequences."""
    rule = rules.SHORT_REACH
    for layer in run.trained("gradients"):
        reach = layer.record_column("gradients", "reach")
        limit = layer.record_column("gradients", "reach_limit")
        share = reach / np.maximum(limit, 1)
        short = (share < rule.threshold) & (limit >= LONG)
        if not short[-RECORDS:].all() or _has_long_memory(layer, rule.threshold):
            continue
        steps = layer.series["gradients"].steps
        yield rule.found(
            seen=f"The error reaches {int(reach[-1])} of {int(limit[-1])} timesteps back.",
            value=share[-1],
            steps=(int(steps[-RECORDS]), int(steps[-1])),
            evidence=layer.evidence("gradients"),
            layer=layer.id,
            kind="gradients",
        )


def short_memory(run: RunView) -> Iterator[Finding]:
    """Layers whose units forget within a small part of long sequences."""
    rule = rules.SHORT_MEMORY
    for layer in run.trained("activations"):
        picture = layer.newest.get("activations")
        timesteps = 0 if picture is None else int(picture.header["timesteps"])
        memory = layer.record_column("activations", "memory")
        short = memory / max(timesteps, 1) < rule.threshold
        if timesteps < LONG or not short[-RECORDS:].all():
            continue
        steps = layer.series["activations"].steps
        yield rule.found(
            seen=f"The median unit has forgotten half of its state after {memory[-1]:.3g} of "
            f"{timesteps} timesteps.",
            value=memory[-1] / timesteps,
            steps=(int(steps[-RECORDS]), int(steps[-1])),
            evidence=layer.evidence("activations"),
            layer=layer.id,
            kind="activations",
        )


def _has_long_memory(layer: LayerView, threshold: float) -> bool:
    """Whether a tenth of the units or more hold their state for longer than a share of the probe.

    Along such a state the error flows on, though little of it is left in the hidden state: the
    constant error carousel of Hochreiter and Schmidhuber 1997.
    """
    picture = layer.newest.get("activations")
    if picture is None or "survival" not in picture.arrays:
        return bool(layer.description["cell"] != "simple_rnn")
    remembered = picture.arrays["survival"] / picture.header["timesteps"]
    return float(np.mean(remembered > threshold)) >= LONG_MEMORY


def _of_the_framework(layer: LayerView, bias: float) -> str:
    """That nobody chose this start, where the framework's own is about 0."""
    name, largest = _START_NEAR_0.get(str(layer.options.get("framework")), ("", 0.0))
    is_default = name and abs(bias) <= largest / math.sqrt(layer.description["units"])
    return f", which is {name}'s default" if is_default else ""


def _effective_forget_bias(layer: LayerView) -> float:
    """The stored bias and what is added at run time; 0 where there is none."""
    added = float(layer.options.get("forget_bias") or 0)
    if "bias/forget" not in layer.rows("weights"):
        return added
    return added + float(layer.column("weights", "bias/forget", "mean")[0])
