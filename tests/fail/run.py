#!/usr/bin/env python3
"""Compiles the files of tests/fail with the supported compilers: each must fail, for the reason it states.

A file lists the texts that the compiler must print, one per line:

    // EXPECT: kaio: operands of '*' must have the same type
    // EXPECT(clang): constexpr variable          only if the compilers differ: g++ or clang

The output must be short: at most 40 lines from g++, 60 from clang. Its first 12 lines must have

- a text that begins with `kaio:`, unless no expected text does: then the error is the compiler's own;
- the user's file with the line of the mistake. This line ends in `// HERE`. In a file without that mark it is any line of
  the part without KAIO_FIXED, and in a file without such a part any line.

If a kernel breaks a rule while it is traced (kernel/report.hpp), both must be in its `error:`.

If a compiler cannot keep to these limits, the file says so and why, and may have 100 lines:

    // LATE(clang): why

A file that mentions KAIO_FIXED is compiled a second time with that macro defined, and must then compile: this proves that
the mistake, and nothing else, is what fails.

    run.py [--all | --half] [--turn N] [--compiler g++ ...] [--lines table.csv] [file ...]

By default one of the installed compilers compiles each file, another one with every commit (tests/turn.py). --half: half
of the files, the other half with the next commit. --all: all files with all compilers. Prints 'N passed, N failed' over
files x compilers.
The language is precompiled once for each compiler. The messages stay the same, except that clang adds a line to each
chain of includes. A file that does not pass this way is compiled as a user does it, without flags, and that result
counts; with --lines all files are. --lines records the measured lengths; tests/fail/lines.csv is the table of all files
and compilers.
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
near = 12  # first lines of the output, which must say what is wrong, and where
most_lines = {"g++": 40, "clang": 60}
most_late = 100


def marked_lines(text):
    """The line numbers of the mistake: a message must name one of them."""
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
    """(lines of the output, the first with a text of kaio, the first with the user's line); 0 if there is none."""
    lines = output.splitlines()
    marks = marked_lines(text)
    place = re.compile(re.escape(file.name) + r":(\d+)\b")
    message = next((n for n, line in enumerate(lines, 1) if re.search(r"kaio:(?!:)", line)), 0)
    user = next((n for n, line in enumerate(lines, 1) if any(int(m) in marks for m in place.findall(line))), 0)
    return len(lines), message, user


def error_lacks(file, text, output):
    """The problem of the error of a kernel that breaks a rule; empty if there is none."""
    if "kernel_breaks_rule<" not in output:
        return ""
    error = next((line for line in output.splitlines() if " error: " in line and "kernel_breaks_rule<" in line), "")
    lines = {int(n) for n in re.findall(re.escape(file.name) + r":(\d+)\b", error)}
    missing = [what for what, is_there in (("a text of kaio", '"kaio: ' in error),
                                           ("the user's line", lines & marked_lines(text))) if not is_there]
    return f"the error of kernel_breaks_rule has not {' and '.join(missing)}\n" if missing else ""


def too_long(family, text, expected, measured):
    """The problems of an output's length; empty if there are none."""
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
    """The supported compilers that are installed, each version once."""
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
    """Precompiles the language, and sets the flags that use it; sets none if that fails."""
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
    """(the problem of this file with this compiler, empty if there is none; what was measured)."""
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
    problem = error_lacks(file, text, output) + too_long(family, text, expected, measured)
    return problem and problem + output, measured


def turns(files, compilers, half, of_commit):
    """Pairs of a file and the compiler whose turn it is. half: half of the files; the next commit has the other half."""
    for number, file in enumerate(files):
        its = number + of_commit
        if half and its % 2:
            continue
        yield file, compilers[(its // 2 if half else its) % len(compilers)]


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--compiler", action="append", help="instead of every supported one that is installed")
    parser.add_argument("--all", action="store_true", help="all files with all compilers")
    parser.add_argument("--half", action="store_true", help="half of the files, the other half with the next commit")
    parser.add_argument("--turn", type=int, help="the number that chooses half and compilers; by default the commit's")
    parser.add_argument("--lines", type=pathlib.Path, help="write the measured lengths to this table")
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
