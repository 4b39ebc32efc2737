"""What of a model is recurrent by its name and cannot be opened, in a sentence."""

from __future__ import annotations

import re
from collections.abc import Sequence

# The end of a class's name that says that it is recurrent, other than `LSTMHead`.
_RECURRENT = re.compile(r"(LSTM|GRU|RNN|Recurrent)(Cell|Layer|Block|Net|Network|Model|Module)?\d*$")


def is_recurrent_by_name(class_name: str) -> bool:
    """Whether the name of a class says that it is recurrent."""
    return _RECURRENT.search(class_name) is not None


def advice(unknown: Sequence[str], supported: str) -> str:
    """What could not be opened, and what remains possible.

    Args:
        unknown: what is recurrent by its name, with the name of its class.
        supported: the classes that are opened.
    """
    which = (
        f"{', '.join(unknown)} cannot be opened, since the equations are not known. "
        if unknown
        else ""
    )
    return (
        f"{which}A recurrent module of your own is opened as far as it is made of {supported}"
        "; otherwise hand its arrays to lg.RecurrentLayer.from_arrays."
    )
