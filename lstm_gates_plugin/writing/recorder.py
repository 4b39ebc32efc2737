"""From a model at one training step to its records: which there are, and how each is written."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from lstm_gates_plugin import capture
from lstm_gates_plugin.gate_trace import GateTrace
from lstm_gates_plugin.layer import RecurrentLayer
from lstm_gates_plugin.telling import told_to
from lstm_gates_plugin.writing.choice import choose_gradients, choose_layers, choose_traces
from lstm_gates_plugin.writing.notices import Notices
from lstm_gates_plugin.writing.pictures import Tracks
from lstm_gates_plugin.writing.probe import Probe
from lstm_gates_plugin.writing.streams import Streams
from lstm_gates_plugin.writing.tracks import of_trace
from lstm_gates_plugin.writing.watch import loss_of, watch


class Record(NamedTuple):
    """The record of one layer, still to be written."""

    layer: str
    write: Callable[[], None]


class Recorder:
    """Makes the records of models.

    Args:
        streams: what they are written to.
        notices: told of what cannot be had, where all else goes on.
        patterns: for the ids of the layers that are recorded.
        parts: which of `format.PARTS` are recorded.
        max_samples: samples of a probe that are traced.
    """

    def __init__(
        self,
        streams: Streams,
        notices: Notices,
        patterns: Sequence[str],
        parts: Sequence[str],
        max_samples: int,
    ) -> None:
        self._streams = streams
        self._notices = notices
        self._patterns = patterns
        self._parts = parts
        self._max_samples = max_samples

    def parts(self, model: Any, probe: Probe | None) -> list[str]:
        """Which parts there can be records of."""
        possible = {"weights"}
        if probe is not None:
            possible.add("activations")
            if loss_of(model, probe) is not None:
                possible.add("gradients")
        return [part for part in self._parts if part in possible]

    def weights(
        self, model: Any, source: dict[str, Any], step: int, name: str, numbers: dict[str, float]
    ) -> list[Record]:
        """The weights of a model's layers, or of a list of `RecurrentLayer`.

        Raises:
            ValueError: see `GateWriter.log_weights`.
        """
        is_list = isinstance(model, (list, tuple)) and all(
            isinstance(item, RecurrentLayer) for item in model
        )
        with told_to(self._notices.of(name).tell_once):
            layers = model if is_list else capture.recurrent_layers(model, **source)
        if not layers:
            raise _nothing_in(model)

        def record(layer: RecurrentLayer) -> Record:
            self._streams.check_above_last(layer.id, "weights", 0, step)
            return Record(layer.id, lambda: self._streams.add_weights(layer, step, numbers))

        return [record(layer) for layer in choose_layers(layers, name, self._patterns)]

    def probed(
        self,
        model: Any,
        source: dict[str, Any],
        probe: Probe,
        step: int,
        name: str,
        numbers: dict[str, float],
    ) -> list[Record]:
        """What a model's layers do on a probe.

        Raises:
            ValueError: the framework refuses the probe.
        """
        gradients = "gradients" in self._parts
        notices = self._notices.of(name)
        with told_to(notices.tell_once):
            watched = watch(model, source, probe, self._max_samples, notices, gradients=gradients)
        numbers = {**numbers, "probe_hash": float(watched.probe_hash)}
        return self._of_traces(
            watched.traces, step, name, numbers, lambda trace: of_trace(watched.tracks, trace)
        )

    def traced(self, traces: Iterable[GateTrace], step: int, name: str) -> list[Record]:
        """What traces hold.

        Raises:
            ValueError: see `GateWriter.log_trace`.
        """
        return self._of_traces(list(traces), step, name, {}, lambda trace: Tracks())

    def training_gradients(self, model: Any, scale: float, step: int, name: str) -> list[Record]:
        """The gradients that a training step has left.

        Raises:
            ValueError: see `GateWriter.log_gradients`.
        """
        with told_to(self._notices.of(name).tell_once):
            found = capture.training_gradients(model, scale)
        if not found:
            raise _nothing_in(model)

        def record(gradients: Any) -> Record:
            id = gradients.layer.id
            self._streams.check_above_last(id, "training_gradients", 0, step)
            return Record(id, lambda: self._streams.add_training_gradients(gradients, step))

        return [record(each) for each in choose_gradients(found, name, self._patterns)]

    def _of_traces(
        self,
        traces: Sequence[GateTrace],
        step: int,
        name: str,
        numbers: dict[str, float],
        tracks_of: Callable[[GateTrace], Tracks],
    ) -> list[Record]:
        def record(trace: GateTrace) -> Record:
            own = dict(numbers)
            if trace.difference is not None:
                own["difference"] = trace.difference
            for kind in ("activations", "gradients"):
                self._streams.check_above_last(trace.layer.id, kind, trace.call, step)
            return Record(trace.layer.id, lambda: self._add(trace, step, own, tracks_of(trace)))

        return [record(trace) for trace in choose_traces(traces, name, self._patterns)]

    def _add(self, trace: GateTrace, step: int, numbers: dict[str, float], tracks: Tracks) -> None:
        if "activations" in self._parts:
            self._streams.add_trace(trace, step, numbers, tracks)
        if "gradients" in self._parts:
            self._streams.add_gradients(trace, step, numbers, tracks)


def name_of(model: Any) -> str:
    """What a model is called, for people to read."""
    return str(getattr(model, "name", None) or type(model).__name__)


def _nothing_in(model: Any) -> ValueError:
    return ValueError(f"The model {name_of(model)} has no recurrent layer to log.")
