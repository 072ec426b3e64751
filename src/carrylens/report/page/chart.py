"""Charts: points with their intervals as an SVG element that takes its colours from the page.

Takes  series of numbers.
Gives  one drawing with axes, marks and names.
Never  joins what was not measured in order, and never hides an interval.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import floor, log10
from typing import Any

from markupsafe import Markup

from carrylens.errors import CarryLensError
from carrylens.report.page.elements import element
from carrylens.report.saved_words import in_present_words

_WIDTH, _HEIGHT, _LEFT, _RIGHT, _TOP, _BOTTOM = 640, 300, 62, 14, 12, 46
_SHAPES = {"effect": "circle", "null": "square", "rival": "cross"}
_FLOOR = 1e-12


@dataclass(frozen=True)
class Axis:
    """From numbers to places on the page."""

    low: float
    high: float
    start: float
    end: float
    log: bool = False

    def at(self, value: float) -> float:
        """Where a number stands."""
        number = log10(max(value, _FLOOR)) if self.log else value
        share = (number - self.low) / ((self.high - self.low) or 1.0)
        return self.start + share * (self.end - self.start)

    def marks(self) -> list[tuple[float, str]]:
        """Round numbers along the axis, and how they are written."""
        if self.log:
            every = max(1, round((self.high - self.low) / 5))
            powers = range(int(self.low), int(self.high) + 1, every)
            return [(10.0**power, f"1e{power}" if abs(power) > 2 else f"{10.0**power:g}") for power in powers]
        width = (self.high - self.low) or 1.0
        power = 10.0 ** floor(log10(width))
        step = next(power * part for part in (0.1, 0.2, 0.5, 1.0, 2.0) if width / (power * part) <= 6)
        first = -floor(-self.low / step + 1e-9)
        count = int((self.high - first * step) / step + 1e-9) + 1
        return [((first + at) * step, f"{(first + at) * step:g}") for at in range(count)]


def chart(figure: Mapping[str, Any], title: str, name: str) -> Markup:
    """A figure as an outcome has it; `name` must be the page's own for it."""
    series = figure["series"]
    kinds = {each["kind"] for each in series}
    if "effect" in kinds and not kinds & {"null", "rival"}:
        raise CarryLensError(
            f"The figure {title!r} shows an effect without its null, so it cannot be drawn. Run the battery again."
        )
    log = figure.get("scale") == "log"
    numbers = [value for each in series for key in ("y", "low", "high") for value in each[key]]
    xs = [value for each in series for value in each["x"]]
    if not numbers:
        return Markup("")
    x_axis = _x_axis(xs, figure.get("names") or ())
    y_axis = _y_axis(numbers, log)
    parts, joined = _grid(x_axis, y_axis, figure), not figure.get("names")
    for at, each in enumerate(series):
        parts += _points(each, at, x_axis, y_axis, joined=joined)
    said = "; ".join(f"{each['label']} ({each['kind']}): {_said(each, figure.get('names') or ())}" for each in series)
    words = [element("title", title, id=f"{name}-title"), element("desc", said, id=f"{name}-about")]
    about = {"viewBox": f"0 0 {_WIDTH} {_HEIGHT}", "role": "img", "aria_labelledby": f"{name}-title {name}-about"}
    return element("svg", *words, *parts, apart="\n", class_="chart", **about)


def _x_axis(xs: Sequence[float], names: Sequence[str]) -> Axis:
    end = _WIDTH - _RIGHT
    if names:
        return Axis(-0.5, len(names) - 0.5, _LEFT, end)
    low, high = min(xs), max(xs)
    room = 0.04 * ((high - low) or 1.0)
    return Axis(low - room, high + room, _LEFT, end)


def _y_axis(numbers: Sequence[float], log: bool) -> Axis:
    low, high = min(numbers), max(numbers)
    start = _HEIGHT - _BOTTOM
    if log:
        return Axis(floor(log10(max(low, _FLOOR))), -floor(-log10(max(high, _FLOOR))), start, _TOP, log=True)
    if low >= 0 and high <= 1:
        return Axis(0.0, 1.0, start, _TOP)
    return Axis(min(0.0, low), max(0.0, high), start, _TOP)


def _grid(x_axis: Axis, y_axis: Axis, figure: Mapping[str, Any]) -> list[Markup]:
    parts, bottom = [], _HEIGHT - _BOTTOM
    for value, text in y_axis.marks():
        y = y_axis.at(value)
        parts.append(element("path", class_="grid", d=f"M{_LEFT} {y:.1f} H{_WIDTH - _RIGHT}"))
        parts.append(element("text", text, class_="quiet", x=_LEFT - 6, y=f"{y + 4:.1f}", text_anchor="end"))
    names = figure.get("names") or ()
    marks = [(float(at), name) for at, name in enumerate(names)] if names else x_axis.marks()
    thin = -(-sum(len(text) + 2 for _, text in marks) * 7 // (_WIDTH - _LEFT - _RIGHT)) or 1
    for at, (value, text) in enumerate(marks):
        if at % thin == 0:
            x = x_axis.at(value)
            parts.append(element("text", text, class_="quiet", x=f"{x:.1f}", y=bottom + 16, text_anchor="middle"))
    middle = (_LEFT + _WIDTH - _RIGHT) / 2
    parts.append(
        element(
            "text",
            in_present_words(figure["x_label"]),
            class_="axis",
            x=f"{middle:g}",
            y=_HEIGHT - 8,
            text_anchor="middle",
        )
    )
    half = (_TOP + bottom) / 2
    turned = f"translate(13 {half:g}) rotate(-90)"
    parts.append(element("text", figure["y_label"], class_="axis", transform=turned, text_anchor="middle"))
    return parts


def _points(series: Mapping[str, Any], at: int, x_axis: Axis, y_axis: Axis, *, joined: bool) -> list[Markup]:
    kind, tone = series["kind"], f"tone{at % 8}"
    points = list(zip(*(series[key] for key in ("x", "y", "low", "high")), strict=True))
    shift = 3.0 * (at % 5 - 2)  # so that intervals at one x do not hide each other
    places = [(x_axis.at(x) + shift, y_axis.at(y), y_axis.at(low), y_axis.at(high)) for x, y, low, high in points]
    parts = []
    if joined and len(places) > 1:
        line = " L".join(f"{x:.1f} {y:.1f}" for x, y, _, _ in places)
        parts.append(element("path", class_=f"curve {kind} {tone}", d=f"M{line}"))
    if len(places) <= 60:
        for x, y, low, high in places:
            parts.append(element("path", class_=f"interval {tone}", d=f"M{x:.1f} {low:.1f} V{high:.1f}"))
            parts.append(_mark(_SHAPES.get(kind, "circle"), x, y, tone))
    return parts


def _mark(shape: str, x: float, y: float, tone: str) -> Markup:
    if shape == "circle":
        return element("circle", class_=f"mark {tone}", cx=f"{x:.1f}", cy=f"{y:.1f}", r=4)
    if shape == "square":
        return element("rect", class_=f"mark open {tone}", x=f"{x - 3.5:.1f}", y=f"{y - 3.5:.1f}", width=7, height=7)
    return element("path", class_=f"cross {tone}", d=f"M{x - 4:.1f} {y - 4:.1f} l8 8 m0 -8 l-8 8")


def _said(series: Mapping[str, Any], names: Sequence[str]) -> str:
    pairs = list(zip(series["x"], series["y"], strict=True))[:40]
    return ", ".join(f"{names[int(x)] if names and int(x) < len(names) else f'{x:g}'} {y:.3g}" for x, y in pairs)
