"""Attention over a sequence whose rows are divided among the ranks of a process group: rings, and exchanges of heads."""

from __future__ import annotations

import math
import operator
from typing import Any, NamedTuple, Sequence

import torch
import torch.distributed as dist
from torch.autograd.function import once_differentiable

from ... import operations
from .._attention import options_of
from .._attention_operators import (
    NO_BLOCKS, Options, Sequences, backward, backward_varlen, forward, forward_varlen, rows,
)  # fmt: skip
from .._library import needs_gradient
from ._calls import Lengths, checked_lengths, compare, number_of, start, wait
from ._plan import LAYOUTS, Item, Rows, context_rows, count_of, joined, needed_keys, packed_begins, packed_items, ring_items
from ._rows import places

Tensor = torch.Tensor


class _Call(NamedTuple):
    """A call that the ranks have compared."""

    group: Any
    rank: int
    head_ranks: int
    of_rank: list[list[Rows]]  # by rank, places in the sequence
    of_group: list[list[Rows]]  # by group of ranks that exchange heads
    lengths: tuple[int, ...] | None  # of packed sequences
    items: list[list[Item]]  # by step of the ring
    sequences: list[list[Sequences | None]]  # of the items
    in_group: dict[int, Tensor]  # by rank of this group, where its rows are in the memory of the group; if heads are exchanged
    left: int
    right: int
    scale: float
    softcap: float

    @property
    def own_group(self) -> int:
        return self.rank // self.head_ranks

    @property
    def ring(self) -> int:
        return len(self.of_group)

    def member(self, group: int) -> int:
        """The rank of another group that has the same heads."""
        return group * self.head_ranks + self.rank % self.head_ranks

    def members(self) -> range:
        return range(self.own_group * self.head_ranks, (self.own_group + 1) * self.head_ranks)

    def options(self, item: Item) -> Options:
        if item.right == 0 and item.left < 0:
            return Options(self.scale, self.softcap, "bottom_right")
        return Options(self.scale, self.softcap, "none", item.left, item.right)


def _check_shapes(q: Tensor, k: Tensor, v: Tensor, layout: str, head_ranks: int, world: int, packed: bool) -> None:
    if layout not in LAYOUTS:
        raise ValueError(f"argument layout is {layout!r}; it is 'contiguous' or 'zigzag'")
    if any(t.dim() != 4 for t in (q, k, v)):
        raise ValueError("arguments q, k and v are not (batches, rows, heads, size)")
    heads = k.shape[2]
    if q.shape[:2] != k.shape[:2] or k.shape[:3] != v.shape[:3] or q.shape[3] != k.shape[3] or not heads or q.shape[2] % heads:
        raise ValueError(f"arguments q {tuple(q.shape)}, k {tuple(k.shape)} and v {tuple(v.shape)} do not match")
    if operator.index(head_ranks) < 1 or world % head_ranks or heads % head_ranks:
        raise ValueError(f"argument head_ranks is {head_ranks}; a divisor of {world} ranks and of the {heads} heads of k is needed")
    if packed and q.shape[0] != 1:
        raise ValueError(f"argument q has {q.shape[0]} batches; packed sequences, as argument lengths has them, are one")


