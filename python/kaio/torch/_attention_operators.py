"""Attention as operators of torch: forward and backward, of dense tensors and of packed sequences.

An operator takes tensors, then the fields of `Options` in their order. kaio.torch.attention has the gradients around them.
"""

from __future__ import annotations

import inspect
from typing import Any, Callable, NamedTuple, Sequence

import torch

from .. import _core, operations
from ._library import define, is_direct, refuse_vmap

Tensor = torch.Tensor


class Options(NamedTuple):
    """What a call of attention has besides tensors. See kaio.attention."""

    scale: float | None = None
    softcap: float = 0.0
    causal: str = "none"
    window_left: int = -1
    window_right: int = -1
    precision: str = "ieee"
    batch_invariant: bool = False


class Sequences(NamedTuple):
    """Where the sequences of packed tensors are. See kaio.attention_varlen."""

    cu_q: Any
    cu_k: Any
    max_q: int
    max_k: int
    used_q: Any = None
    used_k: Any = None


class Blocks(NamedTuple):
    """The lists of a block mask. See kaio.BlockMask."""

    kv_num_blocks: Any = None
    kv_indices: Any = None
    full_kv_num_blocks: Any = None
    full_kv_indices: Any = None
    block_queries: int = 128
    block_keys: int = 128


NO_BLOCKS = Blocks()

_OPTIONS = (
    "float? scale=None, float softcap=0.0, str causal=\"none\", SymInt window_left=-1, SymInt window_right=-1, "
    "str precision=\"ieee\", bool batch_invariant=False"
)  # fmt: skip
_TERMS = "Tensor? bias=None, Tensor? keep=None, Tensor? alibi=None, Tensor? sinks=None"
_SEQUENCES = "Tensor cu_q, Tensor cu_k, SymInt max_q, SymInt max_k, Tensor? used_q=None, Tensor? used_k=None"
_BLOCKS = (
    "Tensor? kv_num_blocks=None, Tensor? kv_indices=None, Tensor? full_kv_num_blocks=None, Tensor? full_kv_indices=None, "
    "SymInt block_queries=128, SymInt block_keys=128"
)


def rows(t: Tensor) -> Tensor:
    """The tensor with adjacent elements of a head, which every kernel needs."""
    return t if t.dim() == 0 or t.stride(-1) == 1 else t.clone(memory_format=torch.contiguous_format)


_empty: Callable[[Tensor, Sequence[int], str | None], Tensor] = _core.empty
_native = _core.operation("attention")
_native_varlen = _core.operation("attention_varlen")


def arguments_of(kernel: Callable[..., Any], given: Sequence[Any], keywords: dict[str, Any], *names: str) -> list[Any]:
    """Some arguments of a call of a kernel, by their names."""
    bound = inspect.signature(kernel).bind(*given, **keywords)
    bound.apply_defaults()
    return [bound.arguments[name] for name in names]


def _forward_options(o: tuple[Any, ...], bias: Any, keep: Any, alibi: Any, sinks: Any) -> Any:
    """The options of the forward as attention_backward takes them: the fields of kaio_attention_options in their order."""
    scale, softcap, causal, window_left, window_right, precision, batch_invariant = o
    return (
        scale,
        softcap,
        causal,
        precision,
        batch_invariant,
        window_left,
        window_right,
        alibi,
        bias,
        keep,
        sinks,
        None,
        None,
        None,
    )


# Dense tensors: (batches, sequence, heads, head size).


