"""Names that are markup, quotes, parts of a URL, Cyrillic or very long are text everywhere."""

import csv
import io
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from helpers.layers import make_layer, make_trace
from helpers.served import Routes
from helpers.tab import Tab, number
from helpers.tracked import log_tracked
from lstm_gates_plugin import GateWriter, format
from lstm_gates_plugin.gate_trace import GateTrace
from lstm_gates_plugin.writing.pictures import Tracks

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from browser.conftest import PageLog

UNITS, TIMESTEPS = 3, 4
SHAPE = (UNITS, TIMESTEPS)
STEPS = (0, 10)
LONG = "x" * 145
NAMES = (
    "<img src=x onerror=top.hacked=1>",
    "it's 'single'",
    "#1 50%25 &p.lstm_gates.step=0",
    "Слой-ёж",
    f"long/{LONG}/{LONG}",
)
QUOTED = 'a "double" one'
"""TensorBoard's fast data server gives no picture of a run with such a name."""
LAYERS = ("a", *NAMES, QUOTED, "back\\slash")
FRESH = "() => top.hacked === undefined"
OVERFLOWS = "main => main.scrollWidth > main.clientWidth"


def trace_of(run: str, layer: str, step: int) -> GateTrace:
    """Values that differ from run to run, from layer to layer and from step to step."""
    seed = [step, *f"{run} in {layer}".encode()]
    made = make_layer(units=UNITS, seed=seed, id=layer)  # type: ignore[arg-type]
    return make_trace(made, timesteps=TIMESTEPS, batch=len(NAMES))


def write(logdir: Path) -> None:
    """A run of every name; the first one has a layer of every name, and samples."""
    for run in (*NAMES, QUOTED):
        with GateWriter(logdir / run, max_samples=len(NAMES)) as writer:
            for step in STEPS:
                traces = [
                    trace_of(run, layer, step) for layer in (LAYERS if run == NAMES[0] else ["a"])
                ]
                writer.log_weights([trace.layer for trace in traces], step=step)
                labels = [list(NAMES[:TIMESTEPS])] * len(NAMES)
                tracks = Tracks(sample_names=NAMES, time_labels=labels)
                log_tracked(writer, traces, tracks, step=step)


