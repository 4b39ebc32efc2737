"""Arguments of a model with other samples, or with fewer timesteps."""

from collections import namedtuple

import numpy as np
import pytest

from lstm_gates_plugin.checks import arguments

X = np.arange(24).reshape(4, 3, 2)
LENGTHS = np.array([3, 2, 1, 3])
Inputs = namedtuple("Inputs", ["tokens", "lengths"])


def test_samples_are_taken_along_the_axis_that_has_as_many():
    nested = {"x": X, "more": (LENGTHS, [np.zeros((2, 4, 5))]), "other": np.ones(7), "name": "a"}
    taken = arguments.with_samples(nested, [2, 0], 4, axis=0)
    np.testing.assert_array_equal(taken["x"], X[[2, 0]])
    np.testing.assert_array_equal(taken["more"][0], [1, 3])
    assert taken["more"][1][0].shape == (2, 2, 5)
    assert (taken["other"].shape, taken["name"]) == ((7,), "a")


def test_time_first():
    taken = arguments.with_samples((X.transpose(1, 0, 2), LENGTHS), [3, 3], 4, axis=1)
    np.testing.assert_array_equal(taken[0], X.transpose(1, 0, 2)[:, [3, 3]])
    np.testing.assert_array_equal(taken[1], [3, 3])


def test_timesteps_are_cut_where_there_are_as_many():
    cut = arguments.with_timesteps(Inputs(X, LENGTHS), 2, 3, axis=1)
    assert isinstance(cut, Inputs)
    np.testing.assert_array_equal(cut.tokens, X[:, :2])
    np.testing.assert_array_equal(cut.lengths, LENGTHS)


@pytest.mark.parametrize(
    ("shape", "axis", "expected"),
    [((4, 9), 0, 0), ((9, 4), 0, 1), ((4, 9), 1, 0), ((9, 4, 2), 1, 1), ((9, 3), 0, None)],
)
def test_the_samples_of_an_output(shape, axis, expected):
    assert arguments.output_axis(shape, 4, axis) == expected


def test_how_many_samples_there_are():
    assert arguments.sample_count(((), {"x": X}), 0) == 4
    assert arguments.sample_count(((X,), {}), 1) == 3
    assert arguments.sample_count((("text",), {}), 0) is None
