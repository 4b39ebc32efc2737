"""Gradients through time on any Keras: golden numbers, and the framework's own weight gradients."""

import contextlib
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import lstm_gates_plugin as lg
from helpers.any_keras import BACKEND, array, backend, keras, layers, sequential
from helpers.golden import g1_layer, sequence
from helpers.keras_arrangements import ARRANGEMENTS, CELLS, MASKED, X, build, given, randomized
from helpers.matrix import MASKS

RNG = np.random.default_rng(1)
RELATIVE = 1e-4


def total(tensor: Any) -> Any:
    """The sum of a tensor."""
    return backend.reduce_sum(tensor) if BACKEND == "tensorflow" else keras.ops.sum(tensor)


def tensor(values: np.ndarray) -> Any:
    single = values.astype("float32")
    return backend.constant(single) if BACKEND == "tensorflow" else keras.ops.array(single)


def leaves(nested: Any) -> list[Any]:
    if not isinstance(nested, (list, tuple)):
        return [nested]
    return [leaf for part in nested for leaf in leaves(part)]


class Loss:
    """A sum of all that a layer returns, each number with a weight of its own."""

    def __call__(self, outputs: Any) -> Any:
        rng = np.random.default_rng(2)
        terms = [
            total(leaf * tensor(rng.normal(size=tuple(leaf.shape)))) for leaf in leaves(outputs)
        ]
        return sum(terms[1:], terms[0])


def own_gradients(layer: Any, x: np.ndarray, arguments: dict[str, Any]) -> list[np.ndarray]:
    """The framework's gradients of the loss, by the layer's weights."""
    loss = Loss()
    if BACKEND == "jax":

        def score(weights: Any) -> Any:
            return loss(layer.stateless_call(weights, others, x, **arguments)[0])

        others = [variable.value for variable in layer.non_trainable_variables]
        weights = [variable.value for variable in layer.trainable_variables]
        return [np.asarray(one) for one in backend.jit(backend.grad(score))(weights)]
    if BACKEND == "torch":
        weights = [variable.value for variable in layer.trainable_variables]
        value = loss(layer(x, **arguments))
        return [array(one) for one in backend.autograd.grad(value, weights)]
    with backend.GradientTape() as tape:
        value = loss(layer(x, **arguments))
    return [array(one) for one in tape.gradient(value, layer.trainable_variables)]


@contextlib.contextmanager
def eagerly() -> Iterator[None]:
    """TensorFlow would compile every combination, which takes minutes; JAX is slow without."""
    if BACKEND == "tensorflow":
        backend.config.run_functions_eagerly(True)
    try:
        yield
    finally:
        if BACKEND == "tensorflow":
            backend.config.run_functions_eagerly(False)


def by_gate(layer: Any, gradients: list[np.ndarray]) -> dict[str, dict[str, np.ndarray]]:
    """By layer id, the gradients by row name: sliced as the weights are."""
    before = layer.get_weights()
    layer.set_weights(gradients)
    found = {read.id: read.parts() for read in lg.recurrent_layers(layer)}
    for read in lg.recurrent_layers(layer):
        if read.recurrent_bias is not None:  # what is read is the sum of both, here twice the same
            for gate in ("reset", "update"):
                found[read.id][f"bias/{gate}"] = read.bias[gate] / 2
    layer.set_weights(before)
    return found


def rows(gradients: Any) -> dict[str, np.ndarray]:
    """The gradients of a trace by row name."""
    names = ("kernel", "recurrent_kernel", "bias", "recurrent_bias")
    return {
        f"{name}/{gate}": by_gate[gate]
        for name in names
        if (by_gate := getattr(gradients, name)) is not None
        for gate in by_gate
    }


