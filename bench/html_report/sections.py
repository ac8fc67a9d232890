"""The sections about one set of results: next to peers, roofline, bandwidth, and the tables of the page of results."""

from __future__ import annotations

import math
import re
import statistics
from collections import defaultdict
from html import escape
from typing import Any

import report
from cases import PROTOCOLS, Case, Ceilings, device_of
from measurements import newest, summary
from plot import Axis, Plot, Strip, cell, decades, number, powers, short, table
from source import Line

Figure = Any  # (title, heads, rows) or (title, heads, rows, note), as bench/report.py makes them
Numbered = list[tuple[int, Case]]  # cases with their places in the data of the page


class Styles:
    """The classes by which the page hides operations and protocols: o3 p1."""

    def __init__(self, cases: list[Case]):
        self.operations = list(dict.fromkeys(case.operation for case in cases))
        known = set(case.protocol for case in cases)
        self.protocols = [name for name in PROTOCOLS if name in known] + sorted(known - set(PROTOCOLS))

    def of(self, case: Case) -> str:
        return f"o{self.operations.index(case.operation)} p{self.protocols.index(case.protocol)}"

    def named(self, operation: str, protocol: str) -> str:
        """The classes of a row of a table: of random problems, `matmul with bias` is a matmul."""
        operation = operation if operation in self.operations else operation.split(" with ")[0]
        return " ".join(f"{letter}{known.index(name)}" for letter, known, name in
                        (("o", self.operations, operation), ("p", self.protocols, protocol)) if name in known)

    def groups(self, cases: Numbered) -> dict[tuple[str, str], Numbered]:
        """The cases by operation and protocol."""
        found: dict[tuple[str, str], Numbered] = defaultdict(list)
        for key, case in cases:
            found[case.operation, case.protocol].append((key, case))
        return found


def protocol_name(case: Case) -> str:
    return PROTOCOLS.get(case.protocol, case.protocol)


def ratio_axis(ratios: list[float]) -> tuple[float, float]:
    """The ends of an axis of ratios: 1 is within, and at most a sixteenth and sixteen are shown."""
    low, high = max(min(ratios + [0.8]), 1 / 16), min(max(ratios + [1.25]), 16.0)
    return low / 1.1, high * 1.1


def peers_section(cases: Numbered, styles: Styles, lines: list[Line]) -> str:
    compared = [(key, case) for key, case in cases if case.ratio]
    if not compared:
        return ""
    strip = Strip(*ratio_axis([case.ratio for _, case in compared if case.ratio]))
    rows = []
    for (operation, _), group in styles.groups(compared).items():
        first = group[0][1]
        ratios = [(case.ratio, case.text) for _, case in group if case.ratio]
        total = summary(ratios)
        names = report.COMPARED.get(first.benchmark, ("", ", ".join(sorted({case.peer[0] for _, case in group if case.peer}))))[1]
        picture = strip.row([(case.ratio, key) for key, case in group if case.ratio], total["ratio"],
                            total["p5"] if len(ratios) > 4 else None)
        dates = report.span([newest(case.measured) for _, case in group])
        rows.append(f'<tr class="{styles.of(first)}">'
                    f'<td class="name"><i class="dot"></i>{escape(operation)}<small>{escape(names)}</small></td>'
                    + cell(protocol_name(first), style="protocol") + cell(total["problems"], style="number cases")
                    + cell(f"{total['ratio']:.2f}", total["ratio"], "number main")
                    + cell(f"{total['p5']:.2f}", total["p5"], "number") + cell(f"{total['worst']:.2f}", total["worst"], "number")
                    + f'<td class="wide">{picture}</td>' + cell(total["worst_case"], style="text")
                    + cell(dates, style="text") + "</tr>")
    heads = ["operation and peers", "protocol", "#cases", "#geometric mean", "#5th percentile", "#worst", strip.head(),
             "the worst case", "measured"]
    return (f'<section id="peers"><h2>Next to the fastest peer</h2><p>The time of the fastest peer divided by kaio\'s: above 1, kaio is '
            f'faster. A dot is a case, the thick mark the geometric mean, the thin one the 5th percentile.</p>'
            f'{table("ratios", heads, rows)}'
            f'<details><summary>By type, and random problems</summary>{plain(report.compared_figure(lines), styles)}'
            f'{plain(report.swept_figure(lines), styles)}</details></section>')


def share_text(case: Case, ceilings: Ceilings) -> str:
    roof = ceilings.roof(case)
    return f"{100 * roof / case.kaio:.0f} %" if roof else ""


