"""PyTorch: one call of a module of several layers, replayed as one call of each.

What goes into a level is what both directions of the level below put out, and torch does not show
that; it is recomputed. So is, on the way back, the gradient of a loss by it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate

import numpy as np

from lstm_gates_plugin import cells
from lstm_gates_plugin.frameworks.arriving import Arriving, by_inputs
from lstm_gates_plugin.frameworks.recorded import RecordedCall
from lstm_gates_plugin.fused import Array
from lstm_gates_plugin.gate_trace import GateTrace
from lstm_gates_plugin.layer import RecurrentLayer


def replay(
    levels: Sequence[Sequence[RecurrentLayer]],
    whole: RecordedCall,
    initial: Sequence[tuple[Array, ...]] | None,
    final: Sequence[tuple[Array, ...]] | None,
    arriving: Sequence[Arriving] | None = None,
) -> list[RecordedCall]:
    """The calls of the layers of one call of a module, in torch's order.

    Args:
        levels: the layers by level: the forward one, and perhaps a backward one.
        whole: the call; its `layer` is not looked at. Its hidden state is that of the top level,
            the directions side by side.
        initial: the states of each layer before the call, `None` where none were given.
        final: those after the call.
        arriving: the gradients of a loss by the final states of each layer and by the output of
            the top level, if there is a loss.
    """
    calls: list[list[RecordedCall]] = []
    traces: list[list[GateTrace]] = []
    inputs, number = whole.inputs, 0
    for layers in levels:
        calls.append([])
        for layer in layers:
            calls[-1].append(
                replace(
                    whole,
                    layer=layer,
                    inputs=inputs,
                    initial_state=None if initial is None else initial[number],
                    final_state=None if final is None else final[number],
                    hidden_state=None,
                    joins=len(layers) == 1 or layer.direction == "forward",
                )
            )
            number += 1
        if len(calls) < len(levels) or (arriving is not None and len(levels) > 1):
            traces.append([_trace(call) for call in calls[-1]])
            inputs = np.concatenate([_output(trace) for trace in traces[-1]], axis=-1)
    if whole.hidden_state is not None:
        owns = _split(whole.hidden_state, levels[-1])
        calls[-1] = [
            replace(call, hidden_state=own) for call, own in zip(calls[-1], owns, strict=True)
        ]
    if arriving is not None:
        _go_back(calls, traces, arriving)
    return [call for of_level in calls for call in of_level]


def _go_back(
    calls: list[list[RecordedCall]], traces: list[list[GateTrace]], arriving: Sequence[Arriving]
) -> None:
    """Give each call what arrives at it, from the top level down."""
    output, stop = arriving[-1].output, len(arriving)
    for level in reversed(range(len(calls))):
        layers = [call.layer for call in calls[level]]
        owns = [None] * len(layers) if output is None else _split(output, layers)
        start = stop - len(layers)
        arrives = [
            replace(by_states, output=own)
            for by_states, own in zip(arriving[start:stop], owns, strict=True)
        ]
        calls[level] = [
            replace(call, arriving=each) for call, each in zip(calls[level], arrives, strict=True)
        ]
        if level:
            below = zip(traces[level], calls[level], arrives, strict=True)
            output = np.add.reduce([by_inputs(trace, call.inputs, e) for trace, call, e in below])
        stop = start


def _split(array: Array, layers: Sequence[RecurrentLayer]) -> list[Array]:
    """The share of each direction in what a level puts out."""
    ends = list(accumulate(layer.recurrent_size for layer in layers))
    return np.split(array, ends[:-1], axis=-1)


def _trace(call: RecordedCall) -> GateTrace:
    return cells.forward(call.layer, call.inputs, call.mask, call.initial_state)


def _output(trace: GateTrace) -> Array:
    """What a layer puts out, `[batch, time, recurrent_size]`, zero at masked timesteps."""
    return np.where(trace.mask[..., None], trace.hidden_state, 0)
