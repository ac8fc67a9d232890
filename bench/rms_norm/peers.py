#!/usr/bin/env python3
"""Peers of the RMS norm benchmark: torch's rms_norm, eager, and compiled if torch can. With a residual, an addition comes first; for
int8 and fp8, the conversion into codes of 8 bits with a scale for each row comes last.

    peers.py [--seconds S] TYPE:ROWSxSIZE:plain|residual|int8|fp8 ...

bench/peer_times.py describes what is printed, and how it is measured.
"""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from peer_times import print_all, runs_of  # noqa: E402

TYPES = {"f32": "float32", "f16": "float16", "bf16": "bfloat16"}


def parse(word):
    kind, sizes, work = word.split(":")
    rows, size = (int(x) for x in sizes.split("x"))
    codes = work if work in ("int8", "fp8") else None
    return {"text": word, "type": kind, "rows": rows, "size": size, "residual": work != "plain", "codes": codes}


# Each peer takes torch and a case, and returns the function that computes.


def steps_of(torch, case, dtype):
    x = torch.randn(case["rows"], case["size"], device="cuda", dtype=dtype)
    weight = torch.randn(case["size"], device="cuda", dtype=dtype)
    norm = torch.nn.functional.rms_norm
    if not case["residual"]:
        return lambda: norm(x, (case["size"],), weight, 1e-6)
    residual = torch.randn_like(x)

    def steps():
        h = x + residual
        y = norm(h, (case["size"],), weight, 1e-6)
        return (h, y) if case["codes"] is None else (h, *codes_of(torch, y, case["codes"]))

    return steps


def codes_of(torch, y, kind):
    largest = y.abs().amax(-1, keepdim=True).float()
    if kind == "int8":
        scale = largest / 127
        return torch.round(y / scale).to(torch.int8), scale
    scale = largest / 448
    return (y / scale).to(torch.float8_e4m3fn), scale


def compiled(torch, case, dtype):
    torch._dynamo.config.recompile_limit = 1000  # beyond the limit nothing is compiled; many cases reach the default
    return torch.compile(steps_of(torch, case, dtype))


peers = {"torch": steps_of, "torch.compile": compiled}


def bytes_of_element(size, case):
    return size * (3 if case["residual"] else 1) + (1 if case["codes"] else size)


def contestants(torch, case, options, sets_of):
    dtype = getattr(torch, TYPES[case["type"]])
    bytes_of_set = case["rows"] * case["size"] * bytes_of_element(dtype.itemsize, case)
    inputs = [(dtype,)] * sets_of(bytes_of_set, 16)
    return {name: runs_of(peer, torch, case, inputs) for name, peer in peers.items()}


if __name__ == "__main__":
    print_all(__doc__, parse, contestants)
