"""Rules on whether the layers learn, and how much each update changes."""

from __future__ import annotations

from lstm_gates_plugin.diagnosis.finding import Rule
from lstm_gates_plugin.diagnosis.rules.source import own

UNCHANGED = Rule(
    "LG010",
    "warning",
    "has not changed since the start",
    "the largest change of any weight of the layer since the first record is exactly zero, after 3 "
    "records and 10 training steps; where no layer has changed, after 100, since gradients may be "
    "accumulated over several",
    0,
    "largest change of a weight",
    "exact: no entry differs",
    "The layer does not learn: no gradient reaches it, or the optimizer does not have its weights.",
    (
        "check that the layer is trainable",
        "check that the optimizer was given this layer's weights",
        "check that the loss depends on this layer's output",
        "if it is frozen on purpose, dismiss this finding",
    ),
)
PART_UNCHANGED = Rule(
    "LG011",
    "warning",
    "has weights that have not changed since the start",
    "the largest change of a gate or of all recurrent kernels since the first record is exactly "
    "zero, while other weights of the layer change",
    0,
    "largest change of a weight",
    "exact: no entry differs",
    "This part gets no gradient, as where every sequence is a single timestep long.",
    ("check the time axis of the input", "check that the sequences are longer than one timestep"),
)
ONLY_ONE_LEARNS = Rule(
    "LG012",
    "warning",
    "only the last layer learns",
    "of two or more layers, all but one have not changed at all since the first record",
    1,
    "layers that change",
    "exact: no entry differs",
    "The layers below hand on what their random weights make of the input.",
    (
        "check that the lower layers are trainable",
        "check that the optimizer was given all weights of the model",
        "check that nothing between the layers stops the gradient (detach, stop_gradient)",
    ),
)
ONLY_BIASES = Rule(
    "LG013",
    "warning",
    "changes in its biases only",
    "no kernel has changed since the first record, and a bias has",
    0,
    "largest change of a kernel",
    "exact: no entry differs",
    "The layer learns offsets, but nothing of its input.",
    ("check that the input is not all zero", "check that the kernels are trainable"),
)
FROZEN = Rule(
    "LG014",
    "note",
    "is frozen",
    "no weight of the layer asks for a gradient",
    0,
    "trainable weights",
    "by definition",
    "It was told not to learn, and does not.",
    ("make the layer trainable if it should learn",),
)
UPDATE_TOO_LARGE = Rule(
    "LG015",
    "warning",
    "is changed too much by each update",
    "after at least 100 training steps the relative change of a kernel of 64 weights or more since "
    "the previous record, divided by the updates between them, is above the threshold in the "
    "median of the second half of the records",
    0.15,
    "relative change per update",
    own("0.27", "at most 0.035", "pytorch/test_findings_values"),
    "Every update replaces so much of the weights that nothing learned can stay.",
    ("lower the learning rate", "lower the weight decay", "clip the gradient by its norm"),
)
UPDATE_TOO_SMALL = Rule(
    "LG016",
    "warning",
    "has hardly changed since the start",
    "after at least 100 training steps no part of the layer has changed by the threshold, "
    "relative to its size, though some changed",
    1e-4,
    "relative change since the start",
    own("5.4e-05", "at least 0.028", "pytorch/test_findings_values"),
    "At this pace the layer stays what it was initialised as.",
    ("raise the learning rate", "look at the gradient that reaches the layer"),
)
