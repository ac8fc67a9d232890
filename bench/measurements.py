"""The recorded measurements: bench/results/*.jsonl hold the newest times of each case, a line for each.

    {"benchmark": "matmul", "type": "f16", "m": 4096, ..., "protocol": "cold", "tflops": 742.1,
     "us": {"kaio": 185.2, "cublaslt": 190.3}, "measured": "2026-11-27 a75a9e0f"}

A benchmark prints a row for each contestant of a case, with many more fields. `merge` puts the contestants of a case on one line
and keeps only the fields that identify the case, their times, and kaio's rate. `measured` is the date and the commit; if the
contestants were measured at different times it is an object, like `us`. A benchmark without contestants keeps its fields. A sweep
over random problems becomes one line for each group of problems. It has the number of problems, and for the ratios to the best
peer the geometric mean, the 5th percentile, the worst, and the problem of the worst."""

import json
import lzma
import math
import pathlib
import subprocess

RESULTS = pathlib.Path(__file__).resolve().parent / "results"
# The last commit whose tree has all rows that were ever recorded, and the times of every kernel that the cost models are fitted to.
ARCHIVE = "b739afd8"

CASE = ["benchmark", "device", "machine", "compiler", "root", "arch", "kernel", "checks", "call", "type", "layout", "shape", "m", "n",
        "k", "batch", "work", "epilogue", "protocol"]
RATES = ["tflops", "tbs"]
SWEEPS = {"matmul_random": ["device", "benchmark", "type", "protocol"],
          "matmul_epilogue_random": ["device", "benchmark", "type", "epilogue", "protocol"]}
KAIO = "kaio"


def is_peer(contestant):
    return not contestant.startswith((KAIO, "design", "three", "two"))  # `three` and `two`: kaio's own separate launches


def archived(name):
    """The JSON lines of a file of bench/results that only the history has."""
    done = subprocess.run(["git", "-C", RESULTS, "show", f"{ARCHIVE}:bench/results/{name}"], capture_output=True)
    if done.returncode != 0:
        raise SystemExit(f"kaio: {name} is in the history of the repository, at commit {ARCHIVE}, which this clone does not have; "
                         "git fetch --unshallow brings it")
    return parsed(done.stdout, name)


def parsed(data, name):
    """The JSON lines of a file's bytes; a name that ends in .xz says that they are compressed."""
    text = lzma.decompress(data) if str(name).endswith(".xz") else data
    return [json.loads(line) for line in text.decode().splitlines()]


def summary(ratios):
    """The fields of a sweep's line, from [(ratio, problem)]."""
    ratios = sorted(ratios)
    values = [ratio for ratio, _ in ratios]
    return {"problems": len(values), "ratio": round(math.exp(sum(map(math.log, values)) / len(values)), 3),
            "p5": round(values[(len(values) - 1) // 20], 3), "worst": round(values[0], 3), "worst_case": ratios[0][1]}


def best_peer(us):
    """(name, us) of the fastest peer, or None."""
    return min(((name, time) for name, time in us.items() if is_peer(name)), key=lambda peer: peer[1], default=None)


def condensed(rows):
    """The rows; in a sweep, one row for each group replaces the rows of its problems."""
    groups, rest = {}, []
    for row in rows:
        if row["benchmark"] in SWEEPS and "contestant" in row:
            group = tuple(row[name] for name in SWEEPS[row["benchmark"]])
            problem = f"{row['batch']}x{row['m']}x{row['n']}x{row['k']} {row['layout']}"
            groups.setdefault((group, row["date"], row["commit"]), {}).setdefault(problem, {})[row["contestant"]] = row["us"]
        else:
            rest.append(row)
    for (group, date, commit), problems in groups.items():
        ratios = [(best_peer(us)[1] / us[KAIO], problem) for problem, us in problems.items() if KAIO in us and best_peer(us)]
        if ratios:
            names = SWEEPS[group[1]]
            rest.append({**dict(zip(names, group)), **summary(ratios), "date": date, "commit": commit})
    return rest


def merge(lines, rows):
    """The recorded lines with new rows of a benchmark. These replace older times of a case."""
    cases = {key(line): line for line in lines}
    for row in condensed(rows):
        row = dict(row)
        measured = f"{row.pop('date')} {row.pop('commit')}"
        if "contestant" not in row:
            cases[key(row)] = {**row, "measured": measured}
            continue
        line = cases.setdefault(key(row), {name: row[name] for name in CASE if name in row})
        old = line.get("measured", {})
        times = line.setdefault("us", {})
        of = dict.fromkeys(times, old) if isinstance(old, str) else dict(old)
        times[row["contestant"]] = row["us"]
        of[row["contestant"]] = measured
        line["measured"] = measured if set(of.values()) == {measured} else of
        if row["contestant"] == KAIO:
            line.update({name: row[name] for name in RATES if name in row})
    return list(cases.values())


def key(line):
    return tuple(str(line.get(name)) for name in [*CASE, *([] if "us" in line or "contestant" in line else ["seed"])])


def contestants(line):
    """A row for each contestant of a line: the case with `contestant`, `us`, kaio's rate scaled to its time, `measured`."""
    for name, us in line["us"].items():
        measured = line["measured"] if isinstance(line["measured"], str) else line["measured"][name]
        row = {**{field: line[field] for field in CASE if field in line}, "contestant": name, "us": us, "measured": measured}
        if KAIO in line["us"]:
            row.update({rate: line[rate] * line["us"][KAIO] / us for rate in RATES if rate in line})
        yield row


def read(file):
    """The JSON lines of a file; none if it is missing."""
    file = pathlib.Path(file)
    return parsed(file.read_bytes(), file) if file.exists() else []


def text_of(lines):
    """The lines as text, sorted by benchmark: a diff then shows which benchmark changed."""
    return "".join(json.dumps(line, separators=(",", ":")) + "\n" for line in sorted(lines, key=lambda line: line["benchmark"]))


def recorded(benchmark=None):
    """All lines, or the lines of one benchmark."""
    return [line for file in sorted(RESULTS.glob("*.jsonl")) if file.stem != "reliability" for line in read(file)
            if benchmark in (None, line["benchmark"])]


def newest(measured):
    return measured if isinstance(measured, str) else max(measured.values())
