"""Records are made on one thread of NumPy's matrix products, and only they."""

from pathlib import Path

import pytest
from threadpoolctl import threadpool_limits

import lstm_gates_plugin as lg
from helpers.layers import make_layer
from lstm_gates_plugin.writing.streams import Streams
from lstm_gates_plugin.writing.threads import _openblas


def threads() -> list[int]:
    return [library["num_threads"] for library in _openblas().info()]


@pytest.mark.parametrize("way", ["log", "log_weights"])
def test_one_thread_while_records_are_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    seen: list[list[int]] = []
    add = Streams.add_weights

    def noted(*arguments: object) -> None:
        seen.append(threads())
        add(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(Streams, "add_weights", noted)
    with threadpool_limits(2, user_api="blas"), lg.GateWriter(tmp_path) as writer:
        before = threads()
        getattr(writer, way)([make_layer()], step=0)
        assert threads() == before == [2] * len(before)
    assert seen == [[1] * len(before)]
    assert len(before) >= 1
