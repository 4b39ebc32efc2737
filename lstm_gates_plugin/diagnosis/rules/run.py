"""Rules on the run as a whole."""

from __future__ import annotations

from lstm_gates_plugin.diagnosis.finding import Rule

TOO_EARLY = Rule(
    "LG090",
    "note",
    "it is too early to judge some of this run",
    "a layer has fewer than 3 records, or fewer than 10 training steps between the first and the "
    "last, or 100 where no weight has changed; or no activations were recorded",
    3,
    "records",
    "our own: below it a trend cannot be told from a start",
    "What is listed here was not judged, which does not mean that it is fine.",
    ("train on", "give a probe, so that activations are recorded"),
)
