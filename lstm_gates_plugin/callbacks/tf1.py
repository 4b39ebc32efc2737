"""GateHook: logs gates while a TensorFlow 1 session trains."""

from __future__ import annotations

import copy
import os
from collections.abc import Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from lstm_gates_plugin import format
from lstm_gates_plugin.callbacks import shared
from lstm_gates_plugin.frameworks.tf1 import session as tf1_session
from lstm_gates_plugin.writing.arguments import checked_options
from lstm_gates_plugin.writing.notices import Notices
from lstm_gates_plugin.writing.probe import Probe
from lstm_gates_plugin.writing.schedule import Every, Schedule
from lstm_gates_plugin.writing.writer import MAX_SAMPLES, MAX_UNITS, GateWriter


class GateHook(tf.compat.v1.train.SessionRunHook):
    """Logs weights and gate activations of a TF1 cell in a `MonitoredTrainingSession`.

        hook = lg.GateHook("logs/run-1", cell, probe=x_val[:4])
        with tf.compat.v1.train.MonitoredTrainingSession(hooks=[hook]) as session:
            while not session.should_stop():
                session.run(train_op)

    Training steps are those of the graph's global step. The first record is made before the first
    update, the last one when the session ends. Nothing is added to the graph, and nothing that goes
    wrong here ends or changes the training.

    Args:
        log_dir: the run's directory, such as ``logs/run-1``.
        cell: the cell that was given to the rnn op.
        probe: the samples on which the gates are watched: the values that the rnn op reads, or a
            `Probe` of the arguments of `trace`, such as ``Probe(inputs=embedded,
            feed_dict={tokens: x_val[:4]})``. Without one only weights are logged.
        every: "auto" (often at first, then rarely), or a number of steps.
        backward_cell: the second cell of a ``bidirectional_dynamic_rnn``.
        loss: the tensor of the training loss, to be kept with the records. It is taken from runs
            that compute it anyway. Where the probe gives ``outputs=`` (and ``state=``) as the
            tensors that the rnn op returned, its gradients through time are logged as well; feed
            what the loss needs, such as labels, in the probe's ``feed_dict``.
        name: prefix of the layer ids, where several cells are logged into one directory.
        layers: see `GateWriter`.
        parts: see `GateWriter`.
        max_units: see `GateWriter`.
        max_samples: see `GateWriter`.
        report: see `GateWriter`.

    Raises:
        ValueError: ``every`` is neither "auto" nor a whole number of at least 1.
    """

    def __init__(
        self,
        log_dir: str | os.PathLike[str],
        cell: Any,
        probe: Any = None,
        *,
        every: Every = "auto",
        backward_cell: Any = None,
        loss: Any = None,
        name: str = "",
        layers: str | Sequence[str] = "*",
        parts: Sequence[str] = format.PARTS,
        max_units: int = MAX_UNITS,
        max_samples: int = MAX_SAMPLES,
        report: bool = False,
    ) -> None:
        Schedule(every)
        self._log_dir = log_dir
        self._cell = cell
        self._probe = None if probe is None else _with_loss(Probe.of(probe), loss)
        self._backward_cell = backward_cell
        self._loss = loss
        self._name = name
        self._options: dict[str, Any] = {
            "every": every,
            **checked_options(layers, parts, max_units, max_samples),
            "report": report,
        }
        self._writer: GateWriter | None = None
        self._global_step: Any = None
        self._step = 0
        self._last_step = -1
        self._last_loss: float | None = None
        self._notices = Notices()

    def begin(self) -> None:
        """Find the global step and open the writer."""
        self._global_step = tf.compat.v1.train.get_global_step()
        if self._global_step is None:
            self._notices.warn_once(
                "global step",
                "LSTM Gates logs nothing, training goes on: the graph has no global step. Call "
                "tf.compat.v1.train.get_or_create_global_step() and give it to the optimizer's "
                "minimize().",
            )
            return
        with self._notices.training_goes_on("anything"):
            self._writer = shared.acquire(self._log_dir, self._name, self, **self._options)

    def after_create_session(self, session: Any, coord: Any) -> None:
        """Record the step at which training starts."""
        if self._writer is not None:
            self._step = int(session.run(self._global_step))
            self._log(session)

    def before_run(self, run_context: Any) -> Any:
        """Ask for the step, and for the loss where a record may be due."""
        if self._writer is None:
            return None
        fetches = {"step": self._global_step}
        if self._writer.is_due(self._step + 1, self._name) and self._computes_loss(run_context):
            fetches["loss"] = self._loss
        return tf.compat.v1.train.SessionRunArgs(fetches)

    def after_run(self, run_context: Any, run_values: Any) -> None:
        """Record if a record is due."""
        if self._writer is None:
            return
        results = run_values.results
        if "loss" in results:
            self._last_loss = float(np.mean(results["loss"]))
        # What was fetched is the step before or after the update, as the session had it.
        self._step = int(results["step"])
        if self._writer.is_due(self._step + 1, self._name):
            self._step = int(run_context.session.run(self._global_step))
            if self._writer.is_due(self._step, self._name):
                self._log(run_context.session)

    def end(self, session: Any) -> None:
        """Record the last step."""
        if self._writer is not None:
            self._step = int(session.run(self._global_step))
            self._log(session)
        self._rest()

    def _computes_loss(self, run_context: Any) -> bool:
        """Whether the run is one that computes the loss, so that asking for it changes nothing."""
        graph = run_context.session.graph
        if self._loss is None or self._loss.graph is not graph:
            return False
        asked = run_context.original_args
        fetches = tf.nest.flatten(asked.fetches)
        return tf1_session.computes(graph, fetches, asked.feed_dict or {}, self._loss)

    def _log(self, session: Any) -> None:
        if self._writer is None or self._step <= self._last_step:
            return
        with self._notices.training_goes_on("some steps"):
            self._writer.log(
                self._cell,
                step=self._step,
                probe=self._probe,
                name=self._name,
                loss=self._last_loss,
                session=session,
                backward_cell=self._backward_cell,
                now=True,
            )
        self._last_step = self._step

    def _rest(self) -> None:
        if self._writer is not None:
            with self._notices.training_goes_on("the last pictures"):
                shared.rest(self._writer)


def _with_loss(probe: Probe, loss: Any) -> Probe:
    """The probe with the loss of the training, if it gives what that is differentiated by."""
    if loss is None or probe.loss is not None or "outputs" not in probe.kwargs:
        return probe
    differentiated = copy.copy(probe)
    differentiated.loss = loss
    return differentiated
