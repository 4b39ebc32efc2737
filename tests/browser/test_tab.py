"""The tab in the real TensorBoard: exact values, the step, the selection, no foreign request."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from tensorboard.compat.proto import summary_pb2

from helpers.layers import make_layer, make_trace
from helpers.tab import Tab, choose_theme, number
from lstm_gates_plugin import GateWriter
from lstm_gates_plugin.event_file import EventFileWriter
from lstm_gates_plugin.gate_trace import GateTrace

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from browser.conftest import PageLog

RUN = "a b/é#1%"
LAYER = "encoder/lstm_0"
HOSTILE = "<img src=x onerror=alert(1)>"
SCALAR = "loss/<b>train</b>"
STEPS = (0, 10, 20)
UNITS, INPUTS, TIMESTEPS = 4, 3, 5
SCREEN_ORDER = ["forget", "input", "candidate", "output"]


def traces_at(step: int) -> list[GateTrace]:
    """What is logged at a step: an LSTM, the end of its sample 0 masked, and a GRU called twice.

    The LSTM's self-check passed, that of the GRU's first call failed.
    """
    lstm = make_layer(inputs=INPUTS, units=UNITS, seed=step, id=LAYER)
    gru = make_layer("gru", inputs=INPUTS, units=2, seed=step, id=HOSTILE)
    return [
        replace(make_trace(lstm, timesteps=TIMESTEPS, seed=step, padded=1), difference=2.4e-7),
        replace(make_trace(gru, timesteps=TIMESTEPS, seed=step), difference=np.inf),
        replace(make_trace(gru, timesteps=TIMESTEPS, seed=step + 1), call=1),
    ]


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory, serve_logdir: Callable[..., str]) -> str:
    """A TensorBoard over one run of two layers with pictures at three steps."""
    logdir = tmp_path_factory.mktemp("logs")
    with GateWriter(logdir / RUN) as writer:
        for step in STEPS:
            traces = traces_at(step)
            writer.log_weights([trace.layer for trace in traces[:2]], step=step)
            writer.log_trace(traces, step=step)
    scalars = EventFileWriter(logdir / RUN / "train", 0)
    for step in STEPS:
        value = summary_pb2.Summary.Value(tag=SCALAR, simple_value=1 + step / 8)
        scalars.write(summary_pb2.Summary(value=[value]), step)
    scalars.close()
    return serve_logdir(logdir)


@pytest.fixture
def tab(page: "Page", url: str, page_log: "PageLog") -> Iterator[Tab]:
    """The tab; whatever a test does there, nothing fails and nothing foreign is asked for."""
    yield Tab(page, url)
    assert page_log.errors == []
    assert page_log.foreign_requests(url) == []


def test_tooltip_has_the_logged_value_of_each_gate(tab: Tab) -> None:
    tab.open(layer=LAYER)
    trace = traces_at(20)[0]
    tab.hover_cell("map-forget", row=2, column=3, shape=(UNITS, TIMESTEPS))
    assert tab.text("tooltip-title") == "unit 2 · timestep 3"
    for gate in SCREEN_ORDER:
        assert np.float16(tab.tooltip(gate)) == np.float16(trace.gates[gate][0, 3, 2])
    assert trace.cell_state is not None
    assert np.float16(tab.tooltip("cell_state")) == np.float16(trace.cell_state[0, 3, 2])
    assert np.float16(tab.tooltip("hidden_state")) == np.float16(trace.hidden_state[0, 3, 2])


def test_another_step_has_the_other_value(tab: Tab) -> None:
    tab.open(layer=LAYER)
    tab.shows("step", "training step 20")
    tab.press("ArrowLeft")
    tab.shows("step", "training step 10")
    tab.click_cell("map-candidate", row=1, column=0, shape=(UNITS, TIMESTEPS))
    for step, key in ((10, "Shift"), (0, "Home"), (10, "ArrowRight"), (20, "End")):
        tab.press(key)
        value = traces_at(step)[0].gates["candidate"][0, 0, 1]
        tab.shows("step", f"training step {step}")
        tab.shows("pinned-candidate", f"candidate {_as_written(np.float16(value))}")


def test_slider_is_dragged_to_the_nearest_picture(tab: Tab) -> None:
    tab.open(layer=LAYER)
    box = tab.get("slider").bounding_box()
    assert box is not None
    mouse, y = tab.page.mouse, box["y"] + box["height"] / 2
    mouse.move(box["x"] + box["width"] - 2, y)
    mouse.down()
    mouse.move(box["x"] + 0.45 * box["width"], y)
    tab.shows("step", "training step 10")
    mouse.move(box["x"] + 0.1 * box["width"], y)
    mouse.up()
    tab.shows("step", "training step 0")
    assert tab.selection()["step"] == "0"


def test_play_runs_to_the_last_step(tab: Tab) -> None:
    tab.open(layer=LAYER, step=0)
    tab.get("play").click()
    tab.frame.locator("text=training step 20").first.wait_for()
    tab.frame.get_by_label("Play the training steps").wait_for()
    assert "step" not in tab.selection()


def test_line_of_another_scalar(tab: Tab) -> None:
    tab.open(layer=LAYER, step=10)
    tab.shows("loss-value", "–")
    tab.get("scalar").select_option(label=f"{SCALAR} ({RUN}/train)")
    tab.shows("loss-value", "2.25")
    tab.press("End")
    tab.shows("loss-value", "3.5")


def test_shift_and_arrow_keys_move_the_pinned_cell(tab: Tab) -> None:
    tab.open(layer=LAYER)
    forget = tab.get("map-forget")
    for key, cell in (
        ("Shift+ArrowDown", "u0.0"),
        ("Shift+ArrowDown", "u1.0"),
        ("Shift+ArrowRight", "u1.1"),
        ("Shift+ArrowUp", "u0.1"),
        ("Shift+ArrowUp", "u0.1"),
    ):
        forget.press(key)
        assert tab.selection()["cell"] == cell
    value = traces_at(20)[0].gates["forget"][0, 1, 0]
    tab.shows("pinned-forget", f"forget {_as_written(np.float16(value))}")
    tab.shows("step", "training step 20")
    forget.press("ArrowLeft")
    tab.shows("step", "training step 10")
    assert tab.selection()["cell"] == "u0.1"


def test_pinned_cell_beyond_the_sequence_has_no_value(tab: Tab) -> None:
    tab.open(layer=LAYER, cell=f"u1.{TIMESTEPS}")
    assert "unit 1 · timestep 5" in tab.text("pinned")
    assert "is not in this sequence" in tab.text("pinned")
    assert tab.get("pinned-forget").count() == 0


def test_failed_self_check_is_a_warning(tab: Tab) -> None:
    tab.open(layer=HOSTILE)
    sentence = "does not match the framework (difference +Inf): do not rely on these gates"
    tab.shows("self-check", sentence)
    assert sentence in tab.text("activations")
    tab.open(layer=LAYER)
    tab.shows("self-check", "checked against the framework: max difference 2.4e−7")
    assert "does not match" not in tab.text("activations")


def test_masked_timestep_is_a_gap(tab: Tab) -> None:
    tab.open(layer=LAYER)
    tab.hover_cell("map-output", row=0, column=TIMESTEPS - 1, shape=(UNITS, TIMESTEPS))
    assert "masked" in tab.text("tooltip")
    alpha = "canvas => canvas.getContext('2d').getImageData(canvas.width - 1, 0, 1, 1).data[3]"
    canvas = tab.get("map-output").locator("canvas")
    assert canvas.evaluate(alpha) == 0
    assert canvas.evaluate(alpha.replace("canvas.width - 1", "0")) == 255


def test_weights_are_exact_and_so_is_their_change(tab: Tab) -> None:
    tab.open(layer=LAYER)
    shape = (INPUTS, UNITS)
    now, before, first = (traces_at(step)[0].layer.kernel["forget"][1, 2] for step in (20, 10, 0))
    tab.hover_cell("weight-kernel/forget", row=1, column=2, shape=shape)
    assert "input 1 → unit 2" in tab.text("tooltip-title")
    assert np.float32(tab.tooltip("forget")) == now
    for mode, since in (("start", first), ("previous", before)):
        tab.get(f"weights-mode-{mode}").click()
        tab.hover_cell("weight-kernel/forget", row=1, column=2, shape=shape)
        assert tab.tooltip("forget") == pytest.approx(float(now) - float(since), rel=1e-5)


def test_switches_layer_gate_and_theme(tab: Tab) -> None:
    tab.open(layer=LAYER)
    maps = tab.get("activations").locator(".map .heatmap")
    assert maps.count() == 6
    tab.get("gate-output").click()
    assert maps.count() == 1
    assert tab.get("weights").locator(".weights h3").all_inner_texts() == ["output"]
    tab.get("gate-all").click()

    tab.press("ArrowUp")
    tab.frame.locator("[data-testid=gate-reset]").wait_for()
    assert tab.selection()["layer"] == "%3Cimg%20src%3Dx%20onerror%3Dalert(1)%3E"
    tab.get("layers").get_by_title(LAYER).click()
    tab.get("gate-forget").wait_for()

    zero = "canvas => Array.from(canvas.getContext('2d').getImageData(0, 0, 1, 1).data)"
    candidate = tab.get("map-candidate").locator("canvas")
    light = candidate.evaluate(zero)
    choose_theme(tab.page, "Dark")
    tab.frame.locator("html[data-theme=dark]").wait_for()
    tab.page.wait_for_timeout(200)
    assert candidate.evaluate(zero) != light
    choose_theme(tab.page, "Light")
    tab.frame.locator("html[data-theme=light]").wait_for()
    tab.page.wait_for_timeout(200)
    assert candidate.evaluate(zero) == light


def test_reload_of_the_url_finds_the_same_selection(tab: Tab) -> None:
    tab.open(layer=LAYER)
    tab.press("ArrowLeft")
    tab.get("sample").select_option("1")
    tab.click_cell("map-input", row=3, column=4, shape=(UNITS, TIMESTEPS))
    tab.get("gate-input").click()
    tab.get("weights-mode-start").click()
    tab.get("axis-log").click()
    tab.get("scalar").select_option(label=f"{SCALAR} ({RUN}/train)")

    def shown() -> list[str]:
        pressed = tab.frame.locator("button[aria-pressed=true]").all_inner_texts()
        title = tab.get("summary").locator("h1").inner_text()
        values = [tab.get(name).input_value() for name in ("sample", "scalar")]
        return [*pressed, title, tab.text("step"), tab.text("pinned"), *values]

    before, selection = shown(), tab.selection()
    assert selection["run"] == "a%20b%2F%C3%A9%231%25%2Flstm_gates"
    assert selection | {"step": "10", "sample": "1", "cell": "u3.4", "gate": "input"} == selection
    tab.reload()
    assert shown() == before
    assert tab.selection() == selection

    other = Tab(tab.page.context.new_page(), tab.url)
    other.page.goto(tab.page.url)
    other.wait()
    other.shows("step", "training step 10")


def test_selection_survives_a_look_at_another_tab(tab: Tab) -> None:
    tab.open(layer=LAYER, step=10)
    tab.page.locator("[data-plugin-id=scalars]").click()
    tab.page.wait_for_timeout(500)
    tab.page.locator("[data-plugin-id=lstm_gates]").click()
    tab.shows("step", "training step 10")
    tab.hover_cell("map-forget", row=0, column=0, shape=(UNITS, TIMESTEPS))
    assert np.float16(tab.tooltip("forget")) == np.float16(
        traces_at(10)[0].gates["forget"][0, 0, 0]
    )


def test_n11_hostile_names_are_text(tab: Tab) -> None:
    tab.open(layer=HOSTILE)
    assert HOSTILE in tab.text("layers")
    assert HOSTILE in tab.text("summary")
    assert RUN in tab.text("runs")
    assert tab.frame.locator("img").count() == 0
    tab.hover_cell("map-update", row=1, column=2, shape=(2, TIMESTEPS))
    assert np.float16(tab.tooltip("update")) == np.float16(
        traces_at(20)[1].gates["update"][0, 2, 1]
    )


def test_further_calls_of_a_shared_layer(tab: Tab) -> None:
    tab.open(layer=HOSTILE)
    tab.get("call").select_option("1")
    tab.click_cell("map-reset", row=0, column=1, shape=(2, TIMESTEPS))
    expected = np.float16(traces_at(20)[2].gates["reset"][0, 1, 0])
    tab.shows("pinned-reset", f"reset {_as_written(expected)}")
    tab.reload()
    tab.shows("pinned-reset", f"reset {_as_written(expected)}")


def _as_written(value: np.float16) -> str:
    """The shortest decimal that names this float16, with the page's own minus sign."""
    text = np.format_float_positional(value, unique=True, trim="-")
    assert np.float16(number(text)) == value
    return text.replace("-", "−")
