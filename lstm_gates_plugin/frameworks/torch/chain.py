"""PyTorch: one call of a module of several layers, replayed as one call of each.

What goes into a level is what both directions of the level below put out, and torch does not show
that; it is recomputed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from lstm_gates_plugin import cells
from lstm_gates_plugin.frameworks.recorded import RecordedCall
from lstm_gates_plugin.fused import Array
from lstm_gates_plugin.layer import RecurrentLayer


def replay(
    levels: Sequence[Sequence[RecurrentLayer]],
    whole: RecordedCall,
    initial: Sequence[tuple[Array, ...]] | None,
    final: Sequence[tuple[Array, ...]] | None,
) -> Iterator[RecordedCall]:
    """The calls of the layers of one call of a module, in torch's order.

    Args:
        levels: the layers by level: the forward one, and perhaps a backward one.
        whole: the call; its `layer` is not looked at. Its hidden state is that of the top level,
            the directions side by side.
        initial: the states of each layer before the call, `None` where none were given.
        final: those after the call.
    """
    number = 0
    inputs = whole.inputs
    for level, layers in enumerate(levels):
        outputs: list[Array] = []
        for place, layer in enumerate(layers):
            call = replace(
                whole,
                layer=layer,
                inputs=inputs,
                initial_state=None if initial is None else initial[number],
                final_state=None if final is None else final[number],
                hidden_state=None,
            )
            number += 1
            if level + 1 < len(levels):
                outputs.append(_output(call))
            elif whole.hidden_state is not None:
                start = place * layer.recurrent_size
                own = whole.hidden_state[..., start : start + layer.recurrent_size]
                call = replace(call, hidden_state=own)
            yield call
        if outputs:
            inputs = np.concatenate(outputs, axis=-1)


def _output(call: RecordedCall) -> Array:
    """What a layer puts out, `[batch, time, recurrent_size]`, zero at masked timesteps."""
    trace = cells.forward(call.layer, call.inputs, call.mask, call.initial_state)
    return np.where(trace.mask[..., None], trace.hidden_state, 0)
