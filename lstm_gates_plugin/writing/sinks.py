"""Where records go: an event file in a directory of our own, or tf.summary's default writer."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from types import ModuleType
from typing import Protocol

from tensorboard.compat.proto import summary_pb2

from lstm_gates_plugin import format
from lstm_gates_plugin.event_file import EventFileWriter
from lstm_gates_plugin.writing.arguments import make_directory, refuse_remote
from lstm_gates_plugin.writing.resume import Earlier, read_earlier


class Sink(Protocol):
    """Takes the summaries of one run, in the order of their steps."""

    name: str
    """Where the records go, for people to read."""

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


class DirectorySink:
    """One new event file in a directory that is ours alone.

    Args:
        logdir: the run's directory; the file lies in its sub-directory ``lstm_gates``.

    Raises:
        ValueError: it cannot be written.
    """

    def __init__(self, logdir: str | os.PathLike[str]) -> None:
        refuse_remote(logdir)
        self.directory = Path(logdir) / format.RUN_DIRECTORY
        self.name = str(self.directory)
        self._file: EventFileWriter | None = None
        make_directory(self.directory)

    def open(self, first_step: int) -> dict[format.Tag, Earlier]:
        """Make the file, which must open with the first record's step."""
        earlier = read_earlier(self.directory, first_step)
        self._file = EventFileWriter(self.directory, first_step)
        return earlier

    def write(self, summary: summary_pb2.Summary, step: int) -> None:
        """Append to the file."""
        assert self._file is not None
        self._file.write(summary, step)

    def is_recording(self) -> bool:
        """Always."""
        return True

    def default_step(self) -> int | None:
        """A directory knows of no step."""
        return None

    def close(self) -> None:
        """Close the file, if there is one."""
        if self._file is not None:
            self._file.close()


class TfSummarySink:
    """TensorFlow's default summary writer, whichever it is at each call.

    Raises:
        ValueError: this process has not imported TensorFlow.
    """

    name = "the default writer of tf.summary"

    def __init__(self) -> None:
        tensorflow = sys.modules.get("tensorflow")
        if tensorflow is None:
            raise ValueError(
                "GateWriter() without a log directory writes to tf.summary's default writer, but "
                "this process has not imported TensorFlow; give a directory: "
                'GateWriter("logs/run-1").'
            )
        self._tf: ModuleType = tensorflow

    def open(self, first_step: int) -> dict[format.Tag, Earlier]:
        """The writer is open already; what its directory holds is not ours to read."""
        return {}

    def write(self, summary: summary_pb2.Summary, step: int) -> None:
        """Hand the summary on.

        Raises:
            OSError: there is no default writer any more, or it is held back.
        """
        write = self._tf.summary.experimental.write_raw_pb
        if not bool(write(summary.SerializeToString(), step=step)):
            raise OSError("tf.summary has no default writer that records here any more")

    def is_recording(self) -> bool:
        """Whether there is a default writer that `tf.summary.record_if` does not hold back."""
        with self._tf.summary.record_if(True):
            has_writer = bool(self._tf.summary.should_record_summaries())
        if not has_writer:
            raise ValueError(
                "tf.summary has no default writer here; log inside `with "
                'tf.summary.create_file_writer("logs/run-1").as_default():`.'
            )
        return bool(self._tf.summary.should_record_summaries())

    def default_step(self) -> int | None:
        """What `tf.summary.experimental.set_step` was given."""
        step = self._tf.summary.experimental.get_step()
        return None if step is None else int(step)

    def close(self) -> None:
        """The writer is the user's own: its records are flushed, and it stays open."""
        self._tf.summary.flush()
