"""How each framework initialises the kernels of its recurrent layers unless it is told otherwise.

From the sources of Keras 3.15, torch 2.13, Flax 0.12 and TensorFlow 1.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple


class Initialiser(NamedTuple):
    """A default: its name, and its limit where it is uniform."""

    name: str
    limit: float | None = None


def default_initialiser(layer: dict[str, Any] | Any, part: str) -> Initialiser | None:
    """The default of a layer's kernel or recurrent kernel; None where it is not known.

    Args:
        layer: the layer's description.
        part: ``kernel`` or ``recurrent_kernel``.
    """
    framework = str(layer["options"].get("framework", ""))
    gates, inputs, units = len(layer["gates"]), layer["input_size"], layer["units"]
    if framework.startswith("torch"):
        return Initialiser("uniform", 1 / math.sqrt(units))
    if framework.startswith(("keras", "tf_keras")):
        if part == "recurrent_kernel":
            return Initialiser("orthogonal")
        return Initialiser("Glorot uniform", math.sqrt(6 / (inputs + gates * units)))
    if framework.startswith("tf1"):
        fan_in = inputs + layer["recurrent_size"]
        return Initialiser("Glorot uniform", math.sqrt(6 / (fan_in + gates * units)))
    if framework.startswith("flax"):
        return Initialiser("LeCun normal" if part == "kernel" else "orthogonal")
    return None
