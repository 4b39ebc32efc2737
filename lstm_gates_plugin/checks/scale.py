"""LG104: what goes into a layer should be of a size that its fresh gates can tell apart."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lstm_gates_plugin.checks.live import NotJudgedError
from lstm_gates_plugin.checks.report import CheckResult, Outcome, named
from lstm_gates_plugin.frameworks.recorded import RecordedCall
from lstm_gates_plugin.measure.scale import LARGE, SMALL

ID, NAME = "LG104", "inputs are scaled"


def scale(calls: Sequence[RecordedCall]) -> CheckResult:
    """Measure what goes into each layer, where it was run.

    Raises:
        NotJudgedError: no layer ran on finite numbers.
    """
    said: dict[str, list[str]] = {}
    judged = False
    for call in calls:
        values = call.inputs[call.ran].astype(np.float64)
        if values.size == 0 or not np.isfinite(values).all():
            continue
        judged = True
        size = float(np.sqrt(np.mean(values**2)))
        largest = float(np.abs(values).max())
        numbers = f"mean {values.mean():.3g}, spread {values.std():.3g}"
        if size > LARGE:
            said.setdefault(f"Large numbers ({numbers}) go into", []).append(call.layer.id)
        elif 0 < largest < SMALL:
            said.setdefault(f"Tiny numbers ({numbers}) go into", []).append(call.layer.id)
    if not judged:
        raise NotJudgedError("No layer ran on finite numbers.")
    if not said:
        seen = f"What goes into each layer has a root mean square of at most {LARGE:g}."
        return CheckResult(ID, NAME, Outcome.PASSED, seen)
    return CheckResult(
        ID,
        NAME,
        Outcome.MISTAKE,
        " ".join(f"{what} {named(dict.fromkeys(layers))}." for what, layers in said.items()),
        "Scale each feature to mean 0 and spread 1, with numbers taken from the training data: "
        "gates stand at their limits for large inputs, and do not notice tiny ones.",
        tuple(dict.fromkeys(layer for layers in said.values() for layer in layers)),
    )
