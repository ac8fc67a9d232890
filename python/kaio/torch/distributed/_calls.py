"""Calls that the ranks of a process group compare, and transfers between them."""

from __future__ import annotations

import hashlib
import operator
from typing import Any, Sequence, Union

import torch
import torch.distributed as dist

Tensor = torch.Tensor

Lengths = Union[Sequence[int], None]


def checked_lengths(lengths: Lengths) -> tuple[str, tuple[int, ...] | None]:
    """(why they are none, the lengths). Ranks compare them before one of them raises."""
    if lengths is None:
        return "", None
    try:
        known = tuple(operator.index(n) for n in lengths)
    except TypeError:
        return f"argument lengths is {lengths!r}; it has whole numbers", None
    if any(n < 0 for n in known):
        return f"argument lengths has {min(known)}; a length is at least 0", None
    return "", known


def digest(lengths: Lengths) -> list[int]:
    """Numbers that differ if lengths do: a rank sends them instead of the lengths."""
    if lengths is None:
        return [0, 0]
    digest = hashlib.blake2b(repr(list(lengths)).encode(), digest_size=7).digest()
    return [len(lengths) + 1, int.from_bytes(digest, "little")]


def compare_lengths(name: str, gathered: list[list[int]]) -> None:
    for r, theirs in enumerate(gathered):
        if theirs[0]:
            raise ValueError(f"kaio: {name}: rank {r} refuses its arguments")
        if theirs[-2:] != gathered[0][-2:]:
            raise ValueError(f"kaio: {name}: argument lengths of rank {r} is not that of rank 0; it is equal on all ranks")


def gathered_numbers(numbers: Sequence[int], device: Any, group: Any) -> list[list[int]]:
    """The numbers of all ranks."""
    mine = torch.tensor(list(numbers), dtype=torch.int64, device=device)
    world = dist.get_world_size(group)
    all_numbers = [torch.empty_like(mine) for _ in range(world)]
    dist.all_gather(all_numbers, mine, group=group)
    return torch.stack(all_numbers).tolist()  # type: ignore[no-any-return]


Transfers = Sequence[tuple[Tensor, int]]


def start(sends: Transfers, receives: Transfers, group: Any) -> tuple[list[Any], list[Tensor]]:
    """Begins transfers, whose tensors have no gaps, with ranks of the group."""
    peer = (lambda r: r) if group is None else (lambda r: dist.get_global_rank(group, r))
    kept = [t for t, _ in (*sends, *receives) if t.numel()]
    steps = [dist.P2POp(dist.isend, t, peer(r), group) for t, r in sends if t.numel()]
    steps += [dist.P2POp(dist.irecv, t, peer(r), group) for t, r in receives if t.numel()]
    return (dist.batch_isend_irecv(steps) if steps else []), kept


def wait(begun: tuple[list[Any], list[Tensor]]) -> None:
    for work in begun[0]:
        work.wait()
