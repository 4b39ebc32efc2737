"""Calls: cells in the user's loop, states carried on, packed, unbatched and empty inputs."""

from functools import partial
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pack_sequence, pad_packed_sequence

import lstm_gates_plugin as lg
from helpers.torch_modules import G1, close, g1, g1_lstm, randomized, sequence, values
from lstm_gates_plugin import capture
from lstm_gates_plugin.cells import forward

X = sequence(1, 2, 3)


class Loop(nn.Module):
    """A cell that is called once for each timestep, `[batch, time, size]`."""

    def __init__(self, cell: nn.Module, states: int = 1) -> None:
        super().__init__()
        self.cell = cell

    def forward(self, x: torch.Tensor, state: Any = None) -> torch.Tensor:
        outputs = []
        for t in range(x.shape[1]):
            state = self.cell(x[:, t], state)
            outputs.append(state[0] if isinstance(state, tuple) else state)
        return torch.stack(outputs, dim=1)


class Decoder(nn.Module):
    """A whole layer that is called for one timestep at a time, fed with what it put out."""

    def __init__(self, rnn: nn.Module, steps: int) -> None:
        super().__init__()
        self.rnn, self.steps = rnn, steps

    def forward(self, x: torch.Tensor, state: Any = None) -> tuple[torch.Tensor, Any]:
        outputs = []
        for _ in range(self.steps):
            x, state = self.rnn(x, state)
            outputs.append(x)
        return torch.cat(outputs, dim=1), state


def test_d4_every_cell_state_and_the_users_output_as_it_was() -> None:
    module = g1_lstm()
    before, _ = module(X)
    (trace,) = lg.trace(module, X)
    close(trace.cell_state, G1["cell_state"])
    for gate in trace.gates:
        close(trace.gates[gate], G1[gate])
    with lg.record(module):
        inside, _ = module(X)
    after, _ = module(X)
    for other in (inside, after):
        torch.testing.assert_close(other, before, rtol=0, atol=0)


def test_d6_a_cell_in_a_loop_is_one_sequence() -> None:
    model = Loop(g1(nn.LSTMCell(1, 1)))
    (trace,) = lg.trace(model, X)
    assert (trace.layer.id, trace.call) == ("cell", 0)
    for name, expected in G1.items():
        assert values(trace, name).shape == (1, 3, 1)
        close(values(trace, name), expected)
    assert trace.difference < 1e-6


def test_d6_two_forward_passes_are_two_sequences() -> None:
    model = Loop(g1(nn.LSTMCell(1, 1)))
    with lg.record(model) as recording:
        model(X)
        model(X)
        zeros = torch.zeros(1, 1)
        model(X, (zeros, zeros))
    traces = recording.traces()
    assert [trace.call for trace in traces] == [0, 1, 2]
    for trace in traces:
        close(trace.hidden_state, G1["hidden_state"])


@pytest.mark.parametrize(
    "make",
    [nn.LSTMCell, nn.GRUCell, nn.RNNCell, partial(nn.RNNCell, nonlinearity="relu")],
)
@pytest.mark.parametrize("bias", [True, False])
def test_cells_equal_torchs_own(make: Any, bias: bool) -> None:
    cell = randomized(make(3, 4, bias=bias))
    model = Loop(cell)
    x = torch.randn(2, 6, 3)
    (trace,) = lg.trace(model, x)
    close(trace.hidden_state, model(x))
    assert (trace.layer.bias is None) is not bias
    assert trace.difference < 1e-5


def test_unbatched_cells() -> None:
    cell = randomized(nn.GRUCell(3, 4))
    x = torch.randn(5, 3)
    with lg.record(cell) as recording:
        states = [None]
        for t in range(5):
            states.append(cell(x[t], states[-1]))
    (trace,) = recording.traces()
    assert trace.hidden_state.shape == (1, 5, 4)
    close(trace.hidden_state, torch.stack(states[1:]))


@pytest.mark.parametrize("layers", [1, 2])
def test_a_layer_that_is_called_for_each_timestep_is_one_sequence(layers: int) -> None:
    rnn = randomized(nn.LSTM(3, 3, layers, batch_first=True))
    model = Decoder(rnn, steps=5)
    x = torch.randn(2, 1, 3)
    traces = lg.trace(model, x)
    own, (h_n, c_n) = model(x)
    assert len(traces) == layers
    close(traces[-1].hidden_state, own)
    close([trace.final_hidden_state for trace in traces], h_n)
    close([trace.final_cell_state for trace in traces], c_n)
    assert all(trace.difference < 1e-5 for trace in traces)


