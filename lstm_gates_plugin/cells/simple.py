"""The simple (Elman) RNN."""

from __future__ import annotations

import numpy as np

from lstm_gates_plugin.cells.steps import Run, Steps, function, input_products
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
