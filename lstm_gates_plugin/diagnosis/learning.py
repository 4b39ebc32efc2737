"""Rules on whether the layers learn: unchanged ones, frozen ones, too large or small updates."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from lstm_gates_plugin.diagnosis.finding import Finding
from lstm_gates_plugin.diagnosis.rules import learning as rules
from lstm_gates_plugin.diagnosis.run_view import LayerView, RunView

ENOUGH_UPDATES = 100
"""Training steps after which a layer should have changed measurably, and after which updates are
no longer large because the optimizer, or the weights, have only started."""
ENOUGH_WEIGHTS = 64
"""Entries of a kernel from which its size says how far an update may go."""

_KERNELS = ("kernel/", "recurrent_kernel/")


def unchanged(run: RunView) -> Iterator[Finding]:
    """Layers of which no weight has changed since the first record, unless they are frozen."""
    waiting = waits_for_an_update(run)
    for layer in run.trained("weights"):
        if is_unchanged(layer) and not _is_frozen(layer) and layer not in waiting:
            first, last = layer.steps("weights")
            yield rules.UNCHANGED.found(
                seen=f"No weight has changed between the training steps {first:,} and {last:,}.",
                value=0,
                steps=(first, last),
                evidence=layer.evidence("weights"),
                layer=layer.id,
                kind="weights",
                title=f"has not changed since training step {first:,}",
            )


def frozen(run: RunView) -> Iterator[Finding]:
    """Layers that were told not to learn."""
    for layer in run.layers:
        if _is_frozen(layer) and "weights" in layer.series:
            yield rules.FROZEN.found(
                seen="All weights of the layer are frozen.",
                value=0,
                steps=layer.steps("weights"),
                evidence=layer.evidence("weights"),
                layer=layer.id,
                kind="weights",
            )


def part_unchanged(run: RunView) -> Iterator[Finding]:
    """Gates, or all recurrent kernels, that stay as they were while the layer's kernels change."""
    for layer in run.trained("weights"):
        if not is_changing(layer, "kernel/"):
            continue
        for what, part in _parts(layer):
            # What is zero throughout because it was never anything else tells nothing.
            if not part or any(_latest_change(layer, row) != 0 for row in part):
                continue
            first, last = layer.steps("weights")
            yield rules.PART_UNCHANGED.found(
                seen=f"{what[0].upper()}{what[1:]} did not change between the training steps "
                f"{first:,} and {last:,}, while other weights of the layer did.",
                value=0,
                steps=(first, last),
                evidence=layer.evidence("weights"),
                layer=layer.id,
                gate=part[0].partition("/")[2] if what.endswith("gate") else "recurrent_kernel",
                kind="weights",
                row=part[0],
                title=f"has not changed {what} since training step {first:,}",
            )


def only_one_learns(run: RunView) -> Iterator[Finding]:
    """Runs in which one layer changes and no other does, though not all others are frozen."""
    layers = list(run.trained("weights"))
    changing = [layer for layer in layers if is_changing(layer)]
    still = [layer for layer in layers if is_unchanged(layer)]
    if len(changing) != 1 or len(still) != len(run.layers) - 1:
        return
    if all(_is_frozen(layer) for layer in still):
        return
    (one,) = changing
    first, last = one.steps("weights")
    which = "the last layer" if one.id == run.layers[-1].id else one.id
    yield rules.ONLY_ONE_LEARNS.found(
        seen=f"Of {len(run.layers)} recurrent layers only {one.id} has changed since training "
        f"step {first:,}.",
        value=1,
        steps=(first, last),
        evidence=one.evidence("weights"),
        kind="weights",
        title=f"only {which} learns",
    )


def only_biases(run: RunView) -> Iterator[Finding]:
    """Layers whose biases change and whose kernels do not."""
    for layer in run.trained("weights"):
        kernels = [row for row in layer.rows("weights") if row.startswith(_KERNELS)]
        still = kernels and all(_latest_change(layer, row) == 0 for row in kernels)
        if still and is_changing(layer, "bias/"):
            yield rules.ONLY_BIASES.found(
                seen="The biases have changed since the first record, and no kernel has.",
                value=0,
                steps=layer.steps("weights"),
                evidence=layer.evidence("weights"),
                layer=layer.id,
                gate="bias",
                kind="weights",
                row=kernels[0],
            )


