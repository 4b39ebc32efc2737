"""The tab where there is nothing, where something fails, and while training goes on."""

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from helpers.layers import make_layer, make_trace
from helpers.served import Routes
from helpers.tab import Tab
from lstm_gates_plugin import GateWriter
from lstm_gates_plugin.cells.through_time import backward
from lstm_gates_plugin.gate_trace import GateTrace

if TYPE_CHECKING:
    from playwright.sync_api import Page, Route

    from browser.conftest import PageLog

UNITS, TIMESTEPS = 4, 5
PANELS = ("health", "activations", "gradients", "weights", "runs-panel")
RELOAD = ".reload-button"
GONE = {"status": 404, "content_type": "text/plain", "body": "Not found: gone."}


def log(writer: GateWriter, *steps: int) -> None:
    """Log one LSTM's weights and activations at these steps."""
    for step in steps:
        layer = make_layer(units=UNITS, seed=step)
        writer.log_weights([layer], step=step)
        writer.log_trace(make_trace(layer, timesteps=TIMESTEPS, seed=step), step=step)


def with_gradients(step: int) -> GateTrace:
    """What `log` logs at a step, with the gradients of a loss of all that comes out."""
    layer = make_layer(units=UNITS, seed=step)
    trace = make_trace(layer, timesteps=TIMESTEPS, seed=step)
    inputs = np.random.default_rng(step).normal(size=(2, TIMESTEPS, layer.input_size))
    return replace(trace, gradients=backward(trace, inputs, np.ones_like(trace.hidden_state)))


def forget(step: int) -> np.float16:
    """The first value of the forget gate that `log` logs at a step."""
    trace = make_trace(make_layer(units=UNITS, seed=step), timesteps=TIMESTEPS, seed=step)
    return np.float16(trace.gates["forget"][0, 0, 0])


def test_empty_logdir_has_the_lines_to_copy(
    page: "Page", page_log: "PageLog", tmp_path: Path, serve_logdir: Callable[..., str]
) -> None:
    url = serve_logdir(tmp_path, "--reload_interval=1")
    tab = Tab(page, url).open()
    text = tab.text("no-data")
    assert "in a clone of the project" in text
    assert "pip install ." in text.splitlines()
    assert "import lstm_gates_plugin as lg" in text
    assert 'callbacks=[lg.KerasCallback("logs/run-1", probe=x_val[:4])]' in text
    assert "same Python environment" in text

    with GateWriter(tmp_path / "run-1") as writer:
        log(writer, 0)
    retry_until_drawn(tab)
    tab.shows("step", "training step 0")
    assert page_log.errors == []
    assert page_log.foreign_requests(url) == []


def test_reload_follows_training_only_at_the_last_step(
    page: "Page", page_log: "PageLog", tmp_path: Path, serve_logdir: Callable[..., str]
) -> None:
    with GateWriter(tmp_path / "run-1") as writer:
        log(writer, 0, 10)
        tab = Tab(page, serve_logdir(tmp_path, "--reload_interval=1")).open()
        tab.shows("step", "training step 10")
        log(writer, 100)
        reload_until(tab, "training step 100")
        tab.hover_cell("map-forget", row=0, column=0, shape=(UNITS, TIMESTEPS))
        assert np.float16(tab.tooltip("forget")) == forget(100)

        tab.press("Home")
        tab.shows("step", "training step 0")
        log(writer, 1000)
        reload_until(tab, "up to training step 1,000")
        tab.shows("step", "training step 0")
    assert page_log.errors == []


def test_a_failed_request_says_why_and_can_be_tried_again(
    page: "Page", tmp_path: Path, serve_logdir: Callable[..., str]
) -> None:
    with GateWriter(tmp_path / "run-1") as writer:
        log(writer, 0)
    tab = Tab(page, serve_logdir(tmp_path))
    answers = re.compile(r"/data/plugin/lstm_gates/snapshot\?")
    page.route(answers, lambda route: route.abort())
    tab.start()
    failures = tab.frame.get_by_role("alert")
    failures.nth(1).wait_for()
    assert failures.all_inner_texts() == [
        "TensorBoard does not answer. Is it still running?\n\nTry again"
    ] * len(("activations", "weights"))

    page.unroute(answers)
    page.route(answers, lambda route: route.fulfill(**GONE))
    failures.first.get_by_role("button").click()
    tab.frame.get_by_text("Not found: gone.").wait_for()

    page.unroute(answers)
    for _ in range(2):
        failures.first.get_by_role("button").click()
        page.wait_for_timeout(500)
    tab.wait()
    assert failures.count() == 0


