"""Fixtures for tests in a browser: this machine's Chromium, driven by Playwright."""

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pytest

from helpers import screenshots
from helpers.required import require_browser, require_framework
from helpers.tab import choose_theme, take_tab_out

if TYPE_CHECKING:
    from playwright.sync_api import Browser, ConsoleMessage, Page, ViewportSize

VIEWPORT: "ViewportSize" = {"width": 1280, "height": 800}

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

    @contextlib.contextmanager
    def listening(self, page: "Page") -> Iterator[None]:
        """Keep what the page does until the block ends."""
        listeners: dict[Any, Callable[[Any], None]] = {
            "console": self.add_message,
            "pageerror": lambda error: self.errors.append(str(error)),
            "request": lambda request: self.requests.append(request.url),
        }
        for event, listener in listeners.items():
            page.on(event, listener)
        yield
        for event, listener in listeners.items():
            page.remove_listener(event, listener)

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


@pytest.fixture(scope="session")
def kept_pages() -> list["Page"]:
    """The page that goes from test to test: loading all of TensorBoard takes longer than most."""
    return []


@pytest.fixture
def page(
    request: pytest.FixtureRequest, browser: "Browser", kept_pages: list["Page"], page_log: PageLog
) -> Iterator["Page"]:
    """A page of 1280 x 800 pixels, in which `Tab.open` makes the tab anew; `page_log` listens.

    What surrounds the tab, and its storage, may be that of earlier tests, none of which failed.
    """
    failed = request.session.testsfailed
    page = kept_pages.pop() if kept_pages else browser.new_context(viewport=VIEWPORT).new_page()
    with page_log.listening(page):
        yield page
    if request.session.testsfailed > failed:
        page.context.close()
    else:
        tidy(page)
        kept_pages.append(page)


def tidy(page: "Page") -> None:
    """Undo what a test has done to its page."""
    page.unroute_all(behavior="ignoreErrors")
    for other in page.context.pages:
        if other != page:
            other.close()
    page.context.clear_permissions()
    take_tab_out(page)
    if page.locator("body.dark-mode").count():
        choose_theme(page, "Light")
    page.emulate_media(color_scheme="light")
    page.set_viewport_size(VIEWPORT)
    page.mouse.move(0, 0)


@pytest.fixture
def page_log() -> PageLog:
    """The console errors and requests of this test's page."""
    return PageLog()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say where the screenshots are."""
    if screenshots.written:
        terminalreporter.write_line(f"{len(screenshots.written)} screenshots: {screenshots.FOLDER}")
