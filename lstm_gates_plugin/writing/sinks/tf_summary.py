"""The default summary writer of TensorFlow."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType

from tensorboard.compat.proto import summary_pb2

from lstm_gates_plugin import format
from lstm_gates_plugin.writing.resume import Earlier


class TfSummarySink:
    """Hands records to the default writer of `tf.summary`, whichever it is at each call.

    Raises:
        ValueError: this process has not imported TensorFlow.
    """

    name = "the default writer of tf.summary"

    def __init__(self) -> None:
        self.run_directory: Path | None = None
        self.records_directory: Path | None = None
        tensorflow = sys.modules.get("tensorflow")
        if tensorflow is None:
            raise ValueError(
                "GateWriter() without a log directory writes to tf.summary's default writer, but "
                "this process has not imported TensorFlow; give a directory: "
                'GateWriter("logs/run-1").'
            )
        self._tf: ModuleType = tensorflow

    def open(self, first_step: int) -> dict[format.Tag, Earlier]:
        """The writer is open already; where its files are, it does not say."""
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
