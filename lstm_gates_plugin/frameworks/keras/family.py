"""Which Keras a model belongs to, and the few things in which Keras 3 and Keras 2 differ here.

Both can be in one process: `keras` (Keras 3, on TensorFlow, JAX or torch) and `tf_keras` (Keras 2,
which is also `tf.keras` where `TF_USE_LEGACY_KERAS` is set). A model is of the one that defines its
class.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np

from lstm_gates_plugin.fused import Array

_PACKAGES = ("keras", "tf_keras")


class Keras:
    """One Keras of the process: `keras` or `tf_keras`.

    Attributes:
        name: of the package, as it is shown in a layer's `options["framework"]`.
        module: the package.
        layers: its `layers`.
        generation: 2 or 3.
    """

    def __init__(self, module: ModuleType) -> None:
        self.name: str = module.__name__
        self.module: Any = module
        self.layers: Any = module.layers
        self.generation = int(module.__version__.partition(".")[0])

    @property
    def backend(self) -> str:
        """`"tensorflow"`, `"jax"` or `"torch"`."""
        return "tensorflow" if self.generation == 2 else str(self.module.backend.backend())

    @property
    def hard_sigmoid(self) -> str:
        """Our name for its `hard_sigmoid`, of which there are two."""
        return "hard_sigmoid_keras2" if self.generation == 2 else "hard_sigmoid"

    def defines(self, thing: Any) -> bool:
        """Whether a class or function is this Keras's own, not the user's."""
        return str(thing.__module__).partition(".")[0] == self.name

    def flatten(self, structure: Any) -> list[Any]:
        """The leaves of nested lists, tuples and dicts."""
        if self.generation == 2:
            return list(sys.modules["tensorflow"].nest.flatten(structure))
        return list(self.module.tree.flatten(structure))

    def map(self, function: Callable[[Any], Any], structure: Any) -> Any:
        """The same nest of other leaves."""
        if self.generation == 2:
            return sys.modules["tensorflow"].nest.map_structure(function, structure)
        return self.module.tree.map_structure(function, structure)

    def initial_state(self, layer: Any, inputs: Any) -> Any:
        """The state that a recurrent layer starts from where it is given none."""
        if self.generation == 2:
            return layer.get_initial_state(inputs)
        return layer.get_initial_state(self.module.ops.shape(inputs)[0])

    def tensor(self, value: Any, dtype: Any = None) -> Any:
        """A tensor of the backend; of a variable, its present value."""
        if self.generation == 2:
            return sys.modules["tensorflow"].convert_to_tensor(value, dtype)
        return self.module.ops.convert_to_tensor(value, dtype)

    def array(self, value: Any) -> Array:
        """A tensor's or variable's present value as an array that is not shared."""
        if self.generation == 2:
            return np.array(self.module.backend.get_value(value))
        if isinstance(value, self.module.Variable):
            value = value.value
        if self.backend == "tensorflow":  # whose variables NumPy warns of
            return np.array(value.numpy() if hasattr(value, "numpy") else value)
        return np.array(self.module.ops.convert_to_numpy(value))


def keras_of(thing: Any) -> Keras:
    """The Keras that defines an object's class, or one that it inherits from.

    Raises:
        TypeError: none does.
    """
    for cls in type(thing).__mro__:
        package = cls.__module__.partition(".")[0]
        if package in _PACKAGES:
            return _keras(package)
    raise TypeError(f"{type(thing).__qualname__} is no class of Keras.")


@functools.cache
def _keras(package: str) -> Keras:
    return Keras(sys.modules[package])
