"""LightningCallback in real trainings of both packages: what it logs, when and where."""

import copy
import importlib
import pickle
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

import lstm_gates_plugin as lg
from helpers.lightning_training import (
    column,
    fit,
    loader,
    logged,
    module_class,
    steps,
    trainer,
)
from helpers.required import require_framework
from helpers.torch_training import X, Y, hidden_tensorflow, loss_of, state_of

hide = pytest.fixture(scope="module", autouse=True)(hidden_tensorflow)


#: The packages under which Lightning is published: the same code with classes of their own.
IN_BOTH = pytest.mark.parametrize("pl", ["lightning.pytorch", "pytorch_lightning"], indirect=True)


@pytest.fixture
def pl(request: pytest.FixtureRequest, hide: None) -> Any:
    """The package that a test is about, or the first."""
    name = getattr(request, "param", "lightning.pytorch")
    require_framework(name.partition(".")[0])
    return importlib.import_module(name)


@pytest.fixture(autouse=True)
def no_warnings() -> Iterator[None]:
    """A test says so where it expects one of ours; Lightning's own are of no interest here."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", module="lightning|pytorch_lightning|torch")
        warnings.filterwarnings("error", message="LSTM Gates")
        yield


@IN_BOTH
def test_every_update_is_a_step_and_step_0_comes_before_the_first(tmp_path: Path, pl: Any) -> None:
    module = module_class(pl)()
    before = lg.recurrent_layers(module)[0].kernel["forget"]
    fit(pl, tmp_path, lg.LightningCallback(X[:4], 1), module=module, max_epochs=2)
    assert steps(tmp_path) == steps(tmp_path, "kernel/forget") == list(range(9))
    layer = logged(tmp_path)["net/rnn"]
    first, last = (layer.snapshot(step, "weights").arrays["kernel/forget"] for step in (0, 8))
    np.testing.assert_array_equal(first, before)
    np.testing.assert_array_equal(last, lg.recurrent_layers(module)[0].kernel["forget"])
    assert column(tmp_path, "difference", "hidden_state").max() < 1e-6
    loss = column(tmp_path, "loss")
    assert np.isnan(loss[0])
    np.testing.assert_allclose(loss[1:], module.losses, rtol=1e-6)
    assert column(tmp_path, "epoch").tolist()[1:] == [0] * 4 + [1] * 4


@IN_BOTH
def test_records_lie_beside_the_scalars_at_the_steps_of_lightnings_logger(
    tmp_path: Path, pl: Any
) -> None:
    fitted = fit(pl, tmp_path, lg.LightningCallback("first_val_batch"))
    run = Path(fitted.logger.log_dir)
    assert (run / "lstm_gates").is_dir()
    assert list(lg.read(tmp_path)) == ["lightning_logs/version_0"]
    scalars = EventAccumulator(str(run)).Reload().Scalars("train_loss")
    # Their loss of step k is computed with the weights of our step k.
    assert [one.step for one in scalars] == steps(tmp_path)[:-1] == [0, 1, 2, 3]


@IN_BOTH
def test_the_first_validation_batch_is_the_probe_from_step_0_on(tmp_path: Path, pl: Any) -> None:
    fit(pl, tmp_path, lg.LightningCallback("first_val_batch", 2))
    assert steps(tmp_path) == [0, 2, 4]
    snapshot = logged(tmp_path)["net/rnn"].snapshot(0)
    assert snapshot.header["samples"] == 8
    np.testing.assert_array_equal(snapshot.arrays["track/input"], X[:4])


@pytest.mark.parametrize("precision", ["32-true", "64-true", "bf16-mixed"])
def test_the_loss_of_a_probe_gives_gradients_through_time(
    tmp_path: Path, pl: Any, precision: str
) -> None:
    def loss(outputs: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        assert outputs.dtype in (target.dtype, torch.bfloat16)
        return (outputs.to(target.dtype) - target).pow(2).mean()

    with torch.no_grad():
        target = torch.zeros_like(module_class(pl)()(X[:4]))
    trained = []
    for probe in (None, lg.Probe(X[:4], target=target, loss=loss)):
        torch.manual_seed(0)
        module = module_class(pl)(0.5)
        callback = None if probe is None else lg.LightningCallback(probe, 1)
        fit(pl, tmp_path, callback, module=module, precision=precision)
        trained.append(state_of(module))
    assert all(map(torch.equal, *trained))
    layer = logged(tmp_path)["net/rnn"]
    assert layer.kinds == ["weights", "activations", "gradients"]
    norms = layer.series("hidden_state", "norm", kind="gradients")
    assert norms.steps.tolist() == [0, 1, 2, 3, 4]
    assert (norms.values > 0).all()
    assert np.isfinite(layer.series("hidden_state", "reach", kind="gradients").values).all()


@IN_BOTH
def test_a_probe_without_a_loss_takes_that_of_the_training_step(tmp_path: Path, pl: Any) -> None:
    norms, trained = [], []
    own, given = lg.Probe(X[:4], target=Y[:4]), lg.Probe(X[:4], target=Y[:4], loss=loss_of)
    for name, probe in (("none", None), ("given", given), ("own", own)):
        callback = None if probe is None else lg.LightningCallback(probe, 1)
        trained.append(train(pl, tmp_path / name, callback))
        if probe is not None:
            layer = logged(tmp_path / name)["net/rnn"]
            norms.append(layer.series("kernel/forget", "norm", kind="gradients"))
    assert norms[1].steps.tolist() == list(range(9))
    assert (norms[1].values > 0).all()
    np.testing.assert_allclose(norms[1].values, norms[0].values, rtol=1e-6)
    for one in trained[1:]:
        assert one[:2] == trained[0][:2]
        assert all(map(torch.equal, one[2], trained[0][2]))
    scalars = [
        EventAccumulator(str(tmp_path / name / "lightning_logs/version_0")).Reload().Tags()
        for name in ("none", "own")
    ]
    assert scalars[0]["scalars"] == scalars[1]["scalars"]


def counted_class(pl: Any) -> Any:
    """The model with a metric that its training step updates; that writes into its batch, too."""
    torchmetrics = importlib.import_module("torchmetrics")

    class Counted(module_class(pl)):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__(dropout=0.5)
            self.seen = torchmetrics.SumMetric()
            self.register_buffer("batches", torch.zeros(()))

        def training_step(self, batch: Any, index: int) -> Any:
            batch[1].clamp_(min=1)
            loss = super().training_step(batch, index)
            self.batches += 1
            self.seen(len(batch[0]))
            self.log_dict({"seen": self.seen, "batches": self.batches}, on_epoch=True)
            return loss

    return Counted


@IN_BOTH
def test_the_probe_does_not_count_in_the_metrics_of_a_training_step(
    tmp_path: Path, pl: Any
) -> None:
    target, ends = Y[:4].clone(), []
    probe = lg.Probe(X[:4].numpy(), target=target)
    for name, callback in (("without", None), ("with", lg.LightningCallback(probe, 1))):
        pl.seed_everything(7)
        module = counted_class(pl)()
        fitting = trainer(pl, tmp_path / name, *filter(None, [callback]))
        fitting.fit(module, loader())
        assert fitting.callback_metrics["seen_epoch"].item() == 32
        metrics = {key: value.item() for key, value in fitting.callback_metrics.items()}
        ends.append((module.losses, metrics, state_of(module)))
    assert ends[0][:2] == ends[1][:2]
    assert all(map(torch.equal, ends[0][2], ends[1][2]))
    assert torch.equal(target, Y[:4])
    norms = logged(tmp_path / "with")["net/rnn"].series("kernel/forget", "norm", kind="gradients")
    assert (norms.values > 0).all()


def test_a_training_step_may_return_a_dict_and_take_only_the_batch(tmp_path: Path, pl: Any) -> None:
    class Short(module_class(pl)):  # type: ignore[misc]
        def training_step(self, batch: Any) -> Any:
            x, target = batch
            return {"loss": loss_of(self(x), target).mean(), "rows": len(x)}

    fit(pl, tmp_path, lg.LightningCallback(lg.Probe(X[:4], target=Y[:4]), 1), module=Short())
    norms = logged(tmp_path)["net/rnn"].series("kernel/forget", "norm", kind="gradients")
    assert (norms.values > 0).all()


@pytest.mark.parametrize("kind", ["dict", "tensor"])
def test_other_batches_give_their_first_item(tmp_path: Path, pl: Any, kind: str) -> None:
    class Other(module_class(pl)):  # type: ignore[misc]
        def validation_step(self, batch: Any, index: int) -> None:
            (batch["x"] if kind == "dict" else batch).zero_()  # the probe is a copy

    samples = [{"x": x, "y": y} if kind == "dict" else x for x, y in zip(X, Y, strict=True)]
    val = torch.utils.data.DataLoader(samples, batch_size=8)
    trainer(pl, tmp_path, lg.LightningCallback("first_val_batch")).fit(Other(), loader(), val)
    shown = logged(tmp_path)["net/rnn"].snapshot(0).arrays["track/input"]
    np.testing.assert_array_equal(shown, X[:4])


def test_batches_that_only_accumulate_gradients_do_not_count(tmp_path: Path, pl: Any) -> None:
    fit(pl, tmp_path, lg.LightningCallback(X[:4], 1), accumulate_grad_batches=2, max_epochs=2)
    assert steps(tmp_path) == [0, 1, 2, 3, 4]
    assert (column(tmp_path, "change_since_previous")[1:] > 0).all()


def test_several_optimizers_count_once(tmp_path: Path, pl: Any) -> None:
    class Manual(module_class(pl)):  # type: ignore[misc]
        automatic_optimization = False

        def training_step(self, batch: Any, index: int) -> Any:
            loss = loss_of(self(batch[0]), batch[1]).mean()
            for optimizer in self.optimizers():
                optimizer.zero_grad()
            self.manual_backward(loss)
            for optimizer in self.optimizers():
                optimizer.step()
            return {"loss": loss.detach()}

        def configure_optimizers(self) -> Any:
            parts = (self.net.rnn, self.net.head)
            return [torch.optim.SGD(part.parameters(), 0.1) for part in parts]

    fitted = fit(pl, tmp_path, lg.LightningCallback(X[:4], 1), module=Manual())
    assert fitted.global_step == 8
    assert steps(tmp_path) == [0, 1, 2, 3, 4]
    assert np.isfinite(column(tmp_path, "loss")[1:]).all()


@pytest.mark.parametrize("precision", ["bf16-mixed", "bf16-true"])
def test_the_probe_is_given_in_the_precision_of_the_training(
    tmp_path: Path, pl: Any, precision: str
) -> None:
    probe = lg.Probe(X[:4], target=Y[:4], loss=lambda out, y: loss_of(out.float(), y))
    fit(pl, tmp_path, lg.LightningCallback(probe), precision=precision)
    assert steps(tmp_path) == [0, 1, 2, 3, 4]
    assert 0 < column(tmp_path, "difference", "hidden_state").max() < 0.05
    assert "track/loss" in logged(tmp_path)["net/rnn"].snapshot().arrays


def resumed(pl: Any, directory: Path, log_dir: Path | None) -> Any:
    """One epoch with a checkpoint at its end, then two more from there with new objects."""
    for epochs, checkpoint in ((1, None), (3, directory / "epoch.ckpt")):
        callback = lg.LightningCallback("first_val_batch", 1, log_dir=log_dir)
        fitting = trainer(pl, directory, callback, max_epochs=epochs)
        module = module_class(pl)()
        fitting.fit(module, loader(), loader(), ckpt_path=checkpoint and str(checkpoint))
        fitting.save_checkpoint(directory / "epoch.ckpt")
    return module


@IN_BOTH
def test_a_resumed_run_goes_on_in_the_same_directory(tmp_path: Path, pl: Any) -> None:
    module = resumed(pl, tmp_path, tmp_path / "run")
    # Without a sanity check, which a resumed run does not have: the probe is the checkpoint's.
    assert steps(tmp_path / "run") == list(range(13))
    assert (column(tmp_path / "run", "change_since_start", "activation/forget")[1:] > 0).all()
    loss = column(tmp_path / "run", "loss")
    assert np.isfinite(loss[1:]).all()
    np.testing.assert_allclose(loss[5:], module.losses, rtol=1e-6)
    assert logged(tmp_path / "run")["net/rnn"].statistics("weights").log_calls == 13


def test_a_resumed_run_in_a_new_directory_begins_with_its_own_step(tmp_path: Path, pl: Any) -> None:
    resumed(pl, tmp_path, None)
    layers = [run["net/rnn"] for run in lg.read(tmp_path).values()]
    found = [layer.series("activation/forget", "mean").steps.tolist() for layer in layers]
    assert found == [[0, 1, 2, 3, 4], [4, 5, 6, 7, 8, 9, 10, 11, 12]]


def test_fitting_again_continues_and_a_new_trainer_replaces(tmp_path: Path, pl: Any) -> None:
    callback, module = lg.LightningCallback(X[:4], 1, log_dir=tmp_path / "run"), module_class(pl)()
    fitting = trainer(pl, tmp_path, callback)
    fitting.fit(module, loader())
    fitting.fit_loop.max_epochs = 2
    fitting.fit(module, loader())
    assert steps(tmp_path / "run") == list(range(9))
    fit(pl, tmp_path, callback, val=False)
    assert steps(tmp_path / "run") == [0, 1, 2, 3, 4]


def train(pl: Any, directory: Path, callback: Any) -> tuple[Any, ...]:
    """Everything that must not depend on whether the callback is there."""
    pl.seed_everything(7)
    module = module_class(pl)(dropout=0.5)
    fitting = trainer(pl, directory, *filter(None, [callback]), max_epochs=2)
    fitting.fit(module, loader(shuffle=True), loader())
    metrics = {name: value.item() for name, value in fitting.callback_metrics.items()}
    return module.losses, metrics, state_of(module)


@IN_BOTH
def test_training_is_bit_identical_with_and_without(tmp_path: Path, pl: Any) -> None:
    probe = lg.Probe(X[:4], target=Y[:4], loss=loss_of)
    without = train(pl, tmp_path / "without", None)
    for name, callback in (
        ("probe", lg.LightningCallback(probe, 1)),
        ("batch", lg.LightningCallback("first_val_batch", 1)),
    ):
        with_us = train(pl, tmp_path / name, callback)
        assert len(steps(tmp_path / name)) == 9
        assert without[:2] == with_us[:2]
        for one, other in zip(without[2], with_us[2], strict=True):
            assert torch.equal(one, other)


def test_metrics_that_a_forward_logs_do_not_count_the_probe(tmp_path: Path, pl: Any) -> None:
    class Logging(module_class(pl)):  # type: ignore[misc]
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            self.log("rows", float(len(x)), on_epoch=True)
            return self.net(x)

    fitted = fit(pl, tmp_path, lg.LightningCallback(X[:4], 1), module=Logging(), val=False)
    assert fitted.callback_metrics["rows"].item() == 8
    assert steps(tmp_path) == [0, 1, 2, 3, 4]


@IN_BOTH
def test_two_callbacks_share_one_directory_and_one_checkpoint(tmp_path: Path, pl: Any) -> None:
    callbacks = [lg.LightningCallback(X[:4], name=name) for name in ("a", "b")]
    fitting = trainer(pl, tmp_path, *callbacks)
    fitting.fit(module_class(pl)(), loader())
    fitting.save_checkpoint(tmp_path / "state.ckpt")
    for name in ("a", "b"):
        assert steps(tmp_path, layer=f"{name}/net/rnn") == [0, 1, 2, 3, 4]
    assert len(list(tmp_path.rglob("lstm_gates/*tfevents*"))) == 1


def test_a_callback_can_be_copied_and_pickled() -> None:
    callback = lg.LightningCallback(X[:4], 3, name="a")
    for copied in (copy.deepcopy(callback), pickle.loads(pickle.dumps(callback))):
        assert copied.state_key == callback.state_key
        assert copied.on_any_hook_to_come(1, 2) is None
