#!/usr/bin/env python3
"""Builds a program of C with the installed C interface, by CMake and by pkg-config, and runs it. CMake's project has no C++.

    run_c.py --prefix INSTALLED --work FOLDER [--cmake CMAKE] [--cc COMPILER]
"""

import argparse
import os
import pathlib
import shutil
import subprocess
import sys

here = pathlib.Path(__file__).resolve().parent


def run(*command, **more):
    print("+", *command, flush=True)
    done = subprocess.run([str(word) for word in command], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **more)
    if done.returncode != 0:
        sys.exit(f"failed: exit code {done.returncode}\n{done.stdout}")
    return done.stdout


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--prefix", type=pathlib.Path, required=True)
    parser.add_argument("--work", type=pathlib.Path, required=True, help="it is emptied first")
    parser.add_argument("--cmake", default="cmake")
    parser.add_argument("--cc", default="cc")
    arguments = parser.parse_args()
    if not shutil.which(arguments.cc):
        print(f"skipped: {arguments.cc} is not installed")
        return 77
    shutil.rmtree(arguments.work, ignore_errors=True)
    arguments.work.mkdir(parents=True)
    build = arguments.work / "build"
    run(arguments.cmake, "-S", here / "c", "-B", build, "-G", "Ninja", f"-DCMAKE_C_COMPILER={arguments.cc}",
        f"-DCMAKE_PREFIX_PATH={arguments.prefix}")
    run(arguments.cmake, "--build", build)
    programs = [build / "copies"]
    folder = next(arguments.prefix.rglob("kaio-c.pc")).parent
    if shutil.which("pkg-config"):
        paths = os.pathsep.join(filter(None, [str(folder), os.environ.get("PKG_CONFIG_PATH")]))
        words = run("pkg-config", "--cflags", "--libs", "kaio-c", env={**os.environ, "PKG_CONFIG_PATH": paths}).split()
        programs.append(arguments.work / "by_pkg_config")
        run(arguments.cc, "-std=c99", here / "c/main.c", "-o", programs[-1], *words)
    for program in programs:
        if run(program, env={**os.environ, "LD_LIBRARY_PATH": str(folder.parent)}) != "right\n":
            sys.exit(f"failed: {program} computed something else")
    return 0


if __name__ == "__main__":
    sys.exit(main())
