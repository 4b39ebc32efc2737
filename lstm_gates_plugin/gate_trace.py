"""GateTrace: what one call of one recurrent layer did, at every timestep."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from lstm_gates_plugin.fused import Array
from lstm_gates_plugin.gradients import Gradients
from lstm_gates_plugin.layer import RecurrentLayer


@dataclass(frozen=True, eq=False)
class GateTrace:
    """The gates and states of one call of one layer on one batch.

    Arrays are `[batch, time, units]`, by the timestep of the *input* in both directions, and
    copies. Entries at masked timesteps are NaN; use `mask` to leave them out, never `isnan`, since
    a gate that really is not-a-number reads the same.

    Attributes:
        layer: the layer, with the weights that it had during the call.
        call: 0, or 1, 2, ... for the further calls of a layer that is used more than once.
        gates: by gate, the activations, `[batch, time, units]`.
        preactivations: by gate, the same before the nonlinearity; a run-time forget bias is in.
        hidden_state: `[batch, time, recurrent_size]`.
        cell_state: `[batch, time, units]`, or `None` for a cell without one.
        mask: `[batch, time]`, true where the timestep was really run.
        final_hidden_state: `[batch, recurrent_size]`, after the last timestep that was run: for a
            backward layer that is the first one of the input.
        final_cell_state: `[batch, units]`, or `None`.
        initial_hidden_state: `[batch, recurrent_size]`, before the first timestep that was run.
        initial_cell_state: `[batch, units]`, or `None`.
        rows: how many rows the call had in the framework, where only the first were traced.
        batch_first: whether the framework's call had the batch before the time, as the arrays here;
            the cell of a loop says neither, so it is false.
        difference: the largest difference between `hidden_state` and the framework's own, where it
            returned one; else `None`.
        gradients: of a loss, where one was given; else `None`.
    """

    layer: RecurrentLayer
    call: int
    gates: Mapping[str, Array] = field(repr=False)
    preactivations: Mapping[str, Array] = field(repr=False)
    hidden_state: Array = field(repr=False)
    cell_state: Array | None = field(repr=False)
    mask: Array = field(repr=False)
    final_hidden_state: Array = field(repr=False)
    final_cell_state: Array | None = field(repr=False)
    initial_hidden_state: Array = field(repr=False)
    initial_cell_state: Array | None = field(repr=False)
    rows: int | None = None
    batch_first: bool = True
    difference: float | None = None
    gradients: Gradients | None = field(default=None, repr=False)

    @property
    def keep_factor(self) -> Array | None:
        """The share of the old state that each timestep keeps, `[batch, time, units]`.

        The forget gate of an LSTM, the update gate of a GRU or one minus it, and likewise the
        forget gate of an MGU: `layer.options` says which, by `update_keeps` and `forget_keeps`.
        A simple RNN has none: `None`.
        """
        if self.layer.cell == "lstm":
            return self.gates["forget"]
        if self.layer.cell == "gru":
            update = self.gates["update"]
            return update if self.layer.options.get("update_keeps", True) else 1 - update
        if self.layer.cell == "mgu":
            forget = self.gates["forget"]
            return forget if self.layer.options["forget_keeps"] else 1 - forget
        return None

    def parts(self) -> dict[str, Array]:
        """Every array by its row name, such as `activation/forget`, in a fixed order."""
        parts = {f"activation/{gate}": self.gates[gate] for gate in self.layer.gates}
        parts |= {f"preactivation/{g}": self.preactivations[g] for g in self.layer.gates}
        if self.cell_state is not None:
            parts["cell_state"] = self.cell_state
        parts["hidden_state"] = self.hidden_state
        return parts
