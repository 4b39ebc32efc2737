"""GateWriter: what it accepts, what it refuses, and what then lies in the log directory."""

import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest

import lstm_gates_plugin as lg
from helpers.layers import make_layer, make_trace
from lstm_gates_plugin.reading.runs import LoggedLayer


def logged(directory: Path, layer: str = "lstm_0") -> LoggedLayer:
    return lg.read(directory)["."][layer]


def test_weights_and_activations_are_read_back_as_they_were(tmp_path: Path) -> None:
    layer = make_layer()
    trace = make_trace(layer, padded=2)
    with lg.GateWriter(tmp_path) as writer:
        writer.log_weights([layer], step=3)
        writer.log_trace([trace], step=3)
    found = logged(tmp_path)
    forget = found.series("activation/forget", "mean")
    assert forget.steps.tolist() == [3]
    assert forget.values[0] == pytest.approx(np.nanmean(trace.gates["forget"]), abs=1e-6)
    weights = found.snapshot(kind="weights")
    np.testing.assert_array_equal(weights.arrays["kernel/forget"], layer.kernel["forget"])
    assert (tmp_path / "lstm_gates").is_dir()


@pytest.mark.parametrize(
    ("step", "message"),
    [
        (None, "No step was given"),
        (-1, "step=-1"),
        (1.5, "step=1.5"),
        ("3", "step='3'"),
        (True, "step=True"),
        (2**53, "step=9007199254740992"),
        (2**63, "whole number from 0"),
    ],
)
def test_a_missing_or_impossible_step_is_a_value_error(
    tmp_path: Path, step: object, message: str
) -> None:
    """Cases L8 and L10, for every method that takes a step."""
    writer = lg.GateWriter(tmp_path)
    layer = make_layer()
    for call in (
        lambda: writer.log([layer], step=step),  # type: ignore[arg-type]
        lambda: writer.log_weights([layer], step=step),  # type: ignore[arg-type]
        lambda: writer.log_trace(make_trace(layer), step=step),  # type: ignore[arg-type]
    ):
        with pytest.raises(ValueError, match=message):
            call()


def test_l10_large_steps_and_numpy_integers_are_exact(tmp_path: Path) -> None:
    with lg.GateWriter(tmp_path) as writer:
        for step in (np.int64(0), 2**31 + 5, np.uint64(2**53 - 1)):
            writer.log_weights([make_layer()], step=step)  # type: ignore[arg-type]
    steps = logged(tmp_path).series("kernel/forget", "mean").steps
    assert steps.tolist() == [0, 2**31 + 5, 2**53 - 1]


def test_a_step_not_above_the_last_one_is_a_value_error_and_loses_nothing(tmp_path: Path) -> None:
    with lg.GateWriter(tmp_path) as writer:
        writer.log_weights([make_layer()], step=5)
        for step in (5, 4):
            with pytest.raises(ValueError, match="last record is at step 5"):
                writer.log_weights([make_layer(seed=9)], step=step)
        writer.log_trace(make_trace(make_layer()), step=4)
        writer.log_weights([make_layer()], step=6)
    assert logged(tmp_path).series("kernel/forget", "mean").steps.tolist() == [5, 6]
    assert logged(tmp_path).series("hidden_state", "mean").steps.tolist() == [4]


def test_log_refuses_a_counter_that_starts_again(tmp_path: Path) -> None:
    with lg.GateWriter(tmp_path, every=10) as writer:
        writer.log([make_layer()], step=10)
        with pytest.raises(ValueError, match="never starts again at an epoch"):
            writer.log([make_layer()], step=0)
        assert not writer.log([make_layer()], step=11)
        assert writer.log([make_layer()], step=20)


