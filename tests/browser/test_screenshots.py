"""Screenshots of every panel, in both themes and two widths: none of them is empty."""

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from helpers.layers import make_layer
from helpers.screenshots import keep_screenshot
from helpers.tab import Tab, choose_theme
from helpers.tracked import log_tracked
from lstm_gates_plugin import GateWriter, cells
from lstm_gates_plugin.cells.through_time import backward
from lstm_gates_plugin.gate_trace import GateTrace
from lstm_gates_plugin.writing.pictures import Tracks

if TYPE_CHECKING:
    from playwright.sync_api import Page

RUNS = ("adam", "sgd")
LAYERS = ("encoder/lstm_0", "encoder/lstm_1")
STEPS = (0, 20, 50, 100, 200, 400)
TEXT = "the cat that the dogs chased sat down"
UNITS, BATCH = 24, 2
PANELS = ("health", "activations", "gradients", "weights", "runs-panel")
TALL = 1700
EMPTY = ".loading, .empty, [role=alert]"
FLAT_CANVASES = """section => [...section.querySelectorAll("canvas")].filter((canvas) => {
    const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    return new Set(new Uint32Array(data.buffer)).size < 2;
}).map((canvas) => canvas.outerHTML)"""


def stack(run: str, step: int) -> tuple[list[GateTrace], Tracks]:
    """Two LSTMs, one upon the other, whose weights grow; with what each timestep costs."""
    rng = np.random.default_rng(0)
    letters = np.array([ord(letter) % 8 for letter in TEXT])
    x = np.stack([np.eye(8)[letters], np.eye(8)[letters[::-1]]])
    grown = 1 + (0.5 + RUNS.index(run)) * np.log1p(step) / 6
    traces, given = [], x
    for number, id in enumerate(LAYERS):
        layer = make_layer(
            inputs=given.shape[2], units=UNITS, seed=number, scale=0.6 * grown, id=id
        )
        trace = cells.forward(layer, given, np.ones(given.shape[:2], bool))
        arriving = rng.normal(size=trace.hidden_state.shape)
        traces.append(replace(trace, gradients=backward(trace, given, arriving)))
        given = trace.hidden_state
    tracks = Tracks(
        input=x,
        target=np.roll(np.stack([letters, letters[::-1]]), -1, axis=1),
        prediction=rng.integers(0, 8, (BATCH, len(TEXT))),
        loss=rng.exponential(2 / grown, (BATCH, len(TEXT))),
        time_labels=[list(TEXT), list(TEXT[::-1])],
        sample_names=["forwards", "backwards"],
    )
    return traces, tracks


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory, serve_logdir: Callable[..., str]) -> str:
    """A TensorBoard over two runs of a stack with tracks and gradients."""
    logdir = tmp_path_factory.mktemp("logs")
    for run in RUNS:
        with GateWriter(logdir / run) as writer:
            for step in STEPS:
                traces, tracks = stack(run, step)
                writer.log_weights([trace.layer for trace in traces], step=step)
                log_tracked(writer, traces, tracks, step=step)
    return serve_logdir(logdir)


@pytest.mark.parametrize("width", [1280, 1920])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_no_panel_is_empty(page: "Page", url: str, theme: str, width: int) -> None:
    # So high that every panel is drawn.
    page.set_viewport_size({"width": width, "height": TALL})
    tab = Tab(page, url).open(run="adam/lstm_gates", other="sgd/lstm_gates", cell="u7.12")
    choose_theme(page, theme.capitalize())
    tab.frame.locator(f"html[data-theme={theme}]").wait_for()
    tab.get("compared-1").locator("canvas").wait_for()
    tab.frame.locator(EMPTY).first.wait_for(state="detached")
    page.wait_for_timeout(300)
    panels = tab.frame.locator("section.panel")
    assert panels.evaluate_all("all => all.map((one) => one.dataset.testid)") == [*PANELS]
    for name in PANELS:
        panel = tab.get(name)
        assert panel.locator("canvas, svg, td").count() > 0
        assert panel.evaluate(FLAT_CANVASES) == []
        keep_screenshot(panel, f"{name}-{theme}-{width}")
    tab.frame.locator("main").evaluate("main => main.scrollTo(0, 0)")
    page.set_viewport_size({"width": width, "height": 800})
    page.wait_for_timeout(300)
    keep_screenshot(page, f"frame-of-800-{theme}-{width}")
    for name in ("summary", "health", "map-forget"):
        box = tab.get(name).bounding_box()
        assert box is not None
        assert 0 < box["y"] < 700
