"""Arrays as Haiku and ONNX store them: what comes out is what these libraries computed.

The numbers are those of dm-haiku 0.0.17 on JAX, and of onnxruntime 1.32.0 (opset 17) on the CPU,
for a sequence 1, -2, 0.5 and two units.
"""

import numpy as np
import pytest

from lstm_gates_plugin.cells import forward
from lstm_gates_plugin.layer import RecurrentLayer

X = np.array([1.0, -2.0, 0.5], "float32").reshape(1, 3, 1)


def ramp(*shape, scale=0.1, shift=0.0):
    """Weights of both signs, no two neighbours alike."""
    places = np.arange(np.prod(shape))
    return ((places * 7 % 11 - 5) * scale + shift).reshape(shape).astype("float32")


def hidden(layer):
    return forward(layer, X).hidden_state[0]


def test_haiku_lstm():
    layer = RecurrentLayer.from_stacked("lstm", ramp(3, 8), ramp(8), gate_order="igfo")
    assert layer.options["forget_bias"] == 1.0
    np.testing.assert_array_equal(layer.kernel["candidate"][0], ramp(3, 8)[0, 2:4])
    np.testing.assert_allclose(
        hidden(layer),
        [[-0.07026, 0.213392], [0.018974, 0.062966], [-0.033857, 0.206609]],
        atol=1e-6,
    )


def haiku_gru(**arguments):
    return RecurrentLayer.from_arrays(
        "gru",
        ramp(1, 6, scale=0.2),
        ramp(2, 6, scale=0.3),
        ramp(6),
        gate_order="zra",
        reset_after=False,
        **arguments,
    )


def test_haiku_gru_whose_update_gate_overwrites():
    layer = haiku_gru(update_keeps=False)
    trace = forward(layer, X)
    np.testing.assert_allclose(
        trace.hidden_state[0],
        [[0.053143, -0.462482], [-0.169066, -0.026149], [-0.058783, -0.279861]],
        atol=1e-6,
    )
    np.testing.assert_array_equal(trace.keep_factor, 1 - trace.gates["update"])
    assert layer.options["update_keeps"] is False


def test_an_update_gate_keeps_unless_one_says_otherwise():
    trace = forward(haiku_gru(), X)
    assert "update_keeps" not in trace.layer.options
    np.testing.assert_array_equal(trace.keep_factor, trace.gates["update"])
    assert np.abs(trace.hidden_state[0, 0] - [0.053143, -0.462482]).max() > 0.01


def test_c6_an_update_gate_that_is_one_keeps_or_overwrites():
    for keeps, expected in ((True, 0.7), (False, np.tanh(1.0))):
        layer = RecurrentLayer.from_arrays(
            "gru",
            np.zeros((1, 3)),
            np.zeros((1, 3)),
            np.array([50.0, 0.0, 1.0]),
            gate_order="zrh",
            reset_after=False,
            update_keeps=keeps,
        )
        trace = forward(layer, X, initial_state=(np.array([[0.7]]),))
        np.testing.assert_allclose(trace.hidden_state.ravel(), [expected] * 3, atol=1e-12)


def test_haiku_vanilla_rnn():
    layer = RecurrentLayer.from_arrays(
        "simple_rnn",
        ramp(1, 2, scale=0.3, shift=1.0),
        ramp(2, 2, scale=0.2, shift=0.5),
        ramp(2),
        recurrent_bias=ramp(2, shift=0.1),
        activation="relu",
    )
    np.testing.assert_allclose(hidden(layer), [[0, 2.1], [0.31, 0.45], [0, 2.254]], atol=1e-5)


def onnx_lstm(**arguments):
    bias, recurrent_bias = np.split(ramp(16), 2)
    return RecurrentLayer.from_arrays(
        "lstm",
        ramp(8, 1, scale=0.2).T,
        ramp(8, 2).T,
        bias,
        recurrent_bias=recurrent_bias,
        gate_order="iofc",
        **{"peephole": ramp(6, scale=0.3), "peephole_order": "iof", **arguments},
    )


def test_onnx_lstm_with_peepholes():
    layer = onnx_lstm()
    np.testing.assert_array_equal(layer.peephole["output"], ramp(6, scale=0.3)[2:4])
    expected = [[0.038249, 0.053157], [-0.239326, 0.013783], [0.020223, 0.010237]]
    np.testing.assert_allclose(hidden(layer), expected, atol=1e-6)
    by_gate = dict(zip(("input", "output", "forget"), np.split(ramp(6, scale=0.3), 3), strict=True))
    same = onnx_lstm(peephole=by_gate, peephole_order="")
    np.testing.assert_array_equal(hidden(same), hidden(layer))
    other = onnx_lstm(peephole_order="ifo")
    assert np.abs(hidden(other) - expected).max() > 1e-3


@pytest.mark.parametrize(
    ("linear_before_reset", "expected"),
    [
        (False, [[0.148083, -0.313719], [0.023825, 0.274816], [0.181747, -0.087199]]),
        (True, [[0.199954, -0.307933], [0.044105, 0.465577], [0.170012, 0.113252]]),
    ],
)
def test_onnx_gru(linear_before_reset, expected):
    bias, recurrent_bias = np.split(ramp(12), 2)
    layer = RecurrentLayer.from_arrays(
        "gru",
        ramp(6, 1, scale=0.2).T,
        ramp(6, 2, scale=0.3).T,
        bias,
        recurrent_bias=recurrent_bias,
        gate_order="zrh",
        reset_after=linear_before_reset,
    )
    np.testing.assert_allclose(hidden(layer), expected, atol=1e-6)


def test_c8_g4_the_blocks_of_onnx_go_to_their_gates():
    layer = RecurrentLayer.from_arrays(
        "lstm",
        np.repeat([1.0, 2.0, 3.0, 4.0], 2)[None],
        np.zeros((2, 8)),
        gate_order="iofc",
    )
    means = {gate: float(block.mean()) for gate, block in layer.kernel.items()}
    assert means == {"input": 1, "forget": 3, "candidate": 4, "output": 2}


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"peephole_order": ""}, r"need their order, and peephole_order='' was given"),
        ({"peephole_order": "iofc"}, r"need their order, and peephole_order='iofc'"),
        ({"peephole": ramp(5)}, r"peephole must have the shape \(6,\), and \(5,\) was given"),
        ({"update_keeps": False}, "update_keeps=False belongs to a GRU, and this is a 'lstm'"),
    ],
)
def test_what_does_not_fit_is_refused(arguments, sentence):
    with pytest.raises(ValueError, match=sentence):
        onnx_lstm(**arguments)
