"""What users hand to a writer, checked: each wrong value gets a sentence, as a ValueError."""

from __future__ import annotations

import operator
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from lstm_gates_plugin import format


def make_directory(directory: Path) -> None:
    """Make the directory and try it out."""
    try:
        directory.mkdir(parents=True, exist_ok=True)
        trial = directory / f".writable-{os.getpid()}"
        trial.touch()
        trial.unlink()
    except OSError as error:
        raise ValueError(
            f"The log directory {str(directory)!r} cannot be written ({error}); give a directory "
            "that this process may create files in."
        ) from error


def known_parts(parts: Sequence[str]) -> list[str]:
    """The kinds to log, in order."""
    unknown = [part for part in parts if part not in format.KINDS]
    if isinstance(parts, str) or unknown or not parts:
        raise ValueError(
            f"parts={parts!r} was given; expected one or more of {', '.join(format.KINDS)}."
        )
    return [kind for kind in format.KINDS if kind in parts]


def positive(name: str, value: int) -> int:
    """The value, a whole number of at least 1."""
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise ValueError(f"{name}={value!r} was given; expected a whole number of at least 1.")
    return value


def checked_step(step: Any) -> int:
    """The training step as an int; NumPy's and TensorFlow's whole numbers are taken too."""
    if step is None:
        raise ValueError(
            "No step was given; pass step=, the number of optimizer updates done so far."
        )
    try:
        number = operator.index(step)
    except TypeError:
        number = -1
    if isinstance(step, bool) or not 0 <= number <= format.MAX_STEP:
        raise ValueError(
            f"step={step!r} was given; expected a whole number from 0 to {format.MAX_STEP}: the "
            "number of optimizer updates done so far."
        )
    return number


def refuse_inside_function() -> None:
    """Refuse to log while TensorFlow traces a `tf.function`."""
    tensorflow = sys.modules.get("tensorflow")
    if tensorflow is not None and tensorflow.inside_function():
        raise ValueError(
            "A GateWriter was called inside a tf.function, where it would run once, while "
            "TensorFlow traces the function, and never again; call it after the function, in the "
            "loop around it."
        )
