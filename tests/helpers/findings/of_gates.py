"""The experiments of the rules on gates, units, memory, training and data."""

from helpers.findings import measures as measured
from helpers.findings.experiments import Experiment
from helpers.findings.measures import column, of_layer, of_snapshots
from helpers.findings.trainings import GATES, experiment, one_lstm, pair, plain, priced, valued

GATES_AND_MORE: dict[str, Experiment] = {
    "LG031": experiment(
        "Largest activation of the input gate",
        "a price of 1,000 for writing",
        "of 0.001",
        priced("input", 0.0),
        column("activations", "activation/input", "max"),
    ),
    "LG032": experiment(
        "Largest activation of the output gate",
        "a price of 1,000 for showing",
        "of 0.001",
        priced("output", 0.0),
        column("activations", "activation/output", "max"),
    ),
    "LG033": experiment(
        "Share of forget activations above 0.9",
        "a price of 1,000 for forgetting",
        "of 0.001",
        priced("forget", 1.0),
        column("activations", "activation/forget", "nearly_open"),
    ),
    "LG034": experiment(
        "Median unit's spread of the output gate",
        "a weight decay of 1",
        "of 0.0001",
        (valued(GATES.decayed, 1), valued(GATES.decayed, 1e-4)),
        measured.of_units("activation/output", "std", measured.median),
    ),
    "LG035": experiment(
        "Share of candidates with a magnitude above 0.9",
        "digits as bytes, 0 to 255",
        "from 0 to 1",
        pair("bytes, LSTM"),
        column("activations", "activation/candidate", "nearly_open"),
    ),
    "LG036": experiment(
        "Share of units (ReLU) that are always zero",
        "a learning rate of 0.2",
        "of 0.002",
        pair("too large a rate, ReLU"),
        of_snapshots(measured.dead),
    ),
    "LG037": experiment(
        "Share of forget activations below 0.1",
        "chrono biases in another gate order",
        "in PyTorch's",
        pair("chrono biases in the other order"),
        column("activations", "activation/forget", "nearly_closed"),
    ),
    "LG041": experiment(
        "Mean forget bias",
        "PyTorch's default",
        "chrono initialisation",
        pair("long sequences, the default start"),
        of_layer(measured.forget_bias),
    ),
    "LG042": experiment(
        "Survival of the median unit, share of 100 timesteps",
        "PyTorch's default",
        "chrono initialisation",
        pair("long sequences, the default start"),
        measured.of_the_record("activations", "memory", 100),
    ),
    "LG050": experiment(
        "Share of units that move with another",
        "64 units for a sine",
        "3 units",
        pair("64 units for a sine"),
        of_snapshots(measured.alike),
    ),
    "LG060": experiment(
        "Reach of the error, share of 99 timesteps",
        "PyTorch's default",
        "chrono initialisation",
        pair("long sequences, the default start"),
        measured.of_the_record("gradients", "reach", 99),
    ),
    "LG061": experiment(
        "Gradient of the recurrent kernel, in times of that before",
        "a learning rate of 0.02, no clipping",
        "of 0.001, clipped",
        pair("too large a rate, IRNN"),
        of_layer(measured.explosion),
    ),
    "LG062": experiment(
        "Largest singular value of the recurrent kernel (tanh)",
        "a weight decay of 0.1",
        "none",
        pair("weight decay"),
        column("weights", "recurrent_kernel/hidden", "spectral_norm"),
    ),
    "LG070": experiment(
        "How unlikely the loss is after those before it",
        "one batch in hundredths",
        "all in one unit",
        pair("one batch in other units"),
        of_layer(measured.jumps),
    ),
    "LG080": experiment(
        "Root mean square of the probe's features",
        "digits as bytes, 0 to 255",
        "from 0 to 1",
        pair("bytes, LSTM"),
        of_snapshots(measured.size),
    ),
    "LG081": experiment(
        "Share of timesteps that are masked",
        "texts of any length in a batch",
        "of like length",
        pair("texts of any length in one batch"),
        of_snapshots(measured.padded),
    ),
    "LG082": experiment(
        "How often the probe has changed",
        "a probe in memory that is reused",
        "a copy",
        pair("a probe in memory that is reused"),
        of_layer(measured.probes),
    ),
    "LG090": experiment(
        "Records so far",
        "after 8 updates",
        "after 48",
        (plain(one_lstm, updates=8), plain(one_lstm, updates=48)),
        of_layer(measured.records),
    ),
}
