"""Findings on every Keras: fresh layers are not blamed, frozen ones get a note, trained ones none.

What is found in records alone is tested in tests/diagnosis.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lstm_gates_plugin as lg
from helpers.any_keras import IS_TF_KERAS, keras, layers, ready, sequential

RNG = np.random.default_rng(0)
X = RNG.normal(size=(64, 12, 3)).astype("float32")
Y = X.mean(axis=(1, 2), keepdims=True)[:, 0]

KINDS = {"LSTM": layers.LSTM, "GRU": layers.GRU, "SimpleRNN": layers.SimpleRNN}


def worse(directory: Path) -> list[tuple[str, str | None]]:
    return [(one.id, one.layer) for one in lg.diagnose(directory) if one.severity != "note"]


def notes(directory: Path) -> set[tuple[str, str | None]]:
    return {(one.id, one.layer) for one in lg.diagnose(directory) if one.severity == "note"}


def stack(kind: Any, **first: Any) -> Any:
    """A compiled model of two recurrent layers."""
    keras.utils.set_random_seed(3)
    lower = kind(16, return_sequences=True, name="lower", **first)
    model = sequential((12, 3), lower, kind(16, name="upper"), layers.Dense(1))
    model.compile("adam", "mse")
    return ready(model)


def fit(model: Any, directory: Path, epochs: int = 2) -> None:
    callback = lg.KerasCallback(directory, X[:4], "batch")
    model.fit(X, Y, epochs=epochs, batch_size=8, verbose=0, callbacks=[callback])


@pytest.mark.parametrize("name", KINDS)
def test_a_fresh_network_has_no_warning(tmp_path: Path, name: str) -> None:
    for units in (2, 64):
        directory = tmp_path / str(units)
        with lg.GateWriter(directory) as writer:
            model = sequential((12, 3), KINDS[name](units))
            writer.log(model, step=0, probe=X[:4])
        assert worse(directory) == []


@pytest.mark.parametrize("longest", [12, 784])
def test_a_fresh_chrono_start_has_no_warning(tmp_path: Path, longest: int) -> None:
    """Forget biases log U(1, T - 1), input biases minus that: Tallec and Ollivier 2018."""
    model = sequential((12, 3), layers.LSTM(16, name="lower"))
    kernel, recurrent_kernel, bias = model.layers[0].get_weights()
    remember = np.log(RNG.uniform(1, longest - 1, 16))
    bias[:32] = np.concatenate([-remember, remember])
    model.layers[0].set_weights([kernel, recurrent_kernel, bias])
    with lg.GateWriter(tmp_path) as writer:
        writer.log(model, step=0, probe=X[:4])
    assert worse(tmp_path) == []
    assert "LG041" not in {id for id, _ in notes(tmp_path)}


@pytest.mark.parametrize(("start_at_1", "said"), [(True, False), (False, True)])
def test_the_forget_bias_of_1_is_the_default(tmp_path: Path, start_at_1: bool, said: bool) -> None:
    with lg.GateWriter(tmp_path) as writer:
        model = sequential((12, 3), layers.LSTM(16, name="lower", unit_forget_bias=start_at_1))
        writer.log(model, step=0)
    assert (("LG041", "lower") in notes(tmp_path)) == said


@pytest.mark.parametrize("name", KINDS)
def test_the_first_updates_have_no_warning(tmp_path: Path, name: str) -> None:
    fit(stack(KINDS[name]), tmp_path)
    assert lg.read(tmp_path)["."]["lower"].series("hidden_state", "mean").steps[-1] == 16
    assert worse(tmp_path) == []


def in_the_layer() -> Any:
    return stack(layers.LSTM, trainable=False)


def afterwards() -> Any:
    model = stack(layers.LSTM)
    model.layers[0].trainable = False
    model.compile("adam", "mse")
    return ready(model)


@pytest.mark.parametrize("build", [in_the_layer, afterwards])
def test_a_frozen_layer_is_a_note_and_no_warning(tmp_path: Path, build: Callable[[], Any]) -> None:
    fit(build(), tmp_path)
    assert worse(tmp_path) == []
    assert ("LG014", "lower") in notes(tmp_path)
    assert ("LG014", "upper") not in notes(tmp_path)


def test_a_parent_freezes_its_layers() -> None:
    inner = sequential((12, 3), layers.LSTM(4))
    inner.trainable = False
    model = sequential((12, 3), inner, layers.Dense(1))
    (layer,) = lg.recurrent_layers(model)
    assert layer.options["frozen"] is True
    inner.trainable = True
    (layer,) = lg.recurrent_layers(model)
    assert "frozen" not in layer.options


def test_one_cell_of_a_stack_is_frozen() -> None:
    rnn = layers.RNN([layers.LSTMCell(4), layers.GRUCell(4)])
    model = sequential((12, 3), rnn)
    rnn.cell.cells[0].trainable = False
    lower, upper = lg.recurrent_layers(model)
    assert lower.options.get("frozen") is True
    assert "frozen" not in upper.options


def test_thawed_layers_go_on_in_the_same_curves(tmp_path: Path) -> None:
    model = stack(layers.LSTM)
    with lg.GateWriter(tmp_path) as writer:
        model.layers[0].trainable = False
        writer.log(model, step=0)
        model.layers[0].trainable = True
        writer.log(model, step=1)
    series = lg.read(tmp_path)["."]["lower"].statistics("weights")
    assert series.steps.tolist() == [0, 1]
    assert series.column("kernel/forget", "change_since_start").tolist() == [0, 0]


def test_a_layer_cut_off_from_the_loss_is_a_warning(tmp_path: Path) -> None:
    keras.utils.set_random_seed(3)
    if IS_TF_KERAS:
        import tensorflow as tf

        cut = layers.Lambda(tf.stop_gradient)
    else:
        cut = layers.Lambda(keras.ops.stop_gradient)
    lower = layers.LSTM(8, return_sequences=True, name="lower")
    model = sequential((12, 3), lower, cut, layers.LSTM(8, name="upper"), layers.Dense(1))
    model.compile("adam", "mse")
    fit(ready(model), tmp_path)
    assert worse(tmp_path) == [("LG012", None), ("LG010", "lower")]


def cells(kernel: np.ndarray, recurrent: np.ndarray, bias: np.ndarray, x: np.ndarray) -> np.ndarray:
    """The cell states ``[timesteps, batch, units]`` of an LSTM whose candidates have no limit."""
    state = hidden = np.zeros((len(x), len(recurrent)))
    states = []
    for now in x.swapaxes(0, 1):
        sums = np.split(now @ kernel + hidden @ recurrent + bias, 4, axis=1)
        write, keep, show = (0.5 + 0.5 * np.tanh(sums[gate] / 2) for gate in (0, 1, 3))
        state = keep * state + write * np.maximum(sums[2], 0)
        hidden = show * np.maximum(state, 0)
        states.append(state)
    return np.stack(states)


@pytest.mark.parametrize("unit", [1.0, 1000.0], ids=["in thousands", "not scaled"])
def test_a_relu_lets_a_state_follow_a_target_out_of_scale(tmp_path: Path, unit: float) -> None:
    keras.utils.set_random_seed(0)
    lstm = layers.LSTM(8, activation="relu", name="account")
    model = sequential((12, 3), lstm, layers.Dense(1))
    model.compile(keras.optimizers.Adam(0.02), "mse")
    payments = np.abs(X)
    callback = lg.KerasCallback(tmp_path, payments[:4])
    target = unit * payments.sum((1, 2))[:, None]
    model.fit(payments, target, epochs=8, batch_size=8, verbose=0, callbacks=[callback])
    found = [one for one in lg.diagnose(tmp_path) if one.id in ("LG003", "LG004")]
    sizes = lg.read(tmp_path)["."]["account"].series("cell_state", "max")
    largest = np.abs(cells(*lstm.get_weights(), payments[:4])).max()
    assert sizes.values[-1] == pytest.approx(largest, rel=1e-3)
    if unit == 1:
        assert found == []
        return
    (one,) = found
    assert (one.id, one.layer, one.row) == ("LG003", "account", "cell_state")
    assert one.value == pytest.approx(largest, rel=1e-3)
    large = sizes.values > max(100, 10 * sizes.values[0])
    assert one.first_step == sizes.steps[np.flatnonzero(~large)[-1] + 1]
    assert one.last_step == 64
