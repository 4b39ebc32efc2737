"""Every panel as a picture and as CSV, and the link to a view: what people get of them."""

import base64
import csv
import io
import re
import struct
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from helpers.layers import make_layer, make_trace
from helpers.tab import Tab
from lstm_gates_plugin import GateWriter

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from browser.conftest import PageLog

RUN = "=run '1'/Слой #5%"
LAYER = "enc/<img src=x onerror=alert(1)>"
UNITS, TIMESTEPS = 4, 5
STEPS = (0, 10)
PANELS = ("health", "activations", "weights")


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory, serve_logdir: Callable[..., str]) -> str:
    """A TensorBoard over one LSTM at two training steps, its names hostile."""
    logdir = tmp_path_factory.mktemp("logs")
    with GateWriter(logdir / RUN) as writer:
        for step in STEPS:
            layer = make_layer(units=UNITS, seed=step, id=LAYER)
            writer.log_weights([layer], step=step)
            writer.log_trace(make_trace(layer, timesteps=TIMESTEPS, seed=step, padded=1), step=step)
    return serve_logdir(logdir)


@pytest.fixture
def tab(page: "Page", url: str, page_log: "PageLog") -> Iterator[Tab]:
    """The tab at the first training step; nothing fails there, and nothing foreign is asked for."""
    yield Tab(page, url).open(step=0)
    assert page_log.errors == []
    assert page_log.foreign_requests(url) == []


def test_csv_of_the_activations_has_each_logged_value(tab: Tab) -> None:
    name, text = downloaded(tab, "activations-csv")
    assert re.fullmatch(r"[\w.-]+-activations-step_0\.csv", name)
    assert "Слой_5" in name
    rows = list(csv.DictReader(io.StringIO(text.decode(), newline="")))
    trace = make_trace(make_layer(units=UNITS, seed=0), timesteps=TIMESTEPS, seed=0, padded=1)
    written = {
        (row["name"], int(row["unit"]), int(row["timestep"])): float(row["value"])
        for row in rows
        if row["part"] == "activations"
    }
    kept = TIMESTEPS - 1
    assert len(written) == 6 * UNITS * kept
    for (gate, unit, timestep), value in written.items():
        if gate in trace.gates:
            assert np.float16(value) == np.float16(trace.gates[gate][0, timestep, unit])
    assert {row["run"] for row in rows} == {f"'{RUN}"}
    assert {row["layer"] for row in rows} == {LAYER}
    assert {row["training step"] for row in rows} == {"0"}
    assert text.endswith(b"\r\n")


def test_csv_of_the_weights_is_exact(tab: Tab) -> None:
    _, text = downloaded(tab, "weights-csv")
    rows = list(csv.DictReader(io.StringIO(text.decode(), newline="")))
    kernel = make_layer(units=UNITS, seed=0, id=LAYER).kernel["forget"]
    written = [
        float(row["value"])
        for row in rows
        if (row["gate"], row["weights"], row["part"]) == ("forget", "kernel", "weights")
    ]
    assert np.array_equal(np.array(written, np.float32).reshape(kernel.shape), kernel)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_pictures_are_twice_as_fine_and_show_the_panel(page: "Page", url: str, theme: str) -> None:
    page.emulate_media(color_scheme=theme)  # type: ignore[arg-type]
    page.goto(f"{url}/data/plugin_entry.html?name=lstm_gates")
    for panel in PANELS:
        section = page.get_by_test_id(panel)
        section.locator("h2").wait_for()
        if panel != "health":
            section.locator(".heatmap canvas").first.wait_for()
        box = section.bounding_box()
        assert box is not None
        with page.expect_download() as download:
            page.get_by_test_id(f"{panel}-png").click()
        picture = Path(download.value.path()).read_bytes()
        width, height = struct.unpack(">II", picture[16:24])
        assert width == pytest.approx(2 * (box["width"] + 32), abs=3)
        assert height > 2 * box["height"]
        colours, corner = colours_of(page, picture)
        assert colours > 20
        assert (corner > 200) == (theme == "light")


def test_copied_link_opens_the_same_view(tab: Tab) -> None:
    tab.get("gate-forget").click()
    tab.click_cell("map-forget", row=2, column=1, shape=(UNITS, TIMESTEPS))
    # As on plain http, where there is no clipboard to write to.
    tab.frame.locator("body").evaluate(
        "() => Object.defineProperty(navigator, 'clipboard', { value: undefined })"
    )
    tab.get("copy-link").click()
    tab.frame.get_by_text("Copied").wait_for()
    context = tab.page.context
    context.grant_permissions(["clipboard-read"])
    link = tab.page.evaluate("() => navigator.clipboard.readText()")
    other = Tab(context.new_page(), tab.url)
    other.page.goto(link)
    other.wait()
    other.shows("step", "training step 0")
    assert other.text("pinned") == tab.text("pinned")
    assert other.get("gate-forget").get_attribute("aria-pressed") == "true"


def test_every_panel_has_its_files_and_two_sentences_of_help(tab: Tab) -> None:
    for panel in tab.frame.locator("section.panel").all():
        assert panel.locator(".exports button").all_inner_texts() == ["PNG", "CSV"]
    # Those of the small panels inside as well.
    buttons = tab.frame.locator("button.help")
    assert buttons.count() >= len(("health", "activations", "saturation", "weights", "runs"))
    for button in buttons.all():
        button.click()
        text = tab.frame.locator(".help-text").inner_text()
        assert len(re.findall(r"[.!?](?=\s|$)", text)) == 2, text
        assert text.endswith(".")
        button.click()


def downloaded(tab: Tab, test_id: str) -> tuple[str, bytes]:
    """The name and the content of the file that a button gives."""
    with tab.page.expect_download() as download:
        tab.get(test_id).click()
    return download.value.suggested_filename, Path(download.value.path()).read_bytes()


def colours_of(page: "Page", picture: bytes) -> tuple[int, int]:
    """How many colours a PNG has, and how light its corner is, as the browser decodes it."""
    return tuple(
        page.evaluate(
            """async (text) => {
                const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
                const image = await createImageBitmap(new Blob([bytes]));
                const canvas = new OffscreenCanvas(image.width, image.height);
                const context = canvas.getContext("2d");
                context.drawImage(image, 0, 0);
                const { data } = context.getImageData(0, 0, image.width, image.height);
                return [new Set(new Uint32Array(data.buffer)).size, data[0]];
            }""",
            base64.b64encode(picture).decode(),
        )
    )
