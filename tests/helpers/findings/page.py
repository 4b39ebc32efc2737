"""The text of docs/findings.md, from the rules and their pictures."""

from pathlib import Path
from xml.etree import ElementTree

from lstm_gates_plugin.checks import carried, gradients, independence, padding, scale
from lstm_gates_plugin.diagnosis.finding import Rule
from lstm_gates_plugin.diagnosis.rules import RULES

DOCUMENT = Path(__file__).parents[3] / "docs" / "findings.md"
PICTURES = DOCUMENT.parent / "findings"
SVG = "{http://www.w3.org/2000/svg}"

_HEAD = """# What looks wrong, and how we know

The tab, `lg.diagnose(run)`, `lstm-gates diagnose LOGDIR` and `report=True` find the same things in
what was logged; `lg.check(model, x, loss=fn)` tests a model before it is trained. Errors and
warnings are worth a look; a note says what is so and is no reproach. An id stays the same over
versions, so that a finding can be dismissed by its id and layer:
`lg.diagnose(run, dismissed={("LG010", "encoder")})`, `lstm-gates diagnose --dismiss LG010:encoder`.

What needs a trend is judged from 3 records and 10 training steps on; until then LG090 says what
could not be judged. "Our own threshold" means that it is of no paper: it lies between what networks
have that a real mistake trained into that state, and what the same networks have without it, as do
19 layers of 13 healthy trainings (tests/pytorch/test_findings.py). These, fresh networks of each
framework (tests/backends/test_findings.py, tests/flax, tests/tf1) and networks that learn to read
digits (tests/diagnosis/test_healthy_digits.py) have neither an error nor a warning.

The pictures show real trainings: the same network with the mistake and without it, and the number
that the rule looks at, at each record. A rule may ask for more than one such number above its
threshold, as it says. The modules tests/pytorch/test_findings_*.py compare layer, gate, step and
number of what is found in such networks with those of the live network.

`PYTHONPATH=tests python -m helpers.findings` makes this page from the rules themselves; with `all`
after it, or ids, it trains the networks and draws the pictures anew.

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


def picture(rule: Rule) -> ElementTree.Element:
    """The drawing of a rule's experiment."""
    return ElementTree.parse(PICTURES / f"{rule.id}.svg").getroot()


def experiment(rule: Rule) -> str:
    """What was measured, in words."""
    return picture(rule).findtext(f"{SVG}desc") or ""


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
            "",
            f"![{experiment(rule)}](findings/{rule.id}.svg)",
        ]
    )


def _threshold(rule: Rule) -> str:
    return f"{rule.threshold:g} {rule.unit}".strip()