@pytest.mark.parametrize("arrangement", ARRANGEMENTS)
@pytest.mark.parametrize("cell", CELLS)
def test_weight_gradients_equal_the_frameworks_own(cell: str, arrangement: str) -> None:
    part = ARRANGEMENTS[arrangement](cell)
    distributed = arrangement == "time distributed"
    x = X[:, None] if distributed else X
    build(part.layer, x)
    randomized(part.layer)
    for mask in ("none", "middle") if BACKEND == "jax" else MASKS:  # compiling takes long
        which = None if MASKED[mask] is None else np.array(MASKED[mask], dtype=bool)
        arguments = given(which[:, None] if distributed and which is not None else which)
        with eagerly():
            traces = lg.trace(part.layer, x, loss=Loss(), **arguments)
        expected = by_gate(part.layer, own_gradients(part.layer, x, arguments))
        assert [trace.layer.id for trace in traces] == list(expected)
        for trace in traces:
            found = rows(trace.gradients)
            assert found.keys() == expected[trace.layer.id].keys()
            for name, gradient in found.items():
                theirs = expected[trace.layer.id][name]
                limit = RELATIVE * np.abs(theirs).max()
                np.testing.assert_allclose(gradient, theirs, atol=limit, rtol=0, err_msg=name)
                assert np.abs(theirs).max() > 100 * limit


@pytest.mark.parametrize(
    ("weight", "hidden", "recurrent"),
    [(0.5, (0.0625, 0.125, 0.25, 0.5, 1), 3.25), (1, (1,) * 5, 10), (2, (16, 8, 4, 2, 1), 49)],
)
def test_h1_g5_the_total_gradient_not_that_of_the_output(
    weight: float, hidden: tuple[float, ...], recurrent: float
) -> None:
    layer = layers.SimpleRNN(1, activation="relu", return_sequences=True)
    layer.build((None, 5, 1))
    layer.set_weights([np.ones((1, 1)), np.full((1, 1), weight), np.zeros(1)])
    (trace,) = lg.trace(layer, sequence(1, 1, 1, 1, 1), loss=lambda output: output[0, -1, 0])
    np.testing.assert_allclose(np.ravel(trace.gradients.hidden_state), hidden, atol=1e-5)
    np.testing.assert_allclose(np.ravel(trace.gradients.output), (0, 0, 0, 0, 1))
    np.testing.assert_allclose(trace.gradients.recurrent_kernel["hidden"], recurrent, rtol=1e-4)


def test_h2_g5l_a_weight_gradient_that_looks_healthy() -> None:
    layer = layers.SimpleRNN(1, activation="relu")
    layer.build((None, 20, 1))
    layer.set_weights([np.ones((1, 1)), np.full((1, 1), 0.5), np.zeros(1)])
    (trace,) = lg.trace(layer, sequence(*[1] * 20), loss=lambda output: output[0, 0])
    np.testing.assert_allclose(trace.gradients.recurrent_kernel["hidden"], 3.99992, rtol=1e-4)
    np.testing.assert_allclose(trace.gradients.hidden_state[0, 0, 0], 1.9073486e-06, rtol=1e-4)


@pytest.mark.parametrize("sequences", [True, False])
def test_g6_every_gradient_of_an_lstm(sequences: bool) -> None:
    model = sequential((3, 1), g1_layer(return_sequences=sequences))
    pick = (lambda output: output[0, -1, 0]) if sequences else (lambda output: output[0, 0])
    (trace,) = lg.trace(model, sequence(1, 2, 3), loss=pick)
    found = trace.gradients

    def close(values: Any, expected: Any) -> None:
        np.testing.assert_allclose(np.ravel(values), expected, atol=1e-5)

    close(found.hidden_state, (0.004392, 0.016887, 1))
    close(found.cell_state, (0.038783, 0.040487, 0.038312))
    close(found.inputs, (0.018151, 0.008785, 0.033774))
    close(
        [found.preactivations[gate][0, 0, 0] for gate in trace.layer.gates],
        (0.005807, 0, 0.011907, 0.000437),
    )
    for part, expected in (
        (found.kernel, (0.016582, 0.009064, 0.015999, 0.095399)),
        (found.recurrent_kernel, (0.002275, 0.002067, 0.000796, 0.024832)),
        (found.bias, (0.010595, 0.003704, 0.013870, 0.032541)),
    ):
        close([part[gate] for gate in trace.layer.gates], expected)


