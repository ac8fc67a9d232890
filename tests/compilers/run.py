#!/usr/bin/env python3
"""Checks that a supported compiler compiles the libraries, operations included, and each public header alone without a warning.
The libraries are compiled as in a user's Release build.

    run.py BUILD COMPILER [--part K/N] [--without kernels|headers]... [--launcher ccache] [FILE...]

The sources and their settings are those of the build (compile_commands.json). --part: every N-th of the sources and of the
headers, starting from the K-th (counted from 0, modulo N); by default all. FILE: only these files. --without kernels leaves
out the files that have kernels, --without headers the headers. Prints 'N passed, N failed'."""

import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Objects of the libraries: those of src/, the operations, and the main program of kaio_add_ptx_tool.
LIBRARY = re.compile(r"(src/|CMakeFiles/kaio_(ops_(?!kernels\.|precompiled\.)|kernels_\w+_objects\.|family_main\.|ptx_tool\.))"
                     r"(?!.*/cmake_pch\.hxx)")
KERNELS = re.compile(r"CMakeFiles/kaio_(ops_(?!common\.)|kernels_\w+_objects\.)")
WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow", "-Woverloaded-virtual", "-Werror"]


def workers():
    return int(os.environ.get("KAIO_JOBS") or os.cpu_count() or 1)


def for_compiler(compiler):
    """The options that the build would give this compiler: CMakeLists.txt, cmake/kaio_warnings.cmake."""
    if "clang" in compiler:
        return ["-fconstexpr-steps=16777216", "-Wno-deprecated-declarations"]
    said = subprocess.run([compiler, "-dumpfullversion"], capture_output=True, text=True, check=True).stdout
    return ["-Wno-restrict"] if int(said.split(".")[0]) < 13 else []


def library_sources(build, with_kernels):
    """(file, the words of its settings) of each source of the libraries, except sources that the build has made."""
    found = {}
    for entry in json.loads((build / "compile_commands.json").read_text()):
        words = shlex.split(entry["command"])
        output = words[words.index("-o") + 1]
        if LIBRARY.match(output) and (with_kernels or not KERNELS.match(output)) and "/ops/images/" not in entry["file"]:
            settings = [word for at, word in enumerate(words)
                        if word.startswith(("-D", "-I", "-isystem", "-fmacro-prefix-map", "-ffp-contract", "-std=", "-fPIC"))
                        or words[at - 1] == "-isystem"]
            found[entry["file"]] = [*settings, "-O0" if "/ops/listed/" in entry["file"] else "-O3"]
    return sorted(found.items())


def jobs_of(options, folder):
    """(name, command) of each compilation."""
    part, parts = map(int, options.part.split("/"))
    given = {str(file.resolve()) for file in options.file}
    extra = [*WARNINGS, *for_compiler(options.compiler)]
    for number, (file, settings) in enumerate(library_sources(options.build, "kernels" not in options.without)):
        if file in given or not given and number % parts == part % parts:
            yield os.path.relpath(file, ROOT), [*filter(None, [options.launcher]), options.compiler, *settings, "-DNDEBUG",
                                                *extra, "-c", file, "-o", str(folder / f"{number}.o")]
    headers = sorted((ROOT / "include").rglob("*.hpp")) if "headers" not in options.without else []
    for number, header in enumerate(headers):
        if str(header) in given or not given and number % parts == part % parts:
            source = folder / f"header_{number}.cpp"
            source.write_text(f"#include <{header.relative_to(ROOT / 'include')}>\n")
            yield os.path.relpath(header, ROOT), [options.compiler, "-std=c++20", f"-I{ROOT / 'include'}", *extra,
                                                  "-fsyntax-only", str(source)]


def compile_one(job, build):
    name, command = job
    begin = time.monotonic()
    done = subprocess.run(command, cwd=build, capture_output=True, text=True, errors="replace")
    pathlib.Path(command[-1]).unlink(missing_ok=True)  # the object, or the file that includes the header
    return name, done.returncode, done.stdout + done.stderr, time.monotonic() - begin


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("compiler")
    parser.add_argument("--part", default="0/1")
    parser.add_argument("--without", action="append", default=[], choices=["kernels", "headers"])
    parser.add_argument("--launcher", default="")
    parser.add_argument("file", nargs="*", type=pathlib.Path)
    options = parser.parse_args()
    options.build = options.build.resolve()
    folder = options.build / "tests/compilers" / options.compiler.replace("/", "_")
    folder.mkdir(parents=True, exist_ok=True)
    jobs = list(jobs_of(options, folder))
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(workers()) as pool:
        for name, code, said, seconds in pool.map(lambda job: compile_one(job, options.build), jobs):
            print(f"{'FAIL' if code or said else 'ok  '} {seconds:6.1f} s  {name}", flush=True)
            if code or said:
                failed += 1
                print("    " + said[:6000].strip().replace("\n", "\n    "))
    print(f"{len(jobs) - failed} passed, {failed} failed")
    return 1 if failed or not jobs else 0


if __name__ == "__main__":
    sys.exit(main())
