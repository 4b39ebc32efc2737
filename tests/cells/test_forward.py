"""The equations against frameworks' own operations, and against sums done by hand."""

import math

import numpy as np
import pytest
import tensorflow as tf

from lstm_gates_plugin.cells import forward
from lstm_gates_plugin.layer import RecurrentLayer

LN3 = math.log(3.0)


def random_lstm(rng, inputs=3, units=4, hidden=None, **arguments):
    hidden = hidden or units
    return RecurrentLayer.from_arrays(
        "lstm",
        rng.normal(size=(inputs, 4 * units)).astype("float32"),
        rng.normal(size=(hidden, 4 * units)).astype("float32"),
        rng.normal(size=4 * units).astype("float32"),
        gate_order="icfo",
        **arguments,
    )


def fused(parts, order=("input", "candidate", "forget", "output")):
    return np.concatenate([parts[gate] for gate in order], axis=-1)


@pytest.mark.parametrize("peepholes", [False, True])
@pytest.mark.parametrize("cell_clip", [None, 0.5])
@pytest.mark.parametrize("forget_bias", [None, 1.0])
def test_lstm_agrees_with_the_block_operation_of_tensorflow(peepholes, cell_clip, forget_bias):
    rng = np.random.default_rng(1)
    peephole = {g: rng.normal(size=4) for g in ("input", "forget", "output")} if peepholes else None
    layer = random_lstm(rng, peephole=peephole, cell_clip=cell_clip, forget_bias=forget_bias)
    x, h, c = rng.normal(size=(2, 7, 3)), rng.normal(size=(2, 4)), rng.normal(size=(2, 4))
    weights = layer.peephole or dict.fromkeys(("input", "forget", "output"), np.zeros(4))
    result = tf.raw_ops.BlockLSTM(
        seq_len_max=7,
        x=x.transpose(1, 0, 2).astype("float32"),
        cs_prev=c.astype("float32"),
        h_prev=h.astype("float32"),
        w=np.concatenate([fused(layer.kernel), fused(layer.recurrent_kernel)]),
        wci=weights["input"].astype("float32"),
        wcf=weights["forget"].astype("float32"),
        wco=weights["output"].astype("float32"),
        b=fused(layer.bias),
        forget_bias=forget_bias or 0.0,
        cell_clip=cell_clip or -1.0,
        use_peephole=peepholes,
    )
    trace = forward(layer, x, initial_state=(h, c))
    for ours, theirs in (
        (trace.gates["input"], result.i),
        (trace.gates["forget"], result.f),
        (trace.gates["candidate"], result.ci),
        (trace.gates["output"], result.o),
        (trace.cell_state, result.cs),
        (trace.hidden_state, result.h),
    ):
        np.testing.assert_allclose(ours, np.asarray(theirs).transpose(1, 0, 2), atol=1e-5)


def test_lstm_with_projection_and_its_clip():
    # G2's gates with a projection of 2 and a clip that the second timestep reaches.
    layer = RecurrentLayer.from_arrays(
        "lstm",
        np.zeros((1, 4)),
        np.zeros((2, 4)),
        [LN3, 0.0, 1.0, -LN3],
        gate_order="ifgo",
        projection=[[2.0, -1.0]],
        projection_clip=0.3,
    )
    trace = forward(layer, np.zeros((1, 3, 1)))
    unprojected = np.array([0.129059, 0.173650, 0.190356])
    expected = np.stack([np.minimum(2 * unprojected, 0.3), -unprojected], axis=-1)
    np.testing.assert_allclose(trace.hidden_state[0], expected, atol=1e-6)
    assert trace.cell_state.shape == (1, 3, 1)


def test_projection_feeds_the_next_timestep():
    rng = np.random.default_rng(2)
    projection = rng.normal(size=(4, 2)).astype("float32")
    layer = random_lstm(rng, hidden=2, projection=projection)
    x = rng.normal(size=(1, 2, 3)).astype("float32")
    trace = forward(layer, x)
    np.testing.assert_allclose(
        trace.hidden_state,
        (trace.gates["output"] * np.tanh(trace.cell_state)) @ projection,
        atol=1e-6,
    )
    expected = (
        x[0, 1] @ layer.kernel["forget"]
        + trace.hidden_state[0, 0] @ layer.recurrent_kernel["forget"]
        + layer.bias["forget"]
    )
    np.testing.assert_allclose(trace.preactivations["forget"][0, 1], expected, atol=1e-6)


def test_the_stored_bias_of_g2_with_a_run_time_forget_bias():
    layer = RecurrentLayer.from_arrays(
        "lstm",
        np.zeros((1, 4)),
        np.zeros((1, 4)),
        [LN3, 1.0, 0.0, -LN3],
        gate_order="ijfo",
        forget_bias=1.0,
    )
    trace = forward(layer, np.zeros((1, 3, 1)))
    np.testing.assert_allclose(trace.gates["forget"].ravel(), [0.731059] * 3, atol=1e-6)
    np.testing.assert_allclose(trace.preactivations["forget"].ravel(), [1.0] * 3)
    np.testing.assert_allclose(trace.cell_state.ravel(), (0.571196, 0.988773, 1.294047), atol=1e-6)
    np.testing.assert_allclose(
        trace.hidden_state.ravel(), (0.129059, 0.189210, 0.215046), atol=1e-6
    )
    assert layer.bias["forget"] == 0


