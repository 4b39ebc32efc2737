"""LG104: what goes into a layer should be of a size that its fresh gates can tell apart."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lstm_gates_plugin.checks.live import NotJudgedError
from lstm_gates_plugin.checks.report import CheckResult, Outcome, named
from lstm_gates_plugin.frameworks.recorded import RecordedCall

ID, NAME = "LG104", "inputs are scaled"

#: Root mean square of inputs above which a fresh layer's gates stand at their limits. A threshold
#: of our own: with 28 to 256 inputs of this size, a quarter to a half of all gates of a fresh LSTM
#: (PyTorch's and Keras's initialisers) are nearly closed or nearly open, and none at 1.
LARGE = 5.0

#: Largest magnitude of inputs below which a fresh layer does not tell them from zero: the same, a
#: hundredth of the size for which initialisers are made.
SMALL = 0.01


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
