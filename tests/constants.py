#!/usr/bin/env python3
"""Checks that the program of a family traces its kernels to the texts that a compiler evaluates, byte for byte.

    constants.py TRACED REFERENCE

TRACED is a program of src/images/. REFERENCE is a program with the same kernels as constants, or the folder of a dump that
has them. A program for Windows runs under Wine. Prints 'N passed, N failed' over the kernels; exits with 77 if the folder does not exist."""

import difflib
import json
import pathlib
import subprocess
import sys
import tempfile

from windows.wine import command_of

SKIPPED = 77


def dump(program, folder):
    """{name: (its entry in the manifest, its text)} of the kernels of a program."""
    subprocess.run([*command_of(program), "dump", folder], check=True, stdout=subprocess.DEVNULL)
    return read(folder)


def read(folder):
    manifest = json.loads((folder / "manifest.json").read_text())
    return {kernel["name"]: (kernel, (folder / kernel["file"]).read_bytes().decode()) for kernel in manifest["kernels"]}


def difference(traced, constant):
    """Why a kernel differs; empty if it does not."""
    if constant is None:
        return "the reference does not have it"
    if traced[1] != constant[1]:
        lines = difflib.unified_diff(constant[1].splitlines(), traced[1].splitlines(), "constant", "traced", lineterm="", n=1)
        return ("their texts differ; if arguments of a call emit instructions, name them before the call: at run time g++ "
                "evaluates arguments from right to left\n" + "\n".join(list(lines)[:20]))
    if traced[0] != constant[0]:
        return f"{traced[0]} is not {constant[0]}"
    return ""


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    reference = pathlib.Path(sys.argv[2])
    if not reference.exists():
        print(f"skipped: there is no {reference}; build with g++ first")
        return SKIPPED
    with tempfile.TemporaryDirectory() as temporary:
        here = pathlib.Path(temporary)
        traced = dump(sys.argv[1], here / "traced")
        constant = read(reference) if reference.is_dir() else dump(reference, here / "constant")
    problems = {name: difference(kernel, constant.get(name)) for name, kernel in traced.items()}
    if not reference.is_dir():
        problems |= {name: "it is not traced" for name in constant.keys() - traced.keys()}
    failed = {name: why for name, why in problems.items() if why}
    for name, why in failed.items():
        print(f"{name}: {why}")
    print(f"{len(problems) - len(failed)} passed, {len(failed)} failed")
    return 1 if failed or not traced else 0


if __name__ == "__main__":
    sys.exit(main())
