"""The functions of flash_attn, over kaio: import them from here instead, and nothing else changes.

The positional arguments are those of FlashAttention 2. Keywords of FlashAttention 3, 4 and vLLM are taken too. One that kaio
does not support raises NotImplementedError, which names it, unless it has its default.
"""

from __future__ import annotations

from typing import Any, Callable, TypeVar

import torch

from ._attention import attention, attention_varlen, window_of
from ._attention_decode import decode
from ._attention_operators import rows
from ._library import needs_gradient, renamed
from ._rotary import rotary

Tensor = torch.Tensor
_Function = TypeVar("_Function", bound=Callable[..., Any])

# kaio's names of arguments by those of FlashAttention, for errors.
_NAMES = {
    "alibi": "alibi_slopes", "append": "k and v", "cu_k": "cu_seqlens_k", "cu_q": "cu_seqlens_q", "k_scale": "k_descale",
    "left_padding": "cache_leftpad", "lengths": "cache_seqlens", "max_k": "max_seqlen_k", "max_q": "max_seqlen_q",
    "batch_index": "cache_batch_idx", "scale": "softmax_scale", "sinks": "learnable_sink", "splits": "num_splits",
    "table": "block_table", "used_k": "seqused_k", "used_q": "seqused_q", "v_scale": "v_descale", "window": "window_size",
    "cos": "rotary_cos", "sin": "rotary_sin",
}  # fmt: skip


class _NoGradient(torch.autograd.Function):
    """A result whose backward says that there is none."""

    @staticmethod
    def forward(ctx: Any, result: Tensor, *inputs: Tensor) -> Tensor:
        return result.view_as(result)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> Any:  # type: ignore[override]
        raise NotImplementedError("kaio: flash_attn_varlen_func: there are no gradients with block_table")


def _in_names_of_flash_attention(function: _Function) -> _Function:
    """The function, whose errors have the names that its caller has given."""
    names = dict(_NAMES)
    if function.__name__ == "flash_attn_varlen_func":
        names["lengths"] = "seqused_k"
    if function.__name__ == "flash_attn_with_kvcache":
        names.update({"cache.k": "k_cache", "cache.v": "v_cache"})
    return renamed(names)(function)


# Keywords that choose how a kernel runs, or that are always on.
_HINTS = ("deterministic", "pack_gqa", "sm_margin", "scheduler_metadata", "fa_version")
# Scales of inputs of 8 bits. As in FlashAttention 3, inputs of 16 bits do not read them.
_DESCALES = ("q_descale", "k_descale", "v_descale")
# Keywords that mean something that kaio lacks, and their defaults.
_UNSUPPORTED: dict[str, tuple[Any, ...]] = {
    "aux_scalars": (None,), "aux_tensors": (None,), "attention_chunk": (0, None), "block_sparse_tensors": (None,),
    "block_sparse_tensors_bwd": (None,), "cp_rank": (0,), "cp_tot_seqused_k": (None,), "cp_world_size": (1,),
    "gather_kv_indices": (None,), "mask_mod": (None,), "q_v": (None,), "qv": (None,), "rotary_seqlens": (None,),
    "score_mod": (None,), "score_mod_bwd": (None,),
}  # fmt: skip
_INSTEAD = {
    "mask_mod": "; kaio.torch.attention has masks by name, and block masks",
    "score_mod": "; kaio.torch.attention has scores by name",
    "dropout_p": "; kaio has no dropout in attention",
}


def _unsupported(name: str, argument: str) -> NotImplementedError:
    return NotImplementedError(f"kaio: {name}: argument {argument} is not supported{_INSTEAD.get(argument, '')}")


def _others(name: str, others: dict[str, Any], *accepted: str) -> list[Any]:
    """The values of accepted keywords, None where they are not given. Refuses others by name."""
    for argument, value in others.items():
        if argument in accepted or argument in _HINTS or argument in _DESCALES:
            continue
        if argument not in _UNSUPPORTED:
            raise TypeError(f"{name}() got an unexpected keyword argument '{argument}'")
        if not any(
            value is default or (not isinstance(value, Tensor) and value == default) for default in _UNSUPPORTED[argument]
        ):
            raise _unsupported(name, argument)
    return [others.get(argument) for argument in accepted]


def _one(name: str, first: str, a: Any, second: str, b: Any) -> Any:
    """One of two names of the same argument."""
    if a is not None and b is not None:
        raise TypeError(f"kaio: {name}: arguments {first} and {second} are both given; they are the same")
    return b if a is None else a


