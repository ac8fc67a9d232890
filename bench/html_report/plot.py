"""Draws plots as SVG whose coordinates are percentages: they fill any width, and their text keeps its size."""

from __future__ import annotations

import math
from dataclasses import dataclass
from html import escape


@dataclass(frozen=True)
class Axis:
    """Maps values to percentages of a side."""
    low: float
    high: float
    log: bool = True

    def at(self, value: float) -> float:
        if self.log:
            share = math.log(value / self.low) / math.log(self.high / self.low)
        else:
            share = (value - self.low) / (self.high - self.low)
        return 100 * min(max(share, 0.0), 1.0)


def decades(values: list[float]) -> Axis:
    """A logarithmic axis around the values; its ends are 1, 2 or 5 times a power of ten."""
    def end(value: float, down: bool) -> float:
        power = 10.0 ** math.floor(math.log10(value))
        steps = [power, 2 * power, 5 * power, 10 * power]
        return max(step for step in steps if step <= value) if down else min(step for step in steps if step >= value)
    return Axis(end(min(values) * 0.8, True), end(max(values) * 1.25, False))


def powers(axis: Axis) -> list[float]:
    """The powers of ten on a logarithmic axis."""
    first, last = math.ceil(math.log10(axis.low) - 1e-9), math.floor(math.log10(axis.high) + 1e-9)
    return [10.0 ** power for power in range(first, last + 1)]


def number(value: float) -> str:
    """Three digits, as a person writes them: 0.153, 1.53, 15.3, 153, 1,530."""
    if value == 0:
        return "0"
    digits = max(0, 2 - math.floor(math.log10(abs(value))))
    return f"{value:,.{min(digits, 3)}f}"


def short(value: float, gap: str = "") -> str:
    """A tick of a logarithmic axis: 0.1, 10, 1k, 10M."""
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= size:
            return f"{value / size:g}{gap}{letter}"
    return f"{value:g}{gap}"


class Plot:
    """One plot. `x` and `y` are its axes; a dot's `key` names its entry among the data of the page."""

    def __init__(self, x: Axis, y: Axis, label: str, x_title: str, y_title: str):
        self.x, self.y, self.label, self.titles = x, y, label, (x_title, y_title)
        self.parts: list[str] = []
        self.names: list[str] = []  # texts, above the dots

    def grid_x(self, value: float, text: str) -> None:
        x = self.x.at(value)
        self.parts.append(f'<line class="grid" x1="{x:.2f}%" x2="{x:.2f}%" y1="0" y2="100%"/>'
                          f'<text class="tick mid" x="{x:.2f}%" y="100%" dy="18">{escape(text)}</text>')

    def grid_y(self, value: float, text: str) -> None:
        y = 100 - self.y.at(value)
        self.parts.append(f'<line class="grid" x1="0" x2="100%" y1="{y:.2f}%" y2="{y:.2f}%"/>'
                          f'<text class="tick end" x="0" dx="-7" y="{y:.2f}%" dy="4">{escape(text)}</text>')

    def line(self, x1: float, y1: float, x2: float, y2: float, style: str) -> None:
        self.parts.append(f'<line class="{style}" x1="{self.x.at(x1):.2f}%" y1="{100 - self.y.at(y1):.2f}%" '
                          f'x2="{self.x.at(x2):.2f}%" y2="{100 - self.y.at(y2):.2f}%"/>')

    def text(self, x: float, y: float, words: str, style: str, dy: int = -6, dx: int = 0) -> None:
        self.names.append(f'<text class="{style}" x="{self.x.at(x):.2f}%" y="{100 - self.y.at(y):.2f}%" dx="{dx}" dy="{dy}">'
                          f'{escape(words)}</text>')

    def dot(self, x: float, y: float, style: str, key: int) -> None:
        self.parts.append(f'<circle class="{style}" cx="{self.x.at(x):.2f}%" cy="{100 - self.y.at(y):.2f}%" r="3.2" '
                          f'data-i="{key}"/>')

    def __str__(self) -> str:
        return (f'<div class="plot"><p class="axis">{escape(self.titles[1])}</p>'
                f'<svg role="img" aria-label="{escape(self.label)}">{"".join(self.parts + self.names)}</svg>'
                f'<p class="axis below">{escape(self.titles[0])}</p></div>')


class Strip:
    """A row of dots over ratios, for a cell of a table; all strips of a table share the axis."""

    def __init__(self, low: float, high: float, attribute: str = "i"):
        self.x, self.attribute = Axis(low, high), attribute
        self.ticks = [2.0 ** power for power in range(math.floor(math.log2(low)), math.ceil(math.log2(high)) + 1)
                      if low <= 2.0 ** power <= high]

    def head(self) -> str:
        marks = "".join(f'<text class="tick mid" x="{self.x.at(tick):.2f}%" y="12">{tick:g}</text>' for tick in self.ticks)
        return f'<svg class="strip head">{marks}</svg>'

    def row(self, ratios: list[tuple[float, int]], mean: float, low: float | None, near: float = 1.05) -> str:
        """Dots of (ratio, key), a thick mark at the mean and a thin one at the 5th percentile."""
        parts = [f'<line class="{"one" if tick == 1 else "grid"}" x1="{self.x.at(tick):.2f}%" x2="{self.x.at(tick):.2f}%" '
                 f'y1="0" y2="100%"/>' for tick in self.ticks]
        for ratio, key in ratios:
            style = "better" if ratio > near else "worse" if ratio < 1 / near else "level"
            y = 17 + (key * 0.6180339887 % 1 - 0.5) * (20 if len(ratios) > 4 else 0)  # spread evenly, alike in each run
            parts.append(f'<circle class="{style}" cx="{self.x.at(ratio):.2f}%" cy="{y:.1f}" r="2.8" data-{self.attribute}="{key}"/>')
        if low is not None:
            parts.append(f'<line class="low" x1="{self.x.at(low):.2f}%" x2="{self.x.at(low):.2f}%" y1="5" y2="29"/>')
        parts.append(f'<line class="mean" x1="{self.x.at(mean):.2f}%" x2="{self.x.at(mean):.2f}%" y1="1" y2="33"/>')
        return f'<svg class="strip">{"".join(parts)}</svg>'


def cell(text: object, value: float | None = None, style: str = "") -> str:
    """A cell of a table; `value` is what it is sorted by, if that is not its text."""
    sort = "" if value is None else f' data-v="{value:.6g}"'
    return f'<td{sort}{f" class={style!r}" if style else ""}>{escape(str(text))}</td>'


def table(name: str, heads: list[str], rows: list[str]) -> str:
    """A table that sorts by the column whose head is pressed. A head that begins with `#` is of numbers; one with `<` is HTML."""
    cells = []
    for head in heads:
        if head.startswith("<"):
            cells.append(f'<th class="wide">{head}</th>')
        else:
            style = ' class="number"' if head.startswith("#") else ""
            cells.append(f'<th{style}><button type="button">{escape(head.removeprefix("#"))}</button></th>')
    return (f'<div class="scroll"><table id="{name}" class="sorted"><thead><tr>{"".join(cells)}</tr></thead>'
            f'<tbody>{"".join(rows)}</tbody></table></div>')
