"""GateWriter in a plain PyTorch loop: one line, any tensor as probe, nothing disturbed."""

import subprocess
import sys
import textwrap
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn.utils.rnn import pack_sequence, pad_packed_sequence

import lstm_gates_plugin as lg
from helpers.torch_training import Tagger, X, Y, logged, loss_of, state_of, steps, train


@pytest.fixture(autouse=True)
def no_warnings() -> Iterator[None]:
    """A test says so where it expects one."""
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message="LSTM Gates")
        yield


def test_one_line_in_a_loop_logs_before_each_update_and_at_the_end(tmp_path: Path) -> None:
    model = Tagger()
    before = lg.recurrent_layers(model)[0].kernel["forget"]
    with lg.GateWriter(tmp_path) as writer:
        train(model, lambda step: writer.log(model, step=step, probe=X[:4]))
    layer = logged(tmp_path)["rnn"]
    for row in ("kernel/forget", "activation/forget", "hidden_state"):
        assert steps(tmp_path, row) == [0, 1, 2, 3, 4]
    np.testing.assert_array_equal(layer.snapshot(0, "weights").arrays["kernel/forget"], before)
    np.testing.assert_allclose(
        layer.snapshot().arrays["cell_state"], lg.trace(model, X[:4])[0].cell_state, atol=1e-3
    )
    assert layer.series("hidden_state", "difference").values.max() < 1e-6


def test_l8_a_missing_step_is_an_error_and_nothing_is_written(tmp_path: Path) -> None:
    writer = lg.GateWriter(tmp_path)
    for _ in range(2):
        with pytest.raises(ValueError, match="No step was given; pass step="):
            writer.log(Tagger(), probe=X[:4])
    assert not list(tmp_path.rglob("*tfevents*"))


def test_i1_a_gate_of_nan_is_counted_and_training_finishes(tmp_path: Path) -> None:
    model = Tagger()
    forget = slice(4, 8)

    def log(step: int) -> None:
        whole = model.rnn.weight_hh_l0.detach().clone()
        if step == 2:
            model.rnn.weight_hh_l0.data[forget] = float("nan")
        writer.log(model, step=step, probe=X[:4])
        model.rnn.weight_hh_l0.data = whole

    with lg.GateWriter(tmp_path) as writer:
        assert np.isfinite(train(model, log)).all()
    layer = logged(tmp_path)["rnn"]
    weights = layer.statistics("weights")
    share = weights.column("recurrent_kernel/forget", "nan") / weights.column(
        "recurrent_kernel/forget", "count"
    )
    assert share.tolist() == [0, 0, 1, 0, 0]
    assert layer.statistics("weights").column("recurrent_kernel/input", "nan").sum() == 0
    activations = layer.statistics("activations")
    # At the first timestep the state before is zero, and zero times NaN is NaN.
    assert activations.column("activation/forget", "nan").tolist() == [0, 0, 4 * 6 * 4, 0, 0]
    assert steps(tmp_path) == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("logs", ["nothing", "all"])
def test_training_is_bit_identical_with_and_without(tmp_path: Path, logs: str) -> None:
    probe = lg.Probe(X[:4].requires_grad_(), target=Y[:4], loss=loss_of)

    def trained(log: Any) -> tuple[list[float], list[torch.Tensor]]:
        torch.manual_seed(7)
        model = Tagger(dropout=0.5)
        return train(model, lambda step: log(model, step)), state_of(model)

    without = trained(lambda model, step: None)
    with lg.GateWriter(tmp_path, every=100 if logs == "nothing" else 1) as writer:
        with_us = trained(lambda model, step: writer.log(model, step=step, probe=probe))
    assert without[0] == with_us[0]
    for one, other in zip(without[1], with_us[1], strict=True):
        assert torch.equal(one, other)


@pytest.mark.parametrize(
    "probe", [X[:4], X[:4].numpy(), X[:4].clone().requires_grad_(), X[:4].double().numpy()]
)
def test_the_input_is_shown_as_it_was_given(tmp_path: Path, probe: Any) -> None:
    with lg.GateWriter(tmp_path) as writer:
        writer.log(Tagger(), step=0, probe=probe)
    snapshot = logged(tmp_path)["rnn"].snapshot()
    np.testing.assert_array_equal(snapshot.arrays["track/input"], X[:4])
    assert snapshot.header["samples"] == 4


def test_a_probe_in_bfloat16_for_a_model_in_bfloat16(tmp_path: Path) -> None:
    model = Tagger().to(torch.bfloat16)
    probe = lg.Probe(X[:4].bfloat16(), target=Y[:4], loss=lambda out, y: loss_of(out.float(), y))
    with lg.GateWriter(tmp_path) as writer:
        writer.log(model, step=0, probe=probe)
    snapshot = logged(tmp_path)["rnn"].snapshot()
    np.testing.assert_array_equal(snapshot.arrays["track/input"], X[:4].bfloat16().float())
    assert snapshot.arrays["track/loss"].shape == (4, 6)


