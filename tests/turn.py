#!/usr/bin/env python3
"""The turn of this commit: a number that chooses the part of a test, if a run has only a part of it. Of N parts, commit number n
has part n % N, so that N consecutive commits have all parts. A commit has the same part wherever and whenever it is tested.

The turn is the number of the commit on its branch: `git rev-list --count --first-parent HEAD`. A shallow clone does not have
the whole history; there it is computed from the commit's hash. Without git it is computed from the list of kernels and the
change log. KAIO_TURN in the environment replaces it.

    turn.py               prints it
"""

import os
import pathlib
import subprocess
import zlib

ROOT = pathlib.Path(__file__).resolve().parent.parent


def git(root, *words):
    try:
        done = subprocess.run(["git", "-C", str(root), *words], capture_output=True, text=True)
    except OSError:
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def number(root=ROOT):
    given = os.environ.get("KAIO_TURN", "")
    if given:
        if not given.isdecimal():
            raise SystemExit(f"kaio: KAIO_TURN is '{given}'; it must be a number, 0 or more")
        return int(given)
    commit = git(root, "rev-parse", "HEAD")
    if commit is None:
        state = 0
        for name in ("tools/registry/kernels.txt", "CHANGELOG.md"):
            state = zlib.crc32((root / name).read_bytes(), state)
        return state
    if git(root, "rev-parse", "--is-shallow-repository") == "true":
        return int(commit[:8], 16)
    return int(git(root, "rev-list", "--count", "--first-parent", "HEAD"))


if __name__ == "__main__":
    print(number())
