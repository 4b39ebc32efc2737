"""An LSTM whose input is not scaled, so that its candidate is always -1 or 1: LG035.

    python demo/saturated.py --logdir logs/saturated

The adding problem in units of thousands. The cure: mean 0 and spread 1, by the training data.
"""

import torch
from adding_problem import UNITS, LastOutput, parse_arguments, train
from torch import nn


def main() -> None:
    """Train into it."""
    arguments = parse_arguments(__doc__, "logs/saturated")
    torch.manual_seed(0)
    model = LastOutput(nn.LSTM(2, UNITS, batch_first=True))
    optimizer = torch.optim.Adam(model.parameters(), 0.005)
    train(model, optimizer, arguments, scale=lambda x: 1000 + 300 * x)  # the mistake


if __name__ == "__main__":
    main()
