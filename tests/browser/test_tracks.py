"""The probe's own data above the maps in the real TensorBoard: values and marks as logged."""

import re
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import pytest

from helpers.layers import make_layer, make_trace
from helpers.tab import Tab, number
from lstm_gates_plugin import GateWriter
from lstm_gates_plugin.writing import recorder
from lstm_gates_plugin.writing.pictures import Tracks

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from browser.conftest import PageLog

RUN = "run/lstm_gates"
BATCH, TIMESTEPS, LONG = 2, 6, 126
PADDED = 1

NAMES = ['<img src=x onerror=alert(1)> "it\'s" #5%', "имя " * 75]

rng = np.random.default_rng(3)
NUMBERS = Tracks(
    input=rng.normal(size=(BATCH, TIMESTEPS, 1)).astype(np.float32),
    target=rng.normal(size=(BATCH, TIMESTEPS)).astype(np.float32),
    prediction=3 * rng.normal(size=(BATCH, TIMESTEPS)).astype(np.float32),
    loss=rng.random((BATCH, TIMESTEPS)).astype(np.float32),
    sample_names=NAMES,
)
CLASSES = Tracks(
    input=rng.normal(size=(BATCH, LONG, 3)).astype(np.float32),
    target=rng.integers(0, 3, (BATCH, LONG)),
    prediction=rng.integers(0, 3, (BATCH, LONG)),
    time_labels=[["abcdefghij k"[t % 12] for t in range(LONG)]] * BATCH,
)


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory, serve_logdir: Callable[..., str]) -> str:
    """A TensorBoard over a run whose layers were shown numbers and classes."""
    logdir = tmp_path_factory.mktemp("logs")
    with GateWriter(logdir / "run") as writer:
        for id, tracks, timesteps in (("numbers", NUMBERS, TIMESTEPS), ("classes", CLASSES, LONG)):
            trace = make_trace(make_layer(id=id), batch=BATCH, timesteps=timesteps, padded=PADDED)
            with pytest.MonkeyPatch.context() as patched:
                patched.setattr(recorder, "Tracks", lambda shown=tracks: shown)
                writer.log_trace(trace, step=7)
    return serve_logdir(logdir)


@pytest.fixture
def tab(page: "Page", url: str, page_log: "PageLog") -> Iterator[Tab]:
    """The tab; whatever a test does there, nothing fails and nothing foreign is asked for."""
    yield Tab(page, url)
    assert page_log.errors == []
    assert page_log.foreign_requests(url) == []


def run_steps(values: object) -> np.ndarray:
    """What was logged of sample 0 at the timesteps that were run."""
    return np.asarray(values)[0, :-PADDED]


def marks(tab: Tab, row: str, kind: str) -> list[int]:
    """The columns that have a mark of a kind."""
    outline = tab.get(row).locator(f"path.{kind}").get_attribute("d") or ""
    return [int(float(x)) for x in re.findall(r"M([\d.]+) ", outline)]


def words(values: np.ndarray) -> str:
    """From where to where numbers go, in the page's own words."""
    ends = [f"{float(f'{float(end):.3g}'):.10g}" for end in (values.min(), values.max())]
    return " to ".join(ends).replace("-", "−")


def test_target_and_prediction_are_two_lines_on_one_range(tab: Tab) -> None:
    tab.open(run=RUN, layer="numbers")
    row = tab.get("track-target-prediction")
    target, prediction = run_steps(NUMBERS.target), run_steps(NUMBERS.prediction)
    label = row.get_by_role("img").get_attribute("aria-label") or ""
    assert f"target from {words(target)}, prediction from {words(prediction)}" in label
    both = np.concatenate([target, prediction])
    assert tab.frame.locator("figure", has=row).locator(".colour-bar").inner_text() == words(both)
    for key, values in (("target", target), ("prediction", prediction)):
        outline = row.locator(f"path.track-line.{key}").get_attribute("d") or ""
        heights = [float(y) for y in re.findall(r"(?:M\d+ |V)(-?[\d.]+)", outline)]
        expected = (both.max() - values) / np.ptp(both)
        np.testing.assert_allclose(heights, expected, atol=1e-4)