def _refuse_8bit(name: str, *tensors: tuple[str, Tensor]) -> None:
    for argument, t in tensors:
        if t.element_size() == 1:
            raise NotImplementedError(f"kaio: {name}: argument {argument} of 8 bits is not supported; a cache may have 8 bits")


def _finish(found: Any, with_probabilities: bool, with_lse: bool) -> Any:
    """What FlashAttention returns: its log-sum-exp of a row without keys is +inf."""
    if not with_probabilities and not with_lse:
        return found
    out, lse = found
    lse = torch.where(lse == float("-inf"), float("inf"), lse)
    return (out, lse, out.new_empty(0)) if with_probabilities else (out, lse)


@_in_names_of_flash_attention
def flash_attn_func(
    q: Tensor, k: Tensor, v: Tensor, dropout_p: float = 0.0, softmax_scale: float | None = None, causal: bool = False,
    window_size: Any = (-1, -1), softcap: float = 0.0, alibi_slopes: Tensor | None = None, deterministic: bool = False,
    return_attn_probs: bool = False, **others: Any,
) -> Any:  # fmt: skip
    """flash_attn.flash_attn_func: softmax(softmax_scale * Q K^T) V for every head, with gradients.

    q: (B, Sq, Hq, D), f16, bf16 or f32
    k, v: (B, Sk, Hkv, D); the head size of v may differ
    causal: aligned to the bottom right
    window_size: keys to the left and to the right of a query's own key; -1 or None: all
    alibi_slopes: (Hq) or (B, Hq), f32
    Others of FlashAttention 3 and 4: learnable_sink or s_aux, (Hq); return_lse; num_splits, of which 1 is batch-invariant.
    Gradients are always deterministic. dropout_p has to be 0.

    Returns out, (B, Sq, Hq, D); with return_attn_probs (out, lse, an empty tensor), with return_lse (out, lse): lse is
    (B, Hq, Sq), f32, +inf for a row without keys.
    """
    name = "flash_attn_func"
    sink, s_aux, return_lse, num_splits = _others(name, others, "learnable_sink", "s_aux", "return_lse", "num_splits")
    if dropout_p != 0:
        raise _unsupported(name, "dropout_p")
    _refuse_8bit(name, ("q", q), ("k", k), ("v", v))
    found = attention(
        q, k, v, causal=bool(causal), window=window_of(name, "window_size", window_size), softcap=softcap, scale=softmax_scale,
        alibi=alibi_slopes, sinks=_one(name, "learnable_sink", sink, "s_aux", s_aux), batch_invariant=num_splits == 1,
        return_lse=bool(return_attn_probs or return_lse),
    )  # fmt: skip
    return _finish(found, return_attn_probs, bool(return_lse))


def flash_attn_kvpacked_func(
    q: Tensor, kv: Tensor, dropout_p: float = 0.0, softmax_scale: float | None = None, causal: bool = False,
    window_size: Any = (-1, -1), softcap: float = 0.0, alibi_slopes: Tensor | None = None, deterministic: bool = False,
    return_attn_probs: bool = False, **others: Any,
) -> Any:  # fmt: skip
    """flash_attn.flash_attn_kvpacked_func: flash_attn_func of kv, (B, Sk, 2, Hkv, D)."""
    k, v = _unpack("flash_attn_kvpacked_func", "kv", kv, 2)
    return flash_attn_func(q, k, v, dropout_p, softmax_scale, causal, window_size, softcap, alibi_slopes, deterministic,
                           return_attn_probs, **others)  # fmt: skip


def flash_attn_qkvpacked_func(
    qkv: Tensor, dropout_p: float = 0.0, softmax_scale: float | None = None, causal: bool = False, window_size: Any = (-1, -1),
    softcap: float = 0.0, alibi_slopes: Tensor | None = None, deterministic: bool = False, return_attn_probs: bool = False,
    **others: Any,
) -> Any:  # fmt: skip
    """flash_attn.flash_attn_qkvpacked_func: flash_attn_func of qkv, (B, S, 3, H, D)."""
    q, k, v = _unpack("flash_attn_qkvpacked_func", "qkv", qkv, 3)
    return flash_attn_func(q, k, v, dropout_p, softmax_scale, causal, window_size, softcap, alibi_slopes, deterministic,
                           return_attn_probs, **others)  # fmt: skip


def _unpack(name: str, argument: str, packed: Tensor, parts: int, before: str = "(batches, sequence, ") -> tuple[Tensor, ...]:
    dimensions = 3 + before.count(",")
    if packed.dim() != dimensions or packed.shape[-3] != parts:
        raise ValueError(f"kaio: {name}: argument {argument} is {tuple(packed.shape)}; it is {before}{parts}, heads, head size)")
    return packed.unbind(-3)


