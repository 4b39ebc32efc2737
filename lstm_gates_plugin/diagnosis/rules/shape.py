"""Rules on the distribution of the weights."""

from __future__ import annotations

from lstm_gates_plugin.diagnosis.finding import Rule
from lstm_gates_plugin.diagnosis.rules.source import own

STILL_INITIAL = Rule(
    "LG020",
    "note",
    "still has the weights that it started with",
    "a kernel has not changed since the first record; its shape is told from its histogram",
    0,
    "largest change of a weight",
    "exact: no entry differs; the shape by `shape.describe`",
    "The histogram shows the initialiser, or what was loaded, and nothing that was learned since.",
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
    4,
    "times the first spread",
    own("6.5", "at most 3.2", "pytorch/test_findings_values"),
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
    own("1.99", "at most 0.85", "pytorch/test_findings_values"),
    "Most weights have gone the same way, which an offset of the input does.",
    ("give the input mean 0",),
)
GATHERED = Rule(
    "LG024",
    "note",
    "has weights that have gathered around several values",
    "the histogram of a kernel of 256 entries or more shows more peaks than the threshold, and "
    "showed one at the first record; a peak rises over the lowest point on the way to a higher one "
    "by 4.5 standard deviations of its counts and by 0.4 of its height, and has 1 in 20 entries",
    1,
    "peaks",
    own("3", "at most 1", "pytorch/test_findings_peaks"),
    "What pulls weights to few values does so, as a regulariser; or a learning rate so high that "
    "all weights of a sign moved alike.",
    ("nothing, if that is what the regulariser is for", "lower the learning rate"),
)
