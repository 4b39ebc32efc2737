"""The demos run as they are, on few epochs, and leave a logdir that shows what they promise."""

import subprocess
import sys
from pathlib import Path

import pytest

import lstm_gates_plugin as lg
from lstm_gates_plugin.reading.runs import LoggedRun

DEMO = Path(__file__).parents[2] / "demo"


def run(name: str, logdir: Path) -> tuple[LoggedRun, str]:
    """What a demo logged in two epochs, and what it printed."""
    command = [sys.executable, DEMO / f"{name}.py", "--logdir", logdir, "--epochs", "2"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return lg.read(logdir)["."], done.stdout


def test_digits(tmp_path: Path) -> None:
    logged, printed = run("digits", tmp_path)
    assert list(logged) == ["lower", "upper"]
    picture = logged["upper"].snapshot()
    assert picture.header["sample_names"][0] == "a handwritten 1"
    assert picture.header["time_labels"][0][9] == "row 1, column 1"
    assert picture.arrays["activation/forget"].shape[1:] == (64, 32)
    assert picture.step == 46
    assert "Of 360 test images the model reads" in printed
    assert printed.endswith("\n0 warnings or errors.\n")


def test_only_last_layer_learns(tmp_path: Path) -> None:
    logged, printed = run("only_last_layer_learns", tmp_path)
    changes = {
        layer: logged[layer].series("kernel/forget", "max_change_since_start").values[-1]
        for layer in logged
    }
    assert [changes[f"layer_{number}"] for number in (1, 2, 3)] == [0, 0, 0]
    assert changes["layer_4"] > 0.001
    first = logged["layer_1"].statistics("weights")
    assert first.column("kernel/forget", "max")[0] == pytest.approx(0.15, abs=0.005)
    assert not any(row.startswith("bias") for row in first.header["rows"])
    assert "layer_1: recurrent kernel, change since the start: input 0%" in printed
    assert "LG012: the run: Of 4 recurrent layers only layer_4 has changed" in printed


def test_hidden_state(tmp_path: Path) -> None:
    logged, printed = run("hidden_state", tmp_path)
    hidden = logged["rnn"].series("hidden_state", "max")
    assert hidden.steps[0] == 0
    assert hidden.steps[-1] == 46
    assert (hidden.values < 1).all()
    last = f"{hidden.values[-1]:.3f}"
    assert last in printed
    assert "hidden state over samples" in printed
