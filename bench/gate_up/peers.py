#!/usr/bin/env python3
"""Peers of the benchmark of gated projections: torch.mm with both weights in one and nothing else, which is a floor for what
torch's users call; and silu(x Wg) * (x Wu) written in torch, eager, and compiled if torch can.

    peers.py [--seconds S] TYPE:KxF:mM ...

bench/peer_times.py describes what is printed, and how it is measured.
"""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from peer_times import print_all, runs_of  # noqa: E402


def parse(word):
    kind, sizes, work = word.split(":")
    k, f = (int(x) for x in sizes.split("x"))
    return {"text": word, "type": kind, "k": k, "f": f, "m": int(work[1:])}


# Each peer takes torch and a case, and returns the function that computes.


def operands(torch, case, dtype):
    x = torch.randn(case["m"], case["k"], device="cuda", dtype=dtype)
    return x, torch.randn(2 * case["f"], case["k"], device="cuda", dtype=dtype)


def product(torch, case, dtype):
    x, w = operands(torch, case, dtype)
    return lambda: torch.mm(x, w.t())


def steps_of(torch, x, w):
    def steps():
        gate, up = torch.mm(x, w.t()).chunk(2, -1)
        return torch.nn.functional.silu(gate) * up

    return steps


def steps(torch, case, dtype):
    return steps_of(torch, *operands(torch, case, dtype))


def compiled(torch, case, dtype):
    return torch.compile(steps_of(torch, *operands(torch, case, dtype)))


peers = {"torch.mm": product, "torch": steps, "torch.compile": compiled}

TYPES = {"f16": "float16", "bf16": "bfloat16"}


def contestants(torch, case, options, sets_of):
    inputs = [(getattr(torch, TYPES[case["type"]]),)] * sets_of(2 * case["f"] * case["k"] * 2, 16)
    return {name: runs_of(peer, torch, case, inputs) for name, peer in peers.items()}


if __name__ == "__main__":
    print_all(__doc__, parse, contestants)
