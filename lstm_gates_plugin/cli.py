"""The command `lstm-gates`: `lstm-gates diagnose LOGDIR` says what looks wrong in every run."""

from __future__ import annotations

import argparse
import importlib.util
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from lstm_gates_plugin.diagnosis.diagnose import findings_of, summary
from lstm_gates_plugin.diagnosis.finding import SEVERITIES, Finding
from lstm_gates_plugin.diagnosis.run_view import view
from lstm_gates_plugin.reading.runs import LoggedRun, read

FINE, FOUND, NO_ANSWER = 0, 1, 2
"""Exit statuses: nothing worse than a note; a warning or an error; wrong use or nothing to read."""

_ORDER = (*SEVERITIES, "fine")


class Diagnosis(NamedTuple):
    """One run, as it is printed."""

    run: str
    layers: int
    verdict: Mapping[str, Any]
    findings: Sequence[Finding]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; its exit status."""
    options = _parser().parse_args(arguments)
    try:
        runs = read(options.logdir)
    except ValueError as error:
        print(error, file=sys.stderr)
        return NO_ANSWER
    if not runs:
        print(f"No recurrent layer was logged under {options.logdir!r}.", file=sys.stderr)
        return NO_ANSWER
    dismissed = set(options.dismiss)
    found = [_diagnosis(name, run, dismissed) for name, run in runs.items()]
    found.sort(key=_ORDERS[options.sort])
    if options.json:
        print(as_json(found))
    elif not (sys.stdout.isatty() and _show_in_colour(found)):
        print(as_text(found))
    return FOUND if any(_is_worse(one) for run in found for one in run.findings) else FINE


def as_json(diagnoses: Sequence[Diagnosis]) -> str:
    """What the route `findings` answers, of each run."""
    return json.dumps(
        [
            {
                "run": one.run,
                "layers": one.layers,
                "verdict": one.verdict,
                "findings": [finding.to_json() for finding in one.findings],
            }
            for one in diagnoses
        ],
        indent=2,
        allow_nan=False,
    )


def as_text(diagnoses: Sequence[Diagnosis]) -> str:
    """One line per run, then its findings with what they mean and what to try."""
    width = max(len(one.run) for one in diagnoses)
    lines = [f"{one.run:{width}}  {one.verdict['sentence']}" for one in diagnoses]
    for one in diagnoses:
        for finding in one.findings:
            where = f"{one.run}, {finding.layer}" if finding.layer else one.run
            lines += [
                "",
                f"{finding.severity} {finding.id} ({where}): {finding.seen}",
                f"    {finding.meaning}",
                f"    To try: {'; '.join(finding.try_)}.",
                f"    Seen in {finding.evidence}.",
            ]
    return "\n".join(lines)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="lstm-gates", description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="diagnose")
    diagnose = commands.add_parser(
        "diagnose",
        help="say what looks wrong in every run of a log directory",
        description="Exit status: 0 without a warning or an error, 1 with one, "
        "2 where there is nothing to read.",
    )
    diagnose.add_argument("logdir", help="the directory that tensorboard --logdir is given")
    diagnose.add_argument(
        "--sort", choices=tuple(_ORDERS), default="severity", help="order of the runs"
    )
    diagnose.add_argument("--json", action="store_true", help="print JSON")
    diagnose.add_argument(
        "--dismiss",
        action="append",
        default=[],
        type=_dismissed,
        metavar="ID[:LAYER]",
        help="leave out a finding, such as LG010:encoder/rnn, or LG012 of the run as a whole",
    )
    return parser


def _dismissed(text: str) -> tuple[str, str | None]:
    id, _, layer = text.partition(":")
    return id, layer or None


def _diagnosis(name: str, run: LoggedRun, dismissed: set[tuple[str, str | None]]) -> Diagnosis:
    seen = view(run)
    findings = findings_of(seen, dismissed)
    return Diagnosis(name, len(seen.layers), summary(findings, len(seen.layers)), findings)


def _is_worse(finding: Finding) -> bool:
    return finding.severity != "note"


def _show_in_colour(diagnoses: Sequence[Diagnosis]) -> bool:
    """Print a table with the package rich; whether it is installed."""
    if importlib.util.find_spec("rich") is None:
        return False
    from lstm_gates_plugin import terminal

    terminal.show(diagnoses)
    return True


def _by_severity(one: Diagnosis) -> tuple[int, str]:
    return _ORDER.index(one.verdict["severity"]), one.run


def _by_findings(one: Diagnosis) -> tuple[int, str]:
    return -sum(map(_is_worse, one.findings)), one.run


def _by_name(one: Diagnosis) -> tuple[int, str]:
    return 0, one.run


_ORDERS: dict[str, Callable[[Diagnosis], tuple[int, str]]] = {
    "severity": _by_severity,
    "findings": _by_findings,
    "name": _by_name,
}
"""By the worst finding, by the number of warnings and errors, by the run's name."""
