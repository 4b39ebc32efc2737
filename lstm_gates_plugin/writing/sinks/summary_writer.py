"""The user's own `SummaryWriter`, of `torch.utils.tensorboard` or of tensorboardX.

Records lie beside the user's scalars, in the same file, and belong to the same run. Both classes
hand events to a thread that computes their checksums in Python: 0.1 s per MB, outside of our hands.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from tensorboard.compat.proto import summary_pb2

from lstm_gates_plugin import format
from lstm_gates_plugin.writing.resume import Earlier, read_earlier

_PACKAGES = ("torch.utils.tensorboard", "tensorboardX")


class SummaryWriterSink:
    """Hands records to a `SummaryWriter`.

    Args:
        writer: the user's own; who closes it and when is up to the user.

    Raises:
        ValueError: it is closed.
    """

    def __init__(self, writer: Any) -> None:
        self._writer = writer
        self._is_tensorboardx = _package_of(writer) == "tensorboardX"
        if writer.file_writer is None:
            raise ValueError(
                "A SummaryWriter that is closed was given; give one that is open, or a directory."
            )
        directory = str(writer.file_writer.get_logdir())
        self.run_directory: Path | None = Path(directory)
        self.records_directory: Path | None = self.run_directory
        self.name = f"the SummaryWriter of {directory}"

    @staticmethod
    def takes(destination: Any) -> bool:
        """Whether an object is a `SummaryWriter` of either package; neither is imported."""
        return _package_of(destination) is not None

    def open(self, first_step: int) -> dict[format.Tag, Earlier]:
        """What earlier files of the writer's directory hold: a resumed run goes on from there."""
        assert self.run_directory is not None
        self._file_writer().flush()
        return read_earlier(self.run_directory, first_step)

    def write(self, summary: summary_pb2.Summary, step: int) -> None:
        """Hand the summary on.

        Raises:
            OSError: the writer is closed.
        """
        self._file_writer().add_summary(self._of_its_own_kind(summary), step)

    def is_recording(self) -> bool:
        """Always; where the writer is closed, writing says so."""
        return True

    def default_step(self) -> int | None:
        """A `SummaryWriter` knows of no step."""
        return None

    def close(self) -> None:
        """Flush, where the writer is still open; it is the user's own."""
        if self._writer.file_writer is not None:
            self._writer.file_writer.flush()

    def _file_writer(self) -> Any:
        """The part of it that takes any summary.

        It is another one after the user has closed the writer and added something again. We do
        not open it again: at the end of a process that is too late, and elsewhere it would leave a
        second file that nobody closes.
        """
        if self._writer.file_writer is None:
            raise OSError(
                f"{self.name} is closed. Close the GateWriter before it, which then writes its "
                "newest pictures"
            )
        return self._writer.file_writer

    def _of_its_own_kind(self, summary: summary_pb2.Summary) -> Any:
        """The same message as tensorboardX's class; fields that this lacks come out as they were.

        It lacks `data_class`, without which TensorBoard shows nothing.
        """
        if not self._is_tensorboardx:
            return summary
        own = sys.modules["tensorboardX.proto.summary_pb2"].Summary
        return own.FromString(summary.SerializeToString())


def _package_of(writer: Any) -> str | None:
    """Which of the two packages the writer's class, or one that it derives from, is of."""
    for cls in type(writer).__mro__:
        for package in _PACKAGES:
            if cls.__name__ == "SummaryWriter" and cls.__module__.startswith(package):
                return package
    return None
