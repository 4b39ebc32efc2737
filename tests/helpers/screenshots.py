"""Screenshots that a test run leaves behind for people to look at."""

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

FOLDER = Path(__file__).parents[2] / "build" / "screenshots"

written: list[Path] = []
"""Those of this run, in order."""


def keep_screenshot(of: "Locator | Page", name: str) -> None:
    """Write what an element or a page looks like to `FOLDER`."""
    path = FOLDER / f"{name}.png"
    # Else it lies over a panel that is cut out below it.
    of.screenshot(path=path, style=".scrubber { position: static !important }")
    written.append(path)
