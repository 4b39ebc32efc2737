"""The health of all layers in the real TensorBoard: logged numbers, the menu, clicks and keys."""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import pytest

import lstm_gates_plugin as lg
from helpers.layers import make_layer, make_trace
from helpers.required import require_framework
from helpers.tab import WAIT_MS, Tab
from lstm_gates_plugin import GateWriter
from lstm_gates_plugin.gate_trace import GateTrace

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Locator, Page

    from browser.conftest import PageLog

LSTM, GRU = "encoder/lstm_0", "gru_0"
STEPS = (0, 10, 20)


def traces_at(step: int) -> list[GateTrace]:
    """What is logged at a step: an LSTM and a GRU, with larger weights at later steps."""
    scale = 1 + step / 10
    layers = [
        make_layer(units=6, scale=scale, id=LSTM),
        make_layer("gru", units=5, scale=scale, id=GRU),
    ]
    return [make_trace(layer, timesteps=9) for layer in layers]


@pytest.fixture(scope="module")
def logdir(tmp_path_factory: pytest.TempPathFactory) -> "Path":
    """One run of two layers with numbers at three steps."""
    logdir = tmp_path_factory.mktemp("logs")
    with GateWriter(logdir / "run") as writer:
        for step in STEPS:
            traces = traces_at(step)
            writer.log_weights([trace.layer for trace in traces], step=step)
            writer.log_trace(traces, step=step)
    return logdir


@pytest.fixture(scope="module")
def url(logdir: "Path", serve_logdir: Callable[..., str]) -> str:
    """A TensorBoard over that run."""
    return serve_logdir(logdir)


@pytest.fixture
def tab(page: "Page", url: str, page_log: "PageLog") -> Iterator[Tab]:
    """The tab; whatever a test does there, nothing fails and nothing foreign is asked for."""
    yield Tab(page, url)
    assert page_log.errors == []
    assert page_log.foreign_requests(url) == []


def test_tiles_have_the_logged_numbers_of_the_chosen_step(tab: Tab, logdir: "Path") -> None:
    tab.open(layer=LSTM)
    logged = lg.read(logdir)["run"][LSTM]
    for position, key in ((2, "End"), (0, "Home")):
        tab.press(key)
        for gate in ("input", "forget", "candidate", "output"):
            share = logged.series(f"activation/{gate}", "nearly_open").values[position]
            _shows(_tile(tab, LSTM, gate).locator("b"), _percent(share))


def test_menu_changes_the_number_and_the_url(tab: Tab, logdir: "Path") -> None:
    tab.open(layer=LSTM)
    logged = lg.read(logdir)["run"][LSTM]
    for number, rows, column in (
        ("nearly_closed", ("activation/forget",), "nearly_closed"),
        ("change", ("kernel/forget", "recurrent_kernel/forget"), "change_since_start"),
    ):
        tab.get("health-number").select_option(number)
        value = max(logged.series(row, column).values[-1] for row in rows)
        _shows(_tile(tab, LSTM, "forget").locator("b"), _percent(value))
        assert tab.selection()["health"] == number
    _tile(tab, LSTM, "forget").hover()
    assert "its kernel or its recurrent kernel has changed by" in tab.text("tooltip")
    tab.get("health-number").select_option("memory")
    remembered = logged.series("activation/forget", "memory").values[-1]
    assert f"{remembered:g} timestep" in _tile(tab, LSTM, "memory").locator("b").inner_text()
    tab.get("health-number").select_option("gradient")
    assert "No gradients were logged in this run." in tab.text("health")
    tab.reload()
    assert tab.get("health-number").input_value() == "gradient"


def test_hover_says_it_in_words(tab: Tab) -> None:
    tab.open(layer=LSTM, step=10)
    _tile(tab, LSTM, "forget").hover()
    tip = tab.text("tooltip")
    assert f"{LSTM} · forget gate" in tip
    assert "% of its values are nearly open (above 0.9)" in tip
    assert "training step 10" in tip


def test_click_selects_layer_and_gate_and_again_all_gates(tab: Tab) -> None:
    tab.open(layer=LSTM)
    _tile(tab, GRU, "update").click()
    tab.get("map-update").wait_for()
    assert tab.get("map-reset").count() == 0
    assert tab.selection()["layer"] == GRU
    assert tab.selection()["gate"] == "update"
    _tile(tab, GRU, "update").click()
    tab.get("map-reset").wait_for()
    assert "gate" not in tab.selection()


def test_arrow_keys_move_between_tiles_and_enter_selects(tab: Tab) -> None:
    tab.open(layer=LSTM)
    row(tab, LSTM).locator(".layer-name").focus()
    keyboard = tab.page.keyboard
    keyboard.press("ArrowRight")
    keyboard.press("ArrowRight")
    assert "training step 20" in tab.text("tooltip")
    keyboard.press("ArrowDown")
    keyboard.press("Enter")
    tab.get("map-update").wait_for()
    assert tab.selection()["gate"] == "update"
    tab.shows("step", "training step 20")


def test_a_failed_request_leaves_the_other_panels(page: "Page", url: str) -> None:
    tab = Tab(page, url)
    page.route("**/data/plugin/lstm_gates/health?*", lambda route: route.abort())
    tab.open(layer=LSTM)
    failure = tab.get("health").get_by_role("alert")
    failure.wait_for()
    page.unroute("**/data/plugin/lstm_gates/health?*")
    failure.get_by_role("button").click()
    _tile(tab, LSTM, "forget").wait_for()


def test_first_five_seconds_are_above_800_pixels(tab: Tab) -> None:
    for width in (1280, 1920):
        tab.page.set_viewport_size({"width": width, "height": 800})
        tab.open(layer=LSTM)
        _tile(tab, LSTM, "forget").wait_for()
        box = tab.get("map-forget").bounding_box()
        assert box is not None
        assert box["y"] + box["height"] < 800


def row(tab: Tab, layer: str) -> "Locator":
    """The row of one layer."""
    name = tab.frame.locator(f".layer-name[title='{layer}']")
    return tab.get("health-row").filter(has=name)


def _tile(tab: Tab, layer: str, name: str) -> "Locator":
    return row(tab, layer).get_by_test_id(f"tile-{name}")


def _percent(share: float) -> str:
    """A share as the page writes it."""
    if 0 < share < 0.001:
        return "< 0.1 %"
    return f"{round(100 * share, 1 if share < 0.1 else 0):g} %"


def _shows(locator: "Locator", text: str) -> None:
    expect = require_framework("playwright.sync_api").expect
    expect(locator).to_have_text(text, timeout=WAIT_MS)
