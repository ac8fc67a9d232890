#!/usr/bin/env python3
"""Renders bench/results/*.jsonl into bench/results/README.md: for each benchmark, the newest row of each case, with the
figure that it has to reach. A figure that is missed says so."""

import json
import math
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tools"))
from replace_file import replace_file  # noqa: E402

results = pathlib.Path(__file__).resolve().parent / "results"


def verdict(value, bound, least):
    return "" if bound is None else "reached" if (value >= bound if least else value <= bound) else "**missed**"


def newest(rows, key):
    latest = {}
    for row in rows:
        latest[tuple(row.get(k) for k in key)] = row
    return latest.values()


def table(title, head, lines, note=""):
    if not lines:
        return ""
    rows = ["| " + " | ".join(line) + " |" for line in [head, ["---"] * len(head), *lines]]
    return f"\n## {title}\n\n{note}" + "\n".join(rows) + "\n"


# The least ratio to the best algorithm of cuBLASLt, and of fp8 to torch, with operands that are not in the L2 cache, as in
# both protocols: {type: [(is it of (m, n, k, batch)?, ratio)]}.
half_figures = [
    (lambda m, n, k, b: (m, n, k, b) in [(8192, 8192, 8192, 1), (4096, 4096, 4096, 1), (4096, 14336, 4096, 1),
                                         (4096, 4096, 14336, 1), (2048, 2048, 2048, 1), (512, 512, 512, 16)], 1.0),
    (lambda m, n, k, b: m == n == k and b == 1 and m <= 1024, 1.15),
    (lambda m, n, k, b: m <= 64 and n == k and n in (4096, 8192) and b == 1, 1.3),
]
matmul_figures = {
    "f16": half_figures,
    "bf16": half_figures,
    "e4m3": [(lambda m, n, k, b: (m, n, k, b) == (8192, 8192, 8192, 1), 0.95)],
    "f32": [(lambda m, n, k, b: (m, n, k, b) == (4096, 4096, 4096, 1), 0.95)],
}


def matmul_figure(case):
    return next((ratio for matches, ratio in matmul_figures.get(case[0], []) if matches(*case[2:])), None)


def matmul_table(rows):
    """A line for each product of kaio, compared with the fastest of its peers that were measured."""
    latest, cases = {}, {}
    for row in rows:
        case = (row["device"], row["protocol"], row["type"], row["layout"], row["m"], row["n"], row["k"], row["batch"])
        latest[case, row["contestant"]] = row
        cases.setdefault(case, set()).add(row["contestant"])
    lines = []
    for case, names in sorted(cases.items(), key=lambda item: item[0]):
        peers = [latest[case, name] for name in names if name in ("cublaslt", "torch", "triton")]
        if "kaio" not in names or not peers:
            continue
        ours, best = latest[case, "kaio"], min(peers, key=lambda row: row["us"])
        device, protocol, kind, layout, m, n, k, batch = case
        ratio, bound = best["us"] / ours["us"], matmul_figure(case[2:])
        named = latest.get((case, "torch" if kind == "e4m3" else "cublaslt"), best)["us"] / ours["us"]
        design = latest.get((case, "design"))
        skinny = min(m, n) <= 128
        lines.append([kind, layout, f"{f'{batch} x ' if batch > 1 else ''}{m} x {n} x {k}", protocol, f"{ours['us']:.1f}",
                      f"{ours['tbs']:.2f} TB/s" if skinny else f"{ours['tflops']:.0f} TFLOP/s", f"{ours['percent']:.0f} %",
                      best["contestant"], f"{best['us']:.1f}", f"{ratio:.3f}", f"{named:.3f}", "" if bound is None else str(bound),
                      verdict(named, bound, True), f"{design['us']:.1f}" if design else "", device, ours["date"], ours["commit"]])
    return table(
        "Matrix products compared with cuBLASLt, torch and Triton",
        ["type", "layout", "m x n x k", "protocol", "kaio, us", "rate", "of the peak at the measured clock", "best peer", "us",
         "ratio", "to cuBLASLt (fp8: torch)", "at least", "", "KAIO's design, us", "device", "date", "commit"], lines,
        "Medians; of cuBLASLt the fastest algorithm that it returns, chosen for each protocol. cold: single runs between two\n"
        "events, each after a read that displaces the L2 cache, contestants in turn. burst: a CUDA graph of runs that go\n"
        "through so many sets of operands that L2 does not hold them; weights are declared constant to kaio where M or N is at\n"
        "most 128.\n\n")


