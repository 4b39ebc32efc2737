"""A character model in PyTorch: which units open at spaces, quotes and line ends.

    python demo/torch_characters.py --logdir logs/torch-characters
    tensorboard --logdir logs                      # then open the tab LSTM Gates

Two LSTM layers learn to guess the next character of Python's own manual, which comes with Python.
The tab has the characters on the time axis, and below them the model's guess and the loss of each
timestep. About two minutes on two cores.
"""

import argparse
import pydoc_data.topics

import torch
from rich.progress import track
from torch import nn

import lstm_gates_plugin as lg

UNITS = 96
BATCH_SIZE = 32
TIMESTEPS = 100
#: The probed passages: the text from the first place on at which these words are.
PASSAGES = ('The "if" statement is used', "built-in function", "A dictionary")


def load_text() -> str:
    """The topics of the manual, one after the other, in printable ASCII and line ends."""
    text = "\n\n".join(pydoc_data.topics.topics.values())
    return "".join(c if c == "\n" or " " <= c <= "~" else "?" for c in text)


class Characters(nn.Module):
    """Scores of the next character, `[batch, time, characters]`, from those before it."""

    def __init__(self, characters: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(characters, 24)
        self.lstm = nn.LSTM(24, UNITS, num_layers=2, batch_first=True)
        self.head = nn.Linear(UNITS, characters)

    def forward(self, characters: torch.Tensor) -> torch.Tensor:
        """Characters as integers, `[batch, time]`."""
        hidden, _ = self.lstm(self.embedding(characters))
        scores: torch.Tensor = self.head(hidden)
        return scores


def loss_of_timesteps(scores: torch.Tensor, following: torch.Tensor) -> torch.Tensor:
    """The loss of each guess, `[batch, time]`, in nats."""
    return nn.functional.cross_entropy(scores.transpose(1, 2), following, reduction="none")


def choose_probe(text: str, numbers: torch.Tensor) -> lg.Probe:
    """A few passages of the manual, each with its characters on the time axis."""
    starts = [text.index(words) for words in PASSAGES]
    windows = torch.stack([numbers[start : start + TIMESTEPS + 1] for start in starts])
    return lg.Probe(
        windows[:, :-1],
        target=windows[:, 1:],
        loss=loss_of_timesteps,
        time_labels=[[visible(c) for c in text[start : start + TIMESTEPS]] for start in starts],
        sample_names=[f"from {words!r}" for words in PASSAGES],
    )


def visible(character: str) -> str:
    """The character, or a sign for one that cannot be seen."""
    return {" ": "␣", "\n": "⏎"}.get(character, character)


def main() -> None:
    """Train, log, print what the model has learnt."""
    parser = argparse.ArgumentParser(description="Watch an LSTM learn to write Python's manual.")
    parser.add_argument("--logdir", default="logs/torch-characters", help="(%(default)s)")
    parser.add_argument("--updates", type=int, default=600, help="default: %(default)s")
    arguments = parser.parse_args()

    torch.manual_seed(0)
    text = load_text()
    characters = sorted(set(text))
    number_of = {c: number for number, c in enumerate(characters)}
    numbers = torch.tensor([number_of[c] for c in text])
    model = Characters(len(characters))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.004)
    probe = choose_probe(text, numbers)

    loss = None
    with lg.GateWriter(arguments.logdir) as writer:
        for step in track(range(arguments.updates + 1), "Training"):
            writer.log(model, step=step, probe=probe, loss=loss)
            starts = torch.randint(len(numbers) - TIMESTEPS - 1, (BATCH_SIZE,))
            windows = torch.stack([numbers[s : s + TIMESTEPS + 1] for s in starts.tolist()])
            mean = loss_of_timesteps(model(windows[:, :-1]), windows[:, 1:]).mean()
            optimizer.zero_grad()
            mean.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            loss = mean.item()
    print(f"The loss of a character is {loss:.2f} nats; guessing blindly is {chance(text):.2f}.")
    print_spaces(model, text, numbers, characters)


def chance(text: str) -> float:
    """The loss of guessing by how frequent each character is, in nats."""
    counts = torch.tensor([text.count(c) for c in sorted(set(text))], dtype=torch.float64)
    shares = counts / counts.sum()
    return float(-(shares * shares.log()).sum())


def print_spaces(model: nn.Module, text: str, numbers: torch.Tensor, characters: list[str]) -> None:
    """The unit whose input gate tells spaces and line ends best from other characters."""
    for trace in lg.trace(model, numbers[None, :2000]):
        gate = torch.tensor(trace.gates["input"][0])
        for name, sign in (("spaces", " "), ("line ends", "\n"), ("quotes", '"')):
            at = torch.tensor([c == sign for c in text[:2000]])
            apart = gate[at].mean(dim=0) - gate[~at].mean(dim=0)
            unit = int(apart.abs().argmax())
            print(
                f"{trace.layer.id}: input gate {unit} is {gate[at][:, unit].mean():.2f} "
                f"at {name} and {gate[~at][:, unit].mean():.2f} elsewhere."
            )


if __name__ == "__main__":
    main()
