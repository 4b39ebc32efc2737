"""The GRU, with the reset gate after or before the recurrent product."""

from __future__ import annotations

import numpy as np

from lstm_gates_plugin.cells.back import Returned, Taken
from lstm_gates_plugin.cells.slopes import pullback
from lstm_gates_plugin.cells.steps import Run, Steps, function, fuse, input_products, views
from lstm_gates_plugin.fused import Array
from lstm_gates_plugin.layer import RecurrentLayer


def run(layer: RecurrentLayer, steps: Steps) -> Run:
    """Run a GRU (Cho et al. 2014).

        r = s(x W_r + h U_r + b_r)      z = s(x W_z + h U_z + b_z)
        n = a(x W_n + b_n + r * (h U_n + b'_n))     with reset_after
        n = a(x W_n + b_n + (r * h) U_n)            without
        h' = z * h + (1 - z) * n                    with update_keeps
        h' = (1 - z) * h + z * n                    without

    where s is `recurrent_activation`, a is `activation` and b' the recurrent bias. Keras, torch,
    TensorFlow 1, Flax and ONNX keep the old state where z is open; in Haiku z overwrites it, as in
    the paper's first version.
    """
    gate_function, function_ = (
        function(layer, "recurrent_activation"),
        function(layer, "activation"),
    )
    after, keeps = layer.options["reset_after"], layer.options.get("update_keeps", True)
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
        keep = update if keeps else 1 - update
        h = steps.carry(t, keep * h + (1 - keep) * candidate, h)
        hiddens[t] = h
    return Run(gates, z, hiddens)


def back(taken: Taken, arriving: Array, final: tuple[Array, Array]) -> Returned:
    """Backpropagation through time of a GRU; see `cells.backward`."""
    layer, z, gates = taken.layer, taken.preactivations, taken.gates
    pull_gate, pull = pullback(layer, "recurrent_activation"), pullback(layer, "activation")
    keeps = layer.options.get("update_keeps", True)
    recurrent = fuse(layer.recurrent_kernel, ("reset", "update")).T
    candidate_kernel = layer.recurrent_kernel["candidate"]
    candidate_bias = (layer.recurrent_bias or {}).get("candidate", 0.0)
    after = layer.options["reset_after"]
    fused = np.empty((*arriving.shape[:-1], 3 * layer.units), arriving.dtype)
    dz = views(layer, fused)
    closed = fused[..., : 2 * layer.units]
    hiddens, products = np.empty_like(arriving), np.empty_like(arriving)

    dh = final[0]
    for t in reversed(range(len(arriving))):
        dh = hiddens[t] = dh + arriving[t]
        old = taken.hidden[t]
        reset, update, candidate = (gates[gate][t] for gate in layer.gates)
        keep = update if keeps else 1 - update
        towards_old = dh * (old - candidate)
        dz["update"][t] = pull_gate(z["update"][t], update, towards_old if keeps else -towards_old)
        dz["candidate"][t] = pull(z["candidate"][t], candidate, dh * (1 - keep))
        through = dh * keep
        if after:
            opened = dz["candidate"][t] * (old @ candidate_kernel + candidate_bias)
            products[t] = dz["candidate"][t] * reset
            through = through + products[t] @ candidate_kernel.T
        else:
            products[t] = dz["candidate"][t]
            by_product = products[t] @ candidate_kernel.T
            opened = by_product * old
            through = through + by_product * reset
        dz["reset"][t] = pull_gate(z["reset"][t], reset, opened)
        fused[t], products[t] = taken.ran(t, fused[t]), taken.ran(t, products[t])
        dh = taken.before(t, through + closed[t] @ recurrent, dh)
    read = {} if after else {"candidate": gates["reset"] * taken.hidden[:-1]}
    return Returned(hiddens, dh, dz, {"candidate": products}, read)
