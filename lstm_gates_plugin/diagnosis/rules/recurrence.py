"""Rules on recurrent kernels, and on units that do the same."""

from __future__ import annotations

from lstm_gates_plugin.diagnosis.finding import Rule
from lstm_gates_plugin.diagnosis.rules.source import own

REDUNDANT_UNITS = Rule(
    "LG050",
    "note",
    "has many units that do the same",
    "the share of units that correlate with another by 0.95 or more in magnitude, over the "
    "samples and timesteps of the newest snapshot, is above the threshold",
    0.5,
    "share of units",
    own("0.89", "at most 0", "pytorch/test_findings_units"),
    "Fewer units might do; or the probe is too short to tell them apart.",
    ("try fewer units", "give a probe of more samples"),
)
EXPLODES = Rule(
    "LG061",
    "warning",
    "has gradients that explode",
    "of a simple RNN: the largest singular value of the recurrent kernel is above 1 / gamma (gamma "
    "the steepest slope of the activation: 1 for tanh and ReLU, 1/4 for sigmoid) and above that of "
    "the first record, and a norm of the kernel's gradient is above the threshold times the median "
    "of the 5 records before it",
    100,
    "times the gradient before",
    "above 1 / gamma is necessary for gradients to explode: Pascanu, Mikolov and Bengio 2013 "
    "(arXiv 1211.5063), section 2.1; the factor is "
    + own("14,258", "at most 2.3", "pytorch/test_findings_memory"),
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
    "1211.5063), section 2.1; that a tenth is gone at each timestep is "
    + own("0.54", "at least 1.06", "pytorch/test_findings_memory"),
    "Each timestep takes a share of the error away, whatever the input is.",
    ("start the recurrent kernel orthogonal", "use an LSTM or a GRU for long sequences"),
)