def test_a_sequence_that_goes_on_in_stretches_is_one() -> None:
    rnn = randomized(nn.GRU(3, 4, batch_first=True))
    x = torch.randn(2, 9, 3)
    with lg.record(rnn) as recording:
        state, whole = None, []
        for stretch in x.split(3, dim=1):
            output, state = rnn(stretch, state)
            whole.append(output)
    (trace,) = recording.traces()
    close(trace.hidden_state, torch.cat(whole, dim=1))
    close(trace.hidden_state, rnn(x)[0])


@pytest.mark.parametrize("layers", [1, 2])
def test_a_backward_layer_starts_each_stretch_from_its_own_end(layers: int) -> None:
    rnn = randomized(nn.LSTM(3, 4, layers, bidirectional=True, batch_first=True))
    x = torch.randn(2, 7, 3)
    with lg.record(rnn) as recording:
        first, state = rnn(x[:, :4])
        second, _ = rnn(x[:, 4:], state)
        loss = (first * torch.arange(4)[:, None]).sum() + second.pow(2).sum()
    for traces in (recording.traces(), recording.traces(loss=loss)):
        assert [trace.difference < 1e-5 for trace in traces] == [True] * len(traces)
        forward_layer, one, other = (trace for trace in traces if trace.layer.id in top(layers))
        assert (one.call, other.call) == (0, 1)
        close(forward_layer.hidden_state, torch.cat([first, second], dim=1)[..., :4])
        close(one.hidden_state, first[..., 4:])
        close(other.hidden_state, second[..., 4:])
        close(other.initial_hidden_state, state[0][-1])
    # At its last one, the first of the input, what comes back from the next stretch arrives too.
    close(one.gradients.output[:, 1:], torch.arange(1, 4)[:, None].expand(2, 3, 4))
    close(other.gradients.output, 2 * second[..., 4:])
    loss.backward()
    stored = getattr(rnn, f"weight_hh_l{layers - 1}_reverse").grad.chunk(4)[1].T
    both = one.gradients.recurrent_kernel["forget"] + other.gradients.recurrent_kernel["forget"]
    close(both, stored, atol=1e-4)


def top(layers: int) -> tuple[str, str]:
    """The ids of the two layers of the top level."""
    id = "lstm_0" if layers == 1 else f"lstm_0/layer_{layers - 1}"
    return f"{id}/forward", f"{id}/backward"


def test_a_sequence_is_not_continued_by_another_that_starts_from_zero() -> None:
    rnn = nn.RNN(3, 4, nonlinearity="relu", batch_first=True)
    cell = nn.RNNCell(3, 4, nonlinearity="relu")
    with torch.no_grad():
        for parameter in (*rnn.parameters(), *cell.parameters()):
            parameter.fill_(-1)  # no unit is ever above zero
    x = torch.ones(2, 5, 3)
    zero = torch.zeros(1, 2, 4)
    with lg.record(rnn) as recording:
        for _ in range(2):
            rnn(x, zero)
        _, state = rnn(x)
        rnn(x, state)
    shapes = [trace.hidden_state.shape for trace in recording.traces()]
    assert shapes == [(2, 5, 4), (2, 5, 4), (2, 10, 4)]
    (trace,) = lg.trace(Loop(cell), x)
    assert trace.hidden_state.shape == (2, 5, 4)
    assert trace.difference == 0


