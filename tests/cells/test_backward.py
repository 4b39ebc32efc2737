"""The way back through time: golden numbers, and central differences of the forward equations."""

from collections.abc import Mapping

import numpy as np
import pytest

import lstm_gates_plugin as lg
from lstm_gates_plugin import cells
from lstm_gates_plugin.cells.activations import ACTIVATIONS
from lstm_gates_plugin.cells.slopes import PULLBACKS
from lstm_gates_plugin.cells.through_time import backward

EPSILON = 1e-4


def relu_rnn(weight: float, dtype: str = "float64") -> lg.RecurrentLayer:
    one = np.ones((1, 1), dtype)
    return lg.RecurrentLayer.from_arrays("simple_rnn", one, weight * one, activation="relu")


def last_output(trace: lg.GateTrace) -> np.ndarray:
    """The gradient of a loss that is the last output."""
    gradient = np.zeros_like(trace.hidden_state)
    gradient[:, -1] = 1
    return gradient


@pytest.mark.parametrize(
    ("weight", "hidden", "recurrent"),
    [
        (0.5, (0.0625, 0.125, 0.25, 0.5, 1), 3.25),
        (1, (1, 1, 1, 1, 1), 10),
        (2, (16, 8, 4, 2, 1), 49),
    ],
)
def test_h1_g5_the_total_gradient_not_the_direct_one(weight, hidden, recurrent):
    x = np.ones((1, 5, 1))
    trace = cells.forward(relu_rnn(weight), x)
    found = backward(trace, x, last_output(trace))
    np.testing.assert_allclose(found.hidden_state.ravel(), hidden, rtol=1e-12)
    np.testing.assert_array_equal(found.output.ravel(), (0, 0, 0, 0, 1))
    np.testing.assert_allclose(found.recurrent_kernel["hidden"], [[recurrent]], rtol=1e-12)


@pytest.mark.parametrize(("weight", "first"), [(0.5, 1.9073486e-06), (2, 524288)])
def test_h2_g5l_the_first_of_twenty_timesteps(weight, first):
    x = np.ones((1, 20, 1))
    trace = cells.forward(relu_rnn(weight), x)
    found = backward(trace, x, last_output(trace))
    np.testing.assert_allclose(found.hidden_state[0, 0, 0], first, rtol=1e-7)
    if weight < 1:
        np.testing.assert_allclose(found.recurrent_kernel["hidden"], [[3.99992]], rtol=1e-5)


def test_g5l_an_exploding_gradient_is_infinite_where_torchs_is():
    x = np.ones((1, 200, 1), "float32")
    trace = cells.forward(relu_rnn(2, "float32"), x)
    found = backward(trace, x, last_output(trace))
    assert np.flatnonzero(np.isinf(trace.hidden_state)).tolist() == list(range(127, 200))
    assert np.flatnonzero(~np.isfinite(found.inputs)).tolist() == list(range(72))
    assert np.isnan(found.recurrent_kernel["hidden"]).all()


def test_g6_every_gradient_of_an_lstm():
    kernel = np.ones((1, 4))
    layer = lg.RecurrentLayer.from_arrays(
        "lstm", kernel, 0.5 * kernel, np.zeros(4), gate_order="ifgo"
    )
    x = np.array([[[1.0], [2.0], [3.0]]])
    trace = cells.forward(layer, x)
    found = backward(trace, x, last_output(trace))

    def close(array: np.ndarray, expected: object) -> None:
        np.testing.assert_allclose(np.ravel(array), expected, atol=1e-6)

    close(found.hidden_state, (0.004392, 0.016887, 1))
    assert found.cell_state is not None
    close(found.cell_state, (0.038783, 0.040487, 0.038312))
    close(found.inputs, (0.018151, 0.008785, 0.033774))
    gates = ("input", "forget", "candidate", "output")
    first = [found.preactivations[gate][0, 0, 0] for gate in gates]
    close(np.array(first), (0.005807, 0, 0.011907, 0.000437))
    for part, expected in (
        (found.kernel, (0.016582, 0.009064, 0.015999, 0.095399)),
        (found.recurrent_kernel, (0.002275, 0.002067, 0.000796, 0.024832)),
        (found.bias, (0.010595, 0.003704, 0.013870, 0.032541)),
    ):
        assert part is not None
        close(np.array([part[gate] for gate in gates]), expected)


LAYERS: Mapping[str, tuple[str, int, dict[str, object]]] = {
    "lstm": ("lstm", 4, {"gate_order": "ifgo"}),
    "lstm with a run-time forget bias, clipped": (
        "lstm",
        4,
        {"gate_order": "ijfo", "forget_bias": 1.0, "cell_clip": 0.6},
    ),
    "lstm of other activations": (
        "lstm",
        4,
        {"gate_order": "ifgo", "activation": "softsign", "recurrent_activation": "hard_sigmoid"},
    ),
    "gru, reset after": ("gru", 3, {"gate_order": "rzn", "reset_after": True}),
    "gru, reset before": ("gru", 3, {"gate_order": "rzn", "reset_after": False}),
    "mgu, reset after": ("mgu", 2, {"gate_order": "fn", "reset_after": True, "forget_keeps": True}),
    "mgu, reset before": (
        "mgu",
        2,
        {"gate_order": "fn", "reset_after": False, "forget_keeps": False},
    ),
    "simple rnn": ("simple_rnn", 1, {}),
}
RNG = np.random.default_rng(0)
X = RNG.normal(size=(2, 6, 3))
MASK = np.array([[1, 1, 0, 1, 1, 0], [0, 1, 1, 1, 1, 1]], bool)


