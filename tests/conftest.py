"""Fixtures for every folder of tests: a real TensorBoard over a log directory."""

import contextlib
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from helpers.matrix import TABLE, TABLE_OF_FORMS
from helpers.tensorboard_server import tensorboard_server

# Before any test imports a framework: quiet, on the CPU, with the backend that is tested here.
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")
os.environ.setdefault("KERAS_BACKEND", "tensorflow")


@pytest.fixture(scope="module")
def serve_logdir() -> Iterator[Callable[..., str]]:
    """`serve_logdir(logdir, "--load_fast=false", ...)` starts the real `tensorboard` command.

    It returns the base URL (no slash at its end) once `/data/plugins_listing` answers. Servers
    end with the test module. Data may still be loading then: see `wait_until`. TensorBoard runs
    without TensorFlow unless `tensorflow=True`.
    """
    with contextlib.ExitStack() as servers:

        def serve(logdir: str | Path, *arguments: str, tensorflow: bool = False) -> str:
            server = tensorboard_server(logdir, *arguments, tensorflow=tensorflow)
            return servers.enter_context(server)

        yield serve


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print what the matrix tests found; with `UPDATE_MATRIX=1`, put it into the docs."""
    for table in (TABLE, TABLE_OF_FORMS):
        for line in table.lines():
            terminalreporter.write_line(line)
        if os.environ.get("UPDATE_MATRIX"):
            table.update(Path(__file__).parents[1] / "docs" / "matrix.md")
