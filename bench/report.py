#!/usr/bin/env python3
"""Renders bench/results/*.jsonl into bench/results/README.md, one page of the current figures.

    bench/report.py                      writes the page
    bench/report.py --cases BENCHMARK    prints every case of a benchmark, as attention or matmul, with the times of all contestants
"""

import pathlib
import sys

BENCH = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(BENCH), str(BENCH.parent / "tools")]
import measurements  # noqa: E402
from measurements import KAIO, best_peer, recorded, summary  # noqa: E402
from replace_file import replace_file  # noqa: E402

# Title, peers, and the meaning of a shape, for the benchmarks that compare contestants.
COMPARED = {
    "matmul": ("matmul", "cuBLASLt, torch, Triton"),
    "matmul_epilogue": ("matmul with bias, GELU or residual", "cuBLASLt"),
    "matmul_fp8": ("matmul_fp8", "torch._scaled_mm"),
    "matmul_int8": ("matmul_int8", "torch._int_mm and scales, compiled"),
    "matmul_w4": ("matmul_w4, matmul_w8", "tinygemm, bitsandbytes, torch.mm of 16 bits"),
    "attention": ("attention", "cuDNN, FlashAttention-2, FlexAttention"),
    "attention_backward": ("attention_backward", "cuDNN, FlashAttention-2, FlexAttention"),
    "attention_decode": ("attention_decode", "cuDNN, FlashAttention-2"),
    "qkv": ("qkv_project", "torch.mm alone, torch.compile"),
    "gate_up": ("gate_up_project", "torch.mm alone, torch.compile"),
    "rms_norm": ("rms_norm", "torch, torch.compile"),
    "formats": ("dequantise", "a device-to-device copy of the same bytes"),
}
SWEPT = {"matmul_random": "matmul", "matmul_epilogue_random": "matmul", "attention_random": "attention",
         "attention_backward_random": "attention_backward", "attention_decode_random": "attention_decode"}

INTRODUCTION = """# Results

`bench/report.py` renders this page from the `.jsonl` files next to it, which hold the newest times of each case.
`bench/report.py --cases attention` prints every case of a benchmark. Each figure has the date and the commit of its measurement;
the device is an H200 (driver 580) unless a table says otherwise. Older measurements, and the times that the cost models are fitted
to, are in the history of the repository, at commit {archive}.

`tools/kaio bench --html` writes the same figures into `build/bench.html`, one file that needs no network. It adds a roofline
below the measured ceilings, bandwidth over the size of a call, and a table of all cases that can be sorted and searched. With
`--compare OLD NEW` it shows what became faster and slower between two runs: files of JSON lines, as `bench/record.py` writes them
or as benchmarks print them (`--json`); commits or dates within a file (`runs.jsonl@2026-11-27`); or the results that two commits
of the repository have. Changes below `--limit` (1.05) count as noise. Peers that were measured in both runs show how large it was.

[Random problems](random_problems.md) has ratios over problems that were drawn, by operation and kind.

Ratios are the time of the fastest peer divided by kaio's: above 1, kaio is faster. Peers run in the same process, or for peers in
Python in a process of its own on the same machine. Two protocols:

| protocol | what is timed |
| --- | --- |
| cold: single | single runs between two events, each after a read that displaces L2; contestants take turns; the median |
| burst: repeated | a CUDA graph of runs that go through enough sets of operands that L2 holds none of them; the median |
"""


def table(title, head, lines, note=""):
    if not lines:
        return ""
    rows = ["| " + " | ".join(map(str, line)) + " |" for line in [head, ["---"] * len(head), *lines]]
    return f"\n## {title}\n\n{note}" + "\n".join(rows) + "\n"


def span(dates):
    """The date, or the first and the last one."""
    days = sorted({date.split()[0] for date in dates})
    return days[0] if len(days) == 1 else f"{days[0]} to {days[-1]}"


def shape_of(line):
    if "shape" in line:
        return line["shape"].replace("x", " x ")
    batch = f"{line['batch']} x " if line["batch"] > 1 else ""
    return f"{batch}{line['m']} x {line['n']} x {line['k']} {line['layout']}"


def case_of(line):
    return " ".join([shape_of(line), *[line[name] for name in ("work", "epilogue") if line.get(name)]])


