"""The table of all rules: what the findings say, and what the documentation is made from."""

from __future__ import annotations

from lstm_gates_plugin.diagnosis.finding import Rule
from lstm_gates_plugin.diagnosis.rules import (
    data,
    learning,
    memory,
    recurrence,
    run,
    saturation,
    shape,
    training,
    values,
)

FAMILIES = (values, learning, shape, saturation, memory, recurrence, training, data, run)

RULES: tuple[Rule, ...] = tuple(
    sorted(
        (one for family in FAMILIES for one in vars(family).values() if isinstance(one, Rule)),
        key=lambda rule: rule.id,
    )
)
"""All rules, in the order of their ids."""