@pytest.fixture(scope="module")
def logdir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All of them."""
    logdir = tmp_path_factory.mktemp("logs")
    write(logdir)
    return logdir


@pytest.fixture(scope="module")
def url(logdir: Path, serve_logdir: Callable[..., str]) -> str:
    """A TensorBoard over them that reads with its fast data server."""
    return loaded(serve_logdir(logdir, "--load_fast=true"))


@pytest.fixture(scope="module")
def python_url(logdir: Path, serve_logdir: Callable[..., str]) -> str:
    """One that reads in Python."""
    return loaded(serve_logdir(logdir, "--load_fast=false"))


@pytest.fixture
def tab(page: "Page", url: str, page_log: "PageLog") -> Iterator[Tab]:
    """The tab; whatever a test does there, no name is run and no line is too wide."""
    tab = Tab(page, url)
    yield tab
    assert page.evaluate(FRESH)
    assert tab.frame.locator("img").count() == 0
    assert not tab.frame.locator("main").evaluate(OVERFLOWS)
    assert page_log.errors == []


def test_runs_are_chosen_linked_and_shown(tab: Tab) -> None:
    tab.open(run=f"{NAMES[-1]}/lstm_gates", layer="a")
    for run in NAMES:
        chosen(tab, "runs", run)
        shows(tab, run, "a")
        assert run in tab.text("summary")
    tab.reload()
    assert NAMES[-1] in tab.text("summary")


def test_layers_are_chosen_linked_shown_and_saved(tab: Tab) -> None:
    run = NAMES[0]
    tab.open(run=f"{run}/lstm_gates")
    for layer in LAYERS:
        chosen(tab, "layers", layer)
        shows(tab, run, layer)
        with tab.page.expect_download() as download:
            tab.get("weights-csv").click()
        name = download.value.suggested_filename
        assert re.fullmatch(r"[\w.-]+\.csv", name)
        assert len(name.encode()) < 200
        text = Path(download.value.path()).read_text(encoding="utf-8")
        row = next(csv.DictReader(io.StringIO(text, newline="")))
        assert (row["run"], row["layer"]) == (run, layer)
    other = Tab(tab.page.context.new_page(), tab.url)
    other.page.goto(tab.page.url)
    other.wait()
    shows(other, run, LAYERS[-1])


def test_samples_are_chosen_linked_and_shown(tab: Tab) -> None:
    tab.open(run=f"{NAMES[1]}/lstm_gates", step=STEPS[-1])
    for sample, name in enumerate(NAMES):
        options = tab.get("sample").locator("option").all_inner_texts()
        tab.get("sample").select_option(value=str(sample))
        assert name[:39] in options[sample]
        shows(tab, NAMES[1], "a", sample)
    tab.reload()
    shows(tab, NAMES[1], "a", len(NAMES) - 1)
    # The timesteps are labelled with the names.
    assert NAMES[2] in tab.text("tooltip-title")


def test_runs_are_compared_and_in_the_table(tab: Tab) -> None:
    tab.open(run=f"{NAMES[0]}/lstm_gates")
    tab.get("runs-table").scroll_into_view_if_needed()
    names = tab.get("runs-table").locator("tbody th").all_inner_texts()
    assert sorted(names) == sorted((*NAMES, QUOTED))
    tab.get("runs-table").get_by_role("button", name=NAMES[1], exact=True).click()
    tab.get("summary").get_by_text(NAMES[1]).wait_for()
    for other in NAMES[2:]:
        tab.get("compare").select_option(label=other)
        caption = tab.get("comparison").locator("figcaption").nth(1)
        caption.get_by_text(other).wait_for()
        tab.get("compared-1").locator("canvas").wait_for()
        assert not tab.frame.locator("main").evaluate(OVERFLOWS)
    tab.reload()
    tab.get("comparison").locator("figcaption").nth(1).get_by_text(NAMES[-1]).wait_for()


def test_both_loaders_have_the_pictures_of_every_layer(url: str, python_url: str) -> None:
    for routes in (Routes(url), Routes(python_url)):
        for layer in LAYERS:
            where = {"run": f"{NAMES[0]}/lstm_gates", "layer": layer, "kind": "activations"}
            for step, data in routes.snapshots(**where, call=0).items():
                forget = format.decode(data).arrays["activation/forget"]
                logged = trace_of(NAMES[0], layer, step).gates["forget"]
                assert np.array_equal(forget, logged.astype(np.float16))


def test_a_run_with_a_double_quote_is_read_in_python_alone(
    page: "Page", page_log: "PageLog", url: str, python_url: str
) -> None:
    Tab(page, python_url).open(run=f"{QUOTED}/lstm_gates")
    shows(Tab(page, python_url), QUOTED, "a")
    assert page_log.errors == []

    page.goto(page.url.replace(python_url, url))
    for panel in ("activations", "weights"):
        alert = Tab(page, url).get(panel).get_by_role("alert").first
        alert.wait_for()
        assert "double quote" in alert.inner_text()
        assert "start TensorBoard with --load_fast=false" in alert.inner_text()


def loaded(url: str) -> str:
    """The same URL, once TensorBoard has read everything."""
    Routes(url).wait_for(dict.fromkeys((*NAMES, QUOTED), STEPS[-1]))
    return url


def chosen(tab: Tab, list_id: str, name: str) -> None:
    """Click the line of this name, whose whole name is its title."""
    lines = tab.get(list_id).locator("[role=option], [role=treeitem]")
    lines.first.wait_for()
    for line in lines.all():
        if (line.get_attribute("title") or "").partition("\n")[0] == name:
            line.click()
            return
    pytest.fail(f"There is no line of {name!r}.")


def shows(tab: Tab, run: str, layer: str, sample: int = 0) -> None:
    """The picture has what was logged of this run and layer at the last training step."""
    expected = trace_of(run, layer, STEPS[-1]).gates["forget"][sample, 2, 1]
    for _ in range(50):
        tab.wait()
        tab.hover_cell("map-forget", row=1, column=2, shape=SHAPE)
        # What was drawn under the pointer may have gone meanwhile.
        shown = tab.get("tooltip-forget").all_inner_texts()
        if shown and np.float16(number(shown[0])) == np.float16(expected):
            return
        tab.page.mouse.move(0, 0)
        tab.page.wait_for_timeout(100)
    pytest.fail(f"The picture of {run!r}, {layer!r} is not what was logged.")
