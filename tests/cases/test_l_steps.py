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
KEY = {"run": "run/lstm_gates", "layer": "lstm_0", "kind": "activations"}


@pytest.fixture(scope="module")
def thousand(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Every one of the steps 0 to 999 is logged."""
    root = tmp_path_factory.mktemp("thousand")
    with lg.GateWriter(root / "run", every=1) as writer:
        for step in range(1000):
            writer.log_trace(make_trace(make_layer(seed=step)), step=step)
    return root


def test_l1_auto_thins_nothing(tmp_path: Path, serve_logdir: Serve) -> None:
    layer = make_layer()
    with lg.GateWriter(tmp_path / "run", parts=("weights",)) as writer:
        logged = [step for step in range(1000) if writer.log([layer], step=step)]
    for loader in LOADERS:
        routes = Routes(serve_logdir(tmp_path, loader))
        routes.wait_for({"run": logged[-1]})
        header, arrays = routes.series(**{**KEY, "kind": "weights"})
        assert arrays["steps"].tolist() == logged
        assert header["log_calls"] == len(logged)


@pytest.mark.parametrize("loader", LOADERS)
def test_l1_the_first_and_the_last_step_are_reachable(
    thousand: Path, serve_logdir: Serve, loader: str
) -> None:
    routes = Routes(serve_logdir(thousand, loader))
    routes.wait_for({"run": 999})
    header, arrays = routes.series(**KEY)
    assert (arrays["steps"][0], arrays["steps"][-1]) == (0, 999)
    assert 300 <= len(arrays["steps"]) <= 301
    assert header["log_calls"] == 1000
    assert (np.diff(arrays["steps"]) > 0).all()
    snapshots = routes.snapshots(**KEY)
    assert (min(snapshots), max(snapshots)) == (0, 999)
    row, column = header["rows"].index("activation/forget"), header["columns"].index("mean")
    for index in (0, -1):
        step = int(arrays["steps"][index])
        forget = make_trace(make_layer(seed=step)).gates["forget"]
        assert arrays["statistics"][index, row, column] == pytest.approx(forget.mean(), rel=1e-5)


@pytest.mark.parametrize("loader", LOADERS)
def test_l3_the_users_own_number_wins(thousand: Path, serve_logdir: Serve, loader: str) -> None:
    routes = Routes(serve_logdir(thousand, loader, "--samples_per_plugin=lstm_gates=0"))
    routes.wait_for({"run": 999})
    assert routes.series(**KEY)[1]["steps"].tolist() == list(range(1000))


def test_l6_files_one_after_the_other_are_one_run(tmp_path: Path, serve_logdir: Serve) -> None:
    for steps in ([0, 1], [2, 3]):
        with lg.GateWriter(tmp_path / "run") as writer:
            for step in steps:
                writer.log_trace(make_trace(make_layer(seed=step)), step=step)
    for loader in LOADERS:
        routes = Routes(serve_logdir(tmp_path, loader))
        routes.wait_for({"run": 3})
        assert routes.series(**KEY)[1]["steps"].tolist() == [0, 1, 2, 3]


def test_l8_a_record_without_a_step_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="No step was given; pass step="):
        lg.GateWriter(tmp_path).log_weights([make_layer()])
    assert not list(tmp_path.rglob("*tfevents*"))
