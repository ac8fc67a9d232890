#!/usr/bin/env python3
"""Python peers of the matmul benchmark: torch.mm (bmm, _scaled_mm) and an autotuned Triton kernel. Prints one JSON line for each
case, contestant and protocol; a peer that is not installed, or has no such product, prints none.

    peers.py [--seconds S] [--plain] TYPE:LAYOUT:MxNxKxBATCH ...       peers.py --libraries

--plain: prints fields with blanks between, for the program. --libraries: prints the files of cuBLASLt in Python's packages.

The protocols are those of bench/peer_times.py.
"""

import argparse
import glob
import json
import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from peer_times import displacing, median_us  # noqa: E402


def libraries():
    for folder in sys.path:
        for name in sorted(glob.glob(os.path.join(folder, "nvidia", "*", "lib", "libcublasLt.so.*"))):
            print(name)


def torch_product(torch, case, a, b):
    """The call, or None if torch has none."""
    out = torch.empty((case["batch"], case["m"], case["n"]) if case["batch"] > 1 else (case["m"], case["n"]),
                      dtype=torch.bfloat16 if case["type"] == "e4m3" else a.dtype, device="cuda")
    if case["type"] == "e4m3":
        if case["batch"] > 1:
            return None
        one = torch.ones((), device="cuda")
        return lambda: torch._scaled_mm(a, b, scale_a=one, scale_b=one, out_dtype=torch.bfloat16)
    torch.backends.cuda.matmul.allow_tf32 = case["type"] == "tf32"
    return (lambda: torch.bmm(a, b, out=out)) if case["batch"] > 1 else (lambda: torch.mm(a, b, out=out))


def triton_product(torch, triton, case, a, b):
    """A tiled kernel with grouped order, autotuned over tile shapes."""
    if case["batch"] > 1 or case["type"] == "f32":
        return None
    kernel = triton_kernel(triton)
    m, n, k = case["m"], case["n"], case["k"]
    out = torch.empty((m, n), dtype=torch.bfloat16 if case["type"] == "e4m3" else a.dtype, device="cuda")

    def run():
        grid = lambda meta: (triton.cdiv(m, meta["BLOCK_M"]) * triton.cdiv(n, meta["BLOCK_N"]),)
        kernel[grid](a, b, out, m, n, k, a.stride(0), a.stride(1), b.stride(0), b.stride(1))

    return run


def triton_kernel(triton, cache={}):  # one kernel for the whole run, to keep its tuning
    if "kernel" in cache:
        return cache["kernel"]
    import triton.language as tl
    globals()["tl"] = tl
    configurations = [triton.Config({"BLOCK_M": bm, "BLOCK_N": bn, "BLOCK_K": bk, "GROUP": 8}, num_warps=w, num_stages=s)
                      for bm, bn, bk, w, s in [(128, 256, 64, 8, 3), (128, 128, 64, 8, 4), (128, 128, 64, 4, 4),
                                               (64, 128, 64, 4, 4), (64, 64, 64, 4, 4), (64, 256, 64, 8, 3),
                                               (16, 128, 128, 4, 4), (16, 64, 128, 4, 5), (32, 128, 128, 4, 4),
                                               (128, 256, 128, 8, 3), (128, 128, 128, 8, 3)]]
    cache["kernel"] = triton.autotune(configs=configurations, key=["m", "n", "k"])(triton.jit(tiled_matmul))
    return cache["kernel"]


