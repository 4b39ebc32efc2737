"""Runs the real `tensorboard` command for a test and waits until it answers."""

import contextlib
import json
import os
import re
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

START_SECONDS = 90.0

_READY = re.compile(r"TensorBoard \S+ at (http://\S+?)/? \(Press CTRL\+C to quit\)")

_HIDING = Path(__file__).parent / "without_tensorflow"

_T = TypeVar("_T")


@contextlib.contextmanager
def tensorboard_server(
    logdir: str | Path,
    *arguments: str,
    python: str | Path = sys.executable,
    tensorflow: bool = False,
) -> Iterator[str]:
    """Serve `logdir` on a free port until the block ends.

    Args:
        logdir: what `--logdir` is given.
        *arguments: further arguments of `tensorboard`, e.g. `"--load_fast=false"`.
        python: the interpreter of the environment whose `tensorboard` is started.
        tensorflow: whether TensorBoard finds TensorFlow, if that is installed. Its start then takes
            seconds, and its Python loader reads event files in another way.

    Yields:
        The base URL without a slash at its end; a `--path_prefix` is part of it.

    Raises:
        RuntimeError: TensorBoard ended or did not answer in time; with its output.
    """
    command = [str(Path(python).parent / "tensorboard"), "--logdir", str(logdir), "--port", "0"]
    paths = [str(_HIDING), *filter(None, [os.environ.get("PYTHONPATH")])]
    hiding = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
    environment = os.environ if tensorflow else hiding
    with tempfile.NamedTemporaryFile("wb", suffix=".log") as output:
        process = subprocess.Popen(
            [*command, *arguments],
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
        try:
            url = _wait_for_url(process, Path(output.name))
            wait_until(lambda: get_json(f"{url}/data/plugins_listing"), START_SECONDS)
            yield url
        finally:
            process.terminate()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def wait_until(answer: Callable[[], _T], seconds: float = 30.0) -> _T:
    """Call `answer` until it returns something true, and return that.

    A connection that is refused or an HTTP error counts as "not yet".

    Raises:
        TimeoutError: nothing true within `seconds`; with the last answer or error.
    """
    deadline = time.monotonic() + seconds
    while True:
        last: object
        try:
            result = answer()
            if result:
                return result
            last = result
        except (urllib.error.URLError, ConnectionError) as error:
            last = error
        if time.monotonic() > deadline:
            raise TimeoutError(f"Nothing true within {seconds:g} s; last: {last!r}")
        time.sleep(0.1)


def get_bytes(url: str) -> bytes:
    """The body of one GET request; `urllib.error.HTTPError` for any status of 400 and above."""
    with urllib.request.urlopen(url, timeout=30) as response:
        body: bytes = response.read()
    return body


def get_json(url: str) -> Any:
    """The body of one GET request, decoded from JSON."""
    return json.loads(get_bytes(url))


def _wait_for_url(process: "subprocess.Popen[bytes]", log: Path) -> str:
    deadline = time.monotonic() + START_SECONDS
    while True:
        text = log.read_text(encoding="utf-8", errors="replace")
        if ready := _READY.search(text):
            return ready.group(1)
        if process.poll() is not None:
            raise RuntimeError(f"TensorBoard ended with status {process.returncode}:\n{text}")
        if time.monotonic() > deadline:
            raise RuntimeError(f"TensorBoard printed no URL in {START_SECONDS:g} s:\n{text}")
        time.sleep(0.1)
