#!/usr/bin/env python3
"""Installs the wheel for Windows into a Python of Windows, under Wine, and runs tests of tests/python there. Ends with 'N passed,
N failed'.

    windows.py --wheel FILE --work FOLDER [TEST...]     FILE is what `tools/kaio wheel --windows` has made in this tree

The wheel of panda3d, for programs that bring their Python with them, has CPython's own DLLs for Windows. What it lacks is made here: a
program that calls Py_Main, and python3.dll, which hands each function of the stable interface on to python312.dll. The library of Python
is that of a CPython 3.12 on this machine.

Exits with 77 if this machine has no MinGW, Wine or CPython 3.12, or if the packages cannot be had.
"""

import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import zipfile

import environments

ROOT = environments.ROOT
# Wine 8 lacks functions of UCRT that NumPy 2 calls while it is imported.
PACKAGES = ["panda3d==1.10.16", "numpy==1.26.4", environments.PYTEST, "pip"]
TESTS = ["test_package.py", "test_arrays.py"]
# os.kill ends a process of Windows, and Wine starts a process slowly.
LEFT_OUT = "not test_signals and not test_import_is_quick_and_brings_no_framework"
HOST = """#include <wchar.h>
int Py_Main(int count, wchar_t** words);
int wmain(int count, wchar_t** words) { return Py_Main(count, words); }
"""


def skip(why):
    print(f"skipped: {why}")
    sys.exit(77)


def run(*words, **options):
    done = environments.run(*words, **options)
    if done.returncode != 0:
        sys.exit(f"failed: {' '.join(map(str, words))}\n{done.stdout[-5000:]}")
    return done.stdout


def mingw(tool):
    return f"x86_64-w64-mingw32-{tool}"


def fetch(folder, python):
    """The packages for Windows, in a folder that later runs use too."""
    if not (folder / "whole").exists():
        folder.mkdir(parents=True, exist_ok=True)
        done = environments.run(python, "-m", "pip", "download", "--quiet", "--retries", "2", "--timeout", "60", "--dest", folder, "--platform",
                                "win_amd64", "--python-version", "3.12", "--only-binary=:all:", "--no-deps", *PACKAGES, "iniconfig", "packaging",
                                "pluggy", "colorama", "pygments")
        if done.returncode != 0:
            skip(f"the packages for Windows cannot be had:\n{done.stdout[-1000:]}")
        (folder / "whole").touch()


def stable_names(folder):
    """What python312.dll exports of the stable interface: the names in the import library of the module."""
    lines = run(mingw("objdump"), "-p", folder / "python312.dll")
    exported = set(re.findall(r"^\s+\[ *\d+\] ((?:Py|_Py)\w+)$", lines, re.MULTILINE))
    listed = (ROOT / "build/wheel-windows/windows/python3.def").read_text().splitlines()[2:]
    return sorted(exported & {line.split()[0] for line in listed})


def make_python(folder, packages, python):
    """python.exe, its DLLs and its library in a folder; returns the path of python.exe."""
    folder.mkdir(parents=True)
    with zipfile.ZipFile(next(packages.glob("panda3d-*.whl"))) as wheel:
        for name in wheel.namelist():
            # Wine has the api-ms-win DLLs, and lacks a function that _wmi calls. The module platform does without _wmi.
            if re.match(r"deploy_libs/(?!api-ms-win|_wmi)", name):
                (folder / pathlib.Path(name).name).write_bytes(wheel.read(name))
    (folder / "host.c").write_text(HOST)
    (folder / "python312.def").write_text("LIBRARY python312.dll\nEXPORTS\nPy_Main\n")
    run(mingw("dlltool"), "-d", "python312.def", "-l", "python312.a", cwd=folder)
    run(mingw("gcc"), "-municode", "-static", "host.c", "python312.a", "-o", "python.exe", cwd=folder)
    lines = "".join(f"  {name} = python312.{name}\n" for name in stable_names(folder))
    (folder / "python3.def").write_text(f"LIBRARY python3.dll\nEXPORTS\n{lines}")
    (folder / "entry.c").write_text("int entry(void* a, unsigned b, void* c) { return a || b || c || 1; }\n")
    run(mingw("gcc"), "-shared", "-nostdlib", "-Wl,--entry=entry", "entry.c", "python3.def", "-o", "python3.dll", cwd=folder)
    library = run(python, "-c", "import sysconfig; print(sysconfig.get_path('stdlib'))").strip()
    shutil.copytree(library, folder / "Lib", ignore=shutil.ignore_patterns("test", "config-*", "lib-dynload", "idlelib", "site-packages", "__pycache__"))
    (folder / "Lib/site-packages").mkdir()
    return folder / "python.exe"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--wheel", type=pathlib.Path, required=True)
    parser.add_argument("--work", type=pathlib.Path, required=True)
    parser.add_argument("tests", nargs="*", default=TESTS)
    arguments = parser.parse_args()
    python = environments.find_pythons().get("3.12")
    if python is None:
        skip("there is no CPython 3.12")
    if shutil.which(mingw("gcc")) is None:
        skip("MinGW is not installed")
    wine = ROOT / "tools/wine.sh"
    packages, folder = arguments.work.resolve() / "packages", arguments.work.resolve() / "python"
    fetch(packages, python)
    shutil.rmtree(folder, ignore_errors=True)
    program = make_python(folder, packages, python)
    options = {"env": {"PYTHONDONTWRITEBYTECODE": "1", "KAIO_DEVICE": "emulator"}, "stdin": subprocess.DEVNULL}
    done = environments.run(wine, program, "-c", "import sys; print(sys.version)", **options)
    if done.returncode == 127:
        skip(done.stdout)
    print(done.stdout.strip())
    pip = next(packages.glob("pip-*.whl"))
    run(wine, program, pip / "pip", "install", "--quiet", "--no-index", "--no-compile", "--find-links", packages, "numpy", "pytest",
        arguments.wheel.resolve(), **options)
    done = environments.run(wine, program, "-m", "pytest", "-q", "--no-header", "-p", "no:cacheprovider", "-k", LEFT_OUT, "--rootdir",
                            environments.HERE, *(environments.HERE / test for test in arguments.tests), cwd=folder, **options)
    print(done.stdout[-20000:])
    numbers = {word: int(number) for number, word in re.findall(r"(\d+) (passed|failed|error)", done.stdout[-500:])}
    failed = numbers.get("failed", 0) + numbers.get("error", 0) or int(done.returncode != 0)
    print(f"{numbers.get('passed', 0)} passed, {failed} failed")
    return 1 if failed or not numbers.get("passed") else 0


if __name__ == "__main__":
    sys.exit(main())
