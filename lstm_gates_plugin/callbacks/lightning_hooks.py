"""What a `Trainer` asks of a callback, without a base class of either of Lightning's packages.

`lightning.pytorch` and `pytorch_lightning` are the same code with classes of their own, often both
installed, and which one a process trains with may not be known before `fit`. A `Trainer` calls the
callbacks in its list by the names of hooks, whatever their class.
"""

from __future__ import annotations

from typing import Any, NoReturn


def ignored(*_: Any, **__: Any) -> None:
    """Nothing is done here."""


class Hooks:
    """A callback that does nothing yet; a subclass defines the hooks that it needs."""

    @property
    def state_key(self) -> str:
        """Under which a checkpoint holds this callback's state."""
        return type(self).__qualname__

    @property
    def _legacy_state_key(self) -> type:
        return type(self)

    def __getattr__(self, name: str) -> Any:
        # Every hook that is not defined, also those of a later version of Lightning.
        if name.startswith("on_") or name in ("setup", "teardown"):
            return ignored
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __iter__(self) -> NoReturn:
        # Of a single object a Trainer asks whether it is of its own class, before it looks inside.
        name = type(self).__name__
        raise TypeError(
            f"{name} was given to a Trainer by itself; give it in a list: "
            f"Trainer(callbacks=[{name}(...)])."
        )
