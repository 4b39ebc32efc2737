"""LightningCallback: logs gates while a `Trainer` of Lightning fits a model."""

from __future__ import annotations

import copy
import os
from collections.abc import Sequence
from typing import Any

from lstm_gates_plugin import format
from lstm_gates_plugin.callbacks import shared
from lstm_gates_plugin.callbacks.lightning_hooks import Hooks, ignored
from lstm_gates_plugin.callbacks.lightning_loss import loss_of_training_step
from lstm_gates_plugin.frameworks.replaced import replaced_attributes
from lstm_gates_plugin.writing.arguments import checked_options
from lstm_gates_plugin.writing.notices import Notices
from lstm_gates_plugin.writing.probe import Probe
from lstm_gates_plugin.writing.schedule import Every, Schedule
from lstm_gates_plugin.writing.writer import MAX_SAMPLES, MAX_UNITS, GateWriter

FIRST_VAL_BATCH = "first_val_batch"

_MOST_BYTES_IN_CHECKPOINT = 1024 * 1024


class LightningCallback(Hooks):
    """Logs weights, gate activations and gradients of recurrent layers while a `Trainer` fits.

    For `lightning.pytorch` and for `pytorch_lightning`:

        trainer = Trainer(callbacks=[lg.LightningCallback(probe="first_val_batch")])

    Training steps are those of Lightning's own loggers: batches after which the weights were
    updated, so batches whose gradients are only accumulated do not count, and several optimizers
    count once. The record at a step shows the weights from which Lightning's loggers report the
    loss of that step; its epoch and loss are those of the update that led to these weights. The
    first record is made before the first update, the last one when training ends; what a sanity
    check does is not logged. With a run that is resumed in the same directory the records go on.

    Records go into the directory ``lstm_gates`` in that of the run's logger, first that of a
    `TensorBoardLogger`, so that TensorBoard shows them with the run's scalars. Only the process of
    rank 0 writes. Nothing that goes wrong here ends or changes the training.

    Args:
        probe: the samples on which the gates are watched: the model's input, or a `Probe`, of
            whose loss the gradients through time are logged:
            ``Probe(x_val[:4], target=y_val[:4], loss=torch.nn.functional.mse_loss)``. Without a
            loss it is that of the module's own ``training_step`` for the batch ``(x, target)``, if
            that calls ``self(x)``, optimizes nothing itself, and runs in a single process.
            "first_val_batch" takes the input in the first batch of validation: the first item of a
            tuple, list or dict, or the batch itself. That comes before training unless the sanity
            check is off; then activations are logged from the first validation on. Without a probe
            only weights are logged.
        every_n_steps: "auto" (often at first, then rarely), or a number of steps.
        log_dir: another directory for the run.
        name: prefix of the layer ids, where several models are logged into one directory.
        layers: see `GateWriter`.
        parts: see `GateWriter`.
        max_units: see `GateWriter`.
        max_samples: see `GateWriter`.
        report: see `GateWriter`.

    Raises:
        ValueError: ``every_n_steps`` or another option is not valid.
    """

    def __init__(
        self,
        probe: Any = None,
        every_n_steps: Every = "auto",
        *,
        log_dir: str | os.PathLike[str] | None = None,
        name: str = "",
        layers: str | Sequence[str] = "*",
        parts: Sequence[str] = format.PARTS,
        max_units: int = MAX_UNITS,
        max_samples: int = MAX_SAMPLES,
        report: bool = False,
    ) -> None:
        _check_every(every_n_steps)
        self._waits_for_validation = isinstance(probe, str)
        if self._waits_for_validation and probe != FIRST_VAL_BATCH:
            raise ValueError(
                f'probe={probe!r} was given; expected "{FIRST_VAL_BATCH}", the model\'s input, '
                "such as x_val[:4], or a Probe."
            )
        is_given = probe is not None and not self._waits_for_validation
        self._probe = Probe.of(probe) if is_given else None
        self._log_dir = log_dir
        self._name = name
        self._options: dict[str, Any] = {
            "every": every_n_steps,
            **checked_options(layers, parts, max_units, max_samples),
            "report": report,
        }
        self._writer: GateWriter | None = None
        self._last_step = -1
        self._epoch: int | None = None
        self._loss: Any = None
        self._notices = Notices()

    @property
    def state_key(self) -> str:
        """Under which a checkpoint holds this callback's state; one for each name."""
        return f"{super().state_key}{{'name': {self._name!r}}}"

    def state_dict(self) -> dict[str, Any]:
        """What a resumed run needs: the last loss, and the probe where validation gave it."""
        state = {"epoch": self._epoch, "loss": _number(self._loss)}
        if self._waits_for_validation and self._probe is not None:
            inputs = self._probe.args[0]
            # One tensor is what any checkpoint can hold, and read without running code.
            if hasattr(inputs, "nbytes") and inputs.nbytes <= _MOST_BYTES_IN_CHECKPOINT:
                state["probe"] = inputs
        return state

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on with the last loss and the probe of the run that is resumed."""
        self._epoch = state["epoch"]
        self._loss = state["loss"]
        if self._waits_for_validation and "probe" in state:
            self._probe = _taken(state["probe"], "the input")

    def on_validation_batch_start(
        self, trainer: Any, module: Any, batch: Any, *_: Any, **__: Any
    ) -> None:
        """Keep the inputs of the first batch, where they are to be the probe."""
        if self._waits_for_validation and self._probe is None and trainer.is_global_zero:
            with self._notices.training_goes_on("the first validation batch"):
                # A copy: the validation step may write into its batch.
                inputs, which = _inputs(batch)
                self._probe = _taken(copy.deepcopy(inputs), which)

    def on_train_start(self, trainer: Any, module: Any) -> None:
        """Open the writer."""
        self._writer = None
        self._last_step = -1
        with self._notices.training_goes_on("anything"):
            directory = self._directory(trainer) if trainer.is_global_zero else None
            if directory is None:
                return
            self._writer = shared.acquire_anew(directory, self._name, self, **self._options)
            if self._waits_for_validation and self._probe is None:
                self._tell_of_missing_probe(trainer)

    def on_train_batch_start(self, trainer: Any, module: Any, *_: Any, **__: Any) -> None:
        """Record if a record is due: the weights after all updates before this batch."""
        self._log(trainer, module)

    def on_train_batch_end(
        self, trainer: Any, module: Any, outputs: Any, *_: Any, **__: Any
    ) -> None:
        """Remember the epoch and the loss, which is not looked at before a record needs it."""
        self._epoch = trainer.current_epoch
        self._loss = outputs.get("loss") if isinstance(outputs, dict) else outputs

    def on_train_end(self, trainer: Any, module: Any) -> None:
        """Record the last step."""
        self._log(trainer, module, now=True)
        self._rest()

    def on_exception(self, *_: Any) -> None:
        """Training ends early: write what waits."""
        self._rest()

    def _directory(self, trainer: Any) -> Any:
        """The run's directory; None where Lightning only tries whether the code runs.

        Not `trainer.log_dir`, which waits for the other processes.
        """
        if self._log_dir is not None:
            return self._log_dir
        if trainer.fast_dev_run:
            return None
        loggers = sorted(trainer.loggers, key=lambda logger: not _is_tensorboard(logger))
        for logger in loggers:
            for directory in (getattr(logger, "log_dir", None), logger.save_dir):
                if isinstance(directory, (str, os.PathLike)):
                    return directory
        return trainer.default_root_dir

    def _tell_of_missing_probe(self, trainer: Any) -> None:
        if trainer.enable_validation:
            print("LSTM Gates: only weights are logged until the first batch of validation.")
            return
        self._notices.warn_once(
            "no validation",
            f'LSTM Gates logs only weights: probe="{FIRST_VAL_BATCH}" was given, but this Trainer '
            "does not validate: it has no validation loader, no validation_step, or "
            "limit_val_batches=0. Give the samples themselves: "
            "LightningCallback(probe=x_val[:4]).",
        )

    def _log(self, trainer: Any, module: Any, *, now: bool = False) -> None:
        if self._writer is None:
            return
        with self._notices.training_goes_on("some steps"):
            step = trainer.fit_loop.epoch_loop._batches_that_stepped
            is_due = now or self._writer.is_due(step, self._name)
            if step <= self._last_step or not is_due:
                return
            self._last_step = step
            with (
                trainer.precision_plugin.forward_context(),
                # A forward that logs metrics must not count the probe in.
                replaced_attributes(module, log=ignored, log_dict=ignored),
            ):
                self._writer.log(
                    module,
                    step=step,
                    probe=_prepared(self._probe, trainer, module),
                    name=self._name,
                    epoch=self._epoch,
                    loss=_number(self._loss),
                    now=now,
                )

    def _rest(self) -> None:
        if self._writer is not None:
            with self._notices.training_goes_on("the last pictures"):
                shared.rest(self._writer)


def _check_every(every_n_steps: Every) -> None:
    try:
        Schedule(every_n_steps)
    except ValueError as error:
        raise ValueError(
            f'every_n_steps={every_n_steps!r} was given; expected "auto" or a whole number of at '
            "least 1."
        ) from error


def _inputs(batch: Any) -> tuple[Any, str]:
    """What the model takes of a batch, the first item or all of a single one; and which that is."""
    if isinstance(batch, dict):
        key, value = next(iter(batch.items()))
        return value, f"the item {key!r}"
    if isinstance(batch, (list, tuple)) and not hasattr(batch, "batch_sizes"):  # PackedSequence
        return batch[0], "the first item"
    return batch, "all"


def _taken(inputs: Any, which: str) -> Probe:
    """The probe that validation gave."""
    probe = Probe(inputs)
    probe.origin = (
        f'It is {which} of the first batch of validation, since probe="{FIRST_VAL_BATCH}" was '
        "given; if the model takes something else, give the samples themselves: "
        "LightningCallback(probe=x_val[:4]). "
    )
    return probe


def _prepared(probe: Probe | None, trainer: Any, module: Any) -> Probe | None:
    """The probe in the precision in which the Trainer gives batches, with the module's own loss."""
    if probe is None:
        return None
    converted = copy.copy(probe)
    given = trainer.precision_plugin.convert_input((probe.args, probe.kwargs, probe.target))
    converted.args, converted.kwargs, converted.target = given
    converted.own_loss = loss_of_training_step(trainer, module, converted)
    return converted


def _is_tensorboard(logger: Any) -> bool:
    return any(cls.__name__ == "TensorBoardLogger" for cls in type(logger).__mro__)


def _number(loss: Any) -> float | None:
    """The loss as a number, if it is a single one."""
    try:
        return None if loss is None else float(loss)
    except (TypeError, ValueError, RuntimeError):
        return None
