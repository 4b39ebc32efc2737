"""What JAX compiles while a block runs."""

from collections.abc import Iterator
from contextlib import contextmanager

import jax
import pytest


@contextmanager
def compiling(caplog: pytest.LogCaptureFixture) -> Iterator[list[str]]:
    """Names of the functions that XLA compiles in the block, once it has ended."""
    compiled: list[str] = []
    caplog.clear()
    with jax.log_compiles(), caplog.at_level("WARNING", "jax"):
        yield compiled
    messages = [record.getMessage() for record in caplog.records]
    compiled += [one for one in messages if one.startswith("Finished XLA compilation")]