@pytest.mark.parametrize("samples", [None, 2])
def test_a_batch_that_shrinks_is_new_calls_whatever_is_kept(samples: int | None) -> None:
    class Shrinks(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.cell = randomized(nn.LSTMCell(3, 4))

        def forward(self, x: torch.Tensor, lengths: list[int]) -> None:
            h = c = torch.zeros(len(x), 4)
            for t in range(max(lengths)):
                rows = sum(length > t for length in lengths)
                h, c = self.cell(x[:rows, t], (h[:rows], c[:rows]))

    given = torch.randn(6, 5, 3), [5, 5, 5, 4, 3, 2]
    traces, _ = capture.observe(Shrinks(), given, {}, samples)
    assert [trace.mask.shape[1] for trace in traces] == [2, 1, 1, 1]
    assert [trace.rows for trace in traces] == [6, 5, 4, 3]


def test_a_model_that_differentiates_by_itself() -> None:
    class Slope(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.rnn = randomized(nn.LSTM(3, 4))

        def forward(self, x: torch.Tensor) -> Any:
            x = x.detach().requires_grad_()
            return torch.autograd.grad(self.rnn(x)[0].sum(), x)[0]

    model, x = Slope(), torch.randn(5, 2, 3)
    (trace,), outputs = capture.observe(model, (x,), {}, None)
    close(outputs, model(x))
    assert trace.difference < 1e-5


def test_a_decoder_does_not_continue_its_encoder() -> None:
    class Both(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.encoder = randomized(nn.LSTM(3, 4))
            self.decoder = randomized(nn.LSTM(3, 4), seed=1)

        def forward(self, x: torch.Tensor) -> Any:
            return self.decoder(x, self.encoder(x)[1])

    encoder, decoder = lg.trace(Both(), torch.randn(6, 2, 3))
    assert [encoder.layer.id, decoder.layer.id] == ["encoder", "decoder"]
    close(decoder.initial_hidden_state, encoder.final_hidden_state)
    close(decoder.initial_cell_state, encoder.final_cell_state)
    assert decoder.difference < 1e-5


def test_e10_unbatched_input_is_a_batch_of_one() -> None:
    module = randomized(nn.LSTM(3, 4, 2, bidirectional=True))
    x = torch.randn(5, 3)
    own, (h_n, c_n) = module(x)
    traces = lg.trace(module, x)
    assert [trace.hidden_state.shape for trace in traces] == [(1, 5, 4)] * 4
    close(np.concatenate([trace.hidden_state for trace in traces[2:]], axis=-1), own)
    close([trace.final_hidden_state for trace in traces], h_n)
    close([trace.final_cell_state for trace in traces], c_n)


def test_e10_unbatched_input_with_a_given_initial_state() -> None:
    ones = torch.ones(1, 1)
    (trace,) = lg.trace(g1_lstm(), X[0], (ones, ones))
    close(trace.hidden_state, (0.748106, 0.897465, 0.966102))


def test_e4_the_same_data_time_first_gives_the_same_trace() -> None:
    first = nn.LSTM(256, 512, batch_first=True)
    time_major = nn.LSTM(256, 512)
    time_major.load_state_dict(first.state_dict())
    x = torch.randn(60, 8, 256)
    (a,), (b,) = lg.trace(first, x), lg.trace(time_major, x.transpose(0, 1))
    assert a.hidden_state.shape == (60, 8, 512)
    assert a.final_hidden_state.shape == (60, 512)
    for name, array in a.parts().items():
        close(array, b.parts()[name], atol=0)
    _, (h_n, _) = first(x)
    close(a.final_hidden_state, h_n)


@pytest.mark.parametrize("batch_first", [True, False])
@pytest.mark.parametrize("sort", [True, False])
def test_packed_sequences_equal_each_sequence_by_itself(batch_first: bool, sort: bool) -> None:
    module = randomized(nn.GRU(3, 4, 2, bidirectional=True, batch_first=batch_first))
    sequences = [torch.randn(length, 3) for length in ([6, 4, 2] if sort else [2, 6, 4])]
    traces = lg.trace(module, pack_sequence(sequences, enforce_sorted=sort))
    assert all(trace.difference < 1e-5 for trace in traces)
    for row, x in enumerate(sequences):
        alone = lg.trace(module, x)
        for trace, single in zip(traces, alone, strict=True):
            assert trace.mask[row].sum() == len(x)
            close(trace.hidden_state[row, : len(x)], single.hidden_state)
            close(trace.final_hidden_state[row], single.final_hidden_state)
            assert np.isnan(trace.hidden_state[row, len(x) :]).all()


def test_packed_sequences_with_initial_states_in_the_callers_order() -> None:
    module = randomized(nn.LSTM(3, 4))
    sequences = [torch.randn(length, 3) for length in (2, 5, 3)]
    states = (torch.randn(1, 3, 4), torch.randn(1, 3, 4))
    (trace,) = lg.trace(module, pack_sequence(sequences, enforce_sorted=False), states)
    close(trace.initial_hidden_state, states[0])
    assert trace.difference < 1e-5


def test_lengths_are_handed_on_to_the_models_own_call() -> None:
    class Net(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.rnn = g1_lstm()

        def forward(self, x: Any, *, lengths: Any) -> Any:
            packed = pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
            return pad_packed_sequence(self.rnn(packed)[0], batch_first=True)[0]

    padded = np.array([[1, 2, 0], [1, 2, 3]], dtype="float32")[..., None]
    (trace,) = lg.trace(Net(), padded, lengths=np.array([2, 3]))
    assert trace.mask.sum(axis=1).tolist() == [2, 3]
    close(trace.hidden_state[1], G1["hidden_state"])


def test_rows_beyond_the_samples_are_run_but_not_traced() -> None:
    module = randomized(nn.LSTM(3, 4, 2, batch_first=True))
    x = torch.randn(5, 6, 3)
    traces, outputs = capture.observe(module, (x,), {}, 2)
    assert [(trace.rows, len(trace.hidden_state)) for trace in traces] == [(5, 2)] * 2
    close(traces[-1].hidden_state, module(x)[0][:2])
    assert outputs[0].shape == (5, 6, 4)
    assert all(trace.difference < 1e-5 for trace in traces)


def test_f10_an_empty_batch_is_an_empty_trace() -> None:
    module = nn.LSTM(3, 4, 2, batch_first=True)
    lower, upper = lg.trace(module, torch.zeros(0, 5, 3))
    assert lower.hidden_state.shape == upper.hidden_state.shape == (0, 5, 4)
    (trace,) = lg.trace(Loop(nn.LSTMCell(3, 4)), torch.zeros(0, 5, 3))
    assert trace.hidden_state.shape == (0, 5, 4)


def test_f10_no_timesteps_is_the_users_own_error() -> None:
    module = nn.LSTM(3, 4, batch_first=True)
    with pytest.raises(RuntimeError, match="Expected sequence length to be larger than 0 in RNN"):
        lg.trace(module, torch.zeros(2, 0, 3))

    class Packs(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.rnn = module

        def forward(self, x: torch.Tensor, lengths: list[int]) -> Any:
            return self.rnn(pack_padded_sequence(x, lengths, batch_first=True))

    with pytest.raises(RuntimeError, match="Length of all samples has to be greater than 0"):
        lg.trace(Packs(), torch.zeros(2, 3, 3), [3, 0])


def test_c4_a_gru_is_kerass_when_its_weights_are_converted() -> None:
    """Keras stores update before reset, transposed, and its two biases as rows of one."""
    module = randomized(nn.GRU(3, 4, batch_first=True))
    x = torch.randn(2, 5, 3)
    (trace,) = lg.trace(module, x)

    def to_keras(weight: torch.Tensor) -> np.ndarray:
        reset, update, candidate = weight.detach().numpy().reshape(3, 4, -1)
        return np.concatenate([update, reset, candidate]).T.squeeze()

    layer = lg.RecurrentLayer.from_arrays(
        "gru",
        to_keras(module.weight_ih_l0),
        to_keras(module.weight_hh_l0),
        to_keras(module.bias_ih_l0),
        recurrent_bias=to_keras(module.bias_hh_l0),
        gate_order="zrh",
        reset_after=True,
    )
    keras = forward(layer, x.numpy())
    for name, array in trace.parts().items():
        close(array, keras.parts()[name])


def test_c9_one_orientation_for_every_framework() -> None:
    module = nn.LSTM(2, 9)
    with torch.no_grad():
        module.weight_ih_l0[9 + 3, 1] = 7.0  # the forget gate, unit 3, input 1
    (layer,) = lg.recurrent_layers(module)
    assert {kernel.shape for kernel in layer.kernel.values()} == {(2, 9)}
    assert {kernel.shape for kernel in layer.recurrent_kernel.values()} == {(9, 9)}
    assert layer.kernel["forget"][1, 3] == 7


def test_a8_a_shared_layer_is_one_layer_with_numbered_calls() -> None:
    class Siamese(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.rnn = randomized(nn.LSTM(3, 4, batch_first=True))

        def forward(self, a: torch.Tensor, b: torch.Tensor) -> Any:
            return self.rnn(a)[0], self.rnn(b)[0]

    model = Siamese()
    a, b = torch.randn(2, 5, 3), torch.randn(2, 5, 3)
    first, second = lg.trace(model, a, b)
    assert [first.call, second.call] == [0, 1]
    for trace, own in zip((first, second), model(a, b), strict=True):
        close(trace.hidden_state, own)
