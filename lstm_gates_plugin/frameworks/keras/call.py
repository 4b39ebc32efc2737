"""One recorded call of a Keras layer: from the framework's tensors to arrays by input time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from lstm_gates_plugin.frameworks import levels
from lstm_gates_plugin.frameworks.arriving import Arriving
from lstm_gates_plugin.frameworks.keras.family import Keras
from lstm_gates_plugin.frameworks.levels import Cell, Node
from lstm_gates_plugin.frameworks.recorded import RecordedCall
from lstm_gates_plugin.fused import Array


@dataclass(frozen=True)
class TensorCall:
    """One call of one layer, in the framework's tensors and the framework's order of time.

    Attributes:
        index: of the layer, among those that are recorded.
        group: see `RecordedCall`.
        precision: see `RecordedCall`.
        tensors: `inputs`, `mask` and `output` as tensors, `initial_state` and `final_state` as flat
            lists of them; each may be `None`. Where there is a loss, also `arriving`, its gradients
            by the output and by each of the states that were returned.
        sequences: whether `output` is that of every timestep.
        backward: whether the layer reads the sequence from its end.
        time_major: whether sequences have the axis of time first.
        is_timestep: the call of a cell, whose tensors have no axis of time.
        more_inputs: whether the cell was given more than `inputs`.
        joins: see `RecordedCall`.
        compared: see `RecordedCall`.
        repeats_output: see `Arriving`.
        sources: the tensors by which a loss is differentiated, in the order of `arriving`; `None`
            for one that is there already.
    """

    index: int
    group: int | None
    precision: str
    tensors: dict[str, Any] = field(repr=False)
    sequences: bool = True
    backward: bool = False
    time_major: bool = False
    is_timestep: bool = False
    more_inputs: bool = False
    joins: bool = True
    compared: bool = True
    repeats_output: bool = True
    sources: Sequence[Any] = field(default=(), repr=False)

    def to_numpy(
        self, keras: Keras, cells: Node[Cell], samples: int | None = None
    ) -> list[RecordedCall]:
        """The first rows of the call in NumPy, by input time, as one call of each cell."""

        def states(name: str) -> tuple[Array, ...] | None:
            tensors = self.tensors[name]
            if tensors is None:
                return None
            return tuple(keras.array(tensor[:samples]) for tensor in tensors)

        def sequence(name: str) -> Any:
            tensor = self.tensors[name]
            if tensor is None:
                return None
            if self.time_major:
                return keras.array(tensor[:, :samples]).swapaxes(0, 1)
            array = keras.array(tensor[:samples])
            return array[:, None] if self.is_timestep else array

        mask, hidden, last = sequence("mask"), None, None
        if self.sequences:
            hidden = sequence("output")
            hidden = hidden[:, ::-1] if self.backward and hidden is not None else hidden
        elif self.tensors["output"] is not None:
            last = keras.array(self.tensors["output"][:samples])
        if self.more_inputs:
            cells = levels.convert(cells, lambda cell: replace(cell, step=None))
        whole = RecordedCall(
            layer=next(levels.leaves(cells)).layer,
            inputs=sequence("inputs"),
            mask=None if mask is None else mask.astype(bool).reshape(mask.shape[:2]),
            initial_state=states("initial_state"),
            hidden_state=hidden,
            last_hidden_state=last,
            final_state=states("final_state"),
            rows=int(self.tensors["inputs"].shape[1 if self.time_major else 0]),
            group=self.group,
            precision=self.precision,
            joins=self.joins,
            batch_first=not (self.time_major or self.is_timestep),
            compared=self.compared,
        )
        return levels.replay(cells, replace(whole, arriving=self._arriving(keras, whole, samples)))

    def _arriving(self, keras: Keras, whole: RecordedCall, samples: int | None) -> Arriving | None:
        """The gradients that came back, by input time."""
        if "arriving" not in self.tensors:
            return None
        output, *states = [
            None if tensor is None else keras.array(tensor) for tensor in self.tensors["arriving"]
        ]
        of_output = None
        if self.is_timestep:  # its output is its hidden state
            states[0] = (
                output if states[0] is None else states[0] if output is None else output + states[0]
            )
        elif output is not None and self.sequences:
            batch_first = output.swapaxes(0, 1) if self.time_major else output
            of_output = batch_first[:, ::-1] if self.backward else batch_first
        elif output is not None:
            of_output = np.zeros(
                (len(output), whole.inputs.shape[1], output.shape[-1]), output.dtype
            )
            of_output[:, 0 if self.backward else -1] = output
        return Arriving(of_output, tuple(states), self.repeats_output).map(
            lambda array: array[:samples]
        )