def epilogue_table(rows):
    """A line for each product of kaio with an epilogue, compared with cuBLASLt's."""
    cases = {}
    for row in rows:
        case = tuple(row[k] for k in ("device", "type", "layout", "batch", "m", "n", "k", "epilogue", "protocol"))
        cases.setdefault(case, {})[row["contestant"]] = row
    lines = []
    for case, of in sorted(cases.items()):
        if "kaio" not in of or "cublaslt" not in of:
            continue
        device, kind, layout, batch, m, n, k, epilogue, protocol = case
        ours, peer = of["kaio"], of["cublaslt"]
        rate = f"{ours['tbs']:.2f} TB/s" if min(m, n) <= 128 else f"{ours['tflops']:.0f} TFLOP/s"
        lines.append([kind, layout, f"{f'{batch} x ' if batch > 1 else ''}{m} x {n} x {k}", epilogue, protocol,
                      f"{ours['us']:.1f}", rate, f"{peer['us']:.1f}", f"{peer['us'] / ours['us']:.3f}", device, ours["date"],
                      ours["commit"]])
    return table(
        "Matrix products with an epilogue compared with cuBLASLt",
        ["type", "layout", "m x n x k", "epilogue", "protocol", "kaio, us", "rate", "cuBLASLt, us", "ratio", "device", "date",
         "commit"], lines,
        "bias: one number for each column of C. gelu_bias: the same, then gelu in its tanh form. residual: a matrix like C, which\n"
        "is other memory. Both have it in the kernel of the product. Bytes are those of A, B, C and bias or residual; protocols as\n"
        "below.\n\n")


def random_table(title, rows):
    """How kaio compares with cuBLASLt over random products: a line for each protocol and type, as it was measured last, and the
    worst ones."""
    if not rows:
        return ""
    last = {row["type"]: (row["commit"], row["date"]) for row in rows}
    products = {}
    for row in rows:
        if (row["commit"], row["date"]) == last[row["type"]]:
            case = tuple(row[k] for k in ("protocol", "type", "layout", "batch", "m", "n", "k"))
            products.setdefault(case, {})[row["contestant"]] = row["us"]
    ratios = sorted((times["cublaslt"] / times["kaio"], case) for case, times in products.items()
                    if "kaio" in times and "cublaslt" in times)
    lines = []
    for protocol in sorted({case[0] for _, case in ratios}):
        for kind in ["all", *sorted({case[1] for _, case in ratios})]:
            some = [ratio for ratio, case in ratios if case[0] == protocol and kind in ("all", case[1])]
            if some:
                mean = math.exp(sum(map(math.log, some)) / len(some))
                lines.append([protocol, kind, str(len(some)), f"{mean:.3f}", f"{min(some):.3f}",
                              str(sum(ratio < 0.9 for ratio in some)), *reversed(last.get(kind, ("", "")))])
    worst = "".join(f"\n- {ratio:.3f}: {protocol}, {kind} {layout} {f'{batch} x ' if batch > 1 else ''}{m} x {n} x {k}"
                    for ratio, (protocol, kind, layout, batch, m, n, k) in ratios[:10])
    return table(
        title,
        ["protocol", "type", "products", "geometric mean of the ratios", "worst", "below 0.9", "date", "commit"], lines,
        "The problems of `matmul --random`; protocols as below. No workspace is given to kaio, 64 MiB to cuBLASLt.\n\n"
    ) + f"\nThe worst:\n{worst}\n"


def attention_table(title, rows, note, rate=("tflops", "TFLOP/s", 0), shape_name="B x S x Hq x Hkv x D"):
    """A line for each problem and protocol: kaio, and the fastest of its peers. The rate: its name in the data, its unit, digits."""
    number, unit, digits = rate
    cases = {}
    for r in rows:
        case = (r["type"], r["shape"], r["work"], r["protocol"])
        cases.setdefault(case, {})[r["contestant"]] = r
    lines = []
    for (kind, shape, work, protocol), of in sorted(cases.items()):
        peers = [r for name, r in of.items() if not name.startswith("kaio")]
        if "kaio" not in of or not peers:
            continue
        ours, best, flex = of["kaio"], min(peers, key=lambda r: r["us"]), of.get("flex")
        repeatable = min((r["us"] for r in peers if r["contestant"].endswith("_deterministic")), default=None)
        plain = cases.get((kind, shape, "causal" if "causal" in work or work == "window" else "full", protocol), {}).get("kaio")
        lines.append([kind, shape.replace("x", " x "), work, protocol, f"{ours['us']:.1f}", f"{ours[number]:.{digits}f}",
                      best["contestant"], f"{best['us']:.1f}", f"{best['us'] / ours['us']:.3f}",
                      f"{flex['us'] / ours['us']:.2f}" if flex else "",
                      f"{repeatable / ours['us']:.2f}" if repeatable else "",
                      f"{ours[number] / plain[number]:.2f}" if plain and plain is not ours else "",
                      ours["date"], ours["commit"]])
    head = ["type", shape_name, "work", "protocol", "kaio, us", unit, "best peer", "us", "ratio",
            "ratio to FlexAttention", "ratio to deterministic peers", f"{unit} in those of plain", "date", "commit"]
    unused = {i for i in range(len(head)) if all(line[i] == "" for line in lines)}
    return table(title, [x for i, x in enumerate(head) if i not in unused],
                 [[x for i, x in enumerate(line) if i not in unused] for line in lines], note)


