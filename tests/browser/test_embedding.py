"""The tab within pages of other origins, without storage or cookies, and behind a proxy."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

import numpy as np
import pytest

from browser.conftest import CHROMIUM_ARGUMENTS
from helpers.layers import make_layer, make_trace
from helpers.required import require_browser
from helpers.small_servers import framing_page, stripping_proxy
from helpers.tab import Tab
from lstm_gates_plugin import GateWriter

if TYPE_CHECKING:
    from playwright.sync_api import Browser, FrameLocator, Page

    from browser.conftest import PageLog

UNITS, TIMESTEPS = 4, 5
STEPS = (0, 10)
PLUGIN_PAGE = "/data/plugin_entry.html?name=lstm_gates"
NO_SITE_DATA = {"profile": {"default_content_setting_values": {"cookies": 2}}}
"""Chromium's setting "do not allow sites to save data": touching a storage is an error."""
STORAGES = """() => ["localStorage", "sessionStorage", "indexedDB", "cookie"].filter((name) => {
    try {
        if (name === "cookie") return (document.cookie = "a=1"), document.cookie !== "";
        return name === "indexedDB" ? Boolean(indexedDB.open("a") && false) : Boolean(window[name]);
    } catch {
        return false;
    }
})"""


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory, serve_logdir: Callable[..., str]) -> str:
    """A TensorBoard over one LSTM at two training steps."""
    logdir = tmp_path_factory.mktemp("logs")
    with GateWriter(logdir / "run-1") as writer:
        for step in STEPS:
            layer = make_layer(units=UNITS, seed=step)
            writer.log_weights([layer], step=step)
            writer.log_trace(make_trace(layer, timesteps=TIMESTEPS, seed=step), step=step)
    return serve_logdir(logdir)


def forget(step: int, unit: int, timestep: int) -> np.float16:
    """The logged value of the forget gate of the first sample."""
    trace = make_trace(make_layer(units=UNITS, seed=step), timesteps=TIMESTEPS, seed=step)
    return np.float16(trace.gates["forget"][0, timestep, unit])


@pytest.fixture
def storeless(browser: "Browser", tmp_path: Path) -> Iterator["Page"]:
    """A page of a browser in which no site may keep anything."""
    profile = tmp_path / "Default" / "Preferences"
    profile.parent.mkdir()
    profile.write_text(json.dumps(NO_SITE_DATA), encoding="utf-8")
    context = browser.browser_type.launch_persistent_context(
        tmp_path,
        executable_path=require_browser(),
        args=CHROMIUM_ARGUMENTS,
        viewport={"width": 1280, "height": 800},
    )
    yield context.pages[0]
    context.close()


class Framed(Tab):
    """The tab within TensorBoard within a page of another origin."""

    @property
    def frame(self) -> "FrameLocator":
        """The plugin's own frame, two frames down."""
        outer = self.page.frame_locator("iframe[name=framed]")
        return outer.frame_locator("iframe[src*='name=lstm_gates']")


class FramedAlone(Tab):
    """The plugin's own page, without TensorBoard around it, within a page of another origin.

    TensorBoard's own page does not start where it may not touch `localStorage`.
    """

    @property
    def frame(self) -> "FrameLocator":
        """The plugin's page, one frame down."""
        return self.page.frame_locator("iframe[name=framed]")


@pytest.mark.parametrize(
    ("kind", "path", "host"),
    [(Framed, "/#lstm_gates", "localhost"), (FramedAlone, PLUGIN_PAGE, "127.0.0.1")],
)
def test_in_a_frame_of_another_origin(
    page: "Page", page_log: "PageLog", url: str, kind: type[Tab], path: str, host: str
) -> None:
    with framing_page(url + path, host) as outer:
        page.goto(outer)
        tab = kind(page, url).wait()
        works(tab, url)
    # Chromium itself notes that such a frame may not write to the clipboard; a selection is copied.
    assert [error for error in page_log.errors if "Clipboard" not in error] == []


def test_without_storage_and_cookies(storeless: "Page", url: str) -> None:
    with framing_page(url + PLUGIN_PAGE, "127.0.0.1") as outer:
        storeless.goto(outer)
        tab = FramedAlone(storeless, url).wait()
        assert tab.frame.locator("body").evaluate(STORAGES) == []
        works(tab, url)


def test_behind_a_proxy_that_strips_its_prefix(page: "Page", page_log: "PageLog", url: str) -> None:
    with stripping_proxy(url, "/user/me/proxy/6006") as proxied:
        tab = Tab(page, proxied).open(step=0)
        works(tab, proxied)
        # What TensorBoard's own page says of its fonts and of its other tabs is not ours.
        assert [error for error in page_log.errors if "lstm_gates" in error] == []
        ours = [asked for asked in page_log.requests if "lstm_gates" in asked]
        assert all(asked.startswith(f"{proxied}/") for asked in ours)


def works(tab: Tab, url: str) -> None:
    """It draws what was logged, follows the keys, and gives a link that opens the same view."""
    tab.press("Home")
    tab.shows("step", "training step 0")
    tab.hover_cell("map-forget", row=2, column=1, shape=(UNITS, TIMESTEPS))
    assert np.float16(tab.tooltip("forget")) == forget(0, unit=2, timestep=1)
    tab.press("ArrowRight")
    tab.shows("step", "training step 10")
    tab.hover_cell("map-forget", row=3, column=4, shape=(UNITS, TIMESTEPS))
    assert np.float16(tab.tooltip("forget")) == forget(10, unit=3, timestep=4)
    tab.press("ArrowLeft")

    tab.get("copy-link").click()
    tab.frame.get_by_text("Copied").wait_for()
    tab.page.context.grant_permissions(["clipboard-read"])
    link = tab.page.evaluate("() => navigator.clipboard.readText()")
    assert link.startswith(f"{url}/")
    assert f"p.lstm_gates.run={quote('run-1/lstm_gates', safe='')}" in link
    assert "p.lstm_gates.step=0" in link
