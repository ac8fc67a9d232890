#!/usr/bin/env python3
"""Compares two builds by the lines of `regression`: what became slower, and whose results differ.

    compare.py --old OLD... --new NEW... [--limit 1.05]

Several files of a side are runs of one build: a time is the median of its runs. For each kind of problem, and for all, it
prints the geometric mean of new / old of both protocols, the 95th percentile, and the worst. Then it prints every problem
above the limit, every checksum that differs by more than the problem's tolerance, and every failure. Exits with 1 if a
result differs, a call failed, or a problem is missing on one side; times alone do not fail.
"""

import argparse
import collections
import json
import math
import pathlib
import statistics
import sys

protocols = {"burst_us": "burst", "cold_us": "cold"}


def read(files):
    """{(kind, problem, number among equal problems): its rows, one per file}; the failures, as texts; the seeds."""
    runs, failures, seeds = collections.defaultdict(list), set(), set()
    for file in files:
        equals = collections.Counter()
        for line in file.read_text(encoding="utf-8").splitlines():
            if not line.startswith("{"):
                continue
            row = json.loads(line)
            if "seed" in row:
                seeds.add(row["seed"])
            elif "error" in row:
                failures.add(f"{row['kind']} {row['problem']}: {row['error']}")
            else:
                name = row["kind"], row["problem"]
                runs[(*name, equals[name])].append(row)
                equals[name] += 1
    return runs, failures, seeds


def median(rows, protocol):
    return statistics.median(row[protocol] for row in rows)


def geometric_mean(ratios):
    return math.exp(statistics.fmean(map(math.log, ratios)))


def percentile(ratios, share):
    return sorted(ratios)[min(len(ratios) - 1, math.ceil(share * len(ratios)) - 1)]


def difference(old, new):
    """The largest relative difference of two checksums: each has a norm and two sums for each output."""
    if len(old) != len(new) or None in old or None in new:
        return math.inf
    largest = 0.0
    for at in range(0, len(old), 3):
        before, after = old[at:at + 3], new[at:at + 3]
        scale = max(before[0], after[0])
        if scale == 0:
            continue
        largest = max(largest, abs(before[0] - after[0]) / scale,
                      *(abs(x * before[0] - y * after[0]) / scale for x, y in zip(before[1:], after[1:])))
    return largest


def name_of(key, old, new):
    kernels = [rows[0].get("kernel", "") for rows in (old, new)]
    kernel = kernels[0] if kernels[0] == kernels[1] else " -> ".join(kernels)
    return f"{key[0]} {key[1]}" + (f"   [{kernel}]" if kernel else "")


def print_table(pairs):
    print(f"{'kind':20}{'problems':>9}   {'':7}{'mean':>7}{'p95':>7}{'worst':>7}")
    kinds = list(dict.fromkeys(key[0] for key in pairs))
    for kind in [*kinds, "all"]:
        of_kind = {key: pair for key, pair in pairs.items() if kind in (key[0], "all")}
        for protocol, title in protocols.items():
            ratios = {key: median(new, protocol) / median(old, protocol) for key, (old, new) in of_kind.items()}
            worst = max(ratios, key=ratios.get)
            values = list(ratios.values())
            print(f"{kind:20}{len(values):9}   {title:7}{geometric_mean(values):7.3f}{percentile(values, 0.95):7.3f}"
                  f"{ratios[worst]:7.3f}   {name_of(worst, *of_kind[worst])}")


def print_slower(pairs, limit):
    for protocol, title in protocols.items():
        found = []
        for key, (old, new) in pairs.items():
            before, after = median(old, protocol), median(new, protocol)
            if after > limit * before:
                found.append((after / before, before, after, name_of(key, old, new)))
        print(f"\n{title}: {len(found)} of {len(pairs)} above {limit:g}")
        for ratio, before, after, name in sorted(found, reverse=True):
            print(f"{ratio:7.3f} {before:10.2f} -> {after:10.2f} us   {name}")


def print_list(title, lines):
    print(f"\n{title}: {len(lines) or 'none'}")
    for line in sorted(lines):
        print(f"  {line}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--old", type=pathlib.Path, nargs="+", required=True)
    parser.add_argument("--new", type=pathlib.Path, nargs="+", required=True)
    parser.add_argument("--limit", type=float, default=1.05)
    arguments = parser.parse_args()
    old, old_failures, old_seeds = read(arguments.old)
    new, new_failures, new_seeds = read(arguments.new)
    if len(old_seeds | new_seeds) > 1:
        sys.exit(f"kaio: the files have several seeds, {sorted(old_seeds | new_seeds)}; compare runs of one seed")
    pairs = {key: (rows, new[key]) for key, rows in old.items() if key in new}
    if not pairs:
        sys.exit("kaio: the two sides have no problem in common; give files that `regression` wrote")

    print_table(pairs)
    print_slower(pairs, arguments.limit)
    differing = []
    for key, (before, after) in pairs.items():
        apart = max(difference(before[0]["checksum"], row["checksum"]) for row in [*before, *after])
        if apart > before[0]["tolerance"]:
            differing.append(f"{apart:9.2e} > {before[0]['tolerance']:g}   {name_of(key, before, after)}")
    print_list("results that differ", differing)
    missing = [f"{key[0]} {key[1]}" for key in old.keys() ^ new.keys()]
    print_list("on one side alone", missing)
    failures = [f"old: {text}" for text in old_failures] + [f"new: {text}" for text in new_failures]
    print_list("failures", failures)
    return 1 if differing or missing or failures else 0


if __name__ == "__main__":
    sys.exit(main())
