"""The answer of the route `findings`: what looks wrong in a run, until its records change."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping
from typing import Any

from lstm_gates_plugin import format
from lstm_gates_plugin.diagnosis.diagnose import findings_of, summary
from lstm_gates_plugin.diagnosis.run_view import view
from lstm_gates_plugin.reading.runs import LoggedRun
from lstm_gates_plugin.reading.source import MissingError, SeriesInfo, Source

_CACHED_RUNS = 64

_State = Mapping[format.Tag, SeriesInfo]


class FindingsCache:
    """The findings of each run, until one of its series has another last step or wall time."""

    def __init__(self) -> None:
        self._entries: OrderedDict[str, tuple[_State, dict[str, Any]]] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, source: Source, run: str, state: _State) -> dict[str, Any]:
        """Diagnosed once for each state of the run."""
        with self._lock:
            known = self._entries.get(run)
            if known and known[0] == state:
                self._entries.move_to_end(run)
                return known[1]
        answer = _answer(source, run, state)
        with self._lock:
            self._entries[run] = (dict(state), answer)
            while len(self._entries) > _CACHED_RUNS:
                self._entries.popitem(last=False)
        return answer


def findings(source: Source, run: str, cache: FindingsCache) -> dict[str, Any]:
    """The findings of a run, the worst first, and the verdict.

    Raises:
        MissingError: there is no such run.
    """
    state = source.series().get(run)
    if state is None:
        raise MissingError(f"There is no run {run!r} with records of recurrent layers.")
    return cache.get(source, run, state)


def _answer(source: Source, run: str, state: _State) -> dict[str, Any]:
    seen = view(LoggedRun(source, run, list(state)))
    found = findings_of(seen)
    return {
        "run": run,
        "verdict": summary(found, len(seen.layers)),
        "findings": [finding.to_json() for finding in found],
        "layers": len(seen.layers),
        "dismissed": [],
    }
