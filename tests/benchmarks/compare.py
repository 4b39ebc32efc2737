"""Ratios of two things that are measured side by side, in turn, in one run."""

import statistics
import time
from collections.abc import Callable

ROUNDS = 15


def ratio(name: str, ours: Callable[[], object], other: Callable[[], object]) -> None:
    """Print the medians of both and how many times the other one takes."""
    seconds: dict[Callable[[], object], list[float]] = {ours: [], other: []}
    for each in (ours, other):
        each()
    for _ in range(ROUNDS):
        for each in (ours, other):
            started = time.perf_counter()
            each()
            seconds[each].append(time.perf_counter() - started)
    first, second = (1e3 * statistics.median(seconds[each]) for each in (ours, other))
    print(f"{name}: {first:.2f} ms against {second:.2f} ms, ratio {second / first:.1f}", flush=True)
