"""Differences of two samples and of two training steps in the real TensorBoard, as logged."""

import csv
import io
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from helpers.layers import make_layer, make_trace
from helpers.tab import Tab, number
from lstm_gates_plugin import GateWriter
from lstm_gates_plugin.gate_trace import GateTrace

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from browser.conftest import PageLog

RUN = "run/lstm_gates"
STEPS = (100, 900)
UNITS, TIMESTEPS = 4, 6
SHAPE = (UNITS, TIMESTEPS)
PADDED = 1
SHORT = 4


def trace_at(step: int) -> GateTrace:
    """An LSTM whose last timestep of sample 0 is masked."""
    layer = make_layer(units=UNITS, seed=step)
    return make_trace(layer, timesteps=TIMESTEPS, seed=step, padded=PADDED)


def shortened_at(step: int) -> GateTrace:
    """A GRU that was shown a shorter sequence at the first training step."""
    layer = make_layer("gru", units=UNITS, seed=step, id="gru_0")
    return make_trace(layer, timesteps=SHORT if step == STEPS[0] else TIMESTEPS, seed=step)


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory, serve_logdir: Callable[..., str]) -> str:
    """A TensorBoard over a run with pictures of an LSTM and a GRU at two training steps."""
    logdir = tmp_path_factory.mktemp("logs")
    with GateWriter(logdir / "run") as writer:
        for step in STEPS:
            writer.log_trace([trace_at(step), shortened_at(step)], step=step)
    return serve_logdir(logdir)


@pytest.fixture
def tab(page: "Page", url: str, page_log: "PageLog") -> Iterator[Tab]:
    """The tab; whatever a test does there, nothing fails and nothing foreign is asked for."""
    yield Tab(page, url)
    assert page_log.errors == []
    assert page_log.foreign_requests(url) == []


def stored(values: object) -> np.ndarray:
    """Logged values as the pictures hold them."""
    return np.float16(values).astype(float)


def values_of(trace: GateTrace, key: str) -> np.ndarray:
    """A gate or a state of a trace, [sample, timestep, unit], as the pictures hold it."""
    return stored(trace.gates[key] if key in trace.gates else getattr(trace, key))


def made_of(text: str) -> tuple[float, float]:
    """Both values of the words of a difference, "0.5 − (−0.25)"."""
    first, _, second = text.partition(" − ")
    return number(first), number(second.strip("()"))


def test_two_training_steps_are_subtracted(tab: Tab) -> None:
    tab.open(run=RUN, layer="lstm_0")
    tab.get("minus").select_option(label="training step 100")
    after, before = trace_at(900), trace_at(100)
    facts = tab.get("activations").locator("header")
    facts.get_by_text("training step 900 − training step 100").wait_for()
    tab.hover_cell("map-forget", row=2, column=3, shape=SHAPE)
    for key in ("forget", "input", "candidate", "cell_state", "hidden_state"):
        ends = values_of(after, key)[0, 3, 2], values_of(before, key)[0, 3, 2]
        assert np.float16(made_of(tab.text(f"tooltip-made-{key}"))) == pytest.approx(ends)
        assert tab.tooltip(key) == pytest.approx(ends[0] - ends[1], rel=2e-3)
    assert tab.selection()["minus"] == "step.100"


def test_ranges_of_a_difference_are_printed_around_zero_and_shared(tab: Tab) -> None:
    tab.open(run=RUN, layer="lstm_0", minus="step.100")
    gates = ("forget", "input", "candidate", "output", "hidden_state")
    tab.get("activations").get_by_text("training step 900 − training step 100").first.wait_for()
    bars = tab.get("activations").locator(".map:not(.track) .colour-bar").all_inner_texts()
    ends = [[number(word) for word in bar.split() if word not in "≤≥"] for bar in bars]
    changes = [(values_of(trace_at(900), key) - values_of(trace_at(100), key))[0] for key in gates]
    largest = np.quantile(np.abs(np.stack(changes)[:, :-PADDED]), 0.99)
    low, high = ends[0]
    assert low == -high
    assert largest <= high <= 1.1 * largest
    assert [end == ends[0] for end in ends] == [True, True, True, True, False, True]


