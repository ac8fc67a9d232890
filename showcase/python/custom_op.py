#!/usr/bin/env python3
"""An operation that torch lacks, written in C++, with a gradient that kaio derives: y = x * sigmoid(s * x) * gate + log(1 + x^2).

    custom_op.py [--device cuda|cpu] [--elements N]

The forward is one kernel. The backward is one kernel too: `derivative(y, x)` of kaio's language is made while the kernel is
compiled. The g++ or clang of this machine compiles them, once. The operator works under torch.compile and in a training loop.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import kaio
import torch

KERNELS = r"""
// What both kernels compute.
template <class X, class S, class G>
constexpr auto gated(const X& x, const S& s, const G& gate) {
  return x / (1.0f + exp(-(s * x))) * gate + log(1.0f + x * x);
}

inline constexpr auto forward = kernel<"gated_forward", 256>([](thread t, in<f32> x, in<f32> gate, out<f32> y, val<f32> s, val<u32> n) {
  val i = t.global_id();
  if (auto in_range = t.when(i < n)) y[i] = gated(val(x[i]), s, val(gate[i]));
});

inline constexpr auto backward = kernel<"gated_backward", 256>(
    [](thread t, in<f32> x, in<f32> gate, in<f32> dy, out<f32> dx, out<f32> dgate, val<f32> s, val<u32> n) {
  val i = t.global_id();
  if (auto in_range = t.when(i < n)) {
    val xi = x[i], gi = gate[i];
    auto y = gated(xi, s, gi);
    dx[i] = dy[i] * derivative(y, xi);
    dgate[i] = dy[i] * derivative(y, gi);
  }
});
"""

kernels = kaio.compile(KERNELS)
library = torch.library.Library("custom_op", "DEF")


def run_forward(x: torch.Tensor, gate: torch.Tensor, s: float) -> torch.Tensor:
    x, gate = x.contiguous(), gate.contiguous()
    y = torch.empty_like(x)
    kernels.forward[kaio.over(x.numel())](x.detach(), gate.detach(), y, s, x.numel())
    return y


def run_backward(x: torch.Tensor, gate: torch.Tensor, dy: torch.Tensor, s: float) -> tuple[torch.Tensor, torch.Tensor]:
    x, gate, dy = x.contiguous(), gate.contiguous(), dy.contiguous()
    dx, dgate = torch.empty_like(x), torch.empty_like(x)
    kernels.backward[kaio.over(x.numel())](x.detach(), gate.detach(), dy.detach(), dx, dgate, s, x.numel())
    return dx, dgate


library.define("gated(Tensor x, Tensor gate, float s) -> Tensor", tags=(torch.Tag.pt2_compliant_tag,))
library.define("gated_backward(Tensor x, Tensor gate, Tensor dy, float s) -> (Tensor, Tensor)", tags=(torch.Tag.pt2_compliant_tag,))
for key in ("CPU", "CUDA"):
    library.impl("gated", run_forward, key)
    library.impl("gated_backward", run_backward, key)
# What the operators return, for torch.compile: two results are two tensors.
torch.library.register_fake("custom_op::gated", lambda x, gate, s: x.new_empty(x.shape), lib=library)
torch.library.register_fake("custom_op::gated_backward", lambda x, gate, dy, s: (x.new_empty(x.shape), x.new_empty(x.shape)), lib=library)


class Gated(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, gate: torch.Tensor, s: float) -> torch.Tensor:
        ctx.save_for_backward(x, gate)
        ctx.s = s
        return torch.ops.custom_op.gated(x, gate, s)

    @staticmethod
    def backward(ctx: Any, dy: torch.Tensor) -> Any:
        x, gate = ctx.saved_tensors
        return (*torch.ops.custom_op.gated_backward(x, gate, dy, ctx.s), None)


def by_torch(x: torch.Tensor, gate: torch.Tensor, s: float) -> torch.Tensor:
    return x * torch.sigmoid(s * x) * gate + torch.log(1 + x * x)


def error(got: torch.Tensor, expected: torch.Tensor) -> float:
    return float((got - expected).abs().max() / expected.abs().max())


def microseconds(run: Any, device: str) -> float:
    repetitions = 100 if device == "cuda" else 3
    for _ in range(3):
        run()
    if device == "cuda":
        torch.cuda.synchronize()
    begin = time.perf_counter()
    for _ in range(repetitions):
        run()
    if device == "cuda":
        torch.cuda.synchronize()
    return (time.perf_counter() - begin) / repetitions * 1e6


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--elements", type=int)
    arguments = parser.parse_args()
    device, n = arguments.device, arguments.elements or (1 << 25 if arguments.device == "cuda" else 3000)
    torch.manual_seed(1)
    x, gate, dy = (torch.randn(n, device=device) for _ in range(3))
    worst = 0.0
    results = []
    for function in (Gated.apply, by_torch, torch.compile(Gated.apply, fullgraph=True, backend="aot_eager")):
        a, b = x.clone().requires_grad_(), gate.clone().requires_grad_()
        y = function(a, b, 1.5)
        y.backward(dy)
        results.append((y.detach(), a.grad, b.grad))
    ours, torchs, compiled = results
    for name, one, other in zip(("y", "dx", "dgate"), ours, torchs):
        print(f"{name:6} error {error(one, other):.1e}")
        worst = max(worst, error(one, other))
    same = all(torch.equal(one, other) for one, other in zip(ours, compiled))
    print(f"under torch.compile: {'the same bits' if same else 'DIFFERENT'}")
    print(f"checked by the emulator's sanitizer: {kaio.check(run_forward, x[:1000], gate[:1000], 1.5).shape[0]} elements, no report")
    for name, run in (("kaio", lambda: run_forward(x, gate, 1.5)), ("torch", lambda: by_torch(x, gate, 1.5))):
        print(f"forward of {n} elements, {name}: {microseconds(run, device):.1f} us")
    right = same and worst < 1e-5
    print("right" if right else "WRONG")
    return 0 if right else 1


if __name__ == "__main__":
    raise SystemExit(main())
