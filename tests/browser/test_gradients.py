"""The gradients panel in the real TensorBoard: the reach in words, exact norms, what is no size."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from helpers.layers import make_layer, make_trace
from helpers.required import require_framework
from helpers.tab import Tab
from lstm_gates_plugin import GateWriter, RecurrentLayer, cells
from lstm_gates_plugin.cells.through_time import backward
from lstm_gates_plugin.gate_trace import GateTrace

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from browser.conftest import PageLog

STEPS = (0, 10, 20)
TIMESTEPS = 20
LOSS_AT = 10
SHAPE = (1, TIMESTEPS)
GONE = {"status": 404, "content_type": "text/plain", "body": "Not found: gone."}


def relu_trace(weight: float) -> GateTrace:
    """A recurrence that leaves `weight` of the gradient at each timestep.

    Both samples have a loss at timestep 10 alone, the second one also at 3, which is not a number;
    the last two timesteps of sample 0 are masked.
    """
    one = np.ones((1, 1))
    layer = RecurrentLayer.from_arrays(
        "simple_rnn", one, weight * one, activation="relu", id="rnn_0"
    )
    x = np.ones((2, TIMESTEPS, 1))
    mask = np.ones((2, TIMESTEPS), bool)
    mask[0, -2:] = False
    seed = np.zeros_like(x)
    seed[:, LOSS_AT] = 1
    seed[1, 3] = np.nan
    trace = cells.forward(layer, x, mask)
    return replace(trace, gradients=backward(trace, x, seed))


def lstm_trace(step: int, loss: float = 1) -> GateTrace:
    """An LSTM with a loss at every timestep; with a `loss` of 0 there is none."""
    layer = make_layer(seed=step)
    x = np.random.default_rng(1).normal(size=(2, 5, layer.input_size))
    trace = make_trace(layer)
    seed = loss * np.random.default_rng(step).normal(size=trace.hidden_state.shape)
    return replace(trace, gradients=backward(trace, x, seed))


def frozen(trace: GateTrace) -> GateTrace:
    """The same of a layer whose weights are not trained."""
    layer = replace(trace.layer, options={**trace.layer.options, "frozen": True})
    return replace(trace, layer=layer)


def write(writer: GateWriter, step: int, *traces: GateTrace) -> None:
    writer.log_weights([trace.layer for trace in traces], step=step)
    writer.log_trace(traces, step=step)


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory, serve_logdir: Callable[..., str]) -> str:
    """A TensorBoard over runs whose error fades, with a frozen layer, and without gradients."""
    logdir = tmp_path_factory.mktemp("logs")
    with GateWriter(logdir / "fading") as writer:
        for step, weight in zip(STEPS, (0.1, 0.9, 0.5), strict=True):
            write(writer, step, relu_trace(weight), lstm_trace(step))
    with GateWriter(logdir / "frozen") as writer:
        write(writer, 0, frozen(relu_trace(0.5)), lstm_trace(0, loss=0))
    with GateWriter(logdir / "none") as writer:
        write(writer, 0, make_trace(make_layer()))
    return serve_logdir(logdir)


@pytest.fixture
def tab(page: "Page", url: str, page_log: "PageLog") -> Iterator[Tab]:
    """The tab; whatever a test does there, nothing fails and nothing foreign is asked for."""
    yield Tab(page, url)
    assert page_log.errors == []
    assert page_log.foreign_requests(url) == []


def open_run(tab: Tab, run: str = "fading", **selection: object) -> Tab:
    return tab.open(run=f"{run}/lstm_gates", **{"layer": "rnn_0", **selection})


def test_says_how_far_back_the_error_reaches(tab: Tab) -> None:
    open_run(tab)
    tab.shows("reach-sentence", "The error reaches about 6 timesteps back.")
    assert "7 timesteps back 0.8" in tab.text("gradients")
    tab.shows("threshold", "threshold 1 %")
    tab.press("ArrowLeft")
    tab.shows(
        "reach-sentence",
        "The error reaches as far back as the sequence goes (10 timesteps) and may go further.",
    )
    tab.press("Home")
    tab.shows("reach-sentence", "The error reaches about 2 timesteps back.")


def test_compares_the_reach_with_earlier_training_steps(tab: Tab) -> None:
    open_run(tab)
    tab.get("reach-chart").locator(".plot").hover(position={"x": 1, "y": 5})
    assert tab.text("tooltip-title") == "0 timesteps back"
    plot = tab.get("reach-chart").locator(".plot")
    box = plot.bounding_box()
    assert box is not None
    plot.hover(position={"x": 0.3 * box["width"], "y": 20})
    assert tab.text("tooltip-title") == "3 timesteps back"
    left = {step: tab.text(f"tooltip-{step}") for step in STEPS}
    assert left == {20: "12.5 %", 10: "72.9 %", 0: "0.1 %"}
    tab.get("line-name-10").click()
    tab.shows("step", "training step 10")
    assert tab.selection()["step"] == "10"
    assert tab.get("line-name-20").count() == 0


def test_reach_over_training_has_each_step_and_chooses_it(tab: Tab) -> None:
    open_run(tab)
    plot = tab.get("reach-trend").locator(".plot")
    box = plot.bounding_box()
    assert box is not None
    for share, reach in ((0, 2), (0.5, 10), (1, 6)):
        plot.hover(position={"x": 1 + share * (box["width"] - 2), "y": 20})
        assert tab.text("tooltip-title") == f"training step {20 * share:g}"
        assert f"reaches {reach} timesteps back" in tab.text("tooltip")
    plot.click(position={"x": 0.5 * box["width"], "y": 20})
    tab.shows("step", "training step 10")


def test_lines_of_the_states_have_the_logged_norms(tab: Tab) -> None:
    open_run(tab, layer="lstm_0")
    gradients = lstm_trace(20).gradients
    assert gradients is not None
    plot = tab.get("norm-chart").locator(".plot")
    plot.scroll_into_view_if_needed()
    box = plot.bounding_box()
    assert box is not None
    plot.hover(position={"x": 0.7 * box["width"], "y": 20})
    assert tab.text("tooltip-title") == "timestep 3"
    assert tab.tooltip("hidden_state") == _norm(gradients.hidden_state[0, 3])
    assert tab.tooltip("forget") == _norm(gradients.preactivations["forget"][0, 3])


def test_weights_without_a_gradient_say_why(
    page: "Page", page_log: "PageLog", tmp_path: Path, serve_logdir: Callable[..., str]
) -> None:
    torch = require_framework("torch")
    model = torch.nn.LSTM(3, 4, batch_first=True)
    model.weight_hh_l0.requires_grad_(False)
    with GateWriter(tmp_path / "run") as writer:
        model(torch.ones(2, 5, 3))[0].sum().backward()
        writer.log_weights(model, step=0)
        writer.log_gradients(model, step=0)
    tab = Tab(page, serve_logdir(tmp_path)).open()
    tab.shows("missing-gradients", "Frozen, and so without a gradient: recurrent kernel.")
    assert page_log.errors == []


def test_tooltip_has_the_logged_norm_of_each_gate(tab: Tab) -> None:
    open_run(tab, layer="lstm_0")
    gradients = lstm_trace(20).gradients
    assert gradients is not None
    assert gradients.cell_state is not None
    tab.hover_cell("gradient-map", row=2, column=3, shape=(4, 5))
    assert tab.text("tooltip-title") == "timestep 3"
    for gate, values in gradients.preactivations.items():
        assert tab.tooltip(gate) == _norm(values[0, 3])
    assert tab.tooltip("hidden_state") == _norm(gradients.hidden_state[0, 3])
    assert tab.tooltip("direct") == _norm(gradients.output[0, 3])
    assert tab.tooltip("cell_state") == _norm(gradients.cell_state[0, 3])
    assert _current(tab) == "candidate"


def test_another_sample_has_other_norms(tab: Tab) -> None:
    open_run(tab, layer="lstm_0")
    tab.get("gradient-sample").select_option("1")
    assert tab.selection()["sample"] == "1"
    tab.hover_cell("gradient-map", row=0, column=0, shape=(4, 5))
    gradients = lstm_trace(20).gradients
    assert gradients is not None
    assert tab.tooltip("output") == _norm(gradients.preactivations["output"][1, 0])


def test_zero_masked_and_not_finite_are_told_apart(tab: Tab) -> None:
    open_run(tab)
    colours = {
        "size": _colour(tab, LOSS_AT),
        "zero": _colour(tab, LOSS_AT + 1),
        "masked": _colour(tab, TIMESTEPS - 1),
    }
    tab.hover_cell("gradient-map", row=0, column=LOSS_AT + 1, shape=SHAPE)
    assert tab.tooltip("hidden") == 0
    tab.hover_cell("gradient-map", row=0, column=LOSS_AT, shape=SHAPE)
    assert tab.tooltip("hidden") == 1
    tab.hover_cell("gradient-map", row=0, column=TIMESTEPS - 1, shape=SHAPE)
    assert "masked" in tab.text("tooltip")
    tab.get("gradient-sample").select_option("1")
    tab.hover_cell("gradient-map", row=0, column=2, shape=SHAPE)
    assert tab.text("tooltip-hidden") == "NaN"
    colours["not finite"] = _colour(tab, 2)
    assert len(set(colours.values())) == len(colours)
    assert colours["masked"][3] == 0
    legend = tab.text("gradient-legend")
    for name in ("zero", "NaN or infinite", "masked"):
        assert name in legend


def test_frozen_and_nothing_that_arrives_have_sentences(tab: Tab) -> None:
    open_run(tab, "frozen")
    assert tab.text("frozen").startswith("This layer is frozen")
    tab.shows("reach-sentence", "The error reaches about 6 timesteps back.")
    tab.get("layers").get_by_title("lstm_0").click()
    tab.shows("reach-sentence", "No gradient arrives at this layer's outputs.")
    assert tab.get("frozen").count() == 0
    assert tab.get("reach-chart").count() == 0
    tab.hover_cell("gradient-map", row=1, column=1, shape=(4, 5))
    assert tab.tooltip("input") == 0


def test_timestep_is_pinned_in_all_pictures(tab: Tab) -> None:
    open_run(tab, layer="lstm_0")
    heatmap = tab.get("gradient-map")
    tab.click_cell("gradient-map", row=1, column=2, shape=(4, 5))
    assert tab.selection()["cell"] == "u0.2"
    assert tab.text("pinned").startswith("unit 0 · timestep 2")
    heatmap.press("Shift+ArrowRight")
    assert tab.selection()["cell"] == "u0.3"
    assert tab.text("pinned-norms").startswith("timestep 3")
    assert tab.get("map-forget").locator(".cross.column").count() == 1
    heatmap.press("Escape")
    assert "cell" not in tab.selection()


def test_part_of_the_weights_is_in_the_url(tab: Tab) -> None:
    open_run(tab, layer="lstm_0")
    tab.get("gradient-part-recurrent_kernel").click()
    assert tab.selection()["gradient"] == "recurrent_kernel"
    tab.reload()
    assert tab.get("gradient-part-recurrent_kernel").get_attribute("aria-pressed") == "true"
    plot = tab.get("gradient-trend").locator(".plot")
    box = plot.bounding_box()
    assert box is not None
    plot.hover(position={"x": box["width"] - 2, "y": 40})
    gradients = lstm_trace(20).gradients
    assert gradients is not None
    expected = float(np.linalg.norm(gradients.recurrent_kernel["forget"]))
    assert tab.tooltip("forget") == pytest.approx(expected, rel=1e-3)
    plot.click(position={"x": 2, "y": 40})
    tab.shows("step", "training step 0")


def test_run_without_gradients_says_how_to_get_them(tab: Tab) -> None:
    open_run(tab, "none", layer="lstm_0")
    text = tab.text("no-gradients")
    assert "No gradients were logged for this layer." in text
    assert "probe=lg.Probe(x, target=y))" in text
    assert "lg.Probe(x, target=y, loss=fn)" in text
    assert "writer.log_gradients(model, step=step)" in text
    assert tab.get("gradient-map").count() == 0


def test_a_failed_request_leaves_the_other_panels(page: "Page", url: str) -> None:
    page.route("**/lstm_gates/snapshots?*kind=gradients*", lambda route: route.fulfill(**GONE))
    tab = open_run(Tab(page, url))
    failure = tab.get("gradients").get_by_role("alert")
    failure.wait_for()
    assert "Not found: gone." in failure.inner_text()
    page.unroute("**/lstm_gates/snapshots?*kind=gradients*")
    failure.get_by_role("button").click()
    tab.shows("reach-sentence", "The error reaches about 6 timesteps back.")


def test_every_width_has_room(tab: Tab) -> None:
    open_run(tab, layer="lstm_0")
    tab.get("weights-fold").click()
    for width in (1920, 1280, 700):
        tab.page.set_viewport_size({"width": width, "height": 800})
        tab.page.wait_for_timeout(200)
        overflow = "main => main.scrollWidth - main.clientWidth"
        assert tab.frame.locator("main").evaluate(overflow) <= 0


def _norm(values: np.ndarray) -> float:
    """As the page reads a float32 that it writes with as few digits as possible."""
    single = np.float32(np.linalg.norm(values.astype(np.float64)))
    return float(np.format_float_positional(single, unique=True))


def _colour(tab: Tab, column: int) -> tuple[int, ...]:
    """The pixel in the middle of one column of the heatmap."""
    canvas = tab.get("gradient-map").locator("canvas")
    script = (
        "canvas => Array.from(canvas.getContext('2d').getImageData("
        f"Math.floor(canvas.width * {(column + 0.5) / TIMESTEPS}), 0, 1, 1).data)"
    )
    return tuple(canvas.evaluate(script))


def _current(tab: Tab) -> str:
    """The line of the tooltip that is marked as the one under the pointer."""
    return tab.get("tooltip").locator(".current dt").inner_text()
