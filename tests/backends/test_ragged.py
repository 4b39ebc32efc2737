"""Ragged rows in Keras 3, whose recurrent layers take none; tf_keras takes them."""

from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf

import lstm_gates_plugin as lg
from helpers.any_keras import layers, sequential

X = np.random.default_rng(0).normal(size=(4, 5, 3)).astype("float32")


def test_f7_ragged_rows_are_refused_by_a_sentence_and_training_goes_on(tmp_path: Path) -> None:
    model = sequential((None, 3), layers.LSTM(4, name="words"), layers.Dense(1))
    ragged = tf.RaggedTensor.from_tensor(X, lengths=[2, 5, 1, 3])
    with pytest.raises(ValueError, match="given a ragged tensor"):
        lg.trace(model, ragged)
    model.compile("sgd", "mse")
    callback = lg.KerasCallback(tmp_path, ragged)
    with pytest.warns(UserWarning, match=r"could not log the activations.*agged"):
        model.fit(X, X[:, 0, :1], verbose=0, callbacks=[callback])
    series = lg.read(tmp_path)["."]["words"].series("kernel/forget", "mean")
    assert series.steps.tolist() == [0, 1]
