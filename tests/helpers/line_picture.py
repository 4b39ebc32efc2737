"""A small line chart as SVG: two curves over training steps, and a threshold."""

import math
from collections.abc import Sequence
from typing import NamedTuple
from xml.sax.saxutils import escape

WIDTH, HEIGHT = 480, 220
LEFT, RIGHT, TOP, BOTTOM = 62, 468, 48, 178
LOG_FROM = 500.0
"""Ratio of the largest to the smallest number from which the axis is logarithmic."""

_STYLE = """
  text { font: 12px sans-serif; fill: #333333 } polyline { fill: none; stroke-width: 2 }
  .page { fill: #ffffff } .axis { stroke: #999999 }
  .threshold { stroke: #333333; stroke-dasharray: 6 4 }
  .mistake { fill: #c44e00 } .right { fill: #0067a5 }
  polyline.mistake { stroke: #c44e00; fill: none } polyline.right { stroke: #0067a5; fill: none }
  @media (prefers-color-scheme: dark) {
    text { fill: #dddddd } .page { fill: #1c1c1e } .axis { stroke: #777777 }
    .threshold { stroke: #dddddd }
    .mistake { fill: #ff9d5c } .right { fill: #6cbcf0 }
    polyline.mistake { stroke: #ff9d5c; fill: none } polyline.right { stroke: #6cbcf0; fill: none }
  }
"""


class Curve(NamedTuple):
    """Numbers over training steps; those that are not finite are left out."""

    name: str
    steps: Sequence[int]
    values: Sequence[float]

    @property
    def points(self) -> list[tuple[int, float]]:
        pairs = zip(self.steps, self.values, strict=True)
        return [(int(step), float(value)) for step, value in pairs if math.isfinite(value)]


class Scale:
    """Where a number is on the vertical axis, which is logarithmic if the numbers need it."""

    def __init__(self, values: Sequence[float]) -> None:
        positive = [value for value in values if value > 0]
        small = min(positive, default=1.0)
        self.is_log = min(values) >= 0 and max(values) > LOG_FROM * small
        self.floor = small / 10 if 0 in values else small
        self.low, self.high = self._size(min(values)), self._size(max(values))
        if self.low == self.high:
            self.low, self.high = self.low - 1, self.high + 1
        room = 0.06 * (self.high - self.low)
        self.low, self.high = self.low - room, self.high + room

    def _size(self, value: float) -> float:
        return math.log10(max(value, self.floor)) if self.is_log else value

    def __call__(self, value: float) -> float:
        share = (self._size(value) - self.low) / (self.high - self.low)
        return BOTTOM - share * (BOTTOM - TOP)

    def ticks(self) -> list[float]:
        """At most five round numbers."""
        if self.is_log:
            first, last = math.ceil(self.low), math.floor(self.high)
            return [10.0**power for power in range(first, last + 1, (last - first) // 4 + 1)]
        rough = (self.high - self.low) / 4
        unit = 10 ** math.floor(math.log10(rough))
        step = next(unit * many for many in (1, 2, 5, 10) if unit * many >= rough)
        first = math.ceil(self.low / step)
        return [number * step for number in range(first, math.floor(self.high / step) + 1)]


def draw(title: str, description: str, mistake: Curve, right: Curve, threshold: float) -> str:
    """The picture: what is measured is its title, and a reader hears the description."""
    curves = {"mistake": mistake, "right": right}
    points = [point for curve in curves.values() for point in curve.points]
    scale = Scale([*(value for _, value in points), threshold])
    last = max(step for step, _ in points) or 1

    def across(step: int) -> float:
        return LEFT + (RIGHT - LEFT) * step / last

    at = scale(threshold)
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
        f'width="{WIDTH}" height="{HEIGHT}" role="img">',
        f"<title>{escape(title)}</title>",
        f"<desc>{escape(description)}</desc>",
        f"<style>{_STYLE}</style>",
        f'<rect class="page" width="{WIDTH}" height="{HEIGHT}" rx="6"/>',
        _text(12, 20, title),
        _text(RIGHT, 20, f"- - - threshold {threshold:g}", anchor="end"),
        f'<line class="axis" x1="{LEFT}" y1="{BOTTOM}" x2="{RIGHT}" y2="{BOTTOM}"/>',
        f'<line class="threshold" x1="{LEFT}" y1="{at:.1f}" x2="{RIGHT}" y2="{at:.1f}"/>',
        *(_text(LEFT - 8, scale(tick) + 4, _short(tick), anchor="end") for tick in scale.ticks()),
        _text(LEFT, BOTTOM + 16, "0", anchor="middle"),
        _text((LEFT + RIGHT) / 2, BOTTOM + 32, "training step", anchor="middle"),
        _text(RIGHT, BOTTOM + 16, f"{last:,}", anchor="end"),
    ]
    for kind, sign, x in (("mistake", "●", 12), ("right", "■", 250)):
        places = [(across(step), scale(value)) for step, value in curves[kind].points]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
        lines += [
            f'<polyline class="{kind}" points="{path}"/>',
            *(_mark(kind, *place) for place in places),
            _text(x, 38, f"{sign} {curves[kind].name}", kind=kind),
        ]
    return "\n".join([*lines, "</svg>", ""])


def _mark(kind: str, x: float, y: float) -> str:
    if kind == "mistake":
        return f'<circle class="{kind}" cx="{x:.1f}" cy="{y:.1f}" r="2.5"/>'
    return f'<rect class="{kind}" x="{x - 2.5:.1f}" y="{y - 2.5:.1f}" width="5" height="5"/>'


def _text(x: float, y: float, text: str, *, anchor: str = "start", kind: str = "") -> str:
    shown = f' class="{kind}"' if kind else ""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{shown}>{escape(text)}</text>'


def _short(number: float) -> str:
    return f"{number:.0e}" if number and not 1e-3 <= abs(number) < 1e5 else f"{number:g}"
