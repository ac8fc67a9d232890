"""Products with codes of eight bits, and quantisers, for torch.

Codes have no gradient, and rounding has none: the functions refuse tensors that require one.
"""

from __future__ import annotations

from typing import Any, Callable, Sequence

import torch

from .. import operations
from ..errors import InvalidArgument
from ._library import define, is_direct, needs_gradient, refuse_vmap
from ._matmul import product_shape
from ._quant_ops import rows_of


def _plain(
    name: str, run: Callable[..., Any], operator: Callable[..., Any], tensors: Sequence[torch.Tensor | None], *rest: Any
) -> Any:
    """The kernel itself, or the operator where something traces the call."""
    if needs_gradient(*tensors):
        raise NotImplementedError(f"kaio.torch.{name} has no gradient; call it under torch.no_grad(), or detach its tensors")
    return (run if is_direct(*tensors) else operator)(*tensors, *rest)


def _run_fp8(
    a: torch.Tensor,
    b: torch.Tensor,
    scale_a: Any = None,
    scale_b: Any = None,
    groups_a: Any = None,
    blocks_b: Any = None,
    bias: Any = None,
    residual: Any = None,
    alpha: float = 1.0,
    out_scale: float = 1.0,
    activation: str = "none",
    dtype: torch.dtype | None = None,
) -> torch.Tensor:
    out = torch.empty(product_shape(a, b), dtype=dtype or torch.bfloat16, device=a.device)
    product: Any = operations.matmul_fp8
    product(
        rows_of(a),
        b,
        out,
        scale_a=scale_a,
        scale_b=scale_b,
        groups_a=groups_a,
        blocks_b=blocks_b,
        bias=bias,
        residual=residual,
        alpha=alpha,
        out_scale=out_scale,
        activation=activation,
    )
    return out


def _fake_fp8(
    a: Any,
    b: Any,
    scale_a: Any = None,
    scale_b: Any = None,
    groups_a: Any = None,
    blocks_b: Any = None,
    bias: Any = None,
    residual: Any = None,
    alpha: float = 1.0,
    out_scale: float = 1.0,
    activation: str = "none",
    dtype: Any = None,
) -> Any:
    return a.new_empty(product_shape(a, b), dtype=dtype or torch.bfloat16)


_matmul_fp8 = define(
    "matmul_fp8(Tensor a, Tensor b, Tensor? scale_a=None, Tensor? scale_b=None, Tensor? groups_a=None, Tensor? blocks_b=None, "
    'Tensor? bias=None, Tensor? residual=None, float alpha=1.0, float out_scale=1.0, str activation="none", '
    "ScalarType? dtype=None) -> Tensor",
    _run_fp8,
    _fake_fp8,
)
refuse_vmap("matmul_fp8")


def matmul_fp8(
    a: torch.Tensor,
    b: torch.Tensor,
    *,
    scale_a: torch.Tensor | None = None,
    scale_b: torch.Tensor | None = None,
    groups_a: torch.Tensor | None = None,
    blocks_b: torch.Tensor | None = None,
    bias: torch.Tensor | None = None,
    residual: torch.Tensor | None = None,
    alpha: float = 1.0,
    out_scale: float = 1.0,
    activation: str = "none",
    dtype: torch.dtype | None = None,
) -> torch.Tensor:
    """activation(scale_a[m] * scale_b[n] * (A * B) * alpha + bias) + residual for floats of 8 bits. It has no gradient.

    a: (m, k) or (batch, m, k), e4m3 or e5m2
    b: (k, n) or (batch, k, n); fastest is weight.t() of a weight (n, k)
    scale_a, scale_b: (m) or (1), (n) or (1); f32, f16 or bf16
    groups_a, blocks_b: (m, ceil(k / 128)) and (ceil(k / 128), ceil(n / 128)), f32: scales of groups and of blocks
    bias: (n); residual: (m, n)
    dtype: of the result: torch.float32, float16, bfloat16 or float8_e4m3fn; None: bfloat16
    Raises kaio.InvalidArgument, which names the argument.
    """
    tensors = (a, b, scale_a, scale_b, groups_a, blocks_b, bias, residual)
    y: torch.Tensor = _plain("matmul_fp8", _run_fp8, _matmul_fp8, tensors, alpha, out_scale, activation, dtype)
    return y


