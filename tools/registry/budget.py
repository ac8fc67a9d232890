#!/usr/bin/env python3
"""The budget of the kernels, tools/registry/budget.txt: the number of instructions that each family of
tools/registry/kernels.txt may have, and the time that its objects may take to compile, as a multiple of the reference.
Change a line only if its family is meant to change.

    budget.py check [LIST]                   fails if a family of the list has more than 2 % more instructions than its
                                             line, or more than 10 % fewer
    budget.py changes OLD NEW                prints how the sums of two lists differ
    budget.py write [FAMILY...]              writes the lines of these families, or of all, from tools/registry/kernels.txt
    budget.py seconds BUILD [--write]        compares the times in the .ninja_log of a build with the lines, and prints the
                                             families that take more than 50 % longer; --write: writes the times instead

The reference is the median time of an object of the operations without kernels (kaio_ops_common). Times are meant as CPU
seconds, but `seconds` reads the wall times of a build: before --write, build with one job on an idle machine. An object that
took less than a third of a second came from ccache, and is left out."""

import argparse
import pathlib
import re
import statistics
import sys

HERE = pathlib.Path(__file__).resolve().parent
LIST, BUDGET = HERE / "kernels.txt", HERE / "budget.txt"
MAY_GROW, MAY_SHRINK, MAY_TAKE_LONGER = 0.02, 0.10, 0.50
LEAST_SECONDS = 0.33  # an object that took less came from ccache
FEWEST_OF_REFERENCE = 20
HEADER = """# The budget of each family: instructions of its kernels, seconds of its object / seconds of the reference ('-': not
# measured). `tools/kaio list --update --budget FAMILY` writes a line; tools/registry/budget.py says the rest.
"""


def sums_of(text):
    """The instructions of each family of a list of kernels."""
    sums = {}
    for line in text.splitlines():
        family, count = re.match(r"\S+ +(\S+) .* (\d+) instructions ", line).groups()
        sums[family] = sums.get(family, 0) + int(count)
    return sums


def read_budget(path=BUDGET):
    """(instructions, multiple of the reference or None) by family."""
    lines = {}
    for line in path.read_text().splitlines() if path.exists() else []:
        if line and not line.startswith("#"):
            family, count, multiple = line.split()
            lines[family] = int(count), None if multiple == "-" else float(multiple)
    return lines


def write_budget(lines, path=BUDGET):
    rows = "".join(f"{family:30} {count:8} {'-' if multiple is None else f'{multiple:.1f}':>7}\n"
                   for family, (count, multiple) in sorted(lines.items()))
    path.write_text(HEADER + rows)


def percent(new, old):
    return f"{100 * (new - old) / old:+.1f} %" if old else "new"


def problems_of(sums, budget):
    for family, count in sorted(sums.items()):
        if family not in budget:
            yield f"{family} has {count} instructions and no line"
            continue
        most = budget[family][0]
        if count > most * (1 + MAY_GROW):
            yield f"{family} has {count} instructions, its budget is {most} ({percent(count, most)})"
        elif count < most * (1 - MAY_SHRINK):
            yield f"{family} has {count} instructions, its budget is {most} ({percent(count, most)}): lower it"
    for family in sorted(budget.keys() - sums.keys()):
        yield f"{family} has a line and no kernel"


def advice(problems):
    """What to do about the problems; empty if there are none."""
    if not problems:
        return ""
    families = " ".join(problem.split()[0] for problem in problems)
    return f"kaio: if this is intended, `tools/registry/budget.py write {families}` changes their lines"


def changes_of(old, new):
    for family in sorted(old.keys() | new.keys()):
        before, after = old.get(family, 0), new.get(family, 0)
        if before != after:
            yield f"{family:30} {before:8} -> {after:8}  {percent(after, before)}"
    before, after = sum(old.values()), sum(new.values())
    yield f"{'all':30} {before:8} -> {after:8}  {percent(after, before)}"


def seconds_of(build):
    """The seconds of the objects of each family, and the median of the objects without kernels."""
    families, reference = {}, []
    last = {}
    for line in (build / ".ninja_log").read_text().splitlines()[1:]:
        start, end, _, output, _ = line.split("\t")
        last[output] = (int(end) - int(start)) / 1000
    for output, seconds in last.items():
        found = re.match(r"(?:.*/)?kaio_(?:ops_(\w+)|kernels_(\w+)_objects)\.dir/.*\.o$", output)
        if not found or seconds < LEAST_SECONDS:
            continue
        family = found.group(1) or found.group(2)
        if family == "common":
            reference.append(seconds)
        elif family not in ("precompiled", "kernels"):
            families[family] = families.get(family, 0) + seconds
    return families, statistics.median(reference) if len(reference) >= FEWEST_OF_REFERENCE else None


def compare_seconds(build, write):
    families, reference = seconds_of(build) if (build / ".ninja_log").exists() else ({}, None)
    if reference is None:
        print(f"{build} has compiled too few files of the operations to compare their times")
        return 0
    budget = read_budget()
    if write:
        write_budget({family: (count, families[family] / reference if family in families else multiple)
                      for family, (count, multiple) in budget.items()})
        print(f"wrote the times of {len(families.keys() & budget.keys())} families, at {reference:.1f} s for the reference")
        return 0
    longer = [(family, seconds / reference, budget[family][1]) for family, seconds in sorted(families.items())
              if family in budget and budget[family][1] is not None
              and seconds / reference > budget[family][1] * (1 + MAY_TAKE_LONGER)]
    for family, now, most in longer:
        print(f"{family} takes {now:.1f} times as long to compile as the reference ({reference:.1f} s), its budget is {most:.1f}")
    print(f"{len(families)} families were compiled, {len(longer)} take more than {MAY_TAKE_LONGER:.0%} longer than their budget")
    return 1 if longer else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    check = commands.add_parser("check")
    check.add_argument("list", nargs="?", type=pathlib.Path, default=LIST)
    changes = commands.add_parser("changes")
    changes.add_argument("old", type=pathlib.Path)
    changes.add_argument("new", type=pathlib.Path)
    write = commands.add_parser("write")
    write.add_argument("family", nargs="*")
    seconds = commands.add_parser("seconds")
    seconds.add_argument("build", type=pathlib.Path)
    seconds.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    if arguments.command == "changes":
        print("\n".join(changes_of(sums_of(arguments.old.read_text()), sums_of(arguments.new.read_text()))))
        return 0
    if arguments.command == "seconds":
        return compare_seconds(arguments.build, arguments.write)
    budget = read_budget()
    if arguments.command == "check":
        sums = sums_of(arguments.list.read_text())
        problems = list(problems_of(sums, budget))
        print("\n".join([*problems, f"{sum(sums.values())} instructions in {len(sums)} families, {len(problems)} problems"]))
        if problems:
            print(advice(problems))
        return 1 if problems else 0
    sums = sums_of(LIST.read_text())
    for family in arguments.family or sorted(sums.keys() | budget.keys()):
        if family in sums:
            budget[family] = sums[family], budget.get(family, (0, None))[1]
        elif family in budget:
            del budget[family]
        else:
            sys.exit(f"kaio: there is no family '{family}' in {LIST.name}")
    write_budget(budget)
    return 0


if __name__ == "__main__":
    sys.exit(main())
