#!/usr/bin/env python3
"""Assembles dumped kernels with ptxas for some architectures, and writes their machine code into one file, which
kaio_precompile adds to a program. src/runtime/base/precompiled.hpp has the layout.

    app_kernels dump DIR && precompile.py DIR --output FILE --architecture 80 --architecture 90 [--keep DIR] [--jobs N]

A kernel is assembled for each architecture that it runs on; 90 stands for sm_90a where a kernel needs that. What no ptxas
here can assemble is left to the driver's compiler, and reported. Machine code is kept, with what `ptxas -v` printed, and
taken again where text, architecture and ptxas are the same.
"""

import argparse
import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import struct
import subprocess
import sys
import zlib

here = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(here))
from ptxas import find_assemblers, name_of_code  # noqa: E402


def architectures_of(kernel, wanted):
    """(sm, arch-specific) of those wanted that this kernel runs on."""
    least, specific = re.fullmatch(r"sm_(\d+)(a?)", kernel["target"]).groups()
    if specific:
        return [(int(least), 1)] if int(least) in wanted else []
    return [(sm, 0) for sm in wanted if sm >= int(least)]


def replace_file(path, content):
    fresh = path.with_name(f"{path.name}.{os.getpid()}")
    fresh.write_bytes(content)
    os.replace(fresh, path)


def assemble(ptxas, text, sm, specific, folder):
    """(machine code, what ptxas said where it failed)"""
    target = f"sm_{sm}{'a' if specific else ''}"
    name = name_of_code(ptxas, target, text)
    kept = folder / f"{name}.cubin"
    if kept.exists():
        return kept.read_bytes(), ""
    fresh = folder / f"{name}.{os.getpid()}"
    done = subprocess.run([ptxas.path, "-v", f"-arch={target}", "-O3", str(text), "-o", str(fresh)], capture_output=True,
                          text=True)
    if done.returncode != 0:
        return b"", (done.stdout + done.stderr).strip()
    replace_file(folder / f"{name}.txt", (done.stdout + done.stderr).encode())
    os.replace(fresh, kept)
    return kept.read_bytes(), ""


def laid_out(codes):
    """The file of (hash, sm, specific, machine code)."""
    header, entry = struct.Struct("<8sII"), struct.Struct("<QQIIQQQ")
    codes = sorted(codes, key=lambda one: one[:3])
    table, data = b"", b""
    begin = header.size + entry.size * len(codes)
    for (low, high), sm, specific, code in codes:
        packed = zlib.compress(code, 9)
        if len(packed) >= len(code):
            packed = code
        table += entry.pack(low, high, sm, specific, begin + len(data), len(packed), len(code))
        data += packed
    return header.pack(b"kaiocode", 1, len(codes)) + table + data


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path, help="what `app_kernels dump` wrote")
    parser.add_argument("--output", type=pathlib.Path, required=True)
    parser.add_argument("--architecture", type=int, action="append", required=True, help="80: sm_80")
    parser.add_argument("--keep", type=pathlib.Path, help="where machine code is kept; by default DIR/cubin")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="how many ptxas run at once")
    arguments = parser.parse_args()
    manifest = json.loads((arguments.folder / "manifest.json").read_text())
    assemblers = find_assemblers()
    kept = arguments.keep or arguments.folder / "cubin"
    kept.mkdir(parents=True, exist_ok=True)

    jobs, unknown = [], set()
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        for kernel in manifest["kernels"]:
            low, high = int(kernel["hash"][:16], 16), int(kernel["hash"][16:], 16)
            for sm, specific in architectures_of(kernel, sorted(set(arguments.architecture))):
                target = f"sm_{sm}{'a' if specific else ''}"
                ptxas = next((one for one in assemblers if target in one.targets), None)
                if ptxas is None:
                    unknown.add(target)
                    continue
                job = pool.submit(assemble, ptxas, arguments.folder / kernel["file"], sm, specific, kept)
                jobs.append((kernel["name"], (low, high), sm, specific, job))

    codes, failed = {}, 0
    for name, text, sm, specific, job in jobs:
        code, said = job.result()
        if said:
            failed += 1
            print(f"kaio: no machine code of {name} for sm_{sm}: {said.splitlines()[0]}", file=sys.stderr)
        else:
            codes[text, sm, specific] = code
    if unknown:
        print(f"kaio: no ptxas here knows {', '.join(sorted(unknown))}; the driver compiles for it", file=sys.stderr)
    content = laid_out([(*key, code) for key, code in codes.items()])
    replace_file(arguments.output, content)
    # The source file includes this header, and the assembler reads the data: so a cache of objects sees that they have changed.
    stamp = f"// {len(content)} bytes with the hash {hashlib.sha256(content).hexdigest()}.\n"
    replace_file(arguments.output.with_name(f"{arguments.output.name}.hpp"), stamp.encode())
    kernels = len({text for text, _, _ in codes})
    targets = sorted({(sm, specific) for _, sm, specific in codes})
    print(f"kaio: machine code of {kernels} kernels for {', '.join(f'sm_{sm}' + 'a' * s for sm, s in targets)}: "
          f"{len(codes)} cubins of {sum(map(len, codes.values())) / 1e6:.2f} MB, {len(content) / 1e6:.2f} MB compressed"
          + (f"; {failed} failed" if failed else ""))


if __name__ == "__main__":
    main()
