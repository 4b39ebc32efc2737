"""Rules on how the training goes."""

from __future__ import annotations

from lstm_gates_plugin.diagnosis.finding import Rule
from lstm_gates_plugin.diagnosis.rules.source import own

LOSS_SPIKE = Rule(
    "LG070",
    "warning",
    "the loss jumps",
    "of 10 or more losses one is 3 times or more the median of the 5 before it, and the logarithm "
    "of that ratio is above the threshold in robust standard deviations (1.4826 MAD)",
    10,
    "robust standard deviations",
    own("17", "at most 0", "pytorch/test_findings_data"),
    "One update, or one batch, was unlike the others.",
    ("clip the gradient by its norm", "lower the learning rate", "look at the batch"),
)
