"""The rule on losses that jump."""

import numpy as np
import pytest

from lstm_gates_plugin.diagnosis.rules import training as rules
from lstm_gates_plugin.diagnosis.training import robust_scores


def noisy(seed: int, noise: float = 0.3) -> np.ndarray:
    """A loss that falls to a hundredth, with noise."""
    rng = np.random.default_rng(seed)
    return np.exp(np.linspace(0, np.log(0.01), 60) + noise * rng.normal(size=60))


def test_noise_is_no_spike() -> None:
    for seed in range(300):
        scores, _ = robust_scores(noisy(seed))
        assert scores.max() < rules.LOSS_SPIKE.threshold


@pytest.mark.parametrize("at", [7, 30, 59])
def test_a_spike_is_found_where_it_is(at: int) -> None:
    loss = noisy(0, 0.1)
    loss[at] *= 20
    scores, ratios = robust_scores(loss)
    assert np.argmax(scores) == at
    assert scores[at] > rules.LOSS_SPIKE.threshold
    assert 10 < ratios[at] < 40


def test_a_small_step_up_of_a_quiet_loss_is_none() -> None:
    loss = np.ones(30)
    loss[20] = 2
    assert robust_scores(loss)[0].max() == 0