def test_a_directory_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a directory")
    with pytest.raises(ValueError, match=r"log directory .*file.* cannot be written"):
        lg.GateWriter(tmp_path / "file" / "run")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"every": 0}, "every=0"),
        ({"parts": ("gates",)}, "parts=.*weights, activations"),
        ({"parts": "weights"}, "parts='weights'"),
        ({"max_units": 0}, "max_units=0"),
        ({"max_samples": 1.5}, "max_samples=1.5"),
    ],
)
def test_wrong_options_are_named(tmp_path: Path, options: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        lg.GateWriter(tmp_path, **options)  # type: ignore[arg-type]


def test_one_live_writer_per_directory(tmp_path: Path) -> None:
    writer = lg.GateWriter(tmp_path)
    with pytest.raises(ValueError, match="Another live GateWriter"):
        lg.GateWriter(str(tmp_path) + "/../" + tmp_path.name)
    writer.close()
    lg.GateWriter(tmp_path).close()


def test_a_writer_that_was_forgotten_frees_its_directory_and_keeps_its_last_picture(
    tmp_path: Path,
) -> None:
    write = textwrap.dedent("""
        import sys
        sys.path.insert(0, sys.argv[2])
        import lstm_gates_plugin as lg
        from helpers.layers import make_layer
        writer = lg.GateWriter(sys.argv[1])
        for step in (0, 10, 11):
            writer.log_weights([make_layer(seed=step)], step=step)
    """)
    helpers = Path(__file__).parents[1]
    subprocess.run([sys.executable, "-c", write, tmp_path, helpers], check=True)
    assert logged(tmp_path).snapshot_steps("weights") == [0, 10, 11]
    lg.GateWriter(tmp_path)
    lg.GateWriter(tmp_path)


def test_nothing_can_be_logged_after_close(tmp_path: Path) -> None:
    writer = lg.GateWriter(tmp_path)
    writer.log_weights([make_layer()], step=0)
    writer.close()
    writer.close()
    with pytest.raises(ValueError, match="closed"):
        writer.log_weights([make_layer()], step=1)


def test_only_the_wanted_layers_and_parts_are_logged(tmp_path: Path) -> None:
    layers = [make_layer(id=id) for id in ("encoder/a", "encoder/b", "decoder")]
    with lg.GateWriter(tmp_path / "1", layers="encoder/*") as writer:
        writer.log_weights(layers, step=0)
    with lg.GateWriter(tmp_path / "2", layers=["decoder", "*/b"]) as writer:
        writer.log_weights(layers, step=0)
    assert list(lg.read(tmp_path / "1")["."]) == ["encoder/a", "encoder/b"]
    assert list(lg.read(tmp_path / "2")["."]) == ["decoder", "encoder/b"]


def test_a_second_model_gets_a_prefix(tmp_path: Path) -> None:
    with lg.GateWriter(tmp_path) as writer:
        writer.log([make_layer()], step=0, name="generator")
        writer.log([make_layer()], step=0, name="critic")
    assert list(lg.read(tmp_path)["."]) == ["critic/lstm_0", "generator/lstm_0"]


def test_i1_nan_weights_are_counted_at_their_step_and_in_their_gate_alone(tmp_path: Path) -> None:
    """From the arrays on."""
    with lg.GateWriter(tmp_path) as writer:
        for step in range(4):
            layer = make_layer(seed=step)
            if step == 2:
                forget = layer.kernel["forget"]
                forget.flags.writeable = True
                forget[:] = np.nan
            writer.log_weights([layer], step=step)
    found = logged(tmp_path)
    assert found.series("kernel/forget", "nan").values.tolist() == [0, 0, 12, 0]
    assert found.series("kernel/input", "nan").values.tolist() == [0, 0, 0, 0]
    assert np.isnan(found.series("kernel/forget", "change_since_start").values).tolist() == [
        False,
        False,
        True,
        False,
    ]
    assert np.isnan(found.snapshot(2, "weights").arrays["kernel/forget"]).all()


def test_the_start_line_says_what_when_and_where(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with lg.GateWriter(tmp_path, every=5) as writer:
        writer.log([make_layer()], step=0)
        writer.log([make_layer()], step=5)
    line = capsys.readouterr().out
    assert line.count("\n") == 1
    assert "weights" in line
    assert "every 5 step(s)" in line
    assert str(tmp_path) in line
    assert "give a probe" in line


def test_a_run_in_which_nothing_was_logged_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lg.GateWriter(tmp_path).close()
    assert "nothing was logged" in capsys.readouterr().out


def test_a_full_disk_is_one_warning_and_logging_resumes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, recwarn: pytest.WarningsRecorder
) -> None:
    from lstm_gates_plugin.event_file import EventFileWriter

    writer = lg.GateWriter(tmp_path, every=1)
    writer.log([make_layer()], step=0)
    with monkeypatch.context() as full:
        full.setattr(EventFileWriter, "_append", _disk_full)
        for step in (1, 2, 3):
            writer.log([make_layer()], step=step)
    writer.log([make_layer()], step=4)
    writer.close()
    messages = [str(warning.message) for warning in recwarn if "LSTM Gates" in str(warning.message)]
    assert len(messages) == 1
    assert "training goes on" in messages[0]
    assert "No space left" in messages[0]
    assert logged(tmp_path).series("kernel/forget", "mean").steps.tolist() == [0, 4]


def _disk_full(*_: object) -> None:
    raise OSError(28, "No space left on device")
