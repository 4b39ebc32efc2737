"""Keras 3 on torch."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import keras
import torch

from lstm_gates_plugin.frameworks.keras.backend import Backend
from lstm_gates_plugin.frameworks.keras.call import TensorCall
from lstm_gates_plugin.frameworks.keras.family import Keras
from lstm_gates_plugin.frameworks.keras.layers import Found
from lstm_gates_plugin.frameworks.keras.losses import Follow, Gradient, Loss
from lstm_gates_plugin.frameworks.keras.recording import run_eagerly
from lstm_gates_plugin.frameworks.keras.state import restored_globals


class Torch(Backend):
    """Runs a model without gradients; torch computes all at once."""

    def refuse_graphs(self) -> None:
        """See `Backend`."""
        if torch.compiler.is_compiling():
            raise ValueError(
                "gates cannot be recorded inside a function that torch.compile compiles, which has "
                "no values yet. Log and trace outside of it."
            )

    def is_computed(self, tensor: Any, graph: Any) -> bool:
        """See `Backend`. Keras works out shapes on a device that computes nothing."""
        return not (isinstance(tensor, torch.Tensor) and tensor.device.type == "meta")

    def snapshot(self, value: Any) -> Any:
        """See `Backend`. Keras writes variables in place."""
        tensor = value.value if isinstance(value, keras.Variable) else value
        return tensor.detach().clone() if isinstance(tensor, torch.Tensor) else tensor

    def precision(self, dtype: str) -> str:
        """See `Backend`. cuDNN may always use TensorFloat-32 in recurrent layers."""
        on_gpu = torch.cuda.is_available() and torch.backends.cudnn.allow_tf32
        return "tensorfloat32" if dtype == "float32" and on_gpu else dtype

    @contextlib.contextmanager
    def restored(self, keras: Keras) -> Iterator[None]:
        """See `Backend`."""
        devices = range(torch.cuda.device_count())
        with torch.random.fork_rng(devices), restored_globals(keras, self.snapshot):
            yield

    @contextlib.contextmanager
    def inline(self) -> Iterator[None]:
        """See `Backend`."""
        with torch.compiler.set_stance("force_eager"):
            yield

    def run(
        self,
        model: Any,
        found: Sequence[Found],
        key: str,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        loss: Loss | None = None,
    ) -> tuple[list[TensorCall], Any]:
        """See `Backend`. Modules of torch's own within the model keep their mode and buffers."""
        modes = [(module, module.training) for module in model.modules()]
        buffers = [(buffer, buffer.clone()) for buffer in model.buffers()]
        try:
            with torch.set_grad_enabled(loss is not None), self.inline():
                calls, outputs = run_eagerly(self, model, found, args, kwargs, loss)
        finally:
            for module, training in modes:
                module.training = training
            for buffer, value in buffers:
                buffer.copy_(value)
        return calls, outputs

    @contextlib.contextmanager
    def following(self) -> Iterator[tuple[Follow | None, Gradient]]:
        """See `Backend`."""

        def follow(tensor: Any) -> tuple[Any, Any]:
            if not torch.is_grad_enabled():
                return tensor, tensor
            # A state may be part of the output, and its gradient that of both; and the model may
            # change what goes on in place.
            source = tensor.clone()
            source = source if source.requires_grad else source.requires_grad_()
            return source.clone(), source

        yield follow, partial(torch.autograd.grad, allow_unused=True, retain_graph=True)
