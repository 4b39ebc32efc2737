"""The adding problem, a model for it and its training, for the demos of what can go wrong.

    python demo/adding_problem.py --logdir logs/adding     # the healthy one: an LSTM that learns it

Each timestep has a number and a mark; the answer is the sum of the two marked numbers, one of each
half of the sequence (Hochreiter and Schmidhuber 1997).
"""

import argparse
from collections.abc import Callable

import torch
from torch import nn

import lstm_gates_plugin as lg

TIMESTEPS = 30
UNITS = 32


def draw_batch(samples: int = 64) -> tuple[torch.Tensor, torch.Tensor]:
    """Inputs `[samples, timesteps, 2]` and answers `[samples, 1]`."""
    numbers, marks = torch.rand(samples, TIMESTEPS), torch.zeros(samples, TIMESTEPS)
    half, rows = TIMESTEPS // 2, torch.arange(samples)
    marks[rows, torch.randint(half, (samples,))] = 1
    marks[rows, torch.randint(half, TIMESTEPS, (samples,))] = 1
    return torch.stack([numbers, marks], -1), (numbers * marks).sum(1, keepdim=True)


class LastOutput(nn.Module):
    """A recurrent layer, and a number from its last output."""

    def __init__(self, rnn: nn.RNNBase) -> None:
        super().__init__()
        self.rnn = rnn
        self.head = nn.Linear(rnn.hidden_size, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Inputs `[samples, timesteps, 2]`."""
        outputs, _ = self.rnn(x)
        answer: torch.Tensor = self.head(outputs[:, -1])
        return answer


def parse_arguments(description: str | None, logdir: str) -> argparse.Namespace:
    """The command line of these demos."""
    parser = argparse.ArgumentParser(description=(description or "").splitlines()[0])
    parser.add_argument("--logdir", default=logdir, help="of this run (%(default)s)")
    parser.add_argument("--updates", type=int, default=200, help="default: %(default)s")
    return parser.parse_args()


def train(
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    arguments: argparse.Namespace,
    scale: Callable[[torch.Tensor], torch.Tensor] = lambda x: x,
) -> None:
    """Train, log, and print what looks wrong, while it trains.

    `scale` is what is done to the inputs.
    """
    x, y = draw_batch(4)
    probe = lg.Probe(scale(x), target=y, loss=nn.functional.mse_loss)
    loss = None
    with lg.GateWriter(arguments.logdir, report=True) as writer:
        for step in range(arguments.updates + 1):
            is_due = writer.is_due(step)
            writer.log(model, step=step, probe=probe, loss=loss)
            x, y = draw_batch()
            optimizer.zero_grad()
            error = nn.functional.mse_loss(model(scale(x)), y)
            error.backward()
            if is_due:
                writer.log_gradients(model, step=step)
            optimizer.step()
            loss = error.item()
    worse = [one for one in lg.diagnose(arguments.logdir) if one.severity != "note"]
    print(f"{arguments.updates} updates, loss {loss:.3g}, {len(worse)} warnings or errors.")


def main() -> None:
    """Train an LSTM that does learn it."""
    arguments = parse_arguments(__doc__, "logs/adding")
    torch.manual_seed(0)
    model = LastOutput(nn.LSTM(2, UNITS, batch_first=True))
    train(model, torch.optim.Adam(model.parameters(), 0.005), arguments)


if __name__ == "__main__":
    main()
