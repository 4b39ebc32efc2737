"""The matrix on PyTorch: every module in every form of input equals torch's own.

The hidden states and final states of every layer are compared with what a chain of modules of one
level each returns, which itself ends in what the whole module returns; and with two gate blocks
swapped they must differ.
"""

from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch.nn.utils.rnn import PackedSequence, pad_packed_sequence

import lstm_gates_plugin as lg
from helpers.matrix import FORMS, TABLE_OF_FORMS, documented_rows, swapped
from helpers.torch_matrix import ARRANGEMENTS, CELLS, INPUTS, SIZE, initial_states
from helpers.torch_modules import close
from lstm_gates_plugin.cells import forward

DOCUMENT = Path(__file__).parents[2] / "docs" / "matrix.md"
LIMIT = 1e-5


def run(module: Any, inputs: Any, states: list[torch.Tensor]) -> tuple[Any, list[torch.Tensor]]:
    """The output and the final states of a module, those as a list."""
    output, finals = module(inputs, tuple(states) if len(states) > 1 else states[0])
    return output, list(finals) if len(states) > 1 else [finals]


def chain(module: Any, make: Any, inputs: Any, states: list[torch.Tensor]) -> Any:
    """Each level's inputs, output and final states, as modules of one level have them."""
    directions = 2 if module.bidirectional else 1
    for level in range(module.num_layers):
        data = inputs.data if isinstance(inputs, PackedSequence) else inputs
        single = make(
            data.shape[-1], SIZE, bias=module.bias, batch_first=True, bidirectional=directions == 2
        )
        level_weights = {
            name.replace(f"_l{level}", "_l0"): value
            for name, value in module.state_dict().items()
            if f"_l{level}" in name
        }
        single.load_state_dict(level_weights)
        which = slice(level * directions, (level + 1) * directions)
        output, finals = run(single, inputs, [state[which] for state in states])
        yield inputs, output, finals
        inputs = output


def dense(value: Any) -> np.ndarray:
    """`[batch, time, size]`, whatever the form."""
    if isinstance(value, PackedSequence):
        value, _ = pad_packed_sequence(value, batch_first=True)
    array: np.ndarray = value.detach().numpy()
    return array if array.ndim == 3 else array[None]


def difference(trace: Any, hidden: np.ndarray, finals: list[np.ndarray]) -> float:
    """From torch's hidden state at every timestep that was run, and its final states."""
    apart = [np.abs(trace.hidden_state - hidden)[trace.mask].max()]
    ours = [trace.final_hidden_state, trace.final_cell_state]
    apart += [np.abs(a - b).max() for a, b in zip(ours, finals, strict=False)]
    return float(max(apart))


@pytest.mark.parametrize("arrangement", ARRANGEMENTS, ids=lambda each: each[0])
@pytest.mark.parametrize("cell", CELLS)
def test_states_equal_torchs_own(cell: str, arrangement: Any) -> None:
    name, count, both, bias = arrangement
    make = CELLS[cell]
    module = make(SIZE, SIZE, count, bias=bias, batch_first=True, bidirectional=both)
    for form in FORMS:
        states = initial_states(module, form)
        given = tuple(states) if len(states) > 1 else states[0]
        traces = iter(lg.trace(module, INPUTS[form], given))
        for level, (inputs, output, finals) in enumerate(chain(module, make, INPUTS[form], states)):
            for direction in range(2 if both else 1):
                trace, number = next(traces), level * (2 if both else 1) + direction
                size = trace.layer.recurrent_size
                hidden = dense(output)[..., direction * size : (direction + 1) * size]
                ends = [final[direction].detach().numpy() for final in finals]
                apart = difference(trace, hidden, ends)
                TABLE_OF_FORMS.add("PyTorch", cell, name, form, apart)
                assert apart < LIMIT
                assert trace.difference < LIMIT
                if trace.layer.input_size != SIZE and len(trace.layer.gates) == 1:
                    continue  # of other shapes, its kernels cannot be swapped
                start = tuple(np.atleast_2d(state[number].numpy()) for state in states)
                wrong = forward(swapped(trace.layer), dense(inputs), trace.mask, start)
                assert difference(wrong, hidden, ends) > 100 * LIMIT
        assert next(traces, None) is None
        own, own_finals = run(module, INPUTS[form], states)
        close(dense(output), dense(own))  # the chain is the module
        for final, own_final in zip(finals, own_finals, strict=True):
            close(final, own_final[-len(final) :])


def test_the_documented_table_has_these_rows() -> None:
    combinations = {(cell, name) for cell, (name, *_) in product(CELLS, ARRANGEMENTS)}
    assert documented_rows(DOCUMENT, "PyTorch", TABLE_OF_FORMS) == combinations