def _run_int8(
    a: torch.Tensor,
    b: torch.Tensor,
    scale_a: Any = None,
    scale_b: Any = None,
    zero_a: Any = None,
    column_sums: Any = None,
    bias: Any = None,
    residual: Any = None,
    alpha: float = 1.0,
    out_scale: float = 1.0,
    activation: str = "none",
    dtype: torch.dtype | None = None,
) -> torch.Tensor:
    out = torch.empty(product_shape(a, b), dtype=dtype or torch.int32, device=a.device)
    product: Any = operations.matmul_int8
    product(
        rows_of(a),
        b,
        out,
        scale_a=scale_a,
        scale_b=scale_b,
        zero_a=zero_a,
        column_sums=column_sums,
        bias=bias,
        residual=residual,
        alpha=alpha,
        out_scale=out_scale,
        activation=activation,
    )
    return out


def _fake_int8(
    a: Any,
    b: Any,
    scale_a: Any = None,
    scale_b: Any = None,
    zero_a: Any = None,
    column_sums: Any = None,
    bias: Any = None,
    residual: Any = None,
    alpha: float = 1.0,
    out_scale: float = 1.0,
    activation: str = "none",
    dtype: Any = None,
) -> Any:
    return a.new_empty(product_shape(a, b), dtype=dtype or torch.int32)


_matmul_int8 = define(
    "matmul_int8(Tensor a, Tensor b, Tensor? scale_a=None, Tensor? scale_b=None, Tensor? zero_a=None, Tensor? column_sums=None, "
    'Tensor? bias=None, Tensor? residual=None, float alpha=1.0, float out_scale=1.0, str activation="none", '
    "ScalarType? dtype=None) -> Tensor",
    _run_int8,
    _fake_int8,
)
refuse_vmap("matmul_int8")


def matmul_int8(
    a: torch.Tensor,
    b: torch.Tensor,
    *,
    scale_a: torch.Tensor | None = None,
    scale_b: torch.Tensor | None = None,
    zero_a: torch.Tensor | None = None,
    column_sums: torch.Tensor | None = None,
    bias: torch.Tensor | None = None,
    residual: torch.Tensor | None = None,
    alpha: float = 1.0,
    out_scale: float = 1.0,
    activation: str = "none",
    dtype: torch.dtype | None = None,
) -> torch.Tensor:
    """activation(scale_a[m] * scale_b[n] * (A * B - zero_a[m] * column_sums[n]) * alpha + bias) + residual. It has no gradient.

    a: (m, k) or (batch, m, k), i8
    b: (k, n) or (batch, k, n), i8; fastest is weight.t() of a weight (n, k)
    scale_a, scale_b: (m) or (1), (n) or (1); f32, f16 or bf16
    zero_a: (m) or (1), i32; with column_sums: (n), i32, the sums of the columns of b
    dtype: of the result: torch.int32, which takes the sums alone, float32, float16, bfloat16 or int8; None: int32
    Raises kaio.InvalidArgument, which names the argument.
    """
    tensors = (a, b, scale_a, scale_b, zero_a, column_sums, bias, residual)
    y: torch.Tensor = _plain("matmul_int8", _run_int8, _matmul_int8, tensors, alpha, out_scale, activation, dtype)
    return y


def _need_matrix(name: str, argument: str, x: torch.Tensor) -> None:
    if x.dim() != 2:
        raise InvalidArgument(f"kaio: {name}: argument {argument} has {x.dim()} dimensions; it has to have 2")


