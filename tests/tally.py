#!/usr/bin/env python3
"""Adds up test runs: reads ctest's JUnit reports, shows what failed, and ends with 'N passed, N failed'.

A test that is itself a collection counts with the number that it reports: a Catch2 program with its test cases, a
script with its own line 'N passed, N failed', a unittest with 'Ran N tests'. Any other test counts as one.

    tally.py [--broken N] REPORT...        --broken: builds that failed before they could be tested
"""

import argparse
import pathlib
import re
import sys
import xml.etree.ElementTree

patterns = [
    # 'test cases: 12 | 10 passed | 2 failed', and 'All tests passed (90 assertions in 12 test cases)'
    (r"^test cases:\s+\d+(?: \|\s+(?P<passed>\d+) passed)?(?: \|\s+(?P<failed>\d+) failed)?"
     r"(?: \|\s+(?P<expected>\d+) failed as expected)?"),
    r"^All tests passed \(.*?(?P<passed>\d+) test cases?\)",
    r"^(?P<passed>\d+) passed, (?P<failed>\d+) failed(?:, \d+ not verified)?$",
    (r"^Ran (?P<ran>\d+) tests? in .*\n+"
     r"(?:OK|FAILED \((?:failures=(?P<failures>\d+))?(?:, )?(?:errors=(?P<errors>\d+))?)"),
]


def count(output, succeeded):
    """(passed, failed) of one ctest test."""
    for pattern in patterns:
        found = None
        for found in re.finditer(pattern, output, re.MULTILINE):
            pass
        if found:
            number = {name: int(value or 0) for name, value in found.groupdict().items()}
            failed = number.get("failed", 0) + number.get("failures", 0) + number.get("errors", 0)
            passed = number.get("passed", 0) + number.get("expected", 0) + number.get("ran", 0)
            passed -= failed if "ran" in number else 0
            if not succeeded and failed == 0:
                failed = 1  # the test broke after or outside its cases
            return passed, failed
    return (1, 0) if succeeded else (0, 1)


def skips(case):
    """Whether a test reported that it cannot run here; one that ctest could not start has failed."""
    excuse = case.find("skipped")
    return case.get("status") == "disabled" or excuse is not None and "SKIP_" in excuse.get("message", "")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--broken", type=int, default=0)
    parser.add_argument("report", nargs="*", type=pathlib.Path)
    arguments = parser.parse_args()
    passed, failed, skipped = 0, arguments.broken, []
    for report in arguments.report:
        of_report = [0, 0]
        for case in xml.etree.ElementTree.parse(report).getroot().iter("testcase"):
            name = f"{report.parent.name}/{case.get('name')}"
            output = case.findtext("system-out") or ""
            if skips(case):
                skipped.append((name, next((line for line in output.splitlines() if "skipped" in line), "")))
                continue
            good, bad = count(output, case.get("status") == "run")
            of_report[0] += good
            of_report[1] += bad
            if bad:
                print(f"\n==== {name} failed\n    " + output.strip().replace("\n", "\n    "))
        print(f"{report.parent.name}: {of_report[0]} passed, {of_report[1]} failed")
        passed += of_report[0]
        failed += of_report[1]
    for name, reason in skipped:
        print(f"skipped {name}: {reason.removeprefix('skipped: ')}")
    if arguments.broken:
        print(f"{arguments.broken} of the builds failed")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
