"""Sums and products over the ranks of a process group, by memory that all ranks use (kaio.PeerWorkspace), or by its collectives."""

from __future__ import annotations

from typing import Any, Sequence

import torch
import torch.distributed as dist
from torch.autograd.function import once_differentiable

from .. import operations
from .._core import PeerBuffer, PeerWorkspace
from ..errors import InvalidArgument
from ._library import needs_gradient
from ._matmul import _activated, _adjacent, product
from ._symmetric_memory import Host, memory_of

__all__ = [
    "Workspace", "all_gather_matmul", "all_reduce", "all_reduce_rms_norm", "matmul_all_reduce", "matmul_reduce_scatter",
    "workspace",
]  # fmt: skip

Tensor = torch.Tensor


class Workspace:
    """Memory that operations of the ranks of a process group share; workspace() makes it. `peers` is None if the ranks have no such
    memory: collectives of the group then move the tensors."""

    peers: PeerWorkspace | None = None

    def __init__(self, group: Any, device: torch.device, host: Host) -> None:
        self.group, self.device, self.host = group, device, host
        self._memory: Any = None
        self.ranks, self.rank = host.ranks, host.rank

    def agree(self, name: str, numbers: Sequence[Any], refusal: str = "") -> None:
        """Raises InvalidArgument on all ranks if numbers differ, or one refuses its arguments."""
        calls = self.host.objects((name, tuple(numbers), bool(refusal)))
        if refusal:
            raise InvalidArgument(f"kaio: {name}: {refusal}")
        for r, (other, theirs, refuses) in enumerate(calls):
            if other != calls[0][0]:
                raise InvalidArgument(f"kaio: {name}: rank 0 calls {calls[0][0]}, and rank {r} calls {other}")
            if refuses:
                raise InvalidArgument(f"kaio: {name}: rank {r} refuses its arguments")
            if theirs != calls[0][1]:
                raise InvalidArgument(f"kaio: {name}: the shapes, types or options of rank {r} are {theirs}, those of rank 0 "
                                      f"{calls[0][1]}; they are equal on all ranks")  # fmt: skip

    def buffer(self, rows: int, size: int, dtype: torch.dtype) -> tuple[PeerBuffer, Tensor]:
        """Memory of this rank that other ranks write, for kaio.send_to_experts and kaio.return_from_experts: (rows, size), zeroed, as
        those functions take it and as a tensor, which is valid while the buffer is. Every rank calls it, with the same numbers."""
        if self.peers is None:
            raise RuntimeError("kaio: the ranks of this workspace have no memory that the kernels of all may use")
        bytes_ = rows * size * dtype.itemsize
        made = self.peers.buffer(bytes_)
        return made, self._memory.last[:bytes_].view(dtype).view(rows, size)

    def gather(self, x: Tensor) -> Tensor:
        """(ranks, ...): x of each rank, by a collective of the group."""
        sent = x.contiguous().view(-1).view(torch.uint8)
        parts = [torch.empty_like(sent) for _ in range(self.ranks)]
        dist.all_gather(parts, sent, group=self.group)
        return torch.stack(parts).view(x.dtype).view(self.ranks, *x.shape)

    def exchange(self, x: Tensor) -> Tensor:
        """(ranks, ...) -> (ranks, ...): part p of rank r becomes part r of rank p."""
        sent = x.contiguous().view(self.ranks, -1).view(torch.uint8)
        came = torch.empty_like(sent)
        dist.all_to_all_single(came, sent, group=self.group)
        return came.view(x.dtype).view(x.shape)


