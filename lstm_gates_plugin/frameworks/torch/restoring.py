"""PyTorch: what is set back after a look inside a model, also after an exception in it."""

from __future__ import annotations

import contextlib
from collections import OrderedDict
from collections.abc import Iterator
from typing import Any

import torch

from lstm_gates_plugin.frameworks.random_state import restored_random_state
from lstm_gates_plugin.frameworks.torch.held import restored_attributes


@contextlib.contextmanager
def restored(model: Any, *, differentiable: bool = False) -> Iterator[None]:
    """Run a model in inference mode, and leave no trace of that.

    Its modules' modes, buffers, hooks and other attributes, the parameters' `.grad` and
    `requires_grad` and the random state are as before afterwards.

    Args:
        model: the module.
        differentiable: whether torch records operations meanwhile, so that gradients can be had.
    """
    with contextlib.ExitStack() as stack:
        if differentiable:
            stack.enter_context(torch.inference_mode(False))
        stack.enter_context(restored_random_state())
        for kind, devices in _generators(model).items():
            stack.enter_context(torch.random.fork_rng(devices, device_type=kind))
        stack.enter_context(_restored_parameters(model))
        stack.enter_context(restored_attributes(model))
        _put_backward_hooks_aside(model)
        stack.enter_context(inference_mode(model))
        stack.enter_context(torch.set_grad_enabled(differentiable))
        stack.enter_context(_without_autocast_cache())
        yield


@contextlib.contextmanager
def inference_mode(model: Any) -> Iterator[None]:
    """Every module in inference mode; afterwards each in its own mode again.

    The flag is set by itself: a module's own `train()` may do more than that, which could not be
    undone.
    """
    modes = [(module, module.training) for module in model.modules()]
    try:
        for module, _ in modes:
            module.training = False
        yield
    finally:
        for module, training in modes:
            module.training = training


def _put_backward_hooks_aside(model: Any) -> None:
    """Keep a gradient of ours from the hooks that wait for those of the training."""
    for module in model.modules():
        if not isinstance(module, torch.jit.ScriptModule):  # it keeps them elsewhere
            vars(module).update(_backward_hooks=OrderedDict(), _backward_pre_hooks=OrderedDict())


@contextlib.contextmanager
def _restored_parameters(model: Any) -> Iterator[None]:
    """Set back `requires_grad`, and `.grad`, which a model that computes gradients would add to."""
    before = [(each, each.grad, each.requires_grad) for each in model.parameters()]
    try:
        for parameter, _, _ in before:
            parameter.grad = None
        yield
    finally:
        for parameter, gradient, requires_grad in before:
            parameter.grad = gradient
            parameter.requires_grad_(requires_grad)


@contextlib.contextmanager
def _without_autocast_cache() -> Iterator[None]:
    """Within autocast, keep weights that were cast without gradients from being used again."""
    enabled = torch.is_autocast_cache_enabled()
    torch.set_autocast_cache_enabled(False)
    try:
        yield
    finally:
        torch.set_autocast_cache_enabled(enabled)


def _generators(model: Any) -> dict[str, list[int]]:
    """The devices whose random state a model may change, by kind; that of the CPU is always kept.

    A device that was not used before has no state to keep, and asking for it would start it.
    """
    kinds = {"cpu", *(parameter.device.type for parameter in model.parameters())}
    if torch.cuda.is_available() and torch.cuda.is_initialized():
        kinds.add("cuda")
    modules = {kind: getattr(torch, kind, None) for kind in kinds - {"cpu"}}
    counts = {kind: module.device_count() for kind, module in modules.items() if module}
    return {"cpu": [], **{kind: list(range(count)) for kind, count in counts.items()}}
