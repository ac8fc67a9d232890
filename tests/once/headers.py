#!/usr/bin/env python3
"""Checks two properties of the operations' headers:

- Including a header instantiates no kernel, so that each object compiles only its own kernels.
- Including a header takes at most one second of processor time more than including <kaio/kaio.hpp>. The second is for a
  machine that takes 0.75 s for <kaio/kaio.hpp>; a slower machine has more, in proportion. The two are timed one after the
  other, so that other work of the machine slows both. A header takes too long if it does so five times.

    headers.py [--part K/N] [HEADER...] -- COMPILER FLAG...

It checks the headers of include/kaio/ops and src/ops, or the given ones, such as `src/ops/qkv_project/mma_sync/rows.hpp`.
The headers of an operation are compiled together. If that fails or takes more than a second more, each half is compiled,
down to the single header. --part: every N-th operation, starting from the K-th (counted from 0, modulo N)."""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
SECONDS_MORE, SECONDS_OF_ALL, TIMINGS = 1.0, 0.75, 5
ALL = pathlib.Path("include/kaio/kaio.hpp")
KERNEL = re.compile(r'tracing<(?:kaio::dsl::)?fixed_string<\d+>\{"(\w+)')
# The source lines that ask for a kernel, in g++'s output.
ASKS = re.compile(r"^(?:\S*/)?((?:include/kaio/ops|src/ops|tests)/\S+:\d+):\d+:.*required from", re.MULTILINE)


def by_operation(headers):
    """The headers of each operation, public and private ones apart."""
    found = {}
    for header in headers:
        parts = header.parts[1 if header.parts[0] == "src" else 2:]
        found.setdefault((header.parts[0], parts[1] if len(parts) > 2 else ""), []).append(header)
    return list(found.values())


def compile_all(command, headers, folder, *flags):
    """Compiles a file that includes the headers. Returns the exit code, the compiler's output, and the seconds of
    processor time."""
    source = pathlib.Path(folder) / "alone.cpp"
    names = [pathlib.Path(*header.parts[1:]) if header.parts[0] in ("include", "src") else header for header in headers]
    source.write_text("".join(f'#include "{name}"\n' for name in names))
    before = os.times()
    done = subprocess.run([*command[:1], *flags, *command[1:], "-c", source, "-o", source.with_suffix(".o")],
                          capture_output=True, text=True, errors="replace", env={**os.environ, "LC_ALL": "C"}, cwd=ROOT)
    after = os.times()
    return (done.returncode, done.stdout + done.stderr,
            after.children_user + after.children_system - before.children_user - before.children_system)


def kernel_problem(command, headers, folder):
    """The kernels that the headers instantiate, or why they do not compile; empty if nothing is wrong."""
    code, said, _ = compile_all(command, headers, folder, f"-I{HERE / 'overlay'}")
    kernels = sorted(set(KERNEL.findall(said)))
    if kernels:
        lines = sorted(set(ASKS.findall(said)))
        return (f"{len(kernels)} kernels are instantiated: {', '.join(kernels[:4])}{', ...' if len(kernels) > 4 else ''}\n"
                + "\n".join(f"  by {line}" for line in lines[:12]))
    return f"does not compile:\n{said[:4000]}" if code else ""


def length_problem(command, headers, folder):
    """How long the headers take to include if that is too long in each timing; else empty. Several are timed once."""
    for _ in range(TIMINGS if len(headers) == 1 else 1):
        base = compile_all(command, [ALL], folder)[2]
        seconds = compile_all(command, headers, folder)[2]
        if seconds <= base + SECONDS_MORE * max(1.0, base / SECONDS_OF_ALL):
            return ""
    return f"takes {seconds:.1f} s to include, <kaio/kaio.hpp> {base:.1f} s"


def check(headers, judge):
    """Pairs of a header and its problem. If the headers together have a problem, each half is judged."""
    problem = judge(headers) if headers else ""
    if not problem:
        return []
    if len(headers) == 1:
        return [(headers[0], problem)]
    middle = len(headers) // 2
    return check(headers[:middle], judge) + check(headers[middle:], judge)


def all_headers():
    return sorted(file.relative_to(ROOT) for folder in ("include/kaio/ops", "src/ops")
                  for file in (ROOT / folder).rglob("*.hpp"))


def main():
    if "--" not in sys.argv:
        sys.exit(__doc__)
    words, command = sys.argv[1:sys.argv.index("--")], sys.argv[sys.argv.index("--") + 1:]
    part, parts = 0, 1
    if words[:1] == ["--part"]:
        part, parts = map(int, words[1].split("/"))
        words = words[2:]
    headers = [pathlib.Path(word) for word in words] or all_headers()
    if not headers or not command:
        sys.exit(__doc__)
    groups = by_operation(headers)[part % parts::parts]
    problems = []
    with tempfile.TemporaryDirectory() as folder:
        for group in groups:
            problems += check(group, lambda some: kernel_problem(command, some, folder))
        found = {header for header, _ in problems}
        for group in groups:
            problems += check([header for header in group if header not in found],
                              lambda some: length_problem(command, some, folder))
    for header, problem in problems:
        print(f"FAIL {header}: {problem}")
    print(f"{sum(map(len, groups))} headers of {len(groups)} operations were searched for kernels and timed: "
          f"{len(problems)} problems")
    if problems:
        print("kaio: an inline function instantiates the kernels that it names wherever its header is included; "
              "`template <class = void>` delays that until the function is used")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