def update_too_large(run: RunView) -> Iterator[Finding]:
    """The kernel of each layer that changes most with each update, if that is too much."""
    rule = rules.UPDATE_TOO_LARGE
    for layer in run.trained("weights"):
        first, last = layer.steps("weights")
        kernels = [
            row
            for row in layer.rows("weights")
            if row.startswith(_KERNELS)
            and layer.column("weights", row, "count")[-1] >= ENOUGH_WEIGHTS
        ]
        if last - first < ENOUGH_UPDATES or not kernels:
            continue
        per_update = {row: _change_per_update(layer, row) for row in kernels}
        row = max(per_update, key=lambda name: np.nan_to_num(per_update[name]))
        if not per_update[row] > rule.threshold:
            continue
        steps = layer.series["weights"].steps
        yield rule.found(
            seen=f"{row} changes by {per_update[row]:.0%} of its size in each update.",
            value=per_update[row],
            steps=(int(steps[len(steps) // 2]), int(steps[-1])),
            evidence=layer.evidence("weights"),
            layer=layer.id,
            gate=row.partition("/")[2],
            kind="weights",
            row=row,
        )


def update_too_small(run: RunView) -> Iterator[Finding]:
    """Layers that change, but by next to nothing."""
    rule = rules.UPDATE_TOO_SMALL
    for layer in run.trained("weights"):
        first, last = layer.steps("weights")
        rows = layer.rows("weights")
        changes = [float(layer.column("weights", row, "change_since_start")[-1]) for row in rows]
        if last - first < ENOUGH_UPDATES or not rows or not 0 < max(changes) < rule.threshold:
            continue
        yield rule.found(
            seen=f"In {last - first:,} training steps no part of the layer changed by more than "
            f"{max(changes):.1e} of its size.",
            value=max(changes),
            steps=(first, last),
            evidence=layer.evidence("weights"),
            layer=layer.id,
            kind="weights",
        )


def waits_for_an_update(run: RunView) -> list[LayerView]:
    """Layers that may not have had an update: none of the run has changed, and it is young.

    Steps that count the batches have several to an update where gradients are accumulated.
    """
    layers = [layer for layer in run.trained("weights") if not _is_frozen(layer)]
    if not all(is_unchanged(layer) for layer in layers):
        return []
    spans = {layer.id: layer.steps("weights") for layer in layers}
    return [one for one in layers if spans[one.id][1] - spans[one.id][0] < ENOUGH_UPDATES]


def is_unchanged(layer: LayerView) -> bool:
    """Whether no weight of the layer differs from the first record."""
    rows = layer.rows("weights")
    return bool(rows) and all(_latest_change(layer, row) == 0 for row in rows)


def is_changing(layer: LayerView, part: str = "") -> bool:
    """Whether a weight of the layer, of these parts alone, differs from the first record."""
    rows = [row for row in layer.rows("weights") if row.startswith(part)]
    return any(_latest_change(layer, row) > 0 for row in rows)


def _is_frozen(layer: LayerView) -> bool:
    """Whether the layer was told not to learn, by its newest record, and does not."""
    return bool(layer.options.get("frozen")) and not is_changing(layer)


def _latest_change(layer: LayerView, row: str) -> float:
    """The largest absolute change since the first record; NaN where it is not known."""
    return float(layer.column("weights", row, "max_change_since_start")[-1])


def _change_per_update(layer: LayerView, row: str) -> float:
    """A lower bound, since several updates can undo each other; NaN where it is not known."""
    series = layer.series["weights"]
    changes = layer.column("weights", row, "change_since_previous")[1:]
    # Records may have been thinned out: the change is since the previous log call, which was at or
    # after the previous record that is left, so that the quotient is a lower bound all the more.
    ratios = changes / np.diff(series.steps)
    late = ratios[len(ratios) // 2 :]
    return float(np.median(late[np.isfinite(late)])) if np.isfinite(late).any() else float("nan")


def _parts(layer: LayerView) -> Sequence[tuple[str, list[str]]]:
    """What could stay still by itself: each gate, or the recurrent kernels together."""
    rows = layer.rows("weights")
    gates = layer.description["gates"]
    parts = [
        ("its recurrent kernels", [row for row in rows if row.startswith("recurrent_kernel/")])
    ]
    if len(gates) > 1:
        parts += [
            (f"its {gate} gate", [row for row in rows if row.partition("/")[2] == gate])
            for gate in gates
        ]
    return parts