def compared(*fields, lines=None):
    """{(benchmark, values of the fields): [(ratio to the fastest peer, case)], dates} of the cases that have a peer."""
    groups = {}
    for line in recorded() if lines is None else lines:
        if line["benchmark"] in COMPARED and KAIO in line["us"] and best_peer(line["us"]):
            ratios, dates = groups.setdefault((line["benchmark"], *[line[field] for field in fields]), ([], []))
            ratios.append((best_peer(line["us"])[1] / line["us"][KAIO], case_of(line)))
            dates.append(measurements.newest(line["measured"]))
    return dict(sorted(groups.items(), key=lambda group: (list(COMPARED).index(group[0][0]), group[0])))


def operation_lines():
    """A line for each operation, all types together: README has them too."""
    found = compared("protocol")
    lines = []
    for benchmark, (name, peers) in COMPARED.items():
        if (benchmark, "burst") in found and (benchmark, "cold") in found:
            (repeated, dates), (single, _) = found[benchmark, "burst"], found[benchmark, "cold"]
            repeated, single = summary(repeated), summary(single)
            lines.append([name, peers, repeated["problems"], f"{repeated['ratio']:.2f}", f"{single['ratio']:.2f}",
                          f"{repeated['p5']:.2f}", span(dates)])
    return lines


def operation_table():
    return table("Next to the fastest peer",
                 ["operation", "peers", "cases", "repeated", "single", "5th percentile, repeated", "measured"], operation_lines(),
                 "Geometric means over named cases: shapes of models, square shapes, and shapes that were slow once. torch.mm alone computes\n"
                 "less than qkv_project and gate_up_project do: it has no rotation, cache or activation.\n\n")


def compared_figure(lines):
    """A row for each benchmark, type and protocol."""
    rows = []
    for (benchmark, kind, protocol), (ratios, dates) in compared("type", "protocol", lines=lines).items():
        total = summary(ratios)
        rows.append([COMPARED[benchmark][0], kind, protocol, total["problems"], f"{total['ratio']:.2f}", f"{total['p5']:.2f}",
                     f"{total['worst']:.2f}", total["worst_case"], span(dates)])
    return ("By type and protocol",
            ["operation", "type", "protocol", "cases", "geometric mean", "5th percentile", "worst", "the worst case", "measured"],
            rows)


def swept_figure(lines):
    """A row for the newest sweep of each operation, type and protocol."""
    newest = {}
    for line in lines:
        if line["benchmark"] in SWEPT:
            group = tuple(line.get(name) for name in ("benchmark", "epilogue", "type", "protocol"))
            if line["measured"] >= newest.get(group, line)["measured"]:
                newest[group] = line
    rows = [[SWEPT[line["benchmark"]] + (f" with {line['epilogue']}" if "epilogue" in line else ""), line["type"], line["protocol"],
             line["problems"], f"{line['ratio']:.2f}", f"{line['p5']:.2f}" if "p5" in line else "", f"{line['worst']:.2f}",
             line["worst_case"], line["measured"].split()[0]]
            for line in newest.values()]
    return ("Random problems",
            ["operation", "type", "protocol", "problems", "geometric mean", "5th percentile", "worst", "the worst problem",
             "measured"], rows, "Problems of `--random`, which no constant is fitted to.\n\n")


def energy_figure(lines):
    rows = []
    for line in lines:
        if line["benchmark"] == "matmul_energy":
            rows += [[line["type"], shape_of(line), row["contestant"], f"{row['us']:.0f}", f"{row['tflops']:.0f}", row["measured"]]
                     for row in measurements.contestants(line)]
    return "Long products, sustained for two seconds", ["type", "m x n x k", "", "us", "TFLOP/s", "measured"], rows


def compile_figure(lines):
    """A row for each figure of each compiler."""
    rows = []
    for line in lines:
        if line["benchmark"] != "compile_time" or line.get("root") == "base":
            continue
        measured = {"`#include <kaio/kaio.hpp>`, s": ("include_s", ".2f"), "fused_silu_gate and its launch, s": ("silu_s", ".2f"),
                   "fused_silu_gate by nvcc -ptx, s": ("nvcc_ptx_s", ".2f"),
                   "a further instruction, scalar code, ms": ("per_instruction_ms", ".2f"),
                   "a further instruction, wgmma, ms": ("wgmma_ms", ".2f"), "a further instruction, mma.sync, ms": ("mma_ms", ".2f"),
                   "largest kernel with the compiler's default limits, instructions": ("largest_kernel", "d")}
        rows += [[line["compiler"], what, format(line[field], form), line["measured"]]
                 for what, (field, form) in measured.items() if line.get(field)]
    return ("Compile time", ["compiler", "what", "measured", "when"], rows,
            "At -O0: seconds of CPU time of the compiler and its children, the least of several runs. A further instruction is\n"
            "the slope between a small and a large version of a kernel.\n\n")


