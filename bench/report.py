#!/usr/bin/env python3
"""Renders bench/results/*.jsonl into bench/results/README.md: for each benchmark, the newest row of each case, beside the
figure that it has to reach. A figure that is missed says so."""

import json
import pathlib

results = pathlib.Path(__file__).resolve().parent / "results"


def verdict(value, bound, least):
    return "" if bound is None else "reached" if (value >= bound if least else value <= bound) else "**missed**"


def newest(rows, key):
    latest = {}
    for row in rows:
        latest[tuple(row.get(k) for k in key)] = row
    return latest.values()


def table(title, head, lines):
    if not lines:
        return ""
    rows = ["| " + " | ".join(line) + " |" for line in [head, ["---"] * len(head), *lines]]
    return f"\n## {title}\n\n" + "\n".join(rows) + "\n"


def main():
    rows = [json.loads(line) for file in sorted(results.glob("*.jsonl")) for line in file.read_text().splitlines()]
    of = lambda name: [row for row in rows if row["benchmark"] == name]
    text = "# Results\n\nRendered by `bench/report.py` from the data beside it. Each row has its machine, date and commit.\n"
    text += table(
        "Bandwidth",
        ["kernel", "GB/s", "copy, GB/s", "ratio", "at least", "", "device", "date", "commit"],
        [[r["kernel"], f"{r['kernel_gbs']:.0f}", f"{r['copy_gbs']:.0f}", f"{r['ratio']:.3f}",
          "0.95" if r["kernel"] == "fused_silu_gate" else "",
          verdict(r["ratio"], 0.95 if r["kernel"] == "fused_silu_gate" else None, True), r["device"], r["date"], r["commit"]]
         for r in newest(of("bandwidth"), ["device", "kernel"])])
    text += table(
        "Launch",
        ["cuLaunchKernel, us", "kaio, us", "above, us", "at most", "", "device", "date", "commit"],
        [[f"{r['raw_ns'] / 1e3:.3f}", f"{r['kaio_ns'] / 1e3:.3f}", f"{r['above_ns'] / 1e3:.3f}", "0.3",
          verdict(r["above_ns"], 300, False), r["device"], r["date"], r["commit"]]
         for r in newest(of("launch"), ["device"])])
    text += table(
        "Instructions and registers beside CUDA C++, after ptxas -O3",
        ["kernel", "kaio", "CUDA C++", "ratio", "within 10 %", "registers", "CUDA C++", "within 10 %", "target", "date", "commit"],
        [[r["kernel"], str(r["instructions"]), str(r["cuda_instructions"]),
          f"{r['instructions'] / r['cuda_instructions']:.2f}",
          verdict(r["instructions"], 1.1 * r["cuda_instructions"], False), str(r["registers"]), str(r["cuda_registers"]),
          verdict(r["registers"], 1.1 * r["cuda_registers"], False), r["arch"], r["date"], r["commit"]]
         for r in newest(of("instructions"), ["arch", "kernel"])])
    compile_lines = []
    for r in newest(of("compile_time"), ["compiler"]):
        clang = "clang" in r["compiler"]
        nvcc = r.get("nvcc_ptx_s")
        cases = [
            ("`#include <kaio/kaio.hpp>`, s", r["include_s"], None if clang else 0.7, False, ".2f"),
            ("fused_silu_gate and its launch, s", r["silu_s"], None if clang else 1.2, False, ".2f"),
            ("the same, in times of nvcc -ptx", r["silu_s"] / nvcc if nvcc else None, None if clang else 3, False, ".1f"),
            ("a further instruction, ms", r["per_instruction_ms"], 0.7 if clang else 1, False, ".2f"),
            ("a further instruction, KB", r["per_instruction_kb"], 100, False, ".0f"),
            ("largest kernel, instructions (at least)", r["largest_kernel"], 1500, True, "d"),
        ]
        for what, value, bound, least, form in cases:
            if value is not None:
                compile_lines.append([r["compiler"], what, format(value, form), "" if bound is None else str(bound),
                                      verdict(value, bound, least), r["date"], r["commit"]])
    text += table("Compile time", ["compiler", "what", "measured", "figure", "", "date", "commit"], compile_lines)
    def emulator_line(r):
        checked = r["checks"] == "all"
        figure = ((0.8, False, r["seconds"], "s") if checked else (0.2, False, r["seconds"], "s")) \
            if r["kernel"].startswith("matmul") else (3 if checked else 15, True, r["million_per_s"], "M/s")
        bound, least, value, unit = figure
        return [r["kernel"], r["checks"], f"{r['seconds']:.4f}", f"{r['million_per_s']:.1f}",
                f"{r['million_lane_instructions_per_s']:.0f}", f"{'at least' if least else 'at most'} {bound} {unit}",
                verdict(value, bound, least), r.get("machine", ""), r["date"], r["commit"]]

    text += table(
        "Emulator, one core",
        ["kernel", "checks", "seconds", "million warp instructions a second", "million lane instructions a second", "figure", "",
         "machine", "date", "commit"],
        [emulator_line(r) for r in newest(of("emulator"), ["machine", "kernel", "checks"])])
    (results / "README.md").write_text(text)
    print(text)


if __name__ == "__main__":
    main()
