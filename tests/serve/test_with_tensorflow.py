"""A TensorBoard that finds TensorFlow reads event files with it; the answers are the same."""

from collections.abc import Callable
from pathlib import Path

import pytest

import lstm_gates_plugin as lg
from helpers.layers import make_layer, make_trace
from helpers.required import require_framework
from helpers.served import Routes


@pytest.mark.parametrize("loader", ["--load_fast=true", "--load_fast=false"])
def test_with_tensorflow_the_answers_are_those_without(
    tmp_path: Path, serve_logdir: Callable[..., str], loader: str
) -> None:
    require_framework("tensorflow")
    with lg.GateWriter(tmp_path / "run-1") as writer:
        for step in range(3):
            writer.log_trace([make_trace(make_layer(seed=step))], step=step)
    found = []
    for tensorflow in (True, False):
        routes = Routes(serve_logdir(tmp_path, loader, tensorflow=tensorflow))
        routes.wait_for({"run-1": 2})
        (run,) = routes.json("runs")["runs"]
        (layer,) = run["layers"]
        series = {"run": run["run"], "layer": layer["id"], "kind": "activations"}
        found.append((run, routes.bytes("statistics", **series), routes.snapshots(**series)))
    assert found[0] == found[1]
    assert sorted(found[0][2]) == [0, 1, 2]
