#!/usr/bin/env python3
"""Peers of the matmul_int8 benchmark: torch._int_mm, cuBLASLt's product of i8 into i32, followed for scaled outputs by torch's own
kernels, eager and compiled; and bitsandbytes' product with its scales if it is installed. torch._int_mm takes only more than
16 rows.

    peers.py [--seconds S] TYPE:MxNxK:WORK ...

bench/peer_times.py describes what is printed, and how it is measured.
"""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from peer_times import print_all, runs_of  # noqa: E402


def parse(word):
    _, sizes, work = word.split(":")
    m, n, k = (int(x) for x in sizes.split("x"))
    return {"text": word, "m": m, "n": n, "k": k, "work": work}


# Each peer takes torch, a case, A (m x k) and W (n x k), and returns the function that computes A * W^T, or None.


def scaled(torch, case):
    """The function that scales the sums."""
    if case["work"] == "f32":
        return lambda sums: sums.float() * 0.0078125
    rows = torch.full((case["m"], 1), 0.0078125, device="cuda")
    columns = torch.full((1, case["n"]), 0.0078125, device="cuda")
    return lambda sums: (sums.float() * rows * columns).bfloat16()


def int_mm(torch, case, a, w):
    if case["work"] == "i32":
        return lambda: torch._int_mm(a, w.t())
    after = scaled(torch, case)
    return lambda: after(torch._int_mm(a, w.t()))


def int_mm_compiled(torch, case, a, w):
    if case["work"] == "i32":
        return None
    after = scaled(torch, case)
    product = torch.compile(lambda x, y: after(torch._int_mm(x, y)), mode="max-autotune-no-cudagraphs")
    return lambda: product(a, w.t())


def bitsandbytes(torch, case, a, w):
    import bitsandbytes.functional as functional
    if case["work"] == "f32":
        return None
    if case["work"] == "i32":
        return lambda: functional.int8_linear_matmul(a, w)
    rows, columns = (torch.ones(case[side], device="cuda") for side in "mn")
    return lambda: functional.int8_mm_dequant(functional.int8_linear_matmul(a, w), rows, columns)


peers = {"int_mm": int_mm, "compiled": int_mm_compiled, "bitsandbytes": bitsandbytes}


def contestants(torch, case, options, sets_of):
    def operand(rows):
        return torch.randint(-128, 128, (rows, case["k"]), device="cuda", dtype=torch.int8)

    one_set = (case["m"] + case["n"]) * case["k"] + case["m"] * case["n"] * (2 if case["work"] == "bf16" else 4)
    inputs = [(operand(case["m"]), operand(case["n"])) for _ in range(sets_of(one_set, 32))]
    return {name: runs_of(peer, torch, case, inputs) for name, peer in peers.items()}


if __name__ == "__main__":
    print_all(__doc__, parse, contestants)
