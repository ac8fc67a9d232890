"""Products of groups of rows with packed weights and with codes of 8 bits, for torch. They have no gradients."""

from __future__ import annotations

from typing import Any, Sequence

import torch

from .. import operations
from .._packed import layout_of
from ._experts import RoutedTokens
from ._library import define, is_direct, needs_gradient, refuse_vmap
from ._quant_ops import W4_FIELDS, _memory_of, rows_of


def _call(name: str, run: Any, operator: Any, tensors: tuple[Any, ...], arguments: tuple[Any, ...]) -> torch.Tensor:
    if needs_gradient(*tensors):
        raise ValueError(f"kaio: {name} has no gradient; call it under torch.no_grad(), or detach its arguments")
    made: torch.Tensor = (run if is_direct(*tensors) else operator)(*arguments)
    return made


_GATES = ("silu", "gelu", "gelu_tanh", "relu")


def _gate_of(name: str, gate: str | None) -> str:
    if gate is not None and gate not in _GATES:
        known = ", ".join(map(repr, _GATES))
        raise ValueError(f"kaio: {name}: argument gate is {gate!r}; it has to be None or one of {known}")
    return gate or "none"


def _columns(gate: str, n: int) -> int:
    return n if gate == "none" else n // 2


def _rows(x: torch.Tensor, rows: torch.Tensor | None) -> int:
    return (x if rows is None else rows).shape[0]


# ---- Packed weights


def _run_packed(
    x: torch.Tensor, memory: torch.Tensor, layout: Sequence[int], offsets: torch.Tensor, rows: torch.Tensor | None,
    bias: torch.Tensor | None, gate: Any, alpha: float, limit: float, up_offset: float, dtype: torch.dtype,
) -> torch.Tensor:  # fmt: skip
    out = torch.empty((_rows(x, rows), _columns(gate, layout[1])), dtype=dtype, device=x.device)
    product: Any = operations.matmul_w4_grouped if len(layout) == W4_FIELDS else operations.matmul_w8_grouped
    product(
        rows_of(x), (*layout, memory), offsets, out, rows=rows, bias=bias, gate=gate, alpha=alpha, limit=limit, up_offset=up_offset
    )
    return out


_packed = define(
    "matmul_packed_grouped(Tensor x, Tensor memory, int[] layout, Tensor offsets, Tensor? rows, Tensor? bias, str gate, float alpha, "
    "float limit, float up_offset, ScalarType dtype) -> Tensor",
    _run_packed,
    lambda x, memory, layout, offsets, rows, bias, gate, alpha, limit, up_offset, dtype: x.new_empty(
        (_rows(x, rows), _columns(gate, layout[1])), dtype=dtype
    ),
)


def _packed_grouped(
    name: str, kind: type, x: torch.Tensor, weights: Any, offsets: torch.Tensor, gather: RoutedTokens | None,
    bias: torch.Tensor | None, gate: str | None, numbers: tuple[float, float, float], dtype: torch.dtype | None,
) -> torch.Tensor:  # fmt: skip
    memory = _memory_of(name, weights, kind)
    if x.dim() != 2:
        raise ValueError(f"kaio: {name}: argument x is {tuple(x.shape)}; it has to be (rows, k)")
    bias = None if bias is None else bias.to(x.dtype).contiguous()
    rows = None if gather is None else gather.tokens
    arguments = (x, memory, layout_of(weights), offsets, rows, bias, _gate_of(name, gate), *numbers, dtype or x.dtype)
    return _call(name, _run_packed, _packed, (x, memory, offsets, rows, bias), arguments)


