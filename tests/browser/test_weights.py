"""The numbers of the weights in the real TensorBoard: distributions and trends as logged."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from helpers.layers import make_layer
from helpers.tab import Tab, number
from lstm_gates_plugin import GateWriter
from lstm_gates_plugin.layer import RecurrentLayer

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from browser.conftest import PageLog

RUN = "run/lstm_gates"
STEPS = (0, 10, 20, 30)
UNITS, INPUTS = 8, 6
FAR = 41.0


def layer_at(step: int) -> RecurrentLayer:
    """Forget biases of 1, a kernel of zeros and ones, and an outlier and a NaN at step 20."""
    layer = make_layer(units=UNITS, inputs=INPUTS, seed=step)
    kernel = dict(layer.kernel)
    kernel["input"] = np.zeros((INPUTS, UNITS), "float32")
    kernel["input"].flat[:12] = 1.0
    recurrent = {gate: np.array(value) for gate, value in layer.recurrent_kernel.items()}
    if step == 20:
        recurrent["forget"][0, 0] = FAR
        recurrent["output"][0, 0] = np.nan
    assert layer.bias is not None
    bias = {**layer.bias, "forget": np.ones(UNITS, "float32")}
    return replace(layer, kernel=kernel, recurrent_kernel=recurrent, bias=bias)


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory, serve_logdir: Callable[..., str]) -> str:
    """A TensorBoard over a run with the weights of four steps."""
    logdir = tmp_path_factory.mktemp("logs")
    with GateWriter(logdir / "run") as writer:
        for step in STEPS:
            writer.log_weights([layer_at(step)], step=step)
    return serve_logdir(logdir)


@pytest.fixture
def tab(page: "Page", url: str, page_log: "PageLog") -> Iterator[Tab]:
    """The tab; whatever a test does there, nothing fails."""
    yield Tab(page, url)
    assert page_log.errors == []


def hover(tab: Tab, test_id: str, x: float, y: float) -> str:
    """What the tooltip says at a place of a picture, as shares of its width and height."""
    picture = tab.get(test_id)
    picture.scroll_into_view_if_needed()
    box = picture.bounding_box()
    assert box is not None
    picture.hover(position={"x": x * box["width"], "y": y * box["height"]})
    return tab.text("tooltip")


def cells(tab: Tab, step: int) -> list[float]:
    """A line of the table of numbers."""
    tab.get("distribution").locator("summary").click()
    row = tab.get("distribution").locator("tbody tr").nth(STEPS.index(step))
    return [number(text) for text in row.locator("td").all_inner_texts()]


def test_the_table_has_the_numbers_of_the_chosen_gate(tab: Tab) -> None:
    tab.open(run=RUN, gate="candidate")
    chosen = tab.get("distribution-row").locator("option:checked").inner_text()
    assert chosen == "candidate, weights from the previous hidden state"
    values = layer_at(10).recurrent_kernel["candidate"].astype(float).ravel()
    percentiles = np.percentile(values, [0, 1, 25, 50, 75, 99, 100])
    expected = [*percentiles, values.mean(), values.std(), 0, 0]
    np.testing.assert_allclose(cells(tab, 10), expected, rtol=1e-5, atol=1e-7)


def test_zeros_and_ones_are_two_bars_and_a_constant_is_a_spike(tab: Tab) -> None:
    tab.open(run=RUN, row="kernel/input")
    ridges = tab.get("distribution").locator("path.ridge")
    assert ridges.count() == len(STEPS)
    left = hover(tab, "ridges", 0.06, 0.85)
    assert f"{INPUTS * UNITS - 12} of {INPUTS * UNITS} (75 %)" in left
    tab.get("distribution-row").select_option("bias/forget")
    assert f"all {UNITS} are 1" in hover(tab, "ridges", 0.4, 0.85)
    tab.shows("distribution-shape", "At training step 30: a single spike at 1, as at the start.")
    tab.press("Home")
    tab.shows("distribution-shape", "At training step 0: a single spike at 1.")


def test_an_outlier_is_stated_and_leaves_the_others_readable(tab: Tab) -> None:
    tab.open(run=RUN, row="recurrent_kernel/forget")
    sentence = tab.text("distribution-outliers")
    assert sentence == (
        f"At training step 20 some entries lie beyond the axis: at least 1 of {UNITS * UNITS} "
        "at training step 20, the furthest at 41."
    )
    label = tab.get("ridges").locator("svg").get_attribute("aria-label") or ""
    low, high = (number(text) for text in label.rpartition("from ")[2].split(" to "))
    usual = [layer_at(step).recurrent_kernel["forget"] for step in (0, 10, 30)]
    assert low <= min(map(np.min, usual))
    assert np.max(usual) <= high < 2 * np.abs(usual).max()
    tab.get("distribution-row").select_option("recurrent_kernel/output")
    tab.shows(
        "distribution-outliers",
        f"At training step 20 entries are NaN or infinite: 1 of {UNITS * UNITS} at training "
        "step 20.",
    )


def test_a_range_of_steps_and_the_kind_are_kept_in_the_link(tab: Tab) -> None:
    tab.open(run=RUN)
    tab.get("span-from").fill("10")
    tab.get("span-from").press("Enter")
    ridges = tab.get("distribution").locator("path.ridge")
    ridges.nth(2).wait_for()
    assert ridges.count() == 3
    tab.get("distribution-kind-bands").click()
    tab.get("band-chart").wait_for()
    assert tab.selection() | {"steps": "10-30", "distribution": "bands"} == tab.selection()
    tab.reload()
    tab.get("band-chart").wait_for()
    tip = hover(tab, "band-chart", 0.15, 0.5)
    assert "training step 10" in tip
    median = float(np.percentile(layer_at(10).recurrent_kernel["forget"], 50))
    (line,) = (line for line in tip.splitlines() if line.startswith("50 %"))
    assert number(line.partition(": ")[2]) == pytest.approx(median, rel=1e-3)


def test_a_trend_of_any_statistic_per_gate(tab: Tab) -> None:
    tab.open(run=RUN, row="recurrent_kernel/input")
    tab.get("statistic").select_option("norm")
    tip = hover(tab, "weight-trend", 0.4, 0.5)
    assert "training step 10" in tip
    for gate in ("forget", "input", "candidate", "output"):
        norm = float(np.linalg.norm(layer_at(10).recurrent_kernel[gate]))
        assert tab.tooltip(gate) == pytest.approx(norm, rel=1e-3)
    tab.get("trend-axis-log").click()
    assert tab.selection() | {"statistic": "norm", "trend_axis": "log"} == tab.selection()
    options = tab.get("statistic").locator("option").all_inner_texts()
    assert "spectral norm" in options
    tab.get("distribution-row").select_option("bias/forget")
    assert "spectral norm" not in tab.get("statistic").locator("option").all_inner_texts()
    tab.get("statistic").select_option("mean")
    hover(tab, "weight-trend", 0.4, 0.5)
    assert tab.tooltip("forget") == 1


def test_trends_keep_to_the_range_of_steps_and_have_a_table(tab: Tab) -> None:
    tab.open(run=RUN, row="recurrent_kernel/input", statistic="norm", steps="10-30")
    assert "training step 10" in hover(tab, "weight-trend", 0.16, 0.5)
    assert "training step 30" in hover(tab, "weight-trend", 0.78, 0.5)
    table = tab.get("weight-trend-table")
    table.locator("summary").click()
    gates = table.locator("thead th").all_inner_texts()[1:]
    assert sorted(gates) == ["candidate", "forget", "input", "output"]
    lines = [line.split() for line in table.locator("tbody tr").all_inner_texts()]
    assert [int(line[0]) for line in lines] == [10, 20, 30]
    for step, *shown in lines:
        weights = layer_at(int(step)).recurrent_kernel
        norms = [float(np.linalg.norm(np.nan_to_num(weights[gate]))) for gate in gates]
        np.testing.assert_allclose([number(text) for text in shown], norms, rtol=1e-3)
    tab.get("span-to").fill("15")
    tab.get("span-to").press("Enter")
    table.locator("tbody tr").nth(1).wait_for(state="detached")
    assert table.locator("tbody tr").count() == 1


def test_a_click_chooses_the_step(tab: Tab) -> None:
    tab.open(run=RUN)
    hover(tab, "weight-trend", 0.4, 0.5)
    tab.page.mouse.down()
    tab.page.mouse.up()
    tab.shows("step", "training step 10")
    assert tab.selection()["step"] == "10"
    assert tab.get("distribution").locator("text.ridge-name.chosen").text_content() == "10"
