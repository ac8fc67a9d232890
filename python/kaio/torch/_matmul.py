"""Products of matrices for torch, with fused epilogues and gradients."""

from __future__ import annotations

from typing import Any, Callable

import torch

from .. import _core
from ..errors import InvalidArgument
from ._library import define, distinct, is_compiling, is_direct, name_of, needs_gradient, refuse_vmap

_native = _core.operation("matmul")
any_autocast: Callable[[], bool] = torch._C._is_any_autocast_enabled

_ACTIVATIONS: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "relu": torch.nn.functional.relu,
    "gelu": torch.nn.functional.gelu,
    "gelu_tanh": lambda x: torch.nn.functional.gelu(x, approximate="tanh"),
    "silu": torch.nn.functional.silu,
}


def _activated(z: torch.Tensor, activation: str) -> torch.Tensor:
    if activation not in _ACTIVATIONS:
        raise ValueError(f"kaio: matmul: argument activation is '{activation}'; it has to be one of none, {', '.join(_ACTIVATIONS)}")
    return _ACTIVATIONS[activation](z)


def product_shape(a: torch.Tensor, b: torch.Tensor) -> tuple[Any, ...]:
    """The shape of a product of matrices or of batches of them."""
    batch = a.shape[:-2] if a.dim() > b.dim() or (a.dim() == b.dim() and a.dim() > 2 and a.shape[0] != 1) else b.shape[:-2]
    return (*batch, a.shape[-2], b.shape[-1])


def _type(a: torch.Tensor, dtype: torch.dtype | None) -> torch.dtype:
    return dtype if dtype is not None else torch.bfloat16 if a.element_size() == 1 else a.dtype


def _run(
    a: torch.Tensor, b: torch.Tensor, bias: torch.Tensor | None = None, residual: torch.Tensor | None = None, alpha: float = 1.0,
    activation: str = "none", precision: str = "ieee", dtype: torch.dtype | None = None,
) -> torch.Tensor:  # fmt: skip
    out: torch.Tensor = _core.empty_product(a, b, None if dtype is None else name_of(dtype))
    options = (alpha, 0.0, activation, precision, "none", False, bias, residual)
    try:
        _native(..., a, b, out, options)
    except InvalidArgument:  # before anything has run; asking for strides first would cost every call time
        if _has_adjacent(a) and _has_adjacent(b):
            raise
        _native(..., _adjacent(a), _adjacent(b), out, options)
    return out


def _has_adjacent(t: torch.Tensor) -> bool:
    return 1 in t.stride()[-2:]


def _adjacent(t: torch.Tensor) -> torch.Tensor:
    """A matrix with adjacent elements of a row or a column, which kernels need: the gradient of a sum has none."""
    return t if _has_adjacent(t) else t.clone(memory_format=torch.contiguous_format)


def _fake(a: Any, b: Any, bias: Any = None, residual: Any = None, alpha: float = 1.0, activation: str = "none",
          precision: str = "ieee", dtype: Any = None) -> torch.Tensor:  # fmt: skip
    made: torch.Tensor = a.new_empty(product_shape(a, b), dtype=_type(a, dtype))
    return made


_operator: Callable[..., torch.Tensor] = define(
    "matmul(Tensor a, Tensor b, Tensor? bias=None, Tensor? residual=None, float alpha=1.0, str activation=\"none\", "
    "str precision=\"ieee\", ScalarType? dtype=None) -> Tensor",
    _run,
    _fake,
)  # fmt: skip
refuse_vmap("matmul")


def _summed_to(gradient: torch.Tensor, like: torch.Tensor) -> torch.Tensor:
    """A gradient of an operand that was used for a whole batch."""
    if gradient.dim() > like.dim():
        gradient = gradient.sum(0)
    elif gradient.dim() == 3 and like.shape[0] == 1 and gradient.shape[0] != 1:
        gradient = gradient.sum(0, keepdim=True)
    return gradient.to(like.dtype)


