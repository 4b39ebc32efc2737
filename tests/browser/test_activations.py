"""The activations panel in the real TensorBoard: equations, units and differences as logged."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from helpers.layers import make_layer, make_trace
from helpers.tab import Tab, number
from lstm_gates_plugin import GateWriter
from lstm_gates_plugin.gate_trace import GateTrace
from lstm_gates_plugin.measure.units import survival

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from browser.conftest import PageLog

RUN = "run/lstm_gates"
STEPS = (0, 10)
UNITS, TIMESTEPS = 4, 6
SHAPE = (UNITS, TIMESTEPS)


def lstm_at(step: int) -> GateTrace:
    """An LSTM whose last timestep of sample 0 is masked."""
    return make_trace(make_layer(units=UNITS, seed=step), timesteps=TIMESTEPS, padded=1)


def gru_at(step: int) -> GateTrace:
    """A GRU that reads backward."""
    layer = replace(make_layer("gru", units=UNITS, seed=step, id="gru_0"), direction="backward")
    return make_trace(layer, timesteps=TIMESTEPS)


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory, serve_logdir: Callable[..., str]) -> str:
    """A TensorBoard over a run with pictures of an LSTM and a GRU at two steps."""
    logdir = tmp_path_factory.mktemp("logs")
    with GateWriter(logdir / "run") as writer:
        for step in STEPS:
            traces = [lstm_at(step), gru_at(step)]
            writer.log_weights([trace.layer for trace in traces], step=step)
            writer.log_trace(traces, step=step)
    return serve_logdir(logdir)


@pytest.fixture
def tab(page: "Page", url: str, page_log: "PageLog") -> Iterator[Tab]:
    """The tab; whatever a test does there, nothing fails and nothing foreign is asked for."""
    yield Tab(page, url)
    assert page_log.errors == []
    assert page_log.foreign_requests(url) == []


def open_layer(tab: Tab, layer: str = "lstm_0", **selection: object) -> Tab:
    return tab.open(run=RUN, layer=layer, **selection)


def rounded(value: object) -> float:
    """A logged number as an equation shows it: as stored, with three digits."""
    return float(f"{float(np.float16(value)):.3g}")  # type: ignore[arg-type]


def sides(tab: Tab, key: str) -> list[str]:
    """The sides of one line of the equation, from the words to the value."""
    return tab.get(f"equation-{key}").locator("dd").all_inner_texts()


def numbers(side: str) -> list[float]:
    """All numbers of one side."""
    words = side.replace("=", " ").replace("×", " ").replace("+ ", " ")
    return [number(word) for word in words.replace("(", " ").replace(")", " ").split()]


def test_clicked_cell_has_the_equation_with_its_numbers(tab: Tab) -> None:
    open_layer(tab)
    assert "Click a cell" in tab.text("equation")
    tab.click_cell("map-forget", row=2, column=3, shape=SHAPE)
    trace = lstm_at(10)
    assert trace.cell_state is not None
    assert "Unit 2 at timestep 3" in tab.text("equation")
    at = (0, 3, 2)
    f, i, g = (rounded(trace.gates[gate][at]) for gate in ("forget", "input", "candidate"))
    words, products, _, value = sides(tab, "cell_state")
    assert words == "= forget × old cell state + input × candidate"
    assert numbers(products) == [f, rounded(trace.cell_state[0, 2, 2]), i, g]
    assert numbers(value) == [rounded(trace.cell_state[at])]
    assert numbers(sides(tab, "hidden_state")[-1]) == [rounded(trace.hidden_state[at])]
    for gate in trace.gates:
        inside, value = sides(tab, gate)
        z = inside.removeprefix("= sigmoid").removeprefix("= tanh")
        assert numbers(z) == [rounded(trace.preactivations[gate][at])]
        assert numbers(value) == [rounded(trace.gates[gate][at])]


def test_equation_follows_the_pinned_cell_by_keyboard_and_training_step(tab: Tab) -> None:
    open_layer(tab, cell="u1.0")
    assert "with zero the numbers agree" in tab.text("equation")
    tab.get("map-forget").press("Shift+ArrowRight")
    assert "Unit 1 at timestep 1" in tab.text("equation")
    tab.press("Home")
    tab.shows("step", "training step 0")
    cell_state = lstm_at(0).cell_state
    assert cell_state is not None
    value = tab.get("equation-cell_state").locator("b")
    tab.frame.locator("text=training step 0").first.wait_for()
    tab.page.wait_for_timeout(300)
    assert number(value.inner_text()) == rounded(cell_state[0, 1, 1])
    tab.press("Escape")
    assert "Click a cell" in tab.text("equation")


def test_masked_timestep_has_no_equation(tab: Tab) -> None:
    open_layer(tab, cell=f"u1.{TIMESTEPS - 1}")
    assert "carried its state on" in tab.text("equation")
    assert tab.get("equation-cell_state").count() == 0


def test_backward_gru_has_its_old_state_from_the_next_timestep(tab: Tab) -> None:
    open_layer(tab, layer="gru_0", cell="u3.2")
    trace = gru_at(10)
    words, products, _, value = sides(tab, "hidden_state")
    assert words == "= update × old hidden state + (1 − update) × candidate"
    update, candidate = (trace.gates[gate][0, 2, 3] for gate in ("update", "candidate"))
    old = trace.hidden_state[0, 3, 3]
    shown = numbers(products)
    assert shown == [
        rounded(update),
        rounded(old),
        pytest.approx(1 - update, abs=2e-3),
        rounded(candidate),
    ]
    assert numbers(value) == [rounded(trace.hidden_state[0, 2, 3])]
    assert "before the matrix product" in tab.text("equation")


def shown_units(tab: Tab, map_id: str) -> list[int]:
    """The unit of each row of a map, from top to bottom, as its tooltip says."""
    units = []
    for row in range(UNITS):
        tab.hover_cell(map_id, row=row, column=0, shape=SHAPE)
        units.append(int(tab.text("tooltip-title").split()[1]))
    return units


def test_units_are_sorted_by_mean_or_memory_in_all_maps(tab: Tab) -> None:
    open_layer(tab)
    trace = lstm_at(10)
    means = np.float16(trace.gates["forget"][0, :-1]).mean(axis=0)
    tab.get("order-mean").click()
    expected = np.argsort(-means).tolist()
    assert shown_units(tab, "map-forget") == expected
    assert shown_units(tab, "map-hidden_state") == expected
    tab.get("order-memory").click()
    remembered = survival(trace.gates["forget"], trace.mask, backward=False).timesteps
    shown = shown_units(tab, "map-output")
    assert (np.diff(remembered[shown]) <= 0).all()
    assert tab.selection()["order"] == "memory"
    tab.reload()
    assert shown_units(tab, "map-output") == shown


def test_lines_of_pinned_units_stay(tab: Tab) -> None:
    open_layer(tab, cell="u1.2")
    tab.get("keep-unit-1").click()
    tab.click_cell("map-forget", row=3, column=4, shape=SHAPE)
    assert tab.selection()["units"] == "1"
    tab.reload()
    for unit in (1, 3):
        gates, states = tab.get(f"unit-lines-{unit}").get_by_role("img").all()
        values = np.float16(lstm_at(10).gates["forget"][0, :-1, unit])
        label = gates.get_attribute("aria-label") or ""
        ends = f"forget from {_written(values.min())} to {_written(values.max())}"
        assert ends in label
        assert "hidden state from" in (states.get_attribute("aria-label") or "")
    tab.get("keep-unit-1").click()
    tab.press("Escape")
    assert tab.frame.locator(".unit-lines").count() == 0


def test_lines_have_a_tooltip_and_a_click_pins_their_timestep(tab: Tab) -> None:
    open_layer(tab, cell="u1.2")
    plot = tab.get("unit-lines-1").locator(".unit-plot").first
    plot.scroll_into_view_if_needed()
    box = plot.bounding_box()
    assert box is not None
    at = {"x": box["width"] * 3.5 / TIMESTEPS, "y": 20}
    plot.hover(position=at)
    assert tab.text("tooltip-title") == "unit 1 · timestep 3"
    assert np.float16(tab.tooltip("input")) == np.float16(lstm_at(10).gates["input"][0, 3, 1])
    plot.click(position=at)
    assert tab.selection()["cell"] == "u1.3"


def _written(value: object) -> str:
    """A number with three digits, as the page writes it."""
    return f"{rounded(value):.10g}".replace("-", "−")


def test_shows_what_was_kept_and_what_was_written(tab: Tab) -> None:
    open_layer(tab)
    tab.get("maps-written").click()
    tab.hover_cell("map-kept", row=2, column=3, shape=SHAPE)
    trace = lstm_at(10)
    assert trace.cell_state is not None
    kept = trace.gates["forget"][0, 3, 2] * trace.cell_state[0, 2, 2]
    written = trace.gates["input"][0, 3, 2] * trace.gates["candidate"][0, 3, 2]
    assert tab.tooltip("kept") == pytest.approx(kept, abs=2e-3)
    assert tab.tooltip("written") == pytest.approx(written, abs=2e-3)
    assert tab.selection()["maps"] == "written"
    tab.get("gate-kept").click()
    tab.reload()
    assert tab.get("activations").locator(".map:not(.track) .heatmap").count() == 1


def test_a_gru_keeps_by_its_update_gate_from_the_timestep_that_it_read_before(tab: Tab) -> None:
    open_layer(tab, "gru_0", maps="written")
    trace = gru_at(10)
    update, candidate = (trace.gates[gate][0, 2, 3] for gate in ("update", "candidate"))
    tab.hover_cell("map-kept", row=3, column=2, shape=SHAPE)
    assert tab.tooltip("kept") == pytest.approx(update * trace.hidden_state[0, 3, 3], abs=2e-3)
    assert tab.tooltip("written") == pytest.approx((1 - update) * candidate, abs=2e-3)
    tab.hover_cell("map-kept", row=3, column=TIMESTEPS - 1, shape=SHAPE)
    assert tab.tooltip("kept") == 0


def test_cross_hair_moves_by_keyboard_over_maps_and_unit_lines(tab: Tab) -> None:
    open_layer(tab, cell="u1.2")
    tab.get("map-forget").press("Shift+ArrowRight")
    tab.get("map-forget").press("Shift+ArrowDown")
    assert tab.selection()["cell"] == "u2.3"
    for key in ("forget", "cell_state", "hidden_state"):
        column = tab.get(f"map-{key}").locator(".cross.column").get_attribute("style") or ""
        row = tab.get(f"map-{key}").locator(".cross.row").get_attribute("style") or ""
        assert "left: 50%" in column
        assert "top: 50%" in row
    guides = tab.get("unit-lines-2").locator(".guide.pointer").all()
    assert guides
    assert all("left: 58.3" in (guide.get_attribute("style") or "") for guide in guides)


def test_shows_pre_activations(tab: Tab) -> None:
    open_layer(tab)
    tab.get("maps-preactivations").click()
    tab.hover_cell("map-forget", row=1, column=2, shape=SHAPE)
    assert np.float16(tab.tooltip("forget")) == np.float16(
        lstm_at(10).preactivations["forget"][0, 2, 1]
    )
    tab.click_cell("map-forget", row=1, column=2, shape=SHAPE)
    pinned = tab.text("pinned-forget").split()[-1]
    assert np.float16(number(pinned)) == np.float16(lstm_at(10).gates["forget"][0, 2, 1])


def test_units_are_points_by_how_often_their_gate_is_open_and_closed(tab: Tab) -> None:
    open_layer(tab, gate="output")
    gate = lstm_at(10).gates["output"]
    values = gate[lstm_at(10).mask]
    opened, closed = (values > 0.9).mean(axis=0), (values < 0.1).mean(axis=0)
    panel = tab.get("saturation")
    panel.locator("summary").click()
    lines = [row.split() for row in panel.locator("tbody tr").all_inner_texts()]
    shown = [[float(word) for word in line if word not in "%<"] for line in lines]
    expected = [[unit, 100 * opened[unit], 100 * closed[unit]] for unit in range(UNITS)]
    np.testing.assert_allclose(shown, expected, atol=0.51)
    panel.locator("circle").first.hover()
    assert "nearly open (> 0.9)" in tab.text("tooltip")
    panel.locator("tbody button").nth(2).click()
    assert tab.selection()["units"] == "2"
    tab.get("unit-lines-2").wait_for()


def test_memory_of_units_is_counted_in_bars_up_to_the_sequence(tab: Tab) -> None:
    open_layer(tab)
    trace = lstm_at(10)
    found = survival(trace.gates["forget"], trace.mask, backward=False)
    panel = tab.get("survival")
    assert f"the sequence has {TIMESTEPS}" in panel.inner_text()
    bins = {"1": (0, 1), "2": (1, 2), "3–4": (2, 4), "5–6": (4, 8)}
    for text, (low, high) in bins.items():
        inside = (found.timesteps > low) & (found.timesteps <= high) & ~found.censored
        counted = tab.get(f"survival-{text}").locator("em").inner_text()
        assert int(counted or 0) == inside.sum()
    assert int(tab.get("survival-longer").locator("em").inner_text() or 0) == found.censored.sum()


def test_a_candidate_is_near_zero_or_at_its_limits(tab: Tab) -> None:
    open_layer(tab, "gru_0", gate="candidate")
    assert "Near zero / beyond ±0.9: candidate" in tab.text("saturation")


def test_maps_have_their_numbers_as_a_table_without_masked_timesteps(tab: Tab) -> None:
    open_layer(tab)
    table = tab.get("maps-table")
    table.locator("summary").click()
    trace = lstm_at(10)
    assert trace.cell_state is not None
    rows = [row.locator("th, td").all_inner_texts() for row in table.locator("tbody tr").all()]
    cells = {row[0]: row[1:] for row in rows}
    for gate in ("forget", "input", "output"):
        values = np.float16(trace.gates[gate][0, :-1]).astype(float)
        shown = [number(cell.removesuffix(" %")) for cell in cells[gate]]
        shares = [100 * (values < 0.1).mean(), 100 * (values > 0.9).mean()]
        assert shown == pytest.approx([values.mean(), values.std(), *shares], rel=6e-3, abs=0.06)
        assert shown[0] == pytest.approx(values.mean(), rel=6e-3)
    state = np.float16(trace.cell_state[0, :-1]).astype(float)
    mean, std, *shares = cells["cell state"]
    assert number(mean) == pytest.approx(state.mean(), rel=6e-3)
    assert number(std) == pytest.approx(state.std(), rel=6e-3)
    assert shares == ["–", "–"]
