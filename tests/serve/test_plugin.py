"""The plugin inside TensorBoard: neighbours, damage, prefixes, an empty start, static files."""

import urllib.error
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from tensorboard.compat.proto.event_pb2 import Event
from tensorboard.plugins.histogram.summary_v2 import histogram_pb
from tensorboard.summary import Writer as ScalarWriter
from tensorboard.summary.writer.event_file_writer import EventFileWriter

import lstm_gates_plugin as lg
from helpers.layers import make_layer, make_trace
from helpers.served import Routes
from helpers.tensorboard_server import get_bytes, get_json, wait_until

Serve = Callable[..., str]
LOADERS = ("--load_fast=true", "--load_fast=false")


def is_active(url: str) -> bool:
    listing = get_json(f"{url}/data/plugins_listing")
    return bool(listing["lstm_gates"]["enabled"])


def write(directory: Path, steps: range) -> Path:
    """Weights and activations, with the step as the seed; returns the event file."""
    with lg.GateWriter(directory) as writer:
        for step in steps:
            layer = make_layer(seed=step)
            writer.log_weights([layer], step=step)
            writer.log_trace(make_trace(layer), step=step)
    return next((directory / "lstm_gates").iterdir())


def flip_byte(path: Path, values: np.ndarray) -> None:
    """Change one byte of these values, at the first place where they are stored."""
    data = bytearray(path.read_bytes())
    position = bytes(data).index(np.ascontiguousarray(values).tobytes())
    data[position + 1] ^= 0x10
    path.write_bytes(bytes(data))