def workspace(
    group: Any = None, *, device: Any = None, memory: bool | None = None, time_limit: float = 60.0, sum_bytes: int = 8 << 20,
    one_shot_bytes: int = 512 << 10, product_bytes: int = 64 << 20, staging_bytes: int = 8 << 20, blocks: int = 64,
    compares_repeated_calls: bool = False,
) -> Workspace:  # fmt: skip
    """Makes the workspace of this rank. Every rank of the group calls it, with the same options.

    group: a process group of torch.distributed; None: all ranks
    device: of this rank; None: the current GPU, or the CPU if there is none, where kaio's emulator computes
    memory: True: memory that the kernels of all ranks use, or RuntimeError if the ranks have none; False: tensors are moved by
        collectives of the group; None: memory, if the ranks are on one host and have it
    time_limit: seconds that a call waits for the other ranks
    sum_bytes, one_shot_bytes, blocks: of sums; larger tensors take more steps
    product_bytes: memory for the parts of one product; a rank has twice as much
    staging_bytes: memory that tensors of more than sum_bytes pass through
    compares_repeated_calls: False: a call that all ranks have made before is not compared again, which would take the host some
        100 us. Ranks that then make different calls stop at the time limit.
    """
    device = torch.device(device or ("cuda" if torch.cuda.is_available() else "cpu"))
    if device.type == "cuda" and device.index is None:
        device = torch.device("cuda", torch.cuda.current_device())
    host = Host(group, time_limit)
    options = (memory, sum_bytes, one_shot_bytes, product_bytes, staging_bytes, blocks, compares_repeated_calls)
    made = Workspace(host.group, device, host)
    made.agree("workspace", (device.type, *options))
    found = None if memory is False else memory_of(host, device)
    if found is None:
        if memory:
            raise RuntimeError("kaio: workspace: the ranks have no memory that the kernels of all may use; give memory=False")
        return made
    name = "emulator" if device.type == "cpu" else f"cuda:{device.index}"
    made._memory = found
    made.peers = PeerWorkspace(
        name, host.ranks, host.rank, gather=host.gather, allocate=found.allocate, release=found.release, time_limit=time_limit,
        staging_bytes=staging_bytes, sum_bytes=sum_bytes, one_shot_bytes=one_shot_bytes, product_bytes=product_bytes, blocks=blocks,
        compares_repeated_calls=compares_repeated_calls,
    )  # fmt: skip
    return made


def _summed(parts: Tensor) -> Tensor:
    """The sum of (ranks, ...), in f32, rank 0 first, rounded once."""
    total = parts[0].float()
    for part in parts[1:]:
        total = total + part.float()
    return total.to(parts.dtype)


def _sum(w: Workspace, x: Tensor) -> Tensor:
    if w.peers is not None:
        return operations.all_reduce(w.peers, x.contiguous())  # type: ignore[no-any-return]
    w.agree("all_reduce", (str(x.dtype), x.numel()))
    return _summed(w.gather(x))


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
    return operations.rms_norm(_summed(workspace.gather(x)), weight, **options)


def _check_matrices(w: Workspace, name: str, x: Tensor, weight: Tensor, shape: Sequence[int], divided: bool = False) -> None:
    """Compares a product whose parts collectives move. shape: of what is moved; divided: the rows of x are."""
    refusal = ""
    if x.dim() != 2 or weight.dim() != 2 or x.shape[1] != weight.shape[0]:
        refusal = f"arguments x {tuple(x.shape)} and weight {tuple(weight.shape)} do not match"
    elif divided and x.shape[0] % w.ranks:
        refusal = f"argument x has {x.shape[0]} rows; a multiple of {w.ranks} ranks is needed"
    w.agree(name, (str(x.dtype), *shape), refusal)


def _gathered_product(
    w: Workspace, x: Tensor, weight: Tensor, options: dict[str, Any], schedule: str = "launches"
) -> Tensor:  # fmt: skip
    x, weight = _adjacent(x), _adjacent(weight)
    if w.peers is not None:
        return operations.all_gather_matmul(w.peers, x.contiguous(), weight, schedule=schedule, **options)  # type: ignore[no-any-return]
    if schedule != "launches":
        raise ValueError(f"kaio: all_gather_matmul: argument schedule is {schedule!r}; without peer memory it is 'launches'")
    _check_matrices(w, "all_gather_matmul", x, weight, x.shape)
    parts = w.gather(x)
    out = x.new_empty(w.ranks, x.shape[0], weight.shape[1], dtype=torch.bfloat16 if x.element_size() == 1 else x.dtype)
    for r in range(w.ranks):  # the rows of each rank have the bits of their own product
        operations.matmul(parts[r], weight, out[r], **options)
    return out.view(-1, weight.shape[1])


def _scattered_product(w: Workspace, x: Tensor, weight: Tensor, options: dict[str, Any]) -> Tensor:
    x, weight = _adjacent(x), _adjacent(weight)
    if w.peers is not None:
        return operations.matmul_reduce_scatter(w.peers, x, weight, **options)  # type: ignore[no-any-return]
    _check_matrices(w, "matmul_reduce_scatter", x, weight, (x.shape[0], weight.shape[-1]), True)
    rows = x.shape[0] // w.ranks
    parts = [operations.matmul(x[r * rows : (r + 1) * rows], weight, **options) for r in range(w.ranks)]
    return _summed(w.exchange(torch.stack(parts)))


def _summed_product(w: Workspace, x: Tensor, weight: Tensor, options: dict[str, Any]) -> Tensor:
    x, weight = _adjacent(x), _adjacent(weight)
    if w.peers is not None:
        return operations.matmul_all_reduce(w.peers, x, weight, **options)  # type: ignore[no-any-return]
    _check_matrices(w, "matmul_all_reduce", x, weight, (x.shape[0], weight.shape[-1]))
    return _summed(w.gather(operations.matmul(x, weight, **options)))


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
