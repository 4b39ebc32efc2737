"""The simple (Elman) RNN."""

from __future__ import annotations

import numpy as np

from lstm_gates_plugin.cells.back import Returned, Taken
from lstm_gates_plugin.cells.slopes import pullback
from lstm_gates_plugin.cells.steps import Run, Steps, function, input_products
from lstm_gates_plugin.fused import Array
from lstm_gates_plugin.layer import RecurrentLayer


def run(layer: RecurrentLayer, steps: Steps) -> Run:
    """Run a simple RNN: `h' = a(x W + h U + b)`, where a is `activation`.

    Its one "gate" is the new hidden state itself.
    """
    function_ = function(layer, "activation")
    recurrent = layer.recurrent_kernel["hidden"]
    z = input_products(layer, steps.inputs)
    new, hiddens = np.empty(z.shape, z.dtype), np.empty(z.shape, z.dtype)

    h = steps.hidden
    for t in range(len(z)):
        z[t] += h @ recurrent
        new[t] = function_(z[t])
        h = hiddens[t] = steps.carry(t, new[t], h)
    return Run({"hidden": new}, {"hidden": z}, hiddens)


def back(taken: Taken, arriving: Array, final: tuple[Array, Array]) -> Returned:
    """Backpropagation through time of a simple RNN; see `cells.backward`."""
    pull = pullback(taken.layer, "activation")
    recurrent = taken.layer.recurrent_kernel["hidden"].T
    z, hidden = taken.preactivations["hidden"], taken.gates["hidden"]
    totals, dz = np.empty_like(arriving), np.empty_like(arriving)

    dh = final[0]
    for t in reversed(range(len(arriving))):
        dh = totals[t] = dh + arriving[t]
        dz[t] = taken.ran(t, pull(z[t], hidden[t], dh))
        dh = taken.before(t, dz[t] @ recurrent, dh)
    return Returned(totals, dh, {"hidden": dz})
