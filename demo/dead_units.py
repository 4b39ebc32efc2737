"""A simple RNN with ReLU and too high a learning rate: units that are always zero, LG036.

    python demo/dead_units.py --logdir logs/dead-units

A large update pushes units below zero at every timestep, where a ReLU has no slope: they get no
gradient and do not come back. The cure: a tenth of the learning rate, or tanh.
"""

import torch
from adding_problem import UNITS, LastOutput, parse_arguments, train
from torch import nn


def main() -> None:
    """Train into it."""
    arguments = parse_arguments(__doc__, "logs/dead-units")
    torch.manual_seed(0)
    model = LastOutput(nn.RNN(2, UNITS, nonlinearity="relu", batch_first=True))
    nn.init.orthogonal_(model.rnn.weight_hh_l0)
    train(model, torch.optim.Adam(model.parameters(), 0.05), arguments)  # the mistake


if __name__ == "__main__":
    main()
