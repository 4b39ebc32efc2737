"""All rules on one run: its findings, the worst first, and the verdict in one sentence."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any

from lstm_gates_plugin.diagnosis import (
    data,
    learning,
    memory,
    recurrence,
    saturation,
    shape,
    training,
    values,
)
from lstm_gates_plugin.diagnosis.finding import SEVERITIES, Finding
from lstm_gates_plugin.diagnosis.rules import run as rules
from lstm_gates_plugin.diagnosis.run_view import RunView, view
from lstm_gates_plugin.reading.runs import LoggedRun, read

_CHECKS_OF_A_RUN: tuple[Callable[[RunView], Iterator[Finding]], ...] = (
    learning.unchanged,
    learning.part_unchanged,
    learning.only_one_learns,
    learning.only_biases,
    learning.frozen,
    learning.update_too_large,
    learning.update_too_small,
    shape.still_initial,
    shape.no_bias,
    shape.widened,
    shape.drifted,
    shape.gathered,
    memory.low_forget_bias,
    recurrence.explodes,
    recurrence.vanishes,
    training.loss_spike,
    values.skipped_update,
    data.input_scale,
    data.probe_changed,
)
"""Those that look at the weights, at the run as a whole, or at how it began."""

_CHECKS_OF_A_CALL: tuple[Callable[[RunView], Iterator[Finding]], ...] = (
    values.not_finite,
    values.near_float16_limit,
    values.runaway_state,
    saturation.writes_nothing,
    saturation.shows_nothing,
    saturation.always_remembers,
    saturation.always_forgets,
    saturation.never_varies,
    saturation.at_limits,
    saturation.dead_units,
    memory.short_memory,
    memory.short_reach,
    recurrence.redundant_units,
    data.padding,
)
"""Those that look at what a layer did, in each of its calls."""


def diagnose(
    run: LoggedRun | str | os.PathLike[str],
    *,
    dismissed: Collection[tuple[str, str | None]] = (),
) -> list[Finding]:
    """What looks wrong in a run, in plain words.

    Args:
        run: one of the runs that `read` returns, or the directory of a single run.
        dismissed: findings to leave out, by id and layer; the layer is None for a finding of the
            run as a whole.

    Returns:
        The findings: errors, then warnings, then notes; within them by layer.

    Raises:
        ValueError: the directory does not exist, or there is not exactly one run in it.
        TypeError: what was given is neither a run nor a directory.
    """
    return findings_of(view(_one_run(run)), dismissed)


def findings_of(run: RunView, dismissed: Collection[tuple[str, str | None]] = ()) -> list[Finding]:
    """What `diagnose` returns, of records that were read already."""
    checks = (*_CHECKS_OF_A_RUN, *_CHECKS_OF_A_CALL)
    first = [finding for check in checks for finding in check(run)]
    found = [*_of_calls(run, first), *_too_early(run)]
    order = {layer.id: number for number, layer in enumerate(run.layers)}

    def place(finding: Finding) -> tuple[int, int, str]:
        layer = -1 if finding.layer is None else order[finding.layer]
        return SEVERITIES.index(finding.severity), layer, finding.id

    return sorted((one for one in found if (one.id, one.layer) not in dismissed), key=place)


def verdict(findings: Sequence[Finding], layers: int) -> str:
    """One sentence, such as "3 of 4 layers look fine; lstm_2 has many dead units.".

    Args:
        findings: what `diagnose` returns.
        layers: how many layers the run has.
    """
    if layers == 0:
        return "No layer of this run has a readable record."
    worse = [finding for finding in findings if finding.severity != "note"]
    troubled = {finding.layer for finding in worse if finding.layer is not None}
    fine = layers - len(troubled)
    early = [finding for finding in findings if finding.id == rules.TOO_EARLY.id]
    if not worse:
        if early:
            return "Nothing looks wrong so far, but it is too early to judge all of this run."
        return "The layer looks fine." if layers == 1 else f"All {layers} layers look fine."
    worst = worse[0]
    what = f"{worst.layer} {worst.title}" if worst.layer else worst.title
    if troubled and fine:
        return f"{fine} of {layers} layers look{'s' if fine == 1 else ''} fine; {what}."
    # A layer's id is written as it is.
    return f"{what}." if worst.layer else f"{what[0].upper()}{what[1:]}."


def summary(findings: Sequence[Finding], layers: int) -> dict[str, Any]:
    """The verdict as JSON; its severity is the worst one, "fine" where there are only notes."""
    troubled = {one.layer for one in findings if one.severity != "note" and one.layer}
    worst = findings[0].severity if findings else "note"
    return {
        "sentence": verdict(findings, layers),
        "severity": "note" if layers == 0 else "fine" if worst == "note" else worst,
        "fine_layers": layers - len(troubled),
        "too_early": any(one.id == rules.TOO_EARLY.id for one in findings),
    }


def _of_calls(run: RunView, first: Sequence[Finding]) -> Iterator[Finding]:
    """The findings of the first call and of all others; the calls are named where there are others.

    Args:
        run: the run.
        first: the findings of the first call.
    """
    shared = {layer.id for call in run.later_calls for layer in call.layers}
    alike: dict[tuple[str, str | None, str | None, str | None], list[Finding]] = {}
    for finding in (*first, *_of_later_calls(run)):
        if finding.layer in shared and finding.kind in ("activations", "gradients"):
            key = (finding.id, finding.layer, finding.gate, finding.row)
            alike.setdefault(key, []).append(finding)
        else:
            yield finding
    for finding, *others in alike.values():
        more = f" Also in call {', '.join(str(one.call) for one in others)}." if others else ""
        yield dataclasses.replace(finding, seen=f"Call {finding.call}: {finding.seen}{more}")


def _of_later_calls(run: RunView) -> Iterator[Finding]:
    for one in run.later_calls:
        for check in _CHECKS_OF_A_CALL:
            for finding in check(one):
                yield dataclasses.replace(finding, call=one.layers[0].call)


def _too_early(run: RunView) -> Iterator[Finding]:
    """One note that lists what could not be judged."""
    young = {
        kind: [
            layer.id for layer in run.layers if kind in layer.series and not layer.is_trained(kind)
        ]
        for kind in ("weights", "activations")
    }
    young["weights"] += [layer.id for layer in learning.waits_for_an_update(run)]
    lacking = [layer.id for layer in run.layers if "activations" not in layer.series]
    reasons = [f"the {kind} of {', '.join(ids)}" for kind, ids in young.items() if ids]
    if lacking:
        reasons.append(f"the gates of {', '.join(lacking)}, of which no activations were recorded")
    if run.unreadable:
        reasons.append(f"{', '.join(run.unreadable)}, of which no record can be read")
    if not reasons:
        return
    steps = [layer.steps(kind) for layer in run.layers for kind in layer.series] or [(0, 0)]
    records = [len(one.steps) for layer in run.layers for one in layer.series.values()]
    yield rules.TOO_EARLY.found(
        seen=f"Not judged: {'; '.join(reasons)}.",
        value=min(records, default=0),
        steps=(min(first for first, _ in steps), max(last for _, last in steps)),
        evidence=f"{len(run.layers)} layers",
    )


def _one_run(run: LoggedRun | str | os.PathLike[str]) -> LoggedRun:
    if isinstance(run, LoggedRun):
        return run
    if not isinstance(run, str | os.PathLike):
        raise TypeError(
            f"diagnose() takes a run of lg.read(...) or a directory, not a {type(run).__name__}."
        )
    runs = read(run)
    if len(runs) != 1:
        there = f"there are {len(runs)}: {', '.join(runs)}" if runs else "nothing was logged there"
        raise ValueError(
            f"The directory {os.fspath(run)!r} should hold one run, and {there}. "
            "Give one of them: lg.diagnose(lg.read(logdir)[run])."
        )
    return next(iter(runs.values()))
