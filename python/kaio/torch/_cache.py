"""Caches of keys and values for torch: operators that append to a cache and gather from it. They have no gradients."""

from __future__ import annotations

from typing import Any

import torch

from .. import operations
from ..operations import AppendRotary, KvCache
from ._library import define, is_direct, needs_gradient, refuse_vmap, written

# The tensors of a cache, as arguments of an operator.
INDICES = ("table", "indptr", "indices", "lengths", "last_page_len", "batch_index", "left_padding")
INDEX_SCHEMA = ", ".join(f"Tensor? {name}" for name in INDICES)


def indices_of(cache: KvCache) -> list[torch.Tensor | None]:
    """The tensors of a cache other than k and v, in the order of INDICES."""
    return [getattr(cache, name) for name in INDICES]


def cache_of(k: torch.Tensor, v: torch.Tensor, indices: Any) -> KvCache:
    """The cache of these tensors."""
    return KvCache(k, v, **dict(zip(INDICES, indices)))


def no_gradient(name: str, *tensors: torch.Tensor | None) -> None:
    if needs_gradient(*tensors):
        raise ValueError(f"kaio: {name} has no gradient; call it under torch.no_grad(), or detach its arguments")


def _run_append(
    k: torch.Tensor, v: torch.Tensor, cache_k: torch.Tensor, cache_v: torch.Tensor, table: Any, indptr: Any, indices: Any,
    lengths: Any,
    last_page_len: Any, batch_index: Any, left_padding: Any, cu_seqlens: Any, slots: Any, cos: Any, sin: Any, positions: Any,
    q: Any,
    interleaved: bool, q_at_first: bool, k_scale: Any, v_scale: Any, k_scale_out: Any, v_scale_out: Any,
) -> torch.Tensor:  # fmt: skip
    cache = cache_of(cache_k, cache_v, (table, indptr, indices, lengths, last_page_len, batch_index, left_padding))
    q_out = torch.empty(q.shape if q is not None else (0,), dtype=k.dtype, device=k.device)
    rotary = None
    if cos is not None:
        rotary = AppendRotary(cos, sin, interleaved=interleaved, q_at_first=q_at_first, positions=positions, q=q,
                              q_out=None if q is None else q_out)  # fmt: skip
    call = operations.append_kv if k.dim() == 4 else operations.append_kv_varlen
    call(k, v, cache, cu_seqlens=cu_seqlens, slots=slots, rotary=rotary, k_scale=k_scale, v_scale=v_scale,
         k_scale_out=k_scale_out,
         v_scale_out=v_scale_out)  # fmt: skip
    return q_out


def _fake_append(
    k: Any, v: Any, cache_k: Any, cache_v: Any, table: Any, indptr: Any, indices: Any, lengths: Any, last_page_len: Any,
    batch_index: Any, left_padding: Any, cu_seqlens: Any, slots: Any, cos: Any, sin: Any, positions: Any, q: Any, *others: Any,
) -> torch.Tensor:  # fmt: skip
    made: torch.Tensor = k.new_empty(q.shape if q is not None else (0,))
    return made


_append = define(
    f"append_kv(Tensor k, Tensor v, Tensor(a!) cache_k, Tensor(b!) cache_v, {INDEX_SCHEMA}, Tensor? cu_seqlens, Tensor? slots, "
    "Tensor? cos, Tensor? sin, Tensor? positions, Tensor? q, bool interleaved, bool q_at_first, Tensor? k_scale, "
    "Tensor? v_scale, Tensor(c!)? k_scale_out, Tensor(d!)? v_scale_out) -> Tensor",
    _run_append,
    _fake_append,
)
refuse_vmap("append_kv")


def append_kv(
    k: torch.Tensor, v: torch.Tensor, cache: KvCache, *, cu_seqlens: torch.Tensor | None = None,
    slots: torch.Tensor | None = None,
    rotary: AppendRotary | None = None, k_scale: torch.Tensor | None = None, v_scale: torch.Tensor | None = None,
    k_scale_out: torch.Tensor | None = None, v_scale_out: torch.Tensor | None = None,
) -> torch.Tensor | None:  # fmt: skip
    """Writes new keys and values into a cache, rotated by position and quantised to 8 bits on the way if wanted.

    k: (batches, tokens, heads, size), or (tokens, heads, size) with cu_seqlens or slots; f32, f16, bf16
    v: as k; the size may differ
    cache: kaio.KvCache of tensors: cache.k and cache.v are written. Token i of sequence b becomes key lengths[b] + i; lengths
        are not changed, last_page_len counts the new tokens already
    slots: (tokens) or (batches, tokens), i32 or i64: the row of each token over all pages; below 0: skipped
    rotary: kaio.AppendRotary: turns k, and its q if there is one
    k_scale, v_scale: (1), (heads), (sequences, heads) or (pages, rows, heads), f32: scales of a cache of 8 bits
    k_scale_out, v_scale_out: (pages, rows, heads), f32: get computed scales
    Returns the rotated queries if rotary has q (which go to rotary.q_out if that is given too), else None. Has no gradient.
    Raises kaio.InvalidArgument, which names the argument.
    """
    r = rotary
    q = None if r is None else r.q
    no_gradient("append_kv", k, v, q)
    indices = indices_of(cache)
    cos, sin, positions = (None, None, None) if r is None else (r.cos, r.sin, r.positions)
    scales = (k_scale, v_scale, k_scale_out, v_scale_out)
    direct = is_direct(k, v, cache.k, cache.v, *indices, cu_seqlens, slots, cos, sin, positions, q, *scales)
    call: Any = _run_append if direct else _append
    q_out: torch.Tensor = call(k, v, cache.k, cache.v, *indices, cu_seqlens, slots, cos, sin, positions, q,
                               r is not None and r.interleaved,
                 r is not None and r.q_at_first, *scales)  # fmt: skip
    if direct:
        written(cache.k, cache.v, k_scale_out, v_scale_out)
    if q is None:
        return None
    if r is None or r.q_out is None:
        return q_out
    to: torch.Tensor = r.q_out
    return to.copy_(q_out)


