"""The table of all rules: what the findings say, and what the documentation is made from."""

from __future__ import annotations

from lstm_gates_plugin.diagnosis.finding import Rule
from lstm_gates_plugin.measure.scale import LARGE, SMALL


def _own(test: str) -> str:
    return f"our own threshold, tested in tests/diagnosis/{test}.py"


NOT_FINITE = Rule(
    "LG001",
    "error",
    "has values that are not finite",
    "an entry of any record is NaN or infinite",
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
    "the largest magnitude of a layer computed in float16 is above a quarter of 65,504",
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
    _own("test_values"),
    "The state has left the range in which a change of it can be seen in the output.",
    ("clip the gradient by its norm", "use tanh for the candidate", "shorten the sequences"),
)
COUNTS = Rule(
    "LG004",
    "note",
    "adds up a large state",
    "as LG003, but the candidate is at most 1 in magnitude and the state at most the number of "
    "timesteps: what adding up at each of them can reach",
    100,
    "",
    _own("test_values"),
    "The state has an end, and a count may need it; but tanh of it hardly tells 100 from 50.",
    ("nothing, if the task is one of counting",),
)
UNCHANGED = Rule(
    "LG010",
    "warning",
    "has not changed since the start",
    "the largest change of any weight of the layer since the first record is exactly zero, after "
    "at least 10 training steps and 3 records",
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
    "the relative change of a kernel since the previous record, divided by the updates between "
    "them, is above the threshold in the median of the second half of the records",
    0.1,
    "relative change per update",
    _own("test_learning"),
    "A tenth of the weights is replaced by every update, so that nothing learned can stay.",
    ("lower the learning rate", "clip the gradient by its norm"),
)
UPDATE_TOO_SMALL = Rule(
    "LG016",
    "warning",
    "has hardly changed since the start",
    "after at least 100 training steps no part of the layer has changed by the threshold, "
    "relative to its size, though some changed",
    1e-4,
    "relative change since the start",
    _own("test_learning"),
    "At this pace the layer stays what it was initialised as.",
    ("raise the learning rate", "look at the gradient that reaches the layer"),
)
STILL_INITIAL = Rule(
    "LG020",
    "note",
    "still has the weights it was initialised with",
    "a kernel has not changed since the first record; its shape is told from its histogram",
    0,
    "largest change of a weight",
    "exact: no entry differs; the shape by `shape.describe`",
    "The histogram shows the initialiser, and nothing that was learned.",
    ("see why the layer does not change",),
)
NO_BIAS = Rule(
    "LG021",
    "note",
    "no recurrent layer has a bias",
    "no layer of the run has a bias",
    0,
    "biases",
    "by definition",
    "Without a bias a gate is half open wherever its input is zero.",
    ("give the layers a bias", "start the forget bias at 1 (Jozefowicz et al. 2015)"),
)
WIDENED = Rule(
    "LG022",
    "note",
    "has weights that have spread far",
    "the standard deviation of a kernel is above the threshold times that of the first record",
    3,
    "times the first spread",
    _own("test_drift"),
    "The weights have grown well beyond their start, as without weight decay or at a high learning "
    "rate; gates of large weights are often at their limits.",
    ("look at the gates: are they at their limits?", "add weight decay"),
)
DRIFTED = Rule(
    "LG023",
    "note",
    "has weights that have drifted to one side",
    "the mean of a kernel has moved by more than the threshold times the larger of its first and "
    "its present standard deviation",
    1,
    "standard deviations",
    _own("test_drift"),
    "Most weights have gone the same way, which an offset of the input does.",
    ("give the input mean 0",),
)
WRITES_NOTHING = Rule(
    "LG031",
    "warning",
    "writes nothing into its memory",
    "99 of 100 activations of the input gate are below the threshold (of a GRU's update gate, "
    "where it keeps the old state: above 1 minus the threshold), in each of the last 3 records",
    0.01,
    "activation",
    _own("test_saturation"),
    "Whatever the input is, the state hardly takes anything of it.",
    ("lower the learning rate", "scale the input", "look at this gate's bias"),
)
SHOWS_NOTHING = Rule(
    "LG032",
    "warning",
    "shows nothing of its memory",
    "99 of 100 activations of the output gate are below the threshold, in each of the last 3 "
    "records",
    0.01,
    "activation",
    _own("test_saturation"),
    "The output gate is shut, so that the next layer sees zeros.",
    ("lower the learning rate", "scale the input", "look at this gate's bias"),
)
ALWAYS_REMEMBERS = Rule(
    "LG033",
    "note",
    "keeps its memory almost all the time",
    "the share of forget activations that are nearly open (above 0.9) is above the threshold",
    0.95,
    "share nearly open",
    "above 0.9 is nearly open: Karpathy, Johnson and Fei-Fei 2015 (arXiv 1506.02078); the share "
    "is our own, tested in tests/diagnosis/test_saturation.py",
    "Open forget gates remember: such units are integrators, and chrono initialisation (Tallec "
    "and Ollivier 2018) starts like that.",
    ("nothing, as long as the cell state stays bounded",),
)
NEVER_VARIES = Rule(
    "LG034",
    "warning",
    "has a gate that never varies",
    "of 9 in 10 units the standard deviation of a gate over samples and timesteps is below the "
    "threshold in the newest snapshot, and the gate is neither shut nor open",
    1e-4,
    "standard deviation",
    _own("test_saturation"),
    "A gate that is the same at every timestep does not look at the input.",
    ("check that the input is not constant", "look at this gate's kernels: are they near zero?"),
)
AT_LIMITS = Rule(
    "LG035",
    "warning",
    "is at the limits of its activation",
    "the share of candidate activations (of a simple RNN: hidden states) with a magnitude above "
    "0.9 is above the threshold in each of the last 3 records, and the activation is tanh",
    0.95,
    "share at the limits",
    "above 0.9 is saturated: Karpathy, Johnson and Fei-Fei 2015 (arXiv 1506.02078); the share is "
    "our own, tested in tests/diagnosis/test_saturation.py",
    "The values are almost always -1 or 1, where the slope of tanh is near zero: hardly any "
    "gradient passes.",
    ("scale the input to mean 0 and spread 1", "lower the learning rate"),
)
DEAD_UNITS = Rule(
    "LG036",
    "warning",
    "has many dead units",
    "the share of units whose hidden state is zero at every timestep of every sample is above the "
    "threshold in the newest snapshot",
    0.5,
    "share of units",
    _own("test_saturation"),
    "A unit that is always zero gets no gradient through a ReLU, and does not come back.",
    (
        "lower the learning rate",
        "use tanh, or a leaky activation",
        "start the recurrent kernel at the identity",
    ),
)
ALWAYS_FORGETS = Rule(
    "LG037",
    "note",
    "forgets at every timestep",
    "the share of forget activations that are nearly closed (below 0.1) is above the threshold in "
    "each of the last 3 records",
    0.95,
    "share nearly closed",
    "below 0.1 is nearly closed: Karpathy, Johnson and Fei-Fei 2015 (arXiv 1506.02078); the share "
    "is our own, tested in tests/diagnosis/test_saturation.py",
    "The memory is one timestep long. That is no harm where the answer depends on the present "
    "input alone.",
    ("start the forget bias at 1", "nothing, if the task needs no memory"),
)
LOW_FORGET_BIAS = Rule(
    "LG041",
    "note",
    "starts with a low forget bias",
    "the mean forget bias of the first record, with what is added at run time, is below the "
    "threshold",
    0.5,
    "bias",
    "Jozefowicz, Zaremba and Sutskever 2015 recommend a forget bias of 1; halfway to it from 0 is "
    "our own, tested in tests/diagnosis/test_memory.py",
    "The forget gate starts about half open, so that half of the memory is gone after one "
    "timestep. PyTorch does so by default, Keras starts at 1.",
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
    _own("test_memory"),
    "Most units have forgotten the beginning long before the end. That is no harm where the answer "
    "depends on what came just before.",
    ("start the forget bias higher", "nothing, if the task needs a short memory"),
)
REDUNDANT_UNITS = Rule(
    "LG050",
    "note",
    "has many units that do the same",
    "the share of units that correlate with another by 0.95 or more in magnitude, over the "
    "samples and timesteps of the newest snapshot, is above the threshold; at most 32 pairs are "
    "counted",
    0.5,
    "share of units",
    _own("test_recurrence"),
    "Fewer units might do; or the probe is too short to tell them apart.",
    ("try fewer units", "give a probe of more samples"),
)
SHORT_REACH = Rule(
    "LG060",
    "note",
    "learns from few timesteps",
    "the timesteps that the error reaches back, as a share of those that there are (20 or more), "
    "are below the threshold in each of the last 3 records",
    0.1,
    "share of timesteps",
    _own("test_memory"),
    "What happened longer ago hardly changes the weights. That is no harm where the answer depends "
    "on what came just before.",
    ("start the forget bias higher", "cut the sequences where the answer depends on what is near"),
)
EXPLODES = Rule(
    "LG061",
    "warning",
    "has gradients that explode",
    "of a simple RNN: the largest singular value of the recurrent kernel is above 1 / gamma (gamma "
    "the steepest slope of the activation: 1 for tanh and ReLU, 1/4 for sigmoid) and above that of "
    "the first record, and the largest norm of the kernel's gradient is above the threshold times "
    "its median",
    100,
    "times the usual gradient",
    "above 1 / gamma is necessary for gradients to explode: Pascanu, Mikolov and Bengio 2013 "
    "(arXiv 1211.5063), section 2.1; the factor is our own, tested in "
    "tests/diagnosis/test_recurrence.py",
    "Single updates are much larger than the others, and can undo what was learned.",
    ("clip the gradient by its norm", "start the recurrent kernel orthogonal", "use an LSTM"),
)
VANISHES = Rule(
    "LG062",
    "note",
    "has gradients that must vanish",
    "of a simple RNN: gamma times the largest singular value of the recurrent kernel (gamma the "
    "steepest slope of the activation: 1 for tanh and ReLU, 1/4 for sigmoid) is below the "
    "threshold",
    0.9,
    "gamma times the largest singular value",
    "below 1 is sufficient for gradients to vanish: Pascanu, Mikolov and Bengio 2013 (arXiv "
    "1211.5063), section 2.1; 0.9, so that a tenth is gone at each timestep, is our own, tested in "
    "tests/diagnosis/test_recurrence.py",
    "Each timestep takes a share of the error away, whatever the input is.",
    ("start the recurrent kernel orthogonal", "use an LSTM or a GRU for long sequences"),
)
LOSS_SPIKE = Rule(
    "LG070",
    "warning",
    "the loss jumps",
    "of 10 or more losses one is 3 times or more the median of the 5 before it, and the logarithm "
    "of that ratio is above the threshold in robust standard deviations (1.4826 MAD)",
    10,
    "robust standard deviations",
    _own("test_training"),
    "One update, or one batch, was unlike the others.",
    ("clip the gradient by its norm", "lower the learning rate", "look at the batch"),
)
INPUT_SCALE = Rule(
    "LG080",
    "note",
    "gets input that is not scaled",
    f"the root mean square of the probe's features is above the threshold, or all are below {SMALL}"
    " in magnitude; whole numbers, which may be tokens, are not judged",
    LARGE,
    "root mean square",
    "our own threshold, as in `lg.check`",
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
    _own("test_data"),
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
TOO_EARLY = Rule(
    "LG090",
    "note",
    "it is too early to judge some of this run",
    "a layer has fewer than 3 records, or fewer than 10 training steps between the first and the "
    "last; or no activations were recorded",
    3,
    "records",
    "our own: below it a trend cannot be told from a start",
    "What is listed here was not judged, which does not mean that it is fine.",
    ("train on", "give a probe, so that activations are recorded"),
)

RULES: tuple[Rule, ...] = (
    NOT_FINITE,
    FLOAT16_LIMIT,
    RUNAWAY_STATE,
    COUNTS,
    UNCHANGED,
    PART_UNCHANGED,
    ONLY_ONE_LEARNS,
    ONLY_BIASES,
    FROZEN,
    UPDATE_TOO_LARGE,
    UPDATE_TOO_SMALL,
    STILL_INITIAL,
    NO_BIAS,
    WIDENED,
    DRIFTED,
    WRITES_NOTHING,
    SHOWS_NOTHING,
    ALWAYS_REMEMBERS,
    NEVER_VARIES,
    AT_LIMITS,
    DEAD_UNITS,
    ALWAYS_FORGETS,
    LOW_FORGET_BIAS,
    SHORT_MEMORY,
    REDUNDANT_UNITS,
    SHORT_REACH,
    EXPLODES,
    VANISHES,
    LOSS_SPIKE,
    INPUT_SCALE,
    MUCH_PADDING,
    PROBE_CHANGED,
    TOO_EARLY,
)
"""All rules, in the order of their ids."""
