"""PyTorch: what of a model can be recorded, and sentences on what cannot."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch._C._dynamo import eval_frame
from torch.nn.parameter import is_lazy

from lstm_gates_plugin.frameworks.not_opened import advice
from lstm_gates_plugin.frameworks.torch import kinds
from lstm_gates_plugin.frameworks.torch import layers as torch_layers
from lstm_gates_plugin.frameworks.torch.layers import Found, unwrap
from lstm_gates_plugin.telling import tell


def recordable(model: Any) -> list[Found]:
    """The recurrent modules whose calls can be recorded; the others are named in a warning.

    Raises:
        ValueError: there is none.
    """
    found = torch_layers.find(model)
    unknown = torch_layers.look_recurrent(model)
    name = f"the model of class {type(unwrap(model)).__name__}"
    if not found:
        raise ValueError(
            f"{name} has no recurrent layer: no {kinds.SUPPORTED} was found in it. "
            + advice(unknown, kinds.SUPPORTED)
        )
    if unknown:
        tell(
            f"{name} has more that looks recurrent. {advice(unknown, kinds.SUPPORTED)}",
            stacklevel=5,
        )
    if _is_sharded(model):
        raise ValueError(
            f"{name} is sharded by FSDP: each process holds a part of the weights, and calling it "
            "in one process would wait for the others. Trace a copy that holds all of them, from "
            "a checkpoint for instance."
        )
    scripted = [
        f"layer {each.id!r} is scripted: torch.jit runs it, past everything that could be "
        "recorded. Its weights can be shown; for its gates, trace the model before it is scripted."
        for each in found
        if kinds.is_scripted(each.module)
    ]
    warn_or_raise(scripted, len(scripted) < len(found))
    return [each for each in found if not kinds.is_scripted(each.module)]


def warn_or_raise(sentences: Sequence[str], others_remain: bool) -> None:
    """Name what is left out.

    Raises:
        ValueError: nothing else remains.
    """
    if sentences and not others_remain:
        raise ValueError(" ".join(sentences))
    for sentence in sentences:
        tell(sentence, stacklevel=5)


def _is_sharded(model: Any) -> bool:
    """Whether FSDP, of either generation, keeps parts of the model in other processes."""
    classes = {cls.__name__ for module in model.modules() for cls in type(module).__mro__}
    if not classes & {"FullyShardedDataParallel", "FSDPModule"}:
        return False
    return bool(torch.distributed.get_world_size() > 1)


def check(model: Any) -> None:
    """Refuse what cannot be recorded at all.

    Raises:
        TypeError: it is no module.
        ValueError: it has no weights yet, or this is called while a function is compiled.
    """
    if not isinstance(model, torch.nn.Module):
        raise TypeError(
            "a PyTorch model must be a torch.nn.Module, and an object of type "
            f"{type(model).__module__}.{type(model).__qualname__} was given."
        )
    lazy = [name for name, each in model.named_parameters() if is_lazy(each)]
    if lazy:
        raise ValueError(
            f"the model has no weights yet where lazy modules have not been called: "
            f"{', '.join(lazy)}. Call it once on a batch first."
        )
    # This function is compiled as well, or it is called uncompiled from one that is.
    callback = getattr(eval_frame, "get_eval_frame_callback", lambda: None)
    if torch.compiler.is_compiling() or callable(callback()):
        _refuse_compilation()


@torch.compiler.disable  # type: ignore[untyped-decorator]
def _refuse_compilation() -> None:
    raise ValueError(
        "gates cannot be recorded inside a function that torch.compile compiles, which has no "
        "values yet. Log and trace outside of it."
    )
