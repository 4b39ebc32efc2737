"""PyTorch: one call of a recurrent module, as `[batch, time, ...]` in the caller's order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch.nn.utils.rnn import PackedSequence, pad_packed_sequence

from lstm_gates_plugin.frameworks.arriving import Arriving
from lstm_gates_plugin.frameworks.recorded import TOLERANCES, RecordedCall
from lstm_gates_plugin.frameworks.torch import chain, kinds
from lstm_gates_plugin.frameworks.torch.values import to_array
from lstm_gates_plugin.fused import Array
from lstm_gates_plugin.layer import RecurrentLayer


@dataclass
class ModuleCall:
    """What went into a module and came out of it, as arrays.

    `taken` notes what goes in, which must happen before the module runs, and `returned` what came
    out.

    Attributes:
        module: the recurrent module.
        samples: how many rows are kept at most; `None` keeps all.
        batched: whether the call has a batch axis; its arrays here always have one.
        rows: how many rows the call had.
        inputs: `[batch, time, input_size]`.
        mask: `[batch, time]`, or `None` where no sequence is shorter.
        initial: by layer of the module, `(hidden,)` or `(hidden, cell)`; `None` if none was given.
        output: `[batch, time, ...]`, the directions of the top level side by side.
        final: as `initial`, after the call.
        goes_on: whether the initial states are the very ones that the call before it returned.
        precision: what torch computed in.
        sources: the tensors by which a loss can be differentiated, in the nest of what came out;
            `None` where torch did not record operations.
    """

    module: Any
    samples: int | None
    batched: bool
    rows: int
    inputs: Array
    mask: Array | None
    initial: list[tuple[Array, ...]] | None
    output: Array | None = None
    final: list[tuple[Array, ...]] | None = None
    goes_on: bool = False
    precision: str = "float32"
    sources: Any = None

    @classmethod
    def taken(cls, module: Any, inputs: Any, states: Any, samples: int | None) -> ModuleCall | None:
        """Note what goes into a module; `None` where that is nothing that such a module takes."""
        data = inputs.data if isinstance(inputs, PackedSequence) else inputs
        axes = 2 if kinds.is_single_cell(module) else 3
        if not isinstance(data, torch.Tensor) or data.ndim not in (axes - 1, axes):
            return None
        if not data.is_floating_point() or data.shape[-1] != module.input_size:
            return None
        if any(is_transformed(each) for each in (data, *module.parameters())):
            return None
        batched = isinstance(inputs, PackedSequence) or data.ndim == axes
        dense, mask = _dense(module, inputs, batched)
        call = cls(
            module=module,
            samples=samples,
            batched=batched,
            rows=dense.shape[0],
            inputs=to_array(dense[:samples]),
            mask=None if mask is None else mask[:samples].numpy(),
            initial=None,
        )
        call.initial = call._states(states)
        return call

    def returned(self, result: Any) -> Any:
        """Note what came out: `(output, states)`, or of a cell the states alone.

        Returns:
            The states, as they came out.
        """
        output, states = self._parts(result)
        self.final = self._states(states)
        if isinstance(output, (torch.Tensor, PackedSequence)):
            self.output = self._sequence(output)
            data = output.data if isinstance(output, PackedSequence) else output
            self.precision = _precision(self.module, data)
        return states

    def to_recorded(
        self, layers: Sequence[RecurrentLayer], gradients: Any = None
    ) -> list[RecordedCall]:
        """The calls of the module's layers, in torch's order.

        Args:
            layers: the module's.
            gradients: of a loss, by `sources` and in their nest, if there is one.
        """
        directions = 2 if layers[-1].direction == "backward" else 1
        levels = [layers[k : k + directions] for k in range(0, len(layers), directions)]
        whole = RecordedCall(
            layer=layers[0],
            inputs=self.inputs,
            mask=self.mask,
            hidden_state=self.output if self.is_comparable(layers) else None,
            rows=self.rows,
            precision=self.precision,
            goes_on=self.goes_on,
            batch_first=not self.batched or getattr(self.module, "batch_first", False),
        )
        arriving = None if gradients is None else self._arriving(len(layers), gradients)
        return chain.replay(levels, whole, self.initial, self.final, arriving)

    def is_comparable(self, layers: Sequence[RecurrentLayer]) -> bool:
        """Whether what came out has the shape of what such a module puts out."""
        top = layers[-2:] if layers[-1].direction == "backward" else layers[-1:]
        size = sum(layer.recurrent_size for layer in top)
        return self.output is not None and self.output.shape == (*self.inputs.shape[:2], size)

    def _arriving(self, count: int, gradients: Any) -> list[Arriving]:
        """The gradients by what each layer put out; those by the output are of the whole level."""
        output, states = self._parts(gradients)
        of_output = None
        if not kinds.is_single_cell(self.module):  # the output of a cell is its state
            data = output.data if isinstance(output, PackedSequence) else output
            of_output = None if data is None else self._sequence(output)
        of_states = [()] * count
        if self.final is not None:
            parts = states if isinstance(states, (list, tuple)) else [states]
            by_part = [[None] * count if p is None else self._by_layer(p) for p in parts]
            of_states = list(zip(*by_part, strict=True))
        return [Arriving(of_output, by_state) for by_state in of_states]

    def _parts(self, result: Any) -> tuple[Any, Any]:
        """The output and the states in the nest that came out, whatever is in it."""
        if kinds.is_single_cell(self.module):
            return result[0] if isinstance(result, tuple) else result, result
        if isinstance(result, tuple) and len(result) >= 2:
            return result[0], result[1]  # a subclass may add more
        return result, None  # of a subclass

    def _sequence(self, value: Any) -> Array:
        dense, _ = _dense(self.module, value, self.batched)
        return to_array(dense[: self.samples])

    def _states(self, states: Any) -> list[tuple[Array, ...]] | None:
        """States as torch holds them, by layer; `None` where they are not such states."""
        parts = list(states) if isinstance(states, (list, tuple)) else [states]
        by_part = [self._by_layer(part) for part in parts]
        if any(arrays is None for arrays in by_part):
            return None
        return list(zip(*by_part, strict=True))

    def _by_layer(self, part: Any) -> Sequence[Array] | None:
        """One state of all layers, `[batch, size]` each; `None` where it is not such a state.

        It is `(layers, batch, size)`, of a cell `(batch, size)`, without the batch if there is
        none.
        """
        if not isinstance(part, torch.Tensor):
            return None
        part = part[None] if kinds.is_single_cell(self.module) else part
        part = part if self.batched else part.unsqueeze(-2)
        if part.ndim != 3 or len(part) != len(kinds.places_of(self.module)):
            return None
        return list(to_array(part[:, : self.samples]))


def is_transformed(value: Any) -> bool:
    """Whether a tensor stands for others, as within torch.func, and has no values of its own."""
    check = getattr(torch._C._functorch, "is_functorch_wrapped_tensor", None)
    return check is not None and isinstance(value, torch.Tensor) and bool(check(value))


def _dense(module: Any, value: Any, batched: bool) -> tuple[Any, Any]:
    """A sequence as `[batch, time, size]`, and its mask where it was packed."""
    if isinstance(value, PackedSequence):
        dense, lengths = pad_packed_sequence(value, batch_first=True)
        mask = torch.arange(dense.shape[1]) < lengths[:, None]
        return dense, None if bool(mask.all()) else mask
    if kinds.is_single_cell(module):
        return (value if batched else value[None])[:, None], None
    if not batched:
        return value[None], None
    return value if module.batch_first else value.transpose(0, 1), None


def _precision(module: Any, output: Any) -> str:
    """The coarsest number format that a module computed in, a key of `TOLERANCES`."""
    kind = output.device.type
    formats = {str(output.dtype).removeprefix("torch.")}
    if kinds.is_quantized(module):
        stored = module.weight_dtype if kinds.is_single_cell(module) else module.dtype
        formats.add(str(stored).removeprefix("torch."))
    if torch.is_autocast_enabled(kind):
        formats.add(str(torch.get_autocast_dtype(kind)).removeprefix("torch."))
    if kind == "cuda" and (
        torch.backends.cudnn.allow_tf32 or torch.backends.cuda.matmul.allow_tf32
    ):
        formats.add("tensorfloat32")
    return max(formats, key=lambda name: TOLERANCES.get(name, 0.0))
