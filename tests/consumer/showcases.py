#!/usr/bin/env python3
"""A showcase can be copied out of the tree: its files and showcase.hpp, in a folder of their own, build against an installed kaio.

    showcases.py --prefix INSTALLED --work FOLDER [--turn N] [NAME...]

The project around a copy is showcase/CMakeLists.txt. It sees the installed headers, and no file of the tree. Its own files compile
without a warning. --turn N: a quarter of the showcases. A showcase that needs a part which the install lacks is left out.
"""

import argparse
import pathlib
import re
import shutil
import subprocess
import sys

here = pathlib.Path(__file__).resolve().parent
root = here.parent.parent
parts = 4
warnings = "-Wall -Wextra -Wconversion -Wshadow -pedantic -Werror"


def names():
    return sorted({file.parent.name for file in (root / "showcase").glob("*/*.cpp")})


def lacks(name, prefix):
    """The parts of kaio that a showcase includes and an install does not have."""
    text = "".join(file.read_text() for file in (root / "showcase" / name).glob("*.[ch]pp"))
    needed = set(re.findall(r"#include <kaio/(ops|weights)/", text))
    return [part for part in sorted(needed) if not list(prefix.rglob(f"libkaio_{part}.*"))]


def run(*command):
    print("+", *command, flush=True)
    return subprocess.run([str(word) for word in command]).returncode == 0


def build(name, arguments):
    copy = arguments.work / name
    shutil.copytree(root / "showcase" / name, copy)
    for file in (root / "showcase/showcase.hpp", here / "showcase/CMakeLists.txt"):
        shutil.copy(file, copy)
    configured = run(arguments.cmake, "-S", copy, "-B", copy / "build", "-G", "Ninja", "-DCMAKE_BUILD_TYPE=None",
                     f"-DCMAKE_CXX_COMPILER={arguments.compiler}", f"-DCMAKE_CXX_FLAGS={arguments.flags} {warnings}",
                     f"-DCMAKE_CXX_COMPILER_LAUNCHER={arguments.launcher}", f"-DCMAKE_PREFIX_PATH={arguments.prefix}")
    return configured and run(arguments.cmake, "--build", copy / "build")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help="these showcases; all, if there is none")
    parser.add_argument("--prefix", type=pathlib.Path, required=True, help="where kaio is installed")
    parser.add_argument("--work", type=pathlib.Path, required=True, help="the build folder; it is emptied first")
    parser.add_argument("--turn", type=int)
    parser.add_argument("--all", action="store_true", help="all showcases, as without --turn")
    parser.add_argument("--cmake", default="cmake")
    parser.add_argument("--compiler", default="g++")
    parser.add_argument("--flags", default="")
    parser.add_argument("--launcher", default="", help="ccache, or nothing")
    arguments = parser.parse_args()
    arguments.prefix, arguments.work = arguments.prefix.resolve(), arguments.work.resolve()
    unknown = sorted(set(arguments.names) - set(names()))
    if unknown:
        sys.exit(f"kaio: there is no showcase '{unknown[0]}'; there are: {' '.join(names())}")
    shutil.rmtree(arguments.work, ignore_errors=True)
    arguments.work.mkdir(parents=True)
    chosen = arguments.names or names()
    if arguments.turn is not None:
        chosen = chosen[arguments.turn % parts::parts]
    built, failed = [], []
    for name in chosen:
        missing = lacks(name, arguments.prefix)
        if missing:
            print(f"{name}: left out, since {arguments.prefix} has no {' and no '.join(missing)}")
        else:
            (built if build(name, arguments) else failed).append(name)
    if failed:
        sys.exit(f"failed: a copy does not build: {', '.join(failed)}")
    print(f"built: {', '.join(built)}" if built else "skipped: the install lacks what these showcases need")
    return 0 if built else 77


if __name__ == "__main__":
    sys.exit(main())
