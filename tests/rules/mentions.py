#!/usr/bin/env python3
"""A comment or a document that names a file of the repository names one that exists: each word that ends like a file and has a
folder or is in backquotes is the end of a path that git knows. Prints a line for each breach, then 'N passed, N failed' over the files.
"""

import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
FILE = re.compile(r"(?<![\w./<\"@{-])(\w+(?:/[\w.]+)*\.(?:hpp|cpp|def|py|cmake|md))(?![\w/])")
# Files of others, and of examples.
FOREIGN = {"app/filters.hpp", "program.py", "train.py", "name.cpp", "rope.hpp", "scale.hpp", "llama.cpp", "docs/gguf.md", "doc/lz4_Block_format.md", "quants.py",
           "inference/kernel.py", "integrations/mxfp4.py", "tests/test_flash_attn.py"}
UNREAD = ("bench/results/", "tests/fail/", "tests/fuzz/seeds/", "tests/reference/")


def comment_of(line, mark):
    at = line.find(mark)
    return "" if at < 0 else line[at:]


def problems_of(name, text, ends):
    suffix = pathlib.PurePosixPath(name).suffix
    for number, line in enumerate(text.splitlines(), 1):
        prose = line if suffix == ".md" else comment_of(line, "//" if suffix in (".hpp", ".cpp", ".def", ".in") else "#")
        for file in FILE.findall(prose):
            if file not in ends and file not in FOREIGN:
                yield f"{name}:{number}: {file} does not exist"


def main():
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, text=True, capture_output=True, check=True).stdout
    names = [name for name in listed.splitlines() if (ROOT / name).is_file()]
    ends = {"/".join(parts[i:]) for name in names for parts in [name.split("/")] for i in range(len(parts))}
    read = failed = 0
    for name in names:
        suffix = pathlib.PurePosixPath(name).suffix
        if name.startswith(UNREAD) or name == "CHANGELOG.md" or suffix not in (".hpp", ".cpp", ".def", ".in", ".py", ".cmake", ".md", ".sh"):
            continue
        problems = list(problems_of(name, (ROOT / name).read_text(encoding="utf-8"), ends))
        print("".join(f"{problem}\n" for problem in problems), end="")
        read, failed = read + 1, failed + bool(problems)
    print(f"{read - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
