#!/usr/bin/env python3
"""Compares what each shared library exports with its list in this folder. Checks that a library needs a symbol of another
library of kaio only if that library exports it.

A list has what programs can be linked to: functions, and the vtables and typeinfos of exceptions. Inline functions are in no
list: a program has its own copies, and compilers differ in which of them a library has too. They must be kaio's.

usage: symbols.py [--update] LIBRARY...
  --update    writes the lists anew: commit them with the change

Exits with 77 if nm or objdump is not installed."""

import pathlib
import re
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
SKIPPED = 77
PUBLIC = re.compile(r"(typeinfo (name )?for |vtable for |(non-)?virtual thunk to |guard variable for )?kaio::(runtime|ops|weights)::"
                    r"|cu[A-Z]\w*$|kaio_emulator_\w+$|nvrtcGetCUBIN(Size)?$")


def symbols(library, *options):
    """(kind, name) of each dynamic symbol."""
    listed = subprocess.run(["nm", "-DC", *options, library], capture_output=True, text=True, check=True).stdout
    for line in listed.splitlines():
        kind, name = re.match(r"(?:[0-9a-f]+| +) (\w) (.*)", line).groups()
        yield kind, name.split("@")[0]


def needed_libraries(library):
    listed = subprocess.run(["objdump", "-p", library], capture_output=True, text=True, check=True).stdout
    return re.findall(r"NEEDED +(\S+)", listed)


def name_of(library):
    """libkaio_ops_shared.so -> kaio_ops: a static build links shared libraries for this test."""
    return re.match(r"lib(\w+?)(_shared)?\.so", library.name).group(1)


def differences(name, left, listed):
    for symbol in sorted(left - listed):
        yield f"{name}: new: {symbol}"
    for symbol in sorted(listed - left):
        yield f"{name}: gone: {symbol}"


def check(library, update, exported, problems):
    name, listing = name_of(library), HERE / f"{name_of(library)}.txt"
    defined = list(symbols(library, "--defined-only"))
    exported.update(symbol for _, symbol in defined)
    problems += [f"{name}: not of kaio's interface: {symbol}" for _, symbol in defined if not PUBLIC.match(symbol)]
    linked_to = {symbol for kind, symbol in defined if kind not in "Wu" and not symbol.startswith("typeinfo name")}
    if update:
        listing.write_text("".join(f"{symbol}\n" for symbol in sorted(linked_to)))
    problems += differences(name, linked_to, set(listing.read_text().splitlines()))
    undefined = {symbol for _, symbol in symbols(library, "--undefined-only") if symbol.startswith("kaio::")}
    problems += [f"{name}: needs {symbol}, which no library exports" for symbol in sorted(undefined - exported)]
    if name == "kaio_cuda_emulator":
        problems += [f"{name}: is not one file: it needs {needed}" for needed in needed_libraries(library)
                     if "kaio" in needed]


def main():
    words = sys.argv[1:]
    update = "--update" in words
    libraries = [pathlib.Path(word) for word in words if word != "--update"]
    if not libraries:
        sys.exit(__doc__)
    if not (shutil.which("nm") and shutil.which("objdump")):
        print("skipped: nm or objdump is not installed (Debian: binutils)")
        return SKIPPED
    exported, problems = set(), []
    for library in libraries:
        check(library, update, exported, problems)
    print("\n".join(problems))
    if problems:
        print("kaio: if this is intended, name it in exports.map, and commit what "
              f"{pathlib.Path(__file__).name} --update {' '.join(map(str, libraries))} writes")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