def test_two_samples_are_subtracted_and_masked_timesteps_are_gaps(tab: Tab) -> None:
    tab.open(run=RUN, layer="lstm_0", sample=1)
    tab.get("minus").select_option("sample.0")
    tab.click_cell("map-output", row=1, column=2, shape=SHAPE)
    one, other = values_of(trace_at(900), "output")[[1, 0], 2, 1]
    name, _, shown = tab.text("pinned-output").rpartition("=")
    assert number(shown.strip()) == pytest.approx(one - other, rel=2e-3)
    assert np.float16(made_of(name.removeprefix("output").strip())) == pytest.approx((one, other))
    tab.hover_cell("map-output", row=1, column=TIMESTEPS - 1, shape=SHAPE)
    assert "masked in one of the two" in tab.text("tooltip")
    tab.reload()
    assert tab.get("activations").get_by_text("sample 1 − sample 0").count() > 0
    tab.get("minus").select_option(label="nothing")
    assert "minus" not in tab.selection()
    tab.hover_cell("map-output", row=1, column=2, shape=SHAPE)
    assert np.float16(tab.tooltip("output")) == np.float16(one)


def test_sequences_of_other_lengths_are_compared_as_far_as_both_go(tab: Tab) -> None:
    tab.open(run=RUN, layer="gru_0", minus="step.100")
    tab.get("activations").get_by_text(f"the first {SHORT} timesteps").wait_for()
    tab.hover_cell("map-update", row=3, column=SHORT - 1, shape=(UNITS, SHORT))
    ends = [values_of(shortened_at(step), "update")[0, SHORT - 1, 3] for step in (900, 100)]
    assert tab.tooltip("update") == pytest.approx(ends[0] - ends[1], rel=2e-3)


def test_what_was_kept_and_written_is_subtracted(tab: Tab) -> None:
    tab.open(run=RUN, layer="lstm_0", minus="step.100", maps="written")
    tab.get("map-kept").wait_for()
    tab.get("activations").get_by_text("training step 900 − training step 100").first.wait_for()
    tab.hover_cell("map-kept", row=0, column=2, shape=SHAPE)
    kept, written = [], []
    for trace in (trace_at(900), trace_at(100)):
        cell_state = values_of(trace, "cell_state")
        gates = {gate: values_of(trace, gate)[0, 2, 0] for gate in trace.gates}
        kept.append(gates["forget"] * cell_state[0, 1, 0])
        written.append(gates["input"] * gates["candidate"])
    assert tab.tooltip("kept") == pytest.approx(kept[0] - kept[1], rel=2e-3)
    assert tab.tooltip("written") == pytest.approx(written[0] - written[1], rel=2e-3)


def test_lines_of_units_stay_values_under_a_difference(tab: Tab) -> None:
    tab.open(run=RUN, layer="lstm_0", minus="step.100", units="2")
    lines = tab.get("unit-lines-2")
    lines.get_by_text("values, not differences").wait_for()
    forget = values_of(trace_at(900), "forget")[0, : TIMESTEPS - PADDED, 2]
    said = lines.get_by_role("img").first.get_attribute("aria-label") or ""
    low, _, high = said.partition("forget from ")[2].partition(",")[0].partition(" to ")
    assert (number(low), number(high)) == pytest.approx((forget.min(), forget.max()), rel=2e-3)


def test_a_training_step_without_a_picture_is_named(tab: Tab) -> None:
    tab.open(run=RUN, layer="lstm_0", minus="step.5")
    tab.shows("no-difference", "There is no picture of training step 5.")
    tab.hover_cell("map-forget", row=2, column=3, shape=SHAPE)
    assert np.float16(tab.tooltip("forget")) == np.float16(trace_at(900).gates["forget"][0, 3, 2])


def test_csv_has_both_values_and_their_difference(tab: Tab) -> None:
    tab.open(run=RUN, layer="lstm_0", minus="step.100")
    tab.get("activations").get_by_text("training step 900 − training step 100").first.wait_for()
    with tab.page.expect_download() as download:
        tab.get("activations-csv").click()
    text = Path(download.value.path()).read_bytes().decode()
    rows = [row for row in csv.DictReader(io.StringIO(text, newline="")) if row["difference"]]
    assert len(rows) == 6 * UNITS * (TIMESTEPS - PADDED)
    after, before = trace_at(900), trace_at(100)
    for row in rows:
        key = row["name"].replace(" ", "_")
        at = (0, int(row["timestep"]), int(row["unit"]))
        ends = values_of(after, key)[at], values_of(before, key)[at]
        found = [float(row[column]) for column in ("value", "subtracted", "difference")]
        assert found == [*ends, ends[0] - ends[1]]
        assert row["what"] == "training step 900 − training step 100"
