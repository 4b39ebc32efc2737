"""docs/findings.md says what the rules say, and shows it."""

import re
from pathlib import Path

import pytest

from helpers import line_picture
from helpers.findings import page as findings_page
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
        "PYTHONPATH=tests python -m helpers.findings"
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


def lies_between(threshold: float, mistake: str, side: str, right: str) -> bool:
    """Whether a threshold lies between two written numbers, or is one of them."""
    wrong, healthy = (float(number.replace(",", "")) for number in (mistake, right))
    low, high = sorted((wrong, healthy))
    return low <= threshold <= high and (side == "most") == (wrong > healthy)


@pytest.mark.parametrize("rule", rules.RULES, ids=lambda rule: rule.id)
def test_a_threshold_of_our_own_lies_between_what_was_measured(rule: Rule) -> None:
    if "our own threshold" not in rule.source:
        return
    said = re.search(r"threshold: (\S+) with a mistake, at (\w+) (\S+) without it", rule.source)
    assert said
    assert lies_between(rule.threshold, *said.groups())


@pytest.mark.parametrize("rule", rules.RULES, ids=lambda rule: rule.id)
def test_a_picture_shows_both_trainings_and_the_threshold(rule: Rule) -> None:
    drawn = findings_page.picture(rule)
    texts = [text.text or "" for text in drawn.iter(f"{findings_page.SVG}text")]
    assert f"- - - threshold {rule.threshold:g}" in texts
    assert "training step" in texts
    assert drawn.findtext(f"{findings_page.SVG}title") in texts
    marked = {one.get("class") for one in drawn.iter(f"{findings_page.SVG}polyline")}
    assert marked == {"mistake", "right"}
    (line,) = [one for one in drawn.iter() if one.get("class") == "threshold"]
    assert line_picture.TOP < float(str(line.get("y1"))) < line_picture.BOTTOM
    words = findings_page.experiment(rule)
    said = re.search(r"\) (\S+); without it \(.*\) at (\w+) (\S+)\.$", words)
    assert said
    assert lies_between(rule.threshold, *said.groups())
