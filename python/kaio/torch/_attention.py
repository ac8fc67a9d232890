"""Attention for torch, with gradients: dense tensors, and sequences of different lengths that are packed into one tensor."""

from __future__ import annotations

from typing import Any, Mapping, Sequence

import torch
from torch.autograd.function import once_differentiable

from ._attention_masks import blocks_of, without_blocks
from ._attention_operators import (
    NO_BLOCKS, Blocks, Options, Sequences, backward, backward_varlen, forward, forward_varlen, rows,
)  # fmt: skip
from ._attention_scores import apply_scores
from ._library import distinct, is_compiling, needs_gradient, renamed
from ._matmul import any_autocast, autocast

Tensor = torch.Tensor

_ALIGNMENTS = {
    None: "none",
    False: "none",
    True: "bottom_right",
    "none": "none",
    "top_left": "top_left",
    "bottom_right": "bottom_right",
}


def alignment(name: str, causal: Any) -> str:
    """The name of a causal mask: of None, a bool, or a name."""
    if not isinstance(causal, (bool, str, type(None))) or causal not in _ALIGNMENTS:
        raise ValueError(f"kaio: {name}: argument causal is {causal!r}; it is None, a bool, 'top_left' or 'bottom_right'")
    return _ALIGNMENTS[causal]


def window_of(name: str, argument: str, window: Any) -> tuple[int, int]:
    """(left, right) of a window; None and -1 are open."""
    if window is None:
        return -1, -1
    if isinstance(window, Tensor) and window.device.type == "cpu":
        window = window.tolist()
    if window == (-1, -1):
        return -1, -1
    if not isinstance(window, (tuple, list)) or len(window) != 2:
        raise ValueError(f"kaio: {name}: argument {argument} is {window!r}; it is a pair of keys to the left and to the right")
    left, right = (-1 if side is None else side for side in window)
    if left < -1 or right < -1:
        raise ValueError(f"kaio: {name}: argument {argument} is ({left}, {right}); -1 is all keys, and none is less")
    return left, right


def options_of(name: str, scale: float | None, softcap: float | None, causal: Any, window: Any, precision: str = "ieee",
               batch_invariant: bool = False, window_name: str = "window") -> Options:  # fmt: skip
    if scale is not None and scale == 0:
        raise ValueError(f"kaio: {name}: argument scale is 0; None is 1 / sqrt(head size)")
    left, right = window_of(name, window_name, window)
    return Options(scale, 0.0 if softcap is None else softcap, alignment(name, causal), left, right, precision, batch_invariant)


class _Attention(torch.autograd.Function):
    """out, and lse if it is asked for."""

    @staticmethod
    def forward(ctx: Any, q: Any, k: Any, v: Any, bias: Any, keep: Any, alibi: Any, sinks: Any, kv_num_blocks: Any,
                kv_indices: Any, full_kv_num_blocks: Any, full_kv_indices: Any, block_queries: int, block_keys: int, scale: Any,
                softcap: float, causal: str, window_left: int, window_right: int, precision: str, batch_invariant: bool,
                return_lse: bool) -> Any:  # fmt: skip
        blocks = Blocks(kv_num_blocks, kv_indices, full_kv_num_blocks, full_kv_indices, block_queries, block_keys)
        options = Options(scale, softcap, causal, window_left, window_right, precision, batch_invariant)
        out, lse = forward(q, k, v, bias, keep, alibi, sinks, blocks, options, True)
        ctx.save_for_backward(
            q, k, v, out, lse, bias, keep, alibi, sinks, kv_num_blocks, kv_indices, full_kv_num_blocks, full_kv_indices
        )
        ctx.block_size = (block_queries, block_keys)
        ctx.options = (scale, softcap, causal, window_left, window_right, precision, batch_invariant)
        return (out, lse) if return_lse else out

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, dout: Any, dlse: Any = None) -> Any:
        q, k, v, out, lse, bias, keep, alibi, sinks, *lists = ctx.saved_tensors
        options = Options(*ctx.options)
        if lists[0] is not None:  # kernels of the backward take no lists
            options, keep = without_blocks(Blocks(*lists, *ctx.block_size), options, keep, q.shape[1], k.shape[1])
        need = ctx.needs_input_grad
        needs = (need[0], need[1], need[2], bias is not None and need[3], sinks is not None and need[6])
        found = backward(rows(dout.to(q.dtype)), q, k, v, out, lse, dlse, bias, keep, alibi, sinks, options, needs)
        dq, dk, dv, dbias, dsinks = (g if n else None for g, n in zip(found, needs))
        return (dq, dk, dv, dbias, None, None, dsinks, *(None,) * 14)