def _resolve(q: Tensor, k: Tensor, v: Tensor, sinks: Tensor | None, group: Any, causal: Any, window: Any, softcap: float,
             scale: float | None, layout: str, head_ranks: int, lengths: Lengths) -> _Call:  # fmt: skip
    name = "context_attention"
    world, rank = dist.get_world_size(group), dist.get_rank(group)
    left, right, true_scale, cap = -1, -1, 0.0, 0.0
    known: tuple[int, ...] | None = None

    def described() -> tuple[int, dict[str, int]]:
        nonlocal known, left, right, true_scale, cap
        known = checked_lengths(lengths)
        _check_shapes(q, k, v, layout, head_ranks, world, known is not None)
        options = options_of(name, scale, softcap, causal, window)
        left, right = (min(operator.index(n), 2**31 - 1) for n in (options.window_left, options.window_right))
        if options.causal != "none":
            right = 0
        true_scale = 1 / math.sqrt(q.shape[-1]) if options.scale is None else float(options.scale)
        cap = float(options.softcap)
        # Without rows, attention checks types, sizes and options, and runs nothing.
        forward(q[:, :0], k[:, :0], v[:, :0], None, None, None, sinks, NO_BLOCKS, Options(true_scale, cap, "none"), True)
        return q.shape[1], {
            "batches": q.shape[0], "heads of q": q.shape[2], "heads of k": k.shape[2], "size of q": q.shape[3],
            "size of v": v.shape[3], "type": number_of(q.dtype), "layout": LAYOUTS.index(layout), "head_ranks": head_ranks,
            "window or causal": number_of((left, right)), "scale": number_of(true_scale), "softcap": number_of(cap),
            "sinks": sinks is not None, "gradients": needs_gradient(q, k, v, sinks), "lengths": number_of(known),
        }  # fmt: skip

    counts = compare(name, described, q, group)
    total = sum(counts)
    if known is not None and sum(known) != total:
        raise ValueError(f"kaio: {name}: the ranks have {total} rows; argument lengths makes {sum(known)}")
    of_rank, begin = [], 0
    for r, length in enumerate(counts):
        own = [Rows(begin, length)] if layout == "contiguous" else context_rows(layout, total, world, r, lengths=known)
        if count_of(own) != length:
            raise ValueError(f"kaio: {name}: rank {r} has {length} rows; layout {layout!r} gives it {count_of(own)} of "
                             f"{total}")  # fmt: skip
        of_rank.append(own)
        begin += length
    of_group = [
        joined(sorted(piece for own in of_rank[g : g + head_ranks] for piece in own if piece.length))
        for g in range(0, world, head_ranks)
    ]
    own_group, ring = rank // head_ranks, len(of_group)
    items = [_items(of_group[own_group], of_group[(own_group - step) % ring], left, right, known) for step in range(ring)]
    sequences: list[list[Sequences | None]] = [[None] * len(step) for step in items]
    if known is not None:
        sequences = _sequences(items, q.device)
    in_group = {}
    if head_ranks > 1:
        members = range(own_group * head_ranks, (own_group + 1) * head_ranks)
        order = torch.cat([places(of_rank[r], q.device) for r in members]).argsort().argsort()
        in_group = dict(zip(members, order.split([counts[r] for r in members])))
    return _Call(group, rank, head_ranks, of_rank, of_group, known, items, sequences, in_group, left, right, true_scale, cap)


def _items(own: Sequence[Rows], other: Sequence[Rows], left: int, right: int, lengths: tuple[int, ...] | None) -> list[Item]:
    if lengths is None:
        return ring_items(own, other, left, right)
    return packed_items(tuple(own), tuple(other), left, right, lengths)


def _sequences(items: Sequence[Sequence[Item]], device: Any) -> list[list[Sequences | None]]:
    """The sequences of packed items, in one copy to the device: each copy waits for it."""
    begins = [[packed_begins(item) for item in step] for step in items]
    numbers = [n for step in begins for cu_q, cu_k, _, _ in step for n in (*cu_q, *cu_k)]
    memory = torch.tensor(numbers, dtype=torch.int32, device=device)
    result: list[list[Sequences | None]] = []
    first = 0
    for step in begins:
        result.append([])
        for cu_q, cu_k, most_queries, most_keys in step:
            of_queries, of_keys = memory[first : first + len(cu_q) + len(cu_k)].split([len(cu_q), len(cu_k)])
            result[-1].append(Sequences(of_queries, of_keys, most_queries, most_keys))
            first += len(cu_q) + len(cu_k)
    return result


