"""What users read back: `read(logdir)[run][layer]` as NumPy arrays."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from lstm_gates_plugin import format
from lstm_gates_plugin.reading import store
from lstm_gates_plugin.reading.files import FileSource
from lstm_gates_plugin.reading.source import Source


class Series(NamedTuple):
    """One number over training: ``steps`` int64 and ``values`` float64, both ``[n]``."""

    steps: np.ndarray
    values: np.ndarray


class LoggedLayer:
    """What one layer has logged.

    Attributes:
        id: the layer's id.
    """

    def __init__(self, source: Source, run: str, layer: str, tags: list[format.Tag]) -> None:
        self.id = layer
        self._source = source
        self._run = run
        self._tags = tags

    @property
    def kinds(self) -> list[str]:
        """Which of `format.KINDS` were logged."""
        return [kind for kind in format.KINDS if any(tag.kind == kind for tag in self._tags)]

    @property
    def calls(self) -> list[int]:
        """The numbered calls of the layer whose activations were logged."""
        return sorted({tag.call for tag in self._tags if tag.kind == "activations"})

    def statistics(self, kind: str, call: int = 0) -> store.StatisticsSeries:
        """All statistics records of one kind, stacked.

        Raises:
            KeyError: nothing of this kind and call was logged.
        """
        series = store.read_statistics(self._source, self._key(kind, call))
        if series is None:
            raise KeyError(f"The layer {self.id!r} has no {kind} of call {call}.")
        return series

    def series(self, row: str, column: str, call: int = 0, kind: str | None = None) -> Series:
        """One statistic of one row over training steps.

        Args:
            row: such as ``activation/forget``, ``hidden_state`` or ``recurrent_kernel/input``.
            column: one of `format.COLUMNS`, such as ``mean`` or ``nearly_open``; or of the whole
                record: ``loss``, ``epoch``, ``difference``, of activations ``memory``, and of
                gradients ``reach``.
            call: which call of a layer that is used more than once.
            kind: one of `kinds`; by default the first that has such a row. Gradients have the rows
                of what they are of.

        Raises:
            KeyError: there is no such row.
            ValueError: there is no such column.
        """
        for one in self.kinds if kind is None else [kind]:
            found = store.read_statistics(self._source, self._key(one, call))
            if found and row in found.header["rows"]:
                if column in format.RECORD_COLUMNS:
                    return Series(found.steps, found.record_column(column))
                return Series(found.steps, found.column(row, column))
        raise KeyError(f"The layer {self.id!r} has logged no row {row!r} of call {call}.")

    def snapshot(
        self, step: int | None = None, kind: str = "activations", call: int = 0
    ) -> format.Payload:
        """The newest snapshot at or before a step, or the newest of all.

        Returns:
            A payload: ``.step``, ``.header`` (true unit indices, labels) and ``.arrays`` by row
            name; activations are ``[samples, timesteps, units]``.

        Raises:
            KeyError: there is none.
            format.CorruptPayloadError: it was damaged.
        """
        pictures = store.read_pictures(self._source, self._key(kind, call)).pictures
        fitting = [one for one in pictures if step is None or one.step <= step]
        if not fitting:
            when = "" if step is None else f" at or before step {step}"
            raise KeyError(f"The layer {self.id!r} has no snapshot of its {kind}{when}.")
        return store.read_picture(self._source, fitting[-1].key)

    def snapshot_steps(self, kind: str = "activations", call: int = 0) -> list[int]:
        """The training steps at which there is a snapshot."""
        return [
            one.step for one in store.read_pictures(self._source, self._key(kind, call)).pictures
        ]

    def _key(self, kind: str, call: int) -> store.Key:
        return store.Key(self._run, self.id, kind, call)


class LoggedRun(Mapping[str, LoggedLayer]):
    """The layers of one run, by id.

    Attributes:
        name: the run's name without the sub-directory in which our records are.
    """

    def __init__(self, source: Source, run: str, tags: list[format.Tag]) -> None:
        self.name = short_name(run)
        self._layers = {
            layer: LoggedLayer(source, run, layer, [tag for tag in tags if tag.layer == layer])
            for layer in dict.fromkeys(tag.layer for tag in sorted(tags))
        }

    def __getitem__(self, layer: str) -> LoggedLayer:
        if layer not in self._layers:
            raise KeyError(f"The run {self.name!r} has no layer {layer!r}; {_there_are(self)}")
        return self._layers[layer]

    def __iter__(self) -> Iterator[str]:
        return iter(self._layers)

    def __len__(self) -> int:
        return len(self._layers)


class LoggedRuns(Mapping[str, LoggedRun]):
    """All runs of a log directory, by name; by TensorBoard's full name where two are alike."""

    def __init__(self, source: Source) -> None:
        series = source.series()
        short = Counter(short_name(run) for run in series)
        self._runs = {
            short_name(run) if short[short_name(run)] == 1 else run: LoggedRun(
                source, run, list(tags)
            )
            for run, tags in series.items()
        }

    def __getitem__(self, run: str) -> LoggedRun:
        if run not in self._runs:
            raise KeyError(f"There is no run {run!r}; {_there_are(self)}")
        return self._runs[run]

    def __iter__(self) -> Iterator[str]:
        return iter(self._runs)

    def __len__(self) -> int:
        return len(self._runs)


def read(logdir: str | os.PathLike[str]) -> LoggedRuns:
    """What was logged under a directory, as NumPy arrays.

    Args:
        logdir: the directory that `tensorboard --logdir` is given, or one run's.

    Returns:
        ``read("logs")["run-1"]["encoder/rnn"].series("activation/forget", "mean")``; a run that is
        the directory itself is called ".".

    Raises:
        ValueError: there is no such directory.
    """
    return LoggedRuns(FileSource(Path(logdir)))


def short_name(run: str) -> str:
    """A run's name without our own sub-directory; "." where that is all there is."""
    if run == format.RUN_DIRECTORY:
        return "."
    return run.removesuffix(f"/{format.RUN_DIRECTORY}")


def _there_are(names: Mapping[str, Any]) -> str:
    return f"there are: {', '.join(names)}." if names else "nothing was logged."
