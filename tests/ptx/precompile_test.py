#!/usr/bin/env python3
"""Reads the output of cmake/precompile.py with code of its own. The output must have machine code of every kernel for every
architecture that it runs on and that a ptxas here knows: an ELF file of that architecture with that kernel's entry.

    precompile_test.py FOLDER DATA ARCHITECTURE...     FOLDER: the dump from which DATA was made
"""

import json
import pathlib
import struct
import sys
import zlib

here = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(here.parent.parent / "cmake")]
from ptxas import find_assemblers  # noqa: E402

EM_CUDA = 190


def architecture_of(code):
    """The SM of a cubin. ptxas 13 keeps it in the second byte of e_flags, ptxas 12 in the first."""
    magic, machine, flags = code[:4], struct.unpack_from("<H", code, 18)[0], struct.unpack_from("<I", code, 48)[0]
    if magic != b"\x7fELF" or machine != EM_CUDA:
        return None
    version = code[8]  # EI_ABIVERSION
    return flags >> 8 & 0xff if version >= 8 else flags & 0xff


def main():
    folder, data, wanted = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]).read_bytes(), list(map(int, sys.argv[3:]))
    manifest = json.loads((folder / "manifest.json").read_text())
    known = set().union(*(one.targets for one in find_assemblers()))
    magic, layout, count = struct.unpack_from("<8sII", data)
    if (magic, layout) != (b"kaiocode", 1):
        sys.exit("failed: not machine code of kaio")
    found, previous, problems = {}, None, []
    for i in range(count):
        low, high, sm, specific, offset, stored, size = struct.unpack_from("<QQIIQQQ", data, 16 + 48 * i)
        if previous is not None and (low, high, sm) <= previous:
            problems.append(f"entry {i} is not in order")
        previous = low, high, sm
        code = data[offset:offset + stored]
        code = code if stored == size else zlib.decompress(code)
        if len(code) != size:
            problems.append(f"entry {i} has {len(code)} bytes, not {size}")
        found[f"{low:016x}{high:016x}", sm, bool(specific)] = code
    expected = 0
    for kernel in manifest["kernels"]:
        specific = kernel["target"].endswith("a")
        least = int(kernel["target"].removeprefix("sm_").removesuffix("a"))
        for sm in wanted:
            target = f"sm_{sm}{'a' if specific else ''}"
            if sm < least or (specific and sm != least) or target not in known:
                continue
            expected += 1
            code = found.pop((kernel["hash"], sm, specific), b"")
            if architecture_of(code or bytes(64)) != sm:
                problems.append(f"{kernel['name']}: no code for {target}; its code is for {architecture_of(code or bytes(64))}")
            elif f".text.{kernel['name']}".encode() not in code:
                problems.append(f"{kernel['name']}: the code for {target} has no such entry")
    problems += [f"code for sm_{sm} that belongs to no kernel" for _, sm, _ in found]
    print("\n".join(problems[:20]))
    print(f"{expected - len(problems)} passed, {len(problems)} failed")
    return 1 if problems or expected == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
