"""A problem of a sweep: one call, its operands, its peer, and how its result is checked."""

from __future__ import annotations

import math
import random
from typing import Any, Callable

import torch


def error_of(got: Any, expected: Any) -> float:
    """The largest error in units of the root mean square of the result; of several results the largest one."""
    if isinstance(expected, tuple):
        return max(error_of(one, other) for one, other in zip(got, expected, strict=True))
    if got.shape != expected.shape:
        raise ValueError(f"the result is {tuple(got.shape)}; it has to be {tuple(expected.shape)}")
    scale = expected.double().square().mean().sqrt().item() or 1.0
    return ((got.double() - expected.double()).abs().max() / scale).item() if got.numel() else 0.0


class problem:
    """One call: `make` draws operands, `ours` and `peer` run on them, `reference` is the result in f32: a tensor, or several.

    check: the error of a result on its operands, if no reference is the only right one
    """

    def __init__(self, name: str, make: Callable[[], tuple[Any, ...]], ours: Callable[..., Any], peer: Callable[..., Any],
                 reference: Callable[..., Any] | None, tolerance: float, check: Callable[..., float] | None = None) -> None:  # fmt: skip
        self.name, self.make, self.ours, self.peer = name, make, ours, peer
        self.reference, self.tolerance, self.check = reference, tolerance, check

    def errors(self, operands: tuple[Any, ...]) -> tuple[float, float]:
        """Of kaio's result and of the peer's."""
        results = self.ours(*operands), self.peer(*operands)
        if self.check is not None:
            return self.check(results[0], *operands), self.check(results[1], *operands)
        assert self.reference is not None
        expected = self.reference(*operands)
        return error_of(results[0], expected), error_of(results[1], expected)


def size(draw: random.Random, low: int, high: int, step: int = 1) -> int:
    """Uniform in its logarithm."""
    return max(low, int(round(math.exp(draw.uniform(math.log(low), math.log(high))) / step)) * step)


def compiled(run: Callable[..., Any]) -> Callable[..., Any]:
    """torch.compile for the shapes of one problem. It compiles anew for each: earlier ones are forgotten."""
    torch.compiler.reset()
    return torch.compile(run, dynamic=False)
