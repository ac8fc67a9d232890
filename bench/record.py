#!/usr/bin/env python3
"""Keeps what benchmarks print as data: reads their JSON lines (--json), adds the date and the commit, and appends them to a
file of bench/results. Then bench/report.py renders the tables.

    build/release/bench/bandwidth --json | bench/record.py h200
    bench/report.py
"""

import datetime
import json
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tools"))
from replace_file import replace_file  # noqa: E402

results = pathlib.Path(__file__).resolve().parent / "results"


def main():
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    commit = subprocess.run(["git", "describe", "--always", "--dirty"], cwd=results.parent, text=True,
                            capture_output=True, check=True).stdout.strip()
    rows = [json.loads(line) for line in sys.stdin if line.startswith("{")]
    if not rows:
        sys.exit("record.py: there was no JSON line on the standard input")
    results.mkdir(exist_ok=True)
    file = results / f"{sys.argv[1]}.jsonl"
    text = file.read_text(encoding="utf-8") if file.exists() else ""
    for row in rows:
        row.update(date=datetime.date.today().isoformat(), commit=commit)
        text += json.dumps(row) + "\n"
    replace_file(file, text)
    print(f"{len(rows)} rows recorded")


if __name__ == "__main__":
    main()
