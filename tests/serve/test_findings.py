"""The answer of the route `findings`: strict JSON, and read again only where records changed."""

import json
from pathlib import Path

import pytest

import lstm_gates_plugin as lg
from helpers.layers import make_layer
from lstm_gates_plugin.diagnosis.rules import RULES
from lstm_gates_plugin.reading.files import FileSource
from lstm_gates_plugin.reading.source import MissingError
from lstm_gates_plugin.serve.findings import FindingsCache, findings


def test_the_findings_of_a_run(tmp_path: Path) -> None:
    with lg.GateWriter(tmp_path / "run") as writer:
        for step in (0, 100, 200):
            still, moving = make_layer(id="a"), make_layer(id="b", seed=step)
            writer.log_weights([still, moving], step=step)
    answer = findings(FileSource(tmp_path), "run/lstm_gates", FindingsCache())
    assert json.loads(json.dumps(answer, allow_nan=False)) == answer
    assert answer["run"] == "run/lstm_gates"
    assert answer["layers"] == 2
    assert answer["dismissed"] == []
    assert answer["verdict"]["severity"] == "warning"
    assert answer["verdict"]["sentence"] == "1 of 2 layers looks fine; only the last layer learns."
    shown = [(one["id"], one["layer"], one["first_step"]) for one in answer["findings"]]
    assert shown[:2] == [("LG012", None, 0), ("LG010", "a", 0)]
    assert all(one["try"] and one["source"] for one in answer["findings"])


def test_a_run_is_diagnosed_again_when_it_goes_on(tmp_path: Path) -> None:
    cache = FindingsCache()
    with lg.GateWriter(tmp_path / "run") as writer:
        writer.log_weights([make_layer()], step=0)
    first = findings(FileSource(tmp_path), "run/lstm_gates", cache)
    assert findings(FileSource(tmp_path), "run/lstm_gates", cache) is first
    with lg.GateWriter(tmp_path / "run") as writer:
        writer.log_weights([make_layer()], step=20)
    assert findings(FileSource(tmp_path), "run/lstm_gates", cache) is not first


def test_an_unknown_run_is_missing(tmp_path: Path) -> None:
    with pytest.raises(MissingError, match="no run 'x'"):
        findings(FileSource(tmp_path), "x", FindingsCache())


def test_ids_are_unique_and_every_rule_names_its_source() -> None:
    ids = [rule.id for rule in RULES]
    assert ids == sorted(set(ids))
    assert all(rule.source and rule.formula and rule.meaning and rule.try_ for rule in RULES)
