"""Event files: TensorBoard's own reader accepts them; broken ones are read up to there."""

from pathlib import Path

import pytest
from tensorboard.backend.event_processing import event_file_loader
from tensorboard.compat.proto import event_pb2, summary_pb2

from lstm_gates_plugin import format
from lstm_gates_plugin.event_file import EventFileWriter, read_events
from lstm_gates_plugin.writing.summary import blob_summary, tensor_summary

TAG = format.Tag("lstm_0", 0, "weights", "statistics")


def written(directory: Path, steps: range, first_step: int = 0) -> Path:
    file = EventFileWriter(directory, first_step)
    for step in steps:
        file.write(tensor_summary(TAG, b"payload %d" % step), step)
    file.close()
    return next(iter(sorted(directory.iterdir(), reverse=True)))


def payloads(path: Path) -> list[bytes]:
    return [
        event.summary.value[0].tensor.string_val[0]
        for event in read_events(path)
        if event.summary.value
    ]


def test_tensorboards_own_reader_reads_what_is_written(tmp_path: Path) -> None:
    path = written(tmp_path, range(3), first_step=5)
    events = list(event_file_loader.EventFileLoader(str(path)).Load())
    assert events[0].file_version == "brain.Event:2"
    assert events[1].session_log.status == event_pb2.SessionLog.START
    assert events[1].step == 5
    assert [event.step for event in events[2:]] == [0, 1, 2]
    value = events[3].summary.value[0]
    assert value.tag == "lstm_gates/lstm_0/weights/statistics"
    assert value.tensor.string_val[0] == b"payload 1"
    assert value.metadata.plugin_data.plugin_name == "lstm_gates"
    assert value.metadata.plugin_data.content == b'{"version": 1}'
    assert value.metadata.data_class == summary_pb2.DATA_CLASS_TENSOR


def test_blobs_are_rank_1_and_say_what_they_are() -> None:
    value = blob_summary(TAG, [b"a", b"b"]).value[0]
    assert [dimension.size for dimension in value.tensor.tensor_shape.dim] == [2]
    assert list(value.tensor.string_val) == [b"a", b"b"]
    assert value.metadata.data_class == summary_pb2.DATA_CLASS_BLOB_SEQUENCE


def test_our_reader_reads_what_is_written(tmp_path: Path) -> None:
    assert payloads(written(tmp_path, range(3))) == [b"payload 0", b"payload 1", b"payload 2"]


def test_later_files_sort_after_earlier_ones(tmp_path: Path) -> None:
    first = written(tmp_path, range(1))
    second = written(tmp_path, range(1))
    assert first.name < second.name


@pytest.mark.parametrize("cut", [1, 3, 20])
def test_a_truncated_last_record_leaves_the_earlier_ones(tmp_path: Path, cut: int) -> None:
    path = written(tmp_path, range(3))
    path.write_bytes(path.read_bytes()[:-cut])
    assert payloads(path) == [b"payload 0", b"payload 1"]


def test_a_flipped_byte_in_a_payload_is_left_to_the_payloads_checksum(tmp_path: Path) -> None:
    path = written(tmp_path, range(3))
    path.write_bytes(path.read_bytes().replace(b"payload 1", b"pAyload 1"))
    assert payloads(path) == [b"payload 0", b"pAyload 1", b"payload 2"]


def test_broken_framing_ends_the_file_quietly(tmp_path: Path) -> None:
    path = written(tmp_path, range(3))
    data = bytearray(path.read_bytes())
    start = 0
    while b"payload 2" not in data[start : start + record_length(data, start)]:
        start += record_length(data, start)
    data[start] ^= 0xFF  # the length of the last record
    path.write_bytes(bytes(data))
    assert payloads(path) == [b"payload 0", b"payload 1"]


def record_length(data: bytearray, start: int) -> int:
    """Of the whole record: its length, the checksum of that, the data and their checksum."""
    return 8 + 4 + int.from_bytes(data[start : start + 8], "little") + 4


def test_a_failed_write_leaves_the_file_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A disk that is full in the middle of a record, then has room again."""
    file = EventFileWriter(tmp_path, 0)
    file.write(tensor_summary(TAG, b"payload 0"), 0)
    raw = file._file

    class Full:
        def __init__(self) -> None:
            self.room = 10

        def write(self, data: memoryview) -> int:
            if self.room == 0:
                raise OSError(28, "No space left on device")
            taken = raw.write(data[: self.room])
            self.room -= taken
            return taken

        def __getattr__(self, name: str) -> object:
            return getattr(raw, name)

    monkeypatch.setattr(file, "_file", Full())
    with pytest.raises(OSError, match="No space"):
        file.write(tensor_summary(TAG, b"payload 1"), 1)
    monkeypatch.setattr(file, "_file", raw)
    file.write(tensor_summary(TAG, b"payload 2"), 2)
    file.close()
    assert payloads(next(tmp_path.iterdir())) == [b"payload 0", b"payload 2"]
