"""GateWriter: what training code calls to log the gates of its recurrent layers."""

from __future__ import annotations

import fnmatch
import os
import warnings
import weakref
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from lstm_gates_plugin import capture, format
from lstm_gates_plugin.gate_trace import GateTrace
from lstm_gates_plugin.layer import RecurrentLayer
from lstm_gates_plugin.writing.arguments import (
    checked_step,
    known_parts,
    positive,
    refuse_inside_function,
)
from lstm_gates_plugin.writing.pictures import Tracks
from lstm_gates_plugin.writing.probe import Probe
from lstm_gates_plugin.writing.schedule import Every, Schedule
from lstm_gates_plugin.writing.sinks import DirectorySink, Sink, TfSummarySink
from lstm_gates_plugin.writing.streams import Streams
from lstm_gates_plugin.writing.tracks import make_tracks

MAX_UNITS = 64
MAX_SAMPLES = 4

_live: weakref.WeakValueDictionary[Path, GateWriter] = weakref.WeakValueDictionary()


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
        self._every: Every = every
        self._patterns = [layers] if isinstance(layers, str) else list(layers)
        self._parts = known_parts(parts)
        self._max_samples = positive("max_samples", max_samples)
        self._schedules: dict[str, Schedule] = {"": Schedule(every)}
        self._warned: set[str] = set()
        self._announced = False
        self._written = False
        self._sink: Sink = TfSummarySink() if logdir is None else DirectorySink(logdir)
        self._streams = Streams(self._sink, positive("max_units", max_units), max_samples)
        self._enter(logdir)
        self._finish = weakref.finalize(self, _close_quietly, self._streams)

    def _enter(self, logdir: str | os.PathLike[str] | None) -> None:
        """Take the log directory for this writer alone."""
        if logdir is None:
            return
        if live_writer(logdir):
            raise ValueError(
                f"Another live GateWriter of this process already writes to {str(logdir)!r}; use "
                "that one, close() it first, or give another directory."
            )
        _live[_key(logdir)] = self

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
        **source: Any,
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
            **source: what `recurrent_layers` needs beside the model, if anything: a TF1 cell its
                `session=`.

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
            model, step=step, probe=probe, name=name, epoch=epoch, loss=loss, **source
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
        **source: Any,
    ) -> bool:
        """`log` without a schedule: the record is made at any step above the last one."""
        step = self._checked(step)
        self._check_above_last(step, name)
        if not self._sink.is_recording():
            return False
        self._announce(model, probe)
        numbers = _numbers(epoch, loss)
        if "weights" in self._parts:
            self._guarded("weights", lambda: self._add_weights(model, source, step, name, numbers))
        if "activations" in self._parts and probe is not None:
            self._guarded(
                "activations",
                lambda: self._add_activations(model, source, Probe.of(probe), step, name, numbers),
            )
        self._schedule(name).done(step)
        return True

    def log_weights(
        self, model: Any, *, step: int | None = None, name: str = "", **source: Any
    ) -> None:
        """Record the weights of a model's recurrent layers, or of a list of `RecurrentLayer`.

        `source` is what `recurrent_layers` needs beside the model.

        Raises:
            ValueError: no step, a negative one, or one not above the last record's; the model has
                no recurrent layer or is not built.
            OSError: the record cannot be written.
        """
        step = self._checked(step)
        if self._sink.is_recording():
            self._add_weights(model, source, step, name, {})

    def log_trace(
        self, traces: GateTrace | Iterable[GateTrace], *, step: int | None = None, name: str = ""
    ) -> None:
        """Record the activations in one or more traces.

        Raises:
            ValueError: no step, a negative one, or one not above the last record's.
            OSError: the record cannot be written.
        """
        listed = [traces] if isinstance(traces, GateTrace) else list(traces)
        step = self._checked(step)
        if self._sink.is_recording():
            self._add_traces(listed, step, name, {}, Tracks())

    def close(self) -> None:
        """Write the newest pictures and release the directory. Further calls do nothing.

        A writer without a log directory must be closed while `tf.summary` has its default writer.
        """
        if not self._finish.alive:
            return
        self._finish()
        for logdir in [key for key, writer in _live.items() if writer is self]:
            del _live[logdir]
        if not self._written:
            print(f"LSTM Gates: nothing was logged to {self._sink.name}: no log call was due.")

    def _add_weights(
        self, model: Any, source: dict[str, Any], step: int, name: str, numbers: dict[str, float]
    ) -> None:
        is_list = isinstance(model, (list, tuple)) and all(
            isinstance(item, RecurrentLayer) for item in model
        )
        layers = model if is_list else capture.recurrent_layers(model, **source)
        if not layers:
            raise ValueError(f"The model {_name_of(model)} has no recurrent layer to log.")
        chosen = [layer for layer in (_named(one, name) for one in layers) if self._wants(layer)]
        for layer in chosen:
            self._check_step(layer.id, "weights", 0, step)
        for layer in chosen:
            self._streams.add_weights(layer, step, numbers)
            self._written = True

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
        traces, outputs = capture.observe(model, probe.args, arguments, self._max_samples)
        numbers = {**numbers, "probe_hash": float(probe.hash())}
        self._add_traces(traces, step, name, numbers, make_tracks(probe, outputs))

    def _add_traces(
        self,
        traces: Sequence[GateTrace],
        step: int,
        name: str,
        numbers: dict[str, float],
        tracks: Tracks,
    ) -> None:
        renamed = [replace(trace, layer=_named(trace.layer, name)) for trace in traces]
        chosen = [trace for trace in renamed if self._wants(trace.layer)]
        for trace in chosen:
            self._check_step(trace.layer.id, "activations", trace.call, step)
        for trace in chosen:
            known = {} if trace.difference is None else {"difference": trace.difference}
            self._streams.add_trace(trace, step, {**numbers, **known}, tracks)
            self._written = True

    def _checked(self, step: int | None) -> int:
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

    def _wants(self, layer: RecurrentLayer) -> bool:
        return any(fnmatch.fnmatchcase(layer.id, pattern) for pattern in self._patterns)

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

    def _guarded(self, what: str, add: Callable[[], None]) -> None:
        """Training goes on whatever happens here."""
        try:
            add()
        except Exception as error:
            cause = f"{what}: {type(error).__name__}"
            if cause not in self._warned:
                self._warned.add(cause)
                warnings.warn(
                    f"LSTM Gates could not log the {what}, training goes on: {error}", stacklevel=4
                )

    def _announce(self, model: Any, probe: Any) -> None:
        if self._announced:
            return
        self._announced = True
        when = 'every="auto": often at first, then rarely'
        if self._every != "auto":
            when = f"every {self._every} step(s)"
        what = " and ".join(part for part in self._parts if part == "weights" or probe is not None)
        hint = "" if probe is not None else "; give a probe to see the gates of each timestep"
        print(
            f"LSTM Gates: watching {what} of {_name_of(model)}, {when}, in {self._sink.name}{hint}."
        )


def live_writer(logdir: str | os.PathLike[str]) -> GateWriter | None:
    """The writer of this process that has this log directory now, if there is one."""
    return _live.get(_key(logdir))


def _key(logdir: str | os.PathLike[str]) -> Path:
    return Path(logdir).resolve()


def _close_quietly(streams: Streams) -> None:
    """Also run where the process ends without close(); nobody could catch an error then."""
    try:
        streams.close()
    except OSError as error:
        warnings.warn(f"LSTM Gates could not write the last pictures: {error}", stacklevel=2)


def _numbers(epoch: float | None, loss: float | None) -> dict[str, float]:
    known = {"epoch": epoch, "loss": loss}
    return {name: float(value) for name, value in known.items() if value is not None}


def _named(layer: RecurrentLayer, name: str) -> RecurrentLayer:
    return replace(layer, id=f"{name}/{layer.id}") if name else layer


def _name_of(model: Any) -> str:
    return str(getattr(model, "name", None) or type(model).__name__)
