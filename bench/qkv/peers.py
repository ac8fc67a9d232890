#!/usr/bin/env python3
"""Peers of the benchmark of fused projections: torch.mm with the concatenated weights and nothing else, which is a floor for
what torch's users call; and the product with the rotation and the append to a paged cache written in torch, compiled if torch can.

    peers.py [--seconds S] TYPE:KxHEADSxKEY_HEADSxSIZE:mM ...

bench/peer_times.py describes what is printed, and how it is measured.
"""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from peer_times import print_all, runs_of  # noqa: E402

BEFORE, ROWS = 1000, 16


def parse(word):
    kind, sizes, work = word.split(":")
    k, heads, key_heads, size = (int(x) for x in sizes.split("x"))
    return {"text": word, "type": kind, "k": k, "heads": heads, "key_heads": key_heads, "size": size, "m": int(work[1:])}


# Each peer takes torch and a case, and returns the function that computes, or None.


def operands(torch, case, dtype):
    columns = (case["heads"] + 2 * case["key_heads"]) * case["size"]
    x = torch.randn(case["m"], case["k"], device="cuda", dtype=dtype)
    return x, torch.randn(columns, case["k"], device="cuda", dtype=dtype)


def product(torch, case, dtype):
    x, w = operands(torch, case, dtype)
    return lambda: torch.mm(x, w.t())


def compiled(torch, case, dtype):
    x, w = operands(torch, case, dtype)
    m, heads, key_heads, size = case["m"], case["heads"], case["key_heads"], case["size"]
    sequences = m if m <= 64 else 1
    positions = BEFORE + torch.arange(m // sequences, device="cuda").repeat(sequences)
    angles = positions[:, None] * torch.rand(size // 2, device="cuda")
    cos, sin = angles.cos()[:, None], angles.sin()[:, None]
    slots = torch.randperm(m * 4, device="cuda")[:m]
    cache_k = torch.zeros(m * 4, key_heads, size, device="cuda", dtype=dtype)
    cache_v = torch.zeros_like(cache_k)

    def rotate(y):
        first, second = y.float().chunk(2, -1)
        return torch.cat((first * cos - second * sin, second * cos + first * sin), -1).to(dtype)

    def steps():
        q, k, v = torch.mm(x, w.t()).split([heads * size, key_heads * size, key_heads * size], -1)
        cache_k.index_copy_(0, slots, rotate(k.view(m, key_heads, size)))
        cache_v.index_copy_(0, slots, v.view(m, key_heads, size))
        return rotate(q.view(m, heads, size))

    return torch.compile(steps)


peers = {"torch.mm": product, "torch.compile": compiled}


TYPES = {"f16": "float16", "bf16": "bfloat16"}


def contestants(torch, case, options, sets_of):
    columns = (case["heads"] + 2 * case["key_heads"]) * case["size"]
    inputs = [(getattr(torch, TYPES[case["type"]]),)] * sets_of(columns * case["k"] * 2, 16)
    return {name: runs_of(peer, torch, case, inputs) for name, peer in peers.items()}


if __name__ == "__main__":
    print_all(__doc__, parse, contestants)
