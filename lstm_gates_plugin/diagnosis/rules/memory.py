"""Rules on how long a layer remembers, and how far back the error reaches."""

from __future__ import annotations

from lstm_gates_plugin.diagnosis.finding import Rule
from lstm_gates_plugin.diagnosis.rules.source import own

LOW_FORGET_BIAS = Rule(
    "LG041",
    "note",
    "starts with a low forget bias",
    "the mean forget bias of the first record, with what is added at run time, is below the "
    "threshold",
    0.5,
    "bias",
    "a forget bias of 1: Jozefowicz, Zaremba and Sutskever 2015 (ICML, PMLR 37); halfway to it "
    "from 0 is " + own("-0.12", "at least 3.8", "pytorch/test_findings_memory"),
    "The forget gate starts half open or less, so that half of the memory is gone after one or two "
    "timesteps. PyTorch and Flax start at 0 by default, Keras and TensorFlow 1 at 1.",
    ("start the forget bias at 1 where the task needs a long memory",),
)
SHORT_MEMORY = Rule(
    "LG042",
    "note",
    "remembers few timesteps",
    "the median unit's survival (timesteps until half of its state is forgotten), as a share of "
    "the timesteps (20 or more), is below the threshold in each of the last 3 records",
    0.1,
    "share of timesteps",
    own("0.02", "at least 0.4", "pytorch/test_findings_memory"),
    "Most units have forgotten the beginning long before the end. That is no harm where the answer "
    "depends on what came just before.",
    ("start the forget bias higher", "nothing, if the task needs a short memory"),
)
SHORT_REACH = Rule(
    "LG060",
    "note",
    "learns from few timesteps",
    "the timesteps that the error reaches back, as a share of those that there are (20 or more), "
    "are below the threshold in each of the last 3 records; and, of a cell with a memory, so is "
    "the survival of more than 9 in 10 units",
    0.1,
    "share of timesteps",
    own("0.071", "at least 0.13", "pytorch/test_findings_memory"),
    "What happened longer ago hardly changes the weights. That is no harm where the answer depends "
    "on what came just before.",
    ("start the forget bias higher", "cut the sequences where the answer depends on what is near"),
)
