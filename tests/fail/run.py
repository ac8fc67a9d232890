#!/usr/bin/env python3
"""Compiles the files of tests/fail with the supported compilers: each must fail, for the reason it states.

A file lists what the compiler must print, a line each:

    // EXPECT: kaio: operands of '*' must have the same type
    // EXPECT(clang): constexpr variable          only where the compilers differ: g++ or clang

And what it prints is short: within the first 12 lines are a text that begins with `kaio:` (unless no expected text
does: the error is the compiler's own) and the user's file with the line of the mistake, and all of it is at most 40
lines (g++) or 60 (clang). The line is the one that ends in `// HERE`, or any in the part without KAIO_FIXED, or
where there is no such part any of the file. Where a compiler cannot, the file says so and why, and has 100 lines:

    // LATE(clang): why

A file that mentions KAIO_FIXED is compiled once more with that macro defined, and must compile then: so it is
proven that the mistake, and nothing else, is what fails.

    run.py [--all | --half] [--turn N] [--compiler g++ ...] [--lines table.csv] [file ...]

By default each file on one of the compilers that are installed, on another one with every commit (tests/turn.py); --half:
half of the files, the other half with the next commit; --all: all files on all of them. Prints 'N passed, N failed' over
files x compilers.
The language is precompiled, once for each compiler: the messages are the same, clang adds a line to each chain of
includes. A file that does not pass so is compiled as a user does it, without flags, and that counts; with --lines all are.
--lines records what was measured; tests/fail/lines.csv is the table of all files and compilers.
"""

import argparse
import concurrent.futures
import csv
import itertools
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

here = pathlib.Path(__file__).resolve().parent
root = here.parent.parent
sys.path.insert(0, str(root / "tests"))
import turn  # noqa: E402

supported = ["g++", "g++-12", "g++-13", "g++-14", "clang++-16", "clang++-19"]
expectation = re.compile(r"^// EXPECT(?:\((g\+\+|clang)\))?: (.*?)\s*$", re.MULTILINE)

late = re.compile(r"^// LATE(?:\((g\+\+|clang)\))?: .+$", re.MULTILINE)
near = 12  # lines within which an error says what is wrong, and where
most_lines = {"g++": 40, "clang": 60}
most_late = 100


def marked_lines(text):
    """The numbers of the lines of which a message has to name one."""
    lines = text.splitlines()
    here = {n for n, line in enumerate(lines, 1) if "// HERE" in line}
    if here:
        return here
    wrong, inside = set(), False
    for n, line in enumerate(lines, 1):
        if line.startswith(("#else", "#ifndef KAIO_FIXED")):
            inside = True
        elif line.startswith(("#endif", "#ifdef KAIO_FIXED")):
            inside = False
        elif inside:
            wrong.add(n)
    return wrong or set(range(1, len(lines) + 1))


def measure(file, text, output):
    """(lines of the output, the first with a text of kaio, the first with the user's line); 0: there is none."""
    lines = output.splitlines()
    marks = marked_lines(text)
    place = re.compile(re.escape(file.name) + r":(\d+)\b")
    message = next((n for n, line in enumerate(lines, 1) if re.search(r"kaio:(?!:)", line)), 0)
    user = next((n for n, line in enumerate(lines, 1) if any(int(m) in marks for m in place.findall(line))), 0)
    return len(lines), message, user


def too_long(family, text, expected, measured):
    """What is wrong with the length of an output; empty when nothing is."""
    count, message, user = measured
    if any(only in ("", family) for only in late.findall(text)):
        return f"the output has {count} lines, more than {most_late}\n" if count > most_late else ""
    problems = []
    if count > most_lines[family]:
        problems.append(f"the output has {count} lines, more than {most_lines[family]}")
    if any("kaio:" in e for e in expected) and not 0 < message <= near:
        problems.append(f"no text of kaio within {near} lines (line {message})")
    if not 0 < user <= near:
        problems.append(f"the user's line is not within {near} lines (line {user})")
    return "".join(p + "\n" for p in problems)


def installed():
    """The supported compilers that are here, each version once."""
    found = {}
    for name in supported:
        path = shutil.which(name)
        if path:
            said = subprocess.run([path, "--version"], capture_output=True, text=True).stdout
            found.setdefault(re.sub(r"^\S+ ", "", said.splitlines()[0]), name)
    return list(found.values())


language = "kaio/dsl/dsl.hpp"
use_precompiled = {}  # by compiler: the flags


