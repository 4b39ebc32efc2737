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
    unknown = [part for part in parts if part not in format.PARTS]
    if isinstance(parts, str) or unknown or not parts:
        raise ValueError(
            f"parts={parts!r} was given; expected one or more of {', '.join(format.PARTS)}."
        )
    return [kind for kind in format.PARTS if kind in parts]


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
    number = _whole_number(step)
    if isinstance(step, bool) or not 0 <= number <= format.MAX_STEP:
        raise ValueError(
            f"step={step!r} was given; expected a whole number from 0 to {format.MAX_STEP}: the "
            "number of optimizer updates done so far."
        )
    return number


def _whole_number(value: Any) -> int:
    """The value of an int, a NumPy integer or an integer variable; -1 for anything else."""
    try:
        return operator.index(value)
    except TypeError:
        is_integer = "int" in str(getattr(value, "dtype", "")) and tuple(value.shape) == ()
        return int(value) if is_integer else -1


def refuse_remote(logdir: str | os.PathLike[str]) -> None:
    """Refuse a log directory that is not of this machine's file system."""
    if "://" in str(logdir):
        raise ValueError(
            f"The log directory {str(logdir)!r} is not on this machine's file system, where alone "
            "GateWriter can write; log to a local directory, or through a writer that can: "
            "GateWriter(summary_writer), or GateWriter() inside "
            "tf.summary.create_file_writer(...).as_default()."
        )


def checked_options(
    layers: str | Sequence[str], parts: Sequence[str], max_units: int, max_samples: int
) -> dict[str, Any]:
    """The options of a writer, by name.

    Raises:
        ValueError: one of them is not valid.
    """
    patterns = [layers] if isinstance(layers, str) else layers
    if not isinstance(patterns, Sequence) or not all(isinstance(one, str) for one in patterns):
        raise ValueError(
            f'layers={layers!r} was given; expected a pattern for layer ids, such as "encoder/*", '
            "or a list of them."
        )
    return {
        "layers": list(patterns),
        "parts": known_parts(parts),
        "max_units": positive("max_units", max_units),
        "max_samples": positive("max_samples", max_samples),
    }


def refuse_inside_function() -> None:
    """Refuse to log while TensorFlow traces a `tf.function`."""
    tensorflow = sys.modules.get("tensorflow")
    if tensorflow is not None and tensorflow.inside_function():
        raise ValueError(
            "A GateWriter was called inside a tf.function, where it would run once, while "
            "TensorFlow traces the function, and never again; call it after the function, in the "
            "loop around it."
        )
