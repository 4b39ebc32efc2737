"""The matrix: every cell in every arrangement under every mask equals the framework's own.

The hidden state of every timestep that was run, and the final states, are compared with what a
layer of the framework itself returns; and with two gate blocks swapped they must differ.
"""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lstm_gates_plugin as lg
from helpers.any_keras import FRAMEWORK
from helpers.keras_arrangements import (
    ARRANGEMENTS,
    CELLS,
    MASKED,
    Compared,
    X,
    build,
    given,
    randomized,
)
from helpers.matrix import MASKS, TABLE, documented_rows, swapped
from lstm_gates_plugin.cells import forward

DOCUMENT = Path(__file__).parents[2] / "docs" / "matrix.md"
LIMIT = 1e-5


def difference(trace: Any, expected: Compared) -> float:
    """From the framework's hidden state at every timestep that was run, and its final states."""
    apart = [np.abs(trace.hidden_state - expected.hidden)[trace.mask].max()]
    finals = [trace.final_hidden_state, trace.final_cell_state]
    apart += [np.abs(a - b).max() for a, b in zip(finals, expected.finals, strict=False)]
    return float(max(apart))


@pytest.mark.parametrize("arrangement", ARRANGEMENTS)
@pytest.mark.parametrize("cell", CELLS)
def test_states_equal_the_frameworks_own(cell: str, arrangement: str) -> None:
    part = ARRANGEMENTS[arrangement](cell)
    distributed = arrangement == "time distributed"
    x = X[:, None] if distributed else X
    build(part.layer, x)
    randomized(part.layer)
    for mask in MASKS:
        which = None if MASKED[mask] is None else np.array(MASKED[mask], dtype=bool)
        arguments = given(which[:, None] if distributed and which is not None else which)
        traces = lg.trace(part.layer, x, **arguments)
        expected = part.compared(which)
        assert len(traces) == len(expected)
        for trace, each in zip(traces, expected, strict=True):
            TABLE.add(FRAMEWORK, cell, arrangement, mask, difference(trace, each))
            assert difference(trace, each) < LIMIT
            assert trace.difference is not None
            assert trace.difference < LIMIT
            wrong = forward(swapped(trace.layer), each.inputs, which)
            assert difference(wrong, each) > 100 * LIMIT


def test_the_documented_table_has_these_rows() -> None:
    combinations = {(cell, arrangement) for cell in CELLS for arrangement in ARRANGEMENTS}
    assert documented_rows(DOCUMENT, FRAMEWORK) == combinations
