"""Sums over the ranks of a process group, by memory that all ranks use (kaio.PeerWorkspace), or by its collectives."""

from __future__ import annotations

from typing import Any

import torch

from ... import operations
from .._library import needs_gradient
from ._workspace import Workspace

Tensor = torch.Tensor


def summed(parts: Tensor) -> Tensor:
    """The sum of (ranks, ...), in f32, rank 0 first, rounded once."""
    total = parts[0].float()
    for part in parts[1:]:
        total = total + part.float()
    return total.to(parts.dtype)


def _sum(w: Workspace, x: Tensor) -> Tensor:
    if w.peers is not None:
        return operations.all_reduce(w.peers, x.contiguous())  # type: ignore[no-any-return]
    wide = x.dtype in (torch.float32, torch.float16, torch.bfloat16)
    w.agree("all_reduce", (str(x.dtype), x.numel()), "" if wide else f"argument x is of {x.dtype}; it takes f32, f16 or bf16")
    return summed(w.gather(x))


class _AllReduce(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, w: Workspace) -> Tensor:
        return _sum(w, x)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> Any:  # type: ignore[override]
        return gradient, None


@torch._dynamo.disable  # type: ignore[untyped-decorator,unused-ignore]
def all_reduce(workspace: Workspace, x: Tensor) -> Tensor:
    """The sum of x of all ranks, in f32, rank 0 first, rounded once: equal bits on all ranks.

    x: f32, f16 or bf16
    The gradient of x is that of the sum, which all ranks have.
    """
    return _AllReduce.apply(x, workspace)  # type: ignore[no-any-return,no-untyped-call]


@torch._dynamo.disable  # type: ignore[untyped-decorator,unused-ignore]
def all_reduce_rms_norm(
    workspace: Workspace, x: Tensor, weight: Tensor, *, residual: Tensor | None = None, eps: float = 1e-6,
    weight_offset: float = 0.0,
) -> Any:  # fmt: skip
    """The RMS norm of the rows of h, where h is the sum of x of all ranks, and of the residual. Without gradients.

    x: (rows, size), f32, f16 or bf16; weight: (size); residual: as x, equal on all ranks
    Returns the norm, or (norm, h) with a residual.
    """
    if needs_gradient(x, weight, residual):
        raise ValueError("kaio: all_reduce_rms_norm has no gradient; call it under torch.no_grad(), or all_reduce and rms_norm")
    options: dict[str, Any] = {"epsilon": eps, "weight_offset": weight_offset, "residual": residual}
    if residual is not None:
        options["residual_out"] = torch.empty_like(x)
    if workspace.peers is not None:
        return operations.all_reduce_rms_norm(workspace.peers, x, weight, **options)
    workspace.agree("all_reduce_rms_norm", (str(x.dtype), *x.shape, eps, weight_offset, residual is not None))
    return operations.rms_norm(summed(workspace.gather(x)), weight, **options)
