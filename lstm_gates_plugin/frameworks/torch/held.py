"""PyTorch: what modules hold besides parameters, set back after a model has run."""

from __future__ import annotations

import contextlib
import copy
import random
from collections import OrderedDict, deque
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import torch

from lstm_gates_plugin.frameworks.torch.values import copied

# Kinds of containers in which modules keep what they note: hooks, states, lists of outputs.
_CONTAINERS = (dict, OrderedDict, list, set, deque)


@contextlib.contextmanager
def restored_attributes(model: Any) -> Iterator[None]:
    """Set back what modules hold, also inside of containers: attributes, tensors, generators.

    The model writes to copies of the tensors: a graph of the user's may have kept their values.
    Objects of other classes, and what they hold, are left as the model leaves them.
    """
    modules = list(model.modules())
    attributes = [(vars(module), dict(vars(module))) for module in modules]
    scripted = [  # such a module cannot be given others
        (buffer, buffer.clone())
        for module in modules
        if isinstance(module, torch.jit.ScriptModule)
        for buffer in module.buffers(recurse=False)
    ]
    held = _Held()
    try:
        for mine, before in attributes:
            mine.update({name: held.put_aside(value) for name, value in before.items()})
        yield
    finally:
        for mine, before in attributes:
            for name in mine.keys() - before.keys():
                del mine[name]
            mine.update(before)
        held.restore()
        with torch.no_grad():
            for buffer, value in scripted:
                if not torch.equal(buffer, value):
                    buffer.copy_(value)


class _Held:
    """Values that a model may change, and how each is set back."""

    def __init__(self) -> None:
        self._in_place: dict[int, Any] = {}  # by identity, what a model uses in place of a value
        self._kept: list[Any] = []  # so that no identity is used again
        self._restore: list[Callable[[], Any]] = []

    def restore(self) -> None:
        """Set everything back."""
        for restore in self._restore:
            restore()

    def put_aside(self, value: Any) -> Any:
        """What a model is to use in place of a value: itself, with others inside, or a copy."""
        if id(value) not in self._in_place:
            self._kept.append(value)
            self._in_place[id(value)] = value
            self._in_place[id(value)] = self._replaced(value)
        return self._in_place[id(value)]

    def _replaced(self, value: Any) -> Any:
        if isinstance(value, torch.Tensor):
            return value if isinstance(value, torch.nn.Parameter) else copied(value)
        if type(value) in _CONTAINERS:
            self._put_contents_aside(value)
        elif isinstance(value, tuple):
            items = [self.put_aside(item) for item in value]
            if any(new is not old for new, old in zip(items, value, strict=True)):
                return type(value)(*items) if hasattr(value, "_fields") else type(value)(items)
        elif (restore := _restore_generator(value)) is not None:
            self._restore.append(restore)
        return value

    def _put_contents_aside(self, container: Any) -> None:
        content = copy.copy(container)

        def restore() -> None:
            container.clear()
            (container.update if hasattr(container, "update") else container.extend)(content)

        self._restore.append(restore)
        if isinstance(container, dict):
            container.update({key: self.put_aside(item) for key, item in content.items()})
        elif not isinstance(container, set):
            for index, item in enumerate(content):
                container[index] = self.put_aside(item)


def _restore_generator(value: Any) -> Callable[[], Any] | None:
    """A function that sets a generator of random numbers back; `None` for other values."""
    if isinstance(value, random.Random):
        state = value.getstate()
        return partial(value.setstate, state)
    if isinstance(value, torch.Generator):
        tensor = value.get_state()
        return partial(value.set_state, tensor)
    if isinstance(value, np.random.RandomState):
        legacy = value.get_state()
        return partial(value.set_state, legacy)
    if isinstance(value, np.random.Generator):
        before = copy.deepcopy(value.bit_generator.state)
        return partial(setattr, value.bit_generator, "state", before)
    return None
