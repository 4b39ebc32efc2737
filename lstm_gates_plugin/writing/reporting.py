"""Telling in the training console what looks wrong, while a run is logged: `report=True`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

from lstm_gates_plugin.diagnosis.diagnose import diagnose
from lstm_gates_plugin.diagnosis.finding import Finding
from lstm_gates_plugin.diagnosis.run_view import ENOUGH_RECORDS
from lstm_gates_plugin.writing.notices import Notices

GROWTH = 1.25
"""Reading a run takes the longer the more was logged: so it is read again when it is this much
longer, about 20 times in 300 log calls."""


class Reporter:
    """Prints each warning and each error of one run once.

    Records are read back and judged in a thread, and the result is printed at the next log call, so
    that training does not wait. The thread reads files and computes with NumPy, and nothing else.

    Args:
        directory: the directory of our event files.
        notices: where is told what goes wrong here.
    """

    def __init__(self, directory: Path, notices: Notices) -> None:
        self._directory = directory
        self._notices = notices
        self._log_calls = 0
        self._next = ENOUGH_RECORDS
        self._told: set[tuple[str, str | None, str | None]] = set()
        self._judged: Future[list[Finding]] | None = None

    def after_log_call(self) -> None:
        """Print what was found meanwhile; if enough was logged since, look again."""
        self._log_calls += 1
        if self._judged is not None and self._judged.done():
            self._tell_judged()
        if self._log_calls < self._next or self._judged is not None:
            return
        self._next = max(self._log_calls + 1, math.ceil(self._log_calls * GROWTH))
        with self._notices.training_goes_on("some findings"):
            judge = ThreadPoolExecutor(1, "lstm-gates-findings")
            self._judged = judge.submit(diagnose, self._directory)
            judge.shutdown(wait=False)

    def at_end(self) -> None:
        """Print what is found in all that was logged."""
        if self._log_calls == 0:
            return
        if self._judged is not None:
            self._tell_judged()
        with self._notices.training_goes_on("the findings"):
            self._tell(diagnose(self._directory))

    def _tell_judged(self) -> None:
        assert self._judged is not None
        judged, self._judged = self._judged, None
        with self._notices.training_goes_on("the findings"):
            self._tell(judged.result())

    def _tell(self, findings: Sequence[Finding]) -> None:
        for finding in findings:
            key = (finding.id, finding.layer, finding.gate)
            if finding.severity != "note" and key not in self._told:
                self._told.add(key)
                print(paragraph(finding))


def paragraph(finding: Finding) -> str:
    """A finding for the console: heading, what was seen, and the first thing to try."""
    heading = f"{finding.layer} {finding.title}" if finding.layer else finding.title
    first = f" To try first: {finding.try_[0]}." if finding.try_ else ""
    return f"LSTM Gates, {finding.severity} {finding.id}: {heading}. {finding.seen}{first}"
