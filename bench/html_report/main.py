#!/usr/bin/env python3
"""Writes one HTML file with the recorded benchmarks: next to peers, roofline, bandwidth, all cases, and two runs compared.

It has all of its data, loads nothing, and needs no network. Times are those of bench/results, or of the files of --results, as
bench/record.py writes them or as a benchmark prints them (--json)."""

from __future__ import annotations

import argparse
import pathlib
import sys

BENCH = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(BENCH), str(BENCH.parent / "tools")]
import measurements  # noqa: E402
import source  # noqa: E402
from page import page  # noqa: E402
from replace_file import replace_file  # noqa: E402

EXAMPLES = """examples:
  tools/kaio bench --html
  tools/kaio bench --html - --results new.jsonl
  tools/kaio bench --html report.html --compare 2026-11-25 HEAD
  tools/kaio bench --html report.html --compare old.jsonl new.jsonl --limit 1.03
  tools/kaio bench --html report.html --compare runs.jsonl@2026-11-27 runs.jsonl@a75a9e0f
"""


def options_of(words: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="tools/kaio bench --html", description=__doc__, epilog=EXAMPLES,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", nargs="?", default=str(BENCH.parent / "build" / "bench.html"),
                        help="the file to write; - is the standard output; by default build/bench.html")
    parser.add_argument("--results", nargs="+", metavar="FILE", help="read these files of JSON lines in place of bench/results")
    parser.add_argument("--compare", nargs=2, metavar=("OLD", "NEW"),
                        help="compare two runs: files, times of a date or a commit in a file (FILE@2026-11-27, FILE@a75a9e0f), "
                        "or the results that a commit has, or that there were at the end of a date")
    parser.add_argument("--limit", type=float, default=1.05, metavar="FACTOR",
                        help="the factor from which a change counts; smaller ones are noise; by default 1.05")
    options = parser.parse_args(words)
    if not 1 <= options.limit < 100:
        source.refuse(f"--limit is {options.limit:g}; a factor of 1 or more is needed, such as 1.05")
    return options


def main() -> None:
    options = options_of(sys.argv[1:])
    compare = None
    if options.compare:
        compare = (*map(source.side, options.compare), tuple(options.compare), options.limit)
    if options.results:
        files = [pathlib.Path(name) for name in options.results]
        lines = source.merged([line for file in files for line in source.read_file(file)])
    elif compare and any(pathlib.Path(name.rpartition("@")[0] or name).exists() for name in options.compare[1:]):
        files, lines = [pathlib.Path(options.compare[1])], compare[1]
    else:
        files = sorted(file for file in measurements.RESULTS.glob("*.jsonl") if file.stem != "reliability")
        lines = [line for file in files for line in source.read_file(file)]
    if not lines:
        source.refuse(f"there are no measurements in {', '.join(map(str, files))}")
    text = page(lines, [file.name for file in files], compare)
    if options.file == "-":
        sys.stdout.write(text)
        return
    target = pathlib.Path(options.file)
    try:
        if target.parent == BENCH.parent / "build":
            target.parent.mkdir(exist_ok=True)
        replace_file(target, text)
    except OSError as error:
        source.refuse(f"{target} cannot be written: {error.strerror}")
    print(target)


if __name__ == "__main__":
    main()