def attention_random_table(title, rows):
    return table(title,
                 ["type", "seed", "problems", "protocol", "geometric mean of the ratios", "worst", "of", "date", "commit"],
                 [[r["type"], str(r["seed"]), str(r["problems"]), r["protocol"], f"{r['ratio']:.3f}", f"{r['worst']:.3f}",
                   r["worst_case"], r["date"], r["commit"]]
                  for r in newest(rows, ["device", "type", "seed", "protocol"])],
                 "The problems of `attention --random`; ratios to the fastest peer.\n\n")


def energy_table(rows):
    """Joules of large products next to their time, each contestant alone for two seconds."""
    lines = [[r["type"], r["layout"], f"{r['m']} x {r['n']} x {r['k']}", r["contestant"], f"{r['us']:.0f}", f"{r['tflops']:.0f}",
              f"{r['joules']:.3f}", f"{r['gflop_per_joule']:.0f}", f"{r['watts']:.0f}", f"{r['mhz']:.0f}", r["date"], r["commit"]]
             for r in sorted(newest(rows, ["device", "type", "layout", "m", "n", "k", "contestant"]),
                             key=lambda r: (r["type"], r["m"] * r["n"] * r["k"], r["contestant"]))]
    return table("Energy of matrix products",
                 ["type", "layout", "m x n x k", "", "us", "TFLOP/s", "J", "GFLOP/J", "W", "MHz", "date", "commit"], lines,
                 "Each alone for two seconds, of which the second counts; joules and clock from NVML.\n\n")


def compile_cases(r):
    """(what, value, format, figure, is it the least allowed?, most in times of the base) of a row of compile_time."""
    clang = "clang" in r["compiler"]
    value = lambda key, form, bound=None, least=False, ratio=None: (r.get(key), form, bound, least, ratio)
    nvcc = lambda key, peer, bound=None: (r[key] / r[peer] if r.get(key) and r.get(peer) else None, ".1f", bound, False, None)
    cases = {
        "`#include <kaio/kaio.hpp>`, s": value("include_s", ".2f", 0.35),
        "the same, in times of nvcc -ptx of fused_silu_gate": nvcc("include_s", "nvcc_ptx_s"),
        "fused_silu_gate and its launch, s": value("silu_s", ".2f", 0.45),
        "the same, KB": value("silu_kb", "d"),
        "the same, in times of nvcc -ptx": nvcc("silu_s", "nvcc_ptx_s", 1.5),
    }
    for kernel, key in [("statements", "per_instruction"), ("wgmma", "wgmma"), ("mma", "mma")]:
        cases[f"a further instruction, {kernel}, ms"] = value(f"{key}_ms", ".2f", 0.4, ratio=0.35)
        cases[f"a further instruction, {kernel}, KB"] = value(f"{key}_kb", ".0f", 100)
    cases[f"an instruction of a kernel of {r.get('whole_kernel')}, ms"] = value("whole_kernel_ms", ".2f", 0.4, ratio=0.35)
    cases["largest kernel, instructions (at least)"] = value("largest_kernel", "d", 2752 if clang else 6504, True)
    cases[f"mma.cpp, {r.get('mma_instructions')} instructions, s"] = value("mma_file_s", ".2f")
    cases[f"the same, in times of nvcc -ptx of mma.cu, {r.get('nvcc_mma_instructions')} instructions"] = \
        nvcc("mma_file_s", "nvcc_mma_s")
    cases[f"wgmma.cpp, {r.get('wgmma_instructions')} instructions, s"] = value("wgmma_file_s", ".2f")
    stages = {stage: r.get(f"wgmma_{stage}_s") for stage in ("trace", "checks", "text", "image")}
    if None not in stages.values():
        for stage, seconds in stages.items():
            share = 100 * seconds / sum(stages.values())
            cases[f"wgmma.cpp, share of its {stage}, %"] = (share, ".0f", None, False, None)
    cases["wgmma.cpp, functions instantiated"] = value("wgmma_functions", "d")
    cases["wgmma.cpp, classes instantiated"] = value("wgmma_classes", "d")
    return [(what, *case) for what, case in cases.items()]


