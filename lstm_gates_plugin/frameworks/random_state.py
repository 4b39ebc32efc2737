"""The random state of Python and NumPy, from which a model may draw whatever its framework."""

from __future__ import annotations

import contextlib
import random
from collections.abc import Iterator

import numpy as np


@contextlib.contextmanager
def restored_random_state() -> Iterator[None]:
    """Set it back at the end of the block, also after an exception."""
    python, numpy = random.getstate(), np.random.get_state()
    try:
        yield
    finally:
        random.setstate(python)
        np.random.set_state(numpy)
