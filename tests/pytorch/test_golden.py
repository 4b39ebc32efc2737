"""Golden numbers G1 to G4 and G8 on PyTorch's modules and cells, through the public API."""

from typing import Any

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence

import lstm_gates_plugin as lg
from helpers.torch_modules import G1, G1_BACKWARD, LN3, close, g1_lstm, sequence, values

X = sequence(1, 2, 3)


def test_g1_every_gate_and_state() -> None:
    module = g1_lstm()
    own, _ = module(X)
    (trace,) = lg.trace(module, X)
    for name, expected in G1.items():
        close(values(trace, name), expected)
    close(own, G1["hidden_state"])
    assert trace.difference < 1e-6


def test_g1b_backward_by_input_time() -> None:
    forward, backward = lg.trace(g1_lstm(bidirectional=True), X)
    assert [forward.layer.direction, backward.layer.direction] == ["forward", "backward"]
    close(forward.hidden_state, G1["hidden_state"])
    close(backward.hidden_state, G1_BACKWARD)
    close(backward.final_cell_state, 2.141613)
    for gate in ("input", "forget", "output"):
        close(backward.gates[gate][0, 2], 0.952574)
    close(backward.gates["candidate"][0, 2], 0.995055)


def test_g1l2_two_levels() -> None:
    module = g1_lstm(num_layers=2)
    _, (h_n, c_n) = module(X)
    lower, upper = lg.trace(module, X)
    close(lower.hidden_state, G1["hidden_state"])
    close(upper.hidden_state, (0.121902, 0.392109, 0.606613))
    finals = [(each.final_hidden_state, each.final_cell_state) for each in (lower, upper)]
    close([h for h, _ in finals], (0.948218, 0.606613))
    close([c for _, c in finals], (2.297615, 1.098037))
    close(h_n, [h for h, _ in finals])
    close(c_n, [c for _, c in finals])


def test_g1s_initial_state() -> None:
    ones = torch.ones(1, 1, 1)
    (trace,) = lg.trace(g1_lstm(), X, (ones, ones))
    close(trace.hidden_state, (0.748106, 0.897465, 0.966102))
    for gate in ("input", "forget", "output"):
        close(trace.gates[gate][0, 0], 0.817574)
    close(trace.gates["candidate"][0, 0], 0.905148)
    assert trace.difference < 1e-6


def with_gate_biases(module: Any, biases: list[float]) -> Any:
    """All kernels 0, and half of each gate's bias in each of torch's two biases."""
    with torch.no_grad():
        for name, parameter in module.named_parameters():
            parameter.copy_(
                torch.tensor(biases) / 2 if name.startswith("bias") else 0.0 * parameter
            )
    return module


@pytest.mark.parametrize("make", [nn.LSTM, nn.LSTMCell])
def test_g2_any_swap_of_gates_is_visible(make: Any) -> None:
    module = with_gate_biases(make(1, 1), [LN3, 0.0, 1.0, -LN3])
    with lg.record(module) as recording:
        if make is nn.LSTM:
            module(torch.randn(3, 1, 1))
        else:
            state = None
            for x in torch.randn(3, 1, 1):
                state = module(x, state)
    (trace,) = recording.traces()
    for gate, expected in zip(trace.layer.gates, (0.75, 0.5, 0.761594, 0.25), strict=True):
        close(trace.gates[gate], [expected] * 3)
    close(trace.cell_state, (0.571196, 0.856793, 0.999592))
    close(trace.hidden_state, (0.129059, 0.173650, 0.190356))
    close(trace.layer.bias["input"], LN3)  # both parts
    assert trace.difference < 1e-6


def test_g3_the_reset_gate_scales_the_recurrent_product() -> None:
    module = nn.GRU(1, 1, batch_first=True)
    with torch.no_grad():
        module.weight_ih_l0.zero_()
        module.weight_hh_l0.copy_(torch.tensor([[0.0], [0.0], [1.0]]))
        module.bias_ih_l0.copy_(torch.tensor([0.0, LN3, 1.0]))  # r, z, n
        module.bias_hh_l0.copy_(torch.tensor([0.0, 0.0, 2.0]))
    (trace,) = lg.trace(module, X[:, :2])
    close(trace.gates["reset"], [0.5] * 2)
    close(trace.gates["update"], [0.75] * 2)
    close(trace.gates["candidate"], (0.964028, 0.971622))
    close(trace.hidden_state, (0.241007, 0.423661))
    close(trace.layer.bias["candidate"], 1)
    close(trace.layer.recurrent_bias["candidate"], 2)
    assert trace.difference < 1e-6


@pytest.mark.parametrize(
    ("module", "means"),
    [
        (nn.LSTM(2, 3), {"input": 1, "forget": 2, "candidate": 3, "output": 4}),
        (nn.LSTMCell(2, 3), {"input": 1, "forget": 2, "candidate": 3, "output": 4}),
        (nn.GRU(2, 3), {"reset": 1, "update": 2, "candidate": 3}),
        (nn.GRUCell(2, 3), {"reset": 1, "update": 2, "candidate": 3}),
    ],
)
def test_g4_storage_order(module: Any, means: dict[str, int]) -> None:
    with torch.no_grad():
        next(module.parameters()).copy_(
            torch.arange(1.0, len(means) + 1).repeat_interleave(3)[:, None]
        )
    (layer,) = lg.recurrent_layers(module)
    assert {gate: kernel.mean() for gate, kernel in layer.kernel.items()} == means
    assert list(layer.kernel) == list(layer.gates)


def g8(**options: Any) -> PackedSequence:
    padded = torch.tensor([[1.0, 2.0, 0.0], [1.0, 2.0, 3.0]])[..., None]
    return pack_padded_sequence(
        padded, torch.tensor([2, 3]), batch_first=True, enforce_sorted=False, **options
    )


def test_f1_g8_packed_rows_are_in_the_callers_order() -> None:
    module = g1_lstm()
    packed, (h_n, _) = module(g8())
    close(packed.data, (0.369606, 0.369606, 0.791236, 0.791236, 0.948218))
    assert packed.batch_sizes.tolist() == [2, 2, 1]
    (trace,) = lg.trace(module, g8())
    assert trace.mask.tolist() == [[True, True, False], [True] * 3]
    close(trace.hidden_state, (0.369606, 0.791236, np.nan, 0.369606, 0.791236, 0.948218))
    close(trace.final_hidden_state, (0.791236, 0.948218))
    close(h_n, trace.final_hidden_state)
    for gate in trace.gates.values():
        assert np.isnan(gate[0, 2]).all()
    assert trace.difference < 1e-6


def test_e1_e2_each_direction_ends_at_its_own_end() -> None:
    module = g1_lstm(bidirectional=True)
    _, (h_n, _) = module(X)
    forward, backward = lg.trace(module, X)
    close(forward.hidden_state, G1["hidden_state"])
    close(backward.hidden_state, G1_BACKWARD)
    close([forward.final_hidden_state, backward.final_hidden_state], (0.948218, 0.784998))
    close(h_n, (0.948218, 0.784998))
