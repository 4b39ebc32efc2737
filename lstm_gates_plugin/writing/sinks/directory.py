"""An event file of our own, in a directory that is ours alone."""

from __future__ import annotations

import os
from pathlib import Path

from tensorboard.compat.proto import summary_pb2

from lstm_gates_plugin import format
from lstm_gates_plugin.event_file import EventFileWriter
from lstm_gates_plugin.writing.arguments import make_directory, refuse_remote
from lstm_gates_plugin.writing.resume import Earlier, read_earlier


class DirectorySink:
    """One new event file, in the sub-directory ``lstm_gates`` of a run's directory.

    Args:
        logdir: the run's directory.

    Raises:
        ValueError: it cannot be written.
    """

    def __init__(self, logdir: str | os.PathLike[str]) -> None:
        refuse_remote(logdir)
        self._directory = Path(logdir) / format.RUN_DIRECTORY
        self.name = str(self._directory)
        self.run_directory: Path | None = Path(logdir)
        self.records_directory: Path | None = self._directory
        self._file: EventFileWriter | None = None
        make_directory(self._directory)

    def open(self, first_step: int) -> dict[format.Tag, Earlier]:
        """Make the file, which must open with the first record's step."""
        earlier = read_earlier(self._directory, first_step)
        self._file = EventFileWriter(self._directory, first_step)
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
