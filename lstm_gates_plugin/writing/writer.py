"""GateWriter: what training code calls to log the gates of its recurrent layers."""

from __future__ import annotations

import os
import weakref
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from lstm_gates_plugin import format
from lstm_gates_plugin.gate_trace import GateTrace
from lstm_gates_plugin.writing import live
from lstm_gates_plugin.writing.arguments import (
    checked_options,
    checked_step,
    refuse_inside_function,
)
from lstm_gates_plugin.writing.notices import Notices, start_line
from lstm_gates_plugin.writing.probe import Probe
from lstm_gates_plugin.writing.processes import is_writing_process
from lstm_gates_plugin.writing.recorder import Record, Recorder, name_of
from lstm_gates_plugin.writing.reporting import Reporter
from lstm_gates_plugin.writing.schedule import Every, Schedules
from lstm_gates_plugin.writing.sinks import NoSink, Sink, sink_for
from lstm_gates_plugin.writing.streams import Streams
from lstm_gates_plugin.writing.threads import one_thread

MAX_UNITS = 64
MAX_SAMPLES = 4


class GateWriter:
    """Logs weights and activations of recurrent layers, for the LSTM Gates tab of TensorBoard.

    Given a directory, it writes into the sub-directory ``lstm_gates``, since a second live event
    file in the user's own would stop one of the two in TensorBoard. A run that goes on in the same
    directory from a later step continues its curves; from an earlier step it replaces what was
    logged from there on.

    Given a `SummaryWriter`, it writes through that one, into the same file. Close the GateWriter
    before the SummaryWriter, and give a resumed SummaryWriter its ``purge_step`` where it starts
    at an earlier step than the last.

    Given nothing, it writes to the default writer of `tf.summary`, and where no step is given it is
    that of `tf.summary.experimental.set_step`.

    Where several processes train together with torch, that of rank 0 writes. In all others a
    GateWriter does nothing, and no process waits for another.

    Args:
        destination: the run's directory, such as ``logs/run-1``, a `SummaryWriter` of
            `torch.utils.tensorboard` or of tensorboardX, or None for `tf.summary`.
        every: "auto" (each log call is due at 1.05 x the step of the previous one, at least one
            step later: at most 300 in a million steps), or a number of steps.
        layers: which layers to log: a pattern for their ids, such as ``encoder/*``, or several.
        parts: which of ``weights``, ``activations`` and ``gradients`` to record.
        max_units: units whose activations are kept at every timestep; of all others the numbers.
        max_samples: samples of the probe that are kept.
        report: print in the console what looks wrong, each warning and error once: after some of
            the `log` calls, and at the end. Needs a directory or a `SummaryWriter`.

    Raises:
        TypeError: the destination is none of these.
        ValueError: the directory cannot be written, another live writer of this process has it,
            the SummaryWriter is closed, or an option is not valid.
    """

    def __init__(
        self,
        destination: str | os.PathLike[str] | Any = None,
        *,
        every: Every = "auto",
        layers: str | Sequence[str] = "*",
        parts: Sequence[str] = format.PARTS,
        max_units: int = MAX_UNITS,
        max_samples: int = MAX_SAMPLES,
        report: bool = False,
    ) -> None:
        options = checked_options(layers, parts, max_units, max_samples)
        self._schedules = Schedules(every)
        self._notices = Notices()
        self._written = False
        self.is_resting = False
        self._is_inert = not is_writing_process()
        self._sink: Sink = NoSink() if self._is_inert else sink_for(destination)
        self._reporter = _reporter(self._sink, self._notices) if report else None
        self._streams = Streams(self._sink, max_units, max_samples)
        self._recorder = Recorder(
            self._streams, self._notices, options["layers"], options["parts"], max_samples
        )
        if self._sink.run_directory is not None:
            live.take(self._sink.run_directory, self)
        self._finish = weakref.finalize(self, self._streams.close_quietly)

    def __enter__(self) -> GateWriter:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def is_due(self, step: int, name: str = "") -> bool:
        """Whether `log` would record anything at this training step."""
        return self._schedules.is_due(name, step)

    def log(
        self,
        model: Any,
        *,
        step: int | None = None,
        probe: Any = None,
        name: str = "",
        epoch: float | None = None,
        loss: float | None = None,
        session: Any = None,
        backward_cell: Any = None,
        now: bool = False,
    ) -> bool:
        """Record weights and, with a probe, activations, if a record is due at this step.

        With the probe's loss, or the target of a compiled Keras model, also gradients through time.

        What goes wrong on the way (a probe that does not fit, a full disk) is told in one warning
        per cause, and logging resumes when the cause is gone.

        Args:
            model: the model, as the framework has it.
            step: training step: the number of optimizer updates done so far.
            probe: a `Probe`, or the one input that the model takes.
            name: prefix of the layer ids, where several models are logged into one run.
            epoch: kept with the record, if known.
            loss: the training loss, kept with the record, if known.
            session: of a TF1 cell, the session that has its variables.
            backward_cell: of a TF1 cell, the second one of a `bidirectional_dynamic_rnn`.
            now: record at this step, due or not.

        Returns:
            Whether a record was made.

        Raises:
            ValueError: no step, a negative one, or one not above the last record's.
        """
        step = self._checked(step)
        self._schedules.check_above_last(name, step)
        if not (now or self.is_due(step, name)) or not self._is_recording():
            return False
        probe = None if probe is None else Probe.of(probe)
        parts = self._recorder.parts(model, probe)
        if self._notices.is_new("start") and parts:
            print(start_line(name_of(model), self._sink.name, self._schedules.every, parts))
        source = _given(session=session, backward_cell=backward_cell)
        numbers = _given(epoch=epoch, loss=loss)
        make = self._recorder
        # First: a module of Flax may know its layers only once it has run.
        if probe is not None and parts != ["weights"]:
            self._write_quietly(
                "activations", name, lambda: make.probed(model, source, probe, step, name, numbers)
            )
        if "weights" in parts:
            self._write_quietly(
                "weights", name, lambda: make.weights(model, source, step, name, numbers)
            )
        self._schedules.done(name, step)
        if self._reporter is not None:
            self._reporter.after_log_call()
        return True

    def log_weights(
        self,
        model: Any,
        *,
        step: int | None = None,
        name: str = "",
        session: Any = None,
        backward_cell: Any = None,
    ) -> None:
        """Record the weights of a model's recurrent layers, or of a list of `RecurrentLayer`.

        Raises:
            ValueError: no step, a negative one, or one not above the last record's; the model has
                no recurrent layer or is not built; two layers have the same id.
            OSError: the record cannot be written.
        """
        step = self._checked(step)
        if not self._is_recording():
            return
        source = _given(session=session, backward_cell=backward_cell)
        self._write(self._recorder.weights(model, source, step, name, {}))

    def log_trace(
        self, traces: GateTrace | Iterable[GateTrace], *, step: int | None = None, name: str = ""
    ) -> None:
        """Record the activations in one or more traces, and the gradients where they have them.

        Raises:
            ValueError: no step, a negative one, or one not above the last record's; two traces are
                of the same call of the same layer.
            OSError: the record cannot be written.
        """
        listed = [traces] if isinstance(traces, GateTrace) else list(traces)
        step = self._checked(step)
        if not self._is_recording():
            return
        self._write(self._recorder.traced(listed, step, name))

    def log_gradients(
        self, model: Any, *, step: int | None = None, name: str = "", scale: float = 1.0
    ) -> None:
        """Record the gradients that ``loss.backward()`` has left in a PyTorch model, by gate.

        Call it after ``backward()`` and before ``zero_grad()``. As every part it records always: in
        a loop ask `is_due` before. A weight that is frozen or has no gradient yet is recorded as
        that, never as zeros.

        Args:
            model: a PyTorch module.
            step: training step: the number of optimizer updates done so far.
            name: prefix of the layer ids, where several models are logged into one run.
            scale: what the loss was multiplied with before ``backward()``, by which gradients are
                divided: ``scaler.get_scale()`` of a `GradScaler`, before its ``unscale_()``.

        Raises:
            TypeError: no model of a known framework was given.
            ValueError: no step, a negative one, or one not above the last record's; the model is
                not PyTorch's, has no recurrent layer, or none whose gradients can be read.
            OSError: the record cannot be written.
        """
        step = self._checked(step)
        if not self._is_recording():
            return
        self._write(self._recorder.training_gradients(model, scale, step, name))

    def rest(self) -> None:
        """Write the newest pictures, and leave the directory to whoever asks for it next.

        Until then this writer can go on where it is.

        Raises:
            OSError: they cannot be written.
        """
        self._streams.write_waiting()
        self.is_resting = True
        self._report_at_end()

    def close(self) -> None:
        """Write the newest pictures and release the directory. Further calls do nothing.

        A writer without a log directory must be closed while `tf.summary` has its default writer.
        """
        if not self._finish.alive:
            return
        self._finish()
        live.leave(self)
        self._report_at_end()
        if not self._written and self._is_for_this_process():
            tried = self._schedules.any_done
            why = "the warnings above say why" if tried else "no log call was due"
            print(f"LSTM Gates: nothing was logged to {self._sink.name}: {why}.")

    def _report_at_end(self) -> None:
        if self._reporter is not None:
            self._reporter.at_end()

    def _write(self, records: Iterable[Record]) -> None:
        with one_thread():
            for record in records:
                record.write()
                self._written = True

    def _write_quietly(self, part: str, name: str, records: Callable[[], Iterable[Record]]) -> None:
        """Record one layer after the other, so that one that cannot be does not stop the others."""
        notices = self._notices.of(name)
        with one_thread(), notices.training_goes_on(f"the {part}"):
            for record in records():
                with notices.training_goes_on(f"the layer {record.layer!r}"):
                    self._write([record])

    def _checked(self, step: int | None) -> int:
        self.is_resting = False
        refuse_inside_function()
        return checked_step(self._sink.default_step() if step is None else step)

    def _is_recording(self) -> bool:
        return self._is_for_this_process() and self._sink.is_recording()

    def _is_for_this_process(self) -> bool:
        """Whether to write. Processes may learn of their ranks after the writer was made."""
        self._is_inert = self._is_inert or not is_writing_process()
        return not self._is_inert


def _reporter(sink: Sink, notices: Notices) -> Reporter | None:
    """None in a process that writes nothing.

    Raises:
        ValueError: the records go where they cannot be read back.
    """
    if sink.records_directory is not None:
        return Reporter(sink.records_directory, notices)
    if isinstance(sink, NoSink):
        return None
    raise ValueError(
        f"report=True was given, but what is written to {sink.name} cannot be read back; give a "
        "directory or a SummaryWriter."
    )


def _given(**values: Any) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}
