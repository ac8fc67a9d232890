#!/usr/bin/env python3
"""Peers of the benchmark of weights of four and eight bits: torch's tinygemm (_weight_int4pack_mm, bf16), bitsandbytes' nf4 and
fp4, torch's _weight_int8pack_mm, and torch.mm of weights that are not quantised.

    peers.py [--seconds S] "TYPE[ CODES]:NxKxGROUP:mM" ...

bench/peer_times.py describes what is printed, and how it is measured.
"""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from peer_times import print_all, runs_of  # noqa: E402


def parse(word):
    kind, sizes, work = word.split(":")
    kind, _, codes = kind.partition(" ")
    n, k, group = (int(x) for x in sizes.split("x"))
    return {"text": word, "type": kind, "codes": codes or "int4", "n": n, "k": k, "group": group, "m": int(work[1:])}


# Each peer takes torch and a case, and returns the function that computes, or None.


def tinygemm(torch, case, dtype):
    n, k, group = case["n"], case["k"], case["group"]
    if case["codes"] != "int4" or case["type"] != "bf16" or group not in (32, 64, 128, 256) or k % 1024 or n % 8:
        return None
    codes = torch.randint(0, 256, (n, k // 2), device="cuda", dtype=torch.uint8)
    packed = torch.ops.aten._convert_weight_to_int4pack(codes, 8)
    scales = torch.rand(k // group, n, 2, device="cuda", dtype=dtype)
    x = torch.randn(case["m"], k, device="cuda", dtype=dtype)
    return lambda: torch.ops.aten._weight_int4pack_mm(x, packed, group, scales)


def bitsandbytes(torch, case, dtype):
    if case["codes"] not in ("nf4", "fp4"):
        return None
    import bitsandbytes

    w = torch.randn(case["n"], case["k"], device="cuda", dtype=dtype)
    packed, state = bitsandbytes.functional.quantize_4bit(w, blocksize=case["group"], quant_type=case["codes"])
    x = torch.randn(case["m"], case["k"], device="cuda", dtype=dtype)
    return lambda: bitsandbytes.matmul_4bit(x, packed.t(), state)


def int8pack(torch, case, dtype):
    if case["codes"] != "int8":
        return None
    codes = torch.randint(-127, 128, (case["n"], case["k"]), device="cuda", dtype=torch.int8)
    scales = torch.rand(case["n"], device="cuda", dtype=dtype)
    x = torch.randn(case["m"], case["k"], device="cuda", dtype=dtype)
    return lambda: torch.ops.aten._weight_int8pack_mm(x, codes, scales)


def whole(torch, case, dtype):
    w = torch.randn(case["n"], case["k"], device="cuda", dtype=dtype)
    x = torch.randn(case["m"], case["k"], device="cuda", dtype=dtype)
    return lambda: torch.mm(x, w.t())


peers = {"tinygemm": tinygemm, "bitsandbytes": bitsandbytes, "int8pack": int8pack, "torch.mm": whole}


TYPES = {"f16": "float16", "bf16": "bfloat16"}


def contestants(torch, case, options, sets_of):
    inputs = [(getattr(torch, TYPES[case["type"]]),)] * sets_of(case["n"] * case["k"] // 2, 32)
    return {name: runs_of(peer, torch, case, inputs) for name, peer in peers.items()}


if __name__ == "__main__":
    print_all(__doc__, parse, contestants)
