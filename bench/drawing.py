"""Draws figures over sizes as SVG, for the plot.py of the benchmarks."""

import html
import math


class drawing:
    def __init__(self, width, height):
        self.parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
                      f'viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="12">',
                      f'<rect width="{width}" height="{height}" fill="white"/>']

    def text(self, x, y, words, anchor="start", size=12, color="#333"):
        self.parts.append(f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}" fill="{color}">'
                          f'{html.escape(words)}</text>')

    def line(self, points, color, width=1.0):
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        self.parts.append(f'<polyline points="{path}" fill="none" stroke="{color}" stroke-width="{width}"/>')

    def dot(self, x, y, color):
        self.parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{color}"/>')

    def bar(self, x, y, width, height, color):
        self.parts.append(f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" fill="{color}"/>')

    def __str__(self):
        return "\n".join([*self.parts, "</svg>"]) + "\n"


def curves(to, rates, colors, left, top, width, height, x_title, y_title):
    """A line for each of `rates`, {name: {size: value}}; kaio's is thicker."""
    sizes = sorted({size for values in rates.values() for size in values})
    most = max(value for values in rates.values() for value in values.values())
    step = 10 ** math.floor(math.log10(most))
    step = step / 5 if most / step < 2 else step / 2 if most / step < 5 else step
    top_value = step * math.ceil(most / step)
    x_of = lambda size: left + width * sizes.index(size) / max(1, len(sizes) - 1)
    y_of = lambda value: top + height * (1 - value / top_value)
    for i in range(round(top_value / step) + 1):
        to.line([(left, y_of(i * step)), (left + width, y_of(i * step))], "#ddd")
        to.text(left - 6, y_of(i * step) + 4, f"{i * step:g}", "end")
    for size in sizes:
        to.text(x_of(size), top + height + 16, str(size), "middle")
    to.text(left + width / 2, top + height + 32, x_title, "middle")
    to.text(left, top - 8, y_title)
    for place, (name, color) in enumerate(colors.items()):
        points = [(x_of(size), y_of(value)) for size, value in sorted(rates.get(name, {}).items())]
        if points:
            to.line(points, color, 2.5 if name == "kaio" else 1.5)
            for x, y in points:
                to.dot(x, y, color)
            to.bar(left + width + 14, top + 20 * place, 12, 12, color)
            to.text(left + width + 32, top + 10 + 20 * place, name)
