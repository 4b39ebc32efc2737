"""The minimal gated unit: a GRU whose reset and update gates are one."""

from __future__ import annotations

import numpy as np

from lstm_gates_plugin.cells.back import Returned, Taken
from lstm_gates_plugin.cells.slopes import pullback
from lstm_gates_plugin.cells.steps import Run, Steps, function, input_products, views
from lstm_gates_plugin.fused import Array
from lstm_gates_plugin.layer import RecurrentLayer


def run(layer: RecurrentLayer, steps: Steps) -> Run:
    """Run a minimal gated unit (Zhou et al. 2016, arXiv 1603.09420).

        f = s(x W_f + h U_f + b_f)
        n = a(x W_n + b_n + f * (h U_n + b'_n))     with reset_after (Flax)
        n = a(x W_n + b_n + (f * h) U_n)            without (the paper)
        h' = f * h + (1 - f) * n                    with forget_keeps (Flax)
        h' = (1 - f) * h + f * n                    without (the paper)

    where s is `recurrent_activation`, a is `activation` and b' the recurrent bias.
    """
    gate_function, function_ = (
        function(layer, "recurrent_activation"),
        function(layer, "activation"),
    )
    after, forget_keeps = layer.options["reset_after"], layer.options["forget_keeps"]
    forget_kernel = layer.recurrent_kernel["forget"]
    candidate_kernel = layer.recurrent_kernel["candidate"]
    candidate_bias = (layer.recurrent_bias or {}).get("candidate", 0.0)
    fused = input_products(layer, steps.inputs)
    z = views(layer, fused)
    gates = {gate: np.empty(z[gate].shape, fused.dtype) for gate in layer.gates}
    hiddens = np.empty(z["forget"].shape, fused.dtype)

    h = steps.hidden
    for t in range(len(fused)):
        z["forget"][t] += h @ forget_kernel
        forget = gates["forget"][t] = gate_function(z["forget"][t])
        if after:
            z["candidate"][t] += forget * (h @ candidate_kernel + candidate_bias)
        else:
            z["candidate"][t] += (forget * h) @ candidate_kernel
        candidate = gates["candidate"][t] = function_(z["candidate"][t])
        keep = forget if forget_keeps else 1 - forget
        h = steps.carry(t, keep * h + (1 - keep) * candidate, h)
        hiddens[t] = h
    return Run(gates, z, hiddens)


def back(taken: Taken, arriving: Array, final: tuple[Array, Array]) -> Returned:
    """Backpropagation through time of a minimal gated unit; see `cells.backward`."""
    layer, z, gates = taken.layer, taken.preactivations, taken.gates
    pull_gate, pull = pullback(layer, "recurrent_activation"), pullback(layer, "activation")
    after, forget_keeps = layer.options["reset_after"], layer.options["forget_keeps"]
    candidate_kernel = layer.recurrent_kernel["candidate"]
    candidate_bias = (layer.recurrent_bias or {}).get("candidate", 0.0)
    dz = {gate: np.empty_like(arriving) for gate in layer.gates}
    hiddens, products = np.empty_like(arriving), np.empty_like(arriving)

    dh = final[0]
    for t in reversed(range(len(arriving))):
        dh = hiddens[t] = dh + arriving[t]
        old = taken.hidden[t]
        forget, candidate = (gates[gate][t] for gate in layer.gates)
        keep = forget if forget_keeps else 1 - forget
        towards_old = dh * (old - candidate)
        dz["candidate"][t] = taken.ran(t, pull(z["candidate"][t], candidate, dh * (1 - keep)))
        opened = towards_old if forget_keeps else -towards_old
        through = dh * keep
        if after:
            opened = opened + dz["candidate"][t] * (old @ candidate_kernel + candidate_bias)
            products[t] = dz["candidate"][t] * forget
            through = through + products[t] @ candidate_kernel.T
        else:
            products[t] = dz["candidate"][t]
            by_product = products[t] @ candidate_kernel.T
            opened = opened + by_product * old
            through = through + by_product * forget
        dz["forget"][t] = taken.ran(t, pull_gate(z["forget"][t], forget, opened))
        dh = taken.before(t, through + dz["forget"][t] @ layer.recurrent_kernel["forget"].T, dh)
    read = {} if after else {"candidate": gates["forget"] * taken.hidden[:-1]}
    return Returned(hiddens, dh, dz, {"candidate": products}, read)
