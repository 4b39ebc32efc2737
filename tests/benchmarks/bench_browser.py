"""How fast the tab is in a browser: python tests/benchmarks/bench_browser.py [scrub|open|memory].

Scrubbing is to stay under 16 ms of script per step (95th percentile), the first picture is to come
within 1 s of the tab's opening, and the heap is to stay flat over ten minutes of scrubbing.
"""

import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from playwright.sync_api import sync_playwright

sys.path.insert(0, str(Path(__file__).parents[1]))

from browser.conftest import CHROMIUM_ARGUMENTS
from helpers.layers import make_layer, make_trace
from helpers.required import require_browser
from helpers.served import Routes
from helpers.tab import Tab
from helpers.tensorboard_server import tensorboard_server
from lstm_gates_plugin import GateWriter

if TYPE_CHECKING:
    from playwright.sync_api import Browser, CDPSession, Frame

# Far enough apart that the writer keeps a picture of each.
WIDE_STEPS = (0, *(2**i for i in range(11)))
SCRUBBED = 100
RUNS, LAYERS, LOG_CALLS = 20, 12, 200
OPENED = 5
MEMORY_SECONDS = 600
LOAD_SECONDS = 120

# Two frames: the first draws what the key changed, the second tells that it has been drawn.
PRESS = """key => new Promise(done => {
    const event = new KeyboardEvent("keydown", { key, bubbles: true });
    document.querySelector("[data-testid=slider]").dispatchEvent(event);
    requestAnimationFrame(() => requestAnimationFrame(done));
})"""
SLIDER = "() => document.querySelector('[data-testid=slider]').getAttribute('aria-valuenow')"


def main() -> None:
    """The benchmarks named on the command line, or all."""
    benchmarks = {"scrub": scrub, "open": first_picture, "memory": memory}
    chosen = sys.argv[1:] or list(benchmarks)
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=require_browser(), args=CHROMIUM_ARGUMENTS)
        for name in chosen:
            benchmarks[name](browser)
        browser.close()


def scrub(browser: "Browser") -> None:
    """Script time of each step of a wide layer, all of whose pictures are loaded."""
    with wide_layer(browser) as (frame, devtools):
        once_through(frame)
        spent = []
        for key in keys(SCRUBBED):
            before = script_seconds(devtools)
            frame.evaluate(PRESS, key)
            spent.append(1000 * (script_seconds(devtools) - before))
    p50, p95 = np.percentile(spent, (50, 95))
    print(f"LSTM(256 -> 1,024), {SCRUBBED} steps: median {p50:.1f} ms, 95 % {p95:.1f} ms of script")


def memory(browser: "Browser") -> None:
    """The heap after garbage collection, before and after scrubbing for a while."""
    with wide_layer(browser) as (frame, devtools):
        once_through(frame)
        before = heap_megabytes(devtools)
        end = time.monotonic() + MEMORY_SECONDS
        pressed = 0
        while time.monotonic() < end:
            for key in keys(2 * (len(WIDE_STEPS) - 1)):
                frame.evaluate(PRESS, key)
                pressed += 1
        after = heap_megabytes(devtools)
    print(f"heap: {before:.1f} MB, after {pressed} steps in {MEMORY_SECONDS} s {after:.1f} MB")


def first_picture(browser: "Browser") -> None:
    """From the start of the tab's own document to its first picture, in fresh contexts."""
    with tempfile.TemporaryDirectory() as logdir:
        write_many(Path(logdir))
        with tensorboard_server(logdir) as url:
            Routes(url).wait_for({f"run_{i}": LOG_CALLS - 1 for i in range(RUNS)}, LOAD_SECONDS)
            taken = []
            for _ in range(OPENED):
                context = browser.new_context(viewport={"width": 1280, "height": 800})
                tab = Tab(context.new_page(), url).open()
                taken.append(plugin_frame(tab).evaluate("() => performance.now()"))
                context.close()
    each = ", ".join(f"{ms:.0f}" for ms in taken)
    print(f"first picture, {RUNS} runs x {LAYERS} layers x {LOG_CALLS} log calls: {each} ms")


@contextmanager
def wide_layer(browser: "Browser") -> Iterator[tuple["Frame", "CDPSession"]]:
    """The tab on a layer of 1,024 units with pictures at some steps."""
    with tempfile.TemporaryDirectory() as logdir:
        with GateWriter(Path(logdir) / "run") as writer:
            for step in WIDE_STEPS:
                layer = make_layer(inputs=256, units=1024, seed=step, scale=0.1)
                writer.log_weights([layer], step=step)
                writer.log_trace(make_trace(layer, batch=1, timesteps=50), step=step)
        with tensorboard_server(logdir) as url:
            Routes(url).wait_for({"run": WIDE_STEPS[-1]}, LOAD_SECONDS)
            context = browser.new_context(viewport={"width": 1280, "height": 800})
            page = context.new_page()
            frame = plugin_frame(Tab(page, url).open())
            devtools = context.new_cdp_session(page)
            # Its own time on a core: not what other programs took from it meanwhile.
            devtools.send("Performance.enable", {"timeDomain": "threadTicks"})
            yield frame, devtools
            context.close()


def write_many(logdir: Path) -> None:
    """One run, and copies of it: the page asks for one run, whatever the others hold."""
    layers = [make_layer(inputs=32, units=32, seed=i, id=f"lstm_{i}") for i in range(LAYERS)]
    traces = [make_trace(layer, batch=1, timesteps=20) for layer in layers]
    with GateWriter(logdir / "run_0") as writer:
        for step in range(LOG_CALLS):
            writer.log_weights(layers, step=step)
            writer.log_trace(traces, step=step)
    for i in range(1, RUNS):
        shutil.copytree(logdir / "run_0", logdir / f"run_{i}")


def plugin_frame(tab: Tab) -> "Frame":
    """The document of the tab itself."""
    return next(one for one in tab.page.frames if "name=lstm_gates" in one.url)


def keys(number: int) -> Iterator[str]:
    """Presses that walk from the last step to the first and back, over and over."""
    for i in range(number):
        yield "ArrowLeft" if i // (len(WIDE_STEPS) - 1) % 2 == 0 else "ArrowRight"


def once_through(frame: "Frame") -> None:
    """Load every step, and make sure that the keys do move the slider."""
    seen: set[Any] = set()
    for key in keys(2 * (len(WIDE_STEPS) - 1)):
        frame.evaluate(PRESS, key)
        frame.wait_for_timeout(200)
        seen.add(frame.evaluate(SLIDER))
    if len(seen) != len(WIDE_STEPS):
        raise RuntimeError(f"The keys reached the steps {sorted(seen)}, not all of {WIDE_STEPS}.")


def script_seconds(devtools: "CDPSession") -> float:
    """What the page's scripts have taken so far."""
    metrics = devtools.send("Performance.getMetrics")["metrics"]
    return float(next(one["value"] for one in metrics if one["name"] == "ScriptDuration"))


def heap_megabytes(devtools: "CDPSession") -> float:
    """The used heap of the page's scripts after garbage collection."""
    devtools.send("HeapProfiler.collectGarbage")
    return float(devtools.send("Runtime.getHeapUsage")["usedSize"]) / 1e6


if __name__ == "__main__":
    main()
