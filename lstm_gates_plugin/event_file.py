"""TensorBoard's event files, byte by byte: records with their checksums, written and read.

TensorFlow is not imported, and the CRC-32C is compiled: TensorBoard's own pure-Python writer and
reader take 0.12 s per MB with the interpreter lock held.
"""

from __future__ import annotations

import os
import socket
import struct
import time
from collections.abc import Iterator
from pathlib import Path

import google_crc32c
from google.protobuf import message
from tensorboard.compat.proto import event_pb2, summary_pb2

_FILE_VERSION = "brain.Event:2"
_MASK_DELTA = 0xA282EAD8
_LENGTH = struct.Struct("<Q")
_CHECKSUM = struct.Struct("<I")


class EventFileWriter:
    """Appends events to one new event file in a directory.

    Args:
        directory: made if it does not exist. No other event file in it may be live: TensorBoard's
            Python loader follows only the last one.
        first_step: the file opens with a session start at this step, so that TensorBoard drops
            what earlier files of the directory hold from that step on.

    Raises:
        OSError: the directory or the file cannot be made.
    """

    def __init__(self, directory: Path, first_step: int) -> None:
        directory.mkdir(parents=True, exist_ok=True)
        self._file = (directory / _file_name()).open("xb", buffering=0)
        self._append(event_pb2.Event(wall_time=time.time(), file_version=_FILE_VERSION))
        start = event_pb2.SessionLog(status=event_pb2.SessionLog.START)
        self._append(event_pb2.Event(wall_time=time.time(), step=first_step, session_log=start))

    def write(self, summary: summary_pb2.Summary, step: int) -> None:
        """Append one summary at a training step, whole or not at all.

        Raises:
            OSError: it cannot be written (a full disk); the file is as it was before.
        """
        self._append(event_pb2.Event(wall_time=time.time(), step=step, summary=summary))

    def close(self) -> None:
        """Close the file; it stays readable."""
        self._file.close()

    def _append(self, event: event_pb2.Event) -> None:
        data = event.SerializeToString()
        length = _LENGTH.pack(len(data))
        record = b"".join([length, _masked_crc(length), data, _masked_crc(data)])
        end = self._file.tell()
        try:
            written = 0
            while written < len(record):
                written += self._file.write(memoryview(record)[written:]) or 0
        except OSError:
            self._file.truncate(end)
            self._file.seek(end)
            raise


def _file_name() -> str:
    """Later files sort after earlier ones: that is the order in which TensorBoard reads them."""
    now = time.time_ns()
    host = socket.gethostname()
    return f"events.out.tfevents.{now // 10**9:010d}.{now % 10**9:09d}.{host}.{os.getpid()}"


def _masked_crc(data: bytes) -> bytes:
    """CRC-32C, rotated and shifted, as in TensorFlow's `core/lib/hash/crc32c.h`."""
    crc = google_crc32c.value(data)
    return _CHECKSUM.pack(((crc >> 15 | crc << 17) + _MASK_DELTA) & 0xFFFFFFFF)


def read_events(path: Path) -> Iterator[event_pb2.Event]:
    """The events of one file, in order, up to the first place where the framing is broken.

    A record whose data fail their checksum is still given if it parses, as TensorBoard's fast
    loader does: our payloads carry a checksum of their own.
    """
    with path.open("rb") as file:
        while True:
            length = file.read(_LENGTH.size)
            if len(length) < _LENGTH.size or file.read(_CHECKSUM.size) != _masked_crc(length):
                return
            data = file.read(_LENGTH.unpack(length)[0])
            if len(file.read(_CHECKSUM.size)) < _CHECKSUM.size:
                return
            event = event_pb2.Event()
            try:
                event.ParseFromString(data)
            except message.DecodeError:
                continue
            yield event
