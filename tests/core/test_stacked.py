"""Layers from stacked kernels, in which the recurrent rows follow the input rows."""

import numpy as np
import pytest

from lstm_gates_plugin import RecurrentLayer


def test_input_rows_come_first():
    kernel = np.concatenate([np.full((3, 8), 1.0), np.full((2, 8), 2.0)])
    layer = RecurrentLayer.from_stacked("lstm", kernel, np.zeros(8), id="rnn/lstm_cell")
    assert (layer.id, layer.input_size, layer.units, layer.recurrent_size) == (
        "rnn/lstm_cell",
        3,
        2,
        2,
    )
    for gate in layer.gates:
        assert (layer.kernel[gate] == 1).all()
        assert (layer.recurrent_kernel[gate] == 2).all()


def test_c2_candidate_before_forget_and_a_forget_bias_of_one():
    blocks = np.repeat([[1.0, 2.0, 3.0, 4.0]], 2, axis=0)
    layer = RecurrentLayer.from_stacked("lstm", blocks)
    means = {gate: kernel.mean() for gate, kernel in layer.kernel.items()}
    assert means == {"input": 1, "candidate": 2, "forget": 3, "output": 4}
    assert layer.options["forget_bias"] == 1
    other = RecurrentLayer.from_stacked("lstm", blocks, gate_order="ifgo", forget_bias=0.0)
    assert other.kernel["forget"].mean() == 2
    assert other.options["forget_bias"] == 0


def test_a_gru_of_two_kernels():
    gates, candidate = np.array([[1.0, 2.0]] * 3), np.array([[3.0]] * 3)
    layer = RecurrentLayer.from_stacked("gru", np.concatenate([gates, candidate], axis=-1))
    means = {gate: kernel.mean() for gate, kernel in layer.kernel.items()}
    assert means == {"reset": 1, "update": 2, "candidate": 3}
    assert layer.input_size == 2
    assert layer.options["reset_after"] is False


def test_a_simple_rnn():
    layer = RecurrentLayer.from_stacked("simple_rnn", np.ones((5, 2)), np.zeros(2))
    assert (layer.input_size, layer.units) == (3, 2)


def test_a_projection_says_how_many_rows_are_recurrent():
    layer = RecurrentLayer.from_stacked("lstm", np.ones((5, 16)), projection=np.ones((4, 2)))
    assert (layer.input_size, layer.recurrent_size, layer.units) == (3, 2, 4)


def test_the_type_of_the_stored_kernel():
    kernel = np.ones((3, 4), dtype="float16")
    assert RecurrentLayer.from_stacked("lstm", kernel).options["dtype"] == "float16"


@pytest.mark.parametrize("shape", [(2, 7), (2, 12), (8,), (0, 0), (1, 4)])
def test_a_shape_that_is_none(shape):
    with pytest.raises(ValueError, match=r"stacked kernel of a 'lstm' must have the shape"):
        RecurrentLayer.from_stacked("lstm", np.ones(shape))


def test_a_transposed_kernel():
    with pytest.raises(ValueError, match=r"It looks transposed: give kernel\.T"):
        RecurrentLayer.from_stacked("lstm", np.ones((16, 7)))


def test_an_unknown_cell():
    with pytest.raises(ValueError, match="cell must be one of"):
        RecurrentLayer.from_stacked("transformer", np.ones((3, 2)))