def test_every_panel_says_that_it_loads_and_that_it_failed_and_asks_again(
    page: "Page", tmp_path: Path, serve_logdir: Callable[..., str]
) -> None:
    for run in ("run-1", "run-2"):
        with GateWriter(tmp_path / run) as writer:
            log(writer, 0)
            writer.log_trace(with_gradients(10), step=10)
    url = serve_logdir(tmp_path)
    Routes(url).wait_for({"run-1": 10, "run-2": 10})
    answers = re.compile(r"/data/plugin/lstm_gates/(?!runs|index)")
    held: list[Route] = []
    failing = False
    page.route(answers, lambda route: route.abort() if failing else held.append(route))
    tab = Tab(page, url)
    tab.start(run="run-2/lstm_gates", other="run-1/lstm_gates")
    for panel in PANELS:
        tab.get(panel).get_by_role("status").get_by_text("Loading…").first.wait_for()

    failing = True
    for route in held:
        route.abort()
    for panel in PANELS:
        alert = tab.get(panel).get_by_role("alert").first
        alert.get_by_text("TensorBoard does not answer.").wait_for()

    page.unroute(answers)
    alerts = tab.frame.get_by_role("alert")
    for _ in range(30):
        if alerts.count():
            alerts.first.get_by_role("button", name="Try again").click()
        elif tab.frame.get_by_text("Loading…").count() == 0:
            break
        page.wait_for_timeout(300)
    assert alerts.count() == 0
    tab.wait()
    tab.get("runs-table").get_by_text("…").first.wait_for(state="detached")
    tab.get("compared-1").locator("canvas").wait_for()
    tab.get("reach-sentence").wait_for()


def test_n1_path_prefix(
    page: "Page", page_log: "PageLog", tmp_path: Path, serve_logdir: Callable[..., str]
) -> None:
    with GateWriter(tmp_path / "run-1") as writer:
        log(writer, 0)
    tab = Tab(page, serve_logdir(tmp_path, "--path_prefix=/a/b")).open()
    tab.hover_cell("map-forget", row=0, column=0, shape=(UNITS, TIMESTEPS))
    assert np.float16(tab.tooltip("forget")) == forget(0)
    ours = [url for url in page_log.requests if "lstm_gates" in url]
    assert ours
    assert all("/a/b/data/plugin" in url for url in ours if "#" not in url)
    assert [error for error in page_log.errors if "font" not in error] == []


def test_says_how_many_steps_of_how_many_are_shown(
    page: "Page", tmp_path: Path, serve_logdir: Callable[..., str]
) -> None:
    with GateWriter(tmp_path / "run-1") as writer:
        log(writer, *range(60))
    url = serve_logdir(tmp_path, "--samples_per_plugin=lstm_gates=20")
    routes = Routes(url)
    routes.wait_for({"run-1": 59})
    asked = {"run": "run-1/lstm_gates", "layer": "lstm_0", "kind": "activations", "call": 0}
    pictures = len(routes.json("snapshots", **asked)["snapshots"])
    numbers = len(routes.series(**asked)[1]["steps"])
    assert 2 < pictures < 60
    assert 2 < numbers < 60
    tab = Tab(page, url).open()
    facts = ["training step 59", f"pictures at {pictures} steps", f"numbers at {numbers} of 60"]
    tab.shows("step-facts", "".join(facts))


def test_every_width_has_room(
    page: "Page", page_log: "PageLog", tmp_path: Path, serve_logdir: Callable[..., str]
) -> None:
    with GateWriter(tmp_path / "run-1") as writer:
        log(writer, 0)
    tab = Tab(page, serve_logdir(tmp_path)).open()
    tab.get("weights-fold").click()
    assert tab.get("weights").locator("canvas").count() == 0
    for width in (1920, 1280, 700):
        page.set_viewport_size({"width": width, "height": 800})
        page.wait_for_timeout(200)
        overflow = "main => main.scrollWidth - main.clientWidth"
        assert tab.frame.locator("main").evaluate(overflow) <= 0
    assert page_log.errors == []


def reload_until(tab: Tab, text: str) -> None:
    """Press TensorBoard's own reload button until the tab shows a text."""
    for _ in range(30):
        tab.page.locator(RELOAD).click()
        tab.page.wait_for_timeout(500)
        if tab.frame.get_by_text(text).count():
            return
    pytest.fail(f"The tab did not show {text!r} after 30 reloads.")


def retry_until_drawn(tab: Tab) -> None:
    """Press "Look again" until pictures are drawn."""
    for _ in range(30):
        if tab.frame.locator(".heatmap canvas").count():
            return
        if tab.get("no-data").count():
            tab.get("no-data").get_by_role("button").click()
        tab.page.wait_for_timeout(500)
    pytest.fail("The tab drew nothing after 30 tries.")


def test_panels_say_what_was_not_logged(
    page: "Page", page_log: "PageLog", tmp_path: Path, serve_logdir: Callable[..., str]
) -> None:
    layer = make_layer(units=UNITS)
    with GateWriter(tmp_path / "only-weights") as writer:
        writer.log_weights([layer], step=0)
    with GateWriter(tmp_path / "only-activations") as writer:
        writer.log_trace(make_trace(layer, timesteps=TIMESTEPS), step=0)
    tab = Tab(page, serve_logdir(tmp_path)).open(run="only-weights/lstm_gates")
    tab.get("weight-kernel/forget").wait_for()
    assert "No activations were logged for this layer." in tab.text("activations")
    assert "No activations were logged in this run." in tab.text("health")
    assert "probe=x_val[:4]" in tab.text("health")
    tab.open(run="only-activations/lstm_gates", health="change")
    tab.get("map-forget").wait_for()
    assert "No weights were logged for this layer." in tab.text("weights")
    assert "No change of weights was logged in this run." in tab.text("health")
    assert page_log.errors == []
