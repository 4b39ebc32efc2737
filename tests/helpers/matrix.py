"""The table of the matrix tests: how far each combination is from the framework's own states."""

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

#: The columns of the table: nothing is masked, or timesteps at the end, the start or between.
MASKS = ("none", "right", "left", "middle")


class Combination(NamedTuple):
    """One row of the table."""

    framework: str
    cell: str
    arrangement: str
    mask: str


class Table:
    """Collects the largest difference of each combination, and prints them."""

    def __init__(self) -> None:
        self._rows: dict[Combination, float] = {}

    def add(
        self, framework: str, cell: str, arrangement: str, mask: str, difference: float
    ) -> None:
        """Keep the difference, unless a larger one of this combination is already kept."""
        row = Combination(framework, cell, arrangement, mask)
        self._rows[row] = max(difference, self._rows.get(row, 0.0))

    def lines(self) -> list[str]:
        """The table in Markdown, one column for each mask; empty if nothing was collected."""
        by_row: dict[tuple[str, ...], dict[str, str]] = {}
        for (*row, mask), difference in self._rows.items():
            by_row.setdefault(tuple(row), {})[mask] = f"{difference:.0e}"
        return [
            _line((*row, *(found.get(mask, "–") for mask in MASKS)))
            for row, found in sorted(by_row.items())
        ]

    def update(self, document: Path) -> None:
        """Put the rows of the frameworks of this run into the table in a document."""
        ours = {line.split(" | ")[0] for line in self.lines()}
        before, rows, after = _parts(document.read_text())
        kept = [line for line in rows if line.split(" | ")[0] not in ours]
        table = [*before, *sorted([*kept, *self.lines()]), *after]
        document.write_text("\n".join(table) + "\n")


def documented_rows(document: Path, framework: str) -> set[tuple[str, str]]:
    """The cells and arrangements that a document's table has of a framework."""
    _, rows, _ = _parts(document.read_text())
    cells = [line.strip("| ").split(" | ") for line in rows]
    return {(row[1], row[2]) for row in cells if row[0] == framework}


def _parts(text: str) -> tuple[list[str], list[str], list[str]]:
    """The lines of a document up to the rows of its table, these, and the lines behind."""
    lines = text.splitlines()
    start = lines.index(HEAD[1]) + 1
    end = next(k for k in range(start, len(lines) + 1) if lines[k : k + 1] in ([], [""]))
    return lines[:start], lines[start:end], lines[end:]


def _line(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cells) + " |"


HEAD = [_line((*Combination._fields[:3], *MASKS)), _line(("---",) * (3 + len(MASKS)))]

#: The table of this run of pytest, printed at its end.
TABLE = Table()
