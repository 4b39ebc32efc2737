"""The GRU, with the reset gate after or before the recurrent product."""

from __future__ import annotations

import numpy as np

from lstm_gates_plugin.cells.steps import Run, Steps, function, fuse, input_products, views
from lstm_gates_plugin.layer import RecurrentLayer


def run(layer: RecurrentLayer, steps: Steps) -> Run:
    """Run a GRU (Cho et al. 2014), whose update gate keeps the *old* state where it is open.

        r = s(x W_r + h U_r + b_r)      z = s(x W_z + h U_z + b_z)
        n = a(x W_n + b_n + r * (h U_n + b'_n))     with reset_after
        n = a(x W_n + b_n + (r * h) U_n)            without
        h' = z * h + (1 - z) * n

    where s is `recurrent_activation`, a is `activation` and b' the recurrent bias. This is the
    convention of Keras, torch, TensorFlow 1 and Flax; the paper's first version swaps z and 1 - z.
    """
    gate_function, function_ = (
        function(layer, "recurrent_activation"),
        function(layer, "activation"),
    )
    after = layer.options["reset_after"]
    closed = 2 * layer.units  # reset and update lie side by side, before the candidate
    recurrent = fuse(layer.recurrent_kernel, ("reset", "update"))
    candidate_kernel = layer.recurrent_kernel["candidate"]
    candidate_bias = (layer.recurrent_bias or {}).get("candidate", 0.0)
    fused = input_products(layer, steps.inputs)
    z = views(layer, fused)
    gates = {gate: np.empty(z[gate].shape, fused.dtype) for gate in layer.gates}
    hiddens = np.empty(z["update"].shape, fused.dtype)

    h = steps.hidden
    for t in range(len(fused)):
        fused[t, :, :closed] += h @ recurrent
        reset = gates["reset"][t] = gate_function(z["reset"][t])
        update = gates["update"][t] = gate_function(z["update"][t])
        if after:
            z["candidate"][t] += reset * (h @ candidate_kernel + candidate_bias)
        else:
            z["candidate"][t] += (reset * h) @ candidate_kernel
        candidate = gates["candidate"][t] = function_(z["candidate"][t])
        h = steps.carry(t, update * h + (1 - update) * candidate, h)
        hiddens[t] = h
    return Run(gates, z, hiddens)
