"""Calls that the ranks of a process group compare, and transfers between them."""

from __future__ import annotations

import hashlib
import operator
from typing import Any, Callable, Sequence, Union

import torch
import torch.distributed as dist

Tensor = torch.Tensor

Lengths = Union[Sequence[int], None]


def checked_lengths(lengths: Lengths) -> tuple[int, ...] | None:
    """Raises ValueError: they are no whole numbers, or one is negative."""
    if lengths is None:
        return None
    try:
        known = tuple(operator.index(n) for n in lengths)
    except TypeError:
        raise ValueError(f"argument lengths is {lengths!r}; it has whole numbers") from None
    if any(n < 0 for n in known):
        raise ValueError(f"argument lengths has {min(known)}; a length is at least 0")
    return known


def number_of(x: Any) -> int:
    """A number that differs if the texts of two values do: ranks send it instead of the value."""
    return int.from_bytes(hashlib.blake2b(repr(x).encode(), digest_size=7).digest(), "little")


_FIELDS = 24  # numbers that each call sends: gloo ends the process if two ranks send different numbers


def compare(name: str, own: Callable[[], tuple[int, dict[str, int]]], like: Any, group: Any) -> list[int]:
    """Compares a call by the fields of all ranks, and returns the rows that they have.

    own: checks the arguments of this rank, and returns (rows, fields)
    like: a tensor of the device whose backend connects the ranks

    Raises ValueError on all ranks if they make two calls, if own() raises on one of them, or if a field differs. A rank whose own()
    raises gets that error.
    """
    count, error = 0, None
    fields: dict[str, int] = {}
    try:
        count, fields = own()
    except Exception as e:  # each is one of the arguments
        error = e
    numbers = [number_of(name), error is not None, count, *fields.values()]
    device = like.device if isinstance(like, Tensor) else "cuda" if "nccl" in str(dist.get_backend(group)) else "cpu"
    mine = torch.tensor([int(n) for n in numbers] + [0] * (_FIELDS - len(numbers)), dtype=torch.int64, device=device)
    all_numbers = [torch.empty_like(mine) for _ in range(dist.get_world_size(group))]
    dist.all_gather(all_numbers, mine, group=group)
    gathered = torch.stack(all_numbers).tolist()
    for r, theirs in enumerate(gathered):
        if theirs[0] != gathered[0][0]:
            raise ValueError(f"kaio: {name}: rank 0 and rank {r} make two calls; all ranks make the same calls in the same order")
    if error is not None:
        if isinstance(error, ValueError) and not str(error).startswith("kaio: "):
            raise ValueError(f"kaio: {name}: {error}") from error
        raise error
    for r, theirs in enumerate(gathered):
        if theirs[1]:
            raise ValueError(f"kaio: {name}: rank {r} refuses its arguments")
    for r, theirs in enumerate(gathered):
        differ = [field for field, a, b in zip(fields, theirs[3:], gathered[0][3:]) if a != b]
        if differ:
            raise ValueError(f"kaio: {name}: rank 0 and rank {r} differ in {', '.join(differ)}; all ranks give the same")
    return [theirs[2] for theirs in gathered]


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