def compile_table(rows):
    """A line for each figure of each compiler, next to that of the base of the same run where there was one."""
    bases = {(r["compiler"], r["date"], r["commit"]): r for r in rows if r.get("root") == "base"}
    lines = []
    for r in newest([r for r in rows if r.get("root") != "base"], ["compiler"]):
        base = bases.get((r["compiler"], r["date"], r["commit"]))
        cases = compile_cases(r)
        others = [case[1] for case in compile_cases(base)] if base else [None] * len(cases)
        for (what, value, form, bound, least, ratio_bound), other in zip(cases, others):
            if value is None:
                continue
            line = [r["compiler"], what, format(value, form), "" if bound is None else str(bound), verdict(value, bound, least)]
            if other and other > 0:  # peaks of memory may hide in that of the headers
                line += [f"{format(other, form)} ({base['base']})", f"{value / other:.2f}", str(ratio_bound or ""),
                         verdict(value / other, ratio_bound, False)]
            else:
                line += [""] * 4
            lines.append(line + [r["date"], r["commit"]])
    return table(
        "Compile time",
        ["compiler", "what", "measured", "figure", "", "base", "ratio", "at most", "", "date", "commit"], lines,
        "At -O0: seconds of CPU time of the compiler and its children (of wall clock in rows without the wgmma kernel), the\n"
        "least of several runs. A further instruction is the slope between a small and a large version of a kernel. Base:\n"
        "another commit, measured in turn.\n\n")