def attention(
    q: Tensor, k: Tensor, v: Tensor, *, causal: bool | str | None = None, window: Sequence[int | None] | None = (-1, -1),
    softcap: float = 0.0, scale: float | None = None, alibi: Tensor | None = None, bias: Tensor | None = None,
    keep: Tensor | None = None, sinks: Tensor | None = None, block_mask: Any = None,
    score: str | Sequence[str] | Mapping[str, Any] | None = None, return_lse: bool = False, batch_invariant: bool = False,
    precision: str = "ieee",
) -> Any:  # fmt: skip
    """softmax(mask(score(scale * Q K^T))) V for every head, with gradients of q, k, v, bias, sinks, and through lse.

    q: (B, Sq, Hq, D), f32, f16 or bf16, with any strides: a tensor of (B, Hq, Sq, D) is passed as q.transpose(1, 2)
    k: (B, Sk, Hkv, D); Hq is a multiple of Hkv, and neighbouring heads of q share one of k
    v: (B, Sk, Hkv, Dv); D and Dv are 1 to 512
    causal: "bottom_right" or True: key <= query + Sk - Sq; "top_left": key <= query
    window: keys to the left and to the right of a query's own key; -1 or None: all
    softcap: above 0: softcap * tanh(score / softcap)
    scale: None: 1 / sqrt(D)
    alibi: (Hq) or (B, Hq), f32: score -= slope * |query + Sk - Sq - key|
    bias: (B, Hq, Sq, Sk) or the last of these, extents of 1 serve all; f32 or elements of q; added to the score
    keep: as bias, bool: False masks a key
    sinks: (Hq): the score of an extra key without a value
    block_mask: kaio.BlockMask, whose lists skip blocks, or the BlockMask of torch.nn.attention.flex_attention. A mask_mod
        becomes a tensor of bool, (B', H', Sq, Sk), once for each BlockMask. Such a tensor also serves gradients of a block
        mask, and a block mask next to bias or keep; it skips no blocks
    score: a score or mask by name, several names, or a dict of names and values: {"softcap": 30.0, "document": ids}.
        See kaio.torch.SCORES
    return_lse: also returns ln of the sum of exp(score): (B, Hq, Sq), f32, -inf for a row without keys
    batch_invariant: the bits of a sequence do not depend on the other sequences of the call
    precision: of f32: "ieee", "tf32"

    Under torch.autocast q, k and v are taken in its type.

    Returns out, (B, Sq, Hq, Dv), elements of q; with return_lse: (out, lse). A row without keys is zero, as are its gradients.
    Raises kaio.InvalidArgument or ValueError, which name the argument; TypeError.
    """
    if score is not None:
        terms = {
            "causal": causal,
            "window": window,
            "softcap": softcap,
            "alibi": alibi,
            "bias": bias,
            "keep": keep,
            "block_mask": block_mask,
        }
        causal, window, softcap, alibi, bias, keep, block_mask = apply_scores(score, terms, q, k)
    if any_autocast():
        q, k, v = autocast(q, k, v)
    options = options_of("attention", scale, softcap, causal, window, precision, batch_invariant)
    blocks = NO_BLOCKS
    if block_mask is not None:
        has_band = options.causal != "none" or options.window_left != -1 or options.window_right != -1
        blocks, kept = blocks_of(block_mask, q.shape[1], k.shape[1], has_band)
        if kept is not None:
            keep = kept if keep is None else kept & keep.bool()
        elif bias is not None or keep is not None:  # the kernels read none of them next to lists
            options, keep = without_blocks(blocks, options, keep, q.shape[1], k.shape[1])
            blocks = NO_BLOCKS
    q, k, v = rows(q), rows(k), rows(v)
    if needs_gradient(q, k, v, bias, sinks):
        if is_compiling():
            q, k, v, bias, keep, alibi, sinks, *lists = distinct(q, k, v, bias, keep, alibi, sinks, *blocks[:4])
            blocks = Blocks(lists[0], lists[1], lists[2], lists[3], blocks.block_queries, blocks.block_keys)
        return _Attention.apply(q, k, v, bias, keep, alibi, sinks, *blocks, *options, return_lse)
    out, lse = forward(q, k, v, bias, keep, alibi, sinks, blocks, options, return_lse)
    return (out, lse) if return_lse else out


