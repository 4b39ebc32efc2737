"""Backpropagation through time: what the loss says to every gate and state of a trace."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from lstm_gates_plugin.cells import gru, lstm, mgu, simple
from lstm_gates_plugin.cells.back import Returned, Taken, by_input_time, in_reading_order
from lstm_gates_plugin.fused import Array
from lstm_gates_plugin.gate_trace import GateTrace
from lstm_gates_plugin.gradients import Gradients

_BACK: Mapping[str, Callable[[Taken, Array, tuple[Array, Array]], Returned]] = {
    "lstm": lstm.back,
    "gru": gru.back,
    "mgu": mgu.back,
    "simple_rnn": simple.back,
}


def backward(
    trace: GateTrace,
    inputs: Array,
    output_gradient: Array | None,
    final_gradient: tuple[Array | None, ...] = (),
) -> Gradients:
    """Carry the gradient of a loss back through a layer (Werbos 1990; for the LSTM, Graves 2005).

    Args:
        trace: what the layer did.
        inputs: what it read, `[batch, time, input_size]`.
        output_gradient: the gradient by the layer's output at each timestep, by input time,
            `[batch, time, recurrent_size]`. At masked timesteps it is not looked at. `None` where
            the loss depends on no output.
        final_gradient: the gradient by the states after the last timestep, `(hidden,)` or
            `(hidden, cell)`, each `[batch, size]` or `None`.

    Raises:
        ValueError: the equations of the layer's cell are not known, or the derivative of one of its
            activation functions is not; or a gradient has not the shape of what it is of.
    """
    layer = trace.layer
    if layer.cell not in _BACK:
        raise ValueError(
            f"the gradients of layer {layer.id!r} cannot be computed: the equations of its cell "
            "are not known."
        )
    taken = Taken.of(trace)
    arriving = np.zeros_like(taken.hidden[1:])
    if output_gradient is not None:
        _check_shape(layer.id, output_gradient, trace.hidden_state)
        given = in_reading_order(layer, np.asarray(output_gradient, arriving.dtype))
        arriving = given if taken.mask is None else np.where(taken.mask[..., None], given, 0)
    hidden, cell = _final(trace, final_gradient)
    arriving, hidden = _at_the_last_timestep(taken, arriving, hidden)
    with np.errstate(over="ignore", invalid="ignore"):  # exploding gradients are for users to see
        returned = _BACK[layer.cell](taken, arriving, (hidden, cell))
        return _gradients(trace, taken, returned, np.asarray(inputs, arriving.dtype), arriving)


def carry_back(taken: Taken, arriving: Array) -> Array:
    """The total gradient by the hidden state at each timestep, and no more.

    Args:
        taken: what the layer did.
        arriving: the gradient by its output, in the order of reading, `[time, ..., batch,
            recurrent_size]`: axes between time and batch hold several gradients of one batch.
    """
    size = (*arriving.shape[1:-1], taken.layer.units)
    nothing = np.zeros(arriving.shape[1:], arriving.dtype), np.zeros(size, arriving.dtype)
    with np.errstate(over="ignore", invalid="ignore"):
        return _BACK[taken.layer.cell](taken, arriving, nothing).hidden


def _final(trace: GateTrace, given: tuple[Array | None, ...]) -> tuple[Array, Array]:
    hidden = np.zeros_like(trace.final_hidden_state)
    finals = [hidden, np.zeros((len(hidden), trace.layer.units), hidden.dtype)]
    for number, gradient in enumerate(given):
        if gradient is not None:
            _check_shape(trace.layer.id, gradient, finals[number])
            finals[number] = np.asarray(gradient, hidden.dtype)
    return finals[0], finals[1]


def _at_the_last_timestep(taken: Taken, arriving: Array, hidden: Array) -> tuple[Array, Array]:
    """Let the gradient by the final hidden state arrive where that state comes from.

    Returns:
        What arrives at each timestep, and what is left: the gradient of rows that were not run.
    """
    time, batch = arriving.shape[:2]
    ran = np.ones((time, batch), bool) if taken.mask is None else taken.mask
    rows = np.flatnonzero(ran.any(axis=0))
    last = time - 1 - ran[::-1].argmax(axis=0) if time else rows
    arriving, left = arriving.copy(), hidden.copy()
    arriving[last[rows], rows] += hidden[rows]
    left[rows] = 0
    return arriving, left


def _check_shape(id: str, gradient: Array, of: Array) -> None:
    if np.shape(gradient) != of.shape:
        raise ValueError(
            f"the gradient by a state of layer {id!r} must have the shape {of.shape}, and "
            f"{np.shape(gradient)} was given."
        )


def _gradients(
    trace: GateTrace, taken: Taken, returned: Returned, inputs: Array, arriving: Array
) -> Gradients:
    layer = trace.layer

    def over_time(array: Array) -> Array:
        arranged = by_input_time(layer, array).copy()
        arranged[~trace.mask] = np.nan
        return arranged

    dz = returned.preactivations
    x = in_reading_order(layer, inputs)
    if taken.mask is not None:  # padding may be anything
        x = np.where(taken.mask[..., None], x, 0)
    products = {gate: returned.products.get(gate, dz[gate]) for gate in layer.gates}
    read = {gate: returned.recurrent_inputs.get(gate, taken.hidden[:-1]) for gate in layer.gates}
    sums = {gate: dz[gate].sum(axis=(0, 1)) for gate in layer.gates}
    own = lstm.own_weights(taken, returned) if layer.cell == "lstm" else {}
    return Gradients(
        output=over_time(arriving),
        hidden_state=over_time(returned.hidden),
        cell_state=None if returned.cell is None else over_time(returned.cell),
        preactivations={gate: over_time(dz[gate]) for gate in layer.gates},
        inputs=over_time(sum_of_products(dz, layer.kernel)),
        initial_hidden_state=returned.first_hidden,
        initial_cell_state=returned.first_cell,
        kernel={gate: outer(x, dz[gate]) for gate in layer.gates},
        recurrent_kernel={gate: outer(read[gate], products[gate]) for gate in layer.gates},
        bias=None if layer.bias is None else sums,
        recurrent_bias=None
        if layer.recurrent_bias is None
        else {gate: products[gate].sum(axis=(0, 1)) for gate in layer.recurrent_bias},
        peephole=None
        if layer.peephole is None
        else {gate: own[f"peephole/{gate}"] for gate in layer.peephole},
        projection=own.get("projection"),
    )


def outer(rows: Array, columns: Array) -> Array:
    """The sum over time and batch of all outer products, `(row size, column size)`."""
    product: Array = rows.reshape(-1, rows.shape[-1]).T @ columns.reshape(-1, columns.shape[-1])
    return product


def sum_of_products(gradients: Mapping[str, Array], kernels: Mapping[str, Array]) -> Array:
    """What comes back through the kernels of all gates."""
    products: Array = np.add.reduce([gradients[gate] @ kernels[gate].T for gate in gradients])
    return products
