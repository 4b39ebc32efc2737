"""PyTorch: find the recurrent modules of a model, and give their layers ids.

A layer's id is the path of its module from the model, which is not part of it: attributes and
container keys. Levels and directions follow where a module has more than one. Wrappers vanish, so
that a plain, a compiled and a distributed run have the same ids.

| model                                                  | ids                               |
|--------------------------------------------------------|-----------------------------------|
| `self.encoder = nn.LSTM(3, 4)`                         | `encoder`                         |
| the same with `num_layers=2`                           | `encoder/layer_0`, `.../layer_1`  |
| the same with `bidirectional=True`                     | `encoder/forward`, `.../backward` |
| the same with both                                     | `encoder/layer_0/forward`, ...    |
| `self.cells = nn.ModuleList([nn.LSTMCell(3, 4), ...])` | `cells/0`, ...                    |
| `nn.Sequential(nn.GRU(3, 4), ...)`                     | `0`, ...                          |
| `nn.LSTM(3, 4)` itself                                 | `lstm_0`                          |
| `torch.compile(model)`, `DataParallel(model)`, ...     | as of `model`                     |

A module that is used in several places is one module, under its first path. Should two paths be
equal, the second gets `#2`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from torch.nn.utils import parametrize

from lstm_gates_plugin.frameworks.not_opened import is_recurrent_by_name
from lstm_gates_plugin.frameworks.torch.kinds import Place, class_name, places_of

# By class of a wrapper, the attribute that holds what it wraps.
_WRAPPED = {
    "AveragedModel": "module",
    "CheckpointWrapper": "_checkpoint_wrapped_module",
    "DataParallel": "module",
    "DistributedDataParallel": "module",
    "FullyShardedDataParallel": "_fsdp_wrapped_module",
    "OptimizedModule": "_orig_mod",
}
#: Of these, the ones that hand work to other devices or wait for other processes.
DISTRIBUTING = ("DataParallel", "DistributedDataParallel")


@dataclass(frozen=True)
class Found:
    """A recurrent module of a model.

    Attributes:
        id: the path of the module, which its layers' ids start with.
        module: an `nn.LSTM`, `nn.GRUCell`, ...
        parent: the module that holds it, or `None` for the model itself.
        aliases: further paths of the module.
    """

    id: str
    module: Any
    parent: Any
    aliases: list[str] = field(default_factory=list)

    @property
    def places(self) -> list[Place]:
        """Its layers."""
        return places_of(self.module)

    def layer_id(self, place: Place) -> str:
        """The id of one of its layers."""
        places = self.places
        parts = [self.id]
        if places[-1].level:
            parts.append(f"layer_{place.level}")
        if places[-1].direction == "backward":
            parts.append(place.direction)
        return "/".join(parts)


def unwrap(module: Any) -> Any:
    """The module without the wrappers around it, such as that of torch.compile."""
    while (attribute := wrapped_attribute(module)) is not None:
        module = getattr(module, attribute)
    return module


def wrapped_attribute(module: Any, wrappers: tuple[str, ...] = tuple(_WRAPPED)) -> str | None:
    """The attribute that holds what a wrapper of torch wraps; `None` for other modules."""
    for cls in type(module).__mro__:
        if cls.__name__ in wrappers and cls.__module__.startswith("torch."):
            return _WRAPPED[cls.__name__]
    return None


def find(model: Any) -> list[Found]:
    """The recurrent modules in or under a model, in the order in which it holds them."""
    model = unwrap(model)
    if class_name(model) is not None:
        return [Found(f"{_snake(_original_name(model))}_0", model, None)]
    found: dict[int, Found] = {}
    ids: Counter[str] = Counter()
    for path, parent, module in _walk(model, (), (id(model),)):
        name = "/".join(path)
        if id(module) in found:
            found[id(module)].aliases.append(name)
            continue
        ids[name] += 1
        name = name if ids[name] == 1 else f"{name}#{ids[name]}"
        found[id(module)] = Found(name, module, parent)
    return list(found.values())


def look_recurrent(model: Any) -> list[str]:
    """Modules that are recurrent by the name of their class, and that cannot be opened."""
    names = []
    for path, module in unwrap(model).named_modules():
        cls = _original_name(module)
        if not is_recurrent_by_name(cls) or next(module.parameters(), None) is None:
            continue
        if not any(class_name(each) for each in module.modules()):
            names.append(f"{path.replace('.', '/') or 'the model itself'} ({cls})")
    return names


def _walk(
    parent: Any, path: tuple[str, ...], above: tuple[int, ...]
) -> Iterator[tuple[tuple[str, ...], Any, Any]]:
    """Every way to a recurrent module: its path, the module that holds it, and itself."""
    for name, child in parent._modules.items():
        # What computes a parametrized weight is part of it; a cycle leads nowhere new.
        if (
            child is None
            or id(child) in above
            or isinstance(child, parametrize.ParametrizationList)
        ):
            continue
        part = () if wrapped_attribute(parent) == name else (name,)
        if class_name(child) is not None:
            yield (*path, *part), parent, child
        else:
            yield from _walk(child, (*path, *part), (*above, id(child)))


def _original_name(module: Any) -> str:
    """The name of a module's class before torch put another one in its place."""
    name = getattr(module, "original_name", None)  # of a scripted module
    return str(name or parametrize.type_before_parametrizations(module).__name__)


def _snake(name: str) -> str:
    snake = re.sub(r"(.)([A-Z][a-z]+)", r"\1_\2", name)
    return re.sub(r"([a-z])([A-Z])", r"\1_\2", snake).lower()
