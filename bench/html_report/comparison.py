"""The section that compares two runs: what became faster and slower, and how far the peers, whose code is the same, moved."""

from __future__ import annotations

import collections
import math
import statistics
from dataclasses import dataclass
from html import escape

import measurements
from cases import Case
from measurements import KAIO, is_peer
from plot import Strip, cell, number, table
from sections import Styles, protocol_name, ratio_axis

MOST_ROWS = 150  # of each table of changes


@dataclass(frozen=True)
class Pair:
    """A case that both runs measured."""
    old: Case
    new: Case

    @property
    def speed(self) -> float:
        """How many times faster the new run is."""
        return self.old.kaio / self.new.kaio

    @property
    def peers(self) -> list[float]:
        """The same of each peer that both runs measured anew."""
        return [self.old.us[name] / us for name, us in self.new.us.items()
                if is_peer(name) and name in self.old.us and self.old.measured[name] != self.new.measured[name]]


@dataclass(frozen=True)
class Pairs:
    pairs: list[Pair]
    kept: int  # cases with one and the same measurement on both sides
    only_old: int
    only_new: int


def identity(case: Case, device: str) -> tuple[str, ...]:
    return measurements.key({**case.line, "device": device})


def paired(old: list[Case], new: list[Case]) -> Pairs:
    """The cases that both runs have, on one device with any driver; if there are none, on any device."""
    same = bool({case.device for case in old} & {case.device for case in new})
    of_old, of_new = ({identity(case, case.device if same else ""): case for case in side} for side in (old, new))
    both = [Pair(of_old[name], case) for name, case in of_new.items() if name in of_old]
    anew = [pair for pair in both if (pair.old.measured[KAIO], pair.old.kaio) != (pair.new.measured[KAIO], pair.new.kaio)]
    return Pairs(anew, len(both) - len(anew), len(of_old) - len(both), len(of_new) - len(both))


def mean_of(ratios: list[float]) -> float:
    return math.exp(statistics.fmean(map(math.log, ratios)))


def drift(pairs: list[Pair]) -> str:
    """Where nine of ten of the peers' ratios are, whose code did not change: the noise of the two runs."""
    ratios = sorted(ratio for pair in pairs for ratio in pair.peers)
    if len(ratios) < 5:
        return ""
    ends = ratios[len(ratios) // 20], ratios[-1 - len(ratios) // 20]
    return f"{mean_of(ratios):.2f} ({ends[0]:.2f} to {ends[1]:.2f})"


def changes(name: str, title: str, pairs: list[Pair], styles: Styles) -> str:
    rows = []
    for pair in pairs[:MOST_ROWS]:
        new = pair.new
        rows.append(f'<tr class="{styles.of(new)}"><td><i class="dot"></i>{escape(new.operation)}</td>{cell(new.type)}'
                    f'{cell(new.text)}{cell(protocol_name(new))}' + cell(number(pair.old.kaio), pair.old.kaio, "number")
                    + cell(number(new.kaio), new.kaio, "number") + cell(f"{pair.speed:.2f}", pair.speed, "number main")
                    + cell(pair.old.measured[KAIO]) + cell(new.measured[KAIO]) + "</tr>")
    more = f"<p>The {MOST_ROWS} largest changes of {len(pairs)}.</p>" if len(pairs) > MOST_ROWS else ""
    counts = collections.Counter(protocol_name(pair.new) for pair in pairs)
    of_each = f" ({', '.join(f'{count} {protocol}' for protocol, count in sorted(counts.items()))})" if pairs else ""
    body = more + table(name, ["operation", "type", "case", "protocol", "#old, µs", "#new, µs", "#old / new", "old measured",
                               "new measured"], rows) if rows else "<p>None.</p>"
    return f'<details{" open" if rows else ""}><summary>{title}: {len(pairs)}{of_each}</summary>{body}</details>'


def comparison_section(found: Pairs, names: tuple[str, str], limit: float, styles: Styles) -> str:
    head = (f'<section id="comparison"><h2>Two runs: {escape(names[0])} → {escape(names[1])}</h2>'
            f'<p>The old time divided by the new one: above 1, the new run is faster. A change counts from a factor of {limit:g}; '
            'smaller ones are noise. The last column has the ratios of the peers, whose code did not change.</p>'
            f'<p>{len(found.pairs)} cases were measured in both runs, and {found.kept} have one measurement on both sides. '
            f'{found.only_old} are in the old run alone, {found.only_new} in the new one alone.</p>')
    for what in ("device", "driver"):
        sides = [{getattr(case, what) for case in side} - {""} for side in zip(*((pair.old, pair.new) for pair in found.pairs))]
        if sides and all(sides) and sides[0] != sides[1]:
            head += f'<p class="warning">The {what}s differ: {escape(" and ".join(", ".join(sorted(side)) for side in sides))}.</p>'
    if not found.pairs:
        return head + "<p>So there is nothing to compare.</p></section>"
    numbered = list(enumerate(found.pairs))
    groups: dict[tuple[str, str], list[tuple[int, Pair]]] = {}
    for at in numbered:
        groups.setdefault((at[1].new.operation, at[1].new.protocol), []).append(at)
    strip, rows = Strip(*ratio_axis([pair.speed for pair in found.pairs]), attribute="c"), []
    for group in groups.values():
        speeds, first = [pair.speed for _, pair in group], group[0][1].new
        mean = mean_of(speeds)
        faster, slower = sum(speed > limit for speed in speeds), sum(speed < 1 / limit for speed in speeds)
        rows.append(f'<tr class="{styles.of(first)}"><td class="name"><i class="dot"></i>{escape(first.operation)}</td>'
                    + cell(protocol_name(first), style="protocol") + cell(len(group), style="number cases")
                    + cell(f"{mean:.2f}", mean, "number main") + cell(faster, style="number") + cell(slower, style="number")
                    + f'<td class="wide">{strip.row([(pair.speed, key) for key, pair in group], mean, None, limit)}</td>'
                    + cell(drift([pair for _, pair in group]), style="text") + "</tr>")
    heads = ["operation", "protocol", "#cases", "#geometric mean", "#faster", "#slower", strip.head(), "peers: mean (9 of 10)"]
    ordered = sorted(found.pairs, key=lambda pair: pair.speed)
    return (head + table("changes", heads, rows)
            + changes("slower", "Slower", [pair for pair in ordered if pair.speed < 1 / limit], styles)
            + changes("faster", "Faster", [pair for pair in reversed(ordered) if pair.speed > limit], styles) + "</section>")
