#!/usr/bin/env python3
"""Checks that each kernel of the operations is in exactly one object of their library: a kernel in two objects is compiled and
stored twice. A kernel's image is a symbol of the object, and the symbol's mangled name contains the kernel's name.

    objects.py LIBRARY OBJECTS RECORDED_LIST

OBJECTS is a text file with a line for each object of the library: its family ('-' if it has none) and its path. A kernel
that RECORDED_LIST (tools/registry/kernels.txt) has in one of these families must be in one of the objects. A kernel of the
library must be in one of them too. Exits with 77 if nm is not installed."""

import argparse
import collections
import pathlib
import re
import shutil
import subprocess
import sys

SKIPPED = 77
# compilation<fixed_string{"name"}, ...>::image of a constant, linked_image<fixed_string{"name"}>::value of a traced kernel
image = re.compile(r"N4kaio(?:3dsl11compilation|6images12linked_image)IXtlN\w*12fixed_stringILm\d+EEEtlA\d+_c((?:Lc\d+E)+)E"
                   r"\S*E5(?:image|value)E$")


def kernel_of(symbol):
    """The name of the kernel if the symbol is an image, else None."""
    found = image.search(symbol)
    return found and "".join(chr(int(code)) for code in re.findall(r"Lc(\d+)E", found.group(1)))


def images_of(file):
    """The names of the kernels whose images an object or a library has."""
    said = subprocess.run(["nm", "--defined-only", file], capture_output=True, text=True, check=True).stdout
    return {name for name in (kernel_of(line.split()[-1]) for line in said.splitlines() if line) if name}


def problems_of(families, recorded):
    """families: {path of an object: (family, its kernels)}; recorded: {family: names}."""
    homes = collections.defaultdict(list)
    for path, (_, kernels) in families.items():
        for kernel in kernels:
            homes[kernel].append(path)
    for kernel, paths in sorted(homes.items()):
        if len(paths) > 1:
            yield f"{kernel} is compiled {len(paths)} times: " + ", ".join(sorted(paths))
    for family in sorted({family for family, _ in families.values()} & recorded.keys()):
        for kernel in recorded[family]:
            if kernel not in homes:
                yield f"{kernel}, of the family {family}, is in none of the objects"


def read_recorded(path):
    recorded = collections.defaultdict(list)
    for line in path.read_text().splitlines():
        name, family = line.split()[:2]
        recorded[family].append(name)
    return recorded


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("library", type=pathlib.Path)
    parser.add_argument("objects", type=pathlib.Path)
    parser.add_argument("recorded", type=pathlib.Path)
    arguments = parser.parse_args()
    if not shutil.which("nm"):
        print("skipped: nm is not installed (Debian: binutils)")
        return SKIPPED
    families = {}
    for line in arguments.objects.read_text().splitlines():
        family, path = line.split(maxsplit=1)
        if path.endswith(".o"):  # CMake also lists precompiled headers
            families[path] = family, images_of(path)
    problems = list(problems_of(families, read_recorded(arguments.recorded)))
    known = {kernel for _, kernels in families.values() for kernel in kernels}
    problems += [f"{kernel} is in {arguments.library.name}, and in none of its objects"
                 for kernel in sorted(images_of(arguments.library) - known)]
    print("\n".join(problems))
    print(f"{sum(len(kernels) for _, kernels in families.values())} images in {len(families)} objects, "
          f"{len(problems)} problems")
    if problems:
        print("kaio: a kernel belongs to the object of its family; another file declares a function of that object, "
              "as src/ops/matmul/choice/table.hpp does, and never names the kernel")
    return 1 if problems or not known else 0


if __name__ == "__main__":
    sys.exit(main())
