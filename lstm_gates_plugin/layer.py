"""RecurrentLayer: the one vocabulary for a recurrent layer, whatever framework it comes from.

A layer is one cell's weights in one direction. Its weights are split by gate and turned to one
orientation: `kernel[gate]` is `(input_size, units)`, so that `x @ kernel[gate]` is the gate's share
of its pre-activation.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from lstm_gates_plugin import fused
from lstm_gates_plugin.fused import Array

Direction: TypeAlias = Literal["forward", "backward"]

#: The gates of each cell kind, in the order in which they are always listed.
GATES: Mapping[str, tuple[str, ...]] = {
    "lstm": ("input", "forget", "candidate", "output"),
    "gru": ("reset", "update", "candidate"),
    "mgu": ("forget", "candidate"),
    "simple_rnn": ("hidden",),
    "unknown": (),
}


@dataclass(frozen=True, eq=False)
class RecurrentLayer:
    """One recurrent layer: its place in the model, its shapes and its weights by gate.

    Attributes:
        id: path of the layer within its model, such as `encoder/lstm_0/backward`.
        cell: a key of `GATES`. The weights of an `"unknown"` cell are in `weights` alone.
        direction: `"backward"` if the layer reads its sequence from the end.
        input_size: number of features of one timestep.
        units: number of units of each gate.
        recurrent_size: number of features of the hidden state: `units`, or the projection's size.
        kernel: by gate, `(input_size, units)`.
        recurrent_kernel: by gate, `(recurrent_size, units)`.
        bias: by gate, `(units,)`: the stored bias, input and recurrent parts summed, without a
            bias that is added at run time (`options["forget_bias"]`). `None` if there is none.
        recurrent_bias: `{"candidate": (units,)}` where a GRU or MGU resets after the matrix
            product, since its reset gate scales that part alone; else `None`.
        peephole: by gate, `(units,)`: weights from the cell state. `None` if there are none.
        projection: `(units, recurrent_size)`, or `None`.
        weights: an unknown cell's weights by their own names, else empty.
        options: JSON values that say how the layer computes: `framework`, `activation`,
            `recurrent_activation`, `reset_after`, `update_keeps` (where it is false),
            `forget_bias`, `cell_clip`, `projection_clip`, `dtype` (as stored), `compute_dtype`, ...
            Only those that apply.
    """

    id: str
    cell: str
    direction: Direction
    input_size: int
    units: int
    recurrent_size: int
    kernel: Mapping[str, Array] = field(repr=False)
    recurrent_kernel: Mapping[str, Array] = field(repr=False)
    bias: Mapping[str, Array] | None = field(default=None, repr=False)
    recurrent_bias: Mapping[str, Array] | None = field(default=None, repr=False)
    peephole: Mapping[str, Array] | None = field(default=None, repr=False)
    projection: Array | None = field(default=None, repr=False)
    weights: Mapping[str, Array] = field(default_factory=dict, repr=False)
    options: Mapping[str, Any] = field(default_factory=dict)
    # The user's own activation functions, array to array, by the option that names them. A
    # framework adapter fills this in; it cannot be written to disk.
    _functions: Mapping[str, Callable[[Array], Array]] = field(default_factory=dict, repr=False)
    # The way back through them: pre-activation and gradient after it to gradient before it.
    _pullbacks: Mapping[str, Callable[[Array, Array], Array]] = field(
        default_factory=dict, repr=False
    )

    @property
    def gates(self) -> tuple[str, ...]:
        """The layer's gates, in the order in which they are always listed."""
        return GATES[self.cell]

    def parts(self) -> dict[str, Array]:
        """Every weight of the layer by its row name, such as `kernel/forget`, in a fixed order."""
        parts: dict[str, Array] = {}
        for name, by_gate in (
            ("kernel", self.kernel),
            ("recurrent_kernel", self.recurrent_kernel),
            ("bias", self.bias),
            ("recurrent_bias", self.recurrent_bias),
            ("peephole", self.peephole),
        ):
            if by_gate is not None:
                parts |= {f"{name}/{g}": by_gate[g] for g in self.gates if g in by_gate}
        if self.projection is not None:
            parts["projection"] = self.projection
        parts |= {f"weights/{name}": array for name, array in self.weights.items()}
        return parts

    def describe(self) -> dict[str, Any]:
        """The layer without its weights, as a JSON object."""
        return {
            "id": self.id,
            "cell": self.cell,
            "direction": self.direction,
            "gates": list(self.gates),
            "input_size": self.input_size,
            "recurrent_size": self.recurrent_size,
            "units": self.units,
            "options": dict(self.options),
        }

    @classmethod
    def from_arrays(
        cls,
        cell: str,
        kernel: npt.ArrayLike,
        recurrent_kernel: npt.ArrayLike,
        bias: npt.ArrayLike | None = None,
        *,
        gate_order: str = "",
        id: str = "layer",
        direction: Direction = "forward",
        recurrent_bias: npt.ArrayLike | None = None,
        peephole: Mapping[str, npt.ArrayLike] | npt.ArrayLike | None = None,
        peephole_order: str = "",
        projection: npt.ArrayLike | None = None,
        reset_after: bool | None = None,
        update_keeps: bool = True,
        forget_keeps: bool | None = None,
        activation: str = "tanh",
        recurrent_activation: str = "sigmoid",
        forget_bias: float | None = None,
        cell_clip: float | None = None,
        projection_clip: float | None = None,
        options: Mapping[str, Any] | None = None,
    ) -> RecurrentLayer:
        """Build a layer from fused arrays whose gates lie side by side, in a declared order.

        Arrays are copied; float64 stays float64, every other type becomes float32. What says how
        a library stores and computes its cells:

        | cell                 | arguments                                                        |
        |----------------------|------------------------------------------------------------------|
        | Keras LSTM, GRU      | `"ifco"`; `"zrh"`, `reset_after=True`, bias and recurrent bias   |
        | torch LSTM, GRU      | `"ifgo"`; `"rzn"`, `reset_after=True`; all weights transposed    |
        | Haiku LSTM           | `from_stacked`, `"igfo"`, `forget_bias=1.0`                      |
        | Haiku GRU            | `"zra"`, `reset_after=False`, `update_keeps=False`               |
        | Haiku VanillaRNN     | `activation="relu"`                                              |
        | ONNX LSTM            | `"iofc"`, `peephole_order="iof"`; all weights transposed         |
        | ONNX GRU             | `"zrh"`, `reset_after=` its `linear_before_reset`; the same      |

        Args:
            cell: `"lstm"`, `"gru"`, `"mgu"` or `"simple_rnn"`.
            kernel: `(input_size, gates * units)`.
            recurrent_kernel: `(recurrent_size, gates * units)`.
            bias: `(gates * units,)`, or `None`.
            gate_order: one letter per gate, in storage order: `"ifco"` for a Keras LSTM, `"zrh"`
                for a Keras GRU, `"iofc"` for ONNX (`fused.GATE_LETTERS` lists them). A simple RNN
                needs none.
            id: the layer's id.
            direction: `"forward"` or `"backward"`.
            recurrent_bias: `(gates * units,)`: a second bias, added to the recurrent product.
            peephole: by gate (`input`, `forget`, `output`), `(units,)`; or side by side, in the
                order that `peephole_order` declares. LSTM only.
            peephole_order: letters of the gates of a fused `peephole`: `"iof"` for ONNX.
            projection: `(units, recurrent_size)`. LSTM only.
            reset_after: GRU and MGU, required: whether the gate scales the recurrent product
                (Keras by default, torch) or the hidden state before the product.
            update_keeps: GRU: whether the update gate multiplies the old state or, as in Haiku,
                the candidate.
            forget_keeps: MGU, required: whether the forget gate multiplies the old state (Flax)
                or the candidate (Zhou et al. 2016, arXiv 1603.09420).
            activation: name of the candidate's and output's activation, see `cells.activations`.
            recurrent_activation: name of the gates' activation. Not for a simple RNN.
            forget_bias: added to the forget gate at run time, on top of the stored bias.
            cell_clip: bound of the cell state, applied before the output gate.
            projection_clip: bound of the projected hidden state.
            options: further JSON values for `.options`, such as `framework`.

        Raises:
            ValueError: an unknown cell or gate order, or shapes that do not fit together.
        """
        gates = GATES.get(cell, ())
        names = fused.gate_names(cell, gate_order, gates)
        stored = str(np.asarray(kernel).dtype)
        kernel, recurrent_kernel = fused.to_matrix(kernel), fused.to_matrix(recurrent_kernel)
        projection = None if projection is None else fused.to_matrix(projection)
        units = fused.count_units(cell, len(names), kernel, recurrent_kernel, projection)

        def by_gate(name: str, array: npt.ArrayLike) -> dict[str, Array]:
            blocks = fused.split(name, fused.to_array(array), names, units)
            return {gate: blocks[gate] for gate in gates}

        summed, apart = fused.sum_biases(
            None if bias is None else by_gate("bias", bias),
            None if recurrent_bias is None else by_gate("recurrent_bias", recurrent_bias),
            bool(reset_after),
        )
        described: dict[str, Any] = {"activation": activation}
        if cell != "simple_rnn":
            described["recurrent_activation"] = recurrent_activation
        described |= fused.cell_options(
            cell,
            reset_after=reset_after,
            update_keeps=update_keeps,
            forget_keeps=forget_keeps,
            forget_bias=forget_bias,
            cell_clip=cell_clip,
            projection_clip=projection_clip,
        )
        if cell != "lstm" and (peephole is not None or projection is not None):
            raise ValueError(f"only an LSTM has peepholes or a projection, and this is a {cell!r}.")
        return cls(
            id=id,
            cell=cell,
            direction=_direction(direction),
            input_size=kernel.shape[0],
            units=units,
            recurrent_size=recurrent_kernel.shape[0],
            kernel=by_gate("kernel", kernel),
            recurrent_kernel=by_gate("recurrent_kernel", recurrent_kernel),
            bias=summed,
            recurrent_bias=apart,
            peephole=fused.peepholes(peephole, peephole_order, units),
            projection=None if projection is None else fused.frozen(projection),
            options={**described, "dtype": stored, **(options or {})},
        )

    @classmethod
    def from_stacked(
        cls,
        cell: str,
        kernel: npt.ArrayLike,
        bias: npt.ArrayLike | None = None,
        *,
        projection: npt.ArrayLike | None = None,
        **arguments: Any,
    ) -> RecurrentLayer:
        """Build a layer from one kernel in which the recurrent rows follow the input rows.

        TensorFlow 1 stores its cells like this, also in checkpoints, and its conventions are the
        defaults here:

            checkpoint = tf.train.load_checkpoint("model.ckpt")
            scope = "rnn/multi_rnn_cell/cell_0/lstm_cell"
            layer = lg.RecurrentLayer.from_stacked(
                "lstm",
                checkpoint.get_tensor(f"{scope}/kernel"),
                checkpoint.get_tensor(f"{scope}/bias"),
                id=scope,
            )

        Of a GRU, give the two kernels `gates/kernel` and `candidate/kernel` side by side, and the
        two biases: `np.concatenate([gates, candidate], axis=-1)`.

        Args:
            cell: `"lstm"`, `"gru"`, `"mgu"` or `"simple_rnn"`.
            kernel: `(input_size + recurrent_size, gates * units)`.
            bias: `(gates * units,)`, or `None`.
            projection: `(units, recurrent_size)`. LSTM only.
            **arguments: of `from_arrays`. By default an LSTM has `gate_order="ijfo"` and
                `forget_bias=1.0`, which TensorFlow 1 adds at run time and does not store; a GRU has
                `gate_order="ruc"` and `reset_after=False`.

        Raises:
            ValueError: as `from_arrays`, or the kernel leaves no row for the input.
        """
        matrix = np.asarray(kernel)
        rows = fused.input_rows(cell, max(len(GATES.get(cell, ())), 1), matrix, projection)
        return cls.from_arrays(
            cell,
            matrix[:rows],
            matrix[rows:],
            bias,
            projection=projection,
            **{**fused.STACKED_DEFAULTS.get(cell, {}), **arguments},
        )


def _direction(direction: str) -> Direction:
    if direction == "forward":
        return "forward"
    if direction == "backward":
        return "backward"
    raise ValueError(f"direction must be 'forward' or 'backward', and {direction!r} was given.")
