"""RMS norms for torch: with the residual's addition, into codes of 8 bits, and as a module."""

from __future__ import annotations

from typing import Any

import torch
from torch.autograd.function import once_differentiable

from .. import _core, operations
from ._library import define, distinct, is_compiling, is_direct, needs_gradient, refuse_vmap


_native = _core.operation("rms_norm")


def _rows(t: torch.Tensor) -> torch.Tensor:
    """A tensor as the operation takes it: two to four dimensions, neighbours of a row adjacent."""
    if t.dim() < 2 or t.dim() > 4:
        t = t.reshape(-1, t.shape[-1])
    if t.stride(-1) == 1 or t.shape[-1] <= 1:
        return t
    return t.clone(memory_format=torch.contiguous_format)  # contiguous() keeps the strides of a tensor without elements


def _checked(name: str, x: torch.Tensor, weight: torch.Tensor, residual: torch.Tensor | None) -> None:
    shape = x.shape
    if not shape:
        raise ValueError(f"kaio: {name}: argument x has no dimensions; it has to be (..., size)")
    if weight.shape != shape[-1:]:
        raise ValueError(f"kaio: {name}: argument weight is {tuple(weight.shape)}; x of {tuple(x.shape)} needs ({x.shape[-1]},)")
    if residual is not None and residual.shape != x.shape:
        raise ValueError(f"kaio: {name}: argument residual is {tuple(residual.shape)}; it has to be {tuple(x.shape)}, as x")


def _run(x: torch.Tensor, weight: torch.Tensor, eps: float, weight_offset: float) -> torch.Tensor:
    out: torch.Tensor = _core.empty_like(x, None, "x")
    _native(..., _rows(x), weight.contiguous(), out if 2 <= x.dim() <= 4 else _rows(out), (eps, weight_offset))
    return out


def _run_residual(
    x: torch.Tensor, weight: torch.Tensor, residual: torch.Tensor, eps: float, weight_offset: float
) -> tuple[torch.Tensor, torch.Tensor]:
    out = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    h = torch.empty_like(out)
    operations.rms_norm(_rows(x), weight.contiguous(), _rows(out), epsilon=eps, weight_offset=weight_offset,
                        residual=_rows(residual), residual_out=_rows(h))  # fmt: skip
    return out, h


