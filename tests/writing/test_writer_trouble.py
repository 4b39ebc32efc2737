"""GateWriter in trouble: what collides, what is misspelt, what fails, and who writes at once."""

import sys
from pathlib import Path

import pytest

import lstm_gates_plugin as lg
from helpers.layers import make_layer, make_trace


def test_layers_and_traces_that_would_overwrite_each_other_are_refused(tmp_path: Path) -> None:
    writer = lg.GateWriter(tmp_path)
    layer = make_layer()
    with pytest.raises(ValueError, match="lstm_0 was given more than once for one step"):
        writer.log_weights([layer, make_layer(seed=1)], step=0)
    trace = make_trace(layer)
    with pytest.raises(ValueError, match=r"lstm_0 \(call 0\) was given more than once"):
        writer.log_trace([trace, trace], step=0)
    assert not list(tmp_path.rglob("*tfevents*"))


def test_a_misspelt_argument_is_an_error_at_once(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="prob"):
        lg.GateWriter(tmp_path).log([make_layer()], step=0, prob=1)  # type: ignore[call-arg]


def test_a_pattern_that_fits_no_layer_says_which_there_are(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    writer = lg.GateWriter(tmp_path, layers="encodr/*")
    with pytest.warns(
        UserWarning, match=r"No layer fits layers=\['encodr/\*'\]; there are: lstm_0"
    ):
        writer.log([make_layer()], step=0)
    writer.close()
    assert "the warnings above say why" in capsys.readouterr().out


def test_one_layer_that_cannot_be_logged_does_not_stop_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from lstm_gates_plugin.writing.streams import Streams

    add = Streams.add_weights

    def broken(self: Streams, layer: lg.RecurrentLayer, step: int, numbers: object) -> None:
        if layer.id == "bad":
            raise RuntimeError("no such thing")
        add(self, layer, step, numbers)  # type: ignore[arg-type]

    monkeypatch.setattr(Streams, "add_weights", broken)
    writer = lg.GateWriter(tmp_path)
    with pytest.warns(
        UserWarning, match="could not log the layer 'bad', training goes on: no such"
    ):
        writer.log([make_layer(id="bad"), make_layer(id="good")], step=0)
    assert list(lg.read(tmp_path)["."]) == ["good"]


def test_a_remote_directory_is_refused_and_none_is_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match="not on this machine's file system"):
        lg.GateWriter("gs://bucket/run")
    assert not list(tmp_path.iterdir())


def test_threads_may_share_a_writer(tmp_path: Path) -> None:
    from concurrent.futures import ThreadPoolExecutor

    writer = lg.GateWriter(tmp_path)

    def log(thread: int) -> None:
        for step in range(5):
            writer.log_weights([make_layer(id=f"layer_{thread}")], step=step)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(log, range(4)))
    writer.close()
    assert len(list(tmp_path.rglob("*tfevents*"))) == 1
    for layer in lg.read(tmp_path)["."].values():
        assert layer.series("kernel/forget", "mean").steps.tolist() == [0, 1, 2, 3, 4]


def test_a_rank_is_looked_for_only_where_torch_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RANK", "1")
    monkeypatch.delitem(sys.modules, "torch", raising=False)
    with lg.GateWriter(tmp_path) as writer:
        assert writer.log([make_layer()], step=0)
    assert list(lg.read(tmp_path)["."]) == ["lstm_0"]