def figures(lines):
    """(title, head, rows[, note]) of each table about one kind of measurement."""
    of = lambda benchmark: [line for line in lines if line["benchmark"] == benchmark]
    yield energy_figure(lines)
    yield ("Bandwidth", ["kernel", "GB/s", "copy, GB/s", "ratio", "measured"],
           [[r["kernel"], f"{r['kernel_gbs']:.0f}", f"{r['copy_gbs']:.0f}", f"{r['ratio']:.2f}", r["measured"]]
            for r in of("bandwidth")])
    yield ("Caches of keys and values", ["call", "us", "GB/s", "copy, GB/s", "ratio", "measured"],
           [[r["call"], f"{r['us']:.1f}", f"{r['call_gbs']:.0f}", f"{r['copy_gbs']:.0f}", f"{r['ratio']:.2f}", r["measured"]]
            for r in of("cache")])
    yield ("Launch", ["stream", "cuLaunchKernel, us", "kaio, us", "above, us", "measured"],
           [[r.get("call", "own stream"), f"{r['raw_ns'] / 1e3:.2f}", f"{r['kaio_ns'] / 1e3:.2f}", f"{r['above_ns'] / 1e3:.2f}",
             r["measured"]] for r in of("launch")])
    yield ("Replay of a graph", ["kernels", "cuGraphLaunch, us", "kaio, us", "ratio", "measured"],
           [[r["nodes"], f"{r['raw_us']:.2f}", f"{r['kaio_us']:.2f}", f"{r['ratio']:.3f}", r["measured"]] for r in of("graph")])
    yield ("Growth of memory", ["call", "calls", "resident, KiB", "device, KiB", "measured"],
           [[r["call"], f"{r['calls']:,}", f"{r['resident_kib']:.0f}", f"{r['device_kib']:.0f}", r["measured"]] for r in of("growth")])
    yield ("SASS next to CUDA C++, after ptxas -O3",
           ["kernel", "instructions", "CUDA C++", "ratio", "registers", "CUDA C++", "target", "measured"],
           [[r["kernel"], r["instructions"], r["cuda_instructions"], f"{r['instructions'] / r['cuda_instructions']:.2f}",
             r["registers"], r["cuda_registers"], r["arch"], r["measured"]] for r in of("instructions")])
    yield compile_figure(lines)
    yield ("Emulator, one core", ["kernel", "checks", "s", "million warp instructions a second", "machine", "measured"],
           [[r["kernel"], r["checks"], f"{r['seconds']:.3f}", f"{r['million_per_s']:.0f}", r.get("machine", ""), r["measured"]]
            for r in of("emulator")])


def page():
    lines = recorded()
    text = INTRODUCTION.format(archive=measurements.ARCHIVE) + operation_table() + table(*compared_figure(lines))
    text += table(*swept_figure(lines))
    plots = sorted(file.name for file in measurements.RESULTS.glob("*.svg"))
    if plots:
        text += "\n## Plots\n\n" + "\n".join(f"- [{name.removesuffix('.svg').replace('_', ' ')}]({name})" for name in plots) + "\n"
    return text + "".join(table(*figure) for figure in figures(lines))


def cases(benchmark):
    """A table of every case of a benchmark."""
    found = [line for line in recorded(benchmark) if isinstance(line.get("us"), dict)]
    if not found:
        known = sorted({line["benchmark"] for line in recorded() if isinstance(line.get("us"), dict)})
        sys.exit(f"report.py: no cases of '{benchmark}' are recorded; there are those of {', '.join(known)}")
    names = sorted({name for line in found for name in line["us"]}, key=lambda name: (name != KAIO, name))
    lines = []
    for line in found:
        rate = next((f"{line[name]:.2f}" for name in measurements.RATES if name in line), "")
        peer = best_peer(line["us"])
        ratio = f"{peer[1] / line['us'][KAIO]:.2f}" if peer and KAIO in line["us"] else ""
        lines.append([line["type"], case_of(line), line.get("protocol", ""), rate, ratio,
                      *[f"{line['us'][name]:.1f}" if name in line["us"] else "" for name in names],
                      measurements.newest(line["measured"])])
    unit = "TFLOP/s" if "tflops" in found[0] else "TB/s"
    return table(benchmark, ["type", "case", "protocol", unit, "ratio", *[f"{name}, us" for name in names], "measured"], lines)


def main():
    if len(sys.argv) == 1:
        replace_file(measurements.RESULTS / "README.md", page())
    elif len(sys.argv) == 3 and sys.argv[1] == "--cases":
        print(cases(sys.argv[2]))
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
