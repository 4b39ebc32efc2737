"""docs/findings.md says what the rules say."""

from pathlib import Path

import pytest

from helpers import findings_page
from lstm_gates_plugin.diagnosis import rules
from lstm_gates_plugin.diagnosis.finding import Rule

ROOT = Path(__file__).parents[2]
NAMES = {
    one.id: name
    for family in rules.FAMILIES
    for name, one in vars(family).items()
    if isinstance(one, Rule)
}


def test_the_page_is_made_from_the_rules() -> None:
    assert findings_page.DOCUMENT.read_text(encoding="utf-8") == findings_page.page(), (
        "docs/findings.md differs from the rules; make it anew: "
        "python tests/helpers/findings_page.py"
    )


def test_every_id_is_of_one_rule() -> None:
    ids = [rule.id for rule in rules.RULES]
    assert ids == sorted(set(ids))


@pytest.mark.parametrize("rule", rules.RULES, ids=lambda rule: rule.id)
def test_a_test_that_a_source_names_is_there(rule: Rule) -> None:
    for word in rule.source.replace(",", " ").replace(";", " ").split():
        if word.startswith("tests/"):
            text = (ROOT / word).read_text(encoding="utf-8")
            assert rule.id in text or NAMES[rule.id] in text
