"""The matrix of Flax: every cell in every arrangement, as linen and as nnx.

Flax masks by `seq_lengths` alone, so there are no other masks than right padding.
"""

from typing import Any, NamedTuple

import numpy as np

from helpers.flax_models import FLAVOURS

ROWS, TIME, SIZE = 3, 5, 4
X = np.random.default_rng(0).normal(size=(ROWS, TIME, SIZE)).astype("float32")
LENGTHS = {"none": None, "right": np.array([3, 5, 1])}


class Compared(NamedTuple):
    """What one of our layers must equal: by input time, as Flax returned it."""

    inputs: np.ndarray
    hidden: np.ndarray
    finals: list[np.ndarray]


def turned(sequences: np.ndarray, lengths: Any) -> np.ndarray:
    """Each row turned round within its length."""
    rows = [
        np.concatenate([row[:n][::-1], row[n:]])
        for row, n in zip(sequences, [TIME] * ROWS if lengths is None else lengths, strict=True)
    ]
    return np.stack(rows)


def finals(carry: Any) -> list[np.ndarray]:
    """The hidden and, of an LSTM, the cell state: Flax carries `(cell, hidden)`."""
    return [carry[1], carry[0]] if isinstance(carry, tuple) else [carry]


def own(flavour: Any, model: Any, x: np.ndarray, lengths: Any, **arguments: Any) -> Compared:
    """What an `RNN` returns."""
    carry, hidden = flavour.call(model, x, seq_lengths=lengths, return_carry=True, **arguments)
    return Compared(x, hidden, finals(carry))


def rnn(flavour: Any, cell: str, size: int = SIZE, **arguments: Any) -> Any:
    return flavour.RNN(flavour.cell(cell, size, SIZE), **arguments)


class Plain:
    """One layer; `arguments` are those of the `RNN`."""

    arguments: dict[str, bool] = {}  # noqa: RUF012

    def __init__(self, flavour: Any, cell: str) -> None:
        self.flavour = flavour
        self.model = flavour.built(rnn(flavour, cell, **self.arguments), X)

    def compared(self, lengths: Any) -> list[Compared]:
        return [own(self.flavour, self.model, X, lengths)]


class Reversed(Plain):
    """What comes out is in the order in which the layer reads."""

    arguments = {"reverse": True}  # noqa: RUF012

    def compared(self, lengths: Any) -> list[Compared]:
        (read,) = super().compared(lengths)
        return [read._replace(hidden=turned(read.hidden, lengths))]


class ReversedInOrder(Plain):
    arguments = {"reverse": True, "keep_order": True}  # noqa: RUF012


class Bidirectional(Plain):
    """Both directions, with different weights."""

    def __init__(self, flavour: Any, cell: str) -> None:
        self.flavour = flavour
        both = flavour.Bidirectional(rnn(flavour, cell), rnn(flavour, cell))
        self.model = flavour.built(both, X)

    def compared(self, lengths: Any) -> list[Compared]:
        ahead, back = self.flavour.parts(self.model)
        return [
            own(self.flavour, ahead, X, lengths),
            own(self.flavour, back, X, lengths, reverse=True, keep_order=True),
        ]


class Stacked(Plain):
    """Two layers; each gets what the one below returns."""

    def __init__(self, flavour: Any, cell: str) -> None:
        self.flavour = flavour
        self.model = flavour.built(flavour.Stack((rnn(flavour, cell), rnn(flavour, cell))), X)

    def compared(self, lengths: Any) -> list[Compared]:
        levels: list[Compared] = []
        for part in self.flavour.parts(self.model):
            below = levels[-1].hidden if levels else X
            levels.append(own(self.flavour, part, below, lengths))
        return levels


ARRANGEMENTS = {
    "plain": Plain,
    "reverse": Reversed,
    "reverse, keep order": ReversedInOrder,
    "bidirectional": Bidirectional,
    "stacked": Stacked,
}

COMBINATIONS = [
    (flavour, cell, arrangement)
    for flavour in FLAVOURS
    for cell in flavour.cells
    for arrangement in ARRANGEMENTS
]
