"""Rules on gates and states at their limits."""

from __future__ import annotations

from lstm_gates_plugin.diagnosis.finding import Rule
from lstm_gates_plugin.diagnosis.rules.source import own

WRITES_NOTHING = Rule(
    "LG031",
    "warning",
    "writes nothing into its memory",
    "all activations of the input gate are below the threshold (of a GRU's update gate, where it "
    "keeps the old state: above 1 minus the threshold), in each of the last 3 records",
    0.01,
    "activation",
    own("0.0003", "at least 0.92", "pytorch/test_findings_gates"),
    "Whatever the input is, the state hardly takes anything of it.",
    (
        "lower the learning rate",
        "scale the input",
        "weaken what regularises the layer",
        "look at this gate's bias",
    ),
)
SHOWS_NOTHING = Rule(
    "LG032",
    "warning",
    "shows nothing of its memory",
    "all activations of the output gate are below the threshold, in each of the last 3 records",
    0.01,
    "activation",
    own("0.00017", "at least 0.82", "pytorch/test_findings_gates"),
    "The output gate is shut, so that the next layer sees zeros.",
    (
        "lower the learning rate",
        "scale the input",
        "weaken what regularises the layer",
        "look at this gate's bias",
    ),
)
ALWAYS_REMEMBERS = Rule(
    "LG033",
    "note",
    "keeps its memory almost all the time",
    "the share of forget activations that are nearly open (above 0.9) is above the threshold",
    0.95,
    "share nearly open",
    "above 0.9 is nearly open: Karpathy, Johnson and Fei-Fei 2015 (arXiv 1506.02078); the share is "
    + own("1", "at most 0.05", "pytorch/test_findings_gates"),
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
    own("2.4e-07", "at least 0.0033", "pytorch/test_findings_gates"),
    "A gate that is the same at every timestep does not look at the input.",
    (
        "check that the input is not constant",
        "look at this gate's kernels: are they near zero?",
        "lower the weight decay",
    ),
)
AT_LIMITS = Rule(
    "LG035",
    "warning",
    "is at the limits of its activation",
    "the share of candidate activations (of a simple RNN: hidden states) with a magnitude above "
    "0.9 is above the threshold in each of the last 3 records, and the activation is tanh; not "
    "where the loss has since fallen below a tenth of what it was before, as in counting",
    0.95,
    "share at the limits",
    "above 0.9 is saturated: Karpathy, Johnson and Fei-Fei 2015 (arXiv 1506.02078); the share is "
    + own("0.975", "at most 0.16", "pytorch/test_findings_units"),
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
    0.85,
    "share of units",
    own("1", "at most 0.57", "pytorch/test_findings_units"),
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
    "is " + own("1", "at most 0.35", "pytorch/test_findings_memory"),
    "The memory is one timestep long. That is no harm where the answer depends on the present "
    "input alone.",
    ("start the forget bias at 1", "nothing, if the task needs no memory"),
)
