"""Products with packed weights of four and eight bits, for torch. x and bias have gradients; the weights have none.

`layout` is that of _packed.layout_of: its length says which of the two products takes it.
"""

from __future__ import annotations

from typing import Any, Sequence

import torch

from .. import operations
from .._packed import Packed, layout_of
from ..errors import InvalidArgument
from ._library import NAMES, define, is_direct, needs_gradient, refuse_vmap
from ._matmul import product

W4_FIELDS, W8_FIELDS = 10, 7


def rows_of(x: torch.Tensor) -> torch.Tensor:
    """x with neighbours along its rows, as kernels read it."""
    return x if x.stride(-1) == 1 or x.shape[-1] == 1 else x.clone(memory_format=torch.contiguous_format)


def _run_packed(
    x: torch.Tensor,
    memory: torch.Tensor,
    layout: Sequence[int],
    bias: torch.Tensor | None = None,
    exact_weights: bool = False,
    constant: bool = False,
    dtype: torch.dtype | None = None,
) -> torch.Tensor:
    out = torch.empty((x.shape[0], layout[1]), dtype=dtype or x.dtype, device=x.device)
    product: Any = operations.matmul_w4 if len(layout) == W4_FIELDS else operations.matmul_w8
    product(
        rows_of(x), (*layout, memory), out, bias=bias, exact_weights=exact_weights, constant="weights" if constant else "none"
    )
    return out


def _fake_packed(
    x: Any, memory: Any, layout: Any, bias: Any = None, exact_weights: bool = False, constant: bool = False, dtype: Any = None
) -> torch.Tensor:
    made: torch.Tensor = x.new_empty((x.shape[0], layout[1]), dtype=dtype or x.dtype)
    return made


_ARGUMENTS = (
    "(Tensor x, Tensor memory, int[] layout, Tensor? bias=None, bool exact_weights=False, bool constant=False, "
    "ScalarType? dtype=None) -> Tensor"
)
_operators = {
    W4_FIELDS: define(f"matmul_w4{_ARGUMENTS}", _run_packed, _fake_packed),
    W8_FIELDS: define(f"matmul_w8{_ARGUMENTS}", _run_packed, _fake_packed),
}
refuse_vmap("matmul_w4")
refuse_vmap("matmul_w8")


def _run_dequantise(memory: torch.Tensor, layout: Sequence[int], dtype: torch.dtype) -> torch.Tensor:
    out = torch.empty((layout[1], layout[2]), dtype=dtype, device=memory.device)
    made: Any = operations.dequantise_w4 if len(layout) == W4_FIELDS else operations.dequantise_w8
    made((*layout, memory), out)
    return out


def _fake_dequantise(memory: Any, layout: Any, dtype: Any) -> torch.Tensor:
    made: torch.Tensor = memory.new_empty((layout[1], layout[2]), dtype=dtype)
    return made


_dequantise = define(
    "dequantise_packed(Tensor memory, int[] layout, ScalarType dtype) -> Tensor", _run_dequantise, _fake_dequantise
)
refuse_vmap("dequantise_packed")


def dequantise_layout(memory: torch.Tensor, layout: Sequence[int], dtype: torch.dtype) -> torch.Tensor:
    """W (n, k) of packed memory."""
    if is_direct(memory):
        return _run_dequantise(memory, layout, dtype)
    return _dequantise(memory, layout, dtype)  # type: ignore[no-any-return]


class _Packed(torch.autograd.Function):
    """x * W^T + bias."""

    @staticmethod
    def forward(
        ctx: Any, x: Any, memory: Any, bias: Any, layout: Any, exact_weights: bool, constant: bool, dtype: Any
    ) -> torch.Tensor:
        ctx.save_for_backward(memory)
        ctx.layout, ctx.of_x, ctx.bias = layout, x.dtype, None if bias is None else bias.dtype
        return packed_product(x, memory, layout, bias, exact_weights, constant, dtype)

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> Any:
        (memory,) = ctx.saved_tensors
        dx = dbias = None
        if ctx.needs_input_grad[0]:
            w = dequantise_layout(memory, ctx.layout, ctx.of_x)
            dx = product(rows_of(gradient.to(ctx.of_x)), w)
        if ctx.bias is not None and ctx.needs_input_grad[2]:
            dbias = gradient.sum(0).to(ctx.bias)
        return dx, None, dbias, None, None, None, None


