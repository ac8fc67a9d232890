#!/usr/bin/env python3
"""Makes the Rust faces of the C interface from its descriptions (src/c/operations/*.json) and its headers by hand.

    generate.py [--check]

Writes, below bindings/rust,
  kaio-sys/src/generated/<family>.rs    structs and constants of a family
  kaio-sys/src/generated.rs             the list of these files
  kaio-sys/src/constants.rs             constants of the headers by hand
  kaio-sys/src/functions.rs             all functions
  kaio-sys/tests/generated/layout.c     a program that prints sizes, offsets, constants and defaults
  kaio-sys/tests/generated/layout.rs    the numbers of Rust
  kaio/src/ops.rs, ops/<family>.rs      operations, options and records of the safe crate
--check: writes nothing, and names each file that differs, and a crate whose version is not kaio's.
"""

import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path[:0] = [str(HERE), str(ROOT / "src" / "c")]
import generator.safe  # noqa: E402
import generator.sys_crate  # noqa: E402


def version_problems():
    """The crates have the version of kaio."""
    version = re.search(r"^  VERSION (\S+)$", (ROOT / "CMakeLists.txt").read_text(), re.MULTILINE)[1]
    for file in (HERE / "kaio-sys/Cargo.toml", HERE / "kaio/Cargo.toml"):
        for found in re.findall(r'^version = "(.*)"$|^kaio-sys = \{ version = "(.*?)"', file.read_text(), re.MULTILINE):
            if "".join(found) != version:
                yield f"bindings/rust/{file.relative_to(HERE)}: version {''.join(found)}, and kaio has {version}"


def main():
    made = {**generator.sys_crate.files(ROOT), **generator.safe.files(ROOT)}
    wrong = 0
    folders = {(HERE / path).parent for path in made} - {HERE / "kaio-sys/src", HERE / "kaio/src"}
    old = {file for folder in folders if folder.exists() for file in folder.iterdir() if file.is_file()} - {HERE / path for path in made}
    for file in sorted(old):
        wrong += 1
        if "--check" in sys.argv:
            print(f"bindings/rust/{file.relative_to(HERE)}: no description makes it; run bindings/rust/generate.py")
        else:
            file.unlink()
    for path, text in made.items():
        file = HERE / path
        if file.exists() and file.read_text() == text:
            continue
        wrong += 1
        if "--check" in sys.argv:
            print(f"bindings/rust/{path}: differs from what its description makes; run bindings/rust/generate.py, and commit the result")
        else:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
    problems = list(version_problems())
    print("".join(f"{problem}\n" for problem in problems), end="")
    if "--check" in sys.argv:
        return 1 if wrong or problems else 0
    print(f"{wrong} files written")
    return 0


if __name__ == "__main__":
    sys.exit(main())
