"""PyTorch: record what goes into the recurrent modules of a model while it runs."""

from __future__ import annotations

import contextlib
import weakref
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeAlias

import torch
from torch.optim.optimizer import register_optimizer_step_pre_hook

from lstm_gates_plugin.frameworks.replaced import replaced_attributes
from lstm_gates_plugin.frameworks.torch import kinds
from lstm_gates_plugin.frameworks.torch.call import ModuleCall, is_transformed
from lstm_gates_plugin.frameworks.torch.following import differentiable, followed
from lstm_gates_plugin.frameworks.torch.layers import DISTRIBUTING, Found, wrapped_attribute
from lstm_gates_plugin.frameworks.torch.values import to_model

#: Is given each call right after it was made, with the number of its module; or why there is none.
Keep: TypeAlias = Callable[[int, ModuleCall | str], None]

_NOT_NOW = (
    "while gates are recorded, which is done in inference mode. Take training steps outside of "
    "record()."
)


@contextlib.contextmanager
def recorded(
    model: Any,
    found: Sequence[Found],
    keep: Keep,
    samples: int | None = None,
    *,
    for_gradients: bool = False,
) -> Iterator[None]:
    """Record every call of some modules, in the order in which they are made.

    Their `forward` is another one meanwhile, past which no call goes: that of a hook would be the
    one before other hooks, and a compiled function calls none that were added later. So compiled
    functions run uncompiled.

    Args:
        model: holds the modules; wrappers in it that distribute work call what they wrap.
        found: the modules.
        keep: is given each call.
        samples: how many rows of a call to keep at most.
        for_gradients: whether torch is to record what the modules do, also where the model asks it
            not to, or where they are frozen. Otherwise one can differentiate by what a module puts
            out wherever torch recorded that anyway.
    """
    with contextlib.ExitStack() as stack:
        stack.enter_context(_uncompiled())
        stack.enter_context(_no_updates(model))
        for module in model.modules():
            if wrapped_attribute(module, DISTRIBUTING) is not None:
                stack.enter_context(replaced_attributes(module, forward=_local(module)))
        for number, each in enumerate(found):
            forward = _recording(number, each, keep, samples, for_gradients)
            stack.enter_context(replaced_attributes(each.module, forward=forward))
        yield


def _recording(
    number: int, found: Found, keep: Keep, samples: int | None, for_gradients: bool
) -> Callable[..., Any]:
    """A module's `forward` that hands on what goes in and comes out."""
    module, forward = found.module, found.module.forward
    before = _States(None)

    def recording(*args: Any, **kwargs: Any) -> Any:
        nonlocal before
        if module.training:
            raise ValueError(f"layer {found.id!r} was run in training mode {_NOT_NOW}")
        inputs, states = _arguments(*args, **kwargs)
        with torch.no_grad():
            call = ModuleCall.taken(module, inputs, states, samples)
        given, before = before, _States(None)
        if call is None:
            result = forward(*args, **kwargs)  # first: it may be this that torch refuses
            keep(number, _not_taken(module, inputs))
            return result
        sources = None
        with torch.set_grad_enabled(for_gradients or torch.is_grad_enabled()):
            if torch.is_grad_enabled():
                with differentiable(inputs.data):
                    result, sources = followed(forward(*args, **kwargs), everything=for_gradients)
            else:
                result = forward(*args, **kwargs)
        with torch.no_grad():
            call.goes_on = given.are(states)
            before = _States(call.returned(result))
            call.sources = sources
            keep(number, call)
        return result

    return recording


class _States:
    """The states that a call returned, known again without being kept alive.

    Args:
        states: a tensor, or a tuple of them; anything else is never known again.
    """

    def __init__(self, states: Any) -> None:
        parts = states if isinstance(states, (list, tuple)) else [states]
        are_tensors = all(isinstance(part, torch.Tensor) for part in parts)
        self._parts = [weakref.ref(part) for part in parts] if are_tensors else []

    def are(self, states: Any) -> bool:
        """Whether these are the very same states."""
        parts = states if isinstance(states, (list, tuple)) else [states]
        return len(parts) == len(self._parts) > 0 and all(
            known() is part for known, part in zip(self._parts, parts, strict=True)
        )


def _not_taken(module: Any, inputs: Any) -> str:
    """Why a call that went well could not be recorded."""
    if is_transformed(inputs):
        return "torch.func transforms the function in which it runs, and there it has no values"
    if isinstance(inputs, torch.Tensor):
        given = f"a tensor of shape {tuple(inputs.shape)} and type {inputs.dtype}"
    else:
        given = f"an object of type {type(inputs).__qualname__}"
    own, name = kinds.class_name(module), type(module).__name__
    who = "it" if name == own else f"its subclass {name}"
    return (
        f"a torch.nn.{own} takes sequences of {module.input_size} features, and {who} was given "
        f"{given} as its first argument"
    )


def _arguments(*args: Any, **kwargs: Any) -> tuple[Any, Any]:
    """The sequence and the initial states that a recurrent module was given, as torch names them.

    A subclass may call them otherwise, and take more.
    """
    given = [*args, *kwargs.values()]
    inputs = kwargs.get("input", given[0] if given else None)
    return inputs, kwargs.get("hx", args[1] if len(args) > 1 else None)


def _local(wrapper: Any) -> Callable[..., Any]:
    """A `forward` that calls what a wrapper wraps, here and now.

    That of `DistributedDataParallel` may wait for other processes, which do not trace, and that of
    `DataParallel` runs copies.
    """

    def local(*args: Any, **kwargs: Any) -> Any:
        args, kwargs = to_model(wrapper.module, (args, kwargs))
        return wrapper.module(*args, **kwargs)

    return local


def _uncompiled() -> contextlib.AbstractContextManager[Any]:
    """Run compiled functions uncompiled; before torch 2.6 that cannot be asked for."""
    set_stance = getattr(torch.compiler, "set_stance", None)
    return contextlib.nullcontext() if set_stance is None else set_stance("force_eager")


@contextlib.contextmanager
def _no_updates(model: Any) -> Iterator[None]:
    """Refuse training steps of the model's parameters."""
    ours = {id(parameter) for parameter in model.parameters()}

    def refuse(optimizer: Any, args: Any, kwargs: Any) -> None:
        updated = (each for group in optimizer.param_groups for each in group["params"])
        if any(id(each) in ours for each in updated):
            raise ValueError(f"an optimizer was to update the model {_NOT_NOW}")

    handle = register_optimizer_step_pre_hook(refuse)
    try:
        yield
    finally:
        handle.remove()
