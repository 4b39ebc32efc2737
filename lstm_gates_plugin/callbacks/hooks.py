"""What `fit` calls of a callback, in Keras 3 and in Keras 2 alike, without a base class of either.

A callback of one Keras fails in the other, and which one a process trains with may not be known
before `fit`: both can be there.
"""

from __future__ import annotations

from typing import Any

from lstm_gates_plugin.frameworks.keras.family import keras_of


def _ignored(self: Hooks, *arguments: Any, **logs: Any) -> None:
    """Nothing is done here."""


_ignored._is_default = True  # type: ignore[attr-defined]  # by which Keras may leave the call out


class Hooks:
    """A callback that does nothing yet; a subclass overrides what it needs."""

    params: dict[str, Any] | None = None
    _of_keras: Any = None

    def set_params(self, params: dict[str, Any]) -> None:
        """Called by `fit` before it begins."""
        self.params = params

    def set_model(self, model: Any) -> None:
        """Called by `fit` before it begins."""
        keras = keras_of(getattr(model, "module", model))  # torch's wrappers hold it as `module`
        self._of_keras = keras.module.callbacks.Callback()
        self._of_keras.set_model(model)

    @property
    def model(self) -> Any:
        """The model that is trained. On JAX, Keras first puts its present values into it."""
        return self._of_keras.model

    on_batch_begin = on_batch_end = _ignored
    on_epoch_begin = on_epoch_end = _ignored
    on_train_begin = on_train_end = on_train_batch_begin = on_train_batch_end = _ignored
    on_test_begin = on_test_end = on_test_batch_begin = on_test_batch_end = _ignored
    on_predict_begin = on_predict_end = on_predict_batch_begin = on_predict_batch_end = _ignored

    def _implements_train_batch_hooks(self) -> bool:
        return True

    def _implements_test_batch_hooks(self) -> bool:
        return False

    def _implements_predict_batch_hooks(self) -> bool:
        return False