@_in_names_of_flash_attention
def flash_attn_varlen_func(
    q: Tensor, k: Tensor, v: Tensor, cu_seqlens_q: Tensor | None = None, cu_seqlens_k: Tensor | None = None,
    max_seqlen_q: int | None = None, max_seqlen_k: int | None = None, dropout_p: float = 0.0, softmax_scale: float | None = None,
    causal: bool = False, window_size: Any = (-1, -1), softcap: float = 0.0, alibi_slopes: Tensor | None = None,
    deterministic: bool = False, return_attn_probs: bool = False, block_table: Tensor | None = None, **others: Any,
) -> Any:  # fmt: skip
    """flash_attn.flash_attn_varlen_func: sequences of different lengths whose rows follow each other, with gradients.

    q: (rows, Hq, D)
    k, v: (rows of k, Hkv, D); with block_table pages of a cache, (pages, page size, Hkv, D), without gradients
    cu_seqlens_q, cu_seqlens_k: (sequences + 1), i32, from 0 on
    block_table: (sequences, pages of the longest), i32. Lengths are seqused_k, or those of cu_seqlens_k
    Others of FlashAttention 3, 4 and vLLM: seqused_q, seqused_k, (sequences), i32; learnable_sink or s_aux; return_lse or
    return_softmax_lse; page_table; out; num_splits; k_descale and v_descale, (sequences, Hkv), f32, for pages of 8 bits; the
    other arguments are those of flash_attn_func.

    Returns out, (rows, Hq, D), and what flash_attn_func returns with it; lse is (Hq, rows).
    """
    name = "flash_attn_varlen_func"
    used_q, used_k, sink, s_aux, return_lse, return_softmax_lse, page_table, out, num_splits, fused = _others(
        name, others, "seqused_q", "seqused_k", "learnable_sink", "s_aux", "return_lse", "return_softmax_lse", "page_table",
        "out", "num_splits", "qv",
    )  # fmt: skip
    if dropout_p != 0:
        raise _unsupported(name, "dropout_p")
    for argument, value in (("cu_seqlens_q", cu_seqlens_q), ("max_seqlen_q", max_seqlen_q)):
        if value is None:
            raise TypeError(f"kaio: {name}: argument {argument} is not given")
    assert cu_seqlens_q is not None and max_seqlen_q is not None
    sinks = _one(name, "learnable_sink", sink, "s_aux", s_aux)
    table = _one(name, "block_table", block_table, "page_table", page_table)
    if softmax_scale == 0:
        raise ValueError(f"kaio: {name}: argument softmax_scale is 0; None is 1 / sqrt(head size)")
    window = window_of(name, "window_size", window_size)
    with_lse = bool(return_attn_probs or return_lse or return_softmax_lse)
    if table is not None:
        if used_q is not None:
            raise _unsupported(name, "seqused_q next to block_table")
        if used_k is None:
            if cu_seqlens_k is None:
                raise TypeError(
                    f"kaio: {name}: neither seqused_k nor cu_seqlens_k is given; one of them has the lengths of the pages"
                )
            used_k = cu_seqlens_k[1:] - cu_seqlens_k[:-1]
        _refuse_8bit(name, ("q", q))
        reads = (
            table, used_k, None, None, cu_seqlens_q, max_seqlen_q, fused, alibi_slopes, *_scales(k, others), sinks, softmax_scale,
            softcap, "bottom_right" if causal else "none", *window, 0 if num_splits == 1 else num_splits or 0, max_seqlen_k or 0,
            num_splits == 1, with_lse,
        )  # fmt: skip
        result, lse = decode(rows(q), k, v, None, reads, out)
        if out is None and needs_gradient(q, k, v):
            result = _NoGradient.apply(result, q, k, v)  # type: ignore[no-untyped-call]
        return _finish((result, lse) if with_lse else result, return_attn_probs, with_lse)
    if fused is not None:
        raise _unsupported(name, "qv")
    if cu_seqlens_k is None:
        raise TypeError(f"kaio: {name}: argument cu_seqlens_k is not given; only a call with block_table may leave it out")
    _refuse_8bit(name, ("q", q), ("k", k), ("v", v))
    found = attention_varlen(
        q, k, v, cu_seqlens_q=cu_seqlens_q, cu_seqlens_k=cu_seqlens_k, max_seqlen_q=max_seqlen_q, max_seqlen_k=max_seqlen_k or 0,
        seqused_q=used_q, seqused_k=used_k, causal=bool(causal), window=window, softcap=softcap, scale=softmax_scale,
        alibi=alibi_slopes, sinks=sinks, return_lse=with_lse, batch_invariant=num_splits == 1,
    )  # fmt: skip
    if out is not None:
        found = (out.copy_(found[0]), found[1]) if with_lse else out.copy_(found)
    return _finish(found, return_attn_probs, with_lse)


