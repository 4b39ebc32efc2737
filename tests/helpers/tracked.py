"""Logs traces with the probe's own data beside them, without a framework that has a model."""

from collections.abc import Sequence

from lstm_gates_plugin import GateWriter
from lstm_gates_plugin.gate_trace import GateTrace
from lstm_gates_plugin.writing.pictures import Tracks


def log_tracked(
    writer: GateWriter, traces: Sequence[GateTrace], tracks: Tracks, *, step: int
) -> None:
    """What `writer.log(model, probe=...)` records of traces whose tracks are known."""
    writer._write(writer._recorder._of_traces(traces, step, "", {}, lambda trace: tracks))