def _to_group(call: _Call, x: Tensor, dim: int = 1, heads: int = 2) -> Tensor:
    """(B, own rows, all heads, ...) -> (B, rows of the group, heads of the rank, ...)"""
    parts = [part.contiguous() for part in x.chunk(call.head_ranks, heads)]
    shape = list(parts[0].shape)
    shape[dim] = count_of(call.of_group[call.own_group])
    result = x.new_empty(shape)
    came = {}
    for r in call.members():
        shape[dim] = count_of(call.of_rank[r])
        came[r] = parts[r % call.head_ranks] if r == call.rank else x.new_empty(shape)
    others = [r for r in call.members() if r != call.rank]
    wait(start([(parts[r % call.head_ranks], r) for r in others], [(came[r], r) for r in others], call.group))
    for r in call.members():
        result.index_copy_(dim, call.in_group[r], came[r])
    return result


def _to_rank(call: _Call, x: Tensor, dim: int = 1, heads: int = 2) -> Tensor:
    """The opposite of _to_group."""
    parts = {r: x.index_select(dim, call.in_group[r]) for r in call.members()}
    came = {r: parts[r] if r == call.rank else torch.empty_like(parts[call.rank]) for r in call.members()}
    others = [r for r in call.members() if r != call.rank]
    wait(start([(parts[r].contiguous(), r) for r in others], [(came[r], r) for r in others], call.group))
    return torch.cat([came[r] for r in call.members()], heads)


class _Ring:
    """Keys of another group arrive while those that came before are used."""

    def __init__(self, call: _Call, k: Tensor, v: Tensor) -> None:
        self.call, self.k, self.v = call, k, v
        self.own = call.of_group[call.own_group]
        self.begun: tuple[list[Any], list[Tensor]] = ([], [])
        self.arriving: list[tuple[Tensor, Rows, Tensor]] = []
        self.next: tuple[Tensor, Tensor] = (k, v)
        self.fetch(1)

    def owner(self, step: int) -> int:
        return (self.call.own_group - step) % self.call.ring

    def holder(self, step: int) -> int:
        return (self.call.own_group + step) % self.call.ring

    def items(self, step: int) -> list[Item]:
        return self.call.items[step]

    def needed_here(self, step: int) -> list[Rows]:
        return needed_keys(self.items(step), self.call.of_group[self.owner(step)])

    def needed_there(self, step: int) -> list[Rows]:
        call = self.call
        there = _items(call.of_group[self.holder(step)], self.own, call.left, call.right, call.lengths)
        return needed_keys(there, self.own)

    def fetch(self, step: int) -> None:
        if step >= self.call.ring:
            return
        to, source = self.call.member(self.holder(step)), self.call.member(self.owner(step))
        sends = [(t[:, r.begin : r.begin + r.length].contiguous(), to) for t in (self.k, self.v) for r in self.needed_there(step)]
        self.next = tuple(self.zeros(t, step) for t in (self.k, self.v))  # type: ignore[assignment]
        self.arriving = [
            (t.new_empty(t.shape[0], r.length, *t.shape[2:]), r, t) for t in self.next for r in self.needed_here(step)
        ]
        self.begun = start(sends, [(t, source) for t, _, _ in self.arriving], self.call.group)

    def zeros(self, like: Tensor, step: int, dtype: Any = None) -> Tensor:
        length = count_of(self.call.of_group[self.owner(step)])
        return like.new_zeros(like.shape[0], length, *like.shape[2:], dtype=dtype or like.dtype)

    def steps(self) -> Any:
        """(step, keys, values, items) of each step."""
        yield 0, self.k, self.v, self.items(0)
        for step in range(1, self.call.ring):
            wait(self.begun)
            for came, r, to in self.arriving:
                to[:, r.begin : r.begin + r.length].copy_(came)
            keys, values = self.next
            self.fetch(step + 1)
            yield step, keys, values, self.items(step)


