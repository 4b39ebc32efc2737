"""Training in several processes: rank 0 writes, the others do nothing, and nobody waits."""

import json
import os
import socket
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest
import torch

import lstm_gates_plugin as lg
from helpers.required import require_framework
from helpers.torch_training import WITHOUT_TENSORFLOW, Tagger, X, logged, steps

SECONDS = 90
"""After which processes that wait for each other are ended; they take some five."""

TRAINING = """
    import json, sys
    import torch
    import torch.distributed as dist
    from torch.nn.parallel import DistributedDataParallel

    import lstm_gates_plugin as lg
    from helpers.torch_training import X, Y, Tagger, loss_of, state_of, train

    directory = sys.argv[1]
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    local = slice(16 * rank, 16 * rank + 16)

    def trained(log):
        torch.manual_seed(rank)
        model = DistributedDataParallel(Tagger(dropout=0.5))
        losses = train(model, lambda step: log(model, step), local=local)
        return {"losses": losses, "state": [one.tolist() for one in state_of(model.module)]}

    without = trained(lambda model, step: None)
    answers = []
    writer = lg.GateWriter(directory, every=1)
    probe = lg.Probe(X[local], target=Y[local], loss=loss_of)
    found = trained(
        lambda model, step: answers.append(writer.log(model, step=step, probe=probe))
    )
    dist.destroy_process_group()
    writer.close()
    with open(f"{directory}/{rank}.json", "w") as file:
        json.dump({"with": found, "without": without, "answers": answers}, file)
"""

LIGHTNING = """
    import sys, warnings
    import lightning.pytorch as pl
    import torch
    import lstm_gates_plugin as lg
    from helpers.lightning_training import loader, module_class, trainer

    torch.set_num_threads(1)
    fitting = trainer(
        pl, sys.argv[1], lg.LightningCallback("first_val_batch", 1), strategy="ddp", devices=2
    )
    fitting.fit(module_class(pl)(), loader(), loader())
"""


def start(code: Path, *arguments: str, **environment: str) -> "subprocess.Popen[str]":
    paths = (WITHOUT_TENSORFLOW, str(Path(__file__).parents[1]))
    return subprocess.Popen(
        [sys.executable, str(code), *arguments],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths), **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def finished(processes: "list[subprocess.Popen[str]]") -> list[str]:
    """What they print; they end in time, or are ended."""
    try:
        outputs = [process.communicate(timeout=SECONDS)[0] for process in processes]
    finally:
        for process in processes:
            process.kill()
    codes = [process.returncode for process in processes]
    assert not any(codes), "\n".join(outputs)
    return outputs


def train_in_two(directory: Path) -> tuple[list[str], list[Any]]:
    """As `torchrun --nproc-per-node 2` does; what each process printed and found."""
    code = directory / "training.py"
    code.write_text(textwrap.dedent(TRAINING))
    with socket.socket() as free:
        free.bind(("localhost", 0))
        address = {"MASTER_ADDR": "localhost", "MASTER_PORT": str(free.getsockname()[1])}
    ranks = [{"RANK": rank, "LOCAL_RANK": rank, "WORLD_SIZE": "2"} for rank in "01"]
    printed = finished([start(code, str(directory), **rank, **address) for rank in ranks])
    return printed, [json.loads((directory / f"{rank}.json").read_text()) for rank in "01"]


def test_two_processes_with_buffers_write_one_file_and_train_as_without(tmp_path: Path) -> None:
    """Case F8 as well: the rows are those of the process that writes."""
    printed, found = train_in_two(tmp_path)
    assert len(list(tmp_path.rglob("*tfevents*"))) == 1
    assert steps(tmp_path) == [0, 1, 2, 3, 4]
    assert [one["answers"] for one in found] == [[True] * 5, [False] * 5]
    assert "LSTM Gates: watching" in printed[0]
    assert "LSTM Gates" not in printed[1]
    for one in found:
        assert one["with"] == one["without"]
    snapshot = logged(tmp_path)["rnn"].snapshot(0)
    assert snapshot.header["samples"] == 16
    assert (snapshot.arrays["track/input"] == X[:4].numpy()).all()


def test_lightning_in_two_processes_writes_one_file(tmp_path: Path) -> None:
    require_framework("lightning")
    code = tmp_path / "training.py"
    code.write_text(textwrap.dedent(LIGHTNING))
    (printed,) = finished([start(code, str(tmp_path))])
    assert printed.count("LSTM Gates") == 1
    assert len(list(tmp_path.rglob("lstm_gates/*tfevents*"))) == 1
    (run,) = lg.read(tmp_path).values()
    assert run["net/rnn"].series("activation/forget", "mean").steps.tolist() == [0, 1, 2]


@pytest.mark.parametrize("variable", ["RANK", "LOCAL_RANK"])
def test_before_initialisation_the_environment_tells_the_rank(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    variable: str,
) -> None:
    monkeypatch.setenv(variable, "1")
    writer = lg.GateWriter(tmp_path / "run")
    other = lg.GateWriter(tmp_path / "run")  # two that do nothing do not collide
    assert writer.log(torch.nn.LSTM(3, 4), step=0) is False
    assert other.log(Tagger(), step=0, probe="no probe at all") is False
    writer.log_weights(Tagger(), step=0)
    writer.log_trace([], step=0)
    writer.log_gradients(Tagger(), step=0)
    with pytest.raises(ValueError, match="No step was given"):
        writer.log(Tagger())
    writer.close()
    assert not list(tmp_path.iterdir())
    assert capsys.readouterr().out == ""


def test_a_writer_that_was_made_before_the_ranks_were_known_falls_silent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    writer = lg.GateWriter(tmp_path)
    monkeypatch.setenv("RANK", "1")
    assert writer.log(Tagger(), step=0) is False
    monkeypatch.delenv("RANK")  # as after destroy_process_group
    assert writer.log(Tagger(), step=0) is False
    writer.close()
    assert capsys.readouterr().out == ""
    assert not list(tmp_path.rglob("*tfevents*"))
