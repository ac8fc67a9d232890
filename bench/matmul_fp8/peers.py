#!/usr/bin/env python3
"""Peers of the matmul_fp8 benchmark: torch._scaled_mm with and without fast accumulation, and deep_gemm's product with scales of
blocks if it is installed. torch's scales are those of the tensor, of rows and columns, or of 1 x 128 and 128 x 128. torch has
the latter from 2.8 on, with CUDA 12.9, on sm_90, if M is a multiple of 4.

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


# Each peer takes torch, a case, A (m x k), W (n x k) and their scales, and returns the function that computes A * W^T, or None.


def scales(torch, case):
    """(scales of A, scales of W) in torch's layouts: groups of A along M, blocks of W along K with rows of a multiple of 4."""
    def numbers(*extents):
        return torch.rand(*extents, device="cuda") * 0.008 + 0.004
    if case["work"] == "tensor":
        return numbers(1).reshape(()), numbers(1).reshape(())
    if case["work"] == "rows":
        return numbers(case["m"], 1), numbers(1, case["n"])
    groups, blocks = -(-case["k"] // 128), -(-case["n"] // 128)
    return numbers(groups, case["m"]).t(), numbers(blocks, -(-groups // 4) * 4)[:, :groups].t()


def product(torch, case, fast, a, w, of_a, of_w):
    import functools
    return functools.partial(torch._scaled_mm, a, w.t(), scale_a=of_a, scale_b=of_w, out_dtype=torch.bfloat16,
                             use_fast_accum=fast)


def scaled_mm(torch, case, a, w, of_a, of_w):
    return product(torch, case, case["work"] != "blocks", a, w, of_a, of_w)


def scaled_mm_precise(torch, case, a, w, of_a, of_w):
    if case["work"] == "blocks":
        return None
    return product(torch, case, False, a, w, of_a, of_w)


def deep_gemm(torch, case, a, w, of_a, of_w):
    import deep_gemm
    if case["work"] != "blocks":
        return None
    y = torch.empty(case["m"], case["n"], device="cuda", dtype=torch.bfloat16)
    of_w = of_w.t().contiguous()
    return lambda: deep_gemm.fp8_gemm_nt((a, of_a), (w, of_w), y)


peers = {"scaled_mm": scaled_mm, "scaled_mm_precise": scaled_mm_precise, "deep_gemm": deep_gemm}


def contestants(torch, case, options, sets_of):
    def operand(rows):
        return torch.randn(rows, case["k"], device="cuda").to(torch.float8_e4m3fn)

    one_set = (case["m"] + case["n"]) * case["k"] + case["m"] * case["n"] * 2
    inputs = [(operand(case["m"]), operand(case["n"]), *scales(torch, case)) for _ in range(sets_of(one_set, 32))]
    return {name: runs_of(peer, torch, case, inputs) for name, peer in peers.items()}


if __name__ == "__main__":
    print_all(__doc__, parse, contestants)
