"""A simple RNN on the adding problem whose recurrent kernel makes gradients explode: LG061.

    python demo/exploding.py --logdir logs/exploding

Its recurrent kernel starts at 1.2 times an orthogonal matrix, so that a gradient may grow by 1.2 at
each timestep back: to 200 times after 30. The cure: start it orthogonal, and clip.
"""

import torch
from adding_problem import UNITS, LastOutput, parse_arguments, train
from torch import nn


def main() -> None:
    """Train into it."""
    arguments = parse_arguments(__doc__, "logs/exploding")
    torch.manual_seed(0)
    model = LastOutput(nn.RNN(2, UNITS, nonlinearity="relu", batch_first=True))
    nn.init.orthogonal_(model.rnn.weight_hh_l0, gain=1.2)  # the mistake
    train(model, torch.optim.Adam(model.parameters(), 0.01), arguments)


if __name__ == "__main__":
    main()
