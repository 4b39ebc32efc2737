"""The experiments of the rules on values, on learning and on the shape of weights."""

from functools import partial

import torch

from helpers.findings import measures as measured
from helpers.findings.experiments import Experiment
from helpers.findings.measures import KERNELS, of_layer, over_layers
from helpers.findings.trainings import (
    PEAKS,
    QUESTION,
    UPDATES,
    VALUES,
    biases,
    experiment,
    learnable,
    one_lstm,
    one_timestep,
    plain,
    relu,
    two,
    valued,
)

WEIGHTS: dict[str, Experiment] = {
    "LG001": experiment(
        "Entries of the kernel that are not finite",
        "a learning rate of 5",
        "of 0.005",
        (
            plain(relu, rate=5.0, optimizer=torch.optim.SGD, clip=None),
            plain(relu, rate=0.005, optimizer=torch.optim.SGD, clip=None),
        ),
        of_layer(measured.not_finite),
    ),
    "LG002": experiment(
        "Largest magnitude of a hidden state in float16",
        "samples of 16 bits",
        "samples from -1 to 1",
        (valued(VALUES.half, 20_000), valued(VALUES.half, 1)),
        measured.largest("activations", "hidden_state"),
    ),
    "LG003": experiment(
        "Largest magnitude of the hidden state (ReLU)",
        "an account in units",
        "in thousands",
        (valued(VALUES.account, 1000), valued(VALUES.account, 1)),
        measured.largest("activations", "hidden_state"),
    ),
    "LG004": experiment(
        "Largest magnitude of the cell state",
        "a count up to 160",
        "a share that is counted",
        (valued(VALUES.counter, 1), valued(VALUES.counter, 1 / 160)),
        measured.largest("activations", "cell_state"),
    ),
    "LG005": experiment(
        "Records so far with a gradient that is not finite",
        "a loss scale that starts at 4e37",
        "that starts at 1,024",
        (valued(UPDATES.scaled, UPDATES.FAR), valued(UPDATES.scaled, 1024)),
        of_layer(measured.overflows),
    ),
    "LG010": experiment(
        "Largest change of a weight of the first layer",
        "the optimizer has the last layer only",
        "it has all layers",
        QUESTION,
        measured.changed(""),
    ),
    "LG011": experiment(
        "Largest change of a recurrent kernel",
        "sequences of one timestep",
        "of 20 timesteps",
        (plain(one_lstm, one_timestep), plain(one_lstm)),
        measured.changed("recurrent_kernel/"),
    ),
    "LG012": experiment(
        "Layers that have changed, of four",
        "the optimizer has the last layer only",
        "it has all layers",
        QUESTION,
        over_layers(measured.layers_that_change),
    ),
    "LG013": experiment(
        "Largest change of a kernel",
        "the optimizer has the biases only",
        "it has all weights",
        (plain(one_lstm, learning=biases), plain(one_lstm)),
        measured.changed(*KERNELS),
    ),
    "LG014": experiment(
        "Arrays of weights that ask for a gradient",
        "a frozen layer",
        "a trainable one",
        (
            plain(partial(two, True), learning=learnable),
            plain(partial(two, False), learning=learnable),
        ),
        of_layer(measured.trainable),
    ),
    "LG015": experiment(
        "Largest relative change of a kernel per update",
        "a weight decay of 3",
        "of 0.01",
        (valued(VALUES.decayed, 3), valued(VALUES.decayed, 0.01)),
        of_layer(measured.per_update),
    ),
    "LG016": experiment(
        "Largest relative change since the start",
        "a loss divided twice",
        "divided once",
        (valued(VALUES.averaged, 2), valued(VALUES.averaged, 1)),
        measured.over_weights("change_since_start", measured.highest, ""),
    ),
    "LG020": experiment(
        "Largest change of a kernel of the first layer",
        "the optimizer has the last layer only",
        "it has all layers",
        QUESTION,
        measured.changed("kernel/"),
    ),
    "LG021": experiment(
        "Biases of all layers, one a gate",
        "four layers with bias=False",
        "with a bias",
        QUESTION,
        measured.count(("bias/",)),
    ),
    "LG022": experiment(
        "Spread of a kernel, in times of its first",
        "a learning rate of 0.1",
        "of 0.005",
        (valued(VALUES.hot, 0.1), valued(VALUES.hot, 0.005)),
        measured.over_weights("std", measured.spread, *KERNELS),
    ),
    "LG023": experiment(
        "Drift of a kernel's mean, in standard deviations",
        "an input that is never negative",
        "with mean 0",
        (valued(VALUES.prices, 0), valued(VALUES.prices, -0.5)),
        of_layer(measured.drift),
    ),
    "LG024": experiment(
        "Peaks of a recurrent kernel's distribution",
        "pulled to fifths",
        "not pulled",
        (
            lambda directory: PEAKS.learned(directory, PEAKS.regularised(PEAKS.to_fifths)),
            lambda directory: PEAKS.learned(directory, PEAKS.squared_error),
        ),
        of_layer(measured.number_of_peaks),
    ),
}