def ceiling_table(ceilings: Ceilings) -> str:
    found = [("copy: device to device", ceilings.copy, "TB/s"), ("memory: the fastest recorded traffic", ceilings.traffic, "TB/s"),
             *[(f"products of {units}", ceiling, "TOP/s" if units == "8 bits" else "TFLOP/s")
               for units, ceiling in sorted(ceilings.units.items(), key=lambda unit: -unit[1].rate)]]
    rows = [f"<tr>{cell(what)}{cell(f'{number(c.rate)} {unit}', c.rate, 'number')}{cell(c.who)}{cell(c.case)}{cell(c.measured)}</tr>"
            for what, c, unit in found if c]
    return table("ceilings", ["ceiling", "#rate", "contestant", "case", "measured"], rows)


def roofline_section(cases: Numbered, styles: Styles, ceilings: Ceilings, device: str) -> str:
    """TFLOP/s over operations per byte, below the measured ceilings."""
    placed = [(key, case) for key, case in cases if case.device == device and case.intensity and case.tflops]
    if not placed:
        return ""
    peaks = [ceiling.rate for ceiling in ceilings.units.values()]
    x = decades([case.intensity for _, case in placed if case.intensity])
    y = decades([case.tflops for _, case in placed if case.tflops] + peaks)
    plot = Plot(x, y, "Roofline", "operations for each byte of operands and results, FLOP/B", "TFLOP/s")
    for power in powers(x):
        plot.grid_x(power, short(power))
    for power in powers(y):
        plot.grid_y(power, short(power))
    if ceilings.copy:
        memory, top = ceilings.copy.rate, max(peaks, default=y.high)
        begin, end = max(x.low, y.low / memory), min(x.high, top / memory)
        plot.line(begin, begin * memory, end, end * memory, "roof")
        middle = math.sqrt(begin * end) / 3
        plot.text(middle, middle * memory, f"copy {number(memory)} TB/s", "roofname end", -10, -6)
    for units, ceiling in ceilings.units.items():
        begin = max(x.low, ceiling.rate / ceilings.copy.rate) if ceilings.copy else x.low
        if begin < x.high:
            plot.line(begin, ceiling.rate, x.high, ceiling.rate, "roof")
            is_close = any(1 < peak / ceiling.rate < 4 for peak in peaks)  # then the place above belongs to the higher ceiling's name
            plot.text(x.high, ceiling.rate, f"{units} {number(ceiling.rate)}", "roofname end", 15 if is_close else -6)
    for key, case in placed:
        if case.intensity and case.tflops:
            plot.dot(case.intensity, case.tflops, styles.of(case), key)
    missing = sorted({case.operation for _, case in cases if case.device == device} - {case.operation for _, case in placed})
    note = f" Not in the plot, because their operations are not counted: {', '.join(missing)}." if missing else ""
    return (f'<section class="roofline"><h2>Roofline, {escape(device)}</h2><p>Each dot is kaio\'s time of a case. The ceilings are '
            'the fastest rates of this device in the recorded runs, of any contestant. Bytes are those of each operand and result once. '
            'A dot above the slope reads more than it writes, or its operands are in L2.'
            f'{escape(note)}</p>{plot}'
            f'<details><summary>The ceilings</summary>{ceiling_table(ceilings)}</details></section>')