def _shape_of_scales(x: torch.Tensor, groups: bool) -> tuple[Any, ...]:
    return (*x.shape[:-1], -(-x.shape[-1] // 128)) if groups else tuple(x.shape[:-1])


def _run_codes(
    x: torch.Tensor, weight: torch.Tensor, residual: torch.Tensor | None, eps: float, weight_offset: float, dtype: torch.dtype,
    groups: bool = False,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:  # fmt: skip
    codes = torch.empty(x.shape, dtype=dtype, device=x.device)
    scales = torch.empty(_shape_of_scales(x, groups), dtype=torch.float32, device=x.device)
    h = torch.empty(x.shape if residual is not None else (0,), dtype=x.dtype, device=x.device)
    rows = _rows(codes)
    of_rows = scales.reshape((*rows.shape[:-1], *scales.shape[x.dim() - 1 :]))
    operations.rms_norm_codes(_rows(x), weight.contiguous(), rows, of_rows, epsilon=eps,
                              weight_offset=weight_offset, residual=None if residual is None else _rows(residual),
                              residual_out=None if residual is None else _rows(h))  # fmt: skip
    return codes, scales, h


def _run_modulated(
    x: torch.Tensor, weight: torch.Tensor, residual: torch.Tensor | None, gate: torch.Tensor | None, scale: torch.Tensor | None,
    shift: torch.Tensor | None, casting: Any, eps: float, weight_offset: float,
) -> tuple[torch.Tensor, torch.Tensor]:  # fmt: skip
    def as_x(t: torch.Tensor | None) -> torch.Tensor | None:
        return None if t is None else _rows(t.expand(x.shape))

    out = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    h = torch.empty(x.shape if residual is not None else (0,), dtype=x.dtype, device=x.device)
    operations.rms_norm(_rows(x), weight.contiguous(), _rows(out), epsilon=eps, weight_offset=weight_offset, residual=as_x(residual),
                        residual_out=None if residual is None else _rows(h), casting=casting, gate=as_x(gate), scale=as_x(scale),
                        shift=as_x(shift))  # fmt: skip
    return out, h


def _run_backward(
    x: torch.Tensor, weight: torch.Tensor, dy: torch.Tensor, dh: torch.Tensor | None, eps: float, weight_offset: float,
    of_weight: bool,
) -> tuple[torch.Tensor, torch.Tensor]:  # fmt: skip
    dx = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    dweight = torch.empty(weight.shape if of_weight else (0,), dtype=weight.dtype, device=x.device)
    operations.rms_norm_backward(_rows(x), _rows(dy), weight.contiguous(), _rows(dx), dweight if of_weight else None, epsilon=eps,
                                 weight_offset=weight_offset, dh=None if dh is None else _rows(dh))  # fmt: skip
    return dx, dweight


_operator = define(
    "rms_norm(Tensor x, Tensor weight, float eps, float weight_offset) -> Tensor",
    _run,
    lambda x, weight, eps, weight_offset: x.new_empty(x.shape),
)
_operator_residual = define(
    "rms_norm_residual(Tensor x, Tensor weight, Tensor residual, float eps, float weight_offset) -> (Tensor, Tensor)",
    _run_residual,
    lambda x, weight, residual, eps, weight_offset: (x.new_empty(x.shape), x.new_empty(x.shape)),
)
_operator_codes = define(
    "rms_norm_codes(Tensor x, Tensor weight, Tensor? residual, float eps, float weight_offset, ScalarType dtype, "
    "bool groups=False) -> (Tensor, Tensor, Tensor)",
    _run_codes,
    lambda x, weight, residual, eps, weight_offset, dtype, groups=False: (
        x.new_empty(x.shape, dtype=dtype),
        x.new_empty(_shape_of_scales(x, groups), dtype=torch.float32),
        x.new_empty(x.shape if residual is not None else (0,)),
    ),
)
_operator_modulated = define(
    "rms_norm_modulated(Tensor x, Tensor weight, Tensor? residual, Tensor? gate, Tensor? scale, Tensor? shift, str casting, "
    "float eps, float weight_offset) -> (Tensor, Tensor)",
    _run_modulated,
    lambda x, weight, residual, *others: (x.new_empty(x.shape), x.new_empty(x.shape if residual is not None else (0,))),
)
_operator_backward = define(
    "rms_norm_backward(Tensor x, Tensor weight, Tensor dy, Tensor? dh, float eps, float weight_offset, bool of_weight) "
    "-> (Tensor, Tensor)",
    _run_backward,
    lambda x, weight, dy, dh, eps, weight_offset, of_weight: (
        x.new_empty(x.shape),
        weight.new_empty(weight.shape if of_weight else (0,)),
    ),
)
for _name in ("rms_norm", "rms_norm_residual", "rms_norm_codes", "rms_norm_modulated", "rms_norm_backward"):
    refuse_vmap(_name)


def _gradients(
    h: torch.Tensor, weight: torch.Tensor, dy: torch.Tensor, dh: torch.Tensor | None, eps: float, weight_offset: float,
    of_weight: bool,
) -> Any:  # fmt: skip
    """The gradients of h, to which dh is added, and of the weight."""
    run: Any = _run_backward if is_direct(h, weight, dy, dh) else _operator_backward
    return run(h, weight, dy, dh, eps, weight_offset, of_weight)


class _RmsNorm(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, weight: torch.Tensor, eps: float, weight_offset: float) -> Any:
        ctx.save_for_backward(x, weight)
        ctx.eps, ctx.weight_offset = eps, weight_offset
        return rms_norm(x, weight, eps, weight_offset=weight_offset)

    @staticmethod
    @once_differentiable  # type: ignore[untyped-decorator]
    def backward(ctx: Any, *gradients: Any) -> Any:
        x, weight = ctx.saved_tensors
        need = ctx.needs_input_grad
        dx, dweight = _gradients(x, weight, gradients[0], None, ctx.eps, ctx.weight_offset, need[1])
        return dx if need[0] else None, dweight if need[1] else None, None, None


class _RmsNormResidual(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, x: torch.Tensor, weight: torch.Tensor, residual: torch.Tensor, eps: float, weight_offset: float
    ) -> Any:
        out, h = rms_norm(x, weight, eps, residual=residual, weight_offset=weight_offset)
        ctx.save_for_backward(h, weight)
        ctx.eps, ctx.weight_offset = eps, weight_offset
        return out, h

    @staticmethod
    @once_differentiable  # type: ignore[untyped-decorator]
    def backward(ctx: Any, *gradients: Any) -> Any:
        h, weight = ctx.saved_tensors
        need = ctx.needs_input_grad
        dh, dweight = _gradients(h, weight, gradients[0], gradients[1], ctx.eps, ctx.weight_offset, need[1])
        return dh if need[0] else None, dweight if need[1] else None, dh if need[2] else None, None, None


_apply: Any = _RmsNorm.apply
_apply_residual: Any = _RmsNormResidual.apply


def _modulated(
    x: torch.Tensor, weight: torch.Tensor, eps: float, residual: torch.Tensor | None, weight_offset: float, casting: str,
    gate: torch.Tensor | None, scale: torch.Tensor | None, shift: torch.Tensor | None,
) -> Any:  # fmt: skip
    if casting not in ("gemma", "llama"):
        raise ValueError(f"kaio: rms_norm: argument casting is {casting!r}; it has to be 'gemma' or 'llama'")
    for name, t in (("gate", gate), ("scale", scale), ("shift", shift)):
        if t is not None and (t.dim() > x.dim() or any(a not in (1, b) for a, b in zip(t.shape[::-1], x.shape[::-1]))):
            raise ValueError(f"kaio: rms_norm: argument {name} is {tuple(t.shape)}; it has to broadcast to {tuple(x.shape)}, as x")
    if needs_gradient(x, weight, residual, gate, scale, shift):
        raise ValueError("kaio: rms_norm has no gradient with casting, gate, scale or shift; call it under torch.no_grad()")
    run: Any = _run_modulated if is_direct(x, weight, residual, gate, scale, shift) else _operator_modulated
    out, h = run(x, weight, residual, gate, scale, shift, casting, eps, weight_offset)
    return out if residual is None else (out, h)


def rms_norm(
    x: torch.Tensor, weight: torch.Tensor, eps: float = 1e-6, *, residual: torch.Tensor | None = None, weight_offset: float = 0.0,
    casting: str = "gemma", gate: torch.Tensor | None = None, scale: torch.Tensor | None = None, shift: torch.Tensor | None = None,
) -> Any:  # fmt: skip
    """h / rms(h) * (weight_offset + weight) along the last dimension, with h = x + residual, with gradients.

    x: (..., size), f32, f16, bf16
    weight: (size), elements of x, or f32
    eps: added to the mean of the squares
    residual: as x; None: h is x
    weight_offset: 1 for Gemma
    casting: "llama": numbers of 16 bits are rounded before the weight multiplies them as well
    gate: multiplies x before the residual is added; broadcast to x
    scale, shift: the norm is multiplied by 1 + scale, and shift is added; broadcast to x
    With casting="llama", gate, scale or shift there is no gradient.
    Returns the norm; with a residual, the norm and h, each as x.
    Raises ValueError and kaio.InvalidArgument, which name the argument.
    """
    _checked("rms_norm", x, weight, residual)
    if casting != "gemma" or gate is not None or scale is not None or shift is not None:
        return _modulated(x, weight, eps, residual, weight_offset, casting, gate, scale, shift)
    if residual is None:
        if needs_gradient(x, weight):
            return _apply(x, weight, eps, weight_offset)
        if is_direct(x, weight):
            return _run(x, weight, eps, weight_offset)
        return _operator(x, weight, eps, weight_offset)
    if needs_gradient(x, weight, residual):
        if is_compiling():
            x, residual = distinct(x, residual)
        return _apply_residual(x, weight, residual, eps, weight_offset)
    if is_direct(x, weight, residual):
        return _run_residual(x, weight, residual, eps, weight_offset)
    return _operator_residual(x, weight, residual, eps, weight_offset)


def rms_norm_codes(
    x: torch.Tensor, weight: torch.Tensor, eps: float = 1e-6, *, residual: torch.Tensor | None = None,
    weight_offset: float = 0.0, dtype: torch.dtype = torch.int8, groups: bool = False,
) -> tuple[torch.Tensor, ...]:  # fmt: skip
    """rms_norm into codes of 8 bits for matmul_int8 and matmul_fp8: norm = codes * scales[..., None]. Has no gradient.

    x, weight, eps, residual, weight_offset: as for rms_norm
    dtype: of the codes: torch.int8 or torch.float8_e4m3fn
    groups: a scale for each 128 neighbours of a row, as matmul_fp8 takes them: norm = codes * scales[..., column // 128]
    Returns codes, as x, and scales of f32, (...) or with groups (..., ceil(size / 128)); with a residual also h, as x.
    Raises ValueError and kaio.InvalidArgument, which name the argument.
    """
    _checked("rms_norm_codes", x, weight, residual)
    if dtype not in (torch.int8, torch.float8_e4m3fn):
        raise ValueError(f"kaio: rms_norm_codes: argument dtype is {dtype}; it has to be torch.int8 or torch.float8_e4m3fn")
    if needs_gradient(x, weight, residual):
        raise ValueError("kaio: rms_norm_codes has no gradient; call it under torch.no_grad(), or detach its arguments")
    run: Any = _run_codes if is_direct(x, weight, residual) else _operator_codes
    codes, scales, h = run(x, weight, residual, eps, weight_offset, dtype, groups)
    return (codes, scales) if residual is None else (codes, scales, h)


def _norm_of_module(
    x: torch.Tensor, weight: torch.Tensor, eps: float, residual: torch.Tensor | None, weight_offset: float
) -> Any:
    """rms_norm of a module: under autocast x and the weight may have different types; both become the wider one."""
    if x.dtype != weight.dtype:
        wider = torch.promote_types(x.dtype, weight.dtype)
        x, weight = x.to(wider), weight.to(wider)
        residual = None if residual is None else residual.to(wider)
    return rms_norm(x, weight, eps, residual=residual, weight_offset=weight_offset)


class RMSNorm(torch.nn.Module):
    """torch.nn.RMSNorm of the last dimension, with an optional residual.

    norm = kaio.torch.RMSNorm(4096, eps=1e-5)
    y = norm(x)
    y, h = norm(x, residual)         # h = x + residual, y its norm
    """

    def __init__(
        self, size: int, eps: float = 1e-6, *, weight_offset: float = 0.0, device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:  # fmt: skip
        """size: of the last dimension; weight_offset: added to the weight, 1 for Gemma. At first the weight changes nothing."""
        super().__init__()
        self.eps, self.weight_offset = eps, weight_offset
        self.weight = torch.nn.Parameter(torch.full((size,), 1.0 - weight_offset, device=device, dtype=dtype))

    def forward(self, x: torch.Tensor, residual: torch.Tensor | None = None) -> Any:
        """x, residual: (..., size). Returns the norm; with a residual, the norm and x + residual."""
        return _norm_of_module(x, self.weight, self.eps, residual, self.weight_offset)

    def extra_repr(self) -> str:
        offset = f", weight_offset={self.weight_offset}" if self.weight_offset else ""
        return f"{tuple(self.weight.shape)}, eps={self.eps}{offset}"
