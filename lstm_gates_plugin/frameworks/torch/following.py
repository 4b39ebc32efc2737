"""PyTorch: what recurrent modules put out, followed so that a loss can be differentiated by it."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import Any

import torch

from lstm_gates_plugin.frameworks.arriving import single_number
from lstm_gates_plugin.frameworks.torch.values import mapped


def followed(result: Any, *, everything: bool) -> tuple[Any, Any]:
    """Follow what a module put out.

    Args:
        result: what it put out.
        everything: whether to follow also what torch recorded nothing of, as the output of a frozen
            module. The model then gets tensors that require gradients where it got none before.

    Returns:
        What goes on in its place, and the sources of gradients in the same nest. What goes on are
        copies: a state may be part of the output, and its gradient that of both; and the model may
        write into what it got.
    """

    def source(tensor: Any) -> Any:
        if everything and tensor.is_floating_point() and not tensor.requires_grad:
            return tensor.detach().requires_grad_()
        return tensor.view_as(tensor) if tensor.requires_grad else tensor

    sources = mapped(source, result)
    return mapped(lambda each: each.clone() if each.requires_grad else each, sources), sources


def gradients(loss: Any, sources: Sequence[Any], *, keep_graph: bool) -> list[Any]:
    """The gradients of a loss by the sources of several calls, `None` where it does not depend.

    No parameter's `.grad` is touched.

    Args:
        loss: the user's, a single number.
        sources: of each call.
        keep_graph: whether the user may go on to differentiate the loss.

    Raises:
        ValueError: the loss is not a single number, or torch did not record how it came about.
    """
    loss = single_number(loss)
    if not isinstance(loss, torch.Tensor):
        raise ValueError(
            f"the loss must be a tensor of torch, and an object of type {type(loss).__qualname__} "
            "was given: take it before .item() or float()."
        )
    if not loss.requires_grad:
        raise ValueError(
            "torch did not record how the loss came about, so that it has no gradients: compute it "
            "from what the model returned, outside of torch.no_grad(), torch.inference_mode() and "
            "without .detach()."
        )
    flat = [tensor for nest in sources for tensor in _tensors(nest)]
    if not flat:
        return list(sources)
    try:
        found = torch.autograd.grad(loss, flat, allow_unused=True, retain_graph=keep_graph)
    except RuntimeError as error:
        if "second time" not in str(error):
            raise
        raise ValueError(
            "torch has freed what it recorded of the loss: ask for traces(loss=loss) before "
            "loss.backward(), or call loss.backward(retain_graph=True)."
        ) from error
    remaining = iter(found)
    return [
        mapped(lambda each: next(remaining) if each.requires_grad else None, nest)
        for nest in sources
    ]


@contextlib.contextmanager
def differentiable(data: Any) -> Iterator[None]:
    """Run a recurrent module such that it can be differentiated in inference mode.

    cuDNN refuses that; torch's own kernels do not, on whatever device.
    """
    if not data.is_cuda:
        yield
        return
    before = torch.backends.cudnn.enabled
    torch.backends.cudnn.enabled = False
    try:
        yield
    finally:
        torch.backends.cudnn.enabled = before


def can_be_followed(sources: Any) -> bool:
    """Whether a loss can be differentiated by any of the sources of a call."""
    return bool(_tensors(sources))


def _tensors(nest: Any) -> list[Any]:
    """The tensors of a nest by which one can differentiate, in the order of `mapped`."""
    found: list[Any] = []
    mapped(found.append, nest)
    return [tensor for tensor in found if tensor.requires_grad]