def main():
    rows = [json.loads(line) for file in sorted(results.glob("*.jsonl")) for line in file.read_text().splitlines()]
    of = lambda name: [row for row in rows if row["benchmark"] == name]
    text = ("# Results\n\nRendered by `bench/report.py` from the data next to it. Each row has its machine, date and commit. Cold\n"
            "times of peers in Python from before commit b610d8d are too long where they are below 25 us: the device had to wait\n"
            "for Python to call them.\n")
    text += table(
        "Bandwidth",
        ["kernel", "GB/s", "copy, GB/s", "ratio", "at least", "", "device", "date", "commit"],
        [[r["kernel"], f"{r['kernel_gbs']:.0f}", f"{r['copy_gbs']:.0f}", f"{r['ratio']:.3f}",
          "0.95" if r["kernel"] == "fused_silu_gate" else "",
          verdict(r["ratio"], 0.95 if r["kernel"] == "fused_silu_gate" else None, True), r["device"], r["date"], r["commit"]]
         for r in newest(of("bandwidth"), ["device", "kernel"])])
    text += table(
        "Caches of keys and values",
        ["call", "us", "GB/s", "copy, GB/s", "ratio", "device", "date", "commit"],
        [[r["call"], f"{r['us']:.1f}", f"{r['call_gbs']:.0f}", f"{r['copy_gbs']:.0f}", f"{r['ratio']:.3f}",
          r["device"], r["date"], r["commit"]] for r in newest(of("cache"), ["device", "call"])])
    text += table(
        "Launch",
        ["cuLaunchKernel, us", "kaio, us", "above, us", "at most", "", "device", "date", "commit"],
        [[f"{r['raw_ns'] / 1e3:.3f}", f"{r['kaio_ns'] / 1e3:.3f}", f"{r['above_ns'] / 1e3:.3f}", "0.3",
          verdict(r["above_ns"], 300, False), r["device"], r["date"], r["commit"]]
         for r in newest(of("launch"), ["device"])])
    text += table(
        "Instructions and registers compared with CUDA C++, after ptxas -O3",
        ["kernel", "kaio", "CUDA C++", "ratio", "within 10 %", "registers", "CUDA C++", "within 10 %", "target", "date", "commit"],
        [[r["kernel"], str(r["instructions"]), str(r["cuda_instructions"]),
          f"{r['instructions'] / r['cuda_instructions']:.2f}",
          verdict(r["instructions"], 1.1 * r["cuda_instructions"], False), str(r["registers"]), str(r["cuda_registers"]),
          verdict(r["registers"], 1.1 * r["cuda_registers"], False), r["arch"], r["date"], r["commit"]]
         for r in newest(of("instructions"), ["arch", "kernel"])])
    text += compile_table(of("compile_time"))

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
    text += attention_table(
        "Attention forward", of("attention"),
        "The peers are PyTorch's scaled_dot_product_attention by cuDNN and by FlashAttention-2, FlexAttention under\n"
        "torch.compile, varlen_attn, and FlashAttention-3 where it is installed, in a process of their own on the same\n"
        "machine. The works are those of `bench/attention/problem.hpp`. 4 D operations for each pair of a query and a key\n"
        "that the mask keeps.\n\n")
    text += attention_random_table("Random attention", of("attention_random"))
    text += attention_table(
        "Attention backward", of("attention_backward"),
        "dQ, dK and dV, always deterministic; 10 D operations for each pair of a query and a key that the mask keeps. The\n"
        "peers are torch's kernels for the gradients of scaled_dot_product_attention, as they are and with deterministic\n"
        "algorithms, and those that autograd takes.\n\n")
    text += attention_random_table("Random attention backward", of("attention_backward_random"))
    text += attention_table(
        "Attention over caches", of("attention_decode"),
        "S is the keys of a sequence; the works are those of `bench/attention_decode/problem.hpp`. Bytes are those of K, V, Q\n"
        "and O. The peers are PyTorch's scaled_dot_product_attention, and FlashInfer where it is installed.\n\n",
        ("tbs", "TB/s", 2))
    text += attention_random_table("Random attention over caches", of("attention_decode_random"))
    text += attention_table(
        "Products with weights of four bits", of("matmul_w4"),
        "Shapes are N x K x group, works the rows of x. Bytes are those of codes, scales, x and y. The peers are PyTorch's\n"
        "_weight_int4pack_mm (tinygemm), and torch.mm of weights that are not quantised.\n\n",
        ("tbs", "TB/s", 2), "N x K x group")
    text += attention_table(
        "Projections of queries, keys and values", of("qkv"),
        "Shapes are K x heads x heads of keys x D, works the tokens and the bits of packed weights. Bytes are those of weights, x,\n"
        "Q, K and V, which are rotated and appended. The peers are PyTorch's product of the weights alone, and its compiled steps.\n\n",
        ("tbs", "TB/s", 2), "K x H x Hkv x D")
    text += attention_table(
        "Gate and up projections", of("gate_up"),
        "Works are the rows and the weights. Bytes are those of weights, x and out. The peers are PyTorch's product of both weights\n"
        "alone, and its steps, compiled too.\n\n",
        ("tbs", "TB/s", 2), "K x F")
    text += attention_table(
        "Norms of rows", of("rms_norm"),
        "With a residual that is added and written, and without. Bytes are those of x, residuals and out. The peers are PyTorch's\n"
        "norm and its compiled steps.\n\n",
        ("tbs", "TB/s", 2), "rows x size")
    text += attention_table(
        "Products of integers of 8 bits", of("matmul_int8"),
        "Shapes are M x N x K, works the output: i32, or with scales of rows and columns. The peers are PyTorch's _int_mm with\n"
        "the scales by tensor operations, and the same under torch.compile.\n\n",
        ("tflops", "TOP/s", 0), "M x N x K")
    text += attention_table(
        "Products of 8-bit floats with scales", of("matmul_fp8"),
        "Shapes are M x N x K, works the scales: of the tensors, of rows and columns, of 1 x 128 and 128 x 128; C of bf16. The peers\n"
        "are PyTorch's _scaled_mm, with fast accumulation and (precise) without, and deep_gemm where it is installed.\n\n",
        ("tflops", "TF", 0), "M x N x K")
    text += random_table("Random matrix products compared with cuBLASLt", of("matmul_random"))
    for epilogue in ("bias", "gelu_bias", "residual"):
        text += random_table(f"Random matrix products with the epilogue {epilogue} compared with cuBLASLt",
                             [r for r in of("matmul_epilogue_random") if r["epilogue"] == epilogue])
    text += epilogue_table(of("matmul_epilogue"))
    text += energy_table(of("matmul_energy"))
    text += matmul_table(of("matmul"))
    replace_file(results / "README.md", text)
    print(text)


if __name__ == "__main__":
    main()
