#!/usr/bin/env python3
"""Measures what kaio costs the compiler: the headers, a file of one small kernel, each further instruction of several kinds of
kernel, and the largest kernel that the default limits allow. Compares it with `nvcc -ptx` of the same kernels in CUDA C++ if
nvcc is installed, and with another checkout of kaio (--base).

  compile_time.py [--json] [--compilers g++,clang++-16] [--repeats 5] [--base ROOT] [--quick]

A time is the CPU seconds of the compiler and its children (user and system), the least of the repeats, at -O0. Other work on
the machine adds no waiting to it, but slows the cores that it shares. In each repeat all files and checkouts take turns.
The texts of all kernels go through ptxas if it is installed."""

import argparse
import dataclasses
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
SOURCES = HERE / "kernels"

# Kernels that measure a further instruction: the name of the file, and the statements or rounds of a small and a large
# version. The large ones keep within clang's default limits at 7f4371a.
KERNELS = {
    "statements": (10, 1200),
    "wgmma": (1, 6),
    "mma": (1, 4),
}
ARCHITECTURE = {"wgmma": "sm_90a", "mma": "sm_80"}
STAGES = ["trace", "checks", "text", "image"]  # of stage.hpp
WANTED_ROUNDS = 1500        # of unrolled.cpp: 6,000 instructions
KNOWN_ROUNDS = [1626, 688]  # of the largest kernels of g++ and clang++ at 7f4371a: a search begins there


@dataclasses.dataclass(frozen=True)
class cost:
    seconds: float
    kilobytes: int


def write_statements(folder, count):
    """The body of statements.cpp: `count` different values."""
    forms = ["v{p} + v{q} * a", "max(v{p}, v{q}) - 1.0f", "v{p} * v{q}", "x[i + {k}] - v{p}"]
    lines = ["val v0 = x[i];", "val v1 = v0 * a;"]
    lines += [f"val v{k} = " + forms[k % 4].format(p=k - 1, q=k - 2, k=k) + ";" for k in range(2, count)]
    (folder / "statements.inc").write_text("\n".join(lines) + "\n")


def flags_of(kernel, size, folder):
    if kernel != "statements":
        return [f"-DROUNDS={size}"]
    sub = folder / f"statements_{size}"
    sub.mkdir(exist_ok=True)
    write_statements(sub, size)
    return [f"-I{sub}", f"-DLAST=v{size - 1}"]


def run_once(command, folder):
    """The cost of a command, or None if it fails."""
    child = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    return None if status else cost(usage.ru_utime + usage.ru_stime, usage.ru_maxrss)


def run_in_turn(jobs, folder, repeats):
    """The cost of each job, {key: command}: the least of the repeats. In each repeat all jobs take their turn."""
    costs = {}
    for _ in range(repeats):
        for key, command in jobs.items():
            now, least = run_once(command, folder), costs.get(key)
            if now is None:
                sys.exit(f"compile_time.py: this failed: {' '.join(command)}")
            costs[key] = cost(min(now.seconds, least.seconds), max(now.kilobytes, least.kilobytes)) if least else now
    return costs


def count_instructions(ptx):
    return len(re.findall(r"^\s*[@{a-z][^\n]*;\s*$", ptx, re.MULTILINE))


