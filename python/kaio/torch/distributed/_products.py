"""Products of matrices that are divided among the ranks of a process group, by memory that all ranks use (kaio.PeerWorkspace), or by
its collectives."""

from __future__ import annotations

from typing import Any, Callable, Sequence

import torch
from torch.autograd.function import once_differentiable

from ... import operations
from .._library import needs_gradient
from .._matmul import _activated, _adjacent, product
from ._sums import summed
from ._workspace import Workspace

Tensor = torch.Tensor


def _agreed(w: Workspace, name: str, x: Tensor, weight: Tensor, shape: Sequence[int], work: Callable[[], Any],
            divided: bool = False) -> Any:  # fmt: skip
    """work() of a product whose parts collectives move: before the ranks compare it, so that what it raises is an error on all.
    shape: of what is moved; divided: the rows of x are."""
    refusal, found = "", None
    if x.dim() != 2 or weight.dim() != 2 or x.shape[1] != weight.shape[0]:
        refusal = f"arguments x {tuple(x.shape)} and weight {tuple(weight.shape)} do not match"
    elif divided and x.shape[0] % w.ranks:
        refusal = f"argument x has {x.shape[0]} rows; a multiple of {w.ranks} ranks is needed"
    else:
        try:
            found = work()
        except (ValueError, TypeError) as e:
            refusal = str(e).removeprefix("kaio: ")
    w.agree(name, (str(x.dtype), *shape), refusal)
    return found


def _gathered_product(
    w: Workspace, x: Tensor, weight: Tensor, options: dict[str, Any], schedule: str = "launches"
) -> Tensor:  # fmt: skip
    x, weight = _adjacent(x), _adjacent(weight)
    if w.peers is not None:
        return operations.all_gather_matmul(w.peers, x.contiguous(), weight, schedule=schedule, **options)  # type: ignore[no-any-return]

    def own() -> Tensor:
        if schedule != "launches":
            raise ValueError(f"argument schedule is {schedule!r}; without peer memory it is 'launches'")
        result = x.new_empty(w.ranks, x.shape[0], weight.shape[1], dtype=torch.bfloat16 if x.element_size() == 1 else x.dtype)
        operations.matmul(x, weight, result[w.rank], **options)
        return result

    out: Tensor = _agreed(w, "all_gather_matmul", x, weight, x.shape, own)
    parts = w.gather(x)
    for r in range(w.ranks):  # the rows of each rank have the bits of their own product
        if r != w.rank:
            operations.matmul(parts[r], weight, out[r], **options)
    return out.view(-1, weight.shape[1])


def _scattered_product(w: Workspace, x: Tensor, weight: Tensor, options: dict[str, Any]) -> Tensor:
    x, weight = _adjacent(x), _adjacent(weight)
    if w.peers is not None:
        return operations.matmul_reduce_scatter(w.peers, x, weight, **options)  # type: ignore[no-any-return]

    def parts() -> Tensor:
        rows = x.shape[0] // w.ranks
        return torch.stack([operations.matmul(x[r * rows : (r + 1) * rows], weight, **options) for r in range(w.ranks)])

    shape = (x.shape[0], weight.shape[-1])
    return summed(w.exchange(_agreed(w, "matmul_reduce_scatter", x, weight, shape, parts, True)))


def _summed_product(w: Workspace, x: Tensor, weight: Tensor, options: dict[str, Any]) -> Tensor:
    x, weight = _adjacent(x), _adjacent(weight)
    if w.peers is not None:
        return operations.matmul_all_reduce(w.peers, x, weight, **options)  # type: ignore[no-any-return]
    shape = (x.shape[0], weight.shape[-1])
    own = _agreed(w, "matmul_all_reduce", x, weight, shape, lambda: operations.matmul(x, weight, **options))
    return summed(w.gather(own))


