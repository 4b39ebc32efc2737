"""Fixtures for tests in a browser: this machine's Chromium, driven by Playwright."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest

from helpers import screenshots
from helpers.required import require_browser, require_framework

if TYPE_CHECKING:
    from playwright.sync_api import Browser, ConsoleMessage, Page

# The last four keep the browser itself from asking anything of the network.
CHROMIUM_ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]


@dataclass
class PageLog:
    """What a page did beside drawing: console errors, uncaught exceptions, requested URLs.

    Under a `--path_prefix` TensorBoard's own fonts are answered 404; that error is not ours.
    """

    errors: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    def add_message(self, message: "ConsoleMessage") -> None:
        """Keep a console message that is an error, with where it came from."""
        if message.type == "error":
            self.errors.append(f"{message.text} ({message.location['url']})")

    def foreign_requests(self, base_url: str) -> list[str]:
        """The requested URLs of another origin than `base_url`'s; data: and blob: stay inside."""
        origin = "{0.scheme}://{0.netloc}/".format(urlsplit(base_url))
        return [url for url in self.requests if not url.startswith((origin, "data:", "blob:"))]


@pytest.fixture(scope="session")
def browser() -> Iterator["Browser"]:
    """One headless Chromium for the whole run."""
    path = require_browser()
    playwright = require_framework("playwright.sync_api")
    with playwright.sync_playwright() as driver:
        chromium = driver.chromium.launch(executable_path=path, args=CHROMIUM_ARGUMENTS)
        yield chromium
        chromium.close()


@pytest.fixture
def page(browser: "Browser", page_log: PageLog) -> Iterator["Page"]:
    """A page with storage of its own, 1280 x 800 pixels; `page_log` listens to it."""
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    page = context.new_page()
    page.on("console", page_log.add_message)
    page.on("pageerror", lambda error: page_log.errors.append(str(error)))
    page.on("request", lambda request: page_log.requests.append(request.url))
    yield page
    context.close()


@pytest.fixture
def page_log() -> PageLog:
    """The console errors and requests of this test's `page`."""
    return PageLog()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say where the screenshots are."""
    if screenshots.written:
        terminalreporter.write_line(f"{len(screenshots.written)} screenshots: {screenshots.FOLDER}")