class _Matmul(torch.autograd.Function):
    """alpha * A * B + bias + residual."""

    @staticmethod
    def forward(ctx: Any, a: Any, b: Any, bias: Any, residual: Any, alpha: float, precision: str, dtype: Any) -> torch.Tensor:
        ctx.save_for_backward(a, b)
        ctx.of_bias = None if bias is None else (bias.dim(), bias.dtype)
        ctx.options = (alpha, precision, None if residual is None else residual.dtype)
        run: Callable[..., torch.Tensor] = _run if is_direct(a, b, bias, residual) else _operator
        return run(a, b, bias, residual, alpha, "none", precision, dtype)

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> Any:  # type: ignore[override]
        a, b = ctx.saved_tensors
        alpha, precision, of_residual = ctx.options
        da = db = dbias = dresidual = None
        g = gradient.to(a.dtype)
        if ctx.needs_input_grad[0]:
            da = _summed_to(product(g, b.mT, alpha=alpha, precision=precision), a)
        if ctx.needs_input_grad[1]:
            if g.dim() == 3 and b.dim() == 2 and a.dim() == 3:  # one product over all rows of the batch
                db = product(a.reshape(-1, a.shape[-1]).mT, g.reshape(-1, g.shape[-1]), alpha=alpha, precision=precision)
            else:
                db = _summed_to(product(a.mT, g, alpha=alpha, precision=precision), b)
        if ctx.of_bias is not None and ctx.needs_input_grad[2]:
            rows = gradient.sum(-2)
            dbias = (rows.sum(0) if rows.dim() > ctx.of_bias[0] else rows).to(ctx.of_bias[1])
        if of_residual is not None and ctx.needs_input_grad[3]:
            dresidual = gradient.to(of_residual)
        return da, db, dbias, dresidual, None, None, None


# Without the questions of Function.apply that is_direct has answered.
_apply_matmul = super(torch.autograd.Function, _Matmul).apply


def matmul(
    a: torch.Tensor, b: torch.Tensor, *, bias: torch.Tensor | None = None, residual: torch.Tensor | None = None,
    alpha: float = 1.0, activation: str = "none", precision: str = "ieee", dtype: torch.dtype | None = None,
) -> torch.Tensor:  # fmt: skip
    """activation(alpha * A * B + bias) + residual, with gradients.

    a: (m, k) or (batch, m, k), f32, f16, bf16; of 8 bits (e4m3, e5m2) without gradients
    b: (k, n) or (batch, k, n), elements of a
    bias: (n) or (batch, n)
    residual: (m, n) or (batch, m, n), added after the activation
    activation: "none", "relu", "gelu", "gelu_tanh", "silu"
    precision: of f32: "ieee", "tf32", "tf32x3"
    dtype: of the result; None: that of a
    Under torch.autocast a, b and bias are taken in its type, except for a of 8 bits.
    Raises kaio.InvalidArgument, which names the argument.
    """
    if any_autocast() and a.element_size() > 1:
        a, b, bias = autocast(a, b, bias)
    return product(a, b, bias, residual, alpha, activation, precision, dtype)


def product(
    a: torch.Tensor, b: torch.Tensor, bias: torch.Tensor | None = None, residual: torch.Tensor | None = None, alpha: float = 1.0,
    activation: str = "none", precision: str = "ieee", dtype: torch.dtype | None = None,
) -> torch.Tensor:  # fmt: skip
    """matmul in the types that are given."""
    if needs_gradient(a, b, bias, residual):
        if is_compiling():
            a, b, bias, residual = distinct(a, b, bias, residual)
        if activation == "none":
            apply: Callable[..., torch.Tensor] = _apply_matmul if is_direct(a, b, bias, residual) else _Matmul.apply
            return apply(a, b, bias, residual, alpha, precision, dtype)
        # The backward needs the sum before the activation.
        z = _activated(_Matmul.apply(a, b, bias, None, alpha, precision, dtype), activation)
        return z if residual is None else (z + residual).to(z.dtype)
    if is_direct(a, b, bias, residual):
        return _run(a, b, bias, residual, alpha, activation, precision, dtype)
    return _operator(a, b, bias, residual, alpha, activation, precision, dtype)


