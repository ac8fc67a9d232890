"""Products of groups of rows with packed weights and with codes of 8 bits, for torch. They have no gradients."""

from __future__ import annotations

from typing import Any, Sequence

import torch

from .. import operations
from .._packed import layout_of
from ._library import define, is_direct, needs_gradient, refuse_vmap
from ._quant_ops import W4_FIELDS, _memory_of, rows_of


def _call(name: str, run: Any, operator: Any, tensors: tuple[Any, ...], arguments: tuple[Any, ...]) -> torch.Tensor:
    if needs_gradient(*tensors):
        raise ValueError(f"kaio: {name} has no gradient; call it under torch.no_grad(), or detach its arguments")
    made: torch.Tensor = (run if is_direct(*tensors) else operator)(*arguments)
    return made


# ---- Packed weights


def _run_packed(
    x: torch.Tensor, memory: torch.Tensor, layout: Sequence[int], offsets: torch.Tensor, bias: torch.Tensor | None, dtype: torch.dtype
) -> torch.Tensor:
    out = torch.empty((x.shape[0], layout[1]), dtype=dtype, device=x.device)
    product: Any = operations.matmul_w4_grouped if len(layout) == W4_FIELDS else operations.matmul_w8_grouped
    product(rows_of(x), (*layout, memory), offsets, out, bias=bias)
    return out


_packed = define(
    "matmul_packed_grouped(Tensor x, Tensor memory, int[] layout, Tensor offsets, Tensor? bias, ScalarType dtype) -> Tensor",
    _run_packed,
    lambda x, memory, layout, offsets, bias, dtype: x.new_empty((x.shape[0], layout[1]), dtype=dtype),
)


def _packed_grouped(
    name: str, kind: type, x: torch.Tensor, weights: Any, offsets: torch.Tensor, bias: torch.Tensor | None, dtype: torch.dtype | None
) -> torch.Tensor:
    memory = _memory_of(name, weights, kind)
    if x.dim() != 2:
        raise ValueError(f"kaio: {name}: argument x is {tuple(x.shape)}; it has to be (rows, k)")
    bias = None if bias is None else bias.to(x.dtype).contiguous()
    arguments = (x, memory, layout_of(weights), offsets, bias, dtype or x.dtype)
    return _call(name, _run_packed, _packed, (x, memory, offsets, bias), arguments)


def matmul_w4_grouped(
    x: torch.Tensor, weights: operations.W4Weights, offsets: torch.Tensor, *, bias: torch.Tensor | None = None,
    dtype: torch.dtype | None = None,
) -> torch.Tensor:  # fmt: skip
    """x[r] * W[g]^T + bias[g] for the group g with offsets[g] <= r < offsets[g + 1], with weights of four bits. No gradient.

    x: (rows, k), f16 or bf16, such as gather_tokens makes them
    weights: n and k of a group; memory is a tensor with the packed weights of each group, one after the other
    offsets: (groups + 1), i32, not decreasing; read on the device alone
    bias: (groups, n); it is rounded to the type of x
    dtype: of the result: that of x, or f32; None: that of x
    Returns (rows, n). Rows of no group hold any numbers.
    Raises ValueError and kaio.InvalidArgument, which name the argument.
    """
    return _packed_grouped("matmul_w4_grouped", operations.W4Weights, x, weights, offsets, bias, dtype)


def matmul_w8_grouped(
    x: torch.Tensor, weights: operations.W8Weights, offsets: torch.Tensor, *, bias: torch.Tensor | None = None,
    dtype: torch.dtype | None = None,
) -> torch.Tensor:  # fmt: skip
    """As matmul_w4_grouped, with weights of eight bits."""
    return _packed_grouped("matmul_w8_grouped", operations.W8Weights, x, weights, offsets, bias, dtype)


# ---- Codes of 8 bits