def check(build, weights, direction, mask):
    """Every gradient against the central difference of the forward equations in float64."""
    layer = build(weights, direction)
    sizes = [layer.recurrent_size, layer.units][: 2 if layer.cell == "lstm" else 1]
    seed = RNG.normal(size=(2, 6, layer.recurrent_size))
    finals = [RNG.normal(size=(2, size)) for size in sizes]
    starts = [RNG.normal(size=(2, size)) for size in sizes]

    def loss(weights, x, starts):
        trace = cells.forward(build(weights, direction), x, mask, tuple(starts))
        ended = [trace.final_hidden_state, trace.final_cell_state]
        total = np.nansum(seed * trace.hidden_state)
        return total + sum((f * e).sum() for f, e in zip(finals, ended, strict=False))

    def difference(array, rebuild):
        found = np.zeros_like(array)
        for index in np.ndindex(array.shape):
            step = np.zeros_like(array)
            step[index] = EPSILON
            found[index] = (rebuild(array + step) - rebuild(array - step)) / (2 * EPSILON)
        return found

    trace = cells.forward(layer, X, mask, tuple(starts))
    found = backward(trace, X, seed, tuple(finals))
    close = {"atol": 1e-6, "rtol": 1e-6}
    for name in weights:
        expected = difference(weights[name], lambda w, n=name: loss({**weights, n: w}, X, starts))
        ours = getattr(build({**weights, name: expected}, direction), name)
        theirs = getattr(found, name)
        if name == "projection":
            ours, theirs = {"": ours}, {"": theirs}
        elif name == "bias" and "recurrent_bias" in weights:
            # What is compared is summed with the other one; see the layer's vocabulary.
            ours = {g: expected[k * 4 : (k + 1) * 4] for k, g in enumerate(layer.gates)}
        for gate, gradient in theirs.items():
            np.testing.assert_allclose(gradient, ours[gate], **close, err_msg=f"{name} {gate}")
    by_x = difference(X, lambda x: loss(weights, x, starts))
    np.testing.assert_allclose(found.inputs[trace.mask], by_x[trace.mask], **close)
    assert (by_x[~trace.mask] == 0).all()
    assert np.isnan(found.inputs[~trace.mask]).all()
    firsts = [found.initial_hidden_state, found.initial_cell_state]
    for number, first in enumerate(firsts[: len(starts)]):
        by_start = difference(
            starts[number],
            lambda s, n=number: loss(weights, X, [*starts[:n], s, *starts[n + 1 :]]),
        )
        np.testing.assert_allclose(first, by_start, **close)


@pytest.mark.parametrize("mask", [None, MASK], ids=["all run", "masked"])
@pytest.mark.parametrize("direction", ["forward", "backward"])
@pytest.mark.parametrize("kind", LAYERS)
def test_h6_central_differences(kind, direction, mask):
    cell, blocks, options = LAYERS[kind]
    weights = {
        "kernel": RNG.normal(size=(3, blocks * 4)),
        "recurrent_kernel": RNG.normal(size=(4, blocks * 4)) / 2,
        "bias": RNG.normal(size=blocks * 4),
    }
    if options.get("reset_after"):
        weights["recurrent_bias"] = RNG.normal(size=blocks * 4)

    def build(weights, direction):
        return lg.RecurrentLayer.from_arrays(cell, direction=direction, **weights, **options)

    check(build, weights, direction, mask)


@pytest.mark.parametrize("mask", [None, MASK], ids=["all run", "masked"])
@pytest.mark.parametrize("clip", [None, 0.4])
def test_h6_central_differences_with_peepholes_and_projection(clip, mask):
    gates = ("input", "forget", "output")
    weights = {
        "kernel": RNG.normal(size=(3, 16)),
        "recurrent_kernel": RNG.normal(size=(2, 16)) / 2,
        "bias": RNG.normal(size=16),
        "projection": RNG.normal(size=(4, 2)),
        "peephole": RNG.normal(size=(3, 4)),
    }

    def build(weights, direction):
        peephole = dict(zip(gates, weights["peephole"], strict=True))
        return lg.RecurrentLayer.from_arrays(
            "lstm",
            gate_order="ifgo",
            direction=direction,
            projection_clip=clip,
            **{**weights, "peephole": peephole},
        )

    check(build, weights, "forward", mask)


@pytest.mark.parametrize("name", sorted(ACTIVATIONS))
def test_the_derivative_of_every_activation(name):
    z = RNG.normal(scale=2, size=(50, 4))
    gradient = RNG.normal(size=z.shape)
    function = ACTIVATIONS[name]
    found = PULLBACKS[name](z, function(z), gradient)
    for index in np.ndindex(z.shape):
        step = np.zeros_like(z)
        step[index] = 1e-6
        change = (function(z + step) - function(z - step)) / 2e-6
        np.testing.assert_allclose(found[index], (gradient * change).sum(), atol=1e-6, rtol=1e-5)


def test_what_cannot_be_computed_is_said():
    x = np.ones((1, 5, 1))
    trace = cells.forward(relu_rnn(1), x)
    with pytest.raises(ValueError, match=r"must have the shape \(1, 5, 1\), and \(1, 5, 2\)"):
        backward(trace, x, np.ones((1, 5, 2)))