def flash_attn_varlen_kvpacked_func(
    q: Tensor, kv: Tensor, cu_seqlens_q: Tensor, cu_seqlens_k: Tensor, max_seqlen_q: int, max_seqlen_k: int,
    dropout_p: float = 0.0, softmax_scale: float | None = None, causal: bool = False, window_size: Any = (-1, -1),
    softcap: float = 0.0, alibi_slopes: Tensor | None = None, deterministic: bool = False, return_attn_probs: bool = False,
    **others: Any,
) -> Any:  # fmt: skip
    """flash_attn.flash_attn_varlen_kvpacked_func: flash_attn_varlen_func of kv, (rows of k, 2, Hkv, D)."""
    k, v = _unpack("flash_attn_varlen_kvpacked_func", "kv", kv, 2, "(rows, ")
    return flash_attn_varlen_func(q, k, v, cu_seqlens_q, cu_seqlens_k, max_seqlen_q, max_seqlen_k, dropout_p, softmax_scale,
                                  causal, window_size, softcap, alibi_slopes, deterministic, return_attn_probs, **others)  # fmt: skip


def flash_attn_varlen_qkvpacked_func(
    qkv: Tensor, cu_seqlens: Tensor, max_seqlen: int, dropout_p: float = 0.0, softmax_scale: float | None = None,
    causal: bool = False, window_size: Any = (-1, -1), softcap: float = 0.0, alibi_slopes: Tensor | None = None,
    deterministic: bool = False, return_attn_probs: bool = False, **others: Any,
) -> Any:  # fmt: skip
    """flash_attn.flash_attn_varlen_qkvpacked_func: flash_attn_varlen_func of qkv, (rows, 3, H, D)."""
    q, k, v = _unpack("flash_attn_varlen_qkvpacked_func", "qkv", qkv, 3, "(rows, ")
    return flash_attn_varlen_func(q, k, v, cu_seqlens, cu_seqlens, max_seqlen, max_seqlen, dropout_p, softmax_scale, causal,
                                  window_size, softcap, alibi_slopes, deterministic, return_attn_probs, **others)  # fmt: skip


def _scales(cache: Tensor, others: dict[str, Any]) -> tuple[Any, Any]:
    """The scales of a cache of 8 bits; one of 16 bits has none."""
    if cache.element_size() != 1:
        return None, None
    return others.get("k_descale"), others.get("v_descale")


def _rotated(q: Tensor, k: Tensor, cos: Tensor, sin: Tensor, offsets: Any, interleaved: bool, q_at_first: bool) -> tuple[Tensor, Tensor]:
    """q and k at the positions offsets + i; all of q at its sequence's offset if `q_at_first`."""
    batches, queries, heads, size = q.shape
    one_token = q.reshape(batches, 1, queries * heads, size) if q_at_first else q
    with torch.no_grad():
        turned = rotary(one_token, cos, sin, offsets=offsets, interleaved=interleaved)
        return turned.reshape(q.shape), rotary(k, cos, sin, offsets=offsets, interleaved=interleaved)


