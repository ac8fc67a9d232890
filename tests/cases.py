#!/usr/bin/env python3
"""Lists the test cases of a Catch2 program, with either version of Catch2, and runs some of them.

    cases.py PROGRAM FILTER [--share K/N] [--without PREFIX]

The filter selects cases; --without leaves out those whose names begin with the prefix. --share runs every N-th case, starting
from the K-th (counted from 0, modulo N): a share with each commit. Exits with the program's exit code.
"""

import argparse
import os
import pathlib
import subprocess
import sys
import tempfile

from windows.wine import command_of


def names_of(program, environment, *filters):
    """The names, or None if the program does not list them."""
    for arguments in (["--list-test-names-only"], ["--list-tests", "--verbosity", "quiet"]):
        listed = subprocess.run([*command_of(program), *filters, *arguments], capture_output=True, text=True, env=environment)
        names = [line.strip() for line in listed.stdout.splitlines() if line.strip()]
        if names and "Unrecognised token" not in listed.stdout + listed.stderr:
            return names
    return None


def write_list(names, path):
    """Writes the file that --input-file takes."""
    path.write_text("".join(name.replace("\\", "\\\\").replace(",", "\\,") + "\n" for name in names))


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("program", type=pathlib.Path)
    arguments.add_argument("filter")
    arguments.add_argument("--share", default="0/1")
    arguments.add_argument("--without")
    options = arguments.parse_args()
    share, shares = map(int, options.share.split("/"))
    names = names_of(options.program, os.environ, options.filter)
    if names is None:
        print(f"kaio: {options.program} does not list its tests")
        return 1
    if options.without:
        names = [name for name in names if not name.startswith(options.without)]
    chosen = names[share % shares::shares]
    if not chosen:
        print(f"kaio: no test case is in share {options.share} of {len(names)}")
        return 1
    with tempfile.TemporaryDirectory() as folder:
        listing = pathlib.Path(folder) / "cases.txt"
        write_list(chosen, listing)
        print(f"{len(chosen)} of {len(names)} test cases", flush=True)
        return subprocess.run([*command_of(options.program), "--input-file", listing]).returncode


if __name__ == "__main__":
    sys.exit(main())
