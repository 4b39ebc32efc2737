"""What looks like padding at the end of samples, and what does not."""

import numpy as np
import pytest

from lstm_gates_plugin.checks.padding import padded_lengths


@pytest.mark.parametrize(
    ("samples", "lengths"),
    [
        ([[3, 1, 2, 4], [3, 1, 0, 0], [3, 0, 0, 0]], [4, 2, 1]),
        ([[3, 1, 2, 0], [3, 1, 2, 4], [3, 1, 2, 4]], [4, 4, 4]),  # one zero may be a value
        ([[3, 7, 7, 7], [3, 1, 7, 7], [3, 1, 2, 4]], [1, 2, 4]),
        ([[3, 1, 7, 7], [3, 1, 2, 7], [3, 1, 2, 4]], [4, 4, 4]),
        ([[3, 7, 7, 7], [3, 7, 7, 7], [1, 7, 7, 7]], [4, 4, 4]),  # all alike: data
        ([[0, 0, 0, 0], [3, 1, 0, 0]], [4, 2]),  # a sample of zeros has nothing else
        ([[3, 7, 7, 7]], [4]),
        ([[3, 1, 0, 0]], [2]),
    ],
)
def test_lengths_without_padding(samples, lengths):
    tokens = np.array(samples)
    np.testing.assert_array_equal(padded_lengths(tokens), lengths)
    features = np.stack([tokens, np.where(tokens, 5, 0)], axis=-1).astype(float)
    np.testing.assert_array_equal(padded_lengths(features), lengths)
