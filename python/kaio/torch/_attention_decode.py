"""Attention over a cache of keys and values as operators of torch: one that reads the cache, one that appends to it first."""

from __future__ import annotations

from typing import Any

import torch

from .. import _core, operations
from ._attention_operators import arguments_of
from ._library import define, is_direct, refuse_vmap, written

Tensor = torch.Tensor

_native = _core.operation("attention_decode")
_native_varlen = _core.operation("attention_decode_varlen")

_READS = (
    "Tensor? table=None, Tensor? lengths=None, Tensor? batch_index=None, Tensor? left_padding=None, Tensor? cu_q=None, "
    "SymInt max_q=0, Tensor? qv=None, Tensor? alibi=None, Tensor? k_scale=None, Tensor? v_scale=None, Tensor? sinks=None, "
    "float? scale=None, float softcap=0.0, str causal=\"none\", SymInt window_left=-1, SymInt window_right=-1, SymInt splits=0, "
    "SymInt max_length=0, bool batch_invariant=False, bool with_lse=True"
)  # fmt: skip
_APPENDS = (
    "Tensor? cu_k=None, Tensor? cos=None, Tensor? sin=None, Tensor? positions=None, bool interleaved=True, bool q_at_first=False"
)


def _run(
    append: Any, q: Tensor, k_cache: Tensor, v_cache: Tensor, table: Any = None, lengths: Any = None, batch_index: Any = None,
    left_padding: Any = None, cu_q: Any = None, max_q: int = 0, qv: Any = None, alibi: Any = None, k_scale: Any = None,
    v_scale: Any = None, sinks: Any = None, scale: float | None = None, softcap: float = 0.0, causal: str = "none",
    window_left: int = -1, window_right: int = -1, splits: int = 0, max_length: int = 0, batch_invariant: bool = False,
    with_lse: bool = True, out: Tensor | None = None,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    name, dimensions = ("attention_decode", 4) if cu_q is None else ("attention_decode_varlen", 3)
    for letter, t, d in (("q", q, dimensions), ("k_cache", k_cache, 4), ("v_cache", v_cache, 4)):
        if t.dim() != d:
            raise ValueError(f"kaio: {name}: argument {letter} has {t.dim()} dimensions; it has {d}")
    if out is None:
        out = _core.empty(q, (*q.shape[:-1], v_cache.shape[-1]), None)
    lse = _core.empty(q, _lse_shape(q, cu_q, with_lse), "f32")
    cache = (k_cache, v_cache, table, None, None, lengths, None, batch_index, left_padding)
    options = (scale, softcap, causal, splits, "automatic", batch_invariant, "none", window_left, window_right, max_length, qv,
               alibi, k_scale, v_scale, sinks, lse if with_lse else None, append)  # fmt: skip
    if cu_q is None:
        _native(..., q, cache, out, options)
    else:
        _native_varlen(..., q, cache, out, (cu_q, None, max_q), options)
    return out, lse


def _lse_shape(q: Any, cu_q: Any, with_lse: bool) -> tuple[Any, ...]:
    if not with_lse:
        return (0,)
    return (q.shape[0], q.shape[2], q.shape[1]) if cu_q is None else (q.shape[1], q.shape[0])


def run_reading(q: Tensor, k_cache: Tensor, v_cache: Tensor, *others: Any, **keywords: Any) -> tuple[Tensor, Tensor]:
    return _run(None, q, k_cache, v_cache, *others, **keywords)


def run_appending(
    q: Tensor, k_cache: Tensor, v_cache: Tensor, k: Tensor, v: Tensor, cu_k: Any = None, cos: Any = None, sin: Any = None,
    positions: Any = None, interleaved: bool = True, q_at_first: bool = False, *others: Any, **keywords: Any,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    rotary = None
    if cos is not None:
        rotary = operations.AppendRotary(cos, sin, interleaved=interleaved, q_at_first=q_at_first, positions=positions)
    append = operations.AttentionAppend(k, v, cu_k=cu_k, rotary=rotary)
    result = _run(append, q, k_cache, v_cache, *others, **keywords)
    written(k_cache, v_cache)
    return result


def _fake(q: Any, v_cache: Any, cu_q: Any, with_lse: bool) -> tuple[Tensor, Tensor]:
    return q.new_empty((*q.shape[:-1], v_cache.shape[-1])), q.new_empty(_lse_shape(q, cu_q, with_lse), dtype=torch.float32)


def _fake_reading(q: Any, k_cache: Any, v_cache: Any, *reads: Any, **keywords: Any) -> tuple[Tensor, Tensor]:
    found = arguments_of(_run, (None, q, k_cache, v_cache, *reads), keywords, "cu_q", "with_lse")
    return _fake(q, v_cache, *found)


def _fake_appending(
    q: Any, k_cache: Any, v_cache: Any, k: Any, v: Any, cu_k: Any = None, cos: Any = None, sin: Any = None, positions: Any = None,
    interleaved: bool = True, q_at_first: bool = False, *reads: Any, **keywords: Any,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    return _fake_reading(q, k_cache, v_cache, *reads, **keywords)


_reading = define(
    f"attention_decode(Tensor q, Tensor k_cache, Tensor v_cache, {_READS}) -> (Tensor, Tensor)", run_reading, _fake_reading
)
_appending = define(
    "attention_append_decode(Tensor q, Tensor(a!) k_cache, Tensor(b!) v_cache, Tensor k, Tensor v, "
    f"{_APPENDS}, {_READS}) -> (Tensor, Tensor)",
    run_appending,
    _fake_appending,
)
refuse_vmap("attention_decode")
refuse_vmap("attention_append_decode")


def decode(q: Tensor, k_cache: Tensor, v_cache: Tensor, append: tuple[Any, ...] | None, reads: tuple[Any, ...],
           out: Tensor | None = None) -> tuple[Tensor, Tensor]:  # fmt: skip
    """Attention of q over a cache. append: k, v, cu_k, cos, sin, positions, interleaved, q_at_first. reads: the rest."""
    tensors = [t for t in (q, k_cache, v_cache, *(append or ()), *reads) if isinstance(t, Tensor)]
    if is_direct(*tensors):
        keywords: dict[str, Any] = {} if out is None else {"out": out}
        if append is None:
            result = run_reading(q, k_cache, v_cache, *reads, **keywords)
        else:
            result = run_appending(q, k_cache, v_cache, *append, *reads, **keywords)
        written(out)
        return result
    call = _reading if append is None else _appending
    found, lse = call(q, k_cache, v_cache, *(append or ()), *reads)
    if out is not None:
        found = out.copy_(found)
    return found, lse