class workshop:
    """A compiler, and a folder for its output."""

    def __init__(self, compiler, folder):
        self.compiler, self.folder = compiler, pathlib.Path(folder)
        self.is_clang = "clang" in compiler

    def command(self, root, file, *flags, output=("-c", "-o", "out.o")):
        return [self.compiler, "-std=c++20", "-O0", f"-I{root / 'include'}", *flags, str(SOURCES / file), *output]

    def instructions(self, root, kernel, *flags):
        """The number of instructions of a kernel, after ptxas has accepted its text."""
        subprocess.run(self.command(root, f"{kernel}.cpp", *flags, output=("-o", "show")), cwd=self.folder, check=True)
        text = subprocess.run(["./show"], cwd=self.folder, text=True, capture_output=True, check=True).stdout
        if ptxas := shutil.which("ptxas"):
            (self.folder / "out.ptx").write_text(text)
            subprocess.run([ptxas, f"-arch={ARCHITECTURE.get(kernel, 'sm_80')}", "out.ptx", "-o", "/dev/null"],
                           cwd=self.folder, check=True)
        return count_instructions(text)

    def unrolls(self, root, rounds):
        return run_once(self.command(root, "unrolled.cpp", f"-DROUNDS={rounds}"), self.folder) is not None

    def largest_rounds(self, root):
        """The most rounds of unrolled.cpp that compile with default limits, or at most a few per cent fewer."""
        low, high = 250, 4000

        def bisect(rounds):
            nonlocal low, high
            low, high = (rounds, high) if self.unrolls(root, rounds) else (low, rounds)

        for rounds in KNOWN_ROUNDS:
            if low < rounds < high:
                bisect(rounds)
        for _ in range(4):
            bisect((low + high) // 2)
        return low

    def instantiations(self, root, file, *flags):
        """The numbers of functions and classes that clang instantiates."""
        subprocess.run(self.command(root, file, *flags, "-ftime-trace", "-ftime-trace-granularity=0"), cwd=self.folder,
                       check=True)
        events = [event["name"] for event in json.loads((self.folder / "out.json").read_text())["traceEvents"]]
        return events.count("InstantiateFunction"), events.count("InstantiateClass")


def measure(place, roots, repeats, quick):
    """A row of figures for each checkout, {name: path}."""
    flags = {(kernel, size): flags_of(kernel, size, place.folder) for kernel, sizes in KERNELS.items() for size in sizes}
    largest = {} if quick else {name: place.largest_rounds(root) for name, root in roots.items()}
    # All checkouts get the largest number of instructions that each of them allows.
    rounds = min([WANTED_ROUNDS, *largest.values(), *([KNOWN_ROUNDS[1]] if quick and place.is_clang else [])])
    whole = f"-DROUNDS={rounds}"

    jobs = nvcc_jobs()
    for name, root in roots.items():
        for file in ("include", "silu"):
            jobs[name, file] = place.command(root, f"{file}.cpp")
        for (kernel, size), these in flags.items():
            jobs[name, kernel, size] = place.command(root, f"{kernel}.cpp", *these)
        for k, stage in enumerate(STAGES):
            jobs[name, stage] = place.command(root, "wgmma.cpp", *flags["wgmma", KERNELS["wgmma"][1]],
                                              "-fno-access-control", f"-DSTAGE={k + 1}")
        jobs[name, "whole"] = place.command(root, "unrolled.cpp", whole)
    costs = run_in_turn(jobs, place.folder, repeats)

    rows = {}
    for name, root in roots.items():
        row = rows[name] = {"include_s": costs[name, "include"].seconds, "silu_s": costs[name, "silu"].seconds,
                            "silu_kb": costs[name, "silu"].kilobytes}
        for kernel, (small, large) in KERNELS.items():
            key = "per_instruction" if kernel == "statements" else kernel
            low, high = costs[name, kernel, small], costs[name, kernel, large]
            row[f"{kernel}_instructions"] = place.instructions(root, kernel, *flags[kernel, large])
            count = row[f"{kernel}_instructions"] - place.instructions(root, kernel, *flags[kernel, small])
            row[f"{key}_ms"] = (high.seconds - low.seconds) / count * 1e3
            row[f"{key}_kb"] = (high.kilobytes - low.kilobytes) / count
            row[f"{kernel}_file_s"] = high.seconds
        row["whole_kernel"] = place.instructions(root, "unrolled", whole)
        row["whole_kernel_ms"] = costs[name, "whole"].seconds / row["whole_kernel"] * 1e3
        if name in largest:
            row["largest_kernel"] = 4 * largest[name]
        ends = [row["include_s"]] + [costs[name, stage].seconds for stage in STAGES]
        for stage, begin, end in zip(STAGES, ends, ends[1:]):
            row[f"wgmma_{stage}_s"] = max(0.0, end - begin)
        if place.is_clang:
            kernel = place.instantiations(root, "wgmma.cpp", *flags["wgmma", KERNELS["wgmma"][1]])
            headers = place.instantiations(root, "include.cpp")
            row["wgmma_functions"], row["wgmma_classes"] = kernel[0] - headers[0], kernel[1] - headers[1]
        if "nvcc_mma" in costs:
            row |= {"nvcc_ptx_s": costs["nvcc_silu"].seconds, "nvcc_mma_s": costs["nvcc_mma"].seconds,
                    "nvcc_mma_instructions": count_instructions((place.folder / "mma.ptx").read_text())}
    return rows


def nvcc_jobs():
    nvcc = shutil.which("nvcc")
    command = [nvcc, "-ptx", "-arch=sm_80", f"-DROUNDS={KERNELS['mma'][1]}"]
    return {f"nvcc_{name}": [*command, str(SOURCES / f"{name}.cu"), "-o", f"{name}.ptx"] for name in ("silu", "mma") if nvcc}


def report(row, base):
    """Prints the row, each figure next to that of the base."""
    print(f"{row['compiler']}" + (f", and {base['base']}" if base else ""))

    def line(what, key, unit, form=".2f", note=""):
        if row.get(key) is None:
            return
        text = f"  {what:42}{format(row[key], form):>8} {unit:4}"
        if base and base.get(key) is not None:
            text += f"{format(base[key], form):>8} {unit:4}" + (f"x {row[key] / base[key]:.2f}" if base[key] > 0 else "")
        print(text + note, flush=True)

    def nvcc(key, peer):
        return f"   {row[key] / row[peer]:.1f} x nvcc -ptx, {row[peer]:.2f} s" if peer in row else ""

    line("#include <kaio/kaio.hpp>", "include_s", "s", note=nvcc("include_s", "nvcc_ptx_s"))
    line("fused_silu_gate and its launch", "silu_s", "s", note=nvcc("silu_s", "nvcc_ptx_s"))
    line("", "silu_kb", "KB", "d")
    for what, key in [("statements", "per_instruction"), ("wgmma", "wgmma"), ("mma", "mma")]:
        line(f"a further instruction, {what}", f"{key}_ms", "ms", ".3f")
        line("", f"{key}_kb", "KB", ".1f")
    line(f"a kernel of {row['whole_kernel']}, an instruction", "whole_kernel_ms", "ms", ".3f")
    line("largest kernel, instructions at least", "largest_kernel", "", "d")
    line(f"mma.cpp, {row['mma_instructions']} instructions", "mma_file_s", "s", note=nvcc("mma_file_s", "nvcc_mma_s"))
    line(f"wgmma.cpp, {row['wgmma_instructions']} instructions", "wgmma_file_s", "s")
    total = sum(row[f"wgmma_{stage}_s"] for stage in STAGES)
    for stage in STAGES:
        line(f"  its {stage}", f"wgmma_{stage}_s", "s", note=f"   {row[f'wgmma_{stage}_s'] / total:.0%}")
    line("  instantiated functions", "wgmma_functions", "", "d")
    line("  instantiated classes", "wgmma_classes", "", "d")


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--json", action="store_true", help="print one JSON object for each compiler and checkout")
    arguments.add_argument("--compilers", default="g++,g++-13,clang++-16,clang++-19")
    arguments.add_argument("--repeats", type=int, default=5)
    arguments.add_argument("--base", type=pathlib.Path, help="another checkout, measured in turn")
    arguments.add_argument("--quick", action="store_true", help="one repeat, no search for the largest kernel: checks that everything works")
    given = arguments.parse_args()
    compilers = [c for c in given.compilers.split(",") if shutil.which(c)]
    if not compilers:
        sys.exit(f"compile_time.py: none of {given.compilers} is installed")
    repeats = 1 if given.quick else given.repeats
    roots = {"this": HERE.parents[1]}
    if given.base:
        roots["base"] = given.base.resolve()
        commit = subprocess.run(["git", "describe", "--always"], cwd=roots["base"], text=True, capture_output=True,
                                check=True).stdout.strip()
    for compiler in compilers:
        version = subprocess.run([compiler, "--version"], text=True, capture_output=True).stdout.splitlines()[0]
        with tempfile.TemporaryDirectory() as folder:
            measured = measure(workshop(compiler, folder), roots, repeats, given.quick)
        rows = [{"benchmark": "compile_time", "compiler": version, "root": name, "clock": "cpu", **row}
                for name, row in measured.items()]
        if given.base:
            rows[1]["base"] = commit
        if not given.json:
            report(rows[0], rows[1] if given.base else None)
            continue
        for row in rows:
            print(json.dumps({k: round(v, 4) if isinstance(v, float) else v for k, v in row.items()}), flush=True)


if __name__ == "__main__":
    main()