def matmul_w4_grouped(
    x: torch.Tensor, weights: operations.W4Weights, offsets: torch.Tensor, *, gather: RoutedTokens | None = None,
    bias: torch.Tensor | None = None, gate: str | None = None, alpha: float = 1.0, limit: float = 0.0, up_offset: float = 0.0,
    dtype: torch.dtype | None = None,
) -> torch.Tensor:  # fmt: skip
    """x[r] * W[g]^T + bias[g] for the group g with offsets[g] <= r < offsets[g + 1], with weights of four bits. No gradient.

    x: (rows, k), f16 or bf16
    weights: n and k of a group; memory is a tensor with the packed weights of each group, one after the other
    offsets: (groups + 1), i32, not decreasing; read on the device alone
    gather: x is (tokens, k), and row r is its row gather.tokens[r]
    bias: (groups, n); it is rounded to the type of x
    gate: "silu", "gelu", "gelu_tanh" or "relu": even columns of W are gates and odd ones their values, as gpt-oss has them;
        the result is gate(min(y[2 j], limit)) * (clamp(y[2 j + 1], -limit, limit) + up_offset)
    alpha: of silu, x / (1 + exp(-alpha x))
    limit, up_offset: 0: no limit; 0
    dtype: of the result: that of x, or f32; None: that of x
    Returns (rows, n), with a gate (rows, n / 2). Rows of no group hold any numbers.
    Raises ValueError and kaio.InvalidArgument, which name the argument.
    """
    numbers = (alpha, limit, up_offset)
    return _packed_grouped("matmul_w4_grouped", operations.W4Weights, x, weights, offsets, gather, bias, gate, numbers, dtype)


def matmul_w8_grouped(
    x: torch.Tensor, weights: operations.W8Weights, offsets: torch.Tensor, *, gather: RoutedTokens | None = None,
    bias: torch.Tensor | None = None, gate: str | None = None, alpha: float = 1.0, limit: float = 0.0, up_offset: float = 0.0,
    dtype: torch.dtype | None = None,
) -> torch.Tensor:  # fmt: skip
    """As matmul_w4_grouped, with weights of eight bits."""
    numbers = (alpha, limit, up_offset)
    return _packed_grouped("matmul_w8_grouped", operations.W8Weights, x, weights, offsets, gather, bias, gate, numbers, dtype)


# ---- Codes of 8 bits


def _run_fp8(
    a: torch.Tensor, b: torch.Tensor, offsets: torch.Tensor, rows: Any, scale_a: Any, scale_b: Any, groups_a: Any, blocks_b: Any,
    bias: Any, gate: Any, alpha: float, limit: float, up_offset: float, dtype: torch.dtype,
) -> torch.Tensor:  # fmt: skip
    out = torch.empty((_rows(a, rows), _columns(gate, b.shape[2])), dtype=dtype, device=a.device)
    operations.matmul_fp8_grouped(a, b, offsets, out, rows=rows, scale_a=scale_a, scale_b=scale_b, groups_a=groups_a, blocks_b=blocks_b,
                                  bias=bias, gate=gate, alpha=alpha, limit=limit, up_offset=up_offset)  # fmt: skip
    return out


def _run_int8(
    a: torch.Tensor, b: torch.Tensor, offsets: torch.Tensor, rows: Any, scale_a: Any, scale_b: Any, zero_a: Any, column_sums: Any,
    bias: Any, gate: Any, alpha: float, limit: float, up_offset: float, dtype: torch.dtype,
) -> torch.Tensor:  # fmt: skip
    out = torch.empty((_rows(a, rows), _columns(gate, b.shape[2])), dtype=dtype, device=a.device)
    operations.matmul_int8_grouped(a, b, offsets, out, rows=rows, scale_a=scale_a, scale_b=scale_b, zero_a=zero_a,
                                   column_sums=column_sums, bias=bias, gate=gate, alpha=alpha, limit=limit,
                                   up_offset=up_offset)  # fmt: skip
    return out


def _fake(a: Any, b: Any, offsets: Any, rows: Any, *others: Any) -> torch.Tensor:
    made: torch.Tensor = a.new_empty((_rows(a, rows), _columns(others[-5], b.shape[2])), dtype=others[-1])
    return made


_OF_GATE = "Tensor? bias, str gate, float alpha, float limit, float up_offset, ScalarType dtype) -> Tensor"
_fp8 = define(
    "matmul_fp8_grouped(Tensor a, Tensor b, Tensor offsets, Tensor? rows, Tensor? scale_a, Tensor? scale_b, Tensor? groups_a, "
    "Tensor? blocks_b, " + _OF_GATE,
    _run_fp8,
    _fake,
)
_int8 = define(
    "matmul_int8_grouped(Tensor a, Tensor b, Tensor offsets, Tensor? rows, Tensor? scale_a, Tensor? scale_b, Tensor? zero_a, "
    "Tensor? column_sums, " + _OF_GATE,
    _run_int8,
    _fake,
)
for _name in ("matmul_packed_grouped", "matmul_fp8_grouped", "matmul_int8_grouped"):
    refuse_vmap(_name)


