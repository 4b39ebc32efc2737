"""Modules and functions under torch.compile: they run uncompiled while gates are recorded."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn
from torch._dynamo.testing import CompileCounter

import lstm_gates_plugin as lg
from helpers.served import Routes
from helpers.tensorboard_server import wait_until
from helpers.torch_modules import G1, close, g1, g1_lstm, sequence, values

X = sequence(1, 2, 3)


class CellLoop(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.cell = g1(nn.LSTMCell(1, 1))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        state = None
        outputs = []
        for t in range(x.shape[1]):
            state = self.cell(x[:, t], state)
            outputs.append(state[0])
        return torch.stack(outputs, dim=1)


class InnerFunction(nn.Module):
    """A model whose forward pass goes through a function that was compiled."""

    def __init__(self) -> None:
        super().__init__()
        self.loop = CellLoop()
        self.run = torch.compile(lambda x: self.loop(x), backend="eager")

    def forward(self, x: torch.Tensor) -> Any:
        return self.run(x)


def compiled_in_place() -> nn.Module:
    model = CellLoop()
    model.compile(backend="eager")
    return model


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda: torch.compile(g1_lstm(), backend="eager"), "lstm_0"),
        (lambda: torch.compile(CellLoop(), backend="eager"), "cell"),
        (lambda: torch.compile(CellLoop(), backend="aot_eager"), "cell"),
        (lambda: torch.compile(nn.Sequential(CellLoop()), backend="eager"), "0/cell"),
        (InnerFunction, "loop/cell"),
        (compiled_in_place, "cell"),
    ],
    ids=["LSTM", "cell", "aot", "sequential", "function", "in place"],
)
@pytest.mark.parametrize("ran_before", [False, True])
def test_g8_traced_and_recorded_before_and_after_compilation(
    make: Any, name: str, ran_before: bool
) -> None:
    model = make().eval()
    if ran_before:
        model(X)
    with lg.record(model) as recording:
        model(X)
    for trace in (*lg.trace(model, X), *recording.traces()):
        assert trace.layer.id == name
        for row, expected in G1.items():
            close(values(trace, row), expected)
    output = model(X)
    close(output[0] if isinstance(output, tuple) else output, G1["hidden_state"])


def test_a_trace_compiles_nothing_anew() -> None:
    counter = CompileCounter()
    model = torch.compile(CellLoop(), backend=counter)
    model(X)
    compiled = counter.frame_count
    assert compiled > 0
    for _ in range(2):
        lg.trace(model, X)
        lg.recurrent_layers(model)
        model(X)
    assert counter.frame_count == compiled


def test_inside_a_compiled_function_is_refused() -> None:
    module = g1_lstm()

    @torch.compile(backend="eager")  # type: ignore[untyped-decorator]
    def step(x: torch.Tensor) -> Any:
        return lg.trace(module, x)

    with pytest.raises(ValueError, match=r"inside a function that torch\.compile compiles"):
        step(X)


def test_g8_a_plain_and_a_compiled_run_lie_over_each_other(
    tmp_path: Path, serve_logdir: Callable[..., str]
) -> None:
    for name, compiled in (("plain", False), ("compiled", True)):
        module = nn.Sequential(g1_lstm())
        model = torch.compile(module, backend="eager") if compiled else module
        model(X)
        with lg.GateWriter(tmp_path / name, every=1) as writer:
            for step in range(3):
                writer.log(model, step=step, probe=X)
    routes = Routes(serve_logdir(tmp_path))

    def layers() -> dict[str, list[str]] | None:
        runs = {run["name"]: run for run in routes.json("runs")["runs"]}
        ids = {name: [layer["id"] for layer in run["layers"]] for name, run in runs.items()}
        is_whole = len(runs) == 2 and all(run["last_step"] == 2 for run in runs.values())
        return ids if is_whole else None

    assert wait_until(layers, 30) == {"plain": ["0"], "compiled": ["0"]}
    for kind in ("weights", "activations"):
        of_runs = [
            routes.series(run=f"{name}/lstm_gates", layer="0", kind=kind)
            for name in ("plain", "compiled")
        ]
        assert [arrays["steps"].tolist() for _, arrays in of_runs] == [[0, 1, 2]] * 2
        (plain, first), (compiled_header, second) = of_runs
        assert plain["rows"] == compiled_header["rows"]
        np.testing.assert_allclose(first["statistics"], second["statistics"], rtol=1e-5)
