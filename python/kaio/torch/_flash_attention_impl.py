"""kaio in place of torch's FlashAttention: for scaled_dot_product_attention, varlen_attn, context_parallel and what calls them.

    kaio.torch.register_flash_attention_impl()
    torch.nn.attention.activate_flash_attention_impl("KAIO")
    torch.nn.attention.restore_flash_attention_impl()      # torch's own again

The functions below are kernels of aten operators; autograd and fake tensors are torch's.
"""

from __future__ import annotations

import math
from typing import Any, Iterable

import torch

from ._attention_decode import run_reading
from ._attention_operators import rows, run, run_backward, run_backward_varlen, run_varlen

Tensor = torch.Tensor


def _refuse(what: str) -> RuntimeError:
    return RuntimeError(f"kaio: flash attention: {what}")


def _band(is_causal: bool, left: Any, right: Any) -> tuple[str, int, int]:
    return "bottom_right" if is_causal else "none", -1 if left is None else left, -1 if right is None else right


def _check(dropout_p: float, return_debug_mask: bool = False) -> None:
    if dropout_p != 0:
        raise _refuse("argument dropout_p is not 0; kaio has no dropout in attention")
    if return_debug_mask:
        raise _refuse("argument return_debug_mask is True; there is no such mask without dropout")


def _auxiliary(query: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """rng_state, the Philox offset and the debug mask of a call without dropout."""
    state = torch.zeros(2, dtype=torch.uint64, device=query.device)
    offset = torch.zeros((), dtype=torch.uint64, device=query.device)
    return state, offset, torch.empty(0, dtype=query.dtype, device=query.device)


def _out(query: Tensor, value: Tensor) -> Tensor:
    """Memory for the result with the query's order of dimensions, which the fakes of the aten operators promise."""
    shape = (*query.shape[:-1], value.shape[-1])
    if shape == tuple(query.shape):
        return torch.empty_like(query)
    order = sorted(range(query.dim()), key=lambda d: query.stride(d) or math.inf)
    strides, stride = [0] * query.dim(), 1
    for d in order:
        strides[d] = stride
        stride *= shape[d]
    return torch.empty_strided(shape, strides, dtype=query.dtype, device=query.device)


def _forward(query: Tensor, key: Tensor, value: Tensor, cum_seq_q: Tensor | None, cum_seq_k: Tensor | None, max_q: int,
             max_k: int, is_causal: bool, scale: float | None, left: Any, right: Any, used_k: Tensor | None, alibi: Tensor | None,
             table: Tensor | None, num_splits: int | None, out: Tensor | None) -> tuple[Tensor, Tensor]:  # fmt: skip
    causal, left, right = _band(is_causal, left, right)
    out = _out(query, value) if out is None else out
    query = rows(query)
    invariant = num_splits == 1  # as torch promises it; the splits are then not a choice
    splits = 0 if invariant else num_splits or 0
    if table is not None:
        if cum_seq_q is None:
            raise _refuse("argument block_table without cum_seq_q")
        if used_k is None:
            raise _refuse("argument block_table without seqused_k, the lengths of its sequences")
        return run_reading(
            query, key, value, table, used_k, cu_q=cum_seq_q, max_q=max_q, alibi=alibi, scale=scale, causal=causal,
            window_left=left, window_right=right, splits=splits, max_length=max_k, batch_invariant=invariant, out=out,
        )  # fmt: skip
    options: dict[str, Any] = dict(alibi=alibi, scale=scale, causal=causal, window_left=left, window_right=right,
                                   batch_invariant=invariant, out=out)  # fmt: skip
    key, value = rows(key), rows(value)
    if cum_seq_q is not None:
        if cum_seq_k is None:
            raise _refuse("argument cum_seq_q without cum_seq_k")
        return run_varlen(query, key, value, cum_seq_q, cum_seq_k, max_q, max_k, used_k=used_k, **options)
    if used_k is not None:
        # The used keys of each batch, as a cache without pages.
        return run_reading(query, key, value, None, used_k, splits=splits, **options)
    return run(query, key, value, **options)


def flash_attention_forward(
    query: Tensor, key: Tensor, value: Tensor, cum_seq_q: Tensor | None, cum_seq_k: Tensor | None, max_q: int, max_k: int,
    dropout_p: float, is_causal: bool, return_debug_mask: bool, *, scale: float | None = None,
    window_size_left: int | None = None, window_size_right: int | None = None, seqused_k: Tensor | None = None,
    alibi_slopes: Tensor | None = None, block_table: Tensor | None = None, num_splits: int | None = None,
) -> tuple[Tensor, ...]:  # fmt: skip
    """aten::_flash_attention_forward: (B, S, H, D), or (rows, H, D) with cum_seq_q. Causal masks are aligned bottom right."""
    _check(dropout_p, return_debug_mask)
    out, lse = _forward(query, key, value, cum_seq_q, cum_seq_k, max_q, max_k, is_causal, scale, window_size_left,
                        window_size_right, seqused_k, alibi_slopes, block_table, num_splits, None)  # fmt: skip
    return (out, lse, *_auxiliary(query))


def flash_attention_forward_inplace(
    out: Tensor, query: Tensor, key: Tensor, value: Tensor, cum_seq_q: Tensor | None, cum_seq_k: Tensor | None, max_q: int,
    max_k: int, dropout_p: float, is_causal: bool, return_debug_mask: bool, *, scale: float | None = None,
    window_size_left: int | None = None, window_size_right: int | None = None, seqused_k: Tensor | None = None,
    alibi_slopes: Tensor | None = None, block_table: Tensor | None = None, num_splits: int | None = None,
) -> Tensor:  # fmt: skip
    """aten::_flash_attention_forward_no_dropout_inplace: writes `out`, returns lse."""
    _check(dropout_p, return_debug_mask)
    return _forward(query, key, value, cum_seq_q, cum_seq_k, max_q, max_k, is_causal, scale, window_size_left, window_size_right,
                    seqused_k, alibi_slopes, block_table, num_splits, out)[1]  # fmt: skip


def flash_attention_backward(
    grad_out: Tensor, query: Tensor, key: Tensor, value: Tensor, out: Tensor, logsumexp: Tensor, cum_seq_q: Tensor | None,
    cum_seq_k: Tensor | None, max_q: int, max_k: int, dropout_p: float, is_causal: bool, rng_state: Any = None,
    unused: Any = None, *, scale: float | None = None, window_size_left: int | None = None, window_size_right: int | None = None,
) -> tuple[Tensor, Tensor, Tensor]:  # fmt: skip
    """aten::_flash_attention_backward."""
    _check(dropout_p)
    causal, left, right = _band(is_causal, window_size_left, window_size_right)
    grad_out, query, key, value, out = (rows(t) for t in (grad_out, query, key, value, out))
    options: dict[str, Any] = dict(scale=scale, causal=causal, window_left=left, window_right=right)
    if cum_seq_q is not None and cum_seq_k is not None:
        return run_backward_varlen(
            grad_out, query, key, value, out, logsumexp, None, cum_seq_q, cum_seq_k, max_q, max_k, **options
        )[:3]
    return run_backward(grad_out, query, key, value, out, logsumexp, needs=(True, True, True, False, False), **options)[:3]


def scaled_dot_product_flash_attention(
    query: Tensor, key: Tensor, value: Tensor, dropout_p: float = 0.0, is_causal: bool = False, return_debug_mask: bool = False,
    *, scale: float | None = None,
) -> tuple[Any, ...]:  # fmt: skip
    """aten::_scaled_dot_product_flash_attention: (B, H, S, D). With a causal mask torch gives as many queries as keys."""
    _check(dropout_p, return_debug_mask)
    q, k, v = (rows(t.transpose(1, 2)) for t in (query, key, value))
    out = _out(query, value)
    lse = run(q, k, v, scale=scale, causal="bottom_right" if is_causal else "none", out=out.transpose(1, 2))[1]
    return (out, lse, None, None, query.shape[2], key.shape[2], *_auxiliary(query))


def scaled_dot_product_flash_attention_backward(
    grad_out: Tensor, query: Tensor, key: Tensor, value: Tensor, out: Tensor, logsumexp: Tensor, cum_seq_q: Any, cum_seq_k: Any,
    max_q: int, max_k: int, dropout_p: float, is_causal: bool, philox_seed: Any = None, philox_offset: Any = None, *,
    scale: float | None = None,
) -> tuple[Tensor, Tensor, Tensor]:  # fmt: skip
    """aten::_scaled_dot_product_flash_attention_backward."""
    dout, q, k, v, o = (t.transpose(1, 2) for t in (grad_out, query, key, value, out))
    dq, dk, dv = flash_attention_backward(
        dout, q, k, v, o, logsumexp, None, None, max_q, max_k, dropout_p, is_causal, scale=scale
    )
    return dq.transpose(1, 2), dk.transpose(1, 2), dv.transpose(1, 2)


_KERNELS = {
    "_flash_attention_forward": flash_attention_forward,
    "_flash_attention_forward_no_dropout_inplace": flash_attention_forward_inplace,
    "_flash_attention_backward": flash_attention_backward,
    "_scaled_dot_product_flash_attention": scaled_dot_product_flash_attention,
    "_scaled_dot_product_flash_attention_backward": scaled_dot_product_flash_attention_backward,
}


class _Handle:
    """Keeps kaio's kernels in torch's dispatcher until it is removed."""

    def __init__(self, key: str, names: Iterable[str]) -> None:
        self.library: torch.library.Library | None = torch.library.Library("aten", "IMPL", key)  # type: ignore[no-untyped-call]
        for name in names:
            if hasattr(torch.ops.aten, name):  # newer versions of torch have more
                self.library.impl(name, _KERNELS[name], key)  # type: ignore[no-untyped-call]

    def remove(self) -> None:
        if self.library is not None:
            self.library._destroy()  # type: ignore[no-untyped-call]
        self.library = None


def activate() -> _Handle:
    """Puts kaio's kernels into torch's dispatcher, for tensors of a GPU. The result has remove(), which puts torch's back."""
    return _Handle("CUDA", _KERNELS)


def register_flash_attention_impl() -> None:
    """Makes torch.nn.attention.activate_flash_attention_impl("KAIO") known: torch's flash attention then runs kaio on GPUs.

    scaled_dot_product_attention, varlen_attn and all that call them use it, with gradients. Dropout raises RuntimeError.
    Raises NotImplementedError if this torch has no such registry (torch 2.11 and later have).
    """
    register = getattr(torch.nn.attention, "register_flash_attention_impl", None)
    if register is None:
        raise NotImplementedError(
            f"kaio: torch {torch.__version__} has no torch.nn.attention.register_flash_attention_impl; "
            "call kaio.torch.attention itself"
        )
    register("KAIO", register_fn=activate)