def _need_ranks(name: str, a: torch.Tensor, b: torch.Tensor) -> None:
    for argument, t, rank, shape in (("a", a, 2, "(rows, k)"), ("b", b, 3, "(groups, k, n)")):
        if t.dim() != rank:
            raise ValueError(f"kaio: {name}: argument {argument} is {tuple(t.shape)}; it has to be {shape}")


def matmul_fp8_grouped(
    a: torch.Tensor, b: torch.Tensor, offsets: torch.Tensor, *, gather: RoutedTokens | None = None,
    scale_a: torch.Tensor | None = None, scale_b: torch.Tensor | None = None, groups_a: torch.Tensor | None = None,
    blocks_b: torch.Tensor | None = None, bias: torch.Tensor | None = None, gate: str | None = None, alpha: float = 1.0,
    limit: float = 0.0, up_offset: float = 0.0, dtype: torch.dtype = torch.bfloat16,
) -> torch.Tensor:  # fmt: skip
    """scale_a[r] * scale_b[g] * (a[r] * b[g]) + bias[g] for the group g with offsets[g] <= r < offsets[g + 1]. No gradient.

    a: (rows, k), e4m3 or e5m2
    b: (groups, k, n), e4m3 or e5m2; weights (groups, n, k) are `weight.mT`
    offsets: (groups + 1), i32, not decreasing; read on the device alone
    gather: a is (tokens, k), and row r is its row gather.tokens[r]; scale_a and groups_a have a number for each token
    scale_a: (rows) or (1); scale_b: (groups, n) or (groups, 1)
    groups_a: (rows, ceil(k / 128)), f32, and blocks_b: (groups, ceil(k / 128), ceil(n / 128)), f32, as of matmul_fp8
    bias: (groups, n)
    gate: "silu", "gelu", "gelu_tanh" or "relu": columns 8 i to 8 i + 3 of b are gates and the next four their values; the
        result 4 i + j is gate(min(y[8 i + j], limit)) * (clamp(y[8 i + 4 + j], -limit, limit) + up_offset). n / 2 is a multiple
        of 4; with blocks_b, which are of the weights with all gates first, of 64
    alpha: of silu, x / (1 + exp(-alpha x))
    limit, up_offset: 0: no limit; 0
    dtype: of the result: bf16, f16 or f32
    Returns (rows, n), with a gate (rows, n / 2). Rows of no group hold any numbers.
    Raises ValueError and kaio.InvalidArgument, which name the argument.
    """
    _need_ranks("matmul_fp8_grouped", a, b)
    rows = None if gather is None else gather.tokens
    tensors = (a, b, offsets, rows, scale_a, scale_b, groups_a, blocks_b, bias)
    numbers = (_gate_of("matmul_fp8_grouped", gate), alpha, limit, up_offset, dtype)
    return _call("matmul_fp8_grouped", _run_fp8, _fp8, tensors, (*tensors, *numbers))


def matmul_int8_grouped(
    a: torch.Tensor, b: torch.Tensor, offsets: torch.Tensor, *, gather: RoutedTokens | None = None,
    scale_a: torch.Tensor | None = None, scale_b: torch.Tensor | None = None, zero_a: torch.Tensor | None = None,
    column_sums: torch.Tensor | None = None, bias: torch.Tensor | None = None, gate: str | None = None, alpha: float = 1.0,
    limit: float = 0.0, up_offset: float = 0.0, dtype: torch.dtype = torch.int32,
) -> torch.Tensor:  # fmt: skip
    """As matmul_fp8_grouped, with a and b of i8.

    zero_a, column_sums: zero points of the rows of a, (rows) or (1), i32, and the sums of b's columns, (groups, n), i32
    dtype: i32, the sums without scales, bias and gate, or bf16, f16, f32
    """
    _need_ranks("matmul_int8_grouped", a, b)
    rows = None if gather is None else gather.tokens
    tensors = (a, b, offsets, rows, scale_a, scale_b, zero_a, column_sums, bias)
    numbers = (_gate_of("matmul_int8_grouped", gate), alpha, limit, up_offset, dtype)
    return _call("matmul_int8_grouped", _run_int8, _int8, tensors, (*tensors, *numbers))
