"""GateWriter through a SummaryWriter of torch.utils.tensorboard and of tensorboardX."""

import importlib
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

import lstm_gates_plugin as lg
from helpers.layers import make_layer, make_trace
from helpers.required import require_framework
from helpers.served import Routes
from helpers.torch_training import Tagger, X, hidden_tensorflow, logged, steps, train

hide = pytest.fixture(scope="module", autouse=True)(hidden_tensorflow)

Make = Callable[..., Any]


@pytest.fixture(params=["torch.utils.tensorboard", "tensorboardX"])
def make(request: pytest.FixtureRequest, hide: None) -> Make:
    """The `SummaryWriter` class of each package."""
    require_framework(request.param.partition(".")[0])
    made: Make = importlib.import_module(request.param).SummaryWriter
    return made


@pytest.fixture(autouse=True)
def no_warnings() -> Iterator[None]:
    """A test says so where it expects one."""
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message="LSTM Gates")
        yield


def write(summary_writer: Any, steps: range, seed: int = 0) -> None:
    """Weights and activations beside the user's own scalars."""
    with lg.GateWriter(summary_writer) as writer:
        for step in steps:
            summary_writer.add_scalar("loss", step / 2, step)
            layer = make_layer(seed=seed + step)
            writer.log_weights([layer], step=step)
            writer.log_trace(make_trace(layer), step=step)


@pytest.mark.parametrize("loader", ["--load_fast=true", "--load_fast=false"])
def test_both_loaders_show_the_records_in_the_users_own_run(
    tmp_path: Path, make: Make, serve_logdir: Any, loader: str
) -> None:
    with make(str(tmp_path / "train")) as summary_writer:
        write(summary_writer, range(3))
    assert len(list(tmp_path.rglob("*tfevents*"))) == 1
    routes = Routes(serve_logdir(tmp_path, loader))
    routes.wait_for({"train": 2})
    assert routes.json("runs")["runs"][0]["scalars"] == [{"run": "train", "tag": "loss"}]
    scalars = routes.json("scalars", run="train", tag="loss")
    assert [[step, value] for step, _, value in scalars] == [[0, 0], [1, 0.5], [2, 1]]
    for kind in ("weights", "activations"):
        _, arrays = routes.series(run="train", layer="lstm_0", kind=kind)
        assert arrays["steps"].tolist() == [0, 1, 2]
        assert sorted(routes.snapshots(run="train", layer="lstm_0", kind=kind)) == [0, 1, 2]


def test_what_is_written_is_read_back_as_it_was(tmp_path: Path, make: Make) -> None:
    with make(str(tmp_path)) as summary_writer:
        write(summary_writer, range(5))
    layer = logged(tmp_path)["lstm_0"]
    weights = layer.snapshot(4, kind="weights").arrays
    np.testing.assert_array_equal(weights["kernel/forget"], make_layer(seed=4).kernel["forget"])
    assert layer.snapshot_steps() == [0, 1, 2, 3, 4]


def test_a_loop_goes_on_with_the_users_writer_open(tmp_path: Path, make: Make) -> None:
    model = Tagger()
    with make(str(tmp_path)) as summary_writer:
        with lg.GateWriter(summary_writer) as writer:
            train(model, lambda step: writer.log(model, step=step, probe=X[:4]))
        summary_writer.add_scalar("after", 1.0, 5)
    assert steps(tmp_path) == [0, 1, 2, 3, 4]


def test_a_resumed_run_continues_its_curves(tmp_path: Path, make: Make) -> None:
    for first, last in ((0, 3), (3, 6)):
        with make(str(tmp_path), filename_suffix=f".{first}") as summary_writer:
            write(summary_writer, range(first, last))
    assert len(list(tmp_path.rglob("*tfevents*"))) == 2
    layer = logged(tmp_path)["lstm_0"]
    change = layer.series("kernel/forget", "change_since_start")
    assert change.steps.tolist() == [0, 1, 2, 3, 4, 5]
    assert change.values[0] == 0
    assert (change.values[1:] > 0).all()
    assert layer.statistics("weights").log_calls == 6


