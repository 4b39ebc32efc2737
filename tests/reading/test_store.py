"""Ordering, validation and what is said of records that cannot be used, on real event files."""

from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

import lstm_gates_plugin as lg
from helpers.layers import make_layer
from lstm_gates_plugin import format
from lstm_gates_plugin.event_file import EventFileWriter
from lstm_gates_plugin.reading import store
from lstm_gates_plugin.reading.files import FileSource
from lstm_gates_plugin.writing import records
from lstm_gates_plugin.writing.summary import blob_summary, tensor_summary

KEY = store.Key("run", "lstm_0", "weights")


class Stored(NamedTuple):
    step: int
    value: str


@pytest.mark.parametrize(
    ("steps", "kept"),
    [
        ([0, 1, 2, 3, 1, 2], ["0a", "1e", "2f"]),
        ([5, 5], ["5b"]),
        ([10, 20, 15], ["10a", "15c"]),
        ([0, 1, 2], ["0a", "1b", "2c"]),
        ([3, 2, 1], ["1c"]),
        ([-3, 2**53 + 1], ["-3a", f"{2**53 + 1}b"]),
        ([], []),
    ],
)
def test_a_step_that_goes_back_drops_what_was_stored_from_there_on(
    steps: list[int], kept: list[str]
) -> None:
    stored = [Stored(step, letter) for step, letter in zip(steps, "abcdef", strict=False)]
    assert [f"{one.step}{one.value}" for one in store.last_pass(stored)] == kept


def statistics(step: int, seed: int = 0, **header: object) -> bytes:
    layer = make_layer(seed=seed)
    made = format.make_header("statistics", "weights", step, 0, layer.describe())
    now = records.entries(layer.parts())
    payload = records.statistics_record(made, layer.parts(), now, {}, now, None)
    return format.encode(format.Payload({**payload.header, **header}, payload.arrays))


def written(directory: Path, *data: tuple[int, bytes]) -> FileSource:
    """A run whose records somebody wrote in this order, without a session start between them."""
    file = EventFileWriter(directory / "run", 0)
    for step, item in data:
        file.write(tensor_summary(KEY.tag("statistics"), item), step)
        file.write(blob_summary(KEY.tag("snapshots"), [item]), step)
    file.close()
    return FileSource(directory)


def test_a_record_that_was_written_twice_counts_once_and_the_last_one_wins(tmp_path: Path) -> None:
    source = written(
        tmp_path, *((step, statistics(step, seed)) for step, seed in ((0, 0), (5, 1), (5, 2)))
    )
    series = store.read_statistics(source, KEY)
    assert series is not None
    assert series.steps.tolist() == [0, 5]
    expected = make_layer(seed=2).kernel["forget"].mean()
    assert series.column("kernel/forget", "mean")[1] == pytest.approx(expected, rel=1e-5)
    assert "went back to an earlier step" in store.read_pictures(source, KEY).notes[0]


def test_unusable_records_are_named_with_their_step_and_the_rest_is_given(tmp_path: Path) -> None:
    cut = statistics(1)[:-9]
    newer = statistics(2, version=9)
    other = statistics(3, layer={**make_layer().describe(), "units": 9})
    source = written(
        tmp_path, (0, statistics(0)), (1, cut), (2, newer), (3, other), (4, b""), (5, statistics(5))
    )
    series = store.read_statistics(source, KEY)
    assert series is not None
    assert series.steps.tolist() == [0, 5]
    assert [one.step for one in series.omitted] == [1, 2, 3, 4]
    reasons = [one.reason for one in series.omitted]
    assert "checksum" in reasons[0]
    assert "format version 9" in reasons[1]
    assert "another layer" in reasons[2]
    assert "header cannot be read" in reasons[3]


def test_nothing_valid_is_nothing(tmp_path: Path) -> None:
    source = written(tmp_path, (0, b"junk"))
    assert store.read_statistics(source, KEY) is None
    assert store.read_statistics(source, KEY._replace(layer="lstm_1")) is None
    assert store.read_first(source, KEY) == {}
    with pytest.raises(format.CorruptPayloadError):
        store.read_picture(source, store.read_pictures(source, KEY).pictures[0].key)


def test_the_first_record_comes_back_where_the_series_has_lost_it(tmp_path: Path) -> None:
    with lg.GateWriter(tmp_path / "run") as writer:
        for step in range(3):
            writer.log_weights([make_layer(seed=step)], step=step)
    source = FileSource(tmp_path)
    key = KEY._replace(run="run/lstm_gates")
    everything = source.tensors(key.run, key.tag("statistics"))
    thinned = Thinned(source, key.tag("statistics"), everything[2:])
    series = store.read_statistics(thinned, key)
    assert series is not None
    assert series.steps.tolist() == [0, 2]
    assert series.log_calls == 3
    expected = [make_layer(seed=seed).kernel["forget"].mean() for seed in (0, 2)]
    np.testing.assert_allclose(series.column("kernel/forget", "mean"), expected, rtol=1e-5)


class Thinned:
    """A source of which TensorBoard has dropped some records of one series."""

    def __init__(self, source: FileSource, tag: format.Tag, left: list) -> None:  # type: ignore[type-arg]
        self._source, self._tag, self._left = source, tag, left

    def tensors(self, run: str, tag: format.Tag) -> object:
        return self._left if tag == self._tag else self._source.tensors(run, tag)

    def __getattr__(self, name: str) -> object:
        return getattr(self._source, name)
