"""A problem of a sweep: one call, its operands, its peers, and how its result is checked."""

from __future__ import annotations

import math
import random
from typing import Any, Callable

import torch

Operands = tuple[Any, ...]


def error_of(got: Any, expected: Any) -> float:
    """The largest error in units of the root mean square of the result; of several results the largest one."""
    if isinstance(expected, tuple):
        return max(error_of(one, other) for one, other in zip(got, expected, strict=True))
    if got.shape != expected.shape:
        raise ValueError(f"the result is {tuple(got.shape)}; it has to be {tuple(expected.shape)}")
    if not got.numel():
        return 0.0
    wide = torch.float64 if expected.dtype == torch.float64 else torch.float32
    expected = expected.to(wide)
    scale = torch.linalg.vector_norm(expected) / math.sqrt(expected.numel())
    error = (got.to(wide) - expected).abs_().max() / torch.where(scale == 0, 1, scale)
    return error.item()


class problem:
    """One call: `make` draws operands, `ours` and the peers run on them, `reference` is the result in f32: a tensor, or several.

    peer: a call, or calls by name, of which the fastest counts. One that raises an error is left out
    check: the error of a result on its operands, if no reference is the only right one
    kinds: what the problem is, such as {"rows": "17 to 32"}: the summary has a line for each
    uses: the operands that a call reads, by the name of the peer ("ours": kaio); default: all. Their bytes say how many sets of
        operands it goes through. A peer without a name is "peer"
    """

    def __init__(
        self, name: str, make: Callable[[], Operands], ours: Callable[..., Any], peer: Callable[..., Any] | dict[str, Callable[..., Any]],
        reference: Callable[..., Any] | None, tolerance: float, check: Callable[..., float] | None = None,
        kinds: dict[str, str] | None = None, uses: dict[str, tuple[int, ...]] | None = None,
    ) -> None:  # fmt: skip
        self.name, self.make, self.ours = name, make, ours
        self.peers = peer if isinstance(peer, dict) else {"peer": peer}
        self.reference, self.tolerance, self.check = reference, tolerance, check
        self.kinds, self.uses = kinds or {}, uses or {}

    def bytes_of(self, who: str, operands: Operands) -> int:
        used = self.uses.get(who, range(len(operands)))
        return sum(t.numel() * t.element_size() for t in (operands[i] for i in used) if isinstance(t, torch.Tensor))

    def load(self, operands: Operands) -> None:
        """Runs every call once: libraries load and compile what they need. cuDNN takes seconds for an attention."""
        for run in (self.ours, *self.peers.values()):
            try:
                run(*operands)
            except (RuntimeError, ValueError):
                continue
        torch.cuda.synchronize()

    def errors(self, operands: Operands) -> tuple[float, float, list[str]]:
        """The errors of kaio's result and of the first peer's, and the peers that can run."""
        result = self.ours(*operands)
        results: dict[str, Any] = {}
        for who, run in self.peers.items():
            try:
                results[who] = run(*operands)
            except (RuntimeError, ValueError):
                continue
        torch.cuda.synchronize()
        first = next(iter(results.values()), None)
        if self.check is not None:
            return self.check(result, *operands), math.nan if first is None else self.check(first, *operands), list(results)
        assert self.reference is not None
        expected = self.reference(*operands)
        return error_of(result, expected), math.nan if first is None else error_of(first, expected), list(results)


class Arena:
    """Random numbers on the device, made once. Operands are slices of it, each after the one before."""

    SIZES = {torch.bfloat16: 1 << 29, torch.float16: 1 << 29, torch.int8: 1 << 28, torch.float8_e4m3fn: 1 << 28, torch.int32: 1 << 27}

    def __init__(self) -> None:
        self.memory: dict[torch.dtype, torch.Tensor] = {}
        self.next: dict[torch.dtype, int] = {}

    def _made(self, dtype: torch.dtype) -> torch.Tensor:
        size = self.SIZES[dtype]
        if dtype in (torch.int8, torch.int32):
            byte = torch.randint(-128, 128, (size * dtype.itemsize,), device="cuda", dtype=torch.int8)
            return byte.view(dtype)
        if dtype == torch.float8_e4m3fn:
            return torch.empty(size, device="cuda", dtype=torch.float16).normal_().to(dtype)
        return torch.empty(size, device="cuda", dtype=dtype).normal_()

    def take(self, *shape: int, dtype: torch.dtype) -> torch.Tensor:
        """A tensor that begins at a multiple of 256 bytes."""
        if dtype not in self.memory:
            self.memory[dtype], self.next[dtype] = self._made(dtype), 0
        count = math.prod(shape)
        if count > self.SIZES[dtype]:
            raise ValueError(f"an operand of {shape} has more numbers than the arena")
        begin = self.next[dtype]
        if begin + count > self.SIZES[dtype]:
            begin = 0
        self.next[dtype] = begin + -(-count // 256) * 256
        return self.memory[dtype][begin : begin + count].view(shape)


arena = Arena()


def size(draw: random.Random, low: int, high: int, step: int = 1) -> int:
    """Uniform in its logarithm."""
    return max(low, int(round(math.exp(draw.uniform(math.log(low), math.log(high))) / step)) * step)


def compiled(run: Callable[..., Any]) -> Callable[..., Any]:
    """torch.compile for the shapes of one problem. It compiles anew for each: earlier ones are forgotten."""
    torch.compiler.reset()
    return torch.compile(run, dynamic=False)
