"""Numbers and histogram of an array, against hand-counted values and NumPy's own."""

import numpy as np
import pytest

from lstm_gates_plugin.measure import statistics
from lstm_gates_plugin.measure.statistics import change, distribution, saturation, spectral_norm


def counts(values: object) -> list[int]:
    return distribution(np.asarray(values, np.float64)).histogram.tolist()


def test_i4_special_values_are_counted_and_left_out_of_the_rest() -> None:
    numbers = distribution(np.array([1, np.inf, -np.inf, np.nan, 2, 0])).numbers
    assert numbers["count"] == 6
    assert numbers["positive_infinite"] == 1
    assert numbers["negative_infinite"] == 1
    assert numbers["nan"] == 1
    assert numbers["zero"] == 1
    assert (numbers["min"], numbers["max"], numbers["mean"]) == (0, 2, 1)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_moments_and_percentiles_are_numpys(dtype: type) -> None:
    values = np.random.default_rng(0).normal(2, 3, size=(40, 50)).astype(dtype)
    numbers = distribution(values).numbers
    exact = values.astype(np.float64)
    assert numbers["mean"] == pytest.approx(exact.mean(), rel=1e-12)
    assert numbers["std"] == pytest.approx(exact.std(), rel=1e-9)
    assert numbers["norm"] == pytest.approx(np.linalg.norm(exact), rel=1e-12)
    for percent in statistics.PERCENTILES:
        assert numbers[f"p{percent}"] == pytest.approx(np.percentile(exact, percent), rel=1e-9)


def test_i9_nothing_finite_gives_nan_and_no_exception() -> None:
    """Nothing at all, and an all-NaN gate."""
    for values in (np.empty((0, 3)), np.full(5, np.nan)):
        found = distribution(values)
        assert np.isnan(found.numbers["mean"])
        assert found.histogram.sum() == 0
        assert np.isnan(found.bounds).all()


def test_i8_huge_finite_values_keep_their_range() -> None:
    """The tools that people have say that such a histogram is empty."""
    found = distribution(np.array([1e30, -1e30, 1e30], np.float32))
    assert found.numbers["max"] == pytest.approx(1e30, rel=1e-6)
    assert found.histogram[1] == 1
    assert found.histogram[32] == 2
    extreme = distribution(np.array([1e308, -1e308]))
    assert extreme.numbers["norm"] == pytest.approx(np.sqrt(2) * 1e308)
    assert extreme.histogram.sum() == 2


def test_k3_a_histogram_of_zeros_and_ones_has_two_bars() -> None:
    found = counts([0] * 30 + [1] * 10)
    assert found[1] == 30
    assert found[32] == 10
    assert sum(found) == 40


@pytest.mark.parametrize("value", [0.0, 1.0, 0.5, -3e-39])
def test_k6_a_constant_is_one_spike(value: float) -> None:
    found = distribution(np.full(16, value))
    assert found.histogram.tolist() == [0, 16] + [0] * 32
    np.testing.assert_array_equal(found.bounds, [value, value])


def test_k4_an_outlier_is_counted_beside_the_bins_and_does_not_flatten_them() -> None:
    """Within one step."""
    values = np.concatenate([np.linspace(-1, 1, 9_999), [1e6]])
    found = distribution(values)
    assert found.bounds[1] < 1.01
    assert found.histogram[33] >= 1
    assert found.histogram.sum() == 10_000
    assert found.numbers["max"] == 1e6
    assert found.histogram[1:33].min() > 200


def test_neighbouring_floats_have_counts_that_add_up() -> None:
    for low in np.random.default_rng(0).normal(size=100):
        values = [low] * 5 + [np.nextafter(low, np.inf)] * 5
        found = distribution(np.array(values)).histogram
        assert found.sum() == 10
        assert found.max() <= 10


def test_k7_every_count_adds_up_for_a_small_array() -> None:
    """With 16 weights there is neither under- nor overflow."""
    values = np.random.default_rng(3).uniform(-1, 1, 16)
    found = distribution(values)
    assert found.histogram[[0, 33]].tolist() == [0, 0]
    assert found.histogram.sum() == 16
    expected, _ = np.histogram(values, bins=32, range=(values.min(), values.max()))
    assert found.histogram[1:33].tolist() == expected.tolist()


def test_saturation_is_karpathys_by_magnitude() -> None:
    shares = saturation(np.array([0.05, 0.1, 0.5, 0.9, 0.95, -0.95, np.nan, -0.05]))
    assert shares == {
        "nearly_closed": pytest.approx(2 / 7),
        "nearly_open": pytest.approx(2 / 7),
    }
    assert np.isnan(saturation(np.empty(0))["nearly_open"])


def test_change_is_symmetric_and_zero_only_for_equal_arrays() -> None:
    before, after = np.array([3.0, 4.0]), np.array([3.0, 4.5])
    relative, largest = change(before, after)
    assert relative == pytest.approx(0.5 / np.linalg.norm(after))
    assert largest == pytest.approx(0.5)
    assert change(after, before) == pytest.approx((relative, largest))
    assert change(before, before) == (0, 0)
    assert change(np.zeros(3), np.zeros(3)) == (0, 0)
    assert change(np.zeros(2), np.array([3.0, 4.0])) == pytest.approx((1, 4))
    assert change(np.array([1e300]), np.array([-1e300])) == pytest.approx((2, 2e300))


def test_change_from_or_to_nan_is_not_known() -> None:
    assert np.isnan(change(np.array([1.0]), np.array([np.nan]))).all()
    assert np.isnan(change(np.empty(0), np.empty(0))).all()


@pytest.mark.parametrize("shape", [(3, 7), (200, 150), (64, 300)])
def test_the_spectral_norm_is_the_largest_singular_value(shape: tuple[int, int]) -> None:
    matrix = np.random.default_rng(0).normal(size=shape).astype(np.float32)
    expected = np.linalg.svd(matrix.astype(np.float64), compute_uv=False)[0]
    assert spectral_norm(matrix) == pytest.approx(expected, rel=2e-3)
    assert np.isnan(spectral_norm(np.full(shape, np.nan)))
    assert spectral_norm(np.zeros(shape)) == 0


def test_measuring_leaves_numpys_random_state_alone() -> None:
    np.random.seed(5)
    expected = np.random.get_state()[1].tolist()  # type: ignore[union-attr,index]
    spectral_norm(np.ones((200, 200)))
    distribution(np.arange(10.0))
    assert np.random.get_state()[1].tolist() == expected  # type: ignore[union-attr,index]