@pytest.fixture(scope="module")
def logdir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run beside whose records the user writes scalars, and two runs with a damaged record."""
    root = tmp_path_factory.mktemp("logs")
    scalars = ScalarWriter(str(root / "beside"))
    histograms = EventFileWriter(str(root / "beside" / "histograms"))
    with lg.GateWriter(root / "beside", every=1) as writer:
        for step in range(100):
            scalars.add_scalar("lstm_0", step / 7, step)
            summary = histogram_pb("lstm_0", np.arange(step + 1.0))
            histograms.add_event(Event(step=step, summary=summary))
            for users in (scalars, histograms):
                users.flush()
            if step % 10 == 0:
                writer.log_weights([make_layer(seed=step)], step=step)
    scalars.close()
    histograms.close()
    flip_byte(write(root / "snapshot", range(4)), make_layer(seed=2).kernel["input"])
    path = write(root / "statistics", range(4))
    second = lg.read(root)["statistics"]["lstm_0"].statistics("activations").statistics[1]
    flip_byte(path, second)
    return root


@pytest.fixture(scope="module", params=LOADERS)
def loader(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def url(logdir: Path, serve_logdir: Serve, loader: str) -> str:
    return serve_logdir(logdir, loader)


@pytest.fixture(scope="module")
def routes(url: str, loader: str) -> Routes:
    """Loaded: the Python loader reads a damaged file up to the damaged record, and no further."""
    found = Routes(url)
    fast = loader == "--load_fast=true"
    found.wait_for({"beside": 90, "snapshot": 3 if fast else 2, "statistics": 3 if fast else 1})
    return found


def test_b3_a_users_scalars_and_histograms_in_the_same_directory_stay_complete(
    url: str, routes: Routes
) -> None:
    _, arrays = routes.series(run="beside/lstm_gates", layer="lstm_0", kind="weights")
    assert arrays["steps"].tolist() == list(range(0, 100, 10))

    def all_scalars() -> bool:
        found = get_json(f"{url}/data/plugin/scalars/scalars?run=beside&tag=lstm_0")
        return [one[1] for one in found] == list(range(100))

    assert wait_until(all_scalars)
    beside = routes.json("scalars", run="beside", tag="lstm_0")
    assert [one[2] for one in beside] == pytest.approx([step / 7 for step in range(100)])

    def last_histogram() -> bool:
        route = f"{url}/data/plugin/histograms/histograms"
        _, step, bins = get_json(f"{route}?run=beside/histograms&tag=lstm_0")[-1]
        return step == 99 and sum(count for _, _, count in bins) == 100

    assert wait_until(last_histogram)


def test_a_damaged_picture_is_refused_and_the_rest_is_shown(routes: Routes, loader: str) -> None:
    key = {"run": "snapshot/lstm_gates", "layer": "lstm_0", "kind": "weights"}
    listed = routes.json("snapshots", **key)["snapshots"]
    if loader == "--load_fast=false":
        assert [one["step"] for one in listed] == [0, 1]
        return
    assert [one["step"] for one in listed] == [0, 1, 2, 3]
    status, sentence = routes.error("snapshot", key=listed[2]["key"])
    assert status == 404
    assert "do not match their checksum" in sentence
    for step in (0, 1, 3):
        assert routes.bytes("snapshot", key=listed[step]["key"])
    assert routes.series(**key)[1]["steps"].tolist() == [0, 1, 2, 3]


def test_damaged_statistics_are_named_with_their_step(routes: Routes, loader: str) -> None:
    key = {"run": "statistics/lstm_gates", "layer": "lstm_0", "kind": "activations"}
    header, arrays = routes.series(**key)
    if loader == "--load_fast=false":
        assert arrays["steps"].tolist() == [0]
        return
    assert arrays["steps"].tolist() == [0, 2, 3]
    assert [one["step"] for one in header["omitted"]] == [1]
    assert "checksum" in header["omitted"][0]["reason"]
    health = routes.json("health", run=key["run"])
    assert health["layers"][0]["kinds"]["activations"]["steps"] == [0, 2, 3]


def test_n3_the_tab_appears_when_data_come_and_not_before(
    tmp_path: Path, serve_logdir: Serve, loader: str
) -> None:
    scalars = ScalarWriter(str(tmp_path / "other"))
    scalars.add_scalar("loss", 1, 0)
    scalars.close()
    url = serve_logdir(tmp_path, loader, "--reload_interval=1")
    assert not is_active(url)
    assert Routes(url).json("runs") == {"runs": []}
    with lg.GateWriter(tmp_path / "run") as writer:
        writer.log_weights([make_layer()], step=0)
        # Two cycles of loading, and what one takes on a busy machine.
        assert wait_until(lambda: is_active(url), 15)
        writer.log_weights([make_layer(seed=1)], step=1)
        Routes(url).wait_for({"run": 1}, 15)


def test_n1_a_path_prefix_is_followed(tmp_path: Path, serve_logdir: Serve) -> None:
    """Page, script and every data call; and a log directory that is the run itself."""
    write(tmp_path, range(1))
    url = serve_logdir(tmp_path, "--path_prefix=/a/b")
    assert url.endswith("/a/b")
    routes = Routes(url)
    routes.wait_for({".": 0})
    assert is_active(url)
    entry = get_bytes(f"{url}/data/plugin_entry.html?name=lstm_gates").decode()
    assert '<base href="plugin/lstm_gates/"' in entry
    assert b"render" in get_bytes(f"{url}/data/plugin/lstm_gates/index.js")
    key = {"run": "lstm_gates", "layer": "lstm_0", "kind": "weights"}
    assert routes.json("health", run="lstm_gates")["layers"]
    assert routes.json("findings", run="lstm_gates")["layers"] == 1
    assert routes.series(**key)[1]["steps"].tolist() == [0]
    assert list(routes.snapshots(**key)) == [0]


@pytest.mark.parametrize(
    "path",
    ["../../loader.py", "%2e%2e/plugin.py", "static/index.js", "//etc/passwd", "sources.sha256/.."],
)
def test_nothing_but_the_built_files_is_served(url: str, path: str) -> None:
    with pytest.raises(urllib.error.HTTPError, match="404"):
        get_bytes(f"{url}/data/plugin/lstm_gates/{path}")