def _ring_forward(call: _Call, q: Tensor, k: Tensor, v: Tensor, sinks: Tensor | None) -> tuple[Tensor, Tensor]:
    out = q.new_empty(*q.shape[:3], v.shape[3], dtype=torch.float32)
    lse = q.new_empty(q.shape[0], q.shape[2], q.shape[1], dtype=torch.float32)
    left = q.shape[1]  # rows that no item has written
    for step, keys, values, items in _Ring(call, k, v).steps():
        for item, sequences in zip(items, call.sequences[step]):
            mine, theirs = slice(item.query, item.query + item.queries), slice(item.key, item.key + item.keys)
            writes = left > 0
            inputs = (q[:, mine], keys[:, theirs], values[:, theirs])
            item_sinks = sinks if writes else None
            if sequences is None:
                part, part_lse = forward(*inputs, None, None, None, item_sinks, NO_BLOCKS, call.options(item), True)
            else:
                packed = [t[0] for t in inputs]
                found = forward_varlen(packed[0], packed[1], packed[2], sequences, None, item_sinks, call.options(item), True)
                part, part_lse = found[0][None], found[1][None]
            if writes:
                out[:, mine], lse[:, :, mine] = part, part_lse
                left -= item.queries
            else:
                operations.merge_states(out[:, mine], lse[:, :, mine], part.float(), part_lse, out[:, mine], lse[:, :, mine])
    return out.to(q.dtype), lse


def _ring_backward(call: _Call, dout: Tensor, q: Tensor, k: Tensor, v: Tensor, out: Tensor, lse: Tensor, sinks: Tensor | None,
                   sinks_need: bool) -> tuple[Tensor, Tensor, Tensor, Tensor | None]:  # fmt: skip
    ring = _Ring(call, k, v)
    dq, dk, dv = (t.new_zeros(t.shape, dtype=torch.float32) for t in (q, k, v))
    dsinks = None if sinks is None else torch.zeros_like(sinks, dtype=torch.float32)
    left = q.shape[1]
    back: Any = None  # the gradients of own keys that other ranks computed

    def take() -> None:
        if back is None:
            return
        wait(back[0])
        for came, r, to in back[1]:
            to[:, r.begin : r.begin + r.length] += came

    for step, keys, values, items in ring.steps():
        dk_step, dv_step = (dk, dv) if step == 0 else (ring.zeros(k, step, torch.float32), ring.zeros(v, step, torch.float32))
        for item, sequences in zip(items, call.sequences[step]):
            mine, theirs = slice(item.query, item.query + item.queries), slice(item.key, item.key + item.keys)
            first = left > 0 and sinks is not None
            left -= item.queries if left > 0 else 0
            inputs = (rows(dout[:, mine]), q[:, mine], keys[:, theirs], values[:, theirs], out[:, mine],
                      lse[:, :, mine].contiguous())  # fmt: skip
            item_sinks, options = sinks if first else None, call.options(item)
            needs = (True, True, True, first and sinks_need)
            if sequences is None:
                found = backward(*inputs, None, None, None, None, item_sinks, options, (*needs[:3], False, needs[3]))
            else:  # packed sequences are one batch, so that gradients without batches add to it
                packed = [t[0] for t in inputs]
                found = backward_varlen(packed[0], packed[1], packed[2], packed[3], packed[4], packed[5], None, sequences, None,
                                        item_sinks, options, needs)  # fmt: skip
            dq[:, mine] += found[0]
            dk_step[:, theirs] += found[1]
            dv_step[:, theirs] += found[2]
            if needs[3] and dsinks is not None:
                dsinks += found[-1]
        if step == 0:
            continue
        take()
        holder, owner = call.member(ring.holder(step)), call.member(ring.owner(step))
        sends = [
            (t[:, r.begin : r.begin + r.length].contiguous(), owner) for t in (dk_step, dv_step) for r in ring.needed_here(step)
        ]
        came = [(t.new_empty(t.shape[0], r.length, *t.shape[2:]), r, t) for t in (dk, dv) for r in ring.needed_there(step)]
        back = (start(sends, [(t, holder) for t, _, _ in came], call.group), came)
    take()
    return dq.to(q.dtype), dk.to(k.dtype), dv.to(v.dtype), dsinks


