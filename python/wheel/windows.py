#!/usr/bin/env python3
"""Builds the module of Python for Windows on x86-64: _core.pyd, with zig, for Python 3.12 and newer. The package `ziglang` brings the
compiler, the C library of Windows (UCRT) and libc++.

    windows.py OUTPUT [--jobs N]

nanobind is inside: the package nanobind-backend is built by another compiler, and C++ exceptions cannot pass from one to the other.
Python's headers are those of a CPython here, 3.12 or newer, with windows/pyconfig.h. The module needs python3.dll, kaio.dll, and what
Windows has.
"""

import argparse
import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import sys

import abi3info
import nanobind

PYTHON = pathlib.Path(__file__).resolve().parent.parent
OLDEST = (3, 12)
FLAGS = ["-target", "x86_64-windows-gnu", "-std=c++20", "-O2", "-DNDEBUG", "-fno-sanitize=undefined", "-fno-strict-aliasing",
         "-ffunction-sections", "-fdata-sections", "-fno-stack-protector", "-DNB_COMPACT_ASSERTIONS",
         f"-DPy_LIMITED_API={OLDEST[0] << 24 | OLDEST[1] << 16:#x}"]


def zig(*words):
    done = subprocess.run([sys.executable, "-m", "ziglang", *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True)
    if done.returncode != 0:
        sys.exit(f"kaio: zig {words[0]} failed:\n{done.stdout}")


def python_headers():
    """The folder of the headers of the oldest CPython here that has the stable interface of OLDEST."""
    places = [*pathlib.Path.home().glob(".pyenv/versions/3.*/bin/python"),
              *filter(None, (shutil.which(f"python3.{minor}") for minor in range(OLDEST[1], 20)))]
    asked = "import sys, sysconfig; print(*sys.version_info[:3], sys.implementation.name, sysconfig.get_path('include'))"
    found = []
    for place in places:
        done = subprocess.run([str(place), "-c", asked], capture_output=True, text=True)
        words = done.stdout.strip().split(" ", 4)
        if done.returncode == 0 and words[3] == "cpython":
            version, folder = tuple(map(int, words[:3])), pathlib.Path(words[4])
            if version >= OLDEST and (folder / "Python.h").exists():
                found.append((version, folder))
    if not found:
        sys.exit(f"kaio: the module for Windows needs the headers of CPython {'.'.join(map(str, OLDEST))} or newer, and none is here")
    return min(found)[1]


def copied_headers(folder):
    """The headers without the pyconfig.h of this machine, which Python.h would take from its own folder."""
    copy = folder / "include"
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(python_headers(), copy)
    shutil.copy(PYTHON / "wheel/windows/pyconfig.h", copy / "pyconfig.h")
    return copy


def import_library(folder, name, functions, data=()):
    """An import library of a DLL that is not here."""
    definition, library = folder / f"{name}.def", folder / f"lib{name}.a"
    lines = [f"LIBRARY {name}.dll", "EXPORTS", *sorted(functions), *(f"{symbol} DATA" for symbol in sorted(data))]
    definition.write_text("\n".join(lines) + "\n")
    zig("dlltool", "-m", "i386:x86-64", "-d", definition, "-l", library)
    return library


def python_library(folder):
    """Of python3.dll: it has Python's stable interface, and hands it on to the DLL of the Python that runs."""
    def names(table):
        return [symbol.name for symbol, item in table.items()
                if (item.added.major, item.added.minor) <= OLDEST and (item.ifdef is None or item.ifdef.windows is True)]
    return import_library(folder, "python3", names(abi3info.FUNCTIONS), names(abi3info.DATAS))


def kaio_library(folder):
    exports = (PYTHON.parent / "src/c/generated/exports.map").read_text()
    return import_library(folder, "kaio", re.findall(r"^ *(kaio_\w+);$", exports, re.MULTILINE))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("output", type=pathlib.Path)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    arguments = parser.parse_args()
    folder = arguments.output.absolute().parent / "windows"
    folder.mkdir(parents=True, exist_ok=True)
    nb = pathlib.Path(nanobind.include_dir())
    includes = ["-isystem", copied_headers(folder), "-isystem", nb, "-isystem", nb.parent / "ext/robin_map/include",
                "-I", PYTHON / "native", "-I", PYTHON.parent / "include"]
    sources = [nb.parent / "src/nb_combined.cpp", *sorted((PYTHON / "native").rglob("*.cpp"), key=lambda file: -file.stat().st_size)]

    def compiled(source):
        out = folder / f"{source.stem}.o"
        zig("c++", *FLAGS, *(["-DNB_BUILD"] if source.stem == "nb_combined" else []), *includes, "-c", source, "-o", out)
        return out
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        objects = list(pool.map(compiled, sources))
    fresh = folder / arguments.output.name
    zig("c++", *FLAGS[:2], "-shared", "-s", "-Wl,--gc-sections", "-o", fresh, *objects, python_library(folder), kaio_library(folder))
    os.replace(fresh, arguments.output)


if __name__ == "__main__":
    main()
