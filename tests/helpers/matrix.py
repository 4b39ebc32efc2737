"""The tables of the matrix tests: how far each combination is from the framework's own states."""

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import lstm_gates_plugin as lg

#: The columns of the first table: nothing is masked, or timesteps at the end, the start or between.
MASKS = ("none", "right", "left", "middle")
#: The columns of PyTorch's: the forms in which a module takes its sequences.
FORMS = ("padded tensor", "packed", "unbatched")

_ROW = ("framework", "cell", "arrangement")


class Table:
    """Collects the largest difference of each combination, and prints them."""

    def __init__(self, columns: tuple[str, ...]) -> None:
        self._columns = columns
        self._head = _line((*_ROW, *columns))
        self._differences: dict[tuple[str, str, str], dict[str, float]] = {}

    def add(
        self, framework: str, cell: str, arrangement: str, column: str, difference: float
    ) -> None:
        """Keep the difference, unless a larger one of this combination is already kept."""
        row = self._differences.setdefault((framework, cell, arrangement), {})
        row[column] = max(difference, row.get(column, 0.0))

    def lines(self) -> list[str]:
        """The rows in Markdown; empty if nothing was collected."""
        return [
            _line((*row, *(f"{found[c]:.0e}" if c in found else "–" for c in self._columns)))
            for row, found in sorted(self._differences.items())
        ]

    def update(self, document: Path) -> None:
        """Put the rows of the frameworks of this run into the table in a document."""
        ours = {line.split(" | ")[0] for line in self.lines()}
        before, rows, after = self.parts(document)
        kept = [line for line in rows if line.split(" | ")[0] not in ours]
        table = [*before, *sorted([*kept, *self.lines()]), *after]
        document.write_text("\n".join(table) + "\n")

    def parts(self, document: Path) -> tuple[list[str], list[str], list[str]]:
        """The lines of a document up to the rows of this table, these, and the lines behind."""
        lines = document.read_text().splitlines()
        start = lines.index(self._head) + 2
        end = next(k for k in range(start, len(lines) + 1) if lines[k : k + 1] in ([], [""]))
        return lines[:start], lines[start:end], lines[end:]


def swapped(layer: lg.RecurrentLayer) -> lg.RecurrentLayer:
    """The layer with the blocks of two gates swapped; a simple RNN, with one, with its kernels."""
    if len(layer.gates) == 1:
        return replace(layer, kernel=layer.recurrent_kernel, recurrent_kernel=layer.kernel)
    a, b, *rest = layer.gates
    order = {a: b, b: a, **{gate: gate for gate in rest}}
    blocks = {
        name: {gate: getattr(layer, name)[order[gate]] for gate in layer.gates}
        for name in ("kernel", "recurrent_kernel", "bias")
        if getattr(layer, name) is not None
    }
    return replace(layer, **blocks)


def _line(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cells) + " |"


#: The tables of this run of pytest, printed at its end.
TABLE = Table(MASKS)
TABLE_OF_FORMS = Table(FORMS)


def documented_rows(document: Path, framework: str, table: Table = TABLE) -> set[tuple[str, str]]:
    """The cells and arrangements that a table in a document has of a framework."""
    _, rows, _ = table.parts(document)
    cells = [line.strip("| ").split(" | ") for line in rows]
    return {(row[1], row[2]) for row in cells if row[0] == framework}