def precompile(compiler, folder):
    """Sets the flags with which a file that includes the language finds it precompiled; none if that fails."""
    place = pathlib.Path(folder) / compiler / (language + ".gch")
    place.parent.mkdir(parents=True)
    source = place.parent / "source.hpp"
    source.write_text(f"#include <{language}>\n")
    done = subprocess.run([compiler, "-std=c++20", f"-I{root / 'include'}", "-x", "c++-header", str(source), "-o",
                           str(place)], capture_output=True)
    if done.returncode == 0:
        use_precompiled[compiler] = (["-include-pch", str(place)] if "clang" in compiler
                                     else [f"-I{pathlib.Path(folder) / compiler}"])


def compile_file(compiler, file, *flags, precompiled=False):
    includes_language = f"#include <{language}>" in file.read_text()
    command = [compiler, "-std=c++20", "-fsyntax-only",
               *(use_precompiled.get(compiler, []) if precompiled and includes_language else []),
               f"-I{root / 'include'}", *flags, str(file)]
    done = subprocess.run(command, capture_output=True, text=True, errors="replace",
                          env={**os.environ, "LC_ALL": "C"}, timeout=300)
    return done.returncode, done.stdout + done.stderr


def check(compiler, file, as_user):
    """What is wrong with this file on this compiler, empty when nothing is, and what was measured."""
    problem, measured = check_message(compiler, file, precompiled=not as_user)
    if problem and not as_user:
        problem, measured = check_message(compiler, file, precompiled=False)
    if not problem and "KAIO_FIXED" in file.read_text():
        code, output = compile_file(compiler, file, "-DKAIO_FIXED", precompiled=True)
        if code != 0:
            return f"it fails with KAIO_FIXED too:\n{output}", measured
    return problem, measured


def check_message(compiler, file, precompiled):
    text = file.read_text()
    family = "clang" if "clang" in compiler else "g++"
    expected = [text for only, text in expectation.findall(text) if only in ("", family)]
    if not expected:
        return "the file has no `// EXPECT: text` for this compiler", None
    code, output = compile_file(compiler, file, precompiled=precompiled)
    measured = measure(file, text, output)
    if code == 0:
        return "it compiles", measured
    if "file not found" in output or "No such file" in output:
        return f"an include is missing\n{output}", measured
    missing = [text for text in expected if text not in output]
    if missing:
        return "".join(f"the compiler does not say: {text}\n" for text in missing) + "it says:\n" + output, measured
    problem = too_long(family, text, expected, measured)
    return problem and problem + output, measured


def turns(files, compilers, half, of_commit):
    """Each file with the one compiler whose turn it is; or half of them, which are the others with the next commit."""
    for number, file in enumerate(files):
        its = number + of_commit
        if half and its % 2:
            continue
        yield file, compilers[(its // 2 if half else its) % len(compilers)]


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--compiler", action="append", help="instead of every supported one that is here")
    parser.add_argument("--all", action="store_true", help="all files on all of them")
    parser.add_argument("--half", action="store_true", help="half of the files, the other half with the next commit")
    parser.add_argument("--turn", type=int, help="which half and which compilers; by default those of the commit")
    parser.add_argument("--lines", type=pathlib.Path, help="write what was measured to this table")
    parser.add_argument("file", nargs="*", type=pathlib.Path)
    arguments = parser.parse_args()
    compilers = arguments.compiler or installed()
    files = arguments.file or sorted(here.rglob("*.cpp"))
    if not files or not compilers:
        print("skipped: nothing to compile" if compilers else "skipped: no supported compiler")
        return 77
    failed = 0
    rows = []
    with (concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool,
          tempfile.TemporaryDirectory() as folder):
        list(pool.map(lambda compiler: precompile(compiler, folder), compilers))
        everything = arguments.all or arguments.compiler or arguments.file
        of_commit = turn.number() if arguments.turn is None else arguments.turn
        pairs = itertools.product(files, compilers) if everything else turns(files, compilers, arguments.half, of_commit)
        cases = [(file, compiler, pool.submit(check, compiler, file, bool(arguments.lines))) for file, compiler in pairs]
        for file, compiler, result in cases:
            problem, measured = result.result()
            if measured:
                rows.append([os.path.relpath(file, here), compiler, *measured])
            name = os.path.relpath(file, here)
            print(f"{'FAIL' if problem else 'ok  '} {compiler:11} {name}", flush=True)
            if problem:
                failed += 1
                print("    " + problem.strip().replace("\n", "\n    "))
    if arguments.lines:
        with arguments.lines.open("w", newline="") as table:
            writer = csv.writer(table, lineterminator="\n")
            writer.writerow(["file", "compiler", "lines", "kaio", "user"])
            writer.writerows(sorted(rows))
    print(f"{len(cases) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
