"""Every route gives the same answers from TensorBoard's fast and its Python loader."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tensorboard.summary import Writer as ScalarWriter

import lstm_gates_plugin as lg
from helpers.layers import make_layer, make_trace
from helpers.served import Routes
from lstm_gates_plugin.reading.runs import LoggedLayer

Serve = Callable[..., str]
LOADERS = ("--load_fast=true", "--load_fast=false")
RUNS = {"plain": 20, "restarted": 7, "a b/é#1%": 2, "shared": 1}
NAMED = {"run": "plain/lstm_gates", "layer": "encoder/lstm_0"}


def write(directory: Path, steps: list[int], *ids: str, seed: int = 0) -> None:
    with lg.GateWriter(directory) as writer:
        for step in steps:
            layers = [make_layer(seed=seed + step, id=id) for id in ids]
            writer.log_weights(layers, step=step)
            writer.log_trace([make_trace(layer, padded=1) for layer in layers], step=step)


@pytest.fixture(scope="module")
def logdir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("logs")
    write(root / "plain", list(range(21)), "encoder/lstm_0", "decoder")
    write(root / "restarted", list(range(10)), "lstm_0")
    write(root / "restarted", [4, 5, 6, 7], "lstm_0", seed=50)
    write(root / "a b/é#1%", [0, 1, 2], "<img src=x onerror=alert(1)>", "слой 1/é?&=%2F")
    with lg.GateWriter(root / "shared") as writer:
        for step in (0, 1):
            trace = make_trace(make_layer(seed=step))
            writer.log_trace([trace, dataclass_replace(trace, call=1)], step=step)
    for run in ("plain", "plain/train"):
        scalars = ScalarWriter(str(root / run))
        for step in range(50):
            scalars.add_scalar("loss", 1 / (step + 1), step)
        scalars.close()
    return root


def dataclass_replace(trace: Any, **changes: Any) -> Any:
    import dataclasses

    return dataclasses.replace(trace, **changes)


@pytest.fixture(scope="module")
def loaders(logdir: Path, serve_logdir: Serve) -> list[Routes]:
    both = [Routes(serve_logdir(logdir, loader)) for loader in LOADERS]
    for routes in both:
        routes.wait_for(RUNS)
    return both


def all_keys(routes: Routes) -> list[dict[str, Any]]:
    return [
        {"run": run["run"], "layer": layer["id"], "kind": kind, "call": call}
        for run in routes.json("runs")["runs"]
        for layer in run["layers"]
        for kind, about in layer["kinds"].items()
        for call in about["calls"]
    ]


def test_both_say_the_same_shapes(loaders: list[Routes]) -> None:
    row = {**NAMED, "kind": "weights", "row": "kernel/forget"}
    fast, python = (routes.json("shapes", **row) for routes in loaders)
    assert fast == python
    assert fast["steps"] == list(range(21))
    assert loaders[0].error("shapes", **{**row, "row": "kernel"})[0] == 404
    assert loaders[0].error("shapes", **NAMED, kind="weights") == (
        400,
        "Invalid argument: The parameter row is missing.",
    )


def test_both_list_the_same_runs(loaders: list[Routes]) -> None:
    fast, python = (routes.json("runs")["runs"] for routes in loaders)
    assert fast == python
    by_name = {run["name"]: run for run in fast}
    assert [layer["id"] for layer in by_name["plain"]["layers"]] == ["decoder", "encoder/lstm_0"]
    assert by_name["plain"]["scalars"] == [
        {"run": "plain", "tag": "loss"},
        {"run": "plain/train", "tag": "loss"},
    ]
    assert by_name["shared"]["layers"][0]["kinds"]["activations"]["calls"] == [0, 1]
    assert by_name["a b/é#1%"]["run"] == "a b/é#1%/lstm_gates"


def test_both_give_the_same_statistics(loaders: list[Routes]) -> None:
    keys = all_keys(loaders[0])
    assert len(keys) == 12
    for key in keys:
        fast, python = (routes.bytes("statistics", **key) for routes in loaders)
        assert fast == python, key


def test_both_give_the_same_snapshots(loaders: list[Routes]) -> None:
    for key in all_keys(loaders[0]):
        fast, python = (routes.snapshots(**key) for routes in loaders)
        assert fast == python, key
        listed = [routes.json("snapshots", **key) for routes in loaders]
        for answer in listed:
            for one in [*answer["snapshots"], answer["first"]]:
                assert isinstance(one.pop("key"), str)
        assert listed[0] == listed[1]


def test_both_give_the_same_health_and_scalars(loaders: list[Routes]) -> None:
    for run in loaders[0].json("runs")["runs"]:
        fast, python = (routes.json("health", run=run["run"]) for routes in loaders)
        assert fast == python
        assert fast["layers"]
    for run in ("plain", "plain/train"):
        fast, python = (routes.json("scalars", run=run, tag="loss") for routes in loaders)
        assert fast == python
        assert [one[0] for one in fast] == list(range(50))
        assert fast[3][2] == pytest.approx(0.25)


def test_l4_both_show_a_restarted_run_without_its_old_end(loaders: list[Routes]) -> None:
    """0 ... 9, then 4 ... 7."""
    key = {"run": "restarted/lstm_gates", "layer": "lstm_0", "kind": "weights"}
    for routes in loaders:
        header, arrays = routes.series(**key)
        assert arrays["steps"].tolist() == [0, 1, 2, 3, 4, 5, 6, 7]
        mean = header["columns"].index("mean")
        row = header["rows"].index("kernel/forget")
        seeds = [0, 1, 2, 3, 54, 55, 56, 57]
        expected = [make_layer(seed=seed).kernel["forget"].mean() for seed in seeds]
        np.testing.assert_allclose(arrays["statistics"][:, row, mean], expected, rtol=1e-5)
        assert header["log_calls"] == 8
        assert max(routes.snapshots(**key)) == 7


def test_both_refuse_in_the_same_words(loaders: list[Routes]) -> None:
    weights = {**NAMED, "kind": "weights"}
    refused = [
        (404, "statistics", {**weights, "run": "nowhere"}, "nowhere"),
        (404, "statistics", {**weights, "layer": "lstm_9"}, "lstm_9"),
        (404, "snapshots", {**weights, "call": 3}, "call 3"),
        (404, "health", {"run": "nowhere"}, "nowhere"),
        (404, "scalars", {"run": "plain", "tag": "accuracy"}, "accuracy"),
        (400, "statistics", {**weights, "kind": "biases"}, "biases"),
        (400, "statistics", {**weights, "call": "-1"}, "-1"),
        (400, "statistics", {**weights, "call": "²"}, "²"),
        (400, "statistics", {"layer": "lstm_0", "kind": "weights"}, "run is missing"),
        (400, "snapshot", {}, "key is missing"),
    ]
    for status, route, parameters, word in refused:
        answers = [routes.error(route, **parameters) for routes in loaders]
        assert answers[0] == answers[1]
        assert answers[0][0] == status
        assert word in answers[0][1]


@pytest.mark.parametrize("key", ["x", "../../etc/passwd", "WyIiXQ", "é" * 50, "[]"])
def test_a_key_that_is_none_is_404_in_both(loaders: list[Routes], key: str) -> None:
    for routes in loaders:
        status, sentence = routes.error("snapshot", key=key)
        assert status == 404
        assert "no picture under this key" in sentence


def test_only_get_is_answered(loaders: list[Routes]) -> None:
    import urllib.error
    import urllib.request

    for routes in loaders:
        request = urllib.request.Request(f"{routes._base}/runs", data=b"x", method="POST")
        with pytest.raises(urllib.error.HTTPError, match="405"):
            urllib.request.urlopen(request)


def test_n11_hostile_names_reach_the_page_unchanged(loaders: list[Routes]) -> None:
    for routes in loaders:
        health = routes.json("health", run="a b/é#1%/lstm_gates")
        ids = [one["layer"]["id"] for one in health["layers"]]
        assert ids == ["<img src=x onerror=alert(1)>", "слой 1/é?&=%2F"]
        header, _ = routes.series(run="a b/é#1%/lstm_gates", layer=ids[1], kind="weights")
        assert header["layer"]["id"] == ids[1]


def test_reading_the_event_files_gives_what_the_server_gives(
    logdir: Path, loaders: list[Routes]
) -> None:
    """`lg.read` and the DataProvider are two sources of the same answers."""
    logged = lg.read(logdir)
    assert set(logged) == set(RUNS)
    for key in all_keys(loaders[0]):
        name = key["run"].removesuffix("/lstm_gates")
        layer: LoggedLayer = logged[name][key["layer"]]
        series = layer.statistics(key["kind"], key["call"])
        header, arrays = loaders[0].series(**key)
        np.testing.assert_array_equal(arrays["steps"], series.steps)
        np.testing.assert_array_equal(arrays["statistics"], series.statistics)
        np.testing.assert_array_equal(arrays["histogram"], series.histogram)
        assert header["rows"] == series.header["rows"]
        steps = layer.snapshot_steps(key["kind"], key["call"])
        assert steps == list(loaders[0].snapshots(**key))
