"""The state read after padding that nobody masks, found by `lg.check` before any training: LG103.

    python demo/padding.py

Sequences of unlike lengths are filled up with zeros, and the model takes its last output: for a
short sequence that is what the layer has made of the zeros. The cure: take the last output before
the padding, or pack the sequences.
"""

import torch
from adding_problem import TIMESTEPS, UNITS, LastOutput, draw_batch
from torch import nn

import lstm_gates_plugin as lg


class LastBeforePadding(LastOutput):
    """The right one: takes each sample's output at its last timestep that has a mark or number."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Inputs `[samples, timesteps, 2]`."""
        outputs, _ = self.rnn(x)
        places = torch.arange(x.shape[1]) * (x != 0).any(-1)
        answer: torch.Tensor = self.head(outputs[torch.arange(len(x)), places.max(1).values])
        return answer


def main() -> None:
    """Check the mistaken model and the right one."""
    torch.manual_seed(0)
    x, y = draw_batch(8)
    lengths = torch.randint(TIMESTEPS // 2, TIMESTEPS, (8,))
    x[torch.arange(TIMESTEPS) >= lengths[:, None]] = 0
    for kind in (LastOutput, LastBeforePadding):
        model = kind(nn.LSTM(2, UNITS, batch_first=True))
        print(f"{kind.__name__}:")
        print(lg.check(model, x, loss=lambda outputs: nn.functional.mse_loss(outputs, y)), "\n")


if __name__ == "__main__":
    main()
