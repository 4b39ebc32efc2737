"""Rules on the values themselves: what is not finite, or too large."""

from __future__ import annotations

from lstm_gates_plugin.diagnosis.finding import Rule
from lstm_gates_plugin.diagnosis.rules.source import own

NOT_FINITE = Rule(
    "LG001",
    "error",
    "has values that are not finite",
    "an entry of any record is NaN or infinite (but see LG005)",
    0,
    "entries",
    "by definition: what comes out of such a value is not finite either",
    "Everything computed from these values is lost, and so is every later update.",
    ("lower the learning rate", "clip the gradient by its norm", "look for NaN in the input"),
)
FLOAT16_LIMIT = Rule(
    "LG002",
    "warning",
    "is near the largest number of float16",
    "the largest magnitude of a layer computed in float16 is above a quarter of 65,504; the "
    "gradients of the training, which loss scaling makes large on purpose, are not judged",
    65504 / 4,
    "",
    "IEEE 754: the largest float16 is 65,504; a quarter of it is our own margin",
    "Two more doublings, and float16 turns the value into infinity.",
    ("compute this layer in bfloat16 or float32", "scale the input"),
)
RUNAWAY_STATE = Rule(
    "LG003",
    "warning",
    "has a state that grows without bound",
    "the largest magnitude of the cell state (of the hidden state, where its activation has no "
    "limit) is above the threshold and ten times that of the first record (but see LG004)",
    100,
    "",
    own("3,694", "at most 23", "pytorch/test_findings_values"),
    "A tanh of such a state does not show its changes; where there is no tanh, the output and the "
    "gradients grow with the state.",
    (
        "scale the input and the target",
        "clip the gradient by its norm",
        "use tanh for the candidate",
        "shorten the sequences",
    ),
)
COUNTS = Rule(
    "LG004",
    "note",
    "adds up a large state",
    "as LG003, but the candidate is at most 1 in magnitude and the state at most the number of "
    "timesteps: what adding up at each of them can reach",
    100,
    "",
    own("131", "at most 8.3", "pytorch/test_findings_values"),
    "The state has an end, and a count may need it; but tanh of it hardly tells 100 from 50.",
    ("nothing, if the task is one of counting",),
)
SKIPPED_UPDATE = Rule(
    "LG005",
    "note",
    "had gradients that were not finite",
    "an entry of the training's gradient is NaN or infinite, and a later record of the layer's "
    "weights or gradients is finite, or there is no later one as yet",
    0,
    "records",
    "by definition: an update by such a gradient would have made the weights NaN",
    "An update that made no weight NaN was left out: this is how loss scaling (float16) looks for "
    "its scale.",
    ("nothing, if the loss is scaled and this is rare", "else clip the gradient by its norm"),
)
