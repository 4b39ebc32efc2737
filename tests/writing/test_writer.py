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


def write_runs(directory: Path, *passes: list[int], every_seed: bool = False) -> None:
    """One writer per pass; the layer's seed is the step, or the pass where ``every_seed``."""
    for number, steps in enumerate(passes):
        with lg.GateWriter(directory) as writer:
            for step in steps:
                layer = make_layer(seed=100 * number + step)
                writer.log_weights([layer], step=step)
                writer.log_trace(make_trace(layer), step=step)


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


def test_large_steps_and_numpy_integers_are_exact(tmp_path: Path) -> None:
    """Case L10."""
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


def test_nan_weights_are_counted_at_their_step_and_in_their_gate_alone(tmp_path: Path) -> None:
    """Case I1, from the arrays on."""
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


def test_a_run_that_goes_on_continues_its_curves(tmp_path: Path) -> None:
    write_runs(tmp_path, [0, 1, 2])
    before = logged(tmp_path).series("kernel/forget", "change_since_start")
    with lg.GateWriter(tmp_path) as writer:
        writer.log_weights([make_layer(seed=2)], step=5)
    after = logged(tmp_path).series("kernel/forget", "change_since_start")
    assert after.steps.tolist() == [0, 1, 2, 5]
    assert after.values.tolist() == [*before.values, before.values[-1]]
    assert before.values[-1] > 0.1
    assert logged(tmp_path).statistics("weights").log_calls == 4


def test_a_run_that_restarts_earlier_replaces_what_was_there(tmp_path: Path) -> None:
    """Case L4, in our own reader."""
    write_runs(tmp_path, [0, 1, 2, 3], [1, 2])
    found = logged(tmp_path)
    means = found.series("kernel/forget", "mean")
    assert means.steps.tolist() == [0, 1, 2]
    expected = [make_layer(seed=seed).kernel["forget"].mean() for seed in (0, 101, 102)]
    np.testing.assert_allclose(means.values, expected, rtol=1e-5)
    assert found.snapshot_steps() == [0, 1, 2]
    assert found.statistics("activations").log_calls == 3


def test_a_run_that_restarts_at_zero_has_a_new_start(tmp_path: Path) -> None:
    write_runs(tmp_path, [0, 1], [0, 1])
    change = logged(tmp_path).series("kernel/forget", "max_change_since_start").values
    old, new = make_layer(seed=100).kernel["forget"], make_layer(seed=101).kernel["forget"]
    np.testing.assert_allclose(change, [0, np.abs(new - old).max()], rtol=1e-6)


def test_the_kept_units_stay_the_same_over_a_resumed_run(tmp_path: Path) -> None:
    layer = make_layer(units=100)
    for steps in ([0, 1], [2, 3]):
        with lg.GateWriter(tmp_path) as writer:
            for step in steps:
                writer.log_trace(make_trace(layer, seed=step), step=step)
    found = logged(tmp_path)
    kept = [found.snapshot(step).header["units"] for step in found.snapshot_steps()]
    assert len(kept) == 4
    assert len(kept[0]) == 64
    assert all(units == kept[0] for units in kept)


def test_another_model_under_the_same_id_begins_anew(tmp_path: Path) -> None:
    write_runs(tmp_path, [0, 1])
    with lg.GateWriter(tmp_path) as writer:
        writer.log_weights([make_layer(units=7)], step=2)
    series = logged(tmp_path).statistics("weights")
    assert series.steps.tolist() == [2]
    assert series.column("kernel/forget", "max_change_since_start").tolist() == [0]
    assert [one.step for one in series.omitted] == [0, 1]


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


def test_change_is_not_measured_between_different_probes(tmp_path: Path) -> None:
    """The same weights on other steps: nothing has changed, and nothing can be compared."""
    layer = make_layer()
    with lg.GateWriter(tmp_path) as writer:
        for step, padded in enumerate((0, 0, 2, 2, 0)):
            writer.log_trace(make_trace(layer, padded=padded), step=step)
    found = logged(tmp_path)
    start = found.series("activation/forget", "max_change_since_start").values
    previous = found.series("activation/forget", "max_change_since_previous").values
    np.testing.assert_array_equal(start, [0, 0, np.nan, np.nan, 0])
    np.testing.assert_array_equal(previous, [np.nan, 0, np.nan, 0, np.nan])


def test_a_resumed_run_compares_with_the_same_probe_alone(tmp_path: Path) -> None:
    layer = make_layer()
    for step, padded in enumerate((0, 2, 0)):
        with lg.GateWriter(tmp_path) as writer:
            writer.log_trace(make_trace(layer, padded=padded), step=step)
    start = logged(tmp_path).series("activation/forget", "max_change_since_start").values
    np.testing.assert_array_equal(start, [0, np.nan, 0])


def test_masked_steps_are_in_no_statistic(tmp_path: Path) -> None:
    """Case F3, as it is stored: averages and histograms of 3 steps, not 5."""
    trace = make_trace(make_layer(), batch=1, timesteps=5, padded=2)
    with lg.GateWriter(tmp_path) as writer:
        writer.log_trace(trace, step=0)
    series = logged(tmp_path).statistics("activations")
    row = series.header["rows"].index("hidden_state")
    assert series.column("hidden_state", "count").tolist() == [3 * 4]
    assert series.histogram[0, row].sum() == 3 * 4
    assert series.column("hidden_state", "mean")[0] == pytest.approx(
        trace.hidden_state[0, :3].mean(), rel=1e-5
    )
    assert series.column("hidden_state", "nan").tolist() == [0]
