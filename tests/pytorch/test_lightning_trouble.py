"""LightningCallback in trouble: what cannot be logged is said once, and training goes on."""

import importlib
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import lstm_gates_plugin as lg
from helpers.lightning_training import fit, loader, logged, module_class, steps, trainer
from helpers.required import require_framework
from helpers.torch_training import X, Y, hidden_tensorflow, loss_of

# Lightning's own, on what is left out here on purpose.
pytestmark = [
    pytest.mark.filterwarnings("ignore:.*LeafSpec"),
    pytest.mark.filterwarnings("ignore:You defined a `validation_step`"),
]

hide = pytest.fixture(scope="module", autouse=True)(hidden_tensorflow)


@pytest.fixture
def pl(hide: None) -> Any:
    """One of the packages: they are the same code."""
    require_framework("lightning")
    return importlib.import_module("lightning.pytorch")


def ours(caught: Any) -> list[str]:
    """Our warnings among all, each as often as it was given."""
    return [str(one.message) for one in caught if "LSTM Gates" in str(one.message)]


def test_without_validation_only_weights_are_logged(tmp_path: Path, pl: Any) -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fit(pl, tmp_path, lg.LightningCallback("first_val_batch"), val=False, max_epochs=2)
    (sentence,) = ours(caught)
    assert "this Trainer does not validate" in sentence
    assert "LightningCallback(probe=x_val[:4])" in sentence
    assert steps(tmp_path, "kernel/forget") == list(range(9))
    assert logged(tmp_path)["net/rnn"].kinds == ["weights"]


