#!/usr/bin/env python3
"""Draws the recorded results of the matmul benchmark: bench/results/matmul_TYPE.svg for each type, with the rate over the size of
square products, and kaio's ratio to its best peer for the other shapes. The newest row of each case counts.

    bench/matmul/plot.py [PROTOCOL]        cold (the default) or burst
"""

import pathlib
import sys

bench = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(bench), str(bench.parent / "tools")]
from drawing import curves, drawing  # noqa: E402
from measurements import contestants, recorded  # noqa: E402
from replace_file import replace_file  # noqa: E402

results = bench / "results"
most_bars = 40
colors = {"kaio": "#d1495b", "cublaslt": "#30638e", "torch": "#00798c", "triton": "#edae49", "design": "#8d96a3"}
peers = ("cublaslt", "torch", "triton")


def newest(protocol):
    """{type: {(layout, m, n, k, batch): {contestant: row}}} of the device that was measured last"""
    rows = [row for line in recorded("matmul") if line["protocol"] == protocol for row in contestants(line)]
    if not rows:
        return {}, ""
    device = max(rows, key=lambda row: row["measured"])["device"]
    table = {}
    for row in rows:
        if row["device"] == device:
            case = (row["layout"], row["m"], row["n"], row["k"], row["batch"])
            table.setdefault(row["type"], {}).setdefault(case, {})[row["contestant"]] = row
    return table, device


def value_of(rows):
    """How many times longer the best peer took than kaio."""
    return min(rows[p]["us"] for p in peers if p in rows) / rows["kaio"]["us"]


def spread(cases):
    """At most `most_bars` of the cases, from the worst ratio to the best at equal distances, sorted by their ratios."""
    ordered = sorted(cases.items(), key=lambda case: value_of(case[1]))
    count = min(len(ordered), most_bars)
    return [ordered[i * (len(ordered) - 1) // max(count - 1, 1)] for i in range(count)]


def ratios(to, cases, left, top, width):
    """A bar for each shape."""
    scale = width / max(1.25, *(value_of(rows) for _, rows in cases))
    for place, (case, rows) in enumerate(cases):
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
        others = spread({case: rows for case, rows in cases.items()
                         if case not in square and "kaio" in rows and any(p in rows for p in peers)})
        begin_others = 420 if square else 80
        to = drawing(820, begin_others + 20 * len(others) + 20)
        to.text(20, 24, f"{kind} matmul, {'L2 cache cold, sustained' if protocol == 'cold' else 'back to back'}", size=16)
        to.text(20, 42, device, color="#777")
        if square:
            rates = {name: {case[1]: rows[name]["tflops"] for case, rows in square.items() if name in rows} for name in colors}
            curves(to, rates, colors, 70, 80, 600, 260, "m = n = k", "TFLOP/s")
        if others:
            ratios(to, others, 220, begin_others + 10, 480)
        path = results / f"matmul_{kind}{'' if protocol == 'cold' else '_burst'}.svg"
        replace_file(path, str(to))
        print(path)


if __name__ == "__main__":
    main()