class _Linear(torch.autograd.Function):
    """x * weight^T + bias + residual of matrices. The gradient of the weight has the weight's own layout."""

    @staticmethod
    def forward(ctx: Any, x: Any, weight: Any, bias: Any, residual: Any, precision: str) -> torch.Tensor:
        ctx.save_for_backward(x, weight)
        ctx.bias, ctx.precision = None if bias is None else bias.dtype, precision
        run: Callable[..., torch.Tensor] = _run if is_direct(x, weight, bias, residual) else _operator
        return run(x, weight.t(), bias, residual, 1.0, "none", precision, None)

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> Any:  # type: ignore[override]
        x, weight = ctx.saved_tensors
        dx = product(gradient, weight, precision=ctx.precision) if ctx.needs_input_grad[0] else None
        dweight = product(gradient.t(), x, precision=ctx.precision) if ctx.needs_input_grad[1] else None
        dbias = gradient.sum(0).to(ctx.bias) if ctx.needs_input_grad[2] else None
        return dx, dweight, dbias, gradient if ctx.needs_input_grad[3] else None, None


_apply_linear = super(torch.autograd.Function, _Linear).apply


def _rows(t: torch.Tensor) -> torch.Tensor:
    if t.dim() == 2:
        return t
    if t.dim() == 0:
        raise ValueError("kaio: linear: argument x or residual has no dimensions; it has to be (..., size)")
    return t.flatten(0, -2) if t.dim() > 2 else t.reshape(1, -1)  # reshape(-1, 0) has no meaning


def linear(
    x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None = None, *, activation: str = "none",
    residual: torch.Tensor | None = None, precision: str = "ieee",
) -> torch.Tensor:  # fmt: skip
    """torch.nn.functional.linear with a fused epilogue: activation(x * weight^T + bias) + residual, with gradients.

    x: (..., k), f32, f16 or bf16; weight: (n, k); bias: (n); residual: (..., n)
    activation: "none", "relu", "gelu", "gelu_tanh", "silu"; with gradients it is a function of torch after the product
    precision: of f32: "ieee", "tf32", "tf32x3"
    Under torch.autocast x, weight and bias are taken in its type.
    Raises kaio.InvalidArgument, which names the argument.
    """
    if any_autocast():
        x, weight, bias = autocast(x, weight, bias)
    shape = (*x.shape[:-1], weight.shape[0])
    rows = _rows(x)
    flat = residual if residual is None else _rows(residual)
    if not needs_gradient(x, weight, bias, residual):
        y = product(rows, weight.t(), bias, flat, 1.0, activation, precision)
    else:
        if is_compiling():
            rows, weight, bias, flat = distinct(rows, weight, bias, flat)
        apply = _apply_linear if is_direct(rows, weight, bias, flat) else _Linear.apply
        if activation == "none":
            y = apply(rows, weight, bias, flat, precision)
        else:
            y = _activated(apply(rows, weight, bias, None, precision), activation)
            y = y if flat is None else (y + flat).to(y.dtype)
    return y if x.dim() == 2 else y.reshape(shape)


def autocast(x: torch.Tensor, *tensors: torch.Tensor | None) -> tuple[Any, ...]:
    """Under torch.autocast: the arguments in its type, as torch does for products; else as they are."""
    kind = x.device.type
    if not torch.is_autocast_enabled(kind):
        return (x, *tensors)
    dtype = torch.get_autocast_dtype(kind)
    return tuple(t if t is None else t.to(dtype) for t in (x, *tensors))


class Linear(torch.nn.Linear):
    """torch.nn.Linear by kaio.torch.linear. `Linear.of(module)` shares the parameters of a torch.nn.Linear.

    precision: of f32: "ieee", "tf32", "tf32x3"; an attribute
    """

    precision = "ieee"

    @classmethod
    def of(cls, module: torch.nn.Linear) -> Linear:
        made = cls.__new__(cls)
        torch.nn.Module.__init__(made)
        made.in_features, made.out_features = module.in_features, module.out_features
        made.weight, made.bias = module.weight, module.bias
        made.train(module.training)
        return made

    def forward(self, input: torch.Tensor) -> torch.Tensor:
        x, weight, bias = autocast(input, self.weight, self.bias)
        return linear(x, weight, bias, precision=self.precision)
