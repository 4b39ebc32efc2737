"""GateWriter: what training code calls to log the gates of its recurrent layers."""

from __future__ import annotations

import os
import warnings
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
from lstm_gates_plugin.writing.choice import choose_layers, choose_traces
from lstm_gates_plugin.writing.notices import Notices, one_sentence, start_line, with_probe
from lstm_gates_plugin.writing.pictures import Tracks
from lstm_gates_plugin.writing.probe import Probe
from lstm_gates_plugin.writing.schedule import Every, Schedule
from lstm_gates_plugin.writing.sinks import DirectorySink, Sink, TfSummarySink
from lstm_gates_plugin.writing.streams import Streams
from lstm_gates_plugin.writing.tracks import loss_of_timesteps, make_tracks, of_rows

MAX_UNITS = 64
MAX_SAMPLES = 4

_Logged = TypeVar("_Logged", RecurrentLayer, GateTrace)


class GateWriter:
    """Logs weights and activations of recurrent layers, for the LSTM Gates tab of TensorBoard.

    The records go into the sub-directory ``lstm_gates`` of the log directory, since a second live
    event file in the user's own would stop one of the two in TensorBoard. A run that goes on in
    the same directory from a later step continues its curves; from an earlier step it replaces
    what was logged from there on.

    Without a log directory they go to the default writer of `tf.summary`, and where no step is
    given it is that of `tf.summary.experimental.set_step`.

    Args:
        logdir: the run's directory, such as ``logs/run-1``, or None for `tf.summary`.
        every: "auto" (each log call is due at 1.05 x the step of the previous one, at least one
            step later: at most 300 in a million steps), or a number of steps.
        layers: which layers to log: a pattern for their ids, such as ``encoder/*``, or several.
        parts: ``weights``, ``activations`` or both.
        max_units: units whose activations are kept at every timestep; of all others the numbers.
        max_samples: samples of the probe that are kept.

    Raises:
        ValueError: the directory cannot be written, another live writer of this process has it, or
            an option is not valid.
    """

    def __init__(
        self,
        logdir: str | os.PathLike[str] | None = None,
        *,
        every: Every = "auto",
        layers: str | Sequence[str] = "*",
        parts: Sequence[str] = format.KINDS,
        max_units: int = MAX_UNITS,
        max_samples: int = MAX_SAMPLES,
    ) -> None:
        options = checked_options(layers, parts, max_units, max_samples)
        self._every: Every = every
        self._patterns: list[str] = options["layers"]
        self._parts: list[str] = options["parts"]
        self._max_samples = max_samples
        self._schedules: dict[str, Schedule] = {"": Schedule(every)}
        self._notices = Notices()
        self._written = False
        self.is_resting = False
        self._sink: Sink = TfSummarySink() if logdir is None else DirectorySink(logdir)
        self._streams = Streams(self._sink, max_units, max_samples)
        if logdir is not None:
            live.take(logdir, self)
        self._finish = weakref.finalize(self, _close_quietly, self._streams)

    def __enter__(self) -> GateWriter:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def is_due(self, step: int, name: str = "") -> bool:
        """Whether `log` would record anything at this training step."""
        return self._schedule(name).is_due(step)

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
    ) -> bool:
        """Record weights and, with a probe, activations, if a record is due at this step.

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

        Returns:
            Whether a record was due.

        Raises:
            ValueError: no step, a negative one, or one not above the last record's.
        """
        step = self._checked(step)
        self._check_above_last(step, name)
        if not self.is_due(step, name):
            return False
        return self.log_now(
            model,
            step=step,
            probe=probe,
            name=name,
            epoch=epoch,
            loss=loss,
            session=session,
            backward_cell=backward_cell,
        )

    def log_now(
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
    ) -> bool:
        """`log` without a schedule: the record is made at any step above the last one."""
        step = self._checked(step)
        self._check_above_last(step, name)
        if not self._sink.is_recording():
            return False
        has_probe = probe is not None
        if self._notices.is_new("start"):
            where = self._sink.name
            print(start_line(_name_of(model), where, self._every, self._parts, has_probe))
        source = _given(session=session, backward_cell=backward_cell)
        numbers = _given(epoch=epoch, loss=loss)
        if "weights" in self._parts:
            with self._notices.training_goes_on("the weights"):
                layers = self._layers(model, source, step, name)
                self._add(layers, lambda layer: self._streams.add_weights(layer, step, numbers))
        if "activations" in self._parts and has_probe:
            with self._notices.training_goes_on("the activations"):
                self._add_activations(model, source, Probe.of(probe), step, name, numbers)
        self._schedule(name).done(step)
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
        if not self._sink.is_recording():
            return
        source = _given(session=session, backward_cell=backward_cell)
        for layer in self._layers(model, source, step, name):
            self._streams.add_weights(layer, step, {})
            self._written = True

    def log_trace(
        self, traces: GateTrace | Iterable[GateTrace], *, step: int | None = None, name: str = ""
    ) -> None:
        """Record the activations in one or more traces.

        Raises:
            ValueError: no step, a negative one, or one not above the last record's; two traces are
                of the same call of the same layer.
            OSError: the record cannot be written.
        """
        listed = [traces] if isinstance(traces, GateTrace) else list(traces)
        step = self._checked(step)
        if not self._sink.is_recording():
            return
        for trace in self._wanted_traces(listed, step, name):
            self._streams.add_trace(trace, step, _difference(trace), Tracks())
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
        if not self._written:
            tried = any(schedule.last is not None for schedule in self._schedules.values())
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
            self._check_step(layer.id, "weights", 0, step)
        return chosen

    def _wanted_traces(self, traces: Sequence[GateTrace], step: int, name: str) -> list[GateTrace]:
        chosen = choose_traces(traces, name, self._patterns)
        for trace in chosen:
            self._check_step(trace.layer.id, "activations", trace.call, step)
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
        arguments = {**probe.kwargs, **source}
        traces, outputs = with_probe(
            model, probe, lambda: capture.observe(model, probe.args, arguments, self._max_samples)
        )
        tracks = make_tracks(probe, outputs)
        with self._notices.training_goes_on("the loss of each timestep"):
            tracks = tracks._replace(loss=loss_of_timesteps(probe, outputs))
        numbers = {**numbers, "probe_hash": float(probe.hash())}
        self._add(
            self._wanted_traces(traces, step, name),
            lambda trace: self._streams.add_trace(
                trace, step, {**numbers, **_difference(trace)}, of_rows(tracks, trace.rows)
            ),
        )

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

    def _check_step(self, layer: str, kind: str, call: int, step: int) -> None:
        last = self._streams.last_step(layer, kind, call)
        if step <= last:
            raise ValueError(
                f"step={step} was given for the {kind} of {layer!r}, whose last record is at step "
                f"{last}; expected a larger step. To log again from an earlier step, close this "
                "writer and open a new one: it replaces what was logged from there on."
            )

    def _schedule(self, name: str) -> Schedule:
        return self._schedules.setdefault(name, Schedule(self._every))

    def _check_above_last(self, step: int, name: str) -> None:
        last = self._schedule(name).last
        if last is not None and step <= last:
            raise ValueError(
                f"step={step} was given to log(), but this writer's last record is at step {last}; "
                "expected a larger step: the number of optimizer updates done so far, which never "
                "starts again at an epoch."
            )


def _close_quietly(streams: Streams) -> None:
    """Also run where the process ends without close(); nobody could catch an error then."""
    try:
        streams.close()
    except Exception as error:
        warnings.warn(
            f"LSTM Gates could not write the last pictures: {one_sentence(error)}", stacklevel=2
        )


def _given(**values: Any) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}


def _difference(trace: GateTrace) -> dict[str, float]:
    return _given(difference=trace.difference)


def _name_of(model: Any) -> str:
    return str(getattr(model, "name", None) or type(model).__name__)
