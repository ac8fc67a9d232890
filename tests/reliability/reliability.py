#!/usr/bin/env python3
"""The table of what kaio promises, with the tests of each promise and their results: docs/reliability.md.

    reliability.py record REPORT...      keeps the figures of ctest's JUnit reports (build/ci/tests.xml) as data
    reliability.py render                writes the document
    reliability.py check [BUILD]         checks that the document is what `render` writes, and that the named files, and the
                                         tests of the build, exist

The promises are in promises.json. A promise has these fields:

    promise   the text
    aim       the number to reach, if there is one
    tests     their names in ctest; tests of a sanitizer's build have tsan/ or asan/ in front
    files     where to read
    figure    a regular expression of what the tests print; without it their cases are counted
    except    what is not promised or not tested

Figures are rows of bench/results/reliability.jsonl with their date, machine and commit. A run on a GPU records its tests in
the same way.
"""

import datetime
import json
import os
import pathlib
import platform
import re
import subprocess
import sys
import xml.etree.ElementTree

here = pathlib.Path(__file__).resolve().parent
root = here.parent.parent
sys.path.insert(0, str(here.parent))
import part  # noqa: E402
import tally  # noqa: E402

sys.path.insert(0, str(root / "tools"))
from replace_file import replace_file  # noqa: E402

document = root / "docs/reliability.md"
data = root / "bench/results/reliability.jsonl"
sanitizers = {"tsan", "asan"}  # build folders with tests of their own: tsan/threads
known = {"promise", "aim", "tests", "files", "figure", "except"}

HEAD = """# Promises and their tests

`tests/reliability/reliability.py` writes this table from `tests/reliability/promises.json` and from recorded test results. The last
recorded result of each test counts. "not recorded" means only that the test exists and that no result of it is kept.
[SECURITY.md](../SECURITY.md) lists what kaio does not promise.

| promise | tests | figure | recorded | not covered |
| --- | --- | --- | --- | --- |
"""


def promises():
    return json.loads((here / "promises.json").read_text())


def results():
    """The newest row of each test."""
    rows = [json.loads(line) for line in data.read_text().splitlines()] if data.exists() else []
    return {row["test"]: row for row in rows}


def record(reports):
    commit = subprocess.run(["git", "describe", "--always", "--dirty"], cwd=root, text=True, capture_output=True,
                            check=True).stdout.strip()
    wanted = {}
    for p in promises():
        for test in p["tests"]:
            wanted.setdefault(test, []).append(p.get("figure"))
    rows = []
    for report in map(pathlib.Path, reports):
        prefix = f"{report.parent.name}/" if report.parent.name in sanitizers else ""
        for case in xml.etree.ElementTree.parse(report).getroot().iter("testcase"):
            name = prefix + case.get("name")
            if name not in wanted or tally.skips(case):
                continue
            output = case.findtext("system-out") or ""
            passed, failed = tally.count(output, case.get("status") == "run")
            found = [re.search(figure, output, re.MULTILINE) for figure in wanted[name] if figure]
            rows.append({"benchmark": "reliability", "test": name, "passed": passed, "failed": failed,
                         "figures": [match[0] for match in found if match], "seconds": float(case.get("time", 0)),
                         "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores",
                         "date": datetime.date.today().isoformat(), "commit": commit})
    if not rows:
        sys.exit("reliability.py: no test of the promises is in these reports")
    replace_file(data, (data.read_text() if data.exists() else "") + "".join(json.dumps(row) + "\n" for row in rows))
    print(f"{len(rows)} results recorded")


def figure_of(promise, row):
    """The result of one test, as text."""
    cases = f"{row['passed']} {'case' if row['passed'] == 1 else 'cases'} passed" + (f", **{row['failed']} failed**" if row["failed"] else "")
    fitting = [f for f in row["figures"] if promise.get("figure") and re.search(promise["figure"], f)]
    return f"`{row['test']}`: {fitting[0] if fitting else cases}"


def text():
    rows, lines = results(), []
    for p in promises():
        reached = [rows[test] for test in p["tests"] if test in rows]
        missing = [test for test in p["tests"] if test not in rows]
        figures = [figure_of(p, row) for row in reached] + [f"`{test}`: not recorded" for test in missing]
        where = [f"`{test}`" for test in p["tests"]]
        where += [f"[{pathlib.Path(file).name}](../{file})" for file in p.get("files", [])]
        stamps = sorted({f"{row['date']}, {row['machine']}, {row['commit']}" for row in reached})
        what = p["promise"] + (f" (aim: {p['aim']})" if "aim" in p else "")
        cells = [what, ", ".join(where), "; ".join(figures), "; ".join(stamps), p.get("except", "")]
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |\n")
    return HEAD + "".join(lines)


def check(build):
    problems = []
    if not document.exists() or document.read_text() != text():
        problems.append("docs/reliability.md is not up to date; write tests/reliability/reliability.py render")
    tests = set(part.read_tests(pathlib.Path(build))) if build else None
    for p in promises():
        if set(p) - known or not p.get("promise") or not p.get("tests"):
            problems.append(f"'{p.get('promise')}': a promise has {sorted(known)}, and at least one test")
        problems += [f"'{p['promise']}': there is no {f}" for f in p.get("files", []) if not (root / f).exists()]
        problems += [f"'{p['promise']}': there is no test {t}" for t in p["tests"]
                     if tests is not None and t.rpartition("/")[2] not in tests]
    print("\n".join(problems))
    print(f"{len(promises())} passed, {len(problems)} failed")
    return 1 if problems else 0


def main():
    match sys.argv[1:]:
        case ["record", *reports] if reports:
            record(reports)
        case ["render"]:
            replace_file(document, text())
        case ["check", *build] if len(build) < 2:
            sys.exit(check(build[0] if build else None))
        case _:
            sys.exit(__doc__)


if __name__ == "__main__":
    main()
