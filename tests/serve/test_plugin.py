"""The plugin inside TensorBoard: sampling, damage, neighbours, prefixes, an empty start."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from tensorboard.summary import Writer as ScalarWriter

import lstm_gates_plugin as lg
from helpers.layers import make_layer, make_trace
from helpers.served import Routes
from helpers.tensorboard_server import get_bytes, get_json, wait_until

Serve = Callable[..., str]
LOADERS = ("--load_fast=true", "--load_fast=false")
KEY = {"run": "run/lstm_gates", "layer": "lstm_0"}


def is_active(url: str) -> bool:
    listing = get_json(f"{url}/data/plugins_listing")
    return bool(listing["lstm_gates"]["enabled"])


@pytest.mark.parametrize("loader", LOADERS)
def test_a_users_scalars_in_the_same_directory_stay_complete(
    tmp_path: Path, serve_logdir: Serve, loader: str
) -> None:
    """Also while both write in turn, as a training loop does."""
    scalars = ScalarWriter(str(tmp_path / "run"))
    with lg.GateWriter(tmp_path / "run", every=1) as writer:
        for step in range(100):
            scalars.add_scalar("lstm_0", step / 7, step)
            scalars.flush()
            if step % 10 == 0:
                writer.log_weights([make_layer(seed=step)], step=step)
    scalars.close()
    url = serve_logdir(tmp_path, loader)
    routes = Routes(url)
    routes.wait_for({"run": 90})
    _, arrays = routes.series(**KEY, kind="weights")
    assert arrays["steps"].tolist() == list(range(0, 100, 10))

    def all_scalars() -> bool:
        found = get_json(f"{url}/data/plugin/scalars/scalars?run=run&tag=lstm_0")
        return [one[1] for one in found] == list(range(100))

    assert wait_until(all_scalars)
    beside = routes.json("scalars", run="run", tag="lstm_0")
    assert [one[2] for one in beside] == pytest.approx([step / 7 for step in range(100)])


@pytest.mark.parametrize("loader", LOADERS)
def test_damage_is_reported_at_its_step_and_the_rest_is_shown(
    tmp_path: Path, serve_logdir: Serve, loader: str
) -> None:
    with lg.GateWriter(tmp_path / "run") as writer:
        for step in range(4):
            writer.log_weights([make_layer(seed=step)], step=step)
    path = next((tmp_path / "run" / "lstm_gates").iterdir())
    flip_value(path, make_layer(seed=2).kernel["input"], record=b'"record":"snapshot"')
    routes = Routes(serve_logdir(tmp_path, loader))
    fast = loader == "--load_fast=true"
    # The Python loader stops at the damaged record for good.
    routes.wait_for({"run": 3 if fast else 2})
    listed = routes.json("snapshots", **KEY, kind="weights")["snapshots"]
    assert [one["step"] for one in listed] == ([0, 1, 2, 3] if fast else [0, 1])
    if fast:
        status, sentence = routes.error("snapshot", key=listed[2]["key"])
        assert status == 404
        assert "do not match their checksum" in sentence
        np.testing.assert_array_equal(
            routes.series(**KEY, kind="weights")[1]["steps"], [0, 1, 2, 3]
        )
        assert routes.bytes("snapshot", key=listed[3]["key"])


def flip_value(path: Path, values: np.ndarray, record: bytes) -> None:
    """Change one byte of these values where they are stored in a record of this kind."""
    data = bytearray(path.read_bytes())
    stored = np.ascontiguousarray(values).tobytes()
    position = bytes(data).index(stored)
    assert position > 0
    data[position + 1] ^= 0x10
    path.write_bytes(bytes(data))


@pytest.mark.parametrize("loader", LOADERS)
def test_damaged_statistics_are_omitted_by_name(
    tmp_path: Path, serve_logdir: Serve, loader: str
) -> None:
    with lg.GateWriter(tmp_path / "run") as writer:
        for step in range(3):
            writer.log_trace(make_trace(make_layer(seed=step)), step=step)
    path = next((tmp_path / "run" / "lstm_gates").iterdir())
    mean = lg.read(tmp_path)["run"]["lstm_0"].statistics("activations").statistics[1]
    flip_value(path, mean, record=b'"record":"statistics"')
    routes = Routes(serve_logdir(tmp_path, loader))
    if loader == "--load_fast=true":
        routes.wait_for({"run": 2})
        header, arrays = routes.series(**KEY, kind="activations")
        assert arrays["steps"].tolist() == [0, 2]
        assert header["omitted"][0]["step"] == 1
        assert "checksum" in header["omitted"][0]["reason"]
        health = routes.json("health", run=KEY["run"])
        assert health["layers"][0]["kinds"]["activations"]["steps"] == [0, 2]
    else:
        routes.wait_for({"run": 0})
        assert routes.series(**KEY, kind="activations")[1]["steps"].tolist() == [0]


@pytest.mark.parametrize("loader", LOADERS)
def test_the_tab_appears_when_data_come_and_not_before(
    tmp_path: Path, serve_logdir: Serve, loader: str
) -> None:
    """Case N3."""
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


@pytest.mark.parametrize("loader", LOADERS)
def test_a_path_prefix_is_followed(tmp_path: Path, serve_logdir: Serve, loader: str) -> None:
    """Case N1: page, script and every data call."""
    with lg.GateWriter(tmp_path / "run") as writer:
        writer.log_weights([make_layer()], step=0)
    url = serve_logdir(tmp_path, loader, "--path_prefix=/a/b")
    assert url.endswith("/a/b")
    routes = Routes(url)
    routes.wait_for({"run": 0})
    assert is_active(url)
    entry = get_bytes(f"{url}/data/plugin_entry.html?name=lstm_gates").decode()
    assert '<base href="plugin/lstm_gates/"' in entry
    assert b"render" in get_bytes(f"{url}/data/plugin/lstm_gates/index.js")
    key = {**KEY, "kind": "weights"}
    assert routes.json("health", run=KEY["run"])["layers"]
    assert routes.series(**key)[1]["steps"].tolist() == [0]
    assert list(routes.snapshots(**key)) == [0]


def test_a_log_directory_that_is_the_run_itself(tmp_path: Path, serve_logdir: Serve) -> None:
    with lg.GateWriter(tmp_path) as writer:
        writer.log_weights([make_layer()], step=4)
    routes = Routes(serve_logdir(tmp_path, "--load_fast=true"))
    routes.wait_for({".": 4})
    assert routes.json("runs")["runs"][0]["run"] == "lstm_gates"


def test_nothing_but_the_built_files_is_served(tmp_path: Path, serve_logdir: Serve) -> None:
    import urllib.error

    base = f"{serve_logdir(tmp_path, '--load_fast=true')}/data/plugin/lstm_gates"
    for path in ("../../loader.py", "%2e%2e/plugin.py", "static/index.js", "//etc/passwd", ""):
        with pytest.raises(urllib.error.HTTPError, match="404"):
            get_bytes(f"{base}/{path}")
