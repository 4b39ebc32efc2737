"""See inside LSTM, GRU and other recurrent layers: every gate, at every timestep, in TensorBoard.

The public names are loaded when they are first used: importing this package imports no framework
and no TensorBoard.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lstm_gates_plugin.callbacks.keras import KerasCallback
    from lstm_gates_plugin.callbacks.lightning import LightningCallback
    from lstm_gates_plugin.callbacks.tf1 import GateHook
    from lstm_gates_plugin.capture import record, recurrent_layers, trace
    from lstm_gates_plugin.checks.running import check
    from lstm_gates_plugin.diagnosis.diagnose import diagnose
    from lstm_gates_plugin.gate_trace import GateTrace
    from lstm_gates_plugin.layer import RecurrentLayer
    from lstm_gates_plugin.reading.runs import read
    from lstm_gates_plugin.writing.probe import Probe
    from lstm_gates_plugin.writing.writer import GateWriter

__all__ = [
    "GateHook",
    "GateTrace",
    "GateWriter",
    "KerasCallback",
    "LightningCallback",
    "Probe",
    "RecurrentLayer",
    "check",
    "diagnose",
    "read",
    "record",
    "recurrent_layers",
    "trace",
]

# No public name is also the name of a module or folder here, or importing that module would
# replace the name by the module.
_MODULES = {
    "GateHook": "callbacks.tf1",
    "GateTrace": "gate_trace",
    "GateWriter": "writing.writer",
    "KerasCallback": "callbacks.keras",
    "LightningCallback": "callbacks.lightning",
    "Probe": "writing.probe",
    "RecurrentLayer": "layer",
    "check": "checks.running",
    "diagnose": "diagnosis.diagnose",
    "read": "reading.runs",
    "record": "capture",
    "recurrent_layers": "capture",
    "trace": "capture",
}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(f"{__name__}.{_MODULES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
