"""What check() found: one result per test, and all of them as a table."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import Enum

_WIDTH = 96


class Outcome(Enum):
    """How a test ended."""

    PASSED = "passed"
    MISTAKE = "mistake"
    NOT_JUDGED = "not judged"


@dataclass(frozen=True)
class CheckResult:
    """How one test ended.

    Attributes:
        id: of the test, such as `"LG101"`; it stays the same over versions.
        name: what the test is about, in a few words.
        outcome: whether it passed, found a mistake, or could not be judged.
        seen: one sentence: what was seen, or why it could not be judged.
        advice: what to try, where there is a mistake; else empty.
        layers: the ids of the layers that it is about.
    """

    id: str
    name: str
    outcome: Outcome
    seen: str
    advice: str = ""
    layers: tuple[str, ...] = ()


@dataclass(frozen=True, repr=False)
class CheckReport:
    """All results of a check(). Printed, it is a table with a sentence for each.

    Attributes:
        results: one per test, in a fixed order.
    """

    results: tuple[CheckResult, ...]

    @property
    def mistakes(self) -> tuple[CheckResult, ...]:
        """The results that found a mistake."""
        return tuple(one for one in self.results if one.outcome is Outcome.MISTAKE)

    def __iter__(self) -> Iterator[CheckResult]:
        return iter(self.results)

    def __repr__(self) -> str:
        return "\n".join(line for result in self.results for line in _lines(result, self._names))

    @property
    def _names(self) -> int:
        return max((len(result.name) for result in self.results), default=0)


def named(layers: Iterable[str]) -> str:
    """Layers in a sentence: "layer 'a'", or "layers 'a', 'b' and 'c'"."""
    *others, last = map(repr, layers)
    return f"layers {', '.join(others)} and {last}" if others else f"layer {last}"


def _lines(result: CheckResult, names: int) -> list[str]:
    outcome = result.outcome.value
    shown = outcome.upper() if result.outcome is Outcome.MISTAKE else outcome
    head = f"{result.id}  {result.name:{names}}  {shown:10}  {', '.join(result.layers)}".rstrip()
    said = f"{result.seen} {result.advice}".strip()
    return [
        head,
        *textwrap.wrap(said, _WIDTH, initial_indent="       ", subsequent_indent="       "),
    ]
