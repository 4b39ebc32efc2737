"""The records of one run, stream by stream: the first, the one before, the picture that waits."""

from __future__ import annotations

import functools
import threading
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from lstm_gates_plugin import format
from lstm_gates_plugin.gate_trace import GateTrace
from lstm_gates_plugin.gradients import TrainingGradients
from lstm_gates_plugin.layer import RecurrentLayer
from lstm_gates_plugin.measure.reach import reach
from lstm_gates_plugin.writing import pictures, records, summary
from lstm_gates_plugin.writing.gradient_pictures import gradient_parts, gradients_snapshot
from lstm_gates_plugin.writing.notices import one_sentence
from lstm_gates_plugin.writing.resume import Earlier
from lstm_gates_plugin.writing.schedule import Schedule, snapshot_schedule
from lstm_gates_plugin.writing.sinks import Sink

_Picture = Callable[[np.ndarray], format.Payload]


class _Entries(NamedTuple):
    """Fixed entries of one record, and what they were measured on."""

    values: Mapping[str, np.ndarray]
    basis: int

    def comparable(self, basis: int) -> Mapping[str, np.ndarray] | None:
        """The entries, or None where they were measured on something else."""
        return self.values if self.basis == basis else None


@dataclass
class _Stream:
    """The state of one layer, kind and call."""

    layer: dict[str, Any]
    start: _Entries
    units: np.ndarray
    log_calls: int
    previous: _Entries | None = None
    last_step: int = -1
    waiting: tuple[int, Callable[[], format.Payload]] | None = None
    snapshots: Schedule = field(default_factory=snapshot_schedule)


