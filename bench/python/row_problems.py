"""Random problems of operations on rows: norms and their gradients, softmax, cross entropy, sampling.

The peer is torch's own kernel if there is one for the whole call. Otherwise it is torch.compile of the formula: a norm after the sum
with a residual, gradients of RMS norms, losses, the choice of a token.
"""

from __future__ import annotations

import random
from typing import Any, Callable

import kaio
import kaio.torch as kt
import torch
from problem import compiled, problem, size

F = torch.nn.functional
TYPES = [torch.bfloat16, torch.float16, torch.float32]


def rows_of(draw: random.Random, least: int = 8, most: int = 32768) -> tuple[int, int, torch.dtype]:
    """Rows, elements of a row, and their type: up to 2^25 elements."""
    n = size(draw, least, most)
    return size(draw, 1, max(1, (1 << 25) // n)), n, draw.choice(TYPES)


def numbers(*shape: int, dtype: torch.dtype) -> torch.Tensor:
    return torch.randn(shape, device="cuda").to(dtype)


def rms_norm(draw: random.Random) -> problem:
    rows, n, dtype = rows_of(draw)
    return problem(f"{rows} x {n} {dtype}", lambda: (numbers(rows, n, dtype=dtype), numbers(n, dtype=dtype)),
                   lambda x, w: kaio.rms_norm(x, w, epsilon=1e-6), lambda x, w: F.rms_norm(x, (n,), w, 1e-6),
                   lambda x, w: F.rms_norm(x.float(), (n,), w.float(), 1e-6), 1e-2)  # fmt: skip


def layer_norm(draw: random.Random) -> problem:
    rows, n, dtype = rows_of(draw)
    return problem(f"{rows} x {n} {dtype}",
                   lambda: (numbers(rows, n, dtype=dtype), numbers(n, dtype=dtype), numbers(n, dtype=dtype)),
                   lambda x, w, b: kaio.layer_norm(x, w, b, epsilon=1e-5), lambda x, w, b: F.layer_norm(x, (n,), w, b, 1e-5),
                   lambda x, w, b: F.layer_norm(x.float(), (n,), w.float(), b.float(), 1e-5), 1e-2)  # fmt: skip


def layer_norm_residual(draw: random.Random) -> problem:
    rows, n, dtype = rows_of(draw)

    def formula(x: torch.Tensor, r: torch.Tensor, w: torch.Tensor, b: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        h = x + r
        return F.layer_norm(h, (n,), w, b, 1e-5), h

    return problem(f"{rows} x {n} {dtype}",
                   lambda: (*(numbers(rows, n, dtype=dtype) for _ in range(2)), *(numbers(n, dtype=dtype) for _ in range(2))),
                   lambda x, r, w, b: kt.layer_norm(x, w, b, 1e-5, residual=r), compiled(formula),
                   lambda *operands: formula(*(t.float() for t in operands)), 2e-2)  # fmt: skip


def rms_norm_backward(draw: random.Random) -> problem:
    rows, n, dtype = rows_of(draw)

    def formula(x: torch.Tensor, dy: torch.Tensor, w: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        of_results, x, dy = x.dtype, x.float(), dy.float()
        inverse = torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-6)
        y, g = x * inverse, dy * w.float()
        dx = inverse * (g - y * (g * y).mean(-1, keepdim=True))
        return dx.to(of_results), (dy * y).sum(0).to(of_results)

    return problem(f"{rows} x {n} {dtype}",
                   lambda: (numbers(rows, n, dtype=dtype), numbers(rows, n, dtype=dtype), numbers(n, dtype=dtype)),
                   lambda x, dy, w: kaio.rms_norm_backward(x, dy, w, dweight=True, epsilon=1e-6), compiled(formula),
                   lambda *operands: formula(*(t.float() for t in operands)), 2e-2)  # fmt: skip


def layer_norm_backward(draw: random.Random) -> problem:
    rows, n, dtype = rows_of(draw)

    def make() -> tuple[torch.Tensor, ...]:
        x, dy, w, b = (numbers(*shape, dtype=dtype) for shape in ((rows, n), (rows, n), (n,), (n,)))
        return x, dy, w, b, *torch.ops.aten.native_layer_norm(x, [n], w, b, 1e-5)[1:]

    def peer(x: torch.Tensor, dy: torch.Tensor, w: torch.Tensor, b: torch.Tensor, mean: torch.Tensor, inverse: torch.Tensor) -> Any:
        return torch.ops.aten.native_layer_norm_backward(dy, x, [n], mean, inverse, w, b, [True, True, True])

    def reference(x: torch.Tensor, dy: torch.Tensor, w: torch.Tensor, b: torch.Tensor, *_: torch.Tensor) -> tuple[torch.Tensor, ...]:
        leaves = [t.float().requires_grad_() for t in (x, w, b)]
        return torch.autograd.grad(F.layer_norm(leaves[0], (n,), leaves[1], leaves[2], 1e-5), leaves, dy.float())

    return problem(f"{rows} x {n} {dtype}", make,
                   lambda x, dy, w, b, *_: kaio.layer_norm_backward(x, dy, w, dweight=True, dbias=True, epsilon=1e-5), peer, reference,
                   2e-2)  # fmt: skip


def softmax(draw: random.Random) -> problem:
    rows, n, dtype = rows_of(draw, 8, 262144)
    return problem(f"{rows} x {n} {dtype}", lambda: (numbers(rows, n, dtype=dtype),), kaio.softmax, lambda x: torch.softmax(x, -1),
                   lambda x: torch.softmax(x.float(), -1), 1e-2)  # fmt: skip


def cross_entropy(draw: random.Random) -> problem:
    rows, n, dtype = rows_of(draw, 8, 262144)

    def formula(x: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        return F.cross_entropy(x.float(), target)

    return problem(f"{rows} x {n} {dtype}",
                   lambda: (numbers(rows, n, dtype=dtype), torch.randint(n, (rows,), device="cuda")), kt.cross_entropy,
                   compiled(formula), formula, 1e-4)  # fmt: skip


def cross_entropy_backward(draw: random.Random) -> problem:
    """The loss and its gradient, through autograd."""
    rows, n, dtype = rows_of(draw, 8, 262144)

    def gradient(loss: Callable[..., torch.Tensor]) -> Callable[..., torch.Tensor]:
        def run(x: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
            leaf = x.detach().requires_grad_()
            return torch.autograd.grad(loss(leaf, target), leaf)[0]

        return run

    def formula(x: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        return F.cross_entropy(x.float(), target)

    return problem(f"{rows} x {n} {dtype}",
                   lambda: (numbers(rows, n, dtype=dtype), torch.randint(n, (rows,), device="cuda")), gradient(kt.cross_entropy),
                   gradient(compiled(formula)), gradient(formula), 2e-2)  # fmt: skip


def sample(draw: random.Random) -> problem:
    """A token of each row, of all or of the k most likely. A result is wrong if a token is not among these."""
    n = size(draw, 1000, 262144)
    rows, k = size(draw, 1, max(1, min(256, (1 << 25) // n))), draw.choice([0, 1, 20, 50])
    dtype, temperature = draw.choice(TYPES), draw.choice([0.7, 1.0])

    def make() -> tuple[torch.Tensor, ...]:
        seed = torch.randint(1 << 40, (rows,), device="cuda")
        return numbers(rows, n, dtype=dtype), seed, torch.zeros_like(seed)

    def formula(x: torch.Tensor, *_: torch.Tensor) -> torch.Tensor:
        logits = x.float() / temperature
        if k:
            least = torch.topk(logits, k).values[:, -1:]
            logits = torch.where(logits < least, float("-inf"), logits)
        return torch.argmax(torch.softmax(logits, -1) / torch.empty_like(logits).exponential_(), -1)

    def check(tokens: torch.Tensor, x: torch.Tensor, *_: torch.Tensor) -> float:
        inside = (tokens >= 0) & (tokens < n)
        chosen = x.gather(1, tokens.clamp(0, n - 1)[:, None])
        return (~(inside & ((x > chosen).sum(1) < (k or n)))).float().mean().item()

    return problem(f"{rows} x {n} of {k or 'all'} {dtype}", make,
                   lambda x, seed, offset: kt.sample(x, seed=seed, offset=offset, temperature=temperature, top_k=k), compiled(formula),
                   None, 0.0, check)  # fmt: skip


KINDS: dict[str, Callable[[random.Random], problem]] = {
    "rms_norm": rms_norm, "layer_norm": layer_norm, "layer_norm_residual": layer_norm_residual,
    "rms_norm_backward": rms_norm_backward, "layer_norm_backward": layer_norm_backward, "softmax": softmax,
    "cross_entropy": cross_entropy, "cross_entropy_backward": cross_entropy_backward, "sample": sample,
}  # fmt: skip