def test_target_prediction_labels_and_the_loss_of_each_timestep(tmp_path: Path) -> None:
    model = Tagger()
    seen: list[tuple[Any, ...]] = []

    def loss(outputs: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        seen.append((torch.is_grad_enabled(), outputs.requires_grad, type(target)))
        return loss_of(outputs, target)

    labels = [[str(time) for time in range(6)]] * 4
    for number, target in enumerate((Y[:4], Y[:4].numpy())):
        probe = lg.Probe(X[:4], target=target, loss=loss, time_labels=labels)
        with lg.GateWriter(tmp_path / str(number)) as writer:
            writer.log(model, step=0, probe=probe)
        snapshot = logged(tmp_path, str(number))["rnn"].snapshot()
        with torch.no_grad():
            outputs = model.eval()(X[:4])
        np.testing.assert_array_equal(snapshot.arrays["track/target"], Y[:4])
        np.testing.assert_array_equal(snapshot.arrays["track/prediction"], outputs.argmax(-1))
        np.testing.assert_allclose(snapshot.arrays["track/loss"], loss_of(outputs, Y[:4]), 1e-5)
        assert snapshot.header["time_labels"] == labels
    # Each time for the gradients through time, and then for the track.
    assert seen == [(True, True, torch.Tensor), (False, False, torch.Tensor)] * 2


def test_classes_second_as_torchs_losses_take_them(tmp_path: Path) -> None:
    class Second(nn.Module):
        def __init__(self, classes: int) -> None:
            super().__init__()
            self.rnn = nn.LSTM(3, classes, batch_first=True)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            output: torch.Tensor = self.rnn(x)[0].transpose(1, 2)
            return output

    for classes in (5, 6):  # as many as timesteps: it could be either axis
        model = Second(classes)
        with lg.GateWriter(tmp_path / str(classes)) as writer:
            writer.log(model, step=0, probe=lg.Probe(X[:4], target=Y[:4]))
        arrays = logged(tmp_path, str(classes))["rnn"].snapshot().arrays
        if classes == 5:
            np.testing.assert_array_equal(arrays["track/prediction"], model(X[:4]).argmax(1))
        else:
            assert "track/prediction" not in arrays


def test_no_track_where_batch_and_time_cannot_be_told_apart(tmp_path: Path) -> None:
    square = X[:6]
    for number, batch_first in enumerate((True, False)):
        with lg.GateWriter(tmp_path / str(number)) as writer:
            writer.log(nn.GRU(3, 4, batch_first=batch_first), step=0, probe=square)
        arrays = logged(tmp_path, str(number))["gru_0"].snapshot().arrays
        if batch_first:
            np.testing.assert_allclose(arrays["track/input"], square[:4])
        else:
            assert "track/input" not in arrays


def test_a_scalar_loss_is_no_track_and_a_wrong_one_is_named(tmp_path: Path) -> None:
    mean = lg.Probe(X[:4], target=Y[:4], loss=lambda *given: loss_of(*given).mean())
    wrong = lg.Probe(X[:4], target=Y[:4], loss=nn.functional.cross_entropy)
    with lg.GateWriter(tmp_path) as writer:
        writer.log(Tagger(), step=0, probe=mean)
        with (
            pytest.warns(UserWarning, match="could not log the gradients through time, training"),
            pytest.warns(UserWarning, match="could not log the loss of each timestep, training"),
        ):
            writer.log(Tagger(), step=1, probe=wrong)
    for step in (0, 1):
        assert "track/loss" not in logged(tmp_path)["rnn"].snapshot(step).arrays
    assert steps(tmp_path) == [0, 1]


class Packed(nn.Module):
    """Takes a `PackedSequence`."""

    def __init__(self) -> None:
        super().__init__()
        self.rnn = nn.GRU(3, 4)

    def forward(self, packed: Any) -> Any:
        return pad_packed_sequence(self.rnn(packed)[0], batch_first=True)[0]


def test_a_packed_probe_shows_padded_rows_in_the_callers_order(tmp_path: Path) -> None:
    rows = [X[0, :2], X[1, :6], X[2, :4]]
    probe = lg.Probe(pack_sequence(rows, enforce_sorted=False), sample_names=["a", "b", "c"])
    with lg.GateWriter(tmp_path) as writer:
        writer.log(Packed(), step=0, probe=probe)
    snapshot = logged(tmp_path)["rnn"].snapshot()
    assert snapshot.arrays["mask"].sum(1).tolist() == [2, 6, 4]
    assert snapshot.header["sample_names"] == ["a", "b", "c"]
    for shown, row in zip(snapshot.arrays["track/input"], rows, strict=True):
        np.testing.assert_array_equal(shown[: len(row)], row)
        assert not np.nan_to_num(shown[len(row) :]).any()


@pytest.mark.parametrize("layout", ["time-major", "unbatched"])
def test_other_layouts_show_the_same_tracks(tmp_path: Path, layout: str) -> None:
    rows = 4 if layout == "time-major" else 1
    given = X[:rows].transpose(0, 1) if layout == "time-major" else X[0]
    model = nn.LSTM(3, 4)
    tags = Y[:rows].T if layout == "time-major" else Y[0]
    with lg.GateWriter(tmp_path) as writer:
        writer.log(model, step=0, probe=lg.Probe(given, target=tags, sample_names=[*"abcd"[:rows]]))
    snapshot = logged(tmp_path)["lstm_0"].snapshot()
    np.testing.assert_array_equal(snapshot.arrays["track/input"], X[:rows])
    np.testing.assert_array_equal(snapshot.arrays["track/target"], Y[:rows])
    assert snapshot.header["samples"] == rows
    assert snapshot.header["sample_names"] == [*"abcd"[:rows]]


@pytest.mark.parametrize(
    ("model", "probe", "sentence"),
    [
        (Tagger(), X[:4, :, :2], r"of shape \(4, 6, 2\)\. The framework says"),
        (Tagger(), (X[:4], X[:4].to("meta")), "forward"),
        (nn.Linear(3, 2), X[:4], "has no recurrent layer"),
    ],
)
def test_bad_input_is_named_and_training_goes_on(
    tmp_path: Path, model: Any, probe: Any, sentence: str
) -> None:
    given = lg.Probe(*probe) if isinstance(probe, tuple) else probe
    with lg.GateWriter(tmp_path) as writer, pytest.warns(UserWarning, match=sentence):
        assert writer.log(model, step=0, probe=given)


class TwoInputs(nn.Module):
    """Adds what it is given."""

    def __init__(self) -> None:
        super().__init__()
        self.rnn = nn.LSTM(3, 4, batch_first=True)

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> Any:
        return self.rnn(x + y)


def test_a_probe_on_another_device_is_named(tmp_path: Path) -> None:
    probe = lg.Probe(X[:4], X[:4].to("meta"))
    with (
        lg.GateWriter(tmp_path) as writer,
        pytest.warns(UserWarning, match="the probe is on cpu and meta and the model on cpu"),
    ):
        writer.log(TwoInputs(), step=0, probe=probe)
    assert steps(tmp_path, "kernel/forget") == [0]


def test_neither_tensorflow_nor_keras_is_imported(tmp_path: Path) -> None:
    code = f"""
        import sys, torch
        import lstm_gates_plugin as lg
        model = torch.nn.LSTM(3, 4)
        with lg.GateWriter({str(tmp_path)!r}) as writer:
            for step in range(3):
                writer.log(model, step=step, probe=torch.zeros(5, 2, 3))
        lg.read({str(tmp_path)!r})
        lg.LightningCallback()
        print(sorted({{m.partition(".")[0] for m in sys.modules}} & {{
            "tensorflow", "keras", "tf_keras", "jax", "lightning", "pytorch_lightning",
            "tensorboardX"}}))
    """
    result = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True
    )
    assert result.stdout.splitlines()[-1:] == ["[]"], result.stderr