def bandwidth_section(cases: Numbered, styles: Styles, ceilings: Ceilings, device: str, lines: list[Line]) -> str:
    """TB/s over the bytes of a call, for calls that the copy ceiling limits."""
    bound = [(key, case) for key, case in cases if case.device == device and case.tbs and ceilings.is_memory_bound(case)]
    if not bound:
        return ""
    x = decades([case.moved for _, case in bound if case.moved])
    rates = [case.tbs for _, case in bound if case.tbs] + ([ceilings.copy.rate] if ceilings.copy else [])
    most = max(rates)
    step = next(step for step in (0.001, 0.005, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0) if most / step <= 8 or step == 10.0)
    y = Axis(0, step * math.ceil(most * 1.02 / step), log=False)
    plot = Plot(x, y, "Bandwidth", "bytes of operands and results of a call", "TB/s")
    for power in powers(x):
        plot.grid_x(power, short(power, " ") + "B")
    for i in range(round(y.high / step) + 1):
        plot.grid_y(i * step, f"{i * step:g}")
    if ceilings.copy:
        plot.line(x.low, ceilings.copy.rate, x.high, ceilings.copy.rate, "roof")
        plot.text(x.low, ceilings.copy.rate, f"copy {number(ceilings.copy.rate)} TB/s", "roofname", -6, 6)
    rows = []
    for key, case in bound:
        if case.moved and case.tbs:
            plot.dot(case.moved, case.tbs, styles.of(case), key)
    for (operation, _), group in styles.groups(bound).items():
        of_rate = sorted((case for _, case in group), key=lambda case: case.tbs or 0)
        best, first = of_rate[-1], group[0][1]
        median = statistics.median(case.tbs for case in of_rate if case.tbs)
        share = best.tbs / ceilings.copy.rate if best.tbs and ceilings.copy else None
        rows.append(f'<tr class="{styles.of(first)}"><td><i class="dot"></i>{escape(operation)}</td>{cell(protocol_name(first))}'
                    + cell(len(group), style="number") + cell(number(median), median, "number")
                    + cell(number(best.tbs or 0), best.tbs, "number")
                    + cell(f"{100 * share:.0f} %" if share else "", share, "number")
                    + cell(f"{best.type} {best.text}", style="text") + "</tr>")
    return (f'<section class="bandwidth"><h2>Bandwidth, {escape(device)}</h2><p>Calls whose time the memory limits: they have '
            f'fewer operations for each byte than the ridge of the roofline.</p>{plot}'
            + table("rates", ["operation", "protocol", "#cases", "#median, TB/s", "#best, TB/s", "#best / copy", "the best case"], rows)
            + copies_table(lines, device) + "</section>")


def copies_table(lines: list[Line], device: str) -> str:
    """Kernels and calls that were measured in turn with a copy of the same bytes."""
    rows = []
    for line in lines:
        if "copy_gbs" in line and device_of(line)[0] == device:
            rate, ratio = line["kernel_gbs" if "kernel_gbs" in line else "call_gbs"], line["ratio"]
            rows.append("<tr>" + cell(line["kernel" if "kernel" in line else "call"]) + cell(number(rate), rate, "number")
                        + cell(number(line["copy_gbs"]), line["copy_gbs"], "number") + cell(f"{ratio:.2f}", ratio, "number main")
                        + f'<td class="wide"><i class="bar" style="width:{min(100 * ratio / 1.1, 100):.1f}%"></i></td>'
                        + cell(line["measured"]) + "</tr>")
    heads = ["kernel or call", "#GB/s", "#copy, GB/s", "#ratio", "<span></span>", "measured"]
    return f"<h3>Next to a copy of the same bytes</h3>{table('copies', heads, rows)}" if rows else ""


def plain(figure: Figure, styles: Styles | None = None) -> str:
    """A table of the page of results. A column is right-aligned if all of its cells are numbers. With `styles`, rows of an
    operation and a protocol are hidden with them."""
    title, heads, rows, note = (*figure, "")[:4]
    if not rows:
        return ""
    classes = [f' class="{styles.named(str(row[0]), str(row[heads.index("protocol")]))}"' if styles else "" for row in rows]
    if styles:
        at = heads.index("protocol")
        rows = [[*row[:at], PROTOCOLS.get(str(row[at]), row[at]), *row[at + 1:]] for row in rows]
    plain_number = re.compile(r"[\d,]+(\.\d+)?|")
    right = [all(plain_number.fullmatch(str(row[i])) for row in rows) for i in range(len(heads))]
    cells = []
    for row, kind in zip(rows, classes):
        values = [float(str(text).replace(",", "")) if is_number and text != "" else None for text, is_number in zip(row, right)]
        cells.append(f"<tr{kind}>" + "".join(cell(str(text).replace("`", ""), value, "number" if is_number else "")
                                             for text, value, is_number in zip(row, values, right)) + "</tr>")
    name = "t-" + "".join(letter if letter.isalnum() else "-" for letter in title.lower())
    words = f"<p>{escape(note.replace('`', '').strip())}</p>" if note else ""
    titles = [("#" if is_number else "") + (head or "contestant") for head, is_number in zip(heads, right)]
    return f"<h3>{escape(title)}</h3>{words}{table(name, titles, cells)}"


def figures_section(lines: list[Line]) -> str:
    others = [line for line in lines if "copy_gbs" not in line and not isinstance(line.get("us"), dict)]
    found = "".join(plain(figure) for figure in report.figures(others))
    devices = sorted({line["device"] for line in others if "device" in line and "problems" not in line})
    note = f"<p>Device: {escape('; '.join(devices))}.</p>" if devices else ""
    return f'<section id="figures"><h2>Other measurements</h2>{note}{found}</section>' if found else ""
