#!/usr/bin/env python3
"""Random problems through the package, each checked, and timed next to torch's own operation in one process, or next to
torch.compile of the formula if torch has no such operation (row_problems.py).

    sweep.py [--seed N] [--problems N] [--kinds matmul,attention,...] [--seconds N] [--lines FILE]

Problems are drawn from a seed, which is printed. A result is compared with the same formula in f32. Times are those of a CUDA graph
whose calls go through more operands than L2 holds, if 64 sets of them suffice (repeated), and of single calls after a write that
displaces L2 (single). A gradient through autograd includes its forward pass. The ratio is the peer's time divided by kaio's: above
1, kaio is faster. Prints a table with geometric mean, 5th percentile and worst. A problem that raises an error counts as wrong.
Needs a GPU and torch.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import statistics
import time
from typing import Any, Callable, Iterator

import kaio
import kaio.torch as kt
import row_problems
import torch
from problem import problem, size

F = torch.nn.functional
L2_BYTES = 64 << 20


def matrix(rows: int, columns: int, dtype: torch.dtype, transposed: bool) -> torch.Tensor:
    m = torch.randn((columns, rows) if transposed else (rows, columns), device="cuda", dtype=torch.float32).to(dtype)
    return m.t() if transposed else m


def matmul(draw: random.Random) -> problem:
    dtype = draw.choice([torch.bfloat16, torch.float16])
    step = draw.choice([1, 8, 8])
    m, n, k = size(draw, 1, 8192, draw.choice([1, step])), size(draw, step, 8192, step), size(draw, step, 8192, step)
    ta, tb = draw.random() < 0.3, draw.random() < 0.5
    return problem(f"{m} x {n} x {k} {'T' if ta else 'N'}{'T' if tb else 'N'} {dtype}",
                   lambda: (matrix(m, k, dtype, ta), matrix(k, n, dtype, tb)), kaio.matmul, torch.mm,
                   lambda a, b: a.float() @ b.float(), 1e-2)  # fmt: skip


def attention_operands(draw: random.Random) -> tuple[str, bool, Callable[[], tuple[Any, ...]]]:
    dtype = draw.choice([torch.bfloat16, torch.float16])
    d = draw.choice([64, 64, 80, 96, 128, 128, 256])
    hkv, group = draw.choice([1, 2, 4, 8]), draw.choice([1, 1, 4])
    sq = size(draw, 16, 4096)
    sk = sq if draw.random() < 0.7 else size(draw, 16, 4096)
    b = max(1, min(16, size(draw, 1, 16), (1 << 24) // max(1, hkv * group * max(sq, sk) * d)))
    causal = sq == sk and draw.random() < 0.5

    def make() -> tuple[Any, ...]:
        shapes = (b, sq, hkv * group, d), (b, sk, hkv, d), (b, sk, hkv, d)
        return tuple(torch.randn(s, device="cuda", dtype=torch.float32).to(dtype) for s in shapes)

    return f"{b} x {sq} over {sk}, heads {hkv * group} / {hkv}, D {d}{' causal' if causal else ''} {dtype}", causal, make


def sdpa(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, causal: bool) -> torch.Tensor:
    q, k, v = (t.transpose(1, 2) for t in (q, k, v))
    return F.scaled_dot_product_attention(q, k, v, is_causal=causal, enable_gqa=q.shape[1] != k.shape[1]).transpose(1, 2)


def attention(draw: random.Random) -> problem:
    name, causal, make = attention_operands(draw)
    return problem(name, make, lambda q, k, v: kaio.attention(q, k, v, causal="top_left" if causal else "none"),
                   lambda q, k, v: sdpa(q, k, v, causal), lambda q, k, v: sdpa(q.float(), k.float(), v.float(), causal), 1e-2)  # fmt: skip


def attention_backward(draw: random.Random) -> problem:
    name, causal, make = attention_operands(draw)

    def with_gradient() -> tuple[Any, ...]:
        q, k, v = make()
        return q, k, v, torch.randn_like(q)

    def gradients(forward: Callable[..., torch.Tensor]) -> Callable[..., tuple[torch.Tensor, ...]]:
        def run(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, dout: torch.Tensor) -> tuple[torch.Tensor, ...]:
            leaves = [t.detach().requires_grad_() for t in (q, k, v)]
            return torch.autograd.grad(forward(*leaves), leaves, dout)

        return run

    peer = gradients(lambda q, k, v: sdpa(q, k, v, causal))
    ours = gradients(lambda q, k, v: kt.flash_attn_func(q, k, v, causal=causal))
    return problem(name, with_gradient, ours, peer, lambda *operands: peer(*(t.float() for t in operands)), 2e-2)


def matmul_int8(draw: random.Random) -> problem:
    m, n, k = size(draw, 17, 8192), size(draw, 8, 8192, 8), size(draw, 8, 8192, 8)

    def make() -> tuple[Any, ...]:
        a = torch.randint(-128, 128, (m, k), device="cuda", dtype=torch.int8)
        return a, torch.randint(-128, 128, (n, k), device="cuda", dtype=torch.int8).t()

    return problem(f"{m} x {n} x {k}", make, kaio.matmul_int8, torch._int_mm, lambda a, b: (a.double() @ b.double()), 0.0)


def matmul_fp8(draw: random.Random) -> problem:
    m, n, k = size(draw, 16, 8192, 16), size(draw, 16, 8192, 16), size(draw, 16, 8192, 16)
    one = torch.ones((), device="cuda")
    return problem(f"{m} x {n} x {k}",
                   lambda: (matrix(m, k, torch.float8_e4m3fn, False), matrix(k, n, torch.float8_e4m3fn, True)), kaio.matmul_fp8,
                   lambda a, b: torch._scaled_mm(a, b, one, one, out_dtype=torch.bfloat16), lambda a, b: a.float() @ b.float(), 1e-2)  # fmt: skip


KINDS: dict[str, Callable[[random.Random], problem]] = {
    "matmul": matmul, "attention": attention, "attention_backward": attention_backward, "matmul_int8": matmul_int8,
    "matmul_fp8": matmul_fp8, **row_problems.KINDS,
}  # fmt: skip


def repeated(run: Callable[..., Any], sets: list[tuple[Any, ...]]) -> float:
    """Seconds of a call in a graph that goes through all sets of operands."""
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())  # which makes the operands
    with torch.cuda.stream(side):
        for _ in range(2):
            run(*sets[0])
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for operands in sets:
            run(*operands)
    graph.replay()
    times = []
    for _ in range(7):
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        graph.replay()
        end.record()
        end.synchronize()
        times.append(begin.elapsed_time(end))
    return statistics.median(times) / len(sets) * 1e-3


def single(run: Callable[..., Any], operands: tuple[Any, ...], displaced: torch.Tensor) -> float:
    times = []
    for _ in range(9):
        displaced.zero_()
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        torch.cuda._sleep(1_000_000)  # the host is ahead: its time does not count
        begin.record()
        run(*operands)
        end.record()
        end.synchronize()
        times.append(begin.elapsed_time(end))
    return statistics.median(times) * 1e-3


def operands_of(one: problem) -> Iterator[tuple[Any, ...]]:
    first = one.make()
    yield first
    bytes_of_one = sum(t.numel() * t.element_size() for t in first)
    for _ in range(min(63, max(3, 2 * L2_BYTES // max(1, bytes_of_one)))):
        yield one.make()


def summary(ratios: list[float]) -> dict[str, float]:
    ordered = sorted(ratios)
    return {"mean": math.exp(sum(map(math.log, ordered)) / len(ordered)), "p5": ordered[int(0.05 * len(ordered))], "worst": ordered[0]}


def measured(one: problem, displaced: torch.Tensor) -> dict[str, Any]:
    """Errors and times of a problem. Its memory is free afterwards."""
    sets = list(operands_of(one))
    error, of_peer = one.errors(sets[0])
    row: dict[str, Any] = {"name": one.name, "error": error, "error_of_peer": of_peer}
    for how, measure in (("repeated", lambda run: repeated(run, sets)), ("single", lambda run: single(run, sets[0], displaced))):
        row |= {f"{how}_us": measure(one.ours) * 1e6, f"{how}_peer_us": measure(one.peer) * 1e6}
    del sets
    torch.cuda.empty_cache()
    return row


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--problems", type=int, default=40, help="of each kind")
    parser.add_argument("--kinds", default=",".join(KINDS))
    parser.add_argument("--seconds", type=float, default=1e9, help="for each kind")
    parser.add_argument("--lines", help="a file for a line of JSON of each problem")
    arguments = parser.parse_args()
    print(f"seed {arguments.seed}, torch {torch.__version__}, kaio {kaio.__version__}, {torch.cuda.get_device_name()}")
    displaced = torch.empty(4 * L2_BYTES, dtype=torch.uint8, device="cuda")
    lines = open(arguments.lines, "w") if arguments.lines else None
    wrong = 0
    for kind in arguments.kinds.split(","):
        draw = random.Random(f"{kind} {arguments.seed}")
        torch.manual_seed(arguments.seed)
        rows: list[dict[str, Any]] = []
        begin = time.time()
        for _ in range(arguments.problems):
            if time.time() - begin > arguments.seconds:
                break
            one = KINDS[kind](draw)
            try:
                row = {"kind": kind, **measured(one, displaced)}
            except Exception as error:
                wrong += 1
                print(f"WRONG {kind} {one.name}: {type(error).__name__}: {error}")
                continue
            if not row["error"] <= max(one.tolerance, 3 * row["error_of_peer"]):
                wrong += 1
                print(f"WRONG {kind} {one.name}: error {row['error']:.2e}, the peer's {row['error_of_peer']:.2e}")
            rows.append(row)
            if lines:
                print(json.dumps(row), file=lines, flush=True)
        if not rows:
            print(f"{kind:20} no problem was measured", flush=True)
            continue
        for how in ("repeated", "single"):
            s = summary([row[f"{how}_peer_us"] / row[f"{how}_us"] for row in rows])
            print(f"{kind:20} {how:9} {len(rows):4} problems  mean {s['mean']:.3f}  5th percentile {s['p5']:.3f}  worst {s['worst']:.3f}")
        worst = min(rows, key=lambda row: row["repeated_peer_us"] / row["repeated_us"])
        print(f"{'':20} worst repeated: {worst['name']}: {worst['repeated_us']:.1f} us, peer {worst['repeated_peer_us']:.1f}", flush=True)
    print(f"{wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
