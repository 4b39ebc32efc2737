"""Where a threshold comes from that is of no paper."""

from __future__ import annotations


def own(test: str) -> str:
    """Our own threshold, which a module of tests/diagnosis shows to lie where it should."""
    return f"our own threshold, tested in tests/diagnosis/{test}.py"
