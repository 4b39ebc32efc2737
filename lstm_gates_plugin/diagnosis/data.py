"""Rules on what went in: the scale of the input, a probe that changed between records, padding."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from lstm_gates_plugin import format
from lstm_gates_plugin.diagnosis.finding import Finding
from lstm_gates_plugin.diagnosis.rules import data as rules
from lstm_gates_plugin.diagnosis.run_view import RunView
from lstm_gates_plugin.measure.scale import LARGE, SMALL


def input_scale(run: RunView) -> Iterator[Finding]:
    """A probe whose features are of a size that fresh gates cannot tell apart."""
    rule = rules.INPUT_SCALE
    for layer in run.layers:
        picture = layer.newest.get("activations")
        if picture is None or "track/input" not in picture.arrays:
            continue
        values = picture.arrays["track/input"].astype(np.float64)
        values = values[np.isfinite(values)]
        features = picture.header.get("track_features_total")
        is_read = features == layer.description["input_size"]
        if values.size == 0 or not (is_read or _are_no_tokens(picture, values)):
            continue
        size, largest = float(np.sqrt(np.mean(values**2))), float(np.abs(values).max())
        if size > LARGE or largest < SMALL:
            yield rule.found(
                seen=f"The probe has mean {values.mean():.3g} and spread {values.std():.3g}.",
                value=size,
                steps=(picture.step, picture.step),
                evidence=layer.evidence("activations"),
                layer=layer.id if is_read else None,
                kind="activations",
                row="track/input",
                title=None if is_read else "the model gets input that is not scaled",
            )
        return


def _are_no_tokens(picture: format.Payload, values: np.ndarray) -> bool:
    """Whether these are not all whole numbers, which the mean of several timesteps would hide."""
    return picture.header["block"] == 1 and bool((values != np.round(values)).any())


def padding(run: RunView) -> Iterator[Finding]:
    """Layers that were not run at most timesteps of the probe."""
    rule = rules.MUCH_PADDING
    for layer in run.layers:
        picture = layer.newest.get("activations")
        if picture is None or "mask" not in picture.arrays or not picture.arrays["mask"].size:
            continue
        share = float(1 - np.mean(picture.arrays["mask"] != 0))
        if share > rule.threshold:
            yield rule.found(
                seen=f"{share:.0%} of the probe's timesteps are masked.",
                value=share,
                steps=(picture.step, picture.step),
                evidence=layer.evidence("activations"),
                layer=layer.id,
                kind="activations",
            )


def probe_changed(run: RunView) -> Iterator[Finding]:
    """Runs whose activations were not always recorded of the same samples."""
    for layer in run.layers:
        if "activations" not in layer.series:
            continue
        hashes = layer.record_column("activations", "probe_hash")
        known = np.flatnonzero(np.isfinite(hashes))
        changes = known[1:][np.diff(hashes[known]) != 0]
        if len(changes) == 0:
            continue
        steps = layer.series["activations"].steps
        yield rules.PROBE_CHANGED.found(
            seen=f"The probe is another one from training step {int(steps[changes[0]]):,} on.",
            value=len(changes),
            steps=(int(steps[changes[0]]), int(steps[changes[-1]])),
            evidence=layer.evidence("activations"),
            kind="activations",
        )
        return
