"""The table of the matrix tests: how far each combination is from the framework's own states."""

from typing import NamedTuple


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
        """The table in Markdown; empty if nothing was collected."""
        if not self._rows:
            return []
        rows = [(*row, f"{difference:.1e}") for row, difference in sorted(self._rows.items())]
        titles = (*(name for name in Combination._fields), "largest difference")
        return ["| " + " | ".join(cells) + " |" for cells in (titles, ("---",) * 5, *rows)]


#: The table of this run of pytest, printed at its end.
TABLE = Table()
