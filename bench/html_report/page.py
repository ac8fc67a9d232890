"""Puts the report together: one HTML file with its style, its script and its data, which loads nothing."""

from __future__ import annotations

import json
import pathlib
from html import escape

from cases import PROTOCOLS, Case, Ceilings, cases_of, ceilings_of
from comparison import Pairs, comparison_section, paired
from measurements import KAIO, newest, summary
from plot import number
from report import span
from sections import Styles, bandwidth_section, figures_section, peers_section, roofline_section
from source import Line

HERE = pathlib.Path(__file__).resolve().parent
# Colours that are apart from each other on white and on black; further operations begin again.
HUES = ["#4c78a8", "#2ca5c9", "#1b9e77", "#66a61e", "#b5a01e", "#e8871e", "#d95f4c", "#c2407f", "#9467bd", "#7570b3", "#a6761d",
        "#808a94", "#e377c2", "#17becf"]


def entry(case: Case, styles: Styles, ceilings: dict[str, Ceilings], texts: dict[str, int]) -> list[object]:
    """A case in the data of the page: numbers and places in its list of texts, in the order that page.js names."""
    text = lambda words: texts.setdefault(words, len(texts))
    rounded = lambda value, digits=4: None if value is None else float(f"{value:.{digits}g}")
    roof = ceilings[case.device].roof(case)
    times = [[text(name), rounded(us, 6), text(case.measured[name])]
             for name, us in sorted(case.us.items(), key=lambda one: (one[0] != KAIO, one[1]))]
    return [styles.operations.index(case.operation), text(case.type), styles.protocols.index(case.protocol), text(case.text),
            text(case.device + (f", driver {case.driver}" if case.driver else ", driver not recorded")), times, rounded(case.tflops),
            rounded(case.tbs), rounded(case.intensity), rounded(roof / case.kaio if roof else None), rounded(case.ratio)]


def data_of(cases: list[Case], pairs: Pairs | None, styles: Styles, ceilings: dict[str, Ceilings]) -> str:
    texts: dict[str, int] = {}
    text = lambda words: texts.setdefault(words, len(texts))
    entries = [entry(case, styles, ceilings, texts) for case in cases]
    compared = [[styles.operations.index(p.new.operation), text(p.new.type), styles.protocols.index(p.new.protocol), text(p.new.text),
                 p.old.kaio, text(p.old.measured[KAIO]), p.new.kaio, text(p.new.measured[KAIO])] for p in (pairs.pairs if pairs else [])]
    data = {"operations": styles.operations, "protocols": [PROTOCOLS.get(name, name) for name in styles.protocols], "cases": entries,
            "pairs": compared, "texts": list(texts)}
    return json.dumps(data, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")


def tiles(cases: list[Case], lines: list[Line], ceilings: dict[str, Ceilings]) -> str:
    """The few numbers that one wants first."""
    found = [("times of kaio", f"{len(cases):,}", f"{len({case.operation for case in cases})} operations, each case in its protocols")]
    for protocol, name in PROTOCOLS.items():
        ratios = [(case.ratio, f"{case.operation} {case.text}") for case in cases if case.protocol == protocol and case.ratio]
        if ratios and protocol:
            total = summary(ratios)
            found.append((f"{name}, next to the fastest peer", f"{total['ratio']:.2f} ×",
                          f"{total['problems']} cases, worst {total['worst']:.2f}"))
    for device, of_device in ceilings.items():
        if of_device.copy:
            peaks = ", ".join(f"{units} {number(peak.rate)}" for units, peak in sorted(of_device.units.items(), key=lambda u: -u[1].rate))
            found.append((f"copy, {device}", f"{number(of_device.copy.rate)} TB/s", f"TFLOP/s: {peaks}" if peaks else ""))
    if lines:
        dates = [newest(line["measured"]) for line in lines]
        last = max(dates)
        found.append(("measured", span(dates), f"the newest at commit {last.split()[-1]}"))
    return '<div class="tiles">' + "".join(f"<div><small>{escape(name)}</small><b>{escape(value)}</b><small>{escape(more)}</small></div>"
                                           for name, value, more in found) + "</div>"


def filters(styles: Styles) -> str:
    chips = "".join(f'<button type="button" class="chip o{i}" data-o="{i}" aria-pressed="true"><i class="dot"></i>{escape(name)}</button>'
                    for i, name in enumerate(styles.operations))
    ways = "".join(f'<button type="button" data-p="{i}" aria-pressed="false">{escape(PROTOCOLS.get(name, name))}</button>'
                   for i, name in enumerate(styles.protocols))
    return (f'<nav aria-label="Filter"><div class="ways"><button type="button" data-p="-1" aria-pressed="false">all</button>{ways}</div>'
            f'<div class="chips"><button type="button" class="chip all" data-o="-1">all operations</button>{chips}</div></nav>')


CASES = """<section id="all"><h2>All cases</h2>
<p><input id="search" type="search" placeholder="matmul 4096 bf16 …" aria-label="Search the cases"> <span id="count"></span></p>
<div class="scroll"><table id="cases"><thead></thead><tbody></tbody></table></div>
<p><button type="button" id="more">show more</button></p><noscript><p>The table of all cases needs JavaScript.</p></noscript></section>"""


def page(lines: list[Line], sources: list[str], compare: tuple[list[Line], list[Line], tuple[str, str], float] | None) -> str:
    """The report of some lines; `compare`: the lines of an old and a new run, their names, and the factor from which a change counts."""
    cases = cases_of(lines)
    old, new = (cases_of(compare[0]), cases_of(compare[1])) if compare else ([], [])
    styles = Styles(cases + new)
    devices = sorted({case.device for case in cases}, key=lambda device: -sum(case.device == device for case in cases))
    ceilings = {device: ceilings_of(cases, lines, device) for device in devices}
    numbered = list(enumerate(cases))
    pairs = paired(old, new) if compare else None
    body = [comparison_section(pairs, compare[2], compare[3], styles)] if pairs and compare else []
    body.append(peers_section(numbered, styles, lines))
    for device in devices:
        body.append(roofline_section(numbered, styles, ceilings[device], device))
        body.append(bandwidth_section(numbered, styles, ceilings[device], device, lines))
    body += [CASES if cases else "", figures_section(lines)]
    colours = "".join(f".o{i}{{--c:{HUES[i % len(HUES)]}}}" for i in range(len(styles.operations)))
    notes = (f'<p>From {escape(", ".join(sources))}. <b>Repeated</b>: a CUDA graph of runs whose operands L2 does not hold. <b>Single</b>: '
             "single runs, each after a read that displaces L2. Times are medians.</p>")
    return f"""<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>kaio: benchmarks</title>
<script>addEventListener("error", e => {{ document.documentElement.dataset.fault = e.message || "error"; }});</script>
<style>{(HERE / "page.css").read_text(encoding="utf-8")}{colours}</style><style id="hidden"></style></head>
<body><header><h1>kaio benchmarks</h1>{notes}{tiles(cases, lines, ceilings)}</header>
{filters(styles) if styles.operations else ""}
<main>{"".join(body)}</main><div id="tip" role="tooltip" hidden></div>
<script type="application/json" id="data">{data_of(cases, pairs, styles, ceilings)}</script>
<script>{(HERE / "page.js").read_text(encoding="utf-8")}</script></body></html>
"""
