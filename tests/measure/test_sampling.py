"""What is kept: spread evenly, distinct, the same every time."""

import numpy as np
import pytest

from lstm_gates_plugin.measure import sampling


def test_evenly_spaced_indices_hold_both_ends() -> None:
    assert sampling.evenly_spaced(3, 40).tolist() == [0, 1, 2]
    assert sampling.evenly_spaced(9, 3).tolist() == [0, 4, 8]
    found = sampling.evenly_spaced(1000, 40)
    assert len(set(found)) == 40
    assert (found[0], found[-1]) == (0, 999)


@pytest.mark.parametrize("shape", [(64, 64), (512, 1024), (1024, 1024), (1000, 5), (70, 333)])
def test_fixed_entries_reach_all_rows_and_columns(shape: tuple[int, int]) -> None:
    """A change that touches one row of a one-hot input, or one unit, is seen."""
    found = sampling.fixed_entries(shape[0] * shape[1])
    assert len(set(found.tolist())) == min(4096, shape[0] * shape[1])
    rows, columns = np.divmod(found, shape[1])
    assert len(set(rows)) == shape[0]
    assert len(set(columns)) == shape[1]


def test_short_sequences_keep_every_timestep() -> None:
    assert sampling.time_blocks(128, 128) == (1, 128)
    assert sampling.time_blocks(0, 128) == (1, 0)


def test_long_sequences_become_means_over_the_steps_that_were_run() -> None:
    blocks = sampling.time_blocks(5, 3)
    assert blocks == (2, 3)
    values = np.array([[1.0, 3.0, 5.0, 100.0, 7.0]])
    mask = np.array([[True, True, True, False, True]])
    assert sampling.mean_over_blocks(values, mask, blocks).tolist() == [[2, 5, 7]]
    assert sampling.mask_of_blocks(mask, blocks).tolist() == [[True, True, True]]
    nothing = np.zeros((1, 5), bool)
    assert sampling.mask_of_blocks(nothing, blocks).tolist() == [[False, False, False]]


def test_nan_survives_where_it_was_run_and_vanishes_where_it_was_masked() -> None:
    values = np.array([[[np.nan], [np.nan], [2.0]]])
    mask = np.array([[True, False, True]])
    found = sampling.mean_over_blocks(values, mask, sampling.time_blocks(3, 128))
    assert np.isnan(found[0, 0, 0])
    assert found[0, 1:, 0].tolist() == [0, 2]
