"""What a rule says: a Finding, and the Rule that it comes from."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from typing import Any, Literal

Severity = Literal["error", "warning", "note"]
SEVERITIES: tuple[Severity, ...] = ("error", "warning", "note")
"""The worst first."""


@dataclass(frozen=True)
class Finding:
    """One thing that was seen in a run.

    Attributes:
        id: of the rule, such as ``LG010``; stable.
        severity: error, warning, or note (nothing to worry about).
        title: what was seen, in words that follow the layer's name in a sentence; a whole clause
            where it is of the run.
        layer: the layer's id; None for the run as a whole.
        gate: the gate, or the part of the weights; None for the layer as a whole.
        kind: the kind of record in which it was seen, one of `format.KINDS`.
        row: the row of that record.
        first_step: the training step from which it was seen.
        last_step: the newest training step at which it was seen.
        value: the measured number, in ``unit``.
        threshold: the number with which it was compared.
        unit: of value and threshold.
        evidence: how much was looked at, such as "4 samples x 126 timesteps".
        seen: one sentence: what was seen.
        meaning: one sentence: what that means.
        try_: what to try.
        source: where the threshold comes from.
        call: which call of a layer that is used more than once.
    """

    id: str
    severity: Severity
    title: str
    layer: str | None
    gate: str | None
    kind: str | None
    row: str | None
    first_step: int
    last_step: int
    value: float
    threshold: float
    unit: str
    evidence: str
    seen: str
    meaning: str
    try_: tuple[str, ...]
    source: str
    call: int = 0

    def to_json(self) -> dict[str, Any]:
        """The finding as a strict JSON object; ``try_`` is called "try"."""
        fields = dataclasses.asdict(self)
        fields["try"] = list(fields.pop("try_"))
        for name in ("value", "threshold"):
            fields[name] = _strict(fields[name])
        return fields


@dataclass(frozen=True)
class Rule:
    """One rule, for the findings that it makes and for the documentation.

    Attributes:
        id: stable, never given to another rule.
        severity: of its findings.
        title: see `Finding`.
        formula: when it is found, in words.
        threshold: the number in the formula.
        unit: of that number.
        source: the paper with its number, or "our own threshold" and the test that shows it.
        meaning: see `Finding`.
        try_: see `Finding`.
    """

    id: str
    severity: Severity
    title: str
    formula: str
    threshold: float
    unit: str
    source: str
    meaning: str
    try_: tuple[str, ...]

    def found(
        self,
        *,
        seen: str,
        value: float,
        steps: tuple[int, int],
        evidence: str,
        layer: str | None = None,
        gate: str | None = None,
        kind: str | None = None,
        row: str | None = None,
        title: str | None = None,
        meaning: str | None = None,
        try_: tuple[str, ...] | None = None,
    ) -> Finding:
        """A finding of this rule, between the first and the last of ``steps``.

        Its title, meaning and what to try are the rule's, unless others are given.
        """
        return Finding(
            id=self.id,
            severity=self.severity,
            title=title or self.title,
            layer=layer,
            gate=gate,
            kind=kind,
            row=row,
            first_step=int(steps[0]),
            last_step=int(steps[1]),
            value=float(value),
            threshold=self.threshold,
            unit=self.unit,
            evidence=evidence,
            seen=seen,
            meaning=meaning or self.meaning,
            try_=try_ or self.try_,
            source=self.source,
        )


def _strict(value: float) -> float | str:
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    return value