def test_without_a_sanity_check_activations_begin_after_the_first_validation(
    tmp_path: Path, pl: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    callback = lg.LightningCallback("first_val_batch")
    fit(pl, tmp_path, callback, num_sanity_val_steps=0, max_epochs=2)
    assert steps(tmp_path, "kernel/forget") == list(range(9))
    assert steps(tmp_path) == [4, 5, 6, 7, 8]
    assert "only weights are logged until the first batch of validation" in capsys.readouterr().out


def test_a_model_without_forward_is_named(tmp_path: Path, pl: Any) -> None:
    class NoForward(module_class(pl)):  # type: ignore[misc]
        forward = torch.nn.Module.forward

        def training_step(self, batch: Any, index: int) -> Any:
            return self.net(batch[0]).mean()

    with pytest.warns(UserWarning, match='LSTM Gates could not log.*missing the required "forward'):
        fit(pl, tmp_path, lg.LightningCallback(X[:4]), module=NoForward(), val=False)
    assert steps(tmp_path, "kernel/forget") == [0, 1, 2, 3, 4]


def trouble_of_step(pl: Any, kind: str) -> Any:
    """A module from whose training step no loss can be had."""

    class Troubled(module_class(pl)):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.automatic_optimization = kind != "optimizes in its training_step"

        def training_step(self, batch: Any, index: int) -> Any:
            if kind == "does not call the module itself":
                return loss_of(self.net(batch[0]), batch[1]).mean()
            if kind == "calls the module 2 times":
                return loss_of(self(batch[0]) + self(-batch[0]), batch[1]).mean()
            if kind == "calls the module with something else than the probe":
                return loss_of(self(batch[0].mul_(2)), batch[1]).mean()
            if kind == "raised TypeError: tuple indices must be integers" and len(batch[0]) == 4:
                batch["x"]
            loss = super().training_step(batch, index)
            if kind == "returned None" and len(batch[0]) == 4:
                return None
            if not self.automatic_optimization:
                self.manual_backward(loss)
                self.optimizers().step()
            if kind == "'NoneType' object has no attribute 'experiment'":
                self.logger.experiment.add_scalar("mine", 1.0, self.global_step)
            return loss

    return Troubled()


@pytest.mark.parametrize(
    "kind",
    [
        "does not call the module itself",
        "calls the module 2 times",
        "calls the module with something else than the probe",
        "raised TypeError: tuple indices must be integers",
        "optimizes in its training_step",
        "returned None",
        "'NoneType' object has no attribute 'experiment'",
    ],
)
def test_a_training_step_that_gives_no_loss_is_told_once(
    tmp_path: Path, pl: Any, kind: str
) -> None:
    callback = lg.LightningCallback(lg.Probe(X[:4], target=Y[:4]), 1)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fit(pl, tmp_path, callback, module=trouble_of_step(pl, kind), val=False)
    (sentence,) = ours(caught)
    assert "the gradients through time" in sentence
    assert kind in sentence
    assert "Give the probe a loss: Probe(x, target=y, loss=" in sentence
    assert steps(tmp_path) == [0, 1, 2, 3, 4]
    assert logged(tmp_path)["net/rnn"].kinds == ["weights", "activations"]


def test_a_probe_with_arguments_by_name_wants_a_loss_of_its_own(tmp_path: Path, pl: Any) -> None:
    callback = lg.LightningCallback(lg.Probe(x=X[:4], target=Y[:4]))
    with pytest.warns(UserWarning, match=r"arguments by name \(x\).*Probe\(x, target=y, loss="):
        fit(pl, tmp_path, callback, val=False)


def test_a_probe_that_does_not_fit_is_told_once(tmp_path: Path, pl: Any) -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fit(pl, tmp_path, lg.LightningCallback(X[:4, :, :2]))
    (sentence,) = ours(caught)
    assert "the model cannot be called with this probe, of shape (4, 6, 2)" in sentence
    assert steps(tmp_path, "kernel/forget") == [0, 1, 2, 3, 4]


def test_what_was_taken_of_the_first_validation_batch_is_named(tmp_path: Path, pl: Any) -> None:
    class TakesAll(module_class(pl)):  # type: ignore[misc]
        def forward(self, batch: Any) -> Any:
            return self.net(batch["x"])

        def training_step(self, batch: Any, index: int) -> Any:
            return self({"x": batch[0]}).float().mean()

        def validation_step(self, batch: Any, index: int) -> None:
            self({"x": batch[0]})

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fit(pl, tmp_path, lg.LightningCallback("first_val_batch"), module=TakesAll())
    (sentence,) = ours(caught)
    assert 'the first item of the first batch of validation, since probe="first_val' in sentence
    assert "give the samples themselves: LightningCallback(probe=x_val[:4])." in sentence
    assert steps(tmp_path, "kernel/forget") == [0, 1, 2, 3, 4]


def test_a_directory_that_cannot_be_written_does_not_end_the_training(
    tmp_path: Path, pl: Any
) -> None:
    (tmp_path / "file").touch()
    module = module_class(pl)()
    with pytest.warns(UserWarning, match="could not log anything, training goes on: The log dir"):
        fit(pl, tmp_path, lg.LightningCallback(log_dir=tmp_path / "file"), module=module)
    assert len(module.losses) == 4


def test_a_model_without_recurrent_layers_is_told_once(tmp_path: Path, pl: Any) -> None:
    class Linear(module_class(pl)):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.net = torch.nn.Linear(3, 2)

    with pytest.warns(UserWarning, match="has no recurrent layer") as caught:
        fit(pl, tmp_path, lg.LightningCallback(), module=Linear())
    assert len(ours(caught)) == 1


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"every_n_steps": 0}, "every_n_steps=0 was given"),
        ({"every_n_steps": "often"}, "every_n_steps='often' was given"),
        ({"probe": "x_val"}, "probe='x_val' was given; expected \"first_val_batch\""),
        ({"parts": ("gates",)}, "parts="),
    ],
)
def test_a_wrong_option_is_refused_at_once(options: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        lg.LightningCallback(**options)


def test_a_callback_that_is_not_in_a_list_is_explained(pl: Any) -> None:
    with pytest.raises(TypeError, match=r"give it in a list: Trainer\(callbacks=\["):
        pl.Trainer(callbacks=lg.LightningCallback())


def test_it_has_everything_that_a_callback_of_lightning_has(pl: Any) -> None:
    callback = lg.LightningCallback()
    missing = {name for name in dir(pl.Callback) if not hasattr(callback, name)}
    assert missing == {"_generate_state_key"}  # for subclasses of theirs


def test_a_run_without_a_logger_is_logged_where_the_trainer_is(tmp_path: Path, pl: Any) -> None:
    fit(pl, tmp_path, lg.LightningCallback(), logger=False)
    assert list(lg.read(tmp_path)) == ["."]


def test_other_loggers_come_after_that_of_tensorboard(tmp_path: Path, pl: Any) -> None:
    loggers = [
        pl.loggers.CSVLogger(tmp_path / "csv"),
        pl.loggers.TensorBoardLogger(tmp_path / "board", "net", "first"),
    ]
    fit(pl, tmp_path / "one", lg.LightningCallback(), logger=loggers)
    fit(pl, tmp_path / "two", lg.LightningCallback(), logger=loggers[:1])
    assert list(lg.read(tmp_path)) == ["board/net/first", "csv/lightning_logs/version_0"]


def test_a_fast_dev_run_leaves_no_files(
    tmp_path: Path, pl: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    fit(pl, tmp_path, lg.LightningCallback("first_val_batch"), fast_dev_run=True)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("error", [KeyboardInterrupt, RuntimeError])
def test_an_interrupted_training_keeps_its_records(
    tmp_path: Path, pl: Any, error: type[BaseException]
) -> None:
    class Interrupt(pl.Callback):  # type: ignore[misc, name-defined]
        def on_train_batch_start(self, trainer: Any, module: Any, batch: Any, index: int) -> None:
            if trainer.global_step == 7:
                raise error

    fitting = trainer(pl, tmp_path, lg.LightningCallback(X[:4]), Interrupt(), max_epochs=3)
    # Lightning ends the process after KeyboardInterrupt.
    with pytest.raises((error, SystemExit)):
        fitting.fit(module_class(pl)(), loader())
    assert steps(tmp_path) == list(range(8))
    assert logged(tmp_path)["net/rnn"].snapshot().step == 7


def test_a_gate_of_nan_is_logged_and_training_goes_on(tmp_path: Path, pl: Any) -> None:
    class Broken(module_class(pl)):  # type: ignore[misc]
        def on_train_batch_end(self, outputs: Any, batch: Any, index: int) -> None:
            if index == 1:
                self.net.rnn.bias_hh_l0.data[4:8] = float("nan")

    fit(pl, tmp_path, lg.LightningCallback(X[:4], 1), module=Broken())
    layer = logged(tmp_path)["net/rnn"].statistics("weights")
    share = layer.column("bias/forget", "nan") / layer.column("bias/forget", "count")
    assert share.tolist()[:3] == [0, 0, 1]
    assert layer.column("bias/input", "nan")[2] == 0
    assert np.isnan(logged(tmp_path)["net/rnn"].series("bias/forget", "loss").values[-1])


def test_neither_package_is_imported_before_the_user_does() -> None:
    code = (
        "import sys, lstm_gates_plugin as lg; lg.LightningCallback('first_val_batch'); "
        "print(sorted({m.partition('.')[0] for m in sys.modules} & "
        "{'lightning', 'pytorch_lightning', 'torch', 'tensorflow', 'keras'}))"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert result.stdout.strip() == "[]", result.stderr


def test_a_logger_that_fails_ends_no_training(tmp_path: Path, pl: Any) -> None:
    loggers = importlib.import_module(f"{pl.__name__}.loggers.logger")

    class Broken(loggers.DummyLogger):  # type: ignore[misc, name-defined]
        @property
        def log_dir(self) -> str:
            raise RuntimeError("no directory today")

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fitted = fit(pl, tmp_path, lg.LightningCallback(X[:2]), logger=Broken())
    assert fitted.global_step == 4
    assert "no directory today" in ours(caught)[0]