def test_a_layer_that_does_something_else_is_told_of_once(tmp_path: Path) -> None:
    class Doubles(nn.LSTM):
        def forward(self, x: torch.Tensor) -> Any:
            return super().forward(2 * x)

    model = Doubles(3, 4, batch_first=True)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with lg.GateWriter(tmp_path, every=1) as writer:
            for step in range(10):
                writer.log(model, step=step, probe=X[:4])
                with torch.no_grad():
                    model.weight_hh_l0.mul_(1.01)
    (only,) = caught
    assert "hidden state of layer 'doubles_0'" in str(only.message)


def test_what_torch_says_of_a_probe_is_told_with_what_was_given(tmp_path: Path) -> None:
    model, good = nn.LSTM(3, 4), X[:4]
    wrong = {"of shape (4, 6, 2)": X[:4, :, :2], "of shape (4, 1, 6, 3)": X[:4, None]}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with lg.GateWriter(tmp_path, every=1) as writer:
            for step, probe in enumerate([*wrong.values(), *wrong.values(), good, X[:4, :, :2]]):
                writer.log(model, step=step, probe=probe)
    first, second, again = (str(each.message) for each in caught)
    for sentence, shape in zip((first, second), wrong, strict=True):
        assert shape in sentence
        assert "The framework says: " in sentence
    assert again == first
