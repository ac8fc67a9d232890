#!/usr/bin/env python3
"""Records what benchmarks print: reads their JSON lines (--json), adds the date and the commit, and replaces older times of the
same cases in a file of bench/results. Then bench/report.py renders the page.

    build/release/bench/bandwidth --json | bench/record.py h200
    bench/report.py
"""

import datetime
import json
import pathlib
import subprocess
import sys

BENCH = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(BENCH), str(BENCH.parent / "tools")]
import measurements  # noqa: E402
from replace_file import replace_file  # noqa: E402


def main():
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    commit = subprocess.run(["git", "describe", "--always", "--dirty"], cwd=BENCH, text=True, capture_output=True,
                            check=True).stdout.strip()
    measured = {"date": datetime.date.today().isoformat(), "commit": commit}
    rows = [{**json.loads(line), **measured} for line in sys.stdin if line.startswith("{")]
    if not rows:
        sys.exit("record.py: there was no JSON line on the standard input")
    measurements.RESULTS.mkdir(exist_ok=True)
    file = measurements.RESULTS / f"{sys.argv[1]}.jsonl"
    lines = measurements.merge(measurements.read(file), rows)
    replace_file(file, measurements.text_of(lines))
    print(f"{len(rows)} rows recorded; {file.name} has {len(lines)} lines")


if __name__ == "__main__":
    main()
