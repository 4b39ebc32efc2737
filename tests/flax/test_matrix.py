"""The matrix on Flax: what is recomputed against what the layers themselves return.

Flax masks by `seq_lengths` alone, so there are no other masks than right padding.
"""

from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import lstm_gates_plugin as lg
from helpers.flax_models import FLAVOURS
from helpers.matrix import TABLE, documented_rows
from lstm_gates_plugin.cells import forward

DOCUMENT = Path(__file__).parents[2] / "docs" / "matrix.md"
ROWS, TIME, SIZE = 3, 5, 4
LIMIT = 1e-5
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
        self.model = flavour.built(flavour.Stack([rnn(flavour, cell) for _ in range(2)]), X)

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


def difference(trace: Any, expected: Compared) -> float:
    """From Flax's hidden state at every timestep that was run, and its final states."""
    apart = [np.abs(trace.hidden_state - expected.hidden)[trace.mask].max()]
    ours = [trace.final_hidden_state, trace.final_cell_state]
    apart += [np.abs(a - b).max() for a, b in zip(ours, expected.finals, strict=False)]
    return float(max(apart))


def swapped(layer: lg.RecurrentLayer) -> lg.RecurrentLayer:
    """The layer with the blocks of two gates swapped; a simple RNN, with one, with its kernels."""
    if len(layer.gates) == 1:
        return replace(layer, kernel=layer.recurrent_kernel, recurrent_kernel=layer.kernel)
    a, b, *rest = layer.gates
    order = {a: b, b: a, **{gate: gate for gate in rest}}
    blocks = {
        name: {gate: getattr(layer, name)[order[gate]] for gate in layer.gates}
        for name in ("kernel", "recurrent_kernel", "bias")
    }
    return replace(layer, **blocks)


@pytest.mark.parametrize(
    ("flavour", "cell", "arrangement"),
    COMBINATIONS,
    ids=[f"{flavour.name}-{cell}-{arrangement}" for flavour, cell, arrangement in COMBINATIONS],
)
def test_states_equal_flaxs_own(flavour: Any, cell: str, arrangement: str) -> None:
    part = ARRANGEMENTS[arrangement](flavour, cell)
    for mask, lengths in LENGTHS.items():
        traces = lg.trace(part.model, X, **({} if lengths is None else {"seq_lengths": lengths}))
        expected = part.compared(lengths)
        assert len(traces) == len(expected)
        ran = np.arange(TIME) < (np.full(ROWS, TIME) if lengths is None else lengths)[:, None]
        for trace, each in zip(traces, expected, strict=True):
            np.testing.assert_array_equal(trace.mask, ran)
            apart = difference(trace, each)
            TABLE.add(flavour.name, cell, arrangement, mask, apart)
            assert apart < LIMIT
            assert trace.difference is not None
            assert trace.difference < LIMIT
            wrong = forward(swapped(trace.layer), each.inputs, ran)
            assert difference(wrong, each) > 100 * LIMIT


@pytest.mark.parametrize("flavour", FLAVOURS, ids=lambda flavour: flavour.name)
def test_the_documented_table_has_these_rows(flavour: Any) -> None:
    combinations = {(cell, arrangement) for cell in flavour.cells for arrangement in ARRANGEMENTS}
    assert documented_rows(DOCUMENT, flavour.name) == combinations
