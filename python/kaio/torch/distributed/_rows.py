"""A sequence whose rows are divided among the ranks of a process group."""

from __future__ import annotations

from typing import Any, Sequence

import torch
import torch.distributed as dist
from torch.autograd.function import once_differentiable

from ._calls import Lengths, checked_lengths, compare, number_of, start, wait
from ._plan import LAYOUTS, Rows, context_rows, count_of

Tensor = torch.Tensor


def places(pieces: Sequence[Rows], device: Any) -> Tensor:
    """The rows of pieces, one after another: i64."""
    begins, counts = torch.tensor([*pieces, (0, 0)], dtype=torch.int64, device=device).unbind(1)
    total = count_of(pieces)
    gaps = (begins - counts.cumsum(0) + counts).repeat_interleave(counts, output_size=total)
    return torch.arange(total, device=device) + gaps


def _own_places(layout: str, length: int, lengths: Lengths, group: Any, device: Any) -> Tensor:
    pieces = context_rows(layout, length, dist.get_world_size(group), dist.get_rank(group), lengths=lengths)
    return places(pieces, device)


def positions(
    length: int, layout: str = "zigzag", *, lengths: Lengths = None, group: Any = None, device: Any = None
) -> Tensor:
    """The place in the sequence of each row of this rank: i64. lengths: of packed sequences, `length` rows in all; a place is then
    that in its own sequence. Raises ValueError."""
    own = _own_places(layout, length, lengths, group, device)
    if lengths is None:
        return own
    counts = torch.tensor([*lengths, 0], dtype=torch.int64, device=device)
    ends = counts.cumsum(0)
    return own - (ends - counts)[torch.searchsorted(ends, own, right=True)]


def shard(x: Tensor, layout: str = "zigzag", *, dim: int = 1, lengths: Lengths = None, group: Any = None) -> Tensor:
    """This rank's rows of a whole tensor, which every rank has. dim: the dimension of the sequence. lengths: of packed sequences.
    Raises ValueError."""
    return x.index_select(dim, _own_places(layout, x.shape[dim], lengths, group, x.device))


def _described(x: Tensor, layout: str, dim: int, lengths: Lengths) -> tuple[int, dict[str, int]]:
    if layout not in LAYOUTS:
        raise ValueError(f"argument layout is {layout!r}; it is 'contiguous' or 'zigzag'")
    dims = x.dim()
    if not -dims <= dim < dims:
        raise ValueError(f"argument dim is {dim}; x has {dims} dimensions")
    own = dim % dims
    others = [n for d, n in enumerate(x.shape) if d != own]
    return x.shape[own], {
        "type": number_of(x.dtype), "shape": number_of(others), "dim": own, "layout": LAYOUTS.index(layout),
        "lengths": number_of(checked_lengths(lengths)),
    }  # fmt: skip


class _Unshard(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, layout: str, dim: int, lengths: Lengths, group: Any) -> Tensor:
        world, rank = dist.get_world_size(group), dist.get_rank(group)
        counts = compare("unshard", lambda: _described(x, layout, dim, lengths), x, group)
        known = checked_lengths(lengths)
        length = sum(counts)
        of_rank = [context_rows(layout, length, world, r, lengths=known) for r in range(world)]
        for r, (own, count) in enumerate(zip(of_rank, counts)):
            if count_of(own) != count:
                raise ValueError(
                    f"kaio: unshard: rank {r} has {count} rows; layout {layout!r} gives it {count_of(own)} of {length}"
                )
        ctx.index = places(of_rank[rank], x.device)
        ctx.dim, ctx.group = dim, group
        shape = list(x.shape)
        shape[dim] = length
        whole = x.new_empty(shape)
        parts = []
        for r in range(world):
            shape[dim] = counts[r]
            parts.append(x.contiguous() if r == rank else x.new_empty(shape))
        mine = [(parts[rank], r) for r in range(world) if r != rank]
        wait(start(mine, [(parts[r], r) for r in range(world) if r != rank], group))
        for r in range(world):
            whole.index_copy_(dim, places(of_rank[r], x.device), parts[r])
        return whole

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> Any:
        grad = grad.contiguous()
        dist.all_reduce(grad, group=ctx.group)
        return grad.index_select(ctx.dim, ctx.index), None, None, None, None


def unshard(x: Tensor, layout: str = "zigzag", *, dim: int = 1, lengths: Lengths = None, group: Any = None) -> Tensor:
    """The whole tensor, of the rows of all ranks. lengths: of packed sequences, equal on all ranks. The gradient is the sum of
    those of all ranks. Raises ValueError on all ranks if their types, shapes, rows, layouts or lengths do not match."""
    return _Unshard.apply(x, layout, dim, lengths, group)  # type: ignore[no-any-return,no-untyped-call]
