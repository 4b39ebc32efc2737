"""The answer of `lstm-gates diagnose` in a terminal: a table of the runs, with the package rich."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from lstm_gates_plugin.diagnosis.finding import SEVERITIES, Finding

if TYPE_CHECKING:
    from lstm_gates_plugin.cli import Diagnosis

STYLES = {"error": "bold red", "warning": "yellow", "note": "cyan", "fine": "green"}


def show(diagnoses: Sequence[Diagnosis], console: Console | None = None) -> None:
    """Print one row for each run, and then its findings.

    Names are printed as they are: rich would read what is in brackets as its own markup.
    """
    out = console or Console(highlight=False)
    out.print(_table(diagnoses))
    for one in diagnoses:
        for finding in one.findings:
            _show_finding(out, one.run, finding)


def _table(diagnoses: Sequence[Diagnosis]) -> Table:
    table = Table("run", "verdict", box=None, pad_edge=False, header_style="bold")
    for column in ("layers", *(f"{severity}s" for severity in SEVERITIES)):
        table.add_column(column, justify="right")
    for one in diagnoses:
        counts = [sum(found.severity == kind for found in one.findings) for kind in SEVERITIES]
        table.add_row(
            Text(one.run),
            Text(one.verdict["sentence"], STYLES[one.verdict["severity"]]),
            str(one.layers),
            *(
                Text(str(count), STYLES[kind] if count else "dim")
                for kind, count in zip(SEVERITIES, counts, strict=True)
            ),
        )
    return table


def _show_finding(out: Console, run: str, finding: Finding) -> None:
    where = f"{run}, {finding.layer}" if finding.layer else run
    heading = Text(f"\n{finding.severity} {finding.id}", STYLES[finding.severity])
    out.print(heading.append(f" ({where}): {finding.seen}", "default"))
    for line in (
        finding.meaning,
        f"To try: {'; '.join(finding.try_)}.",
        f"Seen in {finding.evidence}.",
    ):
        out.print(Padding(Text(line), (0, 0, 0, 4)))
