"""Where records go: an event file of our own, or a writer that the user has already."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Protocol

from tensorboard.compat.proto import summary_pb2

from lstm_gates_plugin import format
from lstm_gates_plugin.writing.resume import Earlier
from lstm_gates_plugin.writing.sinks.directory import DirectorySink
from lstm_gates_plugin.writing.sinks.summary_writer import SummaryWriterSink
from lstm_gates_plugin.writing.sinks.tf_summary import TfSummarySink


class Sink(Protocol):
    """Takes the summaries of one run, in the order of their steps."""

    name: str
    """Where the records go, for people to read."""

    run_directory: Path | None
    """The directory of the user's run, where it is known."""

    records_directory: Path | None
    """The directory of the event file that the records go into, where it is known."""

    def open(self, first_step: int) -> dict[format.Tag, Earlier]:
        """Make ready for records from this step on; what an earlier session left behind."""

    def write(self, summary: summary_pb2.Summary, step: int) -> None:
        """Take one summary.

        Raises:
            OSError: it cannot be written.
        """

    def is_recording(self) -> bool:
        """Whether records are wanted now.

        Raises:
            ValueError: there is nowhere to write to.
        """

    def default_step(self) -> int | None:
        """The step that the surrounding code has set, if there is such a thing."""

    def close(self) -> None:
        """Release what is held."""


class NoSink:
    """Takes nothing, of the processes that do not write."""

    name = "nowhere"
    run_directory: Path | None = None
    records_directory: Path | None = None

    def open(self, first_step: int) -> dict[format.Tag, Earlier]:
        """Nothing was there before."""
        return {}

    def write(self, summary: summary_pb2.Summary, step: int) -> None:
        """Forget it."""

    def is_recording(self) -> bool:
        """Never."""
        return False

    def default_step(self) -> int | None:
        """As from a directory: a step that is missing is missed in every process."""
        return None

    def close(self) -> None:
        """Nothing is held."""


def sink_for(destination: Any) -> Sink:
    """The sink for a directory, a `SummaryWriter`, or with None for `tf.summary`.

    Raises:
        TypeError: it is something else.
        ValueError: nothing can be written there.
    """
    if destination is None:
        return TfSummarySink()
    if isinstance(destination, (str, os.PathLike)):
        return DirectorySink(destination)
    if SummaryWriterSink.takes(destination):
        return SummaryWriterSink(destination)
    kind = type(destination)
    raise TypeError(
        f"GateWriter was given an object of type {kind.__module__}.{kind.__qualname__}; expected "
        'a directory, such as "logs/run-1", a SummaryWriter of torch.utils.tensorboard or of '
        "tensorboardX, or nothing for tf.summary's default writer."
    )
