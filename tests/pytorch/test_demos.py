"""The PyTorch demos run as they are, on few updates, and show what they promise."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import lstm_gates_plugin as lg

DEMOS = Path(__file__).parents[2] / "demo"


def run(name: str, *arguments: str | Path) -> str:
    """What a demo printed."""
    command = [sys.executable, DEMOS / f"{name}.py", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize(
    ("name", "updates", "finding"),
    [("exploding", 40, "LG061"), ("saturated", 30, "LG035"), ("dead_units", 40, "LG036")],
)
def test_a_failure_prints_its_finding(
    tmp_path: Path, name: str, updates: int, finding: str
) -> None:
    printed = run(name, "--logdir", tmp_path, "--updates", str(updates))
    assert f"LSTM Gates, warning {finding}: rnn " in printed
    assert finding in {one.id for one in lg.diagnose(tmp_path)}


def test_the_healthy_one_prints_none(tmp_path: Path) -> None:
    printed = run("adding_problem", "--logdir", tmp_path, "--updates", "30")
    assert printed.endswith(" 0 warnings or errors.\n")


@pytest.mark.parametrize(
    ("name", "wrong", "right", "id"),
    [
        ("swapped_axes", "batch_first=False:", "batch_first=True:", "LG101"),
        ("padding", "LastOutput:", "LastBeforePadding:", "LG103"),
    ],
)
def test_a_check_finds_its_mistake_and_not_in_the_twin(
    name: str, wrong: str, right: str, id: str
) -> None:
    printed = run(name)
    before, after = printed.split(f"\n{right}\n")
    assert before.startswith(wrong)
    mistakes = [line for line in before.splitlines() if "MISTAKE" in line]
    assert [line[:5] for line in mistakes] == [id]
    assert "MISTAKE" not in after


def test_characters(tmp_path: Path) -> None:
    printed = run("torch_characters", "--logdir", tmp_path, "--updates", "4")
    assert "at line ends and" in printed
    logged = lg.read(tmp_path)["."]
    assert list(logged) == ["lstm/layer_0", "lstm/layer_1"]
    picture = logged["lstm/layer_1"].snapshot(step=4)
    assert "".join(picture.header["time_labels"][0][:12]) == 'The␣"if"␣sta'
    assert picture.arrays["activation/input"].shape[1:] == (100, 64)
    assert picture.arrays["track/loss"].shape[1] == 100
    first = logged["lstm/layer_1"].snapshot(step=0).arrays["track/loss"]
    assert picture.arrays["track/loss"].mean() < first.mean()
    assert 4 < first.mean() < 5  # of 90 characters or so, ln 90 at the start
    gradients = logged["lstm/layer_1"].snapshot(kind="gradients")
    assert np.isfinite(gradients.arrays["norm/hidden_state"]).all()
