"""NumPy's matrix products on one thread while records are made.

They are small, and the training has the processor's cores: threads of both would wait for each
other. With two busy cores a log call took five times as long as on one thread, and the training
beside it twice as long (measured on OpenBLAS, whose threads wait by spinning).
"""

from __future__ import annotations

import contextlib
import functools
from typing import Any

from threadpoolctl import ThreadpoolController


def one_thread() -> contextlib.AbstractContextManager[Any]:
    """Limit the threads of NumPy's OpenBLAS to one in the block, and no other library's."""
    limited: contextlib.AbstractContextManager[Any] = _openblas().limit(limits=1)
    return limited


@functools.cache
def _openblas() -> Any:
    """Found once: NumPy is loaded, and looking through all libraries takes milliseconds."""
    return ThreadpoolController().select(internal_api="openblas")
