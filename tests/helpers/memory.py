"""How much memory this process has."""

import resource
from pathlib import Path


def resident() -> int:
    """The memory that this process has now, in bytes."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize()
