"""Training on every Keras: bit for bit the same with the callback as without."""

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lstm_gates_plugin as lg
from helpers.any_keras import BACKEND, IS_TF_KERAS, array, backend, keras, layers, ready

RNG = np.random.default_rng(0)
X = RNG.normal(size=(12, 5, 3)).astype("float32")
Y = (X.sum(axis=(1, 2)) > 0).astype("float32")
# Two trainings of a recurrent layer of tf_keras with dropout differ even without a callback: its
# random operations run in no fixed order.
DROPOUT = 0.0 if IS_TF_KERAS else 0.3
STEPS = [0, 1, 2, 3, 4, 5, 6]


def build(*, unbuilt: bool = False, **compiled: Any) -> Any:
    """A compiled model with an LSTM, a GRU, statistics and dropout of every kind."""
    keras.utils.set_random_seed(7)
    first = [layers.LSTM(4, return_sequences=True, dropout=DROPOUT)]
    if not unbuilt:
        first.insert(0, layers.InputLayer((5, 3)) if IS_TF_KERAS else keras.Input((5, 3)))
    rest = [
        layers.BatchNormalization(),
        layers.GRU(3, dropout=DROPOUT, recurrent_dropout=DROPOUT),
        layers.Dropout(0.3),
        layers.Dense(1, activation="sigmoid"),
    ]
    model = keras.Sequential([*first, *rest])
    model.compile("adam", "binary_crossentropy", **compiled)
    return model if unbuilt else ready(model)


normal = backend.random.normal if IS_TF_KERAS else keras.random.normal


def train(model: Any, *callbacks: Any) -> dict[str, Any]:
    """Everything that must not depend on whether the callback is there."""
    history = model.fit(
        X,
        Y,
        epochs=2,
        batch_size=4,
        verbose=0,
        callbacks=list(callbacks),
        validation_data=(X[:4], Y[:4]),
    )
    optimizer = model.optimizer.variables
    return {
        "loss": history.history["loss"],
        "validation": history.history["val_loss"],
        "weights": [array(each) for each in model.variables],
        "optimizer": [array(each) for each in (optimizer() if callable(optimizer) else optimizer)],
        "outputs": model.predict(X, verbose=0),
        "random": [random.random(), np.random.random(), array(normal((2,)))],
    }


def same(one: dict[str, Any], other: dict[str, Any]) -> bool:
    """Whether two trainings were the same to the last bit."""
    return all(
        len(one[name]) == len(other[name])
        and all(np.array_equal(a, b) for a, b in zip(one[name], other[name], strict=True))
        for name in one
    )


def steps(directory: Path, layer: str, row: str) -> list[int]:
    found: list[int] = lg.read(directory)["."][layer].series(row, "mean").steps.tolist()
    return found


def test_training_is_the_same_with_every_batch_logged(tmp_path: Path) -> None:
    """Weights, activations and gradients."""
    without, model = train(build()), build()
    callback = lg.KerasCallback(tmp_path, lg.Probe(X[:4], target=Y[:4]), "batch")
    with_it = train(model, callback)
    assert same(without, with_it)
    assert steps(tmp_path, "lstm_0", "activation/forget") == STEPS
    assert steps(tmp_path, "gru_0", "kernel/update") == STEPS
    series = lg.read(tmp_path)["."]["gru_0"].series("hidden_state", "difference")
    assert series.values.max() < 1e-5
    logged = lg.read(tmp_path)["."]["lstm_0"].snapshot(kind="weights").arrays["kernel/forget"]
    np.testing.assert_array_equal(logged, with_it["weights"][0][:, 4:8])
    # The gradients are those of the loss that the model was compiled with.
    loss = keras.losses.BinaryCrossentropy()
    _, gru = lg.trace(model, X[:4], loss=lambda outputs: loss(Y[:4, None], outputs))
    norm = lg.read(tmp_path)["."]["gru_0"].series("kernel/update", "norm", kind="gradients")
    assert norm.steps.tolist() == STEPS
    own = np.linalg.norm(gru.gradients.kernel["update"])
    assert norm.values[-1] == pytest.approx(own, rel=1e-4)
    assert own > 1e-4


def test_training_of_a_model_that_is_built_from_the_probe_is_the_same(tmp_path: Path) -> None:
    without = train(build(unbuilt=True))
    with_it = train(build(unbuilt=True), lg.KerasCallback(tmp_path, X[:4], "batch"))
    assert same(without, with_it)
    assert steps(tmp_path, "lstm_0", "activation/forget") == STEPS


def test_j2_j3_a_compiled_training_step_stays_one(tmp_path: Path) -> None:
    keras.utils.set_random_seed(7)
    shape = layers.InputLayer((5, 3)) if IS_TF_KERAS else keras.Input((5, 3))
    model = keras.Sequential([shape, layers.LSTM(4), layers.Dense(1)])
    start = model.get_weights()

    def trained(*callbacks: Any) -> Any:
        model.set_weights(start)
        options = {"epochs": 2, "batch_size": 4, "shuffle": False, "verbose": 0}
        model.fit(X, Y, callbacks=list(callbacks), **options)
        return model.get_weights()

    model.compile("sgd", "mse", jit_compile=True)
    without, with_it = trained(), trained(lg.KerasCallback(tmp_path, X[:2], "epoch"))
    for one, other in zip(without, with_it, strict=True):
        np.testing.assert_array_equal(one, other)
    assert model._jit_compile if IS_TF_KERAS else model.jit_compile
    norms = lg.read(tmp_path)["."]["lstm_0"].series("kernel/forget", "norm").values
    assert len(set(norms.tolist())) == 3  # they change from epoch to epoch


if BACKEND == "torch":  # it compiles with a C++ compiler, for minutes
    del test_j2_j3_a_compiled_training_step_stays_one


def test_a_custom_cell_is_logged_with_its_states(tmp_path: Path) -> None:
    class Plain(layers.Layer):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.state_size = 4

        def build(self, shape: Any) -> None:
            self.kernel = self.add_weight(shape=(shape[-1], 4), name="kernel")
            self.built = True

        def call(self, inputs: Any, states: Any) -> Any:
            state = 0.5 * states[0] + inputs @ self.kernel
            return state, [state]

    model = keras.Sequential([layers.RNN(Plain()), layers.Dense(1)])
    model.compile("sgd", "mse")
    with pytest.warns(UserWarning, match="the gates of layer 'rnn_0' cannot be shown"):
        model.fit(X, Y, verbose=0, callbacks=[lg.KerasCallback(tmp_path, X[:2])])
    assert steps(tmp_path, "rnn_0", "weights/kernel") == [0, 1]
    assert steps(tmp_path, "rnn_0", "hidden_state") == [0, 1]


def test_a_probe_of_several_inputs_by_name(tmp_path: Path) -> None:
    inputs = {"a": keras.Input((5, 3), name="a"), "b": keras.Input((5, 3), name="b")}
    x = layers.concatenate([inputs["a"], inputs["b"]])
    model = keras.Model(inputs, layers.Dense(1)(layers.LSTM(4, name="both")(x)))
    model.compile("sgd", "mse")
    probe = {"a": X[:2], "b": -X[:2]}
    model.fit({"a": X, "b": -X}, Y, verbose=0, callbacks=[lg.KerasCallback(tmp_path, probe)])
    assert steps(tmp_path, "both", "activation/forget") == [0, 1]
