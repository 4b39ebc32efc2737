"""Makes docs/findings.md from the rules: `python tests/helpers/findings_page.py`."""

from pathlib import Path

from lstm_gates_plugin.checks import carried, gradients, independence, padding, scale
from lstm_gates_plugin.diagnosis.finding import Rule
from lstm_gates_plugin.diagnosis.rules import RULES

DOCUMENT = Path(__file__).parents[2] / "docs" / "findings.md"

_HEAD = """# What looks wrong, and how we know

The tab, `lg.diagnose(run)`, `lstm-gates diagnose LOGDIR` and `report=True` find the same things in
what was logged; `lg.check(model, x, loss=fn)` tests a model before it is trained. Errors and
warnings are worth a look; a note says what is so and is no reproach. An id stays the same over
versions, so that a finding can be dismissed by its id and layer:
`lg.diagnose(run, dismissed={("LG010", "encoder")})`, `lstm-gates diagnose --dismiss LG010:encoder`.

What needs a trend is judged from 3 records and 10 training steps on; until then LG090 says what
could not be judged. "Our own threshold" means that it is of no paper: the test that is named shows
where it lies between what is healthy and what is not, and tests/pytorch/test_findings.py,
tests/backends/test_findings.py and tests/diagnosis/test_healthy_digits.py show that fresh and
healthy networks have neither an error nor a warning. The modules tests/pytorch/test_findings_*.py
train networks into what is found here, by mistakes that people make, and compare layer, gate, step
and number with those of the live network; the same training without the mistake has no such
finding.

`tests/helpers/findings_page.py` makes this page from the rules themselves.

"""

_CHECKS = (
    (independence.ID, independence.NAME),
    (gradients.READ_ID, gradients.READ_NAME),
    (padding.ID, padding.NAME),
    (scale.ID, scale.NAME),
    (gradients.REACHED_ID, gradients.REACHED_NAME),
    (carried.ID, carried.NAME),
)


def page() -> str:
    """The whole document."""
    summary = ["| id | severity | what | threshold |", "| --- | --- | --- | --- |"]
    summary += [
        f"| [{rule.id}](#{rule.id.lower()}) | {rule.severity} | {rule.title} | {_threshold(rule)} |"
        for rule in RULES
    ]
    checks = [
        "## Before training: `lg.check`",
        "",
        f"All but {scale.ID} are exact: they compare what must be equal, or look for exact zeros. "
        f"{scale.ID} has the thresholds of LG080.",
        "",
        "| id | what must hold |",
        "| --- | --- |",
        *(f"| {id} | {name} |" for id, name in _CHECKS),
    ]
    parts = ["\n".join(summary), *(_section(rule) for rule in RULES), "\n".join(checks)]
    return _HEAD + "\n\n".join(parts) + "\n"


def _section(rule: Rule) -> str:
    return "\n".join(
        [
            f"## {rule.id}",
            "",
            f"**{rule.severity}: {rule.title}.** {rule.meaning}",
            "",
            f"- Found when {rule.formula}.",
            f"- Threshold: {_threshold(rule)}.",
            f"- Source: {rule.source}.",
            f"- To try: {'; '.join(rule.try_)}.",
        ]
    )


def _threshold(rule: Rule) -> str:
    return f"{rule.threshold:g} {rule.unit}".strip()


if __name__ == "__main__":
    DOCUMENT.write_text(page(), encoding="utf-8")