class _AllGatherMatmul(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, x: Tensor, weight: Tensor, bias: Tensor | None, w: Workspace, precision: str, schedule: str
    ) -> Tensor:  # fmt: skip
        ctx.save_for_backward(x, weight)
        ctx.w, ctx.precision, ctx.bias = w, precision, None if bias is None else bias.dtype
        return _gathered_product(w, x, weight, {"bias": bias, "precision": precision}, schedule)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> Any:
        x, weight = ctx.saved_tensors
        dx = dweight = None
        if ctx.needs_input_grad[0]:
            dx = _scattered_product(ctx.w, gradient, weight.mT, {"precision": ctx.precision})
        if ctx.needs_input_grad[1]:
            rows = ctx.w.gather(x).view(-1, x.shape[1])
            dweight = product(rows.mT, gradient, precision=ctx.precision)
        dbias = gradient.sum(0).to(ctx.bias) if ctx.needs_input_grad[2] else None
        return dx, dweight, dbias, None, None, None


class _MatmulReduceScatter(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, w: Workspace, precision: str) -> Tensor:
        ctx.save_for_backward(x, weight)
        ctx.w, ctx.precision = w, precision
        return _scattered_product(w, x, weight, {"precision": precision})

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> Any:
        x, weight = ctx.saved_tensors
        dx = dweight = None
        if ctx.needs_input_grad[0]:
            dx = _gathered_product(ctx.w, gradient.contiguous(), weight.mT, {"precision": ctx.precision})
        if ctx.needs_input_grad[1]:
            rows = ctx.w.gather(gradient).view(-1, gradient.shape[1])
            dweight = product(x.mT, rows, precision=ctx.precision)
        return dx, dweight, None, None


class _MatmulAllReduce(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, w: Workspace, precision: str) -> Tensor:
        ctx.save_for_backward(x, weight)
        ctx.precision = precision
        return _summed_product(w, x, weight, {"precision": precision})

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> Any:
        x, weight = ctx.saved_tensors
        dx = product(gradient, weight.mT, precision=ctx.precision) if ctx.needs_input_grad[0] else None
        dweight = product(x.mT, gradient, precision=ctx.precision) if ctx.needs_input_grad[1] else None
        return dx, dweight, None, None


@torch._dynamo.disable  # type: ignore[untyped-decorator,unused-ignore]
def all_gather_matmul(
    workspace: Workspace, x: Tensor, weight: Tensor, *, bias: Tensor | None = None, activation: str = "none",
    precision: str = "ieee", schedule: str = "launches",
) -> Tensor:  # fmt: skip
    """activation(X * weight + bias), where X has the rows of all ranks: the first product of a tensor-parallel layer.

    x: (m, k), the rows of this rank; f32, f16 or bf16
    weight: (k, n), the columns of this rank; bias: (n)
    schedule: "launches", a product for each rank's rows, or "one_launch", one persistent kernel: peer memory, sm_90a, f16 and bf16
    Returns (ranks * m, n). The gradient of x is by matmul_reduce_scatter.
    """
    if needs_gradient(x, weight, bias):
        z = _AllGatherMatmul.apply(x, weight, bias, workspace, precision, schedule)  # type: ignore[no-untyped-call]
        return z if activation == "none" else _activated(z, activation)
    return _gathered_product(
        workspace, x, weight, {"bias": bias, "activation": activation, "precision": precision}, schedule
    )  # fmt: skip


@torch._dynamo.disable  # type: ignore[untyped-decorator,unused-ignore]
def matmul_reduce_scatter(workspace: Workspace, x: Tensor, weight: Tensor, *, precision: str = "ieee") -> Tensor:
    """The rows of this rank of the sum of x * weight over ranks: the second product of a tensor-parallel layer.

    x: (ranks * m, k), the columns of this rank; f32, f16 or bf16
    weight: (k, n), the rows of this rank
    Returns (m, n). Parts have x's type; sums are f32, rank 0 first. The gradient of x is by all_gather_matmul.
    """
    return _MatmulReduceScatter.apply(x, weight, workspace, precision)  # type: ignore[no-any-return,no-untyped-call]


@torch._dynamo.disable  # type: ignore[untyped-decorator,unused-ignore]
def matmul_all_reduce(workspace: Workspace, x: Tensor, weight: Tensor, *, precision: str = "ieee") -> Tensor:
    """The sum of x * weight over ranks, on all ranks.

    x: (m, k), the columns of this rank; f32, f16 or bf16
    weight: (k, n), the rows of this rank
    Gradients take the gradient of the sum, which all ranks have, and send nothing.
    """
    return _MatmulAllReduce.apply(x, weight, workspace, precision)  # type: ignore[no-any-return,no-untyped-call]
