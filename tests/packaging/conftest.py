"""Fixtures that build the distribution for real, once for all tests of this folder."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def run(*command: str | Path, cwd: Path, path: str | None = None) -> str:
    """Run a command; its output. `path` replaces PATH. A failure shows the output."""
    environment = {**os.environ, "PYTHONPATH": ""}
    if path is not None:
        environment["PATH"] = path
    finished = subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert finished.returncode == 0, (
        f"{command} ended with {finished.returncode}:\n{finished.stdout}"
    )
    return finished.stdout


@pytest.fixture(scope="session")
def fresh_clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The working tree as a clone would have it: a git checkout without what git ignores."""
    clone = tmp_path_factory.mktemp("clone")
    listed = run("git", "ls-files", "-z", "-co", "--exclude-standard", cwd=ROOT)
    for name in filter(None, listed.split("\0")):
        if (ROOT / name).is_file():
            (clone / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, clone / name)
    run("git", "init", "--quiet", cwd=clone)
    return clone


@pytest.fixture(scope="session")
def sdist(fresh_clone: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The source distribution of a fresh clone."""
    folder = tmp_path_factory.mktemp("sdist")
    run(sys.executable, "-m", "build", "--sdist", "-o", folder, fresh_clone, cwd=folder)
    (archive,) = folder.glob("*.tar.gz")
    return archive


@pytest.fixture(scope="session")
def unpacked_sdist(sdist: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder inside the source distribution."""
    folder = tmp_path_factory.mktemp("unpacked")
    # Its own command: not each Python that is supported lets the library be told what to refuse.
    run(sys.executable, "-m", "tarfile", "--extract", sdist, cwd=folder)
    (source,) = folder.iterdir()
    return source


@pytest.fixture(scope="session")
def wheel(unpacked_sdist: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built from the source distribution with no npm, no node, nothing on PATH."""
    folder = tmp_path_factory.mktemp("wheel")
    nothing = tmp_path_factory.mktemp("nothing")
    command = (sys.executable, "-m", "build", "--wheel", "-o", folder, unpacked_sdist)
    run(*command, cwd=folder, path=str(nothing))
    (archive,) = folder.glob("*.whl")
    return archive
