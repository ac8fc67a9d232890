#!/usr/bin/env python3
"""Host time of a call from Python: what one thread spends until a call returns, next to torch's own.

    host_time.py [--device cpu|cuda] [--calls N] [--rounds N] [--lines FILE]

On a GPU the operands are small, so that the device keeps up, and every round begins with an idle device. On the CPU the
operands have no rows, so that nothing is launched: what remains is the way through Python, the module and libkaio. Rounds take
turns; the least mean of a round is reported, in microseconds. Prints a JSON line for each way of a call:
  raw            kaio.matmul(a, b, out): the package over any array, into memory that exists
  made           kaio.matmul(a, b): likewise, with an output that is made
  direct         kaio.torch.matmul(a, b) without gradients
  operator       torch.ops.kaio.matmul: the way through torch's dispatcher, as torch.compile's graphs take it
  autograd       kaio.torch.matmul(a, b) of tensors that require a gradient
  torch, torch_out, torch_autograd   torch's operation likewise
  empty_function an autograd.Function that makes its output with torch.empty: what autograd itself costs
"""

from __future__ import annotations

import argparse
import json
import platform
import time
from typing import Any, Callable

import kaio
import kaio.torch as kt
import torch

F = torch.nn.functional


class empty_function(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        ctx.save_for_backward(a, b)
        return torch.empty((a.shape[0], b.shape[1]), dtype=a.dtype, device=a.device)

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> Any:  # type: ignore[override]
        return None, None


def ways(device: str) -> list[tuple[str, str, Callable[[], Any]]]:
    """(operation, way, call)"""
    kind = {"device": device, "dtype": torch.float32 if device == "cpu" else torch.bfloat16}
    rows = 0 if device == "cpu" else 16
    a, b, c = torch.zeros(rows, 64, **kind), torch.zeros(64, 64, **kind), torch.zeros(rows, 64, **kind)
    a_grad, b_grad = a.clone().requires_grad_(), b.clone().requires_grad_()
    x, w, y = torch.zeros(rows, 256, **kind), torch.ones(256, **kind), torch.zeros(rows, 256, **kind)
    x_grad, w_grad = x.clone().requires_grad_(), w.clone().requires_grad_()
    q, o = torch.zeros(1, rows, 2, 64, **kind), torch.zeros(1, rows, 2, 64, **kind)
    q_grad, heads_first = q.clone().requires_grad_(), q.transpose(1, 2)
    operator = torch.ops.kaio.matmul.default
    listed = [
        ("matmul", "raw", lambda: kaio.matmul(a, b, c)),
        ("matmul", "made", lambda: kaio.matmul(a, b)),
        ("matmul", "direct", lambda: kt.matmul(a, b)),
        ("matmul", "operator", lambda: operator(a, b)),
        ("matmul", "autograd", lambda: kt.matmul(a_grad, b_grad)),
        ("matmul", "torch", lambda: torch.mm(a, b)),
        ("matmul", "torch_out", lambda: torch.mm(a, b, out=c)),
        ("matmul", "torch_autograd", lambda: torch.mm(a_grad, b_grad)),
        ("matmul", "empty_function", lambda: empty_function.apply(a_grad, b_grad)),
        ("rms_norm", "raw", lambda: kaio.rms_norm(x, w, y)),
        ("rms_norm", "made", lambda: kaio.rms_norm(x, w)),
        ("rms_norm", "direct", lambda: kt.rms_norm(x, w)),
        ("rms_norm", "autograd", lambda: kt.rms_norm(x_grad, w_grad)),
        ("attention", "raw", lambda: kaio.attention(q, q, q, o)),
        ("attention", "made", lambda: kaio.attention(q, q, q)),
        ("attention", "direct", lambda: kt.attention(q, q, q)),
        ("attention", "autograd", lambda: kt.attention(q_grad, q_grad, q_grad)),
        ("attention", "torch", lambda: F.scaled_dot_product_attention(heads_first, heads_first, heads_first)),
    ]  # fmt: skip
    if hasattr(F, "rms_norm"):
        listed.append(("rms_norm", "torch", lambda: F.rms_norm(x, (256,), w)))
        listed.append(("rms_norm", "torch_autograd", lambda: F.rms_norm(x_grad, (256,), w_grad)))
    return listed


def mean(call: Callable[[], Any], calls: int, synchronise: Callable[[], Any]) -> float:
    """Seconds of a call, over `calls` calls of an idle device."""
    synchronise()
    begin = time.perf_counter()
    for _ in range(calls):
        call()
    return (time.perf_counter() - begin) / calls


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--calls", type=int, default=200, help="of a round; a GPU's queue has room for about 1000 launches")
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--lines", help="a file that the JSON lines are appended to")
    given = parser.parse_args()
    synchronise = torch.cuda.synchronize if given.device == "cuda" else lambda: None
    measured = ways(given.device)
    best = [float("inf")] * len(measured)
    for _, _, call in measured:
        mean(call, 20, synchronise)
    for _ in range(given.rounds):
        for i, (_, _, call) in enumerate(measured):
            best[i] = min(best[i], mean(call, given.calls, synchronise))
    setting = {"device": torch.cuda.get_device_name() if given.device == "cuda" else "cpu", "torch": torch.__version__,
               "python": platform.python_version(), "calls": given.calls, "rounds": given.rounds}  # fmt: skip
    lines = [json.dumps({"operation": operation, "way": way, "us": round(seconds * 1e6, 3), **setting})
             for (operation, way, _), seconds in zip(measured, best)]  # fmt: skip
    print("\n".join(lines))
    if given.lines:
        with open(given.lines, "a") as file:
            file.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