class _AttentionVarlen(torch.autograd.Function):
    """out, and lse if it is asked for, of packed sequences."""

    @staticmethod
    def forward(ctx: Any, q: Any, k: Any, v: Any, cu_q: Any, cu_k: Any, max_q: int, max_k: int, used_q: Any, used_k: Any,
                alibi: Any, sinks: Any, scale: Any, softcap: float, causal: str, window_left: int, window_right: int,
                precision: str, batch_invariant: bool, return_lse: bool) -> Any:  # fmt: skip
        options = Options(scale, softcap, causal, window_left, window_right, precision, batch_invariant)
        out, lse = forward_varlen(q, k, v, Sequences(cu_q, cu_k, max_q, max_k, used_q, used_k), alibi, sinks, options, True)
        ctx.save_for_backward(q, k, v, out, lse, cu_q, cu_k, used_q, used_k, alibi, sinks)
        ctx.longest = (max_q, max_k)
        ctx.options = (scale, softcap, causal, window_left, window_right, precision, batch_invariant)
        return (out, lse) if return_lse else out

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, dout: Any, dlse: Any = None) -> Any:
        q, k, v, out, lse, cu_q, cu_k, used_q, used_k, alibi, sinks = ctx.saved_tensors
        max_q, max_k = ctx.longest
        need = ctx.needs_input_grad
        needs = (need[0], need[1], need[2], sinks is not None and need[10])
        sequences = Sequences(cu_q, cu_k, max_q, max_k, used_q, used_k)
        found = backward_varlen(
            rows(dout.to(q.dtype)), q, k, v, out, lse, dlse, sequences, alibi, sinks, Options(*ctx.options), needs
        )
        dq, dk, dv, dsinks = (g if n else None for g, n in zip(found, needs))
        return (dq, dk, dv, *(None,) * 7, dsinks, *(None,) * 8)


_NAMES_VARLEN = {
    "cu_k": "cu_seqlens_k", "cu_q": "cu_seqlens_q", "max_k": "max_seqlen_k", "max_q": "max_seqlen_q", "used_k": "seqused_k",
    "used_q": "seqused_q",
}  # fmt: skip


@renamed(_NAMES_VARLEN)
def attention_varlen(
    q: Tensor, k: Tensor, v: Tensor, *, cu_seqlens_q: Tensor, cu_seqlens_k: Tensor, max_seqlen_q: int, max_seqlen_k: int = 0,
    seqused_q: Tensor | None = None, seqused_k: Tensor | None = None, causal: bool | str | None = None,
    window: Sequence[int | None] | None = (-1, -1), softcap: float = 0.0, scale: float | None = None, alibi: Tensor | None = None,
    sinks: Tensor | None = None, return_lse: bool = False, batch_invariant: bool = False, precision: str = "ieee",
) -> Any:  # fmt: skip
    """attention of sequences of different lengths, whose rows follow each other, with gradients of q, k, v and sinks.

    q: (rows, Hq, D), f32, f16 or bf16
    k: (rows of k, Hkv, D)
    v: (rows of k, Hkv, Dv)
    cu_seqlens_q: (sequences + 1), i32, from 0 on: sequence b has rows cu_seqlens_q[b] to before cu_seqlens_q[b + 1]
    cu_seqlens_k: likewise, of k and v
    max_seqlen_q: at least the rows of the longest sequence of q
    max_seqlen_k: likewise, of k, for gradients; 0: all rows of k
    seqused_q: (sequences), i32: the used rows of each; None: all. Other rows of out are then zero, and of lse -inf
    seqused_k: likewise, of k and v
    Other arguments are those of attention. Masks and windows are aligned in each sequence by its own lengths. The host reads
    no lengths: a captured call may be replayed with others.

    Returns out, (rows, Hq, Dv); with return_lse: (out, lse), lse (Hq, rows), f32. Rows of no sequence are undefined; their
    gradients are zero.
    Raises kaio.InvalidArgument or ValueError, which name the argument; TypeError.
    """
    if any_autocast():
        q, k, v = autocast(q, k, v)
    options = options_of("attention_varlen", scale, softcap, causal, window, precision, batch_invariant)
    q, k, v = rows(q), rows(k), rows(v)
    sequences = Sequences(cu_seqlens_q, cu_seqlens_k, max_seqlen_q, max_seqlen_k, seqused_q, seqused_k)
    if needs_gradient(q, k, v, sinks):
        if is_compiling():
            q, k, v, alibi, sinks, *lists = distinct(q, k, v, alibi, sinks, cu_seqlens_q, cu_seqlens_k, seqused_q, seqused_k)
            sequences = Sequences(lists[0], lists[1], max_seqlen_q, max_seqlen_k, lists[2], lists[3])
        return _AttentionVarlen.apply(q, k, v, *sequences, alibi, sinks, *options, return_lse)
    out, lse = forward_varlen(q, k, v, sequences, alibi, sinks, options, return_lse)
    return (out, lse) if return_lse else out
