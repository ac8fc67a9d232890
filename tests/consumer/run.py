#!/usr/bin/env python3
"""Builds a project that uses kaio in one way, and runs its program: the kernel must compute what it should.

    run.py find_package|add_subdirectory|fetch_content|pkg_config --prefix INSTALLED --work FOLDER
"""

import argparse
import os
import pathlib
import shutil
import subprocess
import sys

here = pathlib.Path(__file__).resolve().parent
root = here.parent.parent


def run(*command, **more):
    print("+", *command, flush=True)
    done = subprocess.run([str(word) for word in command], **more)
    if done.returncode != 0:
        sys.exit(f"failed: {command[0]}")


def build_with_cmake(arguments, *definitions):
    run(arguments.cmake, "-S", here / arguments.way, "-B", arguments.work, "-G", "Ninja",
        "-DCMAKE_BUILD_TYPE=Debug", f"-DCMAKE_CXX_COMPILER={arguments.compiler}",
        f"-DCMAKE_CXX_FLAGS={arguments.flags}", *definitions)
    run(arguments.cmake, "--build", arguments.work, "--target", "silu")


def build_with_pkg_config(arguments):
    if not shutil.which("pkg-config"):
        print("skipped: pkg-config is not installed")
        sys.exit(77)
    folder = next(arguments.prefix.rglob("kaio.pc")).parent
    paths = os.pathsep.join(filter(None, [str(folder), os.environ.get("PKG_CONFIG_PATH")]))
    environment = {**os.environ, "PKG_CONFIG_PATH": paths, "CXX": arguments.compiler}
    run(here / "pkg_config/build.sh", arguments.work / "silu", *arguments.flags.split(), env=environment)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("way", choices=["find_package", "add_subdirectory", "fetch_content", "pkg_config"])
    parser.add_argument("--prefix", type=pathlib.Path, required=True, help="where kaio is installed")
    parser.add_argument("--work", type=pathlib.Path, required=True, help="where to build; it is emptied")
    parser.add_argument("--cmake", default="cmake")
    parser.add_argument("--compiler", default="g++")
    parser.add_argument("--flags", default="")
    arguments = parser.parse_args()
    shutil.rmtree(arguments.work, ignore_errors=True)
    arguments.work.mkdir(parents=True)
    if arguments.way == "find_package":
        build_with_cmake(arguments, f"-DCMAKE_PREFIX_PATH={arguments.prefix}")
    elif arguments.way == "add_subdirectory":
        build_with_cmake(arguments, "-DKAIO_BUILD_OPS=OFF")
    elif arguments.way == "fetch_content":
        build_with_cmake(arguments, "-DKAIO_BUILD_OPS=OFF",
                         f"-DFETCHCONTENT_SOURCE_DIR_KAIO={root}")
    else:
        build_with_pkg_config(arguments)
    libraries = [str(file.parent) for file in arguments.prefix.rglob("libkaio_runtime.so")]
    paths = os.pathsep.join(libraries + list(filter(None, [os.environ.get("LD_LIBRARY_PATH")])))
    environment = {**os.environ, "KAIO_DEVICE": "emulator", "LD_LIBRARY_PATH": paths}
    run(arguments.work / "silu", env=environment)


if __name__ == "__main__":
    main()
