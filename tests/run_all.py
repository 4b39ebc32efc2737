"""Runs every check, the quick ones first, and ends with a summary: what `make test` calls."""

import argparse
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from helpers.required import find_browser

ROOT = Path(__file__).resolve().parent.parent
BIN = Path(sys.executable).parent

BROWSER_MISSING = (
    "The tests of the tab need a browser: install Chromium or Chrome "
    "(on Debian and Ubuntu: apt-get install chromium) and run `make test` again."
)


@dataclass(frozen=True)
class Check:
    """One command of the suite."""

    name: str
    command: tuple[str, ...]
    folder: Path = ROOT
    lint: bool = False
    environment: Mapping[str, str] = field(default_factory=dict)


# The cases that are written for any Keras; the first check of pytest runs them on TensorFlow.
_CASES = "a_layers", "c_layers", "d_traces", "e_traces", "f_masks", "g_numbers", "j_modes"
# In the order of the folders: by default the longest test, alone in its file, would be the last.
BOTH_CORES = (
    *("pytest", "-n", "2", "--dist", "loadfile", "--no-loadscope-reorder"),
    "--durations=10",
)

BACKEND_TESTS = (
    "pytest",
    "tests/backends",
    *(f"tests/cases/test_{name}.py" for name in _CASES),
    "--durations=3",
)

#: Of seconds each, two at a time.
QUICK_CHECKS = (
    Check("ruff check", ("ruff", "check", "."), lint=True),
    Check("ruff format", ("ruff", "format", "--check", "."), lint=True),
    Check("mypy", ("mypy",), lint=True),
    Check("page: eslint, tsc", ("npm", "run", "--silent", "lint"), ROOT / "frontend", lint=True),
    Check("page: vitest", ("npm", "test", "--silent"), ROOT / "frontend"),
)

# Two processes: half of the time is waiting for TensorBoard and the browser.
TWO_CORE_CHECK = Check("pytest", BOTH_CORES)

#: Each on one core, so two of them at a time, the longest first. One framework a process: which
#: Keras it is must be known before the first import.
ONE_CORE_CHECKS = (
    Check("pytest, tf_keras", BACKEND_TESTS, environment={"TF_USE_LEGACY_KERAS": "1"}),
    Check("pytest, PyTorch", ("pytest", "tests/pytorch", "--durations=5")),
    Check("pytest, TensorFlow 1", ("pytest", "tests/tf1", "--durations=5")),
    Check("pytest, Keras on JAX", BACKEND_TESTS, environment={"KERAS_BACKEND": "jax"}),
    Check("pytest, Flax", ("pytest", "tests/flax", "--durations=5")),
    Check("pytest, Keras on torch", BACKEND_TESTS, environment={"KERAS_BACKEND": "torch"}),
)
#: Each test process has one core: more threads would only wait for each other.
ONE_THREAD = {
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "TF_NUM_INTRAOP_THREADS": "1",
}


def main() -> int:
    """Run the checks; 0 where all passed, 1 otherwise."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only-lint", action="store_true", help="only what reads the code")
    only_lint = parser.parse_args().only_lint

    if not only_lint and not ensure_browser():
        print(BROWSER_MISSING)
        return 1
    results = run_two_at_a_time([each for each in QUICK_CHECKS if each.lint or not only_lint])
    if not only_lint:
        results += [run(TWO_CORE_CHECK), *run_two_at_a_time(ONE_CORE_CHECKS)]
    print("\nSummary")
    for result in results:
        verdict = "passed" if result.passed else "FAILED"
        print(f"  {verdict}  {result.check.name} ({result.seconds:.0f} s)")
    return 0 if all(result.passed for result in results) else 1


class Result(NamedTuple):
    """How a check ended."""

    check: Check
    passed: bool
    seconds: float
    output: str = ""


def run(check: Check, *, captured: bool = False) -> Result:
    """Run one check. Its output is shown as it comes, or kept for later."""
    print(f"\n{check.name}: {' '.join(check.command)}", flush=True)
    # The environment's own tools first, node among them, whichever else the machine has.
    path = f"{BIN}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, **ONE_THREAD, **check.environment, "PATH": path}
    # Tests start many processes: compiling torch or TensorFlow anew in each takes half of the time.
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    program = shutil.which(check.command[0], path=path)
    if program is None:
        print(f"{check.command[0]} is not installed.")
        return Result(check, False, 0)
    started = time.monotonic()
    done = subprocess.run(
        [program, *check.command[1:]],
        cwd=check.folder,
        env=environment,
        stdout=subprocess.PIPE if captured else None,
        stderr=subprocess.STDOUT if captured else None,
        text=True,
    )
    return Result(check, done.returncode == 0, time.monotonic() - started, done.stdout or "")


def run_two_at_a_time(checks: Sequence[Check]) -> list[Result]:
    """Run checks side by side; the output of each is shown when it has ended."""
    with ThreadPoolExecutor(max_workers=2) as pool:
        running = [pool.submit(run, check, captured=True) for check in checks]
        for one in as_completed(running):
            print(f"\n{one.result().check.name} has ended:\n{one.result().output}", flush=True)
    return [one.result() for one in running]


def ensure_browser() -> bool:
    """Whether there is a browser, after Debian's was installed where that is allowed."""
    if find_browser():
        return True
    if shutil.which("apt-get") is None or os.geteuid() != 0:
        return False
    print("No browser found: installing Debian's chromium", flush=True)
    quiet = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for arguments in (["update", "-qq"], ["install", "-y", "-qq", "chromium"]):
        if subprocess.call(["apt-get", *arguments], stdout=subprocess.DEVNULL, env=quiet):
            return False
    return find_browser() is not None


if __name__ == "__main__":
    sys.exit(main())
