"""The LSTM, with run-time forget bias, peepholes, projection and clipping."""

from __future__ import annotations

import numpy as np

from lstm_gates_plugin.cells.steps import Run, Steps, function, fuse, input_products, views
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
