"""The LSTM, with run-time forget bias, peepholes, projection and clipping."""

from __future__ import annotations

import numpy as np

from lstm_gates_plugin.cells.back import Returned, Taken
from lstm_gates_plugin.cells.slopes import pullback
from lstm_gates_plugin.cells.steps import Run, Steps, function, fuse, input_products, views
from lstm_gates_plugin.fused import Array
from lstm_gates_plugin.layer import RecurrentLayer


def run(layer: RecurrentLayer, steps: Steps) -> Run:
    """Run an LSTM (Hochreiter & Schmidhuber 1997; forget gate, Gers et al. 2000).

        i = s(x W_i + h U_i + b_i + p_i * c)
        f = s(x W_f + h U_f + b_f + p_f * c + forget_bias)
        g = a(x W_g + h U_g + b_g)
        c' = f * c + i * g, clipped to +-cell_clip
        o = s(x W_o + h U_o + b_o + p_o * c')
        h' = o * a(c') [@ projection, clipped to +-projection_clip]

    where s is `recurrent_activation` and a is `activation`. Peepholes p (Gers & Schmidhuber 2000),
    projection (Sak et al. 2014) and clipping as in TensorFlow 1's `LSTMCell`.
    """
    gate_function, function_ = (
        function(layer, "recurrent_activation"),
        function(layer, "activation"),
    )
    peephole = layer.peephole or {}
    cell_clip = layer.options.get("cell_clip")
    projection_clip = layer.options.get("projection_clip")
    recurrent = fuse(layer.recurrent_kernel, layer.gates)
    fused = input_products(layer, steps.inputs)
    z = views(layer, fused)
    z["forget"] += layer.options.get("forget_bias", 0.0)
    gates = {gate: np.empty(z[gate].shape, fused.dtype) for gate in layer.gates}
    time, batch = fused.shape[:2]
    cells = np.empty((time, batch, layer.units), fused.dtype)
    hiddens = np.empty((time, batch, layer.recurrent_size), fused.dtype)

    h, c = steps.hidden, steps.cell
    for t in range(time):
        fused[t] += h @ recurrent
        for gate in ("input", "forget"):
            if gate in peephole:
                z[gate][t] += peephole[gate] * c
            gates[gate][t] = gate_function(z[gate][t])
        gates["candidate"][t] = function_(z["candidate"][t])
        new_c = gates["forget"][t] * c + gates["input"][t] * gates["candidate"][t]
        if cell_clip is not None:
            np.clip(new_c, -cell_clip, cell_clip, out=new_c)
        if "output" in peephole:
            z["output"][t] += peephole["output"] * new_c
        gates["output"][t] = gate_function(z["output"][t])
        new_h = gates["output"][t] * function_(new_c)
        if layer.projection is not None:
            new_h = new_h @ layer.projection
            if projection_clip is not None:
                np.clip(new_h, -projection_clip, projection_clip, out=new_h)
        h, c = steps.carry(t, new_h, h), steps.carry(t, new_c, c)
        hiddens[t], cells[t] = h, c
    return Run(gates, z, hiddens, cells)


def back(taken: Taken, arriving: Array, final: tuple[Array, Array]) -> Returned:
    """Backpropagation through time of an LSTM; see `cells.backward`.

    Nothing comes back through a state that was clipped.
    """
    layer, z, gates = taken.layer, taken.preactivations, taken.gates
    assert taken.cell is not None
    function_ = function(layer, "activation")
    pull_gate, pull = pullback(layer, "recurrent_activation"), pullback(layer, "activation")
    peephole = layer.peephole or {}
    cell_clip = layer.options.get("cell_clip")
    recurrent = fuse(layer.recurrent_kernel, layer.gates).T
    fused = np.empty((*arriving.shape[:-1], 4 * layer.units), arriving.dtype)
    dz = views(layer, fused)
    hiddens = np.empty_like(arriving)
    cells = np.empty((*arriving.shape[:-1], layer.units), arriving.dtype)

    dh, dc = final
    for t in reversed(range(len(arriving))):
        dh = hiddens[t] = dh + arriving[t]
        old_c, c = taken.cell[t], taken.cell[t + 1]
        shown = function_(c)
        dm = unprojected(layer, taken.hidden[t + 1], dh)
        dz["output"][t] = taken.ran(t, pull_gate(z["output"][t], gates["output"][t], dm * shown))
        through = dc + pull(c, shown, dm * gates["output"][t])
        if "output" in peephole:
            through = through + dz["output"][t] * peephole["output"]
        dc = cells[t] = taken.before(t, through, dc)
        written = dc if cell_clip is None else np.where(np.abs(c) < cell_clip, dc, 0)
        for gate, pull_one, factor in (
            ("input", pull_gate, gates["candidate"][t]),
            ("forget", pull_gate, old_c),
            ("candidate", pull, gates["input"][t]),
        ):
            dz[gate][t] = taken.ran(t, pull_one(z[gate][t], gates[gate][t], written * factor))
        kept = written * gates["forget"][t]
        for gate in ("input", "forget"):
            if gate in peephole:
                kept = kept + dz[gate][t] * peephole[gate]
        dh, dc = taken.before(t, fused[t] @ recurrent, dh), taken.before(t, kept, dc)
    return Returned(hiddens, dh, dz, cell=cells, first_cell=dc)


def unprojected(layer: RecurrentLayer, hidden: Array, gradient: Array) -> Array:
    """The gradient of an LSTM's state before its projection, from that of its hidden state."""
    if layer.projection is None:
        return gradient
    unclipped: Array = clipped(layer, hidden, gradient) @ layer.projection.T
    return unclipped


def clipped(layer: RecurrentLayer, hidden: Array, gradient: Array) -> Array:
    """The gradient before the hidden state of a projection was clipped."""
    clip = layer.options.get("projection_clip")
    return gradient if clip is None else np.where(np.abs(hidden) < clip, gradient, 0)


def own_weights(taken: Taken, returned: Returned) -> dict[str, Array]:
    """The gradients of an LSTM's peepholes and projection, by row name, summed over all."""
    layer, rows = taken.layer, {}
    assert taken.cell is not None
    for gate in layer.peephole or {}:
        seen = taken.cell[1:] if gate == "output" else taken.cell[:-1]
        rows[f"peephole/{gate}"] = (returned.preactivations[gate] * seen).sum(axis=(0, 1))
    if layer.projection is not None:
        shown = taken.gates["output"] * function(layer, "activation")(taken.cell[1:])
        gradient = clipped(layer, taken.hidden[1:], returned.hidden)
        if taken.mask is not None:
            gradient = np.where(taken.mask[..., None], gradient, 0)
        rows["projection"] = np.einsum("tbu,tbp->up", shown, gradient)
    return rows
