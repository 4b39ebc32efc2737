"""The answer of the route `findings`: what looks wrong in a run, until its records change."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lstm_gates_plugin import format
from lstm_gates_plugin.diagnosis.diagnose import findings_of, summary
from lstm_gates_plugin.diagnosis.run_view import view
from lstm_gates_plugin.reading.runs import LoggedRun
from lstm_gates_plugin.reading.source import MissingError, SeriesInfo, Source
from lstm_gates_plugin.serve.kept import Kept

_State = Mapping[format.Tag, SeriesInfo]


class FindingsCache(Kept[str, _State, dict[str, Any]]):
    """The findings of each run."""

    most = 64


def findings(source: Source, run: str, cache: FindingsCache) -> dict[str, Any]:
    """The findings of a run, the worst first, and the verdict.

    Raises:
        MissingError: there is no such run.
    """
    state = source.series().get(run)
    if state is None:
        raise MissingError(f"There is no run {run!r} with records of recurrent layers.")
    return cache.get(run, dict(state), lambda: _answer(source, run, state))


def _answer(source: Source, run: str, state: _State) -> dict[str, Any]:
    tags = list(state)
    seen = view(LoggedRun(source.together(run, tags), run, tags))
    found = findings_of(seen)
    return {
        "run": run,
        "verdict": summary(found, len(seen.layers)),
        "findings": [finding.to_json() for finding in found],
        "layers": len(seen.layers),
        "dismissed": [],
    }
