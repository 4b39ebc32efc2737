"""RecurrentLayer: splitting fused arrays, refusing what does not fit."""

import json

import numpy as np
import pytest

from lstm_gates_plugin.layer import GATES, RecurrentLayer


def lstm(**arguments):
    given = {
        "kernel": np.arange(24.0).reshape(2, 12),
        "recurrent_kernel": np.arange(36.0).reshape(3, 12),
        "bias": np.arange(12.0),
        "gate_order": "ifco",
    }
    return RecurrentLayer.from_arrays("lstm", **{**given, **arguments})


def gru(**arguments):
    given = {
        "kernel": np.ones((2, 6)),
        "recurrent_kernel": np.ones((2, 6)),
        "bias": np.arange(6.0),
        "recurrent_bias": np.arange(6.0) * 10,
        "gate_order": "rzn",
        "reset_after": True,
    }
    return RecurrentLayer.from_arrays("gru", **{**given, **arguments})


def test_blocks_go_to_their_gates():
    layer = lstm()
    assert (layer.input_size, layer.units, layer.recurrent_size) == (2, 3, 3)
    np.testing.assert_array_equal(layer.kernel["candidate"], [[6, 7, 8], [18, 19, 20]])
    np.testing.assert_array_equal(layer.bias["output"], [9, 10, 11])
    assert layer.recurrent_kernel["forget"].shape == (3, 3)


def test_gates_are_listed_in_one_order_whatever_the_storage():
    for order in ("ifco", "ijfo", "iofc", "ogfi"):
        layer = lstm(gate_order=order)
        for by_gate in (layer.kernel, layer.recurrent_kernel, layer.bias):
            assert tuple(by_gate) == layer.gates == GATES["lstm"]


def test_parts_have_fixed_names_and_order():
    layer = lstm(
        peephole={"output": np.ones(3), "input": np.ones(3), "forget": np.ones(3)},
        projection=np.ones((3, 2)),
        recurrent_kernel=np.ones((2, 12)),
    )
    gates = ("input", "forget", "candidate", "output")
    assert list(layer.parts()) == [
        *(f"kernel/{gate}" for gate in gates),
        *(f"recurrent_kernel/{gate}" for gate in gates),
        *(f"bias/{gate}" for gate in gates),
        "peephole/input",
        "peephole/forget",
        "peephole/output",
        "projection",
    ]
    assert layer.recurrent_size == 2


def test_description_is_json():
    described = lstm(id="encoder/lstm_0", direction="backward", forget_bias=1).describe()
    assert json.loads(json.dumps(described)) == described
    assert described == {
        "id": "encoder/lstm_0",
        "cell": "lstm",
        "direction": "backward",
        "gates": ["input", "forget", "candidate", "output"],
        "input_size": 2,
        "recurrent_size": 3,
        "units": 3,
        "options": {
            "activation": "tanh",
            "recurrent_activation": "sigmoid",
            "forget_bias": 1.0,
            "dtype": "float64",
        },
    }


def test_input_and_recurrent_bias_are_summed():
    layer = lstm(recurrent_bias=np.full(12, 100.0))
    np.testing.assert_array_equal(layer.bias["input"], [100, 101, 102])
    assert layer.recurrent_bias is None
    alone = lstm(bias=None, recurrent_bias=np.full(12, 100.0))
    np.testing.assert_array_equal(alone.bias["output"], [100, 100, 100])
    assert lstm(bias=None).bias is None


def test_only_the_candidate_of_a_reset_after_gru_keeps_two_biases():
    layer = gru()
    np.testing.assert_array_equal(layer.bias["reset"], [0, 11])
    np.testing.assert_array_equal(layer.bias["update"], [22, 33])
    np.testing.assert_array_equal(layer.bias["candidate"], [4, 5])
    np.testing.assert_array_equal(layer.recurrent_bias["candidate"], [40, 50])
    assert list(layer.parts())[-1] == "recurrent_bias/candidate"
    before = gru(reset_after=False)
    np.testing.assert_array_equal(before.bias["candidate"], [44, 55])
    assert before.recurrent_bias is None


def test_arrays_are_read_only_copies():
    kernel = np.arange(24.0).reshape(2, 12)
    layer = lstm(kernel=kernel)
    kernel[:] = 0
    assert layer.kernel["output"].any()
    with pytest.raises(ValueError, match="read-only"):
        layer.kernel["output"][0, 0] = 1


@pytest.mark.parametrize(
    ("stored", "kept"), [("float64", "float64"), ("float32", "float32"), ("float16", "float32")]
)
def test_dtypes(stored, kept):
    layer = lstm(kernel=np.ones((2, 12), stored))
    assert layer.kernel["input"].dtype == kept
    assert layer.options["dtype"] == stored


@pytest.mark.parametrize(
    ("build", "arguments", "sentence"),
    [
        (lstm, {"gate_order": "ifcx"}, "gate_order='ifcx' is not an order of the 4 gates"),
        (gru, {"gate_order": "ifco"}, "Give one letter per gate.*r = reset, z = update"),
        (lstm, {"kernel": np.ones((12, 2))}, "It looks transposed: give kernel.T"),
        (lstm, {"recurrent_kernel": np.ones((12, 3))}, "It looks transposed: give recurrent_k"),
        (lstm, {"recurrent_kernel": np.ones((2, 12))}, r"\(2, 12\) was given"),
        (lstm, {"kernel": np.ones(12)}, r"must be a matrix, and one of shape \(12,\) was given"),
        (lstm, {"bias": np.ones(11)}, r"bias must have the shape \(12,\), and \(11,\) was given"),
        (lstm, {"bias": np.ones((2, 12))}, r"bias must have the shape \(12,\)"),
        (lstm, {"direction": "up"}, "direction must be 'forward' or 'backward', and 'up'"),
        (lstm, {"peephole": {"candidate": np.ones(3)}}, "peepholes are by gate"),
        (lstm, {"peephole": {"input": np.ones(4)}}, r"peephole\['input'\] must have the shape"),
        (lstm, {"projection": np.ones((2, 3))}, r"projection must have the shape \(3, rec"),
        (gru, {"reset_after": None}, "needs reset_after=True"),
        (gru, {"forget_bias": 1.0}, "forget_bias belongs to an LSTM, and this is a 'gru'"),
        (gru, {"projection": np.ones((2, 2))}, "only an LSTM has peepholes or a projection"),
    ],
)
def test_what_does_not_fit_is_refused(build, arguments, sentence):
    with pytest.raises(ValueError, match=sentence):
        build(**arguments)


def test_an_unknown_cell_is_refused():
    with pytest.raises(ValueError, match="cell must be one of lstm, gru, mgu, simple_rnn"):
        RecurrentLayer.from_arrays("qrnn", np.ones((1, 2)), np.ones((1, 2)), gate_order="if")


def test_an_mgu_says_what_its_forget_gate_multiplies():
    with pytest.raises(ValueError, match="needs forget_keeps=True"):
        RecurrentLayer.from_arrays(
            "mgu", np.ones((1, 2)), np.ones((1, 2)), gate_order="fn", reset_after=True
        )


def test_a_gate_order_for_a_cell_with_one_gate_is_refused():
    with pytest.raises(ValueError, match="has one gate; leave it out"):
        RecurrentLayer.from_arrays("simple_rnn", [[1.0]], [[0.5]], gate_order="zrh")