def test_one_feature_is_a_line_and_the_loss_is_bars(tab: Tab) -> None:
    tab.open(run=RUN, layer="numbers")
    label = tab.get("track-input").get_by_role("img").get_attribute("aria-label") or ""
    assert f"input from {words(run_steps(NUMBERS.input))}" in label
    outline = tab.get("track-loss").locator("path.track-bar").get_attribute("d") or ""
    heights = [1 - float(y) for y in re.findall(r"M[\d.]+ [\d.]+V([\d.]+)H", outline)]
    loss = run_steps(NUMBERS.loss)
    np.testing.assert_allclose(heights, loss / loss.max(), atol=1e-4)


def test_classes_are_marked_where_they_match(tab: Tab) -> None:
    tab.open(run=RUN, layer="classes")
    match = run_steps(CLASSES.target) == run_steps(CLASSES.prediction)
    caption = tab.frame.locator("figure", has=tab.get("track-target-prediction"))
    assert f"{match.sum()} of {LONG - PADDED} match" in caption.inner_text()
    assert marks(tab, "track-target-prediction", "track-match") == np.flatnonzero(match).tolist()
    assert marks(tab, "track-target-prediction", "track-bar") == np.flatnonzero(~match).tolist()


def test_pointer_on_a_track_tells_its_values_and_marks_the_maps(tab: Tab) -> None:
    tab.open(run=RUN, layer="numbers")
    tab.hover_cell("track-target-prediction", row=0, column=2, shape=(1, TIMESTEPS))
    assert tab.text("tooltip-title") == "timestep 2"
    assert NUMBERS.target is not None
    assert NUMBERS.prediction is not None
    shown = [number(tab.text(f"tooltip-track-{key}")) for key in ("target", "prediction")]
    assert np.float32(shown).tolist() == [NUMBERS.target[0, 2], NUMBERS.prediction[0, 2]]
    for key in ("forget", "hidden_state"):
        mark = tab.get(f"map-{key}").locator(".cross.column")
        assert (mark.get_attribute("style") or "").startswith("left: 33.3")
    tab.get("track-loss").click()
    assert tab.selection()["cell"].startswith("u0.")


def test_many_features_are_a_heatmap(tab: Tab) -> None:
    tab.open(run=RUN, layer="classes")
    tab.hover_cell("track-input", row=1, column=5, shape=(3, LONG))
    assert CLASSES.input is not None
    assert np.float32(number(tab.text("tooltip-track-input"))) == CLASSES.input[0, 5, 1]


def test_every_label_of_a_long_text_can_be_read(tab: Tab) -> None:
    tab.open(run=RUN, layer="classes")
    assert CLASSES.time_labels is not None
    texts = tab.get("time-axis").first.locator("text")
    shown = "".join(texts.all_text_contents())
    assert shown == "".join(CLASSES.time_labels[0]).replace(" ", "·")
    edges = texts.evaluate_all(
        "texts => texts.map((e) => e.getBoundingClientRect()).map((box) => [box.x, box.right])"
    )
    assert max(end - start for (_, end), (start, _) in pairwise(edges)) < 1  # pixel


def test_names_of_samples_are_text_and_long_ones_are_shortened(tab: Tab) -> None:
    tab.open(run=RUN, layer="numbers")
    picker = tab.get("sample")
    hostile, long = picker.locator("option").all_text_contents()
    assert hostile == NAMES[0]
    assert NAMES[1].startswith(long.removesuffix("…"))
    assert long.endswith("…")
    assert tab.frame.locator("img").count() == 0
    for sample, name in enumerate((hostile, long)):
        picker.select_option(str(sample))
        tab.page.wait_for_timeout(100)
        assert picker.get_attribute("title") == name
        box = picker.bounding_box()
        assert box is not None
        assert box["width"] < 200


def test_cross_hair_of_the_pinned_cell_is_over_the_tracks_too(tab: Tab) -> None:
    tab.open(run=RUN, layer="numbers", cell="u1.1")
    tab.get("map-forget").press("Shift+ArrowRight")
    for track in ("input", "target-prediction", "loss"):
        mark = tab.get(f"track-{track}").locator(".cross.column")
        assert (mark.get_attribute("style") or "").startswith("left: 33.3")
