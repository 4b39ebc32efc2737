"""KerasCallback: logs gates while `model.fit` runs."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, Literal

from lstm_gates_plugin import format
from lstm_gates_plugin.callbacks import shared
from lstm_gates_plugin.callbacks.hooks import Hooks
from lstm_gates_plugin.frameworks.keras.adapter import build, updates
from lstm_gates_plugin.writing.arguments import checked_options
from lstm_gates_plugin.writing.notices import Notices
from lstm_gates_plugin.writing.probe import Probe
from lstm_gates_plugin.writing.schedule import Every, Schedule
from lstm_gates_plugin.writing.writer import MAX_SAMPLES, MAX_UNITS, GateWriter

UpdateFreq = Literal["auto", "epoch", "batch"] | int


class KerasCallback(Hooks):
    """Logs weights and gate activations of every recurrent layer during `model.fit`.

    For models of Keras 3 on any backend, and of tf_keras.

    Training steps are optimizer updates. The first record is made before the first update, the
    last one when training ends. Nothing that goes wrong here ends or changes the training.

    Args:
        log_dir: the run's directory, such as ``logs/run-1``.
        probe: the samples on which the gates are watched: the model's input, such as
            ``x_val[:4]``, or a `Probe`. Without one only weights are logged.
        update_freq: "auto" (often at first, then rarely), "epoch", "batch", or a number of
            optimizer updates.
        name: prefix of the layer ids, where several models are logged into one directory.
        layers: see `GateWriter`.
        parts: see `GateWriter`.
        max_units: see `GateWriter`.
        max_samples: see `GateWriter`.
        report: see `GateWriter`.

    Raises:
        ValueError: ``update_freq`` or another option is not valid.
    """

    def __init__(
        self,
        log_dir: str | os.PathLike[str],
        probe: Any = None,
        update_freq: UpdateFreq = "auto",
        *,
        name: str = "",
        layers: str | Sequence[str] = "*",
        parts: Sequence[str] = format.PARTS,
        max_units: int = MAX_UNITS,
        max_samples: int = MAX_SAMPLES,
        report: bool = False,
    ) -> None:
        self._log_dir = log_dir
        self._probe = None if probe is None else Probe.of(probe)
        self._name = name
        self._only_epochs = update_freq == "epoch"
        self._options: dict[str, Any] = {
            "every": _every(update_freq),
            **checked_options(layers, parts, max_units, max_samples),
            "report": report,
        }
        self._writer: GateWriter | None = None
        self._epoch = 0
        self._batches = 0
        self._offset = 0
        self._last_step = -1
        self._loss: float | None = None
        self._notices = Notices()

    def on_train_begin(self, logs: dict[str, Any] | None = None) -> None:
        """Open the writer and record step 0."""
        self._open()
        self._continue_count()
        self._loss = None
        self._build()
        if self.model.built:
            self._log(now=True)
        else:
            print("LSTM Gates: the model is built in its first update; the first record is step 1.")

    def on_epoch_begin(self, epoch: int, logs: dict[str, Any] | None = None) -> None:
        """Remember the epoch for the records to come."""
        self._epoch = epoch

    def on_train_batch_end(self, batch: int, logs: dict[str, Any] | None = None) -> None:
        """Record if a record is due."""
        self._batches += 1
        self._remember_loss(logs)
        never_logged = self._last_step < 0
        if never_logged or not self._only_epochs:
            self._log(now=never_logged)

    def on_epoch_end(self, epoch: int, logs: dict[str, Any] | None = None) -> None:
        """Record the epoch, if epochs are wanted."""
        self._remember_loss(logs)
        if self._only_epochs:
            self._log(now=True)

    def on_train_end(self, logs: dict[str, Any] | None = None) -> None:
        """Record the last step."""
        self._log(now=True)
        if self._writer is not None:
            with self._notices.training_goes_on("the last pictures"):
                shared.rest(self._writer)

    def _open(self) -> None:
        with self._notices.training_goes_on("anything"):
            self._writer = shared.acquire(self._log_dir, self._name, self, **self._options)

    def _continue_count(self) -> None:
        """Where the optimizer's count went back (compiled again), go on from the last step."""
        count = self._updates()
        if count + self._offset < self._last_step:
            self._offset = self._last_step - count

    def _build(self) -> None:
        if self.model.built or self._probe is None:
            return
        with self._notices.training_goes_on("step 0"):
            build(self.model, self._probe.args, self._probe.kwargs)

    def _log(self, *, now: bool) -> None:
        step = self._step()
        if self._writer is None or step <= self._last_step:
            return
        with self._notices.training_goes_on("some steps"):
            logged = self._writer.log(
                self.model,
                step=step,
                probe=self._probe,
                name=self._name,
                epoch=self._epoch,
                loss=self._loss,
                now=now,
            )
            if logged:
                self._last_step = step

    def _step(self) -> int:
        return self._updates() + self._offset

    def _updates(self) -> int:
        """Optimizer updates; batches where the user's own `train_step` has no optimizer."""
        count = updates(self.model)
        return self._batches if count is None else count

    def _remember_loss(self, logs: dict[str, Any] | None) -> None:
        """Keras gives the mean of the epoch so far."""
        if logs and "loss" in logs:
            self._loss = float(logs["loss"])


def _every(update_freq: UpdateFreq) -> Every:
    if update_freq in ("batch", "epoch"):
        return 1
    try:
        Schedule(update_freq)  # type: ignore[arg-type]
    except ValueError as error:
        raise ValueError(
            f'update_freq={update_freq!r} was given; expected "auto", "epoch", "batch" or a number '
            "of optimizer updates."
        ) from error
    return update_freq  # type: ignore[return-value]
