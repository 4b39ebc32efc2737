"""What a test needs beside the package: absent, it fails in CI and is skipped elsewhere."""

import importlib
import os
import shutil
from types import ModuleType
from typing import NoReturn

import pytest

BROWSERS = (
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
)


def absent(sentence: str) -> NoReturn:
    """End the test, or the module that asks: in CI (`CI` is set) as a failure.

    So nothing goes untested unseen.
    """
    if os.environ.get("CI"):
        pytest.fail(f"{sentence} (CI is set: a missing piece is a failure.)", pytrace=False)
    pytest.skip(sentence, allow_module_level=True)


def require_framework(name: str) -> ModuleType:
    """The imported module `name`, for instance `"tensorflow"`."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name != name.split(".")[0]:
            raise
        absent(f"{name} is not installed in this environment; `make test` installs it.")


def find_browser() -> str | None:
    """The path of this machine's Chromium or Chrome, if there is one."""
    return next(filter(None, map(shutil.which, BROWSERS)), None)


def require_browser() -> str:
    """The path of this machine's Chromium or Chrome."""
    path = find_browser()
    if path is None:
        absent("No Chromium or Chrome found; install one, or let `make test` do it.")
    return path
