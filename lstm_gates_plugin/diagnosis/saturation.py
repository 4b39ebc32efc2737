"""Rules on gates, candidates and hidden states that are at their limits, and on dead units."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from lstm_gates_plugin.diagnosis.finding import Finding, Rule
from lstm_gates_plugin.diagnosis.rules import saturation as rules
from lstm_gates_plugin.diagnosis.run_view import LayerView, RunView

RECORDS = 3
"""The newest records in all of which a gate must be at its limit."""
LEARNED = 0.1
"""The share of the lowest loss before to which the loss falls where a limit was worth learning."""
MOST = 0.9
"""The share of units that must be still for a gate that never varies."""

_WHY_ZERO = {
    "lstm": (
        "Such a unit shows nothing: its output gate is so far shut that it is exactly 0, or its "
        "cell state is; in neither case does it get a gradient.",
        ("scale the input", "lower the learning rate", "look at the output gate's bias"),
    ),
    "gru": (
        "Such a unit still holds the zero that it started with: its update gate is so far at its "
        "limit that nothing new comes in, and no gradient either.",
        ("scale the input", "lower the learning rate", "look at the update gate's bias"),
    ),
    "simple_rnn": (
        "The activation of such a unit is exactly 0 only where nothing arrives: the input, or all "
        "of the unit's weights, are zero.",
        ("check that the input is not all zero", "check how the layer is initialised"),
    ),
}
"""What dead units mean, and what to try, by the cell of a layer without a ReLU."""


def writes_nothing(run: RunView) -> Iterator[Finding]:
    """Input gates that are shut, and update gates that always keep the old state."""
    rule = rules.WRITES_NOTHING
    for layer in run.trained("activations"):
        gate = "input" if layer.description["cell"] == "lstm" else "update"
        row = f"activation/{gate}"
        if row not in layer.rows("activations"):
            continue
        if gate == "update" and layer.options.get("update_keeps", True):
            taken = 1 - layer.column("activations", row, "min")
        else:
            taken = layer.column("activations", row, "max")
        yield from _at_limit(rule, layer, gate, taken, taken < rule.threshold, "of what is new")


def shows_nothing(run: RunView) -> Iterator[Finding]:
    """Output gates that are shut."""
    rule = rules.SHOWS_NOTHING
    for layer in run.trained("activations"):
        shown = layer.column("activations", "activation/output", "max")
        yield from _at_limit(
            rule, layer, "output", shown, shown < rule.threshold, "of the cell state"
        )


def always_remembers(run: RunView) -> Iterator[Finding]:
    """Forget gates that are nearly open almost all the time."""
    rule = rules.ALWAYS_REMEMBERS
    for layer in run.trained("activations"):
        if layer.description["cell"] != "lstm":
            continue
        share = layer.column("activations", "activation/forget", "nearly_open")
        if not share[-1] > rule.threshold:
            continue
        yield rule.found(
            seen=f"{share[-1]:.0%} of the forget activations are above 0.9.",
            value=share[-1],
            steps=_stretch(layer, share > rule.threshold),
            evidence=layer.evidence("activations"),
            layer=layer.id,
            gate="forget",
            kind="activations",
            row="activation/forget",
        )


def always_forgets(run: RunView) -> Iterator[Finding]:
    """Forget gates that are nearly closed almost all the time."""
    rule = rules.ALWAYS_FORGETS
    for layer in run.trained("activations"):
        if layer.description["cell"] != "lstm":
            continue
        share = layer.column("activations", "activation/forget", "nearly_closed")
        high = share > rule.threshold
        if not high[-RECORDS:].all():
            continue
        yield rule.found(
            seen=f"{share[-1]:.0%} of the forget activations are below 0.1.",
            value=share[-1],
            steps=_stretch(layer, high),
            evidence=layer.evidence("activations"),
            layer=layer.id,
            gate="forget",
            kind="activations",
            row="activation/forget",
        )


def never_varies(run: RunView) -> Iterator[Finding]:
    """Gates that are the same at every timestep, and neither shut nor open, which others say."""
    rule = rules.NEVER_VARIES
    for layer in run.trained("activations"):
        for gate in layer.description["gates"]:
            row = f"activation/{gate}"
            mean, std = layer.unit_column(row, "mean"), layer.unit_column(row, "std")
            if mean is None or std is None or gate in ("candidate", "hidden") or not len(std):
                continue
            still = (std < rule.threshold) & (mean > 0.01) & (mean < 0.99)
            if not np.mean(still) > MOST:
                continue
            step = layer.newest["activations"].step
            yield rule.found(
                seen=f"The {gate} gate of {int(still.sum())} of {len(still)} units is the same at "
                f"every timestep, {float(np.mean(mean[still])):.2g} on average.",
                value=float(np.median(std)),
                steps=(step, step),
                evidence=layer.evidence("activations"),
                layer=layer.id,
                gate=gate,
                kind="activations",
                row=row,
                title=f"has {'an' if gate[0] in 'aeiou' else 'a'} {gate} gate that never varies",
            )


def at_limits(run: RunView) -> Iterator[Finding]:
    """Candidates (of a simple RNN: hidden states) that are almost always -1 or 1."""
    rule = rules.AT_LIMITS
    for layer in run.trained("activations"):
        if layer.options.get("activation", "tanh") != "tanh":
            continue
        is_simple = layer.description["cell"] == "simple_rnn"
        row = "hidden_state" if is_simple else "activation/candidate"
        share = layer.column("activations", row, "nearly_open")
        high = share > rule.threshold
        if not high[-RECORDS:].all() or _has_learned_since(layer, _stretch(layer, high)[0]):
            continue
        name = "hidden state" if is_simple else "candidate"
        yield rule.found(
            seen=f"{share[-1]:.0%} of the {name}'s values have a magnitude above 0.9.",
            value=share[-1],
            steps=_stretch(layer, high),
            evidence=layer.evidence("activations"),
            layer=layer.id,
            gate="hidden" if is_simple else "candidate",
            kind="activations",
            row=row,
            title=f"has its {name} at the limits of tanh",
        )


def dead_units(run: RunView) -> Iterator[Finding]:
    """Layers of which many units put out zero at every timestep."""
    rule = rules.DEAD_UNITS
    for layer in run.trained("activations"):
        mean = layer.unit_column("hidden_state", "mean")
        std = layer.unit_column("hidden_state", "std")
        if mean is None or std is None or len(mean) == 0:
            continue
        dead = (mean == 0) & (std == 0)
        share = float(np.mean(dead))
        if not share > rule.threshold:
            continue
        meaning, try_ = _WHY_ZERO.get(_why_zero(layer), (None, None))
        step = layer.newest["activations"].step
        yield rule.found(
            seen=f"{int(dead.sum())} of {len(dead)} units are zero at every timestep.",
            value=share,
            steps=(step, step),
            evidence=layer.evidence("activations"),
            layer=layer.id,
            kind="activations",
            row="hidden_state",
            meaning=meaning,
            try_=try_,
        )


def _why_zero(layer: LayerView) -> str:
    """What makes a hidden state exactly zero, of layers with and without a ReLU."""
    if layer.options.get("activation", "tanh") == "relu":
        return "relu"
    return str(layer.description["cell"])


def _has_learned_since(layer: LayerView, step: int) -> bool:
    """Whether the loss is far below all before, as where counting needs candidates of 1 and -1."""
    if "weights" not in layer.series:
        return False
    loss, steps = layer.record_column("weights", "loss"), layer.series["weights"].steps
    before = loss[(steps < step) & np.isfinite(loss)]
    return len(before) > 0 and bool(np.median(loss[-RECORDS:]) < LEARNED * before.min())


def _at_limit(
    rule: Rule, layer: LayerView, gate: str, passed: np.ndarray, shut: np.ndarray, what: str
) -> Iterator[Finding]:
    if not shut[-RECORDS:].all():
        return
    first, last = _stretch(layer, shut)
    yield rule.found(
        seen=f"The {gate} gate lets at most {max(passed[-1], 1e-4):.2g} {what} through.",
        value=passed[-1],
        steps=(first, last),
        evidence=layer.evidence("activations"),
        layer=layer.id,
        gate=gate,
        kind="activations",
        row=f"activation/{gate}",
        title=f"{rule.title} since training step {first:,}",
    )


def _stretch(layer: LayerView, seen: np.ndarray) -> tuple[int, int]:
    """The training steps of the last unbroken stretch of records in which it was seen."""
    steps = layer.series["activations"].steps
    missing = np.flatnonzero(~seen)
    return int(steps[missing[-1] + 1 if len(missing) else 0]), int(steps[-1])
