"""The command `lstm-gates diagnose`: what it prints, and its exit status."""

import importlib.util
import io
import json
import subprocess
import sys
from pathlib import Path

import pytest

import lstm_gates_plugin as lg
from helpers.layers import make_layer
from lstm_gates_plugin import cli


@pytest.fixture
def logdir(tmp_path: Path) -> Path:
    """A run "fine" whose two layers change, and a run "stuck" whose first layer does not."""
    for run, first in (("fine", 1.0), ("stuck", 0.0)):
        with lg.GateWriter(tmp_path / run) as writer:
            for step in (0, 100, 200):
                layers = [
                    make_layer(id="a", scale=1 + first * step / 1000),
                    make_layer(id="b", scale=1 + step / 1000),
                ]
                writer.log_weights(layers, step=step)
    return tmp_path


def test_a_run_with_a_warning_comes_first_and_the_status_is_1(
    logdir: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["diagnose", str(logdir)]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "stuck  1 of 2 layers looks fine; only the last layer learns."
    assert lines[1].startswith("fine   Nothing looks wrong so far")
    assert any(line.startswith("warning LG010 (stuck, a): No weight has") for line in lines)


def test_runs_by_name(logdir: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cli.main(["diagnose", str(logdir), "--sort", "name"])
    assert capsys.readouterr().out.startswith("fine ")


def test_dismissed_findings_count_no_longer(
    logdir: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    dismissed = ["--dismiss", "LG010:a", "--dismiss", "LG012"]
    assert cli.main(["diagnose", str(logdir), "--json", *dismissed]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert {one["run"] for one in answer} == {"fine", "stuck"}
    assert {one["verdict"]["severity"] for one in answer} == {"fine"}


def test_a_healthy_run_has_the_status_0(logdir: Path) -> None:
    assert cli.main(["diagnose", str(logdir / "fine")]) == 0


def test_nothing_to_read_has_the_status_2(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["diagnose", str(tmp_path)]) == 2
    assert cli.main(["diagnose", str(tmp_path / "nowhere")]) == 2
    assert capsys.readouterr().out == ""


def in_a_terminal(logdir: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("TERM", "dumb")
    assert cli.main(["diagnose", str(logdir), "--sort", "findings"]) == 1
    return str(sys.stdout.getvalue())  # type: ignore[attr-defined]


def test_a_terminal_shows_a_table_of_the_runs(
    logdir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (logdir / "fine").rename(logdir / "[red]fine[!]")
    with monkeypatch.context() as patched:
        patched.setattr(sys, "stdout", io.StringIO())
        head, first, *rest = in_a_terminal(logdir, patched).splitlines()
    assert head.split() == ["run", "verdict", "layers", "errors", "warnings", "notes"]
    assert first.startswith("stuck ")
    assert first.split()[-4:-1] == ["2", "0", "2"]
    assert any(line.startswith("[red]fine[!] ") for line in rest)
    assert any(line.startswith("warning LG010 (stuck, a): No weight has") for line in rest)


def test_without_rich_a_terminal_shows_plain_text(
    logdir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(sys, "stdout", io.StringIO())
        patched.setattr(importlib.util, "find_spec", lambda name: None)
        text = in_a_terminal(logdir, patched)
    assert text.startswith("stuck  1 of 2 layers looks fine; only the last layer learns.\n")


def test_wrong_use_has_the_status_2() -> None:
    script = "import sys; from lstm_gates_plugin.cli import main; sys.exit(main(['diagnose']))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode == 2
    assert "logdir" in done.stderr