def run(
    q: Tensor, k: Tensor, v: Tensor, bias: Any = None, keep: Any = None, alibi: Any = None, sinks: Any = None,
    kv_num_blocks: Any = None, kv_indices: Any = None, full_kv_num_blocks: Any = None, full_kv_indices: Any = None,
    block_queries: int = 128, block_keys: int = 128,
    scale: float | None = None, softcap: float = 0.0, causal: str = "none", window_left: int = -1, window_right: int = -1,
    precision: str = "ieee", batch_invariant: bool = False, with_lse: bool = True, out: Tensor | None = None,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    _need_dimensions("attention", 4, q, k, v)
    batches, queries, heads, _ = q.shape
    if out is None:
        out = _empty(q, (batches, queries, heads, v.shape[-1]), None)
    lse = _empty(q, (batches, heads, queries) if with_lse else (0,), "f32")
    blocks = None
    if kv_num_blocks is not None:
        blocks = operations.BlockMask(
            block_queries=block_queries, block_keys=block_keys, kv_num_blocks=kv_num_blocks, kv_indices=kv_indices,
            full_kv_num_blocks=full_kv_num_blocks, full_kv_indices=full_kv_indices,
        )  # fmt: skip
    options = (scale, softcap, causal, precision, batch_invariant, window_left, window_right, alibi, bias, keep, sinks,
               lse if with_lse else None, blocks)  # fmt: skip
    _native(..., q, k, v, out, options)
    return out, lse


def _need_dimensions(name: str, dimensions: int, q: Tensor, k: Tensor, v: Tensor) -> None:
    if q.dim() == k.dim() == v.dim() == dimensions:
        return
    for letter, t in (("q", q), ("k", k), ("v", v)):
        if t.dim() != dimensions:
            shape = "(batches, sequence, heads, head size)" if dimensions == 4 else "(rows, heads, head size)"
            raise ValueError(f"kaio: {name}: argument {letter} has {t.dim()} dimensions; it has {dimensions}: {shape}")


def _fake(*given: Any, **keywords: Any) -> tuple[Tensor, Tensor]:
    q, k, v, with_lse = arguments_of(run, given, keywords, "q", "k", "v", "with_lse")
    _need_dimensions("attention", 4, q, k, v)
    lse = (q.shape[0], q.shape[2], q.shape[1]) if with_lse else (0,)
    return q.new_empty((*q.shape[:-1], v.shape[-1])), q.new_empty(lse, dtype=torch.float32)


_operator = define(
    f"attention(Tensor q, Tensor k, Tensor v, {_TERMS}, {_BLOCKS}, {_OPTIONS}, bool with_lse=True) -> (Tensor, Tensor)",
    run,
    _fake,
)
refuse_vmap("attention")


def forward(q: Tensor, k: Tensor, v: Tensor, bias: Any, keep: Any, alibi: Any, sinks: Any, blocks: Blocks, options: Options,
            with_lse: bool) -> tuple[Tensor, Tensor]:  # fmt: skip
    direct = is_direct(q, k, v, bias, keep, alibi, sinks, *blocks[:4])
    call: Callable[..., Any] = run if direct else _operator
    found: tuple[Tensor, Tensor] = call(q, k, v, bias, keep, alibi, sinks, *blocks, *options, with_lse)
    return found


def _gradients(needs: Sequence[bool], q: Tensor, *others: Tensor | None) -> list[Tensor]:
    """Memory for gradients with the shapes of tensors; empty tensors for those that are not needed."""
    return [
        torch.empty_like(t) if t is not None and need else torch.empty(0, device=q.device, dtype=q.dtype)
        for t, need in zip((q, *others), needs)
    ]


def _wanted(t: Tensor, need: bool, given: Any = True) -> Any:
    return t if need and given is not None else None


def run_backward(
    dout: Tensor, q: Tensor, k: Tensor, v: Tensor, out: Tensor, lse: Tensor, dlse: Any = None, bias: Any = None, keep: Any = None,
    alibi: Any = None, sinks: Any = None, scale: float | None = None, softcap: float = 0.0, causal: str = "none",
    window_left: int = -1, window_right: int = -1, precision: str = "ieee", batch_invariant: bool = False,
    needs: Sequence[bool] = (True, True, True, True, True),
) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:  # fmt: skip
    dq, dk, dv, dbias, dsinks = _gradients(needs, q, k, v, bias, sinks)
    options = (scale, softcap, causal, window_left, window_right, precision, batch_invariant)
    operations.attention_backward(
        dout, q, k, v, out, lse, needs[0] and dq, needs[1] and dk, needs[2] and dv,
        forward=_forward_options(options, bias, keep, alibi, sinks),
        dlse=dlse, dbias=_wanted(dbias, needs[3], bias), dsinks=_wanted(dsinks, needs[4], sinks), stream=...,
    )  # fmt: skip
    return dq, dk, dv, dbias, dsinks


def _fake_backward(*given: Any, **keywords: Any) -> Any:
    needs, *of = arguments_of(run_backward, given, keywords, "needs", "q", "k", "v", "bias", "sinks")
    return tuple(_gradients(needs, *of))


_operator_backward = define(
    "attention_backward(Tensor dout, Tensor q, Tensor k, Tensor v, Tensor out, Tensor lse, Tensor? dlse=None, "
    f"{_TERMS}, {_OPTIONS}, bool[] needs=[True, True, True, True, True]) -> (Tensor, Tensor, Tensor, Tensor, Tensor)",
    run_backward,
    _fake_backward,
)
refuse_vmap("attention_backward")


def backward(dout: Tensor, q: Tensor, k: Tensor, v: Tensor, out: Tensor, lse: Tensor, dlse: Any, bias: Any, keep: Any, alibi: Any,
             sinks: Any, options: Options, needs: Sequence[bool]) -> tuple[Tensor, ...]:  # fmt: skip
    direct = is_direct(dout, q, k, v, out, lse, dlse, bias, keep, alibi, sinks)
    call: Callable[..., Any] = run_backward if direct else _operator_backward
    found: tuple[Tensor, ...] = call(dout, q, k, v, out, lse, dlse, bias, keep, alibi, sinks, *options, list(needs))
    return found


# Packed sequences: (rows of all sequences, heads, head size).


def run_varlen(
    q: Tensor, k: Tensor, v: Tensor, cu_q: Tensor, cu_k: Tensor, max_q: int, max_k: int, used_q: Any = None, used_k: Any = None,
    alibi: Any = None, sinks: Any = None, scale: float | None = None, softcap: float = 0.0, causal: str = "none",
    window_left: int = -1, window_right: int = -1, precision: str = "ieee", batch_invariant: bool = False,
    with_lse: bool = True, out: Tensor | None = None,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    _need_dimensions("attention_varlen", 3, q, k, v)
    count, heads, _ = q.shape
    if out is None:
        out = _empty(q, (count, heads, v.shape[-1]), None)
    lse = _empty(q, (heads, count) if with_lse else (0,), "f32")
    if used_q is not None:  # the kernel does not write rows that are not used
        out.zero_()
        lse.fill_(float("-inf"))
    options = (scale, softcap, causal, precision, batch_invariant, window_left, window_right, alibi, None, None, sinks,
               lse if with_lse else None)  # fmt: skip
    _native_varlen(..., q, k, v, out, (cu_q, cu_k, max_q, max_k, used_q, used_k), options)
    return out, lse


def _fake_varlen(*given: Any, **keywords: Any) -> tuple[Tensor, Tensor]:
    q, k, v, with_lse = arguments_of(run_varlen, given, keywords, "q", "k", "v", "with_lse")
    _need_dimensions("attention_varlen", 3, q, k, v)
    lse = (q.shape[1], q.shape[0]) if with_lse else (0,)
    return q.new_empty((*q.shape[:-1], v.shape[-1])), q.new_empty(lse, dtype=torch.float32)


_operator_varlen = define(
    f"attention_varlen(Tensor q, Tensor k, Tensor v, {_SEQUENCES}, Tensor? alibi=None, Tensor? sinks=None, {_OPTIONS}, "
    "bool with_lse=True) -> (Tensor, Tensor)",
    run_varlen,
    _fake_varlen,
)
refuse_vmap("attention_varlen")


def forward_varlen(q: Tensor, k: Tensor, v: Tensor, sequences: Sequences, alibi: Any, sinks: Any, options: Options,
                   with_lse: bool) -> tuple[Tensor, Tensor]:  # fmt: skip
    cu_q, cu_k, _, _, used_q, used_k = sequences
    call: Callable[..., Any] = run_varlen if is_direct(q, k, v, cu_q, cu_k, used_q, used_k, alibi, sinks) else _operator_varlen
    found: tuple[Tensor, Tensor] = call(q, k, v, *sequences, alibi, sinks, *options, with_lse)
    return found


def run_backward_varlen(
    dout: Tensor, q: Tensor, k: Tensor, v: Tensor, out: Tensor, lse: Tensor, dlse: Any, cu_q: Tensor, cu_k: Tensor, max_q: int,
    max_k: int, used_q: Any = None, used_k: Any = None, alibi: Any = None, sinks: Any = None, scale: float | None = None,
    softcap: float = 0.0, causal: str = "none", window_left: int = -1, window_right: int = -1, precision: str = "ieee",
    batch_invariant: bool = False, needs: Sequence[bool] = (True, True, True, True),
) -> tuple[Tensor, Tensor, Tensor, Tensor]:  # fmt: skip
    dq, dk, dv, dsinks = _gradients(needs, q, k, v, sinks)
    for gradient in (dq, dk, dv):  # the kernels write no rows outside of sequences
        gradient.zero_()
    options = (scale, softcap, causal, window_left, window_right, precision, batch_invariant)
    operations.attention_backward_varlen(
        dout, q, k, v, out, lse, needs[0] and dq, needs[1] and dk, needs[2] and dv,
        cu_q=cu_q, cu_k=cu_k, max_q=max_q, max_k=max_k, used_q=used_q, used_k=used_k,
        forward=_forward_options(options, None, None, alibi, sinks),
        dlse=dlse, dsinks=_wanted(dsinks, needs[3], sinks), stream=...,
    )  # fmt: skip
    return dq, dk, dv, dsinks


def _fake_backward_varlen(*given: Any, **keywords: Any) -> Any:
    needs, *of = arguments_of(run_backward_varlen, given, keywords, "needs", "q", "k", "v", "sinks")
    return tuple(_gradients(needs, *of))


_operator_backward_varlen = define(
    "attention_backward_varlen(Tensor dout, Tensor q, Tensor k, Tensor v, Tensor out, Tensor lse, Tensor? dlse, "
    f"{_SEQUENCES}, Tensor? alibi=None, Tensor? sinks=None, {_OPTIONS}, bool[] needs=[True, True, True, True]) "
    "-> (Tensor, Tensor, Tensor, Tensor)",
    run_backward_varlen,
    _fake_backward_varlen,
)
refuse_vmap("attention_backward_varlen")


def backward_varlen(dout: Tensor, q: Tensor, k: Tensor, v: Tensor, out: Tensor, lse: Tensor, dlse: Any, sequences: Sequences,
                    alibi: Any, sinks: Any, options: Options, needs: Sequence[bool]) -> tuple[Tensor, ...]:  # fmt: skip
    cu_q, cu_k, _, _, used_q, used_k = sequences
    direct = is_direct(dout, q, k, v, out, lse, dlse, cu_q, cu_k, used_q, used_k, alibi, sinks)
    call: Callable[..., Any] = run_backward_varlen if direct else _operator_backward_varlen
    found: tuple[Tensor, ...] = call(dout, q, k, v, out, lse, dlse, *sequences, alibi, sinks, *options, list(needs))
    return found