def packed_product(
    x: torch.Tensor,
    memory: torch.Tensor,
    layout: Sequence[int],
    bias: torch.Tensor | None = None,
    exact_weights: bool = False,
    constant: bool = False,
    dtype: torch.dtype | None = None,
) -> torch.Tensor:
    """x (m, k) * W^T + bias, with gradients of x and bias."""
    if needs_gradient(x, bias):
        return _Packed.apply(x, memory, bias, layout, exact_weights, constant, dtype)  # type: ignore[no-any-return]
    if is_direct(x, memory, bias):
        return _run_packed(x, memory, layout, bias, exact_weights, constant, dtype)
    return _operators[len(layout)](x, memory, layout, bias, exact_weights, constant, dtype)  # type: ignore[no-any-return]


def packed_linear(
    name: str,
    x: torch.Tensor,
    memory: torch.Tensor,
    layout: Sequence[int],
    bias: torch.Tensor | None,
    exact_weights: bool,
    constant: bool,
    dtype: torch.dtype | None,
) -> torch.Tensor:
    """packed_product over (..., k), after checks that name their argument."""
    n, k = layout[1], layout[2]
    if x.dtype not in (torch.float16, torch.bfloat16):
        raise InvalidArgument(
            f"kaio: {name}: argument x has elements of {x.dtype}; they have to be torch.float16 or torch.bfloat16"
        )
    if x.dim() == 0 or x.shape[-1] != k:
        raise InvalidArgument(f"kaio: {name}: argument x has the shape {tuple(x.shape)}; its last extent has to be k = {k}")
    if bias is not None and bias.dtype != x.dtype:
        bias = bias.to(x.dtype)
    if x.dim() == 2:
        return packed_product(x, memory, layout, bias, exact_weights, constant, dtype)
    y = packed_product(x.reshape(-1, k), memory, layout, bias, exact_weights, constant, dtype)
    return y.reshape(*x.shape[:-1], n)


def _memory_of(name: str, weights: Packed, kind: type) -> torch.Tensor:
    if not isinstance(weights, kind):
        raise TypeError(
            f"kaio: {name}: argument weights is a {type(weights).__qualname__}; it has to be a kaio.{kind.__qualname__}"
        )
    memory = weights.memory
    if not isinstance(memory, torch.Tensor):
        raise TypeError(f"kaio: {name}: argument weights.memory is a {type(memory).__qualname__}; it has to be a torch.Tensor")
    return memory


def matmul_w4(
    x: torch.Tensor,
    weights: operations.W4Weights,
    bias: torch.Tensor | None = None,
    *,
    exact_weights: bool = False,
    constant: bool = False,
    dtype: torch.dtype | None = None,
) -> torch.Tensor:
    """x * W^T + bias with weights of four bits, with gradients of x and bias. The weights have none.

    x: (..., k), f16 or bf16
    weights: n outputs, k inputs; its memory is a torch tensor
    bias: (n); it is rounded to the type of x
    exact_weights: True: no weight is rounded to the type of x, as may be faster from 17 rows on
    constant: True: no work in the stream before this call writes the weights; kernels then read them earlier
    dtype: of the result: that of x, or torch.float32; None: that of x
    Returns (..., n). Raises kaio.InvalidArgument, which names the argument.
    """
    memory = _memory_of("matmul_w4", weights, operations.W4Weights)
    return packed_linear("matmul_w4", x, memory, layout_of(weights), bias, exact_weights, constant, dtype)


def matmul_w8(
    x: torch.Tensor,
    weights: operations.W8Weights,
    bias: torch.Tensor | None = None,
    *,
    exact_weights: bool = False,
    constant: bool = False,
    dtype: torch.dtype | None = None,
) -> torch.Tensor:
    """x * W^T + bias with weights of eight bits, with gradients of x and bias. As matmul_w4 in all else."""
    memory = _memory_of("matmul_w8", weights, operations.W8Weights)
    return packed_linear("matmul_w8", x, memory, layout_of(weights), bias, exact_weights, constant, dtype)


def dequantise(weights: Packed, dtype: torch.dtype = torch.bfloat16) -> torch.Tensor:
    """W of packed weights as a matrix (n, k) of torch.float32, float16 or bfloat16. It has no gradient."""
    layout = layout_of(weights)
    memory = _memory_of("dequantise", weights, operations.W4Weights if len(layout) == W4_FIELDS else operations.W8Weights)
    if dtype not in NAMES:
        raise InvalidArgument(
            f"kaio: dequantise: argument dtype is {dtype}; it has to be torch.float32, torch.float16 or torch.bfloat16"
        )
    return dequantise_layout(memory, layout, dtype)