@pytest.mark.parametrize(
    ("reset_after", "forget_keeps", "hidden"),
    [
        # f = 0.75 at each timestep, candidate bias 1, recurrent candidate weight 1 (and, after,
        # recurrent candidate bias 2), from zero.
        (True, True, (0.25 * math.tanh(2.5), None)),
        (True, False, (0.75 * math.tanh(2.5), None)),
        (False, True, (0.25 * math.tanh(1), None)),
        (False, False, (0.75 * math.tanh(1), None)),
    ],
)
def test_mgu(reset_after, forget_keeps, hidden):
    layer = RecurrentLayer.from_arrays(
        "mgu",
        np.zeros((1, 2)),
        [[0.0, 1.0]],
        [LN3, 1.0],
        recurrent_bias=[0.0, 2.0] if reset_after else None,
        gate_order="fn",
        reset_after=reset_after,
        forget_keeps=forget_keeps,
    )
    first = hidden[0]
    inner = 1 + 0.75 * (first + 2 if reset_after else first)
    keep = 0.75 if forget_keeps else 0.25
    expected = [first, keep * first + (1 - keep) * math.tanh(inner)]
    trace = forward(layer, np.zeros((1, 2, 1)))
    np.testing.assert_allclose(trace.hidden_state.ravel(), expected)
    np.testing.assert_allclose(trace.keep_factor.ravel(), [keep, keep])


def test_simple_rnn_by_hand():
    layer = RecurrentLayer.from_arrays("simple_rnn", [[2.0]], [[0.5]], [0.25], activation="relu")
    trace = forward(layer, np.array([1.0, -3.0, 1.0]).reshape(1, 3, 1))
    np.testing.assert_allclose(trace.preactivations["hidden"].ravel(), [2.25, -4.625, 2.25])
    np.testing.assert_allclose(trace.hidden_state.ravel(), [2.25, 0, 2.25])
    assert trace.cell_state is None
    assert trace.keep_factor is None


def test_backward_is_forward_on_the_reversed_sequence():
    rng = np.random.default_rng(3)
    forward_layer = random_lstm(rng)
    rng = np.random.default_rng(3)
    backward_layer = random_lstm(rng, direction="backward")
    x, mask = rng.normal(size=(3, 6, 3)), rng.random((3, 6)) < 0.7
    ours = forward(backward_layer, x, mask)
    expected = forward(forward_layer, x[:, ::-1], mask[:, ::-1])
    for name, part in expected.parts().items():
        np.testing.assert_array_equal(ours.parts()[name], part[:, ::-1])
    np.testing.assert_array_equal(ours.final_cell_state, expected.final_cell_state)


def test_a_mask_leaves_timesteps_out():
    rng = np.random.default_rng(4)
    layer = random_lstm(rng)
    x = rng.normal(size=(1, 5, 3))
    keep = np.array([[True, False, True, False, False]])
    masked, short = forward(layer, x, keep), forward(layer, x[:, keep[0]])
    for name, part in short.parts().items():
        np.testing.assert_allclose(masked.parts()[name][keep], part[0], atol=1e-6)
        assert np.isnan(masked.parts()[name][~keep]).all()
    np.testing.assert_allclose(masked.final_hidden_state, short.final_hidden_state, atol=1e-6)


def test_float64_weights_are_computed_in_float64():
    weights = np.full((1, 4), 0.1), np.full((1, 4), 0.1)
    x = np.ones((1, 2, 1))
    exact = forward(RecurrentLayer.from_arrays("lstm", *weights, gate_order="ifgo"), x)
    single = [array.astype("float32") for array in weights]
    rounded = forward(RecurrentLayer.from_arrays("lstm", *single, gate_order="ifgo"), x)
    assert exact.hidden_state.dtype == np.float64
    assert rounded.hidden_state.dtype == np.float32


def test_no_timestep_and_no_sample():
    layer = random_lstm(np.random.default_rng(5))
    none = forward(layer, np.zeros((2, 0, 3)))
    assert none.hidden_state.shape == (2, 0, 4)
    np.testing.assert_array_equal(none.final_hidden_state, np.zeros((2, 4)))
    assert forward(layer, np.zeros((0, 5, 3))).gates["input"].shape == (0, 5, 4)


def test_arrays_are_copies():
    layer = random_lstm(np.random.default_rng(6))
    x, state = np.zeros((1, 2, 3), "float32"), (np.zeros((1, 4)), np.zeros((1, 4)))
    trace = forward(layer, x, initial_state=state)
    kept = trace.hidden_state.copy()
    x += 1
    state[0][:] = 7
    np.testing.assert_array_equal(trace.hidden_state, kept)
    assert not trace.initial_hidden_state.any()


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"inputs": np.zeros((2, 3))}, r"must have the shape \[batch, time, 3\], and \(2, 3\)"),
        ({"inputs": np.zeros((1, 2, 4))}, r"and \(1, 2, 4\) was given"),
        ({"mask": np.ones((1, 3))}, r"the mask of layer 'layer' must have the shape \[1, 2\]"),
        ({"initial_state": (np.zeros((1, 4)),)}, "the initial state of layer 'layer' must have"),
        ({"initial_state": (np.zeros((2, 4)),) * 2}, r"shapes \[\(1, 4\), \(1, 4\)\]"),
    ],
)
def test_wrong_shapes_are_refused(arguments, sentence):
    layer = random_lstm(np.random.default_rng(7))
    with pytest.raises(ValueError, match=sentence):
        forward(layer, **{"inputs": np.zeros((1, 2, 3)), **arguments})