@pytest.mark.parametrize("loader", ["--load_fast=true", "--load_fast=false"])
def test_purge_step_replaces_what_was_logged_from_there_on(
    tmp_path: Path, make: Make, serve_logdir: Any, loader: str
) -> None:
    for number, (first, last) in enumerate(((0, 5), (3, 5))):
        purge = {"purge_step": first} if first else {}
        with make(str(tmp_path), filename_suffix=f".{number}", **purge) as summary_writer:
            write(summary_writer, range(first, last), seed=100 * number)
    layer = logged(tmp_path)["lstm_0"]
    for step, seed in ((2, 2), (3, 103), (4, 104)):
        shown = layer.snapshot(step, kind="weights").arrays["kernel/forget"]
        np.testing.assert_array_equal(shown, make_layer(seed=seed).kernel["forget"])
    routes = Routes(serve_logdir(tmp_path, loader))
    routes.wait_for({".": 4})
    _, arrays = routes.series(run=".", layer="lstm_0", kind="weights")
    assert arrays["steps"].tolist() == [0, 1, 2, 3, 4]


def test_a_closed_writer_is_refused(tmp_path: Path, make: Make) -> None:
    summary_writer = make(str(tmp_path))
    summary_writer.close()
    with pytest.raises(ValueError, match="A SummaryWriter that is closed was given"):
        lg.GateWriter(summary_writer)


def test_one_that_is_closed_meanwhile_is_said_once_and_training_goes_on(
    tmp_path: Path, make: Make
) -> None:
    summary_writer, model = make(str(tmp_path)), Tagger()
    writer = lg.GateWriter(summary_writer)
    writer.log(model, step=0)
    summary_writer.close()
    with pytest.warns(UserWarning, match=r"is closed\. Close the GateWriter before it"):
        writer.log(model, step=1)
    writer.log(model, step=2)  # said already
    assert len(list(tmp_path.rglob("*tfevents*"))) == 1
    with pytest.raises(OSError, match="is closed"):
        writer.log_weights(model, step=3)
    # As torch has it: what is added after close() opens the writer again.
    summary_writer.add_scalar("loss", 1.0, 3)
    writer.log(model, step=4)
    writer.close()
    summary_writer.close()
    assert steps(tmp_path, "kernel/forget")[-1] == 4


def test_the_last_pictures_of_a_writer_that_was_closed_first_are_missed_aloud(
    tmp_path: Path, make: Make
) -> None:
    summary_writer, model = make(str(tmp_path)), Tagger()
    writer = lg.GateWriter(summary_writer, every=1)
    for step in range(8):  # the picture of step 7 waits
        writer.log(model, step=step)
    summary_writer.close()
    with pytest.warns(UserWarning, match=r"could not write the last pictures: .* is closed"):
        writer.close()
    assert steps(tmp_path, "kernel/forget")[-1] == 7


def test_one_live_writer_for_each_summary_writer(tmp_path: Path, make: Make) -> None:
    summary_writer = make(str(tmp_path))
    first = lg.GateWriter(summary_writer)
    for again in (summary_writer, tmp_path):
        with pytest.raises(ValueError, match="Another live GateWriter of this process"):
            lg.GateWriter(again)
    first.log(Tagger(), step=0)
    first.close()
    lg.GateWriter(summary_writer).close()
    summary_writer.close()


@pytest.mark.parametrize("destination", [nn.LSTM(3, 4), 5, b"logs"])
def test_what_is_no_destination_is_named(destination: Any) -> None:
    name = type(destination).__name__
    with pytest.raises(TypeError, match=rf"{name}; expected a directory, .* a SummaryWriter"):
        lg.GateWriter(destination)


def test_the_users_own_tags_are_kept_apart(tmp_path: Path, make: Make) -> None:
    with make(str(tmp_path)) as summary_writer, lg.GateWriter(summary_writer) as writer:
        summary_writer.add_histogram("rnn", torch.randn(9), 0)
        writer.log(Tagger(), step=0)
        summary_writer.add_histogram("rnn/kernel/forget", torch.randn(9), 0)
    assert steps(tmp_path, "kernel/forget") == [0]
