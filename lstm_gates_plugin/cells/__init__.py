"""The equations of the recurrent cells, in NumPy: what went into a layer gives what it did inside.

`forward` turns a layer and its inputs into a `GateTrace`. It handles what all cells share (the
order of time, masks, dtype); each cell's own module holds the only copy of its equations.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from lstm_gates_plugin.cells import gru, lstm, mgu, simple
from lstm_gates_plugin.cells.steps import Run, Steps
from lstm_gates_plugin.fused import Array
from lstm_gates_plugin.gate_trace import GateTrace
from lstm_gates_plugin.layer import RecurrentLayer

_RUNNERS: Mapping[str, Callable[[RecurrentLayer, Steps], Run]] = {
    "lstm": lstm.run,
    "gru": gru.run,
    "mgu": mgu.run,
    "simple_rnn": simple.run,
}


def forward(
    layer: RecurrentLayer,
    inputs: Array,
    mask: Array | None = None,
    initial_state: tuple[Array, ...] | None = None,
) -> GateTrace:
    """Run a layer over sequences and keep every gate and state.

    Computed in float32, or in float64 where the layer's weights are.

    Args:
        layer: the layer; its cell must not be `"unknown"`.
        inputs: `[batch, time, input_size]`.
        mask: `[batch, time]`, true where a timestep is to be run. At the others the state is
            carried on and the trace reads NaN. `None` runs all of them.
        initial_state: `(hidden,)` or, for an LSTM, `(hidden, cell)`, as
            `[batch, recurrent_size]` and `[batch, units]`. `None` starts from zero.

    Returns:
        The trace, as call 0.

    Raises:
        ValueError: the cell is unknown, or a shape does not fit the layer.
    """
    if layer.cell not in _RUNNERS:
        raise ValueError(
            f"layer {layer.id!r} has a cell whose equations are not known, so its gates cannot be "
            "computed."
        )
    dtype = next(iter(layer.kernel.values())).dtype
    x = np.asarray(inputs, dtype=dtype)
    if x.ndim != 3 or x.shape[2] != layer.input_size:
        raise ValueError(
            f"the inputs of layer {layer.id!r} must have the shape [batch, time, "
            f"{layer.input_size}], and {x.shape} was given."
        )
    batch, time = x.shape[:2]
    ran = np.ones((batch, time), dtype=bool) if mask is None else np.array(mask, dtype=bool)
    if ran.shape != (batch, time):
        raise ValueError(
            f"the mask of layer {layer.id!r} must have the shape [{batch}, {time}], and "
            f"{ran.shape} was given."
        )
    hidden, cell = _initial_state(layer, batch, initial_state, dtype)
    order = slice(None, None, -1) if layer.direction == "backward" else slice(None)
    steps = Steps(
        # Time first, in the order in which the layer reads it.
        x.transpose(1, 0, 2)[order],
        None if ran.all() else ran.T[order],
        hidden,
        cell,
    )
    with np.errstate(over="ignore", invalid="ignore"):  # an exploding state is for the user to see
        run = _RUNNERS[layer.cell](layer, steps)

    def by_input_time(array: Array) -> Array:
        arranged: Array = array[order].transpose(1, 0, 2).copy()
        arranged[~ran] = np.nan
        return arranged

    def final(array: Array, initial: Array) -> Array:
        return array[-1].copy() if time else initial.copy()

    return GateTrace(
        layer=layer,
        call=0,
        gates={gate: by_input_time(run.gates[gate]) for gate in layer.gates},
        preactivations={gate: by_input_time(run.preactivations[gate]) for gate in layer.gates},
        hidden_state=by_input_time(run.hidden),
        cell_state=None if run.cell is None else by_input_time(run.cell),
        mask=ran,
        final_hidden_state=final(run.hidden, hidden),
        final_cell_state=None if run.cell is None else final(run.cell, cell),
        initial_hidden_state=hidden,
        initial_cell_state=None if run.cell is None else cell,
    )


def _initial_state(
    layer: RecurrentLayer, batch: int, given: tuple[Array, ...] | None, dtype: np.dtype
) -> tuple[Array, Array]:
    """The initial hidden and cell state; the latter is used by an LSTM alone."""
    shapes = [(batch, layer.recurrent_size), (batch, layer.units)]
    if given is None:
        return np.zeros(shapes[0], dtype), np.zeros(shapes[1], dtype)
    expected = shapes if layer.cell == "lstm" else shapes[:1]
    states = [np.array(state, dtype=dtype) for state in given]
    if [state.shape for state in states] != expected:
        raise ValueError(
            f"the initial state of layer {layer.id!r} must have the shapes {expected}, and "
            f"{[state.shape for state in states]} was given."
        )
    return states[0], states[1] if len(states) > 1 else np.zeros(shapes[1], dtype)
