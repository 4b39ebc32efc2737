"""What looks wrong, in the four places of the tab: verdict, marks, tiles and list, and the runs."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from helpers.layers import make_layer, make_trace
from helpers.tab import Tab
from lstm_gates_plugin import GateWriter
from lstm_gates_plugin.layer import RecurrentLayer

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from browser.conftest import PageLog

RUN = "stuck/lstm_gates"
STEPS = (0, 10, 20, 30)
SENTENCE = "2 of 3 layers look fine; stuck_0 has not changed since training step 0."


def moving(step: int, seed: int, id: str) -> RecurrentLayer:
    """A layer of which everything changes a little."""
    factor = 1 + step / 200
    layer = make_layer(seed=seed, scale=0.1, id=id)
    assert layer.bias is not None
    return replace(
        layer,
        kernel={gate: factor * each for gate, each in layer.kernel.items()},
        recurrent_kernel={gate: factor * each for gate, each in layer.recurrent_kernel.items()},
        bias={gate: factor * each for gate, each in layer.bias.items()},
    )


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory, serve_logdir: Callable[..., str]) -> str:
    """A TensorBoard over a run with a layer that does not learn, and one in which both do."""
    logdir = tmp_path_factory.mktemp("logs")
    for run in ("stuck", "fine"):
        with GateWriter(logdir / run) as writer:
            for step in STEPS:
                first = moving(0 if run == "stuck" else step, 0, "stuck_0")
                layers = [first, moving(step, 1, "moving_1"), moving(step, 2, "moving_2")]
                writer.log_weights(layers, step=step)
                writer.log_trace([make_trace(layer, timesteps=6) for layer in layers], step=step)
    return serve_logdir(logdir)


@pytest.fixture
def tab(page: "Page", url: str, page_log: "PageLog") -> Iterator[Tab]:
    """The tab on the run with the layer that does not learn."""
    yield Tab(page, url).open(run=RUN, layer="moving_1")
    assert page_log.errors == []


def test_the_verdict_is_the_first_sentence(tab: Tab) -> None:
    tab.get("verdict").get_by_text(SENTENCE).wait_for()
    assert tab.get("verdict").get_by_role("img").get_attribute("aria-label") == "warning"
    box = tab.get("verdict").bounding_box()
    assert box is not None
    assert box["y"] < 120
    tab.open(run="fine/lstm_gates")
    tab.get("verdict").get_by_text("All 3 layers look fine.").wait_for()


def test_a_finding_opens_with_what_was_seen_what_it_means_and_what_to_try(tab: Tab) -> None:
    card = tab.get("finding-LG010")
    card.get_by_role("button").first.click()
    text = card.inner_text()
    assert "stuck_0 has not changed since training step 0" in text
    assert "No weight has changed between the training steps 0 and 30." in text
    assert "check that the layer is trainable" in text
    assert "threshold 0" in text
    assert tab.selection()["layer"] == "stuck_0"
    tab.shows("step", "training step 30")
    card.get_by_test_id("finding-step").click()
    tab.shows("step", "training step 0")


def test_a_mark_on_the_loss_line_chooses_the_step_and_opens_the_finding(tab: Tab) -> None:
    tab.get("mark-0").click()
    tab.shows("step", "training step 0")
    assert "No weight has changed" in tab.text("finding-LG010")
    assert "stuck_0 has not changed" in (tab.get("mark-0").get_attribute("aria-label") or "")


def test_tiles_of_the_layer_have_the_mark_and_open_it(tab: Tab) -> None:
    rows = tab.get("health-row")
    stuck_row = rows.filter(has_text="stuck_0")
    assert stuck_row.get_by_test_id("tile-finding").count() == 4
    assert rows.filter(has_text="moving_").get_by_test_id("tile-finding").count() == 0
    stuck_row.get_by_test_id("tile-forget").click()
    assert "No weight has changed" in tab.text("finding-LG010")


def test_a_dismissed_finding_is_gone_also_from_the_link(tab: Tab) -> None:
    tab.get("finding-LG010").get_by_role("button").first.click()
    tab.get("dismiss").click()
    tab.get("finding-LG010").wait_for(state="detached")
    tab.get("verdict").get_by_text("(1 dismissed)").wait_for()
    assert tab.selection()["dismissed"] == "LG010%3Astuck_0"
    tab.reload()
    tab.get("undismiss").wait_for()
    assert tab.get("tile-finding").count() == 0
    tab.get("undismiss").click()
    tab.get("finding-LG010").wait_for()


def test_the_table_of_runs_has_the_worst_finding_of_each(tab: Tab) -> None:
    body = tab.get("runs-table").locator("tbody")
    body.scroll_into_view_if_needed()
    body.get_by_text("…").first.wait_for(state="detached")
    cells = {
        row.locator("th").inner_text(): row.locator("td").first.inner_text()
        for row in body.locator("tr").all()
    }
    assert cells == {"stuck": "! stuck_0 has not changed since training step 0", "fine": "–"}
    tab.get("sort-finding").click()
    assert body.locator("tr").first.locator("th").inner_text() == "stuck"
