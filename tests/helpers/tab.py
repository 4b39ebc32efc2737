"""Drives the LSTM Gates tab in a page of the real TensorBoard."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from helpers.required import require_framework

if TYPE_CHECKING:
    from playwright.sync_api import FrameLocator, Locator, Page

WAIT_MS = 30_000
#: The page writes its URL at most ten times a second.
URL_MS = 130

FRAME = "iframe[src*='name=lstm_gates']"
"""The plugin's own frame; TensorBoard has one for every plugin that was looked at."""

EMPTY = "about:blank"
LOADING = """const load = (frame, url) => new Promise((loaded) => {
    frame.addEventListener("load", loaded, { once: true });
    frame.contentWindow.location.replace(url);
});"""
TAKE_OUT = f"""(frame) => {{
    {LOADING}
    document.activeElement?.blur();
    return load(frame, "{EMPTY}");
}}"""
IS_OUT = f"""(frame) => frame.contentWindow.location.href === "{EMPTY}\""""
PUT_IN = f"""(frame, address) => {{
    {LOADING}
    history.replaceState(history.state, "", address);
    return load(frame, frame.src);
}}"""


@dataclass
class Tab:
    """The tab of one page; `frame` is the plugin's own frame within TensorBoard's."""

    page: "Page"
    url: str

    @property
    def frame(self) -> "FrameLocator":
        """The document in that frame."""
        return self.page.frame_locator(FRAME)

    def open(self, **selection: Any) -> "Tab":
        """Open the tab, with keys of its URL, and wait until it shows something."""
        return self.start(**selection).wait()

    def start(self, **selection: Any) -> "Tab":
        """Open the tab, and do not wait."""
        keys = [
            f"p.lstm_gates.{key}={quote(str(value), safe='')}" for key, value in selection.items()
        ]
        address = "/".join([self.url, "#" + "&".join(["lstm_gates", *keys])])
        frame = self.page.locator(FRAME)
        if self.page.url.startswith(f"{self.url}/#") and frame.evaluate(IS_OUT):
            frame.evaluate(PUT_IN, address)
        else:
            self.page.goto(address)
        return self

    def reload(self) -> "Tab":
        """Load the same URL once more, when it is written, as the browser's reload button does."""
        self.page.wait_for_timeout(URL_MS)
        self.page.reload()
        return self.wait()

    def wait(self) -> "Tab":
        """Wait until everything is drawn, or until the page says that there is nothing."""
        self.frame.locator(".heatmap canvas, [data-testid=no-data]").first.wait_for(timeout=WAIT_MS)
        # Those of the weights may come first, and what comes above them later moves them.
        loading = self.frame.locator(".loading", has_text="…")
        playwright = require_framework("playwright.sync_api")
        playwright.expect(loading).to_have_count(0, timeout=WAIT_MS)
        return self

    def get(self, test_id: str) -> "Locator":
        """The element with that `data-testid`."""
        return self.frame.get_by_test_id(test_id)

    def shows(self, test_id: str, text: str) -> None:
        """Wait until the element shows exactly this text."""
        playwright = require_framework("playwright.sync_api")
        playwright.expect(self.get(test_id)).to_have_text(text, timeout=WAIT_MS)

    def text(self, test_id: str) -> str:
        """What the element shows."""
        return self.get(test_id).inner_text(timeout=WAIT_MS)

    def press(self, key: str) -> None:
        """A key that the page hears wherever it is pressed; here, on the step slider."""
        self.get("slider").press(key)

    def hover_cell(self, map_id: str, row: int, column: int, shape: tuple[int, int]) -> None:
        """Put the pointer onto the middle of one entry of a heatmap of `shape`."""
        self.get(map_id).hover(position=self._middle(map_id, row, column, shape))

    def click_cell(self, map_id: str, row: int, column: int, shape: tuple[int, int]) -> None:
        """Click the middle of one entry of a heatmap of `shape`."""
        self.get(map_id).click(position=self._middle(map_id, row, column, shape))

    def tooltip(self, key: str) -> float:
        """The exact value that the tooltip shows for a gate or state."""
        return number(self.text(f"tooltip-{key}"))

    def selection(self) -> dict[str, str]:
        """The tab's keys of the page's own URL, still encoded, once it is written."""
        self.page.wait_for_timeout(URL_MS)
        pairs = (
            part.split("=") for part in self.page.url.partition("#")[2].split("&") if "=" in part
        )
        return {key.removeprefix("p.lstm_gates."): value for key, value in pairs}

    def _middle(self, map_id: str, row: int, column: int, shape: tuple[int, int]) -> Any:
        self.get(map_id).scroll_into_view_if_needed()
        box = self.get(map_id).bounding_box()
        assert box is not None
        x = box["width"] * (column + 0.5) / shape[1]
        return {"x": x, "y": box["height"] * (row + 0.5) / shape[0]}


def choose_theme(page: "Page", name: str) -> None:
    """Choose TensorBoard's theme in its menu: "Light" or "Dark"."""
    page.get_by_label("Menu for changing light or dark theme").click()
    page.get_by_role("menuitem", name=name, exact=True).click()


def take_tab_out(page: "Page") -> None:
    """Empty the tab's frame, so that `Tab.open` need not load all of TensorBoard once more."""
    frame = page.locator(FRAME)
    if "/#lstm_gates" in page.url and frame.count() == 1:
        frame.evaluate(TAKE_OUT)
    else:
        page.goto(EMPTY)


def number(text: str) -> float:
    """A number as the page writes it."""
    words = {"NaN": "nan", "+Inf": "inf", "−Inf": "-inf"}
    return float(words.get(text, text).replace("−", "-"))
