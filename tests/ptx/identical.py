#!/usr/bin/env python3
"""Compares the PTX that two compilers made of one set of kernels: it must be equal byte for byte.

    identical.py REFERENCE FOLDER

Each .ptx file of FOLDER is compared with the file of its name in REFERENCE. Prints 'N passed, N failed'; exits with 77
if there is no reference.
"""

import difflib
import pathlib
import sys


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    reference, folder = map(pathlib.Path, sys.argv[1:])
    if not reference.is_dir():
        print(f"skipped: there is no {reference}; build with g++ first")
        return 77
    passed = failed = 0
    for file in sorted(folder.glob("*.ptx")):
        other = reference / file.name
        ours, theirs = file.read_text(), other.read_text() if other.exists() else ""
        if ours == theirs:
            passed += 1
            continue
        failed += 1
        print(f"{file.name} differs")
        difference = difflib.unified_diff(theirs.splitlines(), ours.splitlines(), "reference", "here", lineterm="", n=1)
        print("\n".join(list(difference)[:20]))
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