def tiled_matmul(a, b, c, m, n, k, a_row, a_column, b_row, b_column, BLOCK_M: "tl.constexpr", BLOCK_N: "tl.constexpr",
                 BLOCK_K: "tl.constexpr", GROUP: "tl.constexpr"):
    block = tl.program_id(0)
    across = tl.cdiv(n, BLOCK_N)
    in_group = GROUP * across
    first = block // in_group * GROUP
    height = min(tl.cdiv(m, BLOCK_M) - first, GROUP)
    row = first + block % in_group % height
    column = block % in_group // height
    rows = (row * BLOCK_M + tl.arange(0, BLOCK_M)) % m
    columns = (column * BLOCK_N + tl.arange(0, BLOCK_N)) % n
    steps = tl.arange(0, BLOCK_K)
    a_at = a + rows[:, None] * a_row + steps[None, :] * a_column
    b_at = b + steps[:, None] * b_row + columns[None, :] * b_column
    total = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for step in range(0, tl.cdiv(k, BLOCK_K)):
        inside = steps < k - step * BLOCK_K
        left = tl.load(a_at, mask=inside[None, :], other=0.0)
        right = tl.load(b_at, mask=inside[:, None], other=0.0)
        total = tl.dot(left, right, total)
        a_at += BLOCK_K * a_column
        b_at += BLOCK_K * b_row
    to_rows = row * BLOCK_M + tl.arange(0, BLOCK_M)
    to_columns = column * BLOCK_N + tl.arange(0, BLOCK_N)
    tl.store(c + to_rows[:, None] * n + to_columns[None, :], total.to(c.dtype.element_ty),
             mask=(to_rows[:, None] < m) & (to_columns[None, :] < n))


def operand(torch, case, rows, columns, transposed):
    shape = (columns, rows) if transposed else (rows, columns)
    if case["batch"] > 1:
        shape = (case["batch"], *shape)
    x = torch.randn(shape, device="cuda")
    types = {"f16": torch.float16, "bf16": torch.bfloat16, "e4m3": torch.float8_e4m3fn}
    x = x.to(types.get(case["type"], torch.float32))
    return x.transpose(-1, -2) if transposed else x


def parse(word):
    kind, layout, sizes = word.split(":")
    m, n, k, batch = (int(size) for size in sizes.split("x"))
    return {"type": kind, "layout": layout, "m": m, "n": n, "k": k, "batch": batch}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=0.5)
    parser.add_argument("--plain", action="store_true")
    parser.add_argument("--libraries", action="store_true")
    parser.add_argument("cases", nargs="*")
    options = parser.parse_args()
    if options.libraries:
        return libraries()
    try:
        import torch
    except ImportError:
        return
    if not torch.cuda.is_available():
        return
    try:
        import triton
    except ImportError:
        triton = None
    cache, flush = displacing(torch)
    for case in map(parse, options.cases):
        size = {"e4m3": 1, "f16": 2, "bf16": 2}.get(case["type"], 4) * case["batch"]
        one_set = size * (case["m"] * case["k"] + case["k"] * case["n"] + case["m"] * case["n"])
        sets = min(max(-(-int(1.25 * max(cache, 128 << 20)) // one_set), 1), 32)
        pairs = [(operand(torch, case, case["m"], case["k"], case["layout"][0] == "T"),
                  operand(torch, case, case["k"], case["n"], case["layout"][1] == "T")) for _ in range(sets)]
        for name in ("torch", "triton"):
            try:
                runs = [torch_product(torch, case, a, b) if name == "torch" else
                        triton_product(torch, triton, case, a, b) if triton is not None else None for a, b in pairs]
                if runs[0] is None:
                    continue
                times = median_us(torch, runs, options.seconds, flush)
            except Exception as error:  # the peer does not have the product
                print(f"peers.py: {name} {case}: {str(error).splitlines()[0] if str(error) else error!r}", file=sys.stderr)
                continue
            version = torch.__version__ if name == "torch" else triton.__version__
            for protocol, us in zip(("cold", "burst"), times):
                row = {**case, "contestant": name, "version": version, "protocol": protocol, "us": us}
                if options.plain:
                    print(case["type"], case["layout"], case["m"], case["n"], case["k"], case["batch"], name, version, protocol,
                          f"{us:.4f}", flush=True)
                else:
                    print(json.dumps(row), flush=True)


if __name__ == "__main__":
    main()