@_in_names_of_flash_attention
def flash_attn_with_kvcache(
    q: Tensor, k_cache: Tensor, v_cache: Tensor, k: Tensor | None = None, v: Tensor | None = None,
    rotary_cos: Tensor | None = None, rotary_sin: Tensor | None = None, cache_seqlens: int | Tensor | None = None,
    cache_batch_idx: Tensor | None = None, cache_leftpad: Tensor | None = None, block_table: Tensor | None = None,
    softmax_scale: float | None = None, causal: bool = False, window_size: Any = (-1, -1), softcap: float = 0.0,
    rotary_interleaved: bool = True, alibi_slopes: Tensor | None = None, num_splits: int = 0, return_softmax_lse: bool = False,
    **others: Any,
) -> Any:  # fmt: skip
    """flash_attn.flash_attn_with_kvcache: attention over a cache, to which new keys and values are appended first. No gradients.

    q: (B, Sq, Hq, D), f16, bf16 or f32; with cu_seqlens_q (rows, Hq, D)
    k_cache, v_cache: (batches of the cache, room, Hkv, D), or with block_table (pages, page size, Hkv, D), pages of any size.
        Elements of q, or e4m3, e5m2, i8 with k_descale and v_descale, (B, Hkv), f32. Both are written if k and v are given
    k, v: (B, Snew, Hkv, D), new: they become keys cache_seqlens to cache_seqlens + Snew - 1
    rotary_cos, rotary_sin: (positions, rotated elements / 2), rotates k, and q: at cache_seqlens + i if causal or with a window,
        else all at cache_seqlens
    cache_seqlens: (B), i32, or a number: keys before the new ones; None: the whole cache
    cache_batch_idx: (B), i32: which batch of the cache each sequence has
    cache_leftpad: (B), i32: keys before this one do not exist
    block_table: (B, pages of the longest), i32
    num_splits: of the keys; 0: chosen
    Others of FlashAttention 3 and vLLM: page_table, qv, cu_seqlens_q with max_seqlen_q, cu_seqlens_k_new, s_aux, out, return_lse.

    The host reads no memory of the device: a captured call may be replayed with other lengths and tables.
    Returns out, (B, Sq, Hq, D); with return_softmax_lse (out, lse), lse (B, Hq, Sq), f32, +inf for a row without keys.
    """
    name = "flash_attn_with_kvcache"
    page_table, fused, q_v, cu_q, max_q, cu_k, s_aux, sink, out, return_lse = _others(
        name, others, "page_table", "qv", "q_v", "cu_seqlens_q", "max_seqlen_q", "cu_seqlens_k_new", "s_aux", "learnable_sink",
        "out", "return_lse",
    )  # fmt: skip
    table = _one(name, "block_table", block_table, "page_table", page_table)
    if softmax_scale == 0:
        raise ValueError(f"kaio: {name}: argument softmax_scale is 0; None is 1 / sqrt(head size)")
    fused = _one(name, "qv", fused, "q_v", q_v)
    window = window_of(name, "window_size", window_size)
    _refuse_8bit(name, ("q", q))
    if (k is None) != (v is None):
        raise ValueError(f"kaio: {name}: one of arguments k and v is given; both are needed")
    if (rotary_cos is None) != (rotary_sin is None):
        raise ValueError(f"kaio: {name}: one of arguments rotary_cos and rotary_sin is given; both are needed")
    if rotary_cos is not None and k is None:
        raise ValueError(f"kaio: {name}: argument rotary_cos without k; only new keys are rotated")
    if k is not None and cache_seqlens is None:
        raise ValueError(f"kaio: {name}: argument k without cache_seqlens, which says where the new keys go")
    if cu_q is not None and max_q is None:
        raise TypeError(f"kaio: {name}: argument max_seqlen_q is not given; cu_seqlens_q needs it")
    if isinstance(cache_seqlens, int):
        sequences = q.shape[0] if cu_q is None else cu_q.shape[0] - 1
        cache_seqlens = torch.full((sequences,), cache_seqlens, dtype=torch.int32, device=q.device)
    append = None
    if rotary_cos is not None and cache_leftpad is not None and (cu_q is not None or cu_k is not None):
        raise _unsupported(name, "cache_leftpad next to rotary_cos and cu_seqlens_q or cu_seqlens_k_new")
    if k is not None and v is not None:
        q_at_first = not causal and tuple(window) == (-1, -1)
        if rotary_cos is not None and rotary_sin is not None and cache_leftpad is not None:
            # FlashAttention's positions count the padding, kaio's do not.
            q, k = _rotated(q, k, rotary_cos, rotary_sin, cache_seqlens, rotary_interleaved, q_at_first)
            rotary_cos = rotary_sin = None
        append = (rows(k), rows(v), cu_k, rotary_cos, rotary_sin, None, rotary_interleaved, q_at_first)
    with_lse = bool(return_softmax_lse or return_lse)
    reads = (
        table, cache_seqlens, cache_batch_idx, cache_leftpad, cu_q, max_q or 0, None if fused is None else rows(fused),
        alibi_slopes, *_scales(k_cache, others), _one(name, "learnable_sink", sink, "s_aux", s_aux), softmax_scale, softcap,
        "bottom_right" if causal else "none", *window, num_splits, 0, False, with_lse,
    )  # fmt: skip
    with torch.no_grad():
        result, lse = decode(rows(q), k_cache, v_cache, append, reads, out)
    return _finish((result, lse) if with_lse else result, False, with_lse)