class _ContextAttention(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, q: Tensor, k: Tensor, v: Tensor, sinks: Tensor | None, call: _Call) -> Any:
        own = sinks
        if call.head_ranks > 1:
            q, k, v = (_to_group(call, t) for t in (q, k, v))
            if sinks is not None:
                own = sinks.chunk(call.head_ranks)[call.rank % call.head_ranks].contiguous()
        q, k, v = (rows(t) for t in (q, k, v))
        out, lse = _ring_forward(call, q, k, v, own)
        ctx.save_for_backward(q, k, v, out, lse, own)
        ctx.call, ctx.sinks = call, sinks is not None and ctx.needs_input_grad[3]
        if call.head_ranks > 1:
            out, lse = _to_rank(call, out), _to_rank(call, lse, 2, 1)
        ctx.mark_non_differentiable(lse)
        return out, lse

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, dout: Tensor, _: Any) -> Any:
        q, k, v, out, lse, sinks = ctx.saved_tensors
        call = ctx.call
        dout = dout.to(q.dtype)
        if call.head_ranks > 1:
            dout = _to_group(call, dout)
        dq, dk, dv, dsinks = _ring_backward(call, dout, q, k, v, out, lse, sinks, ctx.sinks)
        if call.head_ranks > 1:
            dq, dk, dv = (_to_rank(call, t) for t in (dq, dk, dv))
            if ctx.sinks and dsinks is not None:
                parts = [torch.zeros_like(dsinks) for _ in range(call.head_ranks)]
                parts[call.rank % call.head_ranks] = dsinks
                dsinks = torch.cat(parts)
        return dq, dk, dv, dsinks.to(sinks.dtype) if ctx.sinks and dsinks is not None else None, None


@torch._dynamo.disable  # type: ignore[untyped-decorator,unused-ignore]
def context_attention(
    q: Tensor, k: Tensor, v: Tensor, *, group: Any = None, causal: bool | str | None = None,
    window: Sequence[int | None] | None = (-1, -1), softcap: float = 0.0, scale: float | None = None,
    sinks: Tensor | None = None, layout: str = "zigzag", head_ranks: int = 1, lengths: Lengths = None,
    return_lse: bool = False,
) -> Any:  # fmt: skip
    """Attention over a sequence whose rows are divided among the ranks of a process group, with gradients.

    q: (B, rows of this rank, Hq, D), f32, f16 or bf16
    k: (B, rows, Hkv, D)
    v: (B, rows, Hkv, Dv)
    group: a process group of torch.distributed; None: all ranks
    causal, window, softcap, scale: as kaio.torch.attention, over the whole sequence, or each of packed sequences
    sinks: (Hq): each query attends to its sink once; its gradient has the part of this rank
    layout: "zigzag", which gives ranks equal work with a causal mask, or "contiguous": the rows that each rank has
    head_ranks: neighbouring ranks that exchange heads for rows (Ulysses) before they take part in rings of world / head_ranks;
        divides the ranks and Hkv
    lengths: of packed sequences, equal on all ranks: the rows of all ranks are these sequences, one after another, and queries
        attend within theirs. Lengths may be 0; B is 1. None: one sequence
    return_lse: returns (out, lse); lse (B, Hq, rows), f32, has no gradient

    Keys of another rank arrive while the rank attends to those that came before. Results are joined in f32. Raises ValueError on
    all ranks if their shapes, types, options or lengths differ.
    """
    call = _resolve(q, k, v, sinks, group, causal, window, softcap, scale, layout, head_ranks, lengths)
    out, lse = _ContextAttention.apply(q, k, v, sinks, call)  # type: ignore[no-untyped-call]
    return (out, lse) if return_lse else out
