#!/usr/bin/env python3
"""Draws the recorded results of the attention benchmark: bench/results/attention_TYPE.svg for each type, with the rate over the
length. A panel is a head size and a work for which several lengths were measured with the default B * S and H * D. The newest
row of each case counts.

    bench/attention/plot.py [PROTOCOL]        cold (the default) or burst
"""

import pathlib
import sys

bench = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(bench), str(bench.parent / "tools")]
from drawing import curves, drawing  # noqa: E402
from measurements import contestants, recorded  # noqa: E402
from replace_file import replace_file  # noqa: E402

results = bench / "results"
colors = {"kaio": "#d1495b", "cudnn": "#30638e", "flash": "#00798c", "flash_3": "#4f9d69", "flex": "#edae49",
          "efficient": "#8d96a3"}


def panels(protocol):
    """{type: {(head size, work): {contestant: {length: TFLOP/s}}}} of the device that was measured last, and its name"""
    rows = [row for line in recorded("attention") if line["protocol"] == protocol for row in contestants(line)]
    if not rows:
        sys.exit("plot.py: no row of the benchmark attention is recorded; see bench/record.py")
    device = max(rows, key=lambda row: row["measured"])["device"]
    table = {}
    for row in rows:
        batches, length, heads, key_heads, size = map(int, row["shape"].split("x"))
        if row["device"] == device and heads == key_heads and batches * length == 16384 and heads * size == 2048:
            rates = table.setdefault(row["type"], {}).setdefault((size, row["work"]), {})
            rates.setdefault(row["contestant"], {})[length] = row["tflops"]
    return table, device


def main():
    protocol = sys.argv[1] if len(sys.argv) > 1 else "cold"
    if protocol not in ("cold", "burst"):
        sys.exit(__doc__)
    table, device = panels(protocol)
    for kind, cases in table.items():
        cases = {case: rates for case, rates in sorted(cases.items()) if len(rates.get("kaio", {})) > 1}
        if not cases:
            continue
        across = 2
        to = drawing(560 * across, 60 + 330 * -(-len(cases) // across))
        to.text(20, 24, f"{kind} attention, {'L2 cache cold, sustained' if protocol == 'cold' else 'back to back'}", size=16)
        to.text(20, 42, device, color="#777")
        for place, ((size, work), rates) in enumerate(cases.items()):
            left, top = 70 + 560 * (place % across), 100 + 330 * (place // across)
            to.text(left + 190, top - 8, f"D = {size}, {work}", "middle", 14)
            curves(to, rates, colors, left, top, 380, 220, "queries and keys", "TFLOP/s")
        path = results / f"attention_{kind}{'' if protocol == 'cold' else '_burst'}.svg"
        replace_file(path, str(to))
        print(path)


if __name__ == "__main__":
    main()
