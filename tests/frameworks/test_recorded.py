"""What is the same for every framework: joining calls, cutting rows, comparing."""

import warnings
from dataclasses import replace

import numpy as np
import pytest

from lstm_gates_plugin.cells import forward
from lstm_gates_plugin.frameworks.recorded import RecordedCall
from lstm_gates_plugin.frameworks.traces import to_traces
from lstm_gates_plugin.layer import RecurrentLayer

RNG = np.random.default_rng(0)
X = RNG.normal(size=(3, 6, 2))


def lstm(**arguments):
    rng = np.random.default_rng(1)
    return RecurrentLayer.from_arrays(
        "lstm",
        rng.normal(size=(2, 16)),
        rng.normal(size=(4, 16)),
        gate_order="ifgo",
        **arguments,
    )


def call(layer, x, initial_state=None, **arguments):
    """A call as a faithful framework would have made it."""
    trace = forward(layer, x, initial_state=initial_state)
    given = {
        "initial_state": initial_state,
        "hidden_state": trace.hidden_state,
        "final_state": (trace.final_hidden_state, trace.final_cell_state),
        "precision": "float64",
    }
    return RecordedCall(layer, x, **{**given, **arguments})


@pytest.fixture(autouse=True)
def _no_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        yield


def test_a_call_that_continues_joins_the_sequence():
    layer = lstm()
    first = call(layer, X[:, :4])
    second = call(layer, X[:, 4:], first.final_state)
    (trace,) = to_traces([first, second])
    np.testing.assert_allclose(trace.hidden_state, forward(layer, X).hidden_state)
    assert trace.difference < 1e-12


def test_a_backward_layer_that_continues_reads_on_towards_the_start():
    layer = lstm(direction="backward")
    first = call(layer, X[:, 4:])
    second = call(layer, X[:, :4], first.final_state)
    (trace,) = to_traces([first, second])
    np.testing.assert_allclose(trace.hidden_state, forward(layer, X).hidden_state)


def test_calls_from_zero_are_numbered():
    calls = [call(lstm(), X), call(lstm(id="other"), X), call(lstm(), X)]
    traces = to_traces(calls)
    assert [(t.layer.id, t.call) for t in traces] == [("layer", 0), ("other", 0), ("layer", 1)]


def test_a_given_state_that_is_not_the_last_one_starts_anew():
    layer = lstm()
    first = call(layer, X)
    other = call(layer, X, tuple(state + 1e-6 for state in first.final_state))
    fewer = call(layer, X[:2], tuple(state[:2] for state in first.final_state))
    assert [trace.call for trace in to_traces([first, other, fewer])] == [0, 1, 2]


def test_equal_states_of_zero_are_two_starts_unless_one_is_known_to_go_on():
    zero = (np.zeros((3, 4)), np.zeros((3, 4)))
    dead = replace(call(lstm(), X, zero), hidden_state=None, final_state=zero, compared=False)
    assert [trace.call for trace in to_traces([dead, dead])] == [0, 1]
    (trace,) = to_traces([dead, replace(dead, goes_on=True)])
    assert trace.mask.shape == (3, 12)
    ended = call(lstm(), X)
    assert len(to_traces([ended, replace(dead, goes_on=True)])) == 2  # it was set back in place


def test_a_call_on_fewer_rows_starts_anew_whatever_is_kept_of_it():
    layer = lstm()
    first = call(layer, X)
    fewer = call(layer, X[:2], tuple(state[:2] for state in first.final_state))
    kept = call(layer, X[:2])
    for calls in ([first, fewer], [replace(kept, rows=3), replace(fewer, rows=2)]):
        assert [trace.call for trace in to_traces(calls)] == [0, 1]


def test_calls_of_two_sequences_side_by_side():
    a, b = lstm(id="a"), lstm(id="b")
    first_a, first_b = call(a, X[:, :3]), call(b, X[:, :3])
    second_a = call(a, X[:, 3:], first_a.final_state)
    traces = to_traces([first_a, first_b, second_a])
    assert [(t.layer.id, t.hidden_state.shape[1]) for t in traces] == [("a", 6), ("b", 3)]


def test_a_group_is_one_call_sample_by_sample():
    layer = lstm()
    parts = RNG.normal(size=(3, 2, 5, 2))
    mask = RNG.random((3, 5)) < 0.5
    calls = [
        call(layer, parts[:, 0], group=1, mask=mask, hidden_state=None, final_state=None),
        call(layer, parts[:, 1], group=1),
    ]
    (trace,) = to_traces(calls)
    assert trace.hidden_state.shape == (6, 5, 4)
    assert trace.mask[::2].tolist() == mask.tolist()
    whole = forward(layer, parts[:, 1]).hidden_state
    np.testing.assert_allclose(trace.hidden_state[1::2], whole)
    (cut,) = to_traces(calls, samples=2)
    np.testing.assert_array_equal(cut.hidden_state, trace.hidden_state[:2])


def test_rows_are_cut():
    layer = lstm()
    (trace,) = to_traces([call(layer, X, tuple(RNG.normal(size=(2, 3, 4))))], samples=2)
    assert trace.hidden_state.shape == (2, 6, 4)
    assert trace.final_cell_state.shape == (2, 4)
    assert trace.difference < 1e-12


def test_no_output_no_difference():
    (trace,) = to_traces([call(lstm(), X, hidden_state=None, final_state=None)])
    assert trace.difference is None


def test_masked_timesteps_are_not_compared():
    layer = lstm()
    mask = np.ones((3, 6), bool)
    mask[0, 3:] = False
    mask[1] = False
    own = forward(layer, X, mask)
    shown = np.where(mask[:, :, None], own.hidden_state, 7.0)
    (trace,) = to_traces([RecordedCall(layer, X, mask, hidden_state=shown)])
    assert trace.difference < 1e-12
    last = RecordedCall(layer, X, mask, last_hidden_state=shown[:, -1])
    (trace,) = to_traces([last])
    assert trace.difference < 1e-12


@pytest.mark.parametrize("precision", ["float64", "float32", "float16", "bfloat16"])
def test_the_tolerance_follows_the_precision(precision):
    unit = {"float64": 2**-53, "float32": 2**-24, "float16": 2**-11, "bfloat16": 2**-8}[precision]
    good = call(lstm(), X, precision=precision, final_state=None)
    to_traces([replace(good, hidden_state=good.hidden_state + 8 * unit)])
    far = replace(good, hidden_state=good.hidden_state + 1e8 * unit)
    with pytest.warns(UserWarning, match=rf"hidden state of layer 'layer'.*more than {precision}"):
        (trace,) = to_traces([far])
    np.testing.assert_allclose(trace.difference, 1e8 * unit, rtol=1e-3)


def test_a_wrong_final_cell_state_is_seen():
    good = call(lstm(), X)
    wrong = (good.final_state[0], good.final_state[1] + 0.5)
    with pytest.warns(UserWarning, match=r"up to 0\.5 away"):
        to_traces([replace(good, final_state=wrong)])


def test_not_a_number_on_one_side_alone_is_a_difference():
    good = call(lstm(), X, final_state=None)
    broken = good.hidden_state.copy()
    broken[0, 0, 0] = np.nan
    with pytest.warns(UserWarning, match="up to inf away"):
        (trace,) = to_traces([replace(good, hidden_state=broken)])
    assert trace.difference == np.inf
