"""`lg.read`: what users get back, and the sentences where there is nothing."""

from pathlib import Path

import numpy as np
import pytest

import lstm_gates_plugin as lg
from helpers.layers import make_layer, make_trace


@pytest.fixture(scope="module")
def logdir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("logs")
    for run in ("run-1", "deep/run 2"):
        with lg.GateWriter(root / run) as writer:
            for step in (0, 10, 11):
                layer = make_layer(seed=step)
                writer.log_weights([layer], step=step)
                writer.log_trace(make_trace(layer), step=step)
    (root / "empty").mkdir()
    return root


def test_runs_layers_series_and_snapshots(logdir: Path) -> None:
    runs = lg.read(logdir)
    assert list(runs) == ["deep/run 2", "run-1"]
    layer = runs["run-1"]["lstm_0"]
    assert layer.kinds == ["weights", "activations"]
    assert layer.calls == [0]
    steps, values = layer.series("activation/forget", "mean")
    assert steps.tolist() == [0, 10, 11]
    expected = [make_trace(make_layer(seed=step)).gates["forget"].mean() for step in (0, 10, 11)]
    np.testing.assert_allclose(values, expected, rtol=1e-5)
    assert layer.snapshot_steps() == [0, 10, 11]
    assert layer.snapshot(10).step == 10
    assert layer.snapshot(9).step == 0
    assert layer.snapshot().step == 11


def test_what_is_not_there_is_said_with_what_is(logdir: Path) -> None:
    runs = lg.read(logdir)
    layer = runs["run-1"]["lstm_0"]
    with pytest.raises(KeyError, match="no run 'run-3'; there are: deep/run 2, run-1"):
        runs["run-3"]
    with pytest.raises(KeyError, match="no layer 'gru_0'; there are: lstm_0"):
        runs["run-1"]["gru_0"]
    with pytest.raises(KeyError, match="no row 'activation/update'"):
        layer.series("activation/update", "mean")
    with pytest.raises(ValueError, match="no column 'average'; there are: count, nan"):
        layer.series("hidden_state", "average")
    with pytest.raises(KeyError, match="no snapshot"):
        layer.snapshot(kind="weights", call=3)
    with pytest.raises(KeyError, match="no activations of call 2"):
        layer.statistics("activations", 2)


def test_a_directory_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="nowhere"):
        lg.read(tmp_path / "nowhere")
    assert dict(lg.read(tmp_path)) == {}
    with pytest.raises(KeyError, match="nothing was logged"):
        lg.read(tmp_path)["run-1"]


def test_a_link_to_a_run_is_followed(logdir: Path, tmp_path: Path) -> None:
    (tmp_path / "linked").symlink_to(logdir / "run-1")
    assert list(lg.read(tmp_path)["linked"]) == ["lstm_0"]


def test_two_runs_with_one_short_name_are_both_there(tmp_path: Path) -> None:
    from lstm_gates_plugin import format
    from lstm_gates_plugin.event_file import EventFileWriter

    with lg.GateWriter(tmp_path / "run-1") as writer:
        writer.log_weights([make_layer()], step=0)
    ours = next((tmp_path / "run-1" / "lstm_gates").iterdir())
    EventFileWriter(tmp_path / "run-1", 0).close()
    next(path for path in (tmp_path / "run-1").iterdir() if path.is_file()).write_bytes(
        ours.read_bytes()
    )
    runs = lg.read(tmp_path)
    assert set(runs) == {"run-1", f"run-1/{format.RUN_DIRECTORY}"}


def test_somebody_elses_event_files_are_passed_over(tmp_path: Path) -> None:
    from tensorboard.summary import Writer

    scalars = Writer(str(tmp_path / "run"))
    scalars.add_scalar("lstm_gates/lstm_0/weights/statistics", 1.0, 0)
    scalars.close()
    (tmp_path / "run" / "events.out.tfevents.garbage").write_bytes(b"not an event file")
    assert dict(lg.read(tmp_path)) == {}
