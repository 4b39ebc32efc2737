"""Cases L: steps, sampling, restarts and event files, in the real TensorBoard."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import lstm_gates_plugin as lg
from helpers.layers import make_layer, make_trace
from helpers.served import Routes

Serve = Callable[..., str]
LOADERS = ("--load_fast=true", "--load_fast=false")
KEY = {"layer": "lstm_0", "kind": "activations"}


@pytest.fixture(scope="module")
def logdir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Runs of 1,000 steps, logged at every step and by `every="auto"`; one in two files."""
    root = tmp_path_factory.mktemp("logs")
    with lg.GateWriter(root / "thousand", every=1) as writer:
        for step in range(1000):
            writer.log_trace(make_trace(make_layer(seed=step)), step=step)
    with lg.GateWriter(root / "auto", parts=("weights",)) as writer:
        for step in range(1000):
            writer.log([make_layer()], step=step)
    for steps in ([0, 1], [2, 3]):
        with lg.GateWriter(root / "files") as writer:
            for step in steps:
                writer.log_trace(make_trace(make_layer(seed=step)), step=step)
    return root


@pytest.fixture(scope="module", params=LOADERS)
def routes(logdir: Path, serve_logdir: Serve, request: pytest.FixtureRequest) -> Routes:
    """TensorBoard with its default flags."""
    found = Routes(serve_logdir(logdir, request.param))
    found.wait_for({"thousand": 999, "auto": 993, "files": 3})
    return found


def test_l1_auto_thins_nothing(logdir: Path, routes: Routes) -> None:
    logged = lg.read(logdir)["auto"]["lstm_0"].series("kernel/forget", "mean").steps.tolist()
    assert logged[:21] == list(range(21))
    assert logged[-1] == 993
    assert 90 < len(logged) < 110
    header, arrays = routes.series(run="auto/lstm_gates", layer="lstm_0", kind="weights")
    assert arrays["steps"].tolist() == logged
    assert header["log_calls"] == len(logged)


def test_l1_the_first_and_the_last_of_a_thousand_steps_are_reachable(routes: Routes) -> None:
    header, arrays = routes.series(run="thousand/lstm_gates", **KEY)
    assert (arrays["steps"][0], arrays["steps"][-1]) == (0, 999)
    assert 300 <= len(arrays["steps"]) <= 301
    assert header["log_calls"] == 1000
    assert (np.diff(arrays["steps"]) > 0).all()
    snapshots = routes.snapshots(run="thousand/lstm_gates", **KEY)
    assert (min(snapshots), max(snapshots)) == (0, 999)
    row, column = header["rows"].index("activation/forget"), header["columns"].index("mean")
    for index in (0, -1):
        step = int(arrays["steps"][index])
        forget = make_trace(make_layer(seed=step)).gates["forget"]
        assert arrays["statistics"][index, row, column] == pytest.approx(forget.mean(), rel=1e-5)


def test_l6_files_one_after_the_other_are_one_run(routes: Routes) -> None:
    _, arrays = routes.series(run="files/lstm_gates", **KEY)
    assert arrays["steps"].tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize("loader", LOADERS)
def test_l3_the_users_own_number_wins(logdir: Path, serve_logdir: Serve, loader: str) -> None:
    everything = Routes(serve_logdir(logdir, loader, "--samples_per_plugin=lstm_gates=0"))
    everything.wait_for({"thousand": 999, "auto": 993, "files": 3})
    _, arrays = everything.series(run="thousand/lstm_gates", **KEY)
    assert arrays["steps"].tolist() == list(range(1000))


def test_l8_a_record_without_a_step_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="No step was given; pass step="):
        lg.GateWriter(tmp_path).log_weights([make_layer()])
    assert not list(tmp_path.rglob("*tfevents*"))
