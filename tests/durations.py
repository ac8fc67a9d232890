#!/usr/bin/env python3
"""Lists the slowest builds and tests of a run.

    durations.py [--since SECONDS] [--count N] BUILD...      --since: count only files built after this Unix time
"""

import argparse
import pathlib
import xml.etree.ElementTree


def builds(folder, since):
    """(seconds, name) of each output that was built since then."""
    log = folder / ".ninja_log"
    last = {}
    for line in log.read_text().splitlines()[1:] if log.exists() else []:
        fields = line.split("\t")
        if len(fields) == 5 and int(fields[2]) >= since * 1_000_000_000:
            last[fields[3]] = (int(fields[1]) - int(fields[0])) / 1000
    for output, seconds in last.items():
        yield seconds, f"{folder.name}/{output}"


def tests(folder):
    report = folder / "tests.xml"
    if report.exists():
        for case in xml.etree.ElementTree.parse(report).getroot().iter("testcase"):
            yield float(case.get("time") or 0), f"{folder.name}/{case.get('name')}"


def show(title, rows, count):
    rows = sorted(rows, reverse=True)
    if rows:
        print(f"{title} ({len(rows)}, {sum(seconds for seconds, _ in rows):.0f} s):")
    for seconds, name in rows[:count]:
        print(f"  {seconds:7.1f} s  {name}")


parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--since", type=int, default=0)
parser.add_argument("--count", type=int, default=15)
parser.add_argument("build", nargs="+", type=pathlib.Path)
arguments = parser.parse_args()
show("The slowest files to build", [row for folder in arguments.build for row in builds(folder, arguments.since)],
     arguments.count)
show("The slowest tests", [row for folder in arguments.build for row in tests(folder)], arguments.count)
