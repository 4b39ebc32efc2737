"""The golden numbers on linen and nnx: small layers whose gates are known exactly."""

import math
from typing import Any

import numpy as np
import pytest

import lstm_gates_plugin as lg
from helpers.flax_models import FLAVOURS, LINEN, NNX, one_unit

GATES = ("input", "forget", "candidate", "output")
#: G1: an LSTM of one unit, input weights 1, recurrent weights 0.5, biases 0, on x = 1, 2, 3.
G1 = {
    "activation/input": (0.731059, 0.898877, 0.967567),
    "activation/forget": (0.731059, 0.898877, 0.967567),
    "activation/candidate": (0.761594, 0.975004, 0.997755),
    "activation/output": (0.731059, 0.898877, 0.967567),
    "cell_state": (0.556770, 1.376876, 2.297615),
    "hidden_state": (0.369606, 0.791236, 0.948218),
}
LN3 = math.log(3.0)
X = np.array([1.0, 2.0, 3.0], "float32").reshape(1, 3, 1)

both = pytest.mark.parametrize("flavour", FLAVOURS, ids=lambda flavour: flavour.name)


def g1_params(flavour: Any) -> Any:
    return one_unit(flavour, "lstm", dict.fromkeys(GATES, 1), dict.fromkeys(GATES, 0.5), {})


def lstm(flavour: Any, params: Any, **arguments: Any) -> Any:
    kind = "optimised LSTM" if flavour is NNX else "LSTM"
    return flavour.with_params(flavour.RNN(flavour.cell(kind, 1, 1), **arguments), params)


def shows(trace: Any, **parts: Any) -> None:
    """The parts of the trace's first row are these numbers."""
    for name, numbers in parts.items():
        row = trace.parts()[name.replace("__", "/")][0, :, 0]
        np.testing.assert_allclose(row, numbers, atol=1e-5, err_msg=name)


@both
def test_g1_d7_every_gate_at_every_timestep(flavour: Any) -> None:
    (trace,) = lg.trace(lstm(flavour, g1_params(flavour)), X)
    shows(trace, **G1)
    assert trace.layer.id == "rnn_0"
    assert trace.hidden_state.shape == (1, 3, 1)  # the axis of time is the second
    assert trace.difference < 1e-6


@both
def test_g1_of_the_other_lstm(flavour: Any) -> None:
    kind = "LSTM" if flavour is NNX else "optimised LSTM"
    params = g1_params(LINEN)
    if flavour is NNX:  # an attribute cannot be called `if`
        params = {"if_" if name == "if" else name: part for name, part in params.items()}
    model = flavour.with_params(flavour.RNN(flavour.cell(kind, 1, 1)), params)
    shows(lg.trace(model, X)[0], **G1)


@both
def test_g1b_e2_backward_by_input_time(flavour: Any) -> None:
    (trace,) = lg.trace(lstm(flavour, g1_params(flavour), reverse=True), X)
    assert trace.layer.direction == "backward"
    shows(trace, hidden_state=(0.784998, 0.860805, 0.703775))
    np.testing.assert_allclose(trace.final_hidden_state, [[0.784998]], atol=1e-5)
    np.testing.assert_allclose(trace.final_cell_state, [[2.141613]], atol=1e-5)
    np.testing.assert_allclose(trace.gates["input"][0, 2], [0.952574], atol=1e-5)
    np.testing.assert_allclose(trace.gates["candidate"][0, 2], [0.995055], atol=1e-5)


@both
def test_g1l2_two_layers(flavour: Any) -> None:
    model = flavour.Stack([flavour.RNN(flavour.cell("optimised LSTM", 1, 1)) for _ in range(2)])
    if flavour is NNX:
        for layer in model.layers:
            flavour.with_params(layer, g1_params(flavour))
    else:
        cell = {"cell": g1_params(flavour)}
        model = (model, {"params": {"layers_0": cell, "layers_1": cell}})
    below, above = lg.trace(model, X)
    shows(below, **G1)
    shows(above, hidden_state=(0.121902, 0.392109, 0.606613))
    np.testing.assert_allclose(above.final_cell_state, [[1.098037]], atol=1e-5)


@both
def test_g1s_from_a_given_state(flavour: Any) -> None:
    ones = np.ones((1, 1), "float32")
    (trace,) = lg.trace(lstm(flavour, g1_params(flavour)), X, initial_carry=(ones, ones))
    shows(trace, hidden_state=(0.748106, 0.897465, 0.966102))
    np.testing.assert_allclose(trace.gates["input"][0, 0], [0.817574], atol=1e-5)
    np.testing.assert_allclose(trace.gates["candidate"][0, 0], [0.905148], atol=1e-5)


