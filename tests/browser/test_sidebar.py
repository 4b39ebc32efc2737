"""The lists at the side in the real TensorBoard: 200 runs, 300 layers, filters and keys."""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import pytest

from helpers.layers import make_layer, make_trace
from helpers.served import Routes
from helpers.tab import Tab
from lstm_gates_plugin import GateWriter

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from browser.conftest import PageLog

RUNS, LAYERS = 200, 300
DEEP = "deep"
MOST_DRAWN = 60


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory, serve_logdir: Callable[..., str]) -> str:
    """A TensorBoard over 200 runs of three layers, and one run of 300 in a tree."""
    logdir = tmp_path_factory.mktemp("logs")
    for number in range(RUNS):
        with GateWriter(logdir / f"run-{number:03}") as writer:
            names = ["lstm_0", "encoder/lstm_1", "encoder/lstm_2"]
            layers = [make_layer(inputs=2, units=2, id=name) for name in names]
            writer.log_trace([make_trace(layer, timesteps=3) for layer in layers], step=number)
    with GateWriter(logdir / DEEP) as writer:
        ids = [f"block_{n // 10:02}/lstm_{n % 10}" for n in range(LAYERS)]
        layers = [make_layer(inputs=2, units=2, id=name) for name in ids]
        writer.log_trace([make_trace(layer, timesteps=3) for layer in layers], step=1)
    url = serve_logdir(logdir)
    expected = {f"run-{number:03}": number for number in range(RUNS)}
    Routes(url).wait_for({**expected, DEEP: 1})
    return url


@pytest.fixture
def tab(page: "Page", url: str, page_log: "PageLog") -> Iterator[Tab]:
    """The tab; whatever a test does there, nothing fails."""
    yield Tab(page, url)
    assert page_log.errors == []


def test_200_runs_are_drawn_lazily_and_the_chosen_one_is_in_sight(tab: Tab) -> None:
    tab.open(run="run-150/lstm_gates")
    chosen = tab.get("runs").get_by_text("run-150")
    chosen.wait_for()
    assert _is_in_sight(tab, "runs")
    assert tab.get("runs").get_by_role("option").count() < MOST_DRAWN
    assert f"{RUNS + 1}" in tab.frame.locator(".runs h2").inner_text()


def test_runs_are_filtered_and_chosen_with_keys(tab: Tab) -> None:
    tab.open(run="run-000/lstm_gates")
    tab.get("runs").focus()
    # Typed onto the list, it goes into the filter.
    tab.page.keyboard.type("run 15")
    assert tab.get("runs-filter").input_value() == "run 15"
    names = tab.get("runs").get_by_role("option")
    tab.frame.get_by_text("12 of 201").wait_for()
    assert names.first.inner_text().startswith("run-015")
    tab.page.keyboard.press("ArrowDown")
    tab.page.keyboard.press("ArrowDown")
    tab.shows("step", "training step 115")
    assert tab.selection()["run"] == "run-115%2Flstm_gates"
    tab.page.keyboard.press("Escape")
    assert tab.get("runs-filter").input_value() == ""
    tab.get("runs-filter").fill("no such run")
    tab.frame.get_by_text("No name in runs has “no such run”.").wait_for()


def test_300_layers_are_a_tree_that_is_drawn_lazily(tab: Tab) -> None:
    open_deep(tab, "block_25/lstm_7")
    tree = tab.get("layers")
    tree.get_by_title("block_25/lstm_7").wait_for()
    assert _is_in_sight(tab, "layers")
    assert tree.get_by_role("treeitem").count() < MOST_DRAWN
    tab.get("health-row").first.wait_for()
    assert tab.get("health-row").count() < MOST_DRAWN
    assert tab.frame.locator(".health-row.chosen").is_visible()

    tree.get_by_title("block_25/lstm_7").click()
    tab.page.keyboard.press("ArrowDown")
    tab.page.wait_for_timeout(300)
    assert tab.selection()["layer"] == "block_25%2Flstm_8"
    tab.get("layers-filter").fill("block_03 lstm_9")
    tab.get("layers-filter").press("Enter")
    tab.page.wait_for_timeout(300)
    assert tree.get_by_role("treeitem").count() == 1


def test_groups_are_folded_with_keys(tab: Tab) -> None:
    open_deep(tab, "block_00/lstm_0")
    tree = tab.get("layers")
    tree.focus()
    tab.page.keyboard.press("ArrowLeft")
    tab.page.keyboard.press("ArrowLeft")
    group = tree.get_by_role("treeitem").first
    assert group.get_attribute("aria-expanded") == "false"
    assert tree.get_by_title("block_00/lstm_0").count() == 0
    tab.page.keyboard.press("ArrowRight")
    tree.get_by_title("block_00/lstm_0").wait_for()
    assert tab.selection()["layer"] == "block_00%2Flstm_0"


def open_deep(tab: Tab, layer: str) -> None:
    """Open a layer of the run of 300; looking for what may be wrong in all of them takes long."""
    tab.start(run=f"{DEEP}/lstm_gates", layer=layer)
    tab.get("layers").get_by_title(layer).wait_for()
    tab.get("health-row").first.wait_for()


def _is_in_sight(tab: Tab, test_id: str) -> bool:
    """Whether the chosen line is within the part of the list that is not scrolled away."""
    outer = tab.get(test_id).bounding_box()
    inner = tab.get(test_id).locator("[aria-selected=true]").bounding_box()
    assert outer is not None
    assert inner is not None
    hidden_above = outer["y"] - inner["y"]
    hidden_below = inner["y"] + inner["height"] - outer["y"] - outer["height"]
    return max(hidden_above, hidden_below) < 1
