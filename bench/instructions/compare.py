#!/usr/bin/env python3
"""Compares what ptxas makes of kaio's kernels with what it makes of the same kernels in CUDA C++.

    compare.py --ptx DIR [--arch sm_90] [--json]

DIR holds one bench_NAME.ptx for each kernel of kernels.hpp, as `instructions DIR` writes it; kernels.cu is compiled with
`nvcc -O3 -ptx`. Both go through the same `ptxas -O3`. The script counts a kernel's SASS instructions, without the padding
after its end, and its registers. --json prints one line per kernel, for bench/record.py.
"""

import argparse
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

here = pathlib.Path(__file__).resolve().parent


def tool(name):
    for path in (shutil.which(name), f"/usr/local/cuda/bin/{name}"):
        if path and pathlib.Path(path).exists():
            return path
    sys.exit(f"kaio: this comparison needs {name}; install a CUDA toolkit")


def instructions(cubin):
    """{kernel: number of its SASS instructions}"""
    said = subprocess.run([tool("cuobjdump"), "-sass", cubin], capture_output=True, text=True, check=True).stdout
    counts, name = {}, None
    for line in said.splitlines():
        if found := re.search(r"Function : (\w+)", line):
            name = found.group(1)
            counts[name] = []
        elif name and (found := re.match(r"\s+/\*[0-9a-f]{4}\*/\s+(?:@!?U?P\w+ )?([A-Z0-9_.]+)", line)):
            counts[name].append(found.group(1))
    # A branch to itself and padding follow the end.
    for ops in counts.values():
        while ops and ops[-1] == "NOP":
            ops.pop()
        if ops and ops[-1] == "BRA":
            ops.pop()
    return {name: len(ops) for name, ops in counts.items()}


def assemble(ptx, arch):
    """{kernel: (instructions, registers)}"""
    with tempfile.TemporaryDirectory() as folder:
        cubin = pathlib.Path(folder) / "k.cubin"
        said = subprocess.run([tool("ptxas"), "-v", "-O3", f"-arch={arch}", ptx, "-o", cubin],
                              capture_output=True, text=True)
        if said.returncode != 0:
            sys.exit(f"kaio: ptxas refuses {ptx}:\n{said.stderr}")
        names = re.findall(r"Compiling entry function '(\w+)'", said.stderr)
        registers = [int(n) for n in re.findall(r"Used (\d+) registers", said.stderr)]
        counts = instructions(cubin)
    return {name: (counts[name], used) for name, used in zip(names, registers)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ptx", type=pathlib.Path, required=True)
    parser.add_argument("--arch", default="sm_90")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        ptx = pathlib.Path(folder) / "kernels.ptx"
        subprocess.run([tool("nvcc"), "-O3", f"-arch={arguments.arch.replace('sm', 'compute')}", "-ptx",
                        here / "kernels.cu", "-o", ptx], check=True)
        cuda = assemble(ptx, arguments.arch)
    print(f"{'kernel':16}{'kaio':>8}{'CUDA C++':>10}{'ratio':>8}   {'registers':>9}{'CUDA C++':>10}")
    beyond = []
    for name, (count, registers) in cuda.items():
        ours, used = assemble(arguments.ptx / f"bench_{name}.ptx", arguments.arch)[f"bench_{name}"]
        ratio = ours / count
        if ratio > 1.1 or used > 1.1 * registers:
            beyond.append(name)
        print(f"{name:16}{ours:8}{count:10}{ratio:8.2f}   {used:9}{registers:10}")
        if arguments.json:
            print(json.dumps({"benchmark": "instructions", "kernel": name, "arch": arguments.arch, "instructions": ours,
                              "cuda_instructions": count, "registers": used, "cuda_registers": registers}))
    print(f"beyond 10 %: {', '.join(beyond) if beyond else 'none'}")


if __name__ == "__main__":
    main()
