"""The matrix on Flax: what is recomputed against what the layers themselves return."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lstm_gates_plugin as lg
from helpers.flax_matrix import ARRANGEMENTS, COMBINATIONS, LENGTHS, ROWS, TIME, Compared, X
from helpers.flax_models import FLAVOURS
from helpers.matrix import TABLE, documented_rows, swapped
from lstm_gates_plugin.cells import forward

DOCUMENT = Path(__file__).parents[2] / "docs" / "matrix.md"
LIMIT = 1e-5


def difference(trace: Any, expected: Compared) -> float:
    """From Flax's hidden state at every timestep that was run, and its final states."""
    apart = [np.abs(trace.hidden_state - expected.hidden)[trace.mask].max()]
    ours = [trace.final_hidden_state, trace.final_cell_state]
    apart += [np.abs(a - b).max() for a, b in zip(ours, expected.finals, strict=False)]
    return float(max(apart))


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