def _run_quantise_fp8(x: torch.Tensor, groups: bool = False) -> tuple[torch.Tensor, torch.Tensor]:
    codes = torch.empty(x.shape, dtype=torch.float8_e4m3fn, device=x.device)
    scales = torch.empty((x.shape[0], -(-x.shape[1] // 128)) if groups else (x.shape[0],), dtype=torch.float32, device=x.device)
    operations.quantise_fp8(rows_of(x), codes, scales)
    return codes, scales


def _fake_quantise_fp8(x: Any, groups: bool = False) -> Any:
    scales = x.new_empty((x.shape[0], -(-x.shape[1] // 128)) if groups else (x.shape[0],), dtype=torch.float32)
    return x.new_empty(x.shape, dtype=torch.float8_e4m3fn), scales


_quantise_fp8 = define("quantise_fp8(Tensor x, bool groups=False) -> (Tensor, Tensor)", _run_quantise_fp8, _fake_quantise_fp8)
refuse_vmap("quantise_fp8")


def quantise_fp8(x: torch.Tensor, *, groups: bool = False) -> tuple[torch.Tensor, torch.Tensor]:
    """Rounds x to e4m3: x = codes * scales. It has no gradient.

    x: (rows, columns), f32, f16 or bf16
    groups: False: a scale for each row, (rows). True: for 128 neighbours of a row, (rows, ceil(columns / 128))
    Returns codes, scales (f32).
    """
    _need_matrix("quantise_fp8", "x", x)
    return _plain("quantise_fp8", _run_quantise_fp8, _quantise_fp8, (x,), groups)  # type: ignore[no-any-return]


def _run_quantise_fp8_blocks(w: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    codes = torch.empty(w.shape, dtype=torch.float8_e4m3fn, device=w.device)
    blocks = torch.empty((-(-w.shape[0] // 128), -(-w.shape[1] // 128)), dtype=torch.float32, device=w.device)
    operations.quantise_fp8_blocks(rows_of(w), codes, blocks)
    return codes, blocks


def _fake_quantise_fp8_blocks(w: Any) -> Any:
    blocks = w.new_empty((-(-w.shape[0] // 128), -(-w.shape[1] // 128)), dtype=torch.float32)
    return w.new_empty(w.shape, dtype=torch.float8_e4m3fn), blocks


_quantise_fp8_blocks = define(
    "quantise_fp8_blocks(Tensor w) -> (Tensor, Tensor)", _run_quantise_fp8_blocks, _fake_quantise_fp8_blocks
)
refuse_vmap("quantise_fp8_blocks")


def quantise_fp8_blocks(w: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Rounds w (rows, columns) to e4m3 with a scale for each block of 128 x 128. It has no gradient.

    Returns codes, and blocks of f32: (ceil(rows / 128), ceil(columns / 128)).
    """
    _need_matrix("quantise_fp8_blocks", "w", w)
    return _plain("quantise_fp8_blocks", _run_quantise_fp8_blocks, _quantise_fp8_blocks, (w,))  # type: ignore[no-any-return]


def _run_quantise_int8(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    codes = torch.empty(x.shape, dtype=torch.int8, device=x.device)
    scales = torch.empty((x.shape[0],), dtype=torch.float32, device=x.device)
    operations.quantise_int8(rows_of(x), codes, scales)
    return codes, scales


def _run_quantise_int8_zeros(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    codes = torch.empty(x.shape, dtype=torch.int8, device=x.device)
    scales = torch.empty((x.shape[0],), dtype=torch.float32, device=x.device)
    zeros = torch.empty((x.shape[0],), dtype=torch.int32, device=x.device)
    operations.quantise_int8(rows_of(x), codes, scales, zeros)
    return codes, scales, zeros


_quantise_int8 = define(
    "quantise_int8(Tensor x) -> (Tensor, Tensor)",
    _run_quantise_int8,
    lambda x: (x.new_empty(x.shape, dtype=torch.int8), x.new_empty((x.shape[0],), dtype=torch.float32)),
)
_quantise_int8_zeros = define(
    "quantise_int8_zeros(Tensor x) -> (Tensor, Tensor, Tensor)",
    _run_quantise_int8_zeros,
    lambda x: (
        x.new_empty(x.shape, dtype=torch.int8),
        x.new_empty((x.shape[0],), dtype=torch.float32),
        x.new_empty((x.shape[0],), dtype=torch.int32),
    ),
)
refuse_vmap("quantise_int8")
refuse_vmap("quantise_int8_zeros")


def quantise_int8(x: torch.Tensor, *, zero_points: bool = False) -> tuple[torch.Tensor, ...]:
    """Rounds the rows of x to i8: x = codes * scales, or (codes - zero_points) * scales. It has no gradient.

    x: (rows, columns), f32, f16 or bf16
    Returns codes, scales (rows) of f32, and with zero_points: (rows) of i32.
    """
    _need_matrix("quantise_int8", "x", x)
    if zero_points:
        return _plain("quantise_int8", _run_quantise_int8_zeros, _quantise_int8_zeros, (x,))  # type: ignore[no-any-return]
    return _plain("quantise_int8", _run_quantise_int8, _quantise_int8, (x,))  # type: ignore[no-any-return]


def _run_scaled(
    weight: torch.Tensor, scales: torch.Tensor, dtype: torch.dtype, block_rows: int, block_columns: int
) -> torch.Tensor:
    out = torch.empty(weight.shape, dtype=dtype, device=weight.device)
    two = scales if scales.dim() == 2 else scales.reshape(-1, 1)
    operations.dequantise_scaled_bytes(
        operations.ScaledBytes(weight, two, block_rows=block_rows, block_columns=block_columns), out
    )
    return out


_dequantise_scaled = define(
    "dequantise_scaled_bytes(Tensor weight, Tensor scales, ScalarType dtype, int block_rows, int block_columns) -> Tensor",
    _run_scaled,
    lambda weight, scales, dtype, block_rows, block_columns: weight.new_empty(weight.shape, dtype=dtype),
)
refuse_vmap("dequantise_scaled_bytes")


def dequantise_fp8(weight: torch.Tensor, scales: torch.Tensor, dtype: torch.dtype = torch.bfloat16) -> torch.Tensor:
    """weight * scales as a matrix (n, k). It has no gradient.

    weight: (n, k), e4m3 or e5m2
    scales: (1), (n), (n, 1), or (ceil(n / 128), ceil(k / 128))
    """
    tensors = (weight, scales)
    if needs_gradient(*tensors):
        raise NotImplementedError("kaio.torch.dequantise_fp8 has no gradient; call it under torch.no_grad()")
    return (_run_scaled if is_direct(*tensors) else _dequantise_scaled)(weight, scales, dtype, 128, 128)


def _run_quantise_w4(w: torch.Tensor, group: int, symmetric: bool) -> list[torch.Tensor]:
    n, k = w.shape
    groups = k // group
    made = [
        torch.empty((n, k // 8), dtype=torch.int32, device=w.device),
        torch.empty((n, groups), dtype=torch.bfloat16 if w.dtype == torch.bfloat16 else torch.float16, device=w.device),
    ]
    if not symmetric:
        made.append(torch.empty((-(-n // 8), groups), dtype=torch.int32, device=w.device))
    operations.quantise_w4(
        rows_of(w), operations.W4Output(made[0], made[1], weight_zero_point=None if symmetric else made[2], group=group)
    )
    return made


def _fake_quantise_w4(w: Any, group: int, symmetric: bool) -> list[torch.Tensor]:
    n, k = w.shape
    made = [
        w.new_empty((n, k // 8), dtype=torch.int32),
        w.new_empty((n, k // group), dtype=torch.bfloat16 if w.dtype == torch.bfloat16 else torch.float16),
    ]
    return made if symmetric else [*made, w.new_empty((-(-n // 8), k // group), dtype=torch.int32)]


_quantise_w4 = define("quantise_w4(Tensor w, int group, bool symmetric) -> Tensor[]", _run_quantise_w4, _fake_quantise_w4)
refuse_vmap("quantise_w4")


def quantise_w4(w: torch.Tensor, *, group: int = 128, symmetric: bool = True) -> tuple[torch.Tensor, ...]:
    """Rounds w to codes of 4 bits in groups along k, in compressed-tensors' layout. It has no gradient.

    w: (n, k), f32, f16 or bf16; k is a multiple of 8
    group: a multiple of 16 that divides k, or -1: k
    Returns weight_packed (n, k / 8) of i32, weight_scale (n, k / group) of bf16 for w of bf16, else f16; if not symmetric also
    weight_zero_point (ceil(n / 8), k / group) of i32. kaio.weights.from_compressed_tensors packs them for matmul_w4.
    """
    _need_matrix("quantise_w4", "w", w)
    k = w.shape[1]
    group = k if group == -1 else group
    if group <= 0 or k % group != 0 or (group % 16 != 0 and group != k) or k % 8 != 0:
        raise InvalidArgument(
            f"kaio: quantise_w4: argument group is {group}; it has to be a multiple of 16 that divides k = {k}, a multiple of 8"
        )
    return tuple(_plain("quantise_w4", _run_quantise_w4, _quantise_w4, (w,), group, symmetric))


def _run_quantise_mxfp4(w: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    n, k = w.shape
    packed = torch.empty((n, k // 2), dtype=torch.uint8, device=w.device)
    scales = torch.empty((n, k // 32), dtype=torch.uint8, device=w.device)
    operations.quantise_mxfp4(rows_of(w), operations.Mxfp4Output(packed, scales))
    return packed, scales


_quantise_mxfp4 = define(
    "quantise_mxfp4(Tensor w) -> (Tensor, Tensor)",
    _run_quantise_mxfp4,
    lambda w: (
        w.new_empty((w.shape[0], w.shape[1] // 2), dtype=torch.uint8),
        w.new_empty((w.shape[0], w.shape[1] // 32), dtype=torch.uint8),
    ),
)
refuse_vmap("quantise_mxfp4")


def quantise_mxfp4(w: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Rounds w (n, k) to MXFP4. It has no gradient.

    Returns codes (n, k / 2) of u8, the even k in the lower half of a byte, and scales (n, k / 32) of u8 with the bits of E8M0.
    """
    _need_matrix("quantise_mxfp4", "w", w)
    if w.shape[1] % 32 != 0:
        raise InvalidArgument(f"kaio: quantise_mxfp4: argument w has {w.shape[1]} columns; they have to be a multiple of 32")
    return _plain("quantise_mxfp4", _run_quantise_mxfp4, _quantise_mxfp4, (w,))  # type: ignore[no-any-return]


def _run_quantise_nvfp4(w: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    n, k = w.shape
    packed = torch.empty((n, k // 2), dtype=torch.uint8, device=w.device)
    scales = torch.empty((n, k // 16), dtype=torch.float8_e4m3fn, device=w.device)
    of_tensor = torch.empty((1,), dtype=torch.float32, device=w.device)
    operations.quantise_nvfp4(rows_of(w), operations.Nvfp4Output(packed, scales, global_=of_tensor))
    return packed, scales, of_tensor


_quantise_nvfp4 = define(
    "quantise_nvfp4(Tensor w) -> (Tensor, Tensor, Tensor)",
    _run_quantise_nvfp4,
    lambda w: (
        w.new_empty((w.shape[0], w.shape[1] // 2), dtype=torch.uint8),
        w.new_empty((w.shape[0], w.shape[1] // 16), dtype=torch.float8_e4m3fn),
        w.new_empty((1,), dtype=torch.float32),
    ),
)
refuse_vmap("quantise_nvfp4")


def quantise_nvfp4(w: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Rounds w (n, k) to NVFP4 of two levels. It has no gradient.

    Returns codes (n, k / 2) of u8, scales (n, k / 16) of e4m3, and the scale of the tensor (1) of f32, which multiplies.
    """
    _need_matrix("quantise_nvfp4", "w", w)
    if w.shape[1] % 16 != 0:
        raise InvalidArgument(f"kaio: quantise_nvfp4: argument w has {w.shape[1]} columns; they have to be a multiple of 16")
    return _plain("quantise_nvfp4", _run_quantise_nvfp4, _quantise_nvfp4, (w,))  # type: ignore[no-any-return]
