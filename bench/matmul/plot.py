#!/usr/bin/env python3
"""Draws what is recorded of the benchmark of matmul: bench/results/matmul_TYPE.svg for each type, with the rate over the
size of square products, and kaio's ratio to its best peer for the other shapes. The newest row of each case counts.

    bench/matmul/plot.py [PROTOCOL]        cold (the default) or burst
"""

import html
import json
import math
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
from replace_file import replace_file  # noqa: E402

results = pathlib.Path(__file__).resolve().parent.parent / "results"
colors = {"kaio": "#d1495b", "cublaslt": "#30638e", "torch": "#00798c", "triton": "#edae49", "design": "#8d96a3"}
peers = ("cublaslt", "torch", "triton")


def newest(protocol):
    """{type: {(layout, m, n, k, batch): {contestant: row}}} of the device that was measured last"""
    rows = [json.loads(line) for file in sorted(results.glob("*.jsonl")) for line in file.read_text().splitlines()]
    rows = [row for row in rows if row["benchmark"] == "matmul" and row["protocol"] == protocol]
    if not rows:
        return {}, ""
    device = max(rows, key=lambda row: row.get("date", ""))["device"]
    table = {}
    for row in rows:
        if row["device"] == device:
            case = (row["layout"], row["m"], row["n"], row["k"], row["batch"])
            table.setdefault(row["type"], {}).setdefault(case, {})[row["contestant"]] = row
    return table, device


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


def squares(to, cases, left, top, width, height):
    """TFLOP/s over the size, one line for each contestant."""
    sizes = sorted(case[1] for case in cases)
    most = max(row["tflops"] for rows in cases.values() for row in rows.values())
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
    to.text(left + width / 2, top + height + 32, "m = n = k", "middle")
    to.text(left, top - 8, "TFLOP/s")
    for place, (name, color) in enumerate(colors.items()):
        points = [(x_of(case[1]), y_of(rows[name]["tflops"])) for case, rows in sorted(cases.items(), key=lambda c: c[0][1])
                  if name in rows]
        if points:
            to.line(points, color, 2.5 if name == "kaio" else 1.5)
            for x, y in points:
                to.dot(x, y, color)
            to.bar(left + width + 14, top + 20 * place, 12, 12, color)
            to.text(left + width + 32, top + 10 + 20 * place, name)


def ratios(to, cases, left, top, width):
    """A bar a shape: how many times longer the best peer took than kaio."""
    value_of = lambda rows: min(rows[p]["us"] for p in peers if p in rows) / rows["kaio"]["us"]
    scale = width / max(1.25, *(value_of(rows) for rows in cases.values()))
    for place, (case, rows) in enumerate(sorted(cases.items(), key=lambda c: (c[0][4], c[0][1:]))):
        y = top + 20 * place
        value = value_of(rows)
        layout, m, n, k, batch = case
        to.text(left - 8, y + 11, f"{f'{batch} x ' if batch > 1 else ''}{m} x {n} x {k} {layout}", "end")
        to.bar(left, y, value * scale, 14, colors["kaio"] if value >= 1 else "#e6a5ad")
        to.text(left + value * scale + 6, y + 11, f"{value:.2f}")
    to.line([(left + scale, top - 6), (left + scale, top + 20 * len(cases))], "#333")
    to.text(left + scale, top - 10, "the best peer", "middle")


def main():
    protocol = sys.argv[1] if len(sys.argv) > 1 else "cold"
    if protocol not in ("cold", "burst"):
        sys.exit(__doc__)
    table, device = newest(protocol)
    if not table:
        sys.exit("plot.py: no row of the benchmark matmul is recorded; see bench/record.py")
    for kind, cases in table.items():
        square = {case: rows for case, rows in cases.items() if case[1] == case[2] == case[3] and case[4] == 1}
        others = {case: rows for case, rows in cases.items()
                  if case not in square and "kaio" in rows and any(p in rows for p in peers)}
        begin_others = 420 if square else 80
        to = drawing(820, begin_others + 20 * len(others) + 20)
        to.text(20, 24, f"{kind} matmul, {'L2 cache cold, sustained' if protocol == 'cold' else 'back to back'}", size=16)
        to.text(20, 42, device, color="#777")
        if square:
            squares(to, square, 70, 80, 600, 260)
        if others:
            ratios(to, others, 220, begin_others + 10, 480)
        path = results / f"matmul_{kind}{'' if protocol == 'cold' else '_burst'}.svg"
        replace_file(path, str(to))
        print(path)


if __name__ == "__main__":
    main()
