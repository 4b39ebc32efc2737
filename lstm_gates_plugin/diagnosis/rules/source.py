"""Where a threshold comes from that is of no paper."""

from __future__ import annotations


def own(mistake: str, right: str, test: str) -> str:
    """Our own threshold, between what was measured with a mistake and without it.

    Args:
        mistake: the number of a network that a mistake trained into it.
        right: such as "at most 0.16": the numbers of networks that were trained without it.
        test: the module of tests that trains them.
    """
    numbers = f"{mistake} with a mistake, {right} without it"
    return f"our own threshold: {numbers}, tested in tests/{test}.py"