def _gathered(cache_k: Any, cache_v: Any, indices: Any, rows: int, cu_seqlens: Any, dtype: Any) -> Any:
    """The shapes and the type of what gather_kv returns."""
    table, indptr, _, lengths, _, batch_index, _ = indices
    counts = [t.shape[0] for t in (table, lengths, batch_index) if t is not None]
    sequences = indptr.shape[0] - 1 if indptr is not None else counts[0] if counts else cache_k.shape[0]
    first = (rows,) if cu_seqlens is not None else (sequences, rows)
    return (*first, *cache_k.shape[2:]), (*first, *cache_v.shape[2:]), dtype if dtype is not None else cache_k.dtype


def _run_gather(
    cache_k: torch.Tensor, cache_v: torch.Tensor, table: Any, indptr: Any, indices: Any, lengths: Any, last_page_len: Any,
    batch_index: Any, left_padding: Any, rows: int, cu_seqlens: Any, k_scale: Any, v_scale: Any, dtype: Any,
) -> tuple[torch.Tensor, torch.Tensor]:  # fmt: skip
    given = (table, indptr, indices, lengths, last_page_len, batch_index, left_padding)
    of_k, of_v, kind = _gathered(cache_k, cache_v, given, rows, cu_seqlens, dtype)
    # The operation leaves rows beyond a sequence as they are.
    k, v = torch.zeros(of_k, dtype=kind, device=cache_k.device), torch.zeros(of_v, dtype=kind, device=cache_k.device)
    call = operations.gather_kv if cu_seqlens is None else operations.gather_kv_varlen
    call(cache_of(cache_k, cache_v, given), k, v, cu_seqlens=cu_seqlens, k_scale=k_scale, v_scale=v_scale)
    return k, v


def _fake_gather(
    cache_k: Any, cache_v: Any, table: Any, indptr: Any, indices: Any, lengths: Any, last_page_len: Any, batch_index: Any,
    left_padding: Any, rows: Any, cu_seqlens: Any, k_scale: Any, v_scale: Any, dtype: Any,
) -> Any:  # fmt: skip
    given = (table, indptr, indices, lengths, last_page_len, batch_index, left_padding)
    of_k, of_v, kind = _gathered(cache_k, cache_v, given, rows, cu_seqlens, dtype)
    return cache_k.new_empty(of_k, dtype=kind), cache_k.new_empty(of_v, dtype=kind)


_gather = define(
    f"gather_kv(Tensor cache_k, Tensor cache_v, {INDEX_SCHEMA}, SymInt rows, Tensor? cu_seqlens, Tensor? k_scale, "
    "Tensor? v_scale, ScalarType? dtype) -> (Tensor, Tensor)",
    _run_gather,
    _fake_gather,
)
refuse_vmap("gather_kv")


def gather_kv(
    cache: KvCache, rows: int, *, cu_seqlens: torch.Tensor | None = None, k_scale: torch.Tensor | None = None,
    v_scale: torch.Tensor | None = None, dtype: torch.dtype | None = None,
) -> tuple[torch.Tensor, torch.Tensor]:  # fmt: skip
    """Gathers the keys and values of sequences out of a cache. Has no gradient.

    cache: kaio.KvCache of tensors
    rows: of each sequence in the result; with cu_seqlens: of all sequences together
    cu_seqlens: (sequences + 1), i32: sequence b goes to rows cu_seqlens[b] to before cu_seqlens[b + 1]
    k_scale, v_scale: (1), (heads) or (pages, rows, heads), f32: scales of a cache of 8 bits
    dtype: of the result; None: that of the cache
    Returns k and v, (sequences, rows, heads, size), or (rows, heads, size) with cu_seqlens; zeros where there is no key.
    Raises kaio.InvalidArgument, which names the argument.
    """
    no_gradient("gather_kv", cache.k, cache.v)
    indices = indices_of(cache)
    call: Any = _run_gather if is_direct(cache.k, cache.v, *indices, cu_seqlens, k_scale, v_scale) else _gather
    k, v = call(cache.k, cache.v, *indices, rows, cu_seqlens, k_scale, v_scale, dtype)
    return k, v
