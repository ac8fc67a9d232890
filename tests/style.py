#!/usr/bin/env python3
"""How the files are written: clang-format, clang-tidy and shellcheck, with the settings in the root.

    style.py format [--fix]          every C++ file
    style.py tidy --build DIR [--turn N | --all]
                                     the files of src/ without kernels, with the commands of a configured build: a sixteenth of
                                     them, another one with every commit (turn.py), or all
    style.py shell                   the shell scripts

Exits with 77 if the tool is not installed.
"""

import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import turn

root = pathlib.Path(__file__).resolve().parent.parent
formatted = ["include", "src", "tests", "showcase", "bench", "tools"]
scripts = ["tools/kaio", "tools/progress.sh", "tools/requirements.sh", "tools/showcase.sh", "tools/wheel.sh", ".ci/run",
           "tests/consumer/pkg_config/build.sh"]


def need(*names):
    for name in names:
        if not shutil.which(name):
            print(f"skipped: {name} is not installed")
            sys.exit(77)


def check_format(arguments):
    need("clang-format-16")
    files = sorted(file for folder in formatted for file in (root / folder).rglob("*.[hc]pp"))
    mode = ["-i"] if arguments.fix else ["--dry-run", "-Werror"]
    return subprocess.run(["clang-format-16", "--style=file", *mode, *files]).returncode


def has_kernels(file, known={}):
    """Whether a file includes the language, directly or indirectly. clang-tidy leaves these files out: the names in a kernel
    are those of its formula, and tracing a hundred kernels takes longer than all the rest."""
    if file not in known:
        known[file] = False
        for name in re.findall(r'^#include [<"]([^">]+)[">]', file.read_text(), re.MULTILINE):
            for folder in (root / "include", root / "src", root):
                if name.startswith(("kaio/dsl/dsl.hpp", "kaio/dsl/kernel/")) or (
                        (folder / name).is_file() and has_kernels(folder / name)):
                    known[file] = True
    return known[file]


def write_commands(build, folder):
    """Writes the commands of a build without its precompiled headers, which only g++ reads."""
    commands = json.loads((pathlib.Path(build) / "compile_commands.json").read_text())
    for command in commands:
        command["command"] = re.sub(r" -include \S+/cmake_pch\.hxx| -Winvalid-pch| -fpch-preprocess", "",
                                    command["command"])
    (pathlib.Path(folder) / "compile_commands.json").write_text(json.dumps(commands))


def check_tidy(arguments):
    need("clang-tidy-16", "run-clang-tidy-16")
    files = [file for file in sorted((root / "src").rglob("*.cpp")) if not has_kernels(file)]
    if not arguments.all:
        files = files[(turn.number() if arguments.turn is None else arguments.turn) % 16::16]
    with tempfile.TemporaryDirectory() as folder:
        write_commands(arguments.build, folder)
        # The command lines are for g++, with warnings that clang does not know.
        return subprocess.run(["run-clang-tidy-16", "-quiet", "-extra-arg=-Wno-unknown-warning-option",
                               "-j", str(os.cpu_count()), "-p", folder,
                               *(f"^{re.escape(str(file))}$" for file in files)], cwd=root).returncode


def check_shell(_):
    need("shellcheck")
    return subprocess.run(["shellcheck", "-x", *scripts], cwd=root).returncode


parser = argparse.ArgumentParser(description=__doc__,
                                 formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("tool", choices=["format", "tidy", "shell"])
parser.add_argument("--build", default=str(root / "build/ci"), help="a folder with compile_commands.json")
parser.add_argument("--all", action="store_true", help="clang-tidy on all files instead of a sixteenth")
parser.add_argument("--turn", type=int, help="the number that chooses the sixteenth; by default the commit's")
parser.add_argument("--fix", action="store_true", help="rewrite the files")
arguments = parser.parse_args()
code = {"format": check_format, "tidy": check_tidy, "shell": check_shell}[arguments.tool](arguments)
sys.exit(1 if code else 0)
