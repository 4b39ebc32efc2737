"""Probe: what the model is called with, and its fingerprint."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from helpers.layers import make_layer, make_trace
from lstm_gates_plugin import Probe
from lstm_gates_plugin.writing.tracks import loss_of_timesteps, make_tracks, of_trace

RNG = np.random.default_rng(4)


def test_an_input_becomes_a_probe_and_a_probe_stays_one() -> None:
    x = np.zeros((2, 3, 4))
    probe = Probe.of(x)
    assert probe.args[0] is x
    assert Probe.of(probe) is probe


def test_a_probe_without_input_is_refused() -> None:
    with pytest.raises(TypeError, match="what the model is called with"):
        Probe(target=[1])


def test_the_hash_follows_values_shape_and_type() -> None:
    x = np.arange(6.0)
    same = [Probe(x), Probe(x.copy()), Probe(x, target=[1], sample_names=["a"])]
    assert len({probe.hash() for probe in same}) == 1
    others = [
        x + [0, 0, 0, 0, 0, 1e-12],
        x.reshape(2, 3),
        x.astype(np.float32),
        {"a": x},
        np.array(["0", "1"], object),
    ]
    assert len({Probe(other).hash() for other in [x, *others]}) == 5
    assert Probe(x, mask=x > 2).hash() != Probe(x).hash()


def test_tracks_show_input_target_and_the_most_likely_class() -> None:
    x = np.zeros((2, 3, 4))
    scores = np.array([[0.1, 0.7, 0.2], [0.5, 0.2, 0.3]])
    tracks = make_tracks(Probe(x, target=[1, 2]), scores)
    assert tracks.input is not None
    assert tracks.input.shape == (2, 3, 4)
    assert tracks.target.tolist() == [1, 2]  # type: ignore[union-attr]
    assert tracks.prediction.tolist() == [1, 0]  # type: ignore[union-attr]
    assert tracks.loss is None


def test_one_hot_targets_are_shown_as_classes_and_single_scores_as_they_are() -> None:
    scores = np.array([[[0.1, 0.9], [0.8, 0.2]]])
    tracks = make_tracks(Probe(np.zeros((1, 2)), target=[[[0, 1], [0, 1]]]), scores)
    assert tracks.target.tolist() == [[1, 1]]  # type: ignore[union-attr]
    assert tracks.prediction.tolist() == [[1, 0]]  # type: ignore[union-attr]
    regression = make_tracks(Probe(np.zeros((2, 2))), np.array([[0.5], [-2.0]]))
    assert regression.prediction.tolist() == [0.5, -2.0]  # type: ignore[union-attr]


def test_a_loss_of_each_timestep_is_a_track() -> None:
    probe = Probe(
        np.zeros((1, 3)),
        target=np.array([[1.0, 2.0, 3.0]]),
        loss=lambda outputs, target: (outputs - target) ** 2,
    )
    loss = loss_of_timesteps(probe, np.array([[1.0, 1.0, 1.0]]))
    assert loss is not None
    assert loss.tolist() == [[0, 1, 4]]
    assert loss_of_timesteps(Probe(np.zeros((1, 3))), np.zeros(3)) is None


def test_a_dict_of_inputs_shows_the_first_with_a_time_axis() -> None:
    tokens = np.array([[1, 2, 3]])
    tracks = make_tracks(Probe({"lengths": np.array([3]), "tokens": tokens}), None)
    assert tracks.input.tolist() == tokens.tolist()  # type: ignore[union-attr]
    assert tracks.prediction is None


def test_numbers_are_not_shown_as_classes() -> None:
    forecast = np.array([[0.1, 2.5, -1.0]])
    tracks = make_tracks(Probe(np.zeros((1, 2)), target=[[0.2, 2.0, -1.0]]), forecast)
    assert tracks.prediction is None
    assert tracks.target.tolist() == [[0.2, 2.0, -1.0]]  # type: ignore[union-attr]
    assert make_tracks(Probe(np.zeros((1, 2))), forecast).prediction is None
    assert make_tracks(Probe(np.zeros((1, 2))), [forecast, forecast]).prediction is None


X = np.zeros((4, 7, 3))
CLASSES = RNG.integers(0, 5, (4, 7))


def prediction(outputs: Any, target: Any, x: Any = X) -> Any:
    return make_tracks(Probe(x, target=target), outputs).prediction


def test_the_axis_of_classes_is_the_one_that_the_target_lacks() -> None:
    scores = RNG.normal(size=(4, 7, 5))
    expected = scores.argmax(axis=-1)
    for outputs in (scores, scores.swapaxes(1, 2), scores.reshape(-1, 5)):
        np.testing.assert_array_equal(prediction(outputs, CLASSES), expected)
    flat = prediction(scores.reshape(-1, 5), CLASSES.reshape(-1))
    np.testing.assert_array_equal(flat, expected.reshape(-1))


def test_as_many_classes_as_timesteps() -> None:
    scores = RNG.normal(size=(4, 5, 5))
    target, x = CLASSES[:, :5], X[:, :5]
    np.testing.assert_array_equal(prediction(scores, target, x), scores.argmax(axis=-1))


def test_a_number_for_each_timestep_is_shown_as_it_is() -> None:
    numbers = RNG.normal(size=(4, 7))
    for target in (RNG.normal(size=(4, 7)), np.eye(7, dtype=int)[:4]):
        for outputs in (numbers, numbers[..., None]):
            tracks = make_tracks(Probe(X, target=target), outputs)
            np.testing.assert_array_equal(tracks.prediction, numbers)  # type: ignore[arg-type]
            np.testing.assert_array_equal(tracks.target, target)  # type: ignore[arg-type]
    tracks = make_tracks(Probe(X, target=numbers[..., None]), numbers[..., None])
    assert tracks.target.shape == tracks.prediction.shape == (4, 7)  # type: ignore[union-attr]


def test_of_several_outputs_the_first_that_fits_the_target() -> None:
    scores, state = RNG.normal(size=(4, 7, 5)), RNG.normal(size=(1, 4, 6))
    for outputs in (
        (scores, (state, state)),
        {"state": state, "scores": scores},
        [state, [scores]],
    ):
        np.testing.assert_array_equal(prediction(outputs, CLASSES), scores.argmax(axis=-1))
    assert prediction((state, state), CLASSES) is None


def shown(outputs: Any, target: Any, trace: Any, x: Any = X) -> Any:
    return of_trace(make_tracks(Probe(x, target=target), outputs), trace)


def test_answers_in_one_line_are_folded_as_the_input_is() -> None:
    batch_first = replace(make_trace(make_layer(), batch=4, timesteps=7), rows=4)
    scores = RNG.normal(size=(4, 7, 5))
    tracks = shown(scores.reshape(-1, 5), CLASSES.reshape(-1), batch_first)
    np.testing.assert_array_equal(tracks.prediction, scores.argmax(axis=-1))
    np.testing.assert_array_equal(tracks.target, CLASSES)
    time_major = replace(batch_first, batch_first=False)
    by_time = scores.swapaxes(0, 1).reshape(-1, 5)
    tracks = shown(by_time, CLASSES.T.reshape(-1), time_major, X.swapaxes(0, 1))
    np.testing.assert_array_equal(tracks.prediction, scores.argmax(axis=-1))
    # The model changes the order somewhere: before or after it made one line?
    assert shown(by_time, CLASSES.T.reshape(-1), time_major).prediction is None
    assert shown(scores[:3, 0], CLASSES[:3, 0], batch_first).prediction is None


def test_as_many_samples_as_timesteps_and_no_word_on_which_is_which() -> None:
    trace = replace(make_trace(make_layer(), batch=7, timesteps=7), rows=7)
    x = RNG.normal(size=(7, 7, 3))
    np.testing.assert_array_equal(shown(None, None, trace, x).input, x)
    assert shown(None, None, replace(trace, batch_first=False), x).input is None


def test_labels_of_a_single_list_are_refused() -> None:
    with pytest.raises(TypeError, match="one list of labels per sample"):
        Probe(np.zeros((1, 3)), time_labels=["the", "cat", "sat"])
