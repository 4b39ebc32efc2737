"""The PyTorch demo runs as it is, on few updates, and shows what it promises."""

import subprocess
import sys
from pathlib import Path

import numpy as np

import lstm_gates_plugin as lg

DEMO = Path(__file__).parents[2] / "demo" / "torch_characters.py"


def test_characters(tmp_path: Path) -> None:
    command = [sys.executable, DEMO, "--logdir", tmp_path, "--updates", "4"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "at line ends and" in done.stdout
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
