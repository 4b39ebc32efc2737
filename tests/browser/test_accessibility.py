"""axe-core finds nothing to complain about, in either theme and in every state; keys reach all."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from helpers.layers import make_layer, make_trace
from helpers.tab import Tab, choose_theme, take_tab_out
from lstm_gates_plugin import GateWriter

if TYPE_CHECKING:
    from playwright.sync_api import Page

AXE = Path(__file__).parents[2] / "frontend" / "node_modules" / "axe-core" / "axe.min.js"
UNITS, TIMESTEPS = 4, 5


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory, serve_logdir: Callable[..., str]) -> str:
    """A TensorBoard over two layers at two training steps."""
    logdir = tmp_path_factory.mktemp("logs")
    with GateWriter(logdir / "run-1") as writer:
        for step in (0, 10):
            layers = [make_layer(units=UNITS, seed=step, id=name) for name in ("a", "b")]
            writer.log_weights(layers, step=step)
            traces = [make_trace(layer, timesteps=TIMESTEPS, seed=step) for layer in layers]
            writer.log_trace(traces, step=step)
    return serve_logdir(logdir)


@pytest.fixture(params=["Light", "Dark"])
def themed(page: "Page", url: str, request: pytest.FixtureRequest) -> Tab:
    """The tab in a TensorBoard with this theme, not opened yet."""
    Tab(page, url).open()
    choose_theme(page, request.param)
    take_tab_out(page)
    return Tab(page, url)


def test_axe_finds_no_violation(themed: Tab) -> None:
    tab = themed.open(layer="a")
    assert violations(tab) == []

    tab.click_cell("map-forget", row=1, column=2, shape=(UNITS, TIMESTEPS))
    for button in tab.frame.locator("button.help").all():
        button.click()
    assert violations(tab) == []


def test_axe_finds_no_violation_where_something_failed(themed: Tab) -> None:
    tab, page = themed, themed.page
    answers = re.compile(r"/data/plugin/lstm_gates/(snapshots?|health|statistics)\b")
    page.route(answers, lambda route: route.abort())
    tab.start()
    failures = tab.frame.get_by_role("alert")
    failures.nth(2).wait_for()
    for panel in ("health", "activations", "weights"):
        assert tab.get(panel).get_by_role("alert").count() > 0
    assert violations(tab) == []
    page.unroute(answers)
    for _ in range(10):
        if failures.count() == 0:
            break
        failures.first.get_by_role("button").click()
        page.wait_for_timeout(300)
    tab.wait()
    assert failures.count() == 0


def test_axe_finds_no_violation_where_nothing_was_logged(
    page: "Page", tmp_path: Path, serve_logdir: Callable[..., str]
) -> None:
    tab = Tab(page, serve_logdir(tmp_path)).open()
    assert violations(tab) == []


def test_tab_key_goes_through_everything_and_shows_where(page: "Page", url: str) -> None:
    page.goto(f"{url}/data/plugin_entry.html?name=lstm_gates")
    page.locator(".heatmap canvas").first.wait_for()
    reachable = page.evaluate(
        """() => [...document.querySelectorAll("button, select, input, [tabindex='0'], summary")]
            .filter((element) => element.checkVisibility() && !element.disabled
                && element.tabIndex >= 0).length"""
    )
    reached = 0
    for _ in range(reachable + 5):
        page.keyboard.press("Tab")
        focused: dict[str, Any] = page.evaluate(
            """() => {
                const element = document.activeElement;
                const style = getComputedStyle(element);
                const seen = element.dataset.seen;
                element.dataset.seen = "yes";
                return { body: element === document.body, seen, outline: style.outlineStyle,
                    name: element.outerHTML.slice(0, 120) };
            }"""
        )
        if focused["body"] or focused["seen"]:
            break
        assert focused["outline"] != "none", focused["name"]
        reached += 1
    assert reached >= reachable


def test_no_axis_says_a_bare_step(page: "Page", url: str) -> None:
    tab = Tab(page, url).open(layer="a")
    names = tab.frame.locator("[aria-label], .axis-name, .u-axis").evaluate_all(
        "all => all.map((element) => element.getAttribute('aria-label') ?? element.textContent)"
    )
    bare = [name for name in names if re.search(r"(?<![Tt]raining )(?<!time)\bsteps?\b", name)]
    assert bare == []


def violations(tab: Tab) -> list[str]:
    """What axe-core says of the plugin's own frame: each rule with the elements that break it."""
    frame = next(
        frame
        for frame in tab.page.frames
        if "lstm_gates" in frame.name + frame.url and frame != tab.page.main_frame
    )
    frame.evaluate(AXE.read_text(encoding="utf-8"))
    found = frame.evaluate("() => axe.run(document, { resultTypes: ['violations'] })")
    return [
        f"{rule['id']}: {node['html'][:160]} {node['failureSummary'][:200]}"
        for rule in found["violations"]
        for node in rule["nodes"]
    ]
