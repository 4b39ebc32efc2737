"""The demos on TensorFlow 1 run as they are, on few updates, and show what they promise."""

import re
import subprocess
import sys
from pathlib import Path

import lstm_gates_plugin as lg
from lstm_gates_plugin.reading.runs import LoggedRun

DEMO = Path(__file__).parents[2] / "demo"


def run(name: str, logdir: Path, *arguments: str) -> tuple[LoggedRun, str]:
    """What a demo logged, and what it printed."""
    command = [sys.executable, DEMO / f"{name}.py", "--logdir", logdir, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return lg.read(logdir)["."], done.stdout


def test_dynamic_rnn(tmp_path: Path) -> None:
    logged, printed = run("tf1_dynamic_rnn", tmp_path, "--epochs", "1")
    layers = [f"rnn/multi_rnn_cell/cell_{level}/lstm_cell" for level in range(3)]
    assert list(logged) == layers
    for layer in layers:
        changes = logged[layer].series("recurrent_kernel/forget", "change_since_start")
        assert [changes.steps[0], changes.steps[-1]] == [0, 23]
        assert changes.values[-1] > changes.values[0] == 0
        assert f"{layer}: recurrent kernel, change since the start: input" in printed
        assert logged[layer].snapshot().arrays["activation/forget"].shape[1:] == (8, 32)
    assert "Of 360 test images the model reads" in printed


def test_static_rnn(tmp_path: Path) -> None:
    logged, printed = run("tf1_static_rnn", tmp_path, "--updates", "30")
    assert list(logged) == ["rnn/basic_lstm_cell"]
    assert len(re.findall(r"^  \d '.':  i .* j .* f .* o ", printed, re.MULTILINE)) == 7
    numbers = [float(n) for n in re.findall(r"largest difference of .*: (\S+)$", printed, re.M)]
    assert len(numbers) == 2
    assert max(numbers) < 1e-6
