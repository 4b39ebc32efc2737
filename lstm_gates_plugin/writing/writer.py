"""GateWriter: what training code calls to log the gates of its recurrent layers."""

from __future__ import annotations

import os
import weakref
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

from lstm_gates_plugin import capture, format
from lstm_gates_plugin.gate_trace import GateTrace
from lstm_gates_plugin.layer import RecurrentLayer
from lstm_gates_plugin.writing import live
from lstm_gates_plugin.writing.arguments import (
    checked_options,
    checked_step,
    refuse_inside_function,
)
from lstm_gates_plugin.writing.choice import choose_gradients, choose_layers, choose_traces
from lstm_gates_plugin.writing.notices import Notices, start_line
from lstm_gates_plugin.writing.pictures import Tracks
from lstm_gates_plugin.writing.probe import Probe
from lstm_gates_plugin.writing.processes import is_writing_process
from lstm_gates_plugin.writing.schedule import Every, Schedules
from lstm_gates_plugin.writing.sinks import NoSink, Sink, sink_for
from lstm_gates_plugin.writing.streams import Streams
from lstm_gates_plugin.writing.tracks import of_trace
from lstm_gates_plugin.writing.watch import watch

MAX_UNITS = 64
MAX_SAMPLES = 4

_Logged = TypeVar("_Logged", RecurrentLayer, GateTrace)


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
    ) -> None:
        options = checked_options(layers, parts, max_units, max_samples)
        self._patterns: list[str] = options["layers"]
        self._parts: list[str] = options["parts"]
        self._max_samples = max_samples
        self._schedules = Schedules(every)
        self._notices = Notices()
        self._written = False
        self.is_resting = False
        self._is_inert = not is_writing_process()
        self._sink: Sink = NoSink() if self._is_inert else sink_for(destination)
        self._streams = Streams(self._sink, max_units, max_samples)
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
        parts = [part for part in self._parts if _is_recorded(part, probe)]
        if self._notices.is_new("start") and parts:
            print(start_line(_name_of(model), self._sink.name, self._schedules.every, parts))
        source = _given(session=session, backward_cell=backward_cell)
        numbers = _given(epoch=epoch, loss=loss)
        # First: a module of Flax may know its layers only once it has run.
        if probe is not None and parts != ["weights"]:
            with self._notices.training_goes_on("the activations"):
                self._add_activations(model, source, probe, step, name, numbers)
        if "weights" in parts:
            with self._notices.training_goes_on("the weights"):
                layers = self._layers(model, source, step, name)
                self._add(layers, lambda layer: self._streams.add_weights(layer, step, numbers))
        self._schedules.done(name, step)
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
        for layer in self._layers(model, source, step, name):
            self._streams.add_weights(layer, step, {})
            self._written = True

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
        for trace in self._wanted_traces(listed, step, name):
            self._add_trace(trace, step, {}, Tracks())
            self._written = True

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
        found = capture.training_gradients(model, scale)
        if not found:
            raise ValueError(f"The model {_name_of(model)} has no recurrent layer to log.")
        chosen = choose_gradients(found, name, self._patterns)
        for gradients in chosen:
            self._streams.check_above_last(gradients.layer.id, "training_gradients", 0, step)
        for gradients in chosen:
            self._streams.add_training_gradients(gradients, step)
            self._written = True

    def rest(self) -> None:
        """Write the newest pictures, and leave the directory to whoever asks for it next.

        Until then this writer can go on where it is.

        Raises:
            OSError: they cannot be written.
        """
        self._streams.write_waiting()
        self.is_resting = True

    def close(self) -> None:
        """Write the newest pictures and release the directory. Further calls do nothing.

        A writer without a log directory must be closed while `tf.summary` has its default writer.
        """
        if not self._finish.alive:
            return
        self._finish()
        live.leave(self)
        if not self._written and self._is_for_this_process():
            tried = self._schedules.any_done
            why = "the warnings above say why" if tried else "no log call was due"
            print(f"LSTM Gates: nothing was logged to {self._sink.name}: {why}.")

    def _layers(
        self, model: Any, source: dict[str, Any], step: int, name: str
    ) -> list[RecurrentLayer]:
        """The layers whose weights are to be logged."""
        is_list = isinstance(model, (list, tuple)) and all(
            isinstance(item, RecurrentLayer) for item in model
        )
        layers = model if is_list else capture.recurrent_layers(model, **source)
        if not layers:
            raise ValueError(f"The model {_name_of(model)} has no recurrent layer to log.")
        chosen = choose_layers(layers, name, self._patterns)
        for layer in chosen:
            self._streams.check_above_last(layer.id, "weights", 0, step)
        return chosen

    def _wanted_traces(self, traces: Sequence[GateTrace], step: int, name: str) -> list[GateTrace]:
        chosen = choose_traces(traces, name, self._patterns)
        for trace in chosen:
            self._streams.check_above_last(trace.layer.id, "activations", trace.call, step)
        return chosen

    def _add_activations(
        self,
        model: Any,
        source: dict[str, Any],
        probe: Probe,
        step: int,
        name: str,
        numbers: dict[str, float],
    ) -> None:
        gradients = "gradients" in self._parts
        watched = watch(model, source, probe, self._max_samples, self._notices, gradients=gradients)
        numbers = {**numbers, "probe_hash": float(watched.probe_hash)}
        self._add(
            self._wanted_traces(watched.traces, step, name),
            lambda trace: self._add_trace(trace, step, numbers, of_trace(watched.tracks, trace)),
        )

    def _add_trace(
        self, trace: GateTrace, step: int, numbers: dict[str, float], tracks: Tracks
    ) -> None:
        numbers = {**numbers, **_difference(trace)}
        if "activations" in self._parts:
            self._streams.add_trace(trace, step, numbers, tracks)
        if "gradients" in self._parts:
            self._streams.add_gradients(trace, step, numbers, tracks)

    def _add(self, items: Sequence[_Logged], add: Callable[[_Logged], None]) -> None:
        """Record one by one, so that one that cannot be does not stop the others."""
        for item in items:
            layer = item.layer if isinstance(item, GateTrace) else item
            with self._notices.training_goes_on(f"the layer {layer.id!r}"):
                add(item)
                self._written = True

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


def _is_recorded(part: str, probe: Probe | None) -> bool:
    """Whether there can be anything of this kind."""
    if part == "weights":
        return True
    has_loss = probe is not None and not (probe.loss is None and probe.target is None)
    return probe is not None if part == "activations" else has_loss


def _given(**values: Any) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}


def _difference(trace: GateTrace) -> dict[str, float]:
    return _given(difference=trace.difference)


def _name_of(model: Any) -> str:
    return str(getattr(model, "name", None) or type(model).__name__)