def test_a_loss_in_the_block_of_record() -> None:
    layer = g1_layer(return_sequences=True)
    with lg.record(layer) as recording:
        loss = layer(sequence(1, 2, 3))[0, -1, 0]
    if BACKEND == "jax":
        with pytest.raises(ValueError, match=r"Give the function of the loss to trace"):
            recording.traces(loss=loss)
        return
    (trace,) = recording.traces(loss=loss)
    np.testing.assert_allclose(
        np.ravel(trace.gradients.hidden_state), (0.004392, 0.016887, 1), atol=1e-5
    )
    assert recording.traces()[0].gradients is None


def test_a_loss_that_is_no_single_number() -> None:
    with pytest.raises(ValueError, match=r"must be a single number, and one of shape \(1, 3, 1\)"):
        lg.trace(g1_layer(return_sequences=True), sequence(1, 2, 3), loss=lambda output: output)


def test_a_loss_that_does_not_depend_on_a_layer() -> None:
    inputs = keras.Input((3, 2))
    used, unused = layers.LSTM(2, name="used")(inputs), layers.GRU(2, name="unused")(inputs)
    model = keras.Model(inputs, [used, unused])
    x = RNG.normal(size=(2, 3, 2)).astype("float32")
    traces = lg.trace(model, x, loss=lambda outputs: total(outputs[0] ** 2))
    found = {trace.layer.id: trace.gradients for trace in traces}
    assert np.abs(found["used"].hidden_state).min() > 0
    assert (found["unused"].hidden_state == 0).all()
    assert (found["unused"].kernel["update"] == 0).all()


def test_a_cell_that_the_model_calls_itself() -> None:
    """Its output is its state: what is direct is told from what comes back through time."""

    class Loop(keras.Model):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.cell = layers.LSTMCell(3)

        def call(self, x: Any) -> Any:
            zeros = backend.zeros((2, 3)) if BACKEND == "tensorflow" else keras.ops.zeros((2, 3))
            states, outputs = [zeros, zeros], []
            for t in range(4):
                output, states = self.cell(x[:, t], states)
                outputs.append(output)
            return outputs

    x = RNG.normal(size=(2, 4, 2)).astype("float32")
    model = Loop()
    model(x)
    (looped,) = lg.trace(model, x, loss=lambda outputs: total(outputs[1] ** 2) + total(outputs[3]))
    found, layer = looped.gradients, layers.RNN(model.cell, return_sequences=True)
    layer(x)
    (whole,) = lg.trace(
        layer, x, loss=lambda output: total(output[:, 1] ** 2) + total(output[:, 3])
    )
    for name in ("output", "hidden_state", "cell_state", "inputs"):
        ours, theirs = getattr(found, name), getattr(whole.gradients, name)
        np.testing.assert_allclose(ours, theirs, atol=1e-6, err_msg=name)
    for gate in whole.layer.gates:
        np.testing.assert_allclose(found.kernel[gate], whole.gradients.kernel[gate], atol=1e-6)


def test_frozen_layers_hand_gradients_on() -> None:
    layer = g1_layer(return_sequences=True)
    layer.trainable = False
    (trace,) = lg.trace(layer, sequence(1, 2, 3), loss=lambda output: output[0, -1, 0])
    np.testing.assert_allclose(
        np.ravel(trace.gradients.hidden_state), (0.004392, 0.016887, 1), atol=1e-5
    )


def test_an_activation_of_the_users_own() -> None:
    def bent(x: Any) -> Any:
        return x / (1 + x * x)

    layer = layers.LSTM(3, activation=bent, return_sequences=True)
    layer.build((None, 5, 4))
    randomized(layer)
    (trace,) = lg.trace(layer, X, loss=Loss())
    expected = by_gate(layer, own_gradients(layer, X, {}))["lstm_0"]
    for name, gradient in rows(trace.gradients).items():
        limit = RELATIVE * np.abs(expected[name]).max()
        np.testing.assert_allclose(gradient, expected[name], atol=limit, rtol=0)