@both
def test_a_carry_is_cell_then_hidden(flavour: Any) -> None:
    carry = np.full((1, 1), 0.25, "float32"), np.full((1, 1), 0.75, "float32")
    (trace,) = lg.trace(lstm(flavour, g1_params(flavour)), X, initial_carry=carry)
    assert trace.initial_cell_state.item() == 0.25
    assert trace.initial_hidden_state.item() == 0.75
    assert trace.difference < 1e-6


@both
def test_g2_no_two_gates_alike(flavour: Any) -> None:
    bias = {"input": LN3, "forget": 0.0, "candidate": 1.0, "output": -LN3}
    (trace,) = lg.trace(lstm(flavour, one_unit(flavour, "lstm", {}, {}, bias)), X)
    shows(
        trace,
        activation__input=(0.75,) * 3,
        activation__forget=(0.5,) * 3,
        activation__candidate=(0.761594,) * 3,
        activation__output=(0.25,) * 3,
        cell_state=(0.571196, 0.856793, 0.999592),
        hidden_state=(0.129059, 0.173650, 0.190356),
    )
    assert trace.layer.bias["output"] == np.float32(-LN3)
    assert trace.layer.recurrent_bias is None


def gru(flavour: Any, bias: Any, recurrent_bias: float | None, candidate: float = 1.0) -> Any:
    params = one_unit(flavour, "gru", {}, {"candidate": candidate}, bias, recurrent_bias)
    return flavour.with_params(flavour.RNN(flavour.cell("GRU", 1, 1)), params)


def test_g3_linen_has_a_second_bias_of_the_candidate() -> None:
    (trace,) = lg.trace(gru(LINEN, {"update": LN3, "candidate": 1.0}, 2.0), X[:, :2])
    shows(
        trace,
        activation__reset=(0.5, 0.5),
        activation__update=(0.75, 0.75),
        activation__candidate=(0.964028, 0.971622),
        hidden_state=(0.241007, 0.423661),
    )
    assert trace.layer.recurrent_bias["candidate"] == 2.0


def test_g3_nnx_has_none() -> None:
    # With r = 0.5 this is what a reset before the product gives, too.
    (trace,) = lg.trace(gru(NNX, {"update": LN3, "candidate": 1.0}, None), X[:, :2])
    shows(
        trace,
        activation__candidate=(0.761594, 0.798768),
        hidden_state=(0.190399, 0.342491),
    )
    assert trace.layer.recurrent_bias is None


@both
def test_c6_an_update_gate_that_is_one_keeps_the_old_state(flavour: Any) -> None:
    model = gru(flavour, {"update": 50.0, "candidate": 1.0}, 0.0 if flavour is LINEN else None)
    carry = np.full((1, 1), 0.7, "float32")
    (trace,) = lg.trace(model, X, initial_carry=carry)
    shows(trace, activation__update=(1,) * 3, hidden_state=(0.7,) * 3)
    np.testing.assert_array_equal(trace.keep_factor, trace.gates["update"])


def test_g4_the_blocks_of_nnx_go_to_their_gates() -> None:
    for kind, gates in (("optimised LSTM", GATES), ("GRU", ("reset", "update", "candidate"))):
        cell = NNX.cell(kind, 2, 2)
        blocks = np.repeat(np.arange(1.0, len(gates) + 1), 2)
        NNX.with_params(cell, {"dense_i": {"kernel": np.broadcast_to(blocks, (2, len(blocks)))}})
        (layer,) = lg.recurrent_layers(cell)
        means = [float(layer.kernel[gate].mean()) for gate in gates]
        assert means == [float(k) for k in range(1, len(gates) + 1)]


def test_g4_the_gates_of_linen_go_by_their_letters() -> None:
    numbers = {"input": 1, "forget": 2, "candidate": 3, "output": 4}
    for kind in ("LSTM", "optimised LSTM"):
        cell = LINEN.cell(kind, 1, 1)
        model = LINEN.with_params(cell, one_unit(LINEN, "lstm", numbers, {}, {}))
        (layer,) = lg.recurrent_layers(model)
        assert {gate: block.item() for gate, block in layer.kernel.items()} == numbers


def test_the_forget_bias_of_an_mgu_is_one_at_first() -> None:
    import jax

    module = LINEN.RNN(LINEN.cell("MGU", 1, 2))
    variables = module.init(jax.random.key(0), X)
    (layer,) = lg.recurrent_layers((module, variables))
    assert layer.bias["forget"].tolist() == [1, 1]
    assert layer.bias["candidate"].tolist() == [0, 0]
    assert list(layer.recurrent_bias) == ["candidate"]