class Streams:
    """Hands the records of layers and traces to a sink.

    The sink is opened at the first record, because an event file must open with its step.

    Args:
        sink: where the records go.
        max_units: units whose activations are kept whole.
        max_samples: samples that are kept whole.
    """

    def __init__(self, sink: Sink, max_units: int, max_samples: int) -> None:
        self._sink = sink
        self._max_units = max_units
        self._max_samples = max_samples
        self._streams: dict[format.Tag, _Stream] = {}
        self._earlier: dict[format.Tag, Earlier] = {}
        self._opened = False
        self._closed = False
        self._lock = threading.Lock()

    def last_step(self, layer: str, kind: str, call: int = 0) -> int:
        """The step of the newest record of this layer, kind and call; -1 if there is none."""
        stream = self._streams.get(format.Tag(layer, call, kind, "first"))
        return stream.last_step if stream else -1

    def check_above_last(self, layer: str, kind: str, call: int, step: int) -> None:
        """Refuse a step that is not above that of the newest record of this layer, kind and call.

        Raises:
            ValueError: it is not.
        """
        last = self.last_step(layer, kind, call)
        if step <= last:
            raise ValueError(
                f"step={step} was given for the {kind} of {layer!r}, whose last record is at step "
                f"{last}; expected a larger step. To log again from an earlier step, close this "
                "writer and open a new one: it replaces what was logged from there on."
            )

    def add_weights(self, layer: RecurrentLayer, step: int, numbers: Mapping[str, float]) -> None:
        """Record the weights of one layer.

        Raises:
            OSError: the record cannot be written.
        """
        header = format.make_header("statistics", "weights", step, 0, layer.describe())
        self._add(
            header,
            layer.parts(),
            numbers,
            basis=0,
            choose=lambda: records.weights_units(layer),
            picture=lambda units: records.weights_snapshot(header, layer),
        )

    def add_trace(
        self, trace: GateTrace, step: int, numbers: Mapping[str, float], tracks: pictures.Tracks
    ) -> None:
        """Record the activations of one call of one layer.

        Raises:
            OSError: the record cannot be written.
        """
        layer = trace.layer
        header = format.make_header("statistics", "activations", step, trace.call, layer.describe())
        self._add(
            header,
            records.run_steps_only(trace.parts(), trace.mask),
            {**numbers, **pictures.memory(trace)},
            basis=records.basis(trace.mask, numbers.get("probe_hash")),
            choose=lambda: pictures.choose_units(
                trace, self._max_units, records.weights_units(layer)
            ),
            picture=lambda units: pictures.activations_snapshot(
                header, trace, units, tracks, self._max_samples
            ),
        )

    def add_gradients(
        self, trace: GateTrace, step: int, numbers: Mapping[str, float], tracks: pictures.Tracks
    ) -> None:
        """Record the gradients in one trace, and how far back the error reaches.

        Raises:
            OSError: the record cannot be written.
        """
        gradients = trace.gradients
        if gradients is None:
            return
        header = format.make_header(
            "statistics", "gradients", step, trace.call, trace.layer.describe()
        )
        reached = reach(trace)
        if reached is not None:
            limit = len(reached.ratios) - 1
            numbers = {**numbers, "reach": reached.timesteps, "reach_limit": limit}
        self._add(
            header,
            gradient_parts(gradients, trace.mask),
            numbers,
            basis=records.basis(trace.mask, numbers.get("probe_hash")),
            choose=lambda: np.arange(0),
            picture=lambda units: gradients_snapshot(
                header, trace, reached, tracks, self._max_samples
            ),
        )

    def add_training_gradients(self, gradients: TrainingGradients, step: int) -> None:
        """Record the gradients in the weights of one layer: numbers, and no pictures.

        A row without a gradient has no entries, and the header says why.

        Raises:
            OSError: the record cannot be written.
        """
        layer = gradients.layer
        missing = {"missing": dict(gradients.missing)}
        header = format.make_header(
            "statistics", "training_gradients", step, 0, layer.describe(), **missing
        )
        parts = {row: gradients.parts.get(row, np.empty(0)) for row in layer.parts()}
        tag = format.Tag(layer.id, 0, "training_gradients", "first")
        with self._lock:
            self._open(step)
            numbers = {"log_call": self._log_calls(tag)}
            record = records.statistics_record(
                header, parts, records.entries(parts), numbers, None, None
            )
            self._write_statistics(tag, format.encode(record), step)
            self._streams[tag] = _Stream(
                layer=header["layer"],
                start=_Entries({}, 0),
                units=np.arange(0),
                log_calls=numbers["log_call"] + 1,
                last_step=step,
            )

    def write_waiting(self) -> None:
        """Write the newest pictures that still wait.

        Raises:
            OSError: they cannot be written.
        """
        with self._lock:
            for tag, stream in self._streams.items():
                if stream.waiting:
                    step, picture = stream.waiting
                    self._write_blobs(tag, "snapshots", [format.encode(picture())], step)
                    stream.waiting = None

    def close(self) -> None:
        """Write the newest pictures that still wait, and close the sink.

        Raises:
            OSError: they cannot be written.
        """
        self._closed = True
        if not self._opened:
            return
        try:
            self.write_waiting()
        finally:
            self._sink.close()
            self._opened = False

    def close_quietly(self) -> None:
        """Close also where nobody could catch an error: at the end of the process."""
        try:
            self.close()
        except Exception as error:
            warnings.warn(
                f"LSTM Gates could not write the last pictures: {one_sentence(error)}", stacklevel=2
            )

    def _add(
        self,
        header: dict[str, Any],
        parts: Mapping[str, np.ndarray],
        numbers: Mapping[str, float],
        basis: int,
        choose: Callable[[], np.ndarray],
        picture: _Picture,
    ) -> None:
        with self._lock:
            self._add_alone(header, parts, numbers, basis, choose, picture)

    def _add_alone(
        self,
        header: dict[str, Any],
        parts: Mapping[str, np.ndarray],
        numbers: Mapping[str, float],
        basis: int,
        choose: Callable[[], np.ndarray],
        picture: _Picture,
    ) -> None:
        step = header["step"]
        tag = format.Tag(header["layer"]["id"], header["call"], header["kind"], "first")
        self._open(step)
        now = _Entries(records.entries(parts), basis)
        known = self._known(tag, header["layer"])
        stream = known or _Stream(header["layer"], now, choose(), self._log_calls(tag))
        numbers = {**numbers, "log_call": stream.log_calls}
        start = stream.start.comparable(basis)
        previous = stream.previous.comparable(basis) if stream.previous else None
        statistics = format.encode(
            records.statistics_record(header, parts, now.values, numbers, start, previous)
        )
        draw = functools.partial(picture, stream.units)
        if known is None:
            fixed = format.encode(records.entries_record(header, now.values, basis))
            self._write_blobs(tag, "first", [format.encode(draw()), statistics, fixed], step)
        self._write_statistics(tag, statistics, step)
        stream.log_calls += 1
        stream.previous = now
        stream.last_step = step
        stream.waiting = (step, draw)
        self._streams[tag] = stream
        if stream.snapshots.is_due(step):
            self._write_blobs(tag, "snapshots", [format.encode(draw())], step)
            stream.waiting = None
            stream.snapshots.done(step)

    def _open(self, step: int) -> None:
        if self._closed:
            raise ValueError("This GateWriter is closed; open a new one to log more.")
        if not self._opened:
            self._earlier = self._sink.open(step)
            self._opened = True

    def _known(self, tag: format.Tag, layer: dict[str, Any]) -> _Stream | None:
        """The stream of this very layer; a layer of another shape under one id begins anew."""
        stream = self._streams.get(tag)
        if stream:
            return stream if format.is_same_layer(stream.layer, layer) else None
        earlier = self._earlier.get(tag)
        if earlier and format.is_same_layer(earlier.layer, layer):
            start = _Entries(earlier.entries, earlier.basis)
            return _Stream(layer, start, earlier.units, earlier.log_calls)
        return None

    def _log_calls(self, tag: format.Tag) -> int:
        before = self._streams.get(tag) or self._earlier.get(tag)
        return before.log_calls if before else 0

    def _write_statistics(self, tag: format.Tag, data: bytes, step: int) -> None:
        name = format.Tag(tag.layer, tag.call, tag.kind, "statistics")
        self._sink.write(summary.tensor_summary(name, data), step)

    def _write_blobs(self, tag: format.Tag, stream: str, items: Sequence[bytes], step: int) -> None:
        name = format.Tag(tag.layer, tag.call, tag.kind, stream)
        self._sink.write(summary.blob_summary(name, items), step)
