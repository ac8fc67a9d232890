"""Layer norms for torch: with the residual's addition, and as a module."""

from __future__ import annotations

from typing import Any

import torch
from torch.autograd.function import once_differentiable

from .. import operations
from ._library import define, distinct, is_compiling, is_direct, needs_gradient, refuse_vmap
from ._norm import _rows


def _checked(
    x: torch.Tensor, weight: torch.Tensor | None, bias: torch.Tensor | None, residual: torch.Tensor | None
) -> None:
    if x.dim() == 0:
        raise ValueError("kaio: layer_norm: argument x has no dimensions; it has to be (..., size)")
    for name, t in (("weight", weight), ("bias", bias)):
        if t is not None and t.shape != x.shape[-1:]:
            raise ValueError(f"kaio: layer_norm: argument {name} is {tuple(t.shape)}; x of {tuple(x.shape)} needs ({x.shape[-1]},)")
    if residual is not None and residual.shape != x.shape:
        raise ValueError(f"kaio: layer_norm: argument residual is {tuple(residual.shape)}; it has to be {tuple(x.shape)}, as x")


def _run(
    x: torch.Tensor, weight: torch.Tensor | None, bias: torch.Tensor | None, residual: torch.Tensor | None, eps: float
) -> tuple[torch.Tensor, torch.Tensor]:
    """The norm and h. Without a residual the second one has no elements."""
    out = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    h = torch.empty(x.shape if residual is not None else (0,), dtype=x.dtype, device=x.device)
    operations.layer_norm(_rows(x), None if weight is None else weight.contiguous(), None if bias is None else bias.contiguous(),
                          _rows(out), epsilon=eps, residual=None if residual is None else _rows(residual),
                          residual_out=None if residual is None else _rows(h))  # fmt: skip
    return out, h


