"""Rules on what went in."""

from __future__ import annotations

from lstm_gates_plugin.diagnosis.finding import Rule
from lstm_gates_plugin.diagnosis.rules.source import own
from lstm_gates_plugin.measure.scale import LARGE, SMALL

INPUT_SCALE = Rule(
    "LG080",
    "note",
    "gets input that is not scaled",
    f"the root mean square of the probe's features is above the threshold, or all are below {SMALL}"
    " in magnitude; whole numbers, which may be tokens, are judged only where they are "
    "what a layer reads: as many at each timestep as it has inputs",
    LARGE,
    "root mean square",
    own("120", "at most 1.1", "pytorch/test_findings_data"),
    "Gates stand at their limits for large inputs, and do not notice tiny ones; no harm where the "
    "model scales its input itself.",
    ("scale each feature to mean 0 and spread 1, with numbers taken from the training data",),
)
MUCH_PADDING = Rule(
    "LG081",
    "note",
    "is fed mostly padding",
    "the share of masked timesteps in the kept samples of the newest snapshot is above the "
    "threshold",
    0.5,
    "share of timesteps",
    own("0.69", "at most 0", "pytorch/test_findings_data"),
    "Masked timesteps cost time and teach nothing.",
    ("put sequences of like length into one batch",),
)
PROBE_CHANGED = Rule(
    "LG082",
    "note",
    "the probe changed between records",
    "the checksum of the probe differs between two records",
    0,
    "changes of the probe",
    "exact: the checksums differ",
    "Activations before and after are of other samples, so that a difference between them need "
    "not come from the training.",
    ("give the same probe at every training step",),
)
