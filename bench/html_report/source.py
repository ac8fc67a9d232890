"""Reads recorded measurements: files of bench/results, what a benchmark printed (--json), and the results of an older commit.

A fault in a file ends the program with the file, the line and what is wrong with it."""

from __future__ import annotations

import json
import lzma
import math
import pathlib
import re
import subprocess
from typing import Any, Iterator, NoReturn

import measurements
import report

Line = dict[str, Any]
ROOT = pathlib.Path(__file__).resolve().parents[2]
FRAME = re.compile(r"== \S+|\d+ passed, \d+ failed|")  # what tools/kaio bench prints around the lines of its programs
UNDATED = {"date": "undated", "commit": "-"}  # a benchmark's own lines have no date; bench/record.py adds it


def refuse(text: str) -> NoReturn:
    raise SystemExit(f"kaio: {text}")


def is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def fault_of(line: object) -> str | None:
    """What makes a line unusable, or None."""
    if not isinstance(line, dict):
        return "it is no JSON object"
    if "benchmark" not in line:
        return ("it is a line of the benchmark regression, which bench/compare.py compares" if "kind" in line
                else "it has no field 'benchmark'")
    times = line["us"] if isinstance(line.get("us"), dict) else {"us": line["us"]} if "us" in line else {}
    for name, us in times.items():
        if not is_number(us) or us <= 0:
            return f"the time of '{name}' is {json.dumps(us)}; microseconds above 0 are needed"
    for rate in measurements.RATES:
        if rate in line and (not is_number(line[rate]) or line[rate] < 0):
            return f"'{rate}' is {json.dumps(line[rate])}; a number is needed"
    alone = line if "measured" in line else {**line, "measured": "undated -"}
    try:
        if isinstance(line.get("us"), dict) or "contestant" in line:
            report.case_of(line), line["type"]
            if isinstance(alone["measured"], dict):
                [alone["measured"][name] for name in times]
        else:
            list(report.figures([alone])), report.swept_figure([alone])
    except KeyError as error:
        return f"it has no field {error}"
    except (AttributeError, IndexError, TypeError, ValueError) as error:
        return f"a field has a wrong type: {error}"
    return None


def parsed(data: bytes, name: str) -> list[Line]:
    """The lines of a file's bytes, without those of the tests' reliability."""
    try:
        text = (lzma.decompress(data) if name.endswith(".xz") else data).decode()
    except (lzma.LZMAError, UnicodeDecodeError) as error:
        refuse(f"{name} cannot be read: {error}")
    lines = []
    for number, written in enumerate(text.splitlines(), 1):
        if FRAME.fullmatch(written.strip()):
            continue
        try:
            line = json.loads(written)
        except json.JSONDecodeError as error:
            refuse(f"{name}:{number}: the line is no JSON: {error.msg} at column {error.colno}; "
                   f"bench/record.py writes such files: {written.strip()[:60]}")
        fault = None if isinstance(line, dict) and line.get("benchmark") == "reliability" else fault_of(line)
        if fault:
            refuse(f"{name}:{number}: {fault}: {written.strip()[:60]}")
        if line["benchmark"] != "reliability":
            lines.append(line)
    return lines


def medians(rows: list[Line]) -> list[Line]:
    """The rows; of those that repeat a measurement, the one with the median time."""
    groups: dict[object, list[Line]] = {}
    for at, row in enumerate(rows):
        repeats = "contestant" in row
        groups.setdefault((measurements.key(row), row["contestant"], row["date"], row["commit"]) if repeats else at, []).append(row)
    return [sorted(group, key=lambda row: row.get("us", 0))[(len(group) - 1) // 2] for group in groups.values()]


def merged(lines: list[Line]) -> list[Line]:
    """A line for each case, with its newest times."""
    recorded = [line for line in lines if "measured" in line]
    printed = medians(sorted(({**UNDATED, **line} for line in lines if "measured" not in line), key=lambda line: line["date"]))
    return measurements.merge(sorted(recorded, key=lambda line: measurements.newest(line["measured"])), printed)


def fits(measured: str, word: str) -> bool:
    """Whether a date and commit begin with the word: 2026-11, 2026-11-27, a75a9e."""
    date, _, commit = measured.partition(" ")
    return date.startswith(word) or commit.startswith(word)


def measured_at(lines: list[Line], word: str) -> Iterator[Line]:
    """The lines, with only those times that were measured at a date or a commit."""
    for line in lines:
        measured = line.get("measured", f"{line.get('date', 'undated')} {line.get('commit', '-')}")
        if isinstance(measured, str):
            if fits(measured, word):
                yield line
            continue
        kept = {name: at for name, at in measured.items() if fits(at, word)}
        if kept:
            yield {**line, "us": {name: line["us"][name] for name in kept}, "measured": kept}


def read_file(file: pathlib.Path) -> list[Line]:
    try:
        return parsed(file.read_bytes(), str(file))
    except OSError as error:
        refuse(f"{file} cannot be read: {error.strerror}")


def git(*words: str) -> bytes | None:
    """What git prints, or None if it fails."""
    done = subprocess.run(["git", "-C", str(ROOT), *words], capture_output=True)
    return done.stdout if done.returncode == 0 else None


def of_commit(word: str) -> list[Line] | None:
    """The results as a commit of the repository has them, or as they were at the end of a day; None if there is no such commit."""
    if re.fullmatch(r"\d{4}-\d\d-\d\d", word):
        commit = (git("rev-list", "-1", f"--before={word} 23:59:59", "HEAD") or b"").decode().strip()
    else:
        commit = (git("rev-parse", "--verify", "--quiet", "--end-of-options", word + "^{commit}") or b"").decode().strip()
    names = (git("ls-tree", "--name-only", commit, "bench/results/") or b"").decode().split() if commit else []
    lines = []
    for name in names:
        if name.endswith(".jsonl") and not name.endswith("reliability.jsonl"):
            lines += parsed(git("show", f"{commit}:{name}") or b"", f"{word}:{name}")
    return lines if commit else None


def side(text: str) -> list[Line]:
    """The lines of one side of a comparison: FILE, FILE@COMMIT, FILE@DATE, COMMIT or DATE."""
    if pathlib.Path(text).exists():
        return merged(read_file(pathlib.Path(text)))
    file, _, word = text.rpartition("@")
    if file and pathlib.Path(file).exists():
        lines = read_file(pathlib.Path(file))
        found = list(measured_at(lines, word))
        if not word or not found:
            known = sorted({at for line in merged(lines)
                            for at in (line["measured"].values() if isinstance(line["measured"], dict) else [line["measured"]])})
            refuse(f"{file} has no times of '{word}'; the newest of its {len(known)} dates and commits are: {', '.join(known[-6:])}")
        return merged(found)
    at_commit = of_commit(text)
    if at_commit is None:
        refuse(f"'{text}' is no file, and no commit or date of this repository; "
               "--compare takes FILE, FILE@COMMIT, FILE@DATE, COMMIT or DATE")
    if not at_commit:
        refuse(f"the repository had no results in bench/results at '{text}'")
    return merged(at_commit)
