"""Numbers of single units: hand-made sequences with known answers."""

import numpy as np
import pytest

from lstm_gates_plugin.measure import units


def steps(*columns: list[float]) -> np.ndarray:
    """One sample, one column of values per unit."""
    return np.array(columns, float).T[None]


def everything(values: np.ndarray) -> np.ndarray:
    return np.ones(values.shape[:2], bool)


def test_unit_statistics_leave_masked_steps_out() -> None:
    values = steps([0.05, 0.95, 0.99, 5.0], [0.5, 0.5, 0.5, np.nan])
    mask = np.array([[True, True, True, False]])
    mean, std, closed, opened = units.unit_statistics(values, mask)
    assert mean.tolist() == pytest.approx([(0.05 + 0.95 + 0.99) / 3, 0.5])
    assert std[1] == 0
    assert closed.tolist() == pytest.approx([1 / 3, 0])
    assert opened.tolist() == pytest.approx([2 / 3, 0])


def test_survival_counts_steps_until_half_is_forgotten() -> None:
    # 0.9^6 = 0.531, 0.9^7 = 0.478: seven steps; 0.5 exactly is not yet below one half.
    values = steps([0.9] * 40, [0.5] * 40, [0.1] * 40, [1.0] * 40)
    found = units.survival(values, everything(values), backward=False)
    assert found.timesteps.tolist() == [7, 2, 1, 20.5]
    assert found.censored.tolist() == [False, False, False, True]


def test_survival_skips_masked_steps_and_never_crosses_samples() -> None:
    keep = np.array([[[0.6], [0.0], [0.6]], [[1.0], [1.0], [1.0]]])
    mask = np.array([[True, False, True], [True, True, True]])
    found = units.survival(keep, mask, backward=False)
    # Sample 0: 0.6 * 0.6 < 0.5, so 2 steps, then 1 left; sample 1: 3, 2, 1 left.
    assert found.timesteps.tolist() == [2]
    assert found.censored.tolist() == [True]


def test_survival_of_a_backward_layer_runs_from_the_end() -> None:
    keep = steps([0.1, 1.0, 1.0, 1.0])
    forward = units.survival(keep, everything(keep), backward=False)
    backward = units.survival(keep, everything(keep), backward=True)
    # Forward starts give 1, 3, 2, 1; backward starts 4, 3, 2, 1.
    assert forward.timesteps.tolist() == [1.5]
    assert backward.timesteps.tolist() == [2.5]


def test_survival_without_a_single_step_is_nan() -> None:
    keep = np.zeros((2, 3, 4))
    found = units.survival(keep, np.zeros((2, 3), bool), backward=False)
    assert np.isnan(found.timesteps).all()
    assert found.timesteps.shape == (4,)


def test_units_that_move_together_are_found_strongest_first() -> None:
    rng = np.random.default_rng(0)
    first, other = rng.normal(size=(2, 60))
    values = steps(first, other, -2 * first, first + 0.1 * rng.normal(size=60), np.ones(60))
    found = units.pairs_that_move_together(values, everything(values))
    assert found.units.tolist()[0] == [0, 2]
    assert found.correlation[0] == pytest.approx(-1, abs=1e-6)
    assert sorted(map(tuple, found.units.tolist())) == [(0, 2), (0, 3), (2, 3)]
    assert found.together == 3


def test_two_steps_prove_nothing_about_pairs() -> None:
    values = steps([1, 2], [3, 5])
    assert len(units.pairs_that_move_together(values, everything(values)).units) == 0


def test_chosen_units_hold_those_of_the_weights_and_the_highest_scores() -> None:
    always = np.arange(0, 100, 25)
    saturated, memory = np.zeros(100), np.zeros(100)
    saturated[[13, 14]], memory[77] = [3, 2], 9
    chosen = units.choose_units(100, 7, always, [saturated, memory])
    assert chosen.tolist() == [0, 13, 14, 25, 50, 75, 77]
    assert units.choose_units(5, 7, np.arange(5), []).tolist() == [0, 1, 2, 3, 4]
    assert len(units.choose_units(100, 64, always, [])) == 64