def _run_backward(
    x: torch.Tensor, weight: torch.Tensor | None, dy: torch.Tensor, dh: torch.Tensor | None, eps: float,
    weight_type: torch.dtype | None, bias_type: torch.dtype | None,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:  # fmt: skip
    """dx, and dweight and dbias of the given types. One without a type has no elements."""
    dx = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    dweight, dbias = (
        torch.empty((0,) if type is None else x.shape[-1:], dtype=type or x.dtype, device=x.device)
        for type in (weight_type, bias_type)
    )
    operations.layer_norm_backward(
        _rows(x), _rows(dy), None if weight is None else weight.contiguous(), _rows(dx), None if weight_type is None else dweight,
        None if bias_type is None else dbias, epsilon=eps, dh=None if dh is None else _rows(dh),
    )  # fmt: skip
    return dx, dweight, dbias


_operator = define(
    "layer_norm(Tensor x, Tensor? weight, Tensor? bias, Tensor? residual, float eps) -> (Tensor, Tensor)",
    _run,
    lambda x, weight, bias, residual, eps: (x.new_empty(x.shape), x.new_empty(x.shape if residual is not None else (0,))),
)
_operator_backward = define(
    "layer_norm_backward(Tensor x, Tensor? weight, Tensor dy, Tensor? dh, float eps, ScalarType? weight_type, "
    "ScalarType? bias_type) -> (Tensor, Tensor, Tensor)",
    _run_backward,
    lambda x, weight, dy, dh, eps, *types: (
        x.new_empty(x.shape),
        *(x.new_empty((0,)) if type is None else x.new_empty(x.shape[-1:], dtype=type) for type in types),
    ),
)
for _name in ("layer_norm", "layer_norm_backward"):
    refuse_vmap(_name)


class _LayerNorm(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, x: torch.Tensor, weight: torch.Tensor | None, bias: torch.Tensor | None, residual: torch.Tensor | None,
        eps: float,
    ) -> Any:  # fmt: skip
        out, h = _call(x, weight, bias, residual, eps)
        ctx.save_for_backward(x if residual is None else h, weight)
        ctx.eps, ctx.types = eps, [None if t is None else t.dtype for t in (weight, bias)]
        return out if residual is None else (out, h)

    @staticmethod
    @once_differentiable  # type: ignore[untyped-decorator]
    def backward(ctx: Any, *gradients: Any) -> Any:
        h, weight = ctx.saved_tensors
        need, dh = ctx.needs_input_grad, gradients[1] if len(gradients) == 2 else None
        types = [ctx.types[i] if need[i + 1] else None for i in range(2)]
        run: Any = _run_backward if is_direct(h, weight, gradients[0], dh) else _operator_backward
        dx, *of_weights = run(h, weight, gradients[0], dh, ctx.eps, *types)
        dweight, dbias = (None if type is None else t for t, type in zip(of_weights, types))
        return dx if need[0] else None, dweight, dbias, dx if need[3] else None, None


_apply: Any = _LayerNorm.apply


def _call(
    x: torch.Tensor, weight: torch.Tensor | None, bias: torch.Tensor | None, residual: torch.Tensor | None, eps: float
) -> tuple[torch.Tensor, torch.Tensor]:
    run: Any = _run if is_direct(x, weight, bias, residual) else _operator
    out, h = run(x, weight, bias, residual, eps)
    return out, h


def layer_norm(
    x: torch.Tensor, weight: torch.Tensor | None = None, bias: torch.Tensor | None = None, eps: float = 1e-5, *,
    residual: torch.Tensor | None = None,
) -> Any:  # fmt: skip
    """(h - mean) / sqrt(variance + eps) * weight + bias along the last dimension, with h = x + residual, with gradients.

    x: (..., size), f32, f16, bf16
    weight, bias: (size), both of x's type or both f32; None: none
    eps: added to the variance
    residual: as x; None: h is x
    Returns the norm; with a residual, the norm and h, each as x.
    Raises ValueError and kaio.InvalidArgument, which name the argument.
    """
    _checked(x, weight, bias, residual)
    if needs_gradient(x, weight, bias, residual):
        if is_compiling():
            x, weight, bias, residual = distinct(x, weight, bias, residual)
        return _apply(x, weight, bias, residual, eps)
    out, h = _call(x, weight, bias, residual, eps)
    return out if residual is None else (out, h)


class LayerNorm(torch.nn.Module):
    """torch.nn.LayerNorm of the last dimension, with an optional residual.

    norm = kaio.torch.LayerNorm(4096)
    y = norm(x)
    y, h = norm(x, residual)         # h = x + residual, y its norm
    """

    weight: torch.nn.Parameter | None
    bias: torch.nn.Parameter | None

    def __init__(
        self, size: int, eps: float = 1e-5, *, elementwise_affine: bool = True, bias: bool = True,
        device: torch.device | str | None = None, dtype: torch.dtype | None = None,
    ) -> None:  # fmt: skip
        """size: of the last dimension; elementwise_affine=False: neither a weight nor a bias."""
        super().__init__()
        self.eps = eps
        ones = torch.nn.Parameter(torch.ones(size, device=device, dtype=dtype)) if elementwise_affine else None
        zeros = torch.nn.Parameter(torch.zeros(size, device=device, dtype=dtype)) if elementwise_affine and bias else None
        self.register_parameter("weight", ones)
        self.register_parameter("bias", zeros)
        self.size = size

    def forward(self, x: torch.Tensor, residual: torch.Tensor | None = None) -> Any:
        """x, residual: (..., size). Returns the norm; with a residual, the norm and x + residual."""
        if self.weight is not None and x.dtype == torch.float32 != self.weight.dtype:
            bias = None if self.bias is None else self.bias.float()
            return layer_norm(x, self.weight.float(), bias, self.eps, residual=residual)
        return layer_norm(x, self.weight, self.bias, self.eps, residual=residual)

    def extra_repr(self) -> str:
        return f"{self.size}, eps={self.eps}, weight={self.weight is not None}, bias={self.bias is not None}"
