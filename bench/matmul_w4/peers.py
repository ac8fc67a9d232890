#!/usr/bin/env python3
"""The peers of the benchmark of weights of four bits: torch's tinygemm (_weight_int4pack_mm, bf16) and torch.mm of weights
that are not quantised. Prints a line for each case, contestant and protocol: CASE NAME VERSION PROTOCOL MICROSECONDS. A
peer that is not installed, or cannot compute a case, prints none.

    peers.py [--seconds S] TYPE:NxKxGROUP:mM ...

The protocols are those of the benchmark of matmul, whose measurement this uses.
"""

import argparse
import importlib.util
import pathlib

matmul = pathlib.Path(__file__).resolve().parent.parent / "matmul" / "peers.py"
specification = importlib.util.spec_from_file_location("matmul_peers", matmul)
matmul_peers = importlib.util.module_from_spec(specification)
specification.loader.exec_module(matmul_peers)


def parse(word):
    kind, sizes, work = word.split(":")
    n, k, group = (int(x) for x in sizes.split("x"))
    return {"text": word, "type": kind, "n": n, "k": k, "group": group, "m": int(work[1:])}


# Each peer takes torch and a case, and returns the function that computes, or None.


def tinygemm(torch, case, dtype):
    n, k, group = case["n"], case["k"], case["group"]
    if case["type"] != "bf16" or group not in (32, 64, 128, 256) or k % 1024 or n % 8:
        return None
    codes = torch.randint(0, 256, (n, k // 2), device="cuda", dtype=torch.uint8)
    packed = torch.ops.aten._convert_weight_to_int4pack(codes, 8)
    scales = torch.rand(k // group, n, 2, device="cuda", dtype=dtype)
    x = torch.randn(case["m"], k, device="cuda", dtype=dtype)
    return lambda: torch.ops.aten._weight_int4pack_mm(x, packed, group, scales)


def whole(torch, case, dtype):
    w = torch.randn(case["n"], case["k"], device="cuda", dtype=dtype)
    x = torch.randn(case["m"], case["k"], device="cuda", dtype=dtype)
    return lambda: torch.mm(x, w.t())


peers = {"tinygemm": tinygemm, "torch.mm": whole}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=0.5)
    parser.add_argument("cases", nargs="*")
    options = parser.parse_args()
    try:
        import torch
    except ImportError:
        return
    if not torch.cuda.is_available():
        return
    types = {"f16": torch.float16, "bf16": torch.bfloat16}
    cache, flush = matmul_peers.displacing(torch)
    for case in map(parse, options.cases):
        one_set = case["n"] * case["k"] // 2
        sets = min(max(-(-cache // one_set), 1), 32)
        for name, peer in peers.items():
            def make_runs(peer=peer):
                runs = [peer(torch, case, types[case["type"]]) for _ in range(sets)]
                return None if None in runs else runs
            matmul_peers.print_times(torch, case["text"], name, make_runs, options.seconds, flush)


if __name__ == "__main__":
    main()
