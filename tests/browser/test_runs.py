"""The runs panel in the real TensorBoard: the table of all runs, and two runs side by side."""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import numpy as np
import pytest

from helpers.layers import make_layer, make_trace
from helpers.tab import Tab
from lstm_gates_plugin import GateWriter
from lstm_gates_plugin.gate_trace import GateTrace
from lstm_gates_plugin.measure.units import survival

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from browser.conftest import PageLog

NAMES = ("adam", "sgd", "other-layers")
STEPS = (0, 10)
UNITS, TIMESTEPS = 4, 8


def trace_of(name: str, step: int) -> GateTrace:
    """A layer whose scale, and with it its memory, depends on the run."""
    number = NAMES.index(name)
    id = "lstm_0" if number < 2 else "gru_0"
    layer = make_layer("lstm", units=UNITS, seed=step, scale=1 + number, id=id)
    return make_trace(layer, timesteps=TIMESTEPS)


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory, serve_logdir: Callable[..., str]) -> str:
    """A TensorBoard over three runs, of which the second went on longer."""
    logdir = tmp_path_factory.mktemp("logs")
    for name in NAMES:
        with GateWriter(logdir / name) as writer:
            for step in STEPS + ((20,) if name == "sgd" else ()):
                writer.log_weights([trace_of(name, step).layer], step=step)
                writer.log_trace([trace_of(name, step)], step=step)
    return serve_logdir(logdir)


@pytest.fixture
def tab(page: "Page", url: str, page_log: "PageLog") -> Iterator[Tab]:
    """The tab on the first run; whatever a test does there, nothing fails."""
    yield Tab(page, url).open(run="adam/lstm_gates")
    assert page_log.errors == []


def lines(tab: Tab) -> list[list[str]]:
    """The cells of the table, once all numbers are there."""
    body = tab.get("runs-table").locator("tbody")
    body.scroll_into_view_if_needed()
    body.get_by_text("…").first.wait_for(state="detached")
    rows = body.locator("tr").all()
    return [row.locator("th, td").all_inner_texts() for row in rows]


def median_memory(name: str, step: int) -> float:
    trace = trace_of(name, step)
    found = survival(trace.gates["forget"], trace.mask, backward=False)
    return float(np.median(found.timesteps))


def test_the_table_has_the_newest_numbers_of_every_run(tab: Tab) -> None:
    shown = {line[0]: line for line in lines(tab)}
    assert set(shown) == set(NAMES)
    for name in NAMES:
        last = 20 if name == "sgd" else 10
        memory, reach, change, loss, layers, step = shown[name][2:8]
        assert float(memory.removeprefix("≥ ")) == pytest.approx(
            median_memory(name, last), rel=1e-2
        )
        assert (reach, loss, layers, step) == ("–", "–", "1", str(last))
        first, now = (trace_of(name, at).layer for at in (0, last))
        changes = []
        for part in ("kernel", "recurrent_kernel"):
            for gate in first.gates:
                before, after = (getattr(layer, part)[gate] for layer in (first, now))
                norms = np.linalg.norm(before), np.linalg.norm(after)
                changes.append(np.linalg.norm(after - before) / max(norms))
        assert float(change.removesuffix(" %")) == pytest.approx(100 * max(changes), abs=0.6)


def test_a_heading_sorts_and_a_name_chooses_the_run(tab: Tab) -> None:
    lines(tab)
    tab.get("sort-step").click()
    assert lines(tab)[0][0] == "sgd"
    heading = tab.get("runs-table").locator("th", has=tab.get("sort-step"))
    assert heading.get_attribute("aria-sort") == "descending"
    tab.get("sort-step").focus()
    tab.page.keyboard.press("Enter")
    assert lines(tab)[-1][0] == "sgd"
    assert tab.selection()["runs"] == "step"
    tab.get("runs-table").get_by_role("button", name="other-layers").click()
    tab.get("summary").get_by_text("other-layers").wait_for()
    assert tab.selection()["run"] == "other-layers%2Flstm_gates"


def test_two_runs_stand_side_by_side_on_one_scale(tab: Tab) -> None:
    tab.get("compare").select_option(label="sgd")
    tab.get("compared-1").locator("canvas").wait_for()
    captions = tab.get("comparison").locator("figcaption").all_inner_texts()
    assert "adam" in captions[0]
    assert "training step 10" in captions[0]
    # The picture at the chosen training step, or the last one before it.
    assert "training step 10" in captions[1]
    labels = [
        tab.get(f"compared-{k}").locator("canvas").get_attribute("aria-label") for k in (0, 1)
    ]
    for name, label in zip(("adam", "sgd"), labels, strict=True):
        gate = trace_of(name, 10).gates["forget"][0].astype(np.float16)
        low, high = label.rpartition("from ")[2].split(" to ")
        assert float(low) == pytest.approx(gate.min(), rel=2e-3, abs=1e-6)
        assert float(high) == pytest.approx(gate.max(), rel=2e-3)
    tab.reload()
    tab.get("compared-1").locator("canvas").wait_for()


def test_a_measure_of_both_runs_over_training(tab: Tab) -> None:
    tab.get("compare").select_option(label="sgd")
    tab.get("measure").select_option("memory")
    chart = tab.get("compared-trend")
    chart.scroll_into_view_if_needed()
    box = chart.bounding_box()
    assert box is not None
    chart.hover(position={"x": 56 + (box["width"] - 206) / 2, "y": 60})
    assert "training step 10" in tab.text("tooltip")
    for key, name in (("run-0", "adam"), ("run-1", "sgd")):
        assert tab.tooltip(key) == pytest.approx(median_memory(name, 10), rel=1e-3)


def test_a_run_without_the_layer_is_said_to_have_none(tab: Tab) -> None:
    tab.get("compare").select_option(label="other-layers")
    sentence = "The run “other-layers” has no activations of a layer lstm_0"
    tab.get("comparison").get_by_text(sentence).wait_for()