def _run_fp8(
    a: torch.Tensor, b: torch.Tensor, offsets: torch.Tensor, scale_a: Any, scale_b: Any, groups_a: Any, blocks_b: Any, bias: Any,
    dtype: torch.dtype,
) -> torch.Tensor:  # fmt: skip
    out = torch.empty((a.shape[0], b.shape[2]), dtype=dtype, device=a.device)
    operations.matmul_fp8_grouped(a, b, offsets, out, scale_a=scale_a, scale_b=scale_b, groups_a=groups_a, blocks_b=blocks_b, bias=bias)
    return out


def _run_int8(
    a: torch.Tensor, b: torch.Tensor, offsets: torch.Tensor, scale_a: Any, scale_b: Any, bias: Any, dtype: torch.dtype
) -> torch.Tensor:
    out = torch.empty((a.shape[0], b.shape[2]), dtype=dtype, device=a.device)
    operations.matmul_int8_grouped(a, b, offsets, out, scale_a=scale_a, scale_b=scale_b, bias=bias)
    return out


def _fake(a: Any, b: Any, offsets: Any, *others: Any) -> torch.Tensor:
    made: torch.Tensor = a.new_empty((a.shape[0], b.shape[2]), dtype=others[-1])
    return made


_fp8 = define(
    "matmul_fp8_grouped(Tensor a, Tensor b, Tensor offsets, Tensor? scale_a, Tensor? scale_b, Tensor? groups_a, Tensor? blocks_b, "
    "Tensor? bias, ScalarType dtype) -> Tensor",
    _run_fp8,
    _fake,
)
_int8 = define(
    "matmul_int8_grouped(Tensor a, Tensor b, Tensor offsets, Tensor? scale_a, Tensor? scale_b, Tensor? bias, ScalarType dtype) -> Tensor",
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
    a: torch.Tensor, b: torch.Tensor, offsets: torch.Tensor, *, scale_a: torch.Tensor | None = None,
    scale_b: torch.Tensor | None = None, groups_a: torch.Tensor | None = None, blocks_b: torch.Tensor | None = None,
    bias: torch.Tensor | None = None, dtype: torch.dtype = torch.bfloat16,
) -> torch.Tensor:  # fmt: skip
    """scale_a[r] * scale_b[g] * (a[r] * b[g]) + bias[g] for the group g with offsets[g] <= r < offsets[g + 1]. No gradient.

    a: (rows, k), e4m3 or e5m2
    b: (groups, k, n), e4m3 or e5m2; weights (groups, n, k) are `weight.mT`
    offsets: (groups + 1), i32, not decreasing; read on the device alone
    scale_a: (rows) or (1); scale_b: (groups, n) or (groups, 1)
    groups_a: (rows, ceil(k / 128)), f32, and blocks_b: (groups, ceil(k / 128), ceil(n / 128)), f32, as of matmul_fp8
    bias: (groups, n)
    dtype: of the result: bf16, f16 or f32
    Returns (rows, n). Rows of no group hold any numbers.
    Raises ValueError and kaio.InvalidArgument, which name the argument.
    """
    _need_ranks("matmul_fp8_grouped", a, b)
    tensors = (a, b, offsets, scale_a, scale_b, groups_a, blocks_b, bias)
    return _call("matmul_fp8_grouped", _run_fp8, _fp8, tensors, (*tensors, dtype))


def matmul_int8_grouped(
    a: torch.Tensor, b: torch.Tensor, offsets: torch.Tensor, *, scale_a: torch.Tensor | None = None,
    scale_b: torch.Tensor | None = None, bias: torch.Tensor | None = None, dtype: torch.dtype = torch.int32,
) -> torch.Tensor:  # fmt: skip
    """As matmul_fp8_grouped, with a and b of i8. dtype: i32, the sums without scales and bias, or bf16, f16, f32."""
    _need_ranks("matmul_int8_grouped", a, b)
    tensors = (a, b, offsets, scale_a, scale_b, bias)
    return _call("matmul_int8_grouped", _run_int8, _int8, tensors, (*tensors, dtype))
