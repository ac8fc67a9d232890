"""Softmax, its logarithm and the cross entropy for torch."""

from __future__ import annotations

from typing import Any, Callable

import torch
from torch.autograd.function import once_differentiable

from .. import operations
from ._library import define, is_direct, needs_gradient, refuse_vmap
from ._norm import _rows


def _kernel(name: str) -> Callable[..., torch.Tensor]:
    """An operation of operations along the last dimension, whose result is as its first argument."""
    operation = getattr(operations, name)

    def run(*given: torch.Tensor) -> torch.Tensor:
        out = torch.empty(given[0].shape, dtype=given[0].dtype, device=given[0].device)
        if out.numel() != 0:
            operation(*(_rows(t) for t in given), _rows(out))
        return out

    return run


def _fake(x: torch.Tensor, *others: torch.Tensor) -> torch.Tensor:
    return x.new_empty(x.shape)


_KERNELS = {name: _kernel(name) for name in ("softmax", "log_softmax", "softmax_backward", "log_softmax_backward")}
_OPERATORS = {
    name: define(f"{name}({'Tensor y, Tensor dy' if name.endswith('backward') else 'Tensor x'}) -> Tensor", kernel, _fake)
    for name, kernel in _KERNELS.items()
}


def _call(name: str, *tensors: torch.Tensor) -> torch.Tensor:
    run = (_KERNELS if is_direct(*tensors) else _OPERATORS)[name]
    out: torch.Tensor = run(*tensors)
    return out


class _Softmax(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, name: str) -> Any:
        y = _call(name, x)
        ctx.save_for_backward(y)
        ctx.name = name
        return y

    @staticmethod
    @once_differentiable  # type: ignore[untyped-decorator]
    def backward(ctx: Any, *gradients: Any) -> Any:
        return _call(f"{ctx.name}_backward", *ctx.saved_tensors, gradients[0]), None


_apply: Any = _Softmax.apply


def _along(name: str, x: torch.Tensor, dim: int) -> torch.Tensor:
    if not -x.dim() <= dim < x.dim():
        raise ValueError(f"kaio: {name}: argument dim is {dim}; x has {x.dim()} dimensions")
    last = dim in (-1, x.dim() - 1)
    x = x if last else x.movedim(dim, -1)
    y: torch.Tensor = _apply(x, name) if needs_gradient(x) else _call(name, x)
    return y if last else y.movedim(-1, dim)


def softmax(x: torch.Tensor, dim: int = -1) -> Any:
    """e^x / sum of e^x along a dimension, with gradients.

    x: f32, f16, bf16. A row of -infinity becomes 0
    dim: another one than the last takes a copy of x
    Returns a tensor as x. Raises ValueError and kaio.InvalidArgument, which name the argument.
    """
    return _along("softmax", x, dim)


def log_softmax(x: torch.Tensor, dim: int = -1) -> Any:
    """x - log(sum of e^x) along a dimension, with gradients.

    x, dim: as for softmax. A row of -infinity stays as it is
    Returns a tensor as x. Raises ValueError and kaio.InvalidArgument, which name the argument.
    """
    return _along("log_softmax", x, dim)


def _run_loss(
    logits: torch.Tensor, target: torch.Tensor, weight: torch.Tensor | None, ignore_index: int, reduction: Any,
    label_smoothing: float, z_loss: float, softcap: float,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:  # fmt: skip
    """The loss, (rows) or (1), lse, and the divisor of a mean. Without a mean the last one has no elements."""

    def empty(size: int) -> torch.Tensor:
        return torch.empty(size, dtype=torch.float32, device=logits.device)

    is_mean, rows = reduction == "mean", logits.shape[0]
    loss, lse, total = empty(rows if reduction == "none" else 1), empty(rows), empty(1 if is_mean else 0)
    operations.cross_entropy(
        _rows(logits), target.contiguous(), loss, reduction=reduction, ignore_index=ignore_index, label_smoothing=label_smoothing,
        z_loss=z_loss, softcap=softcap, weights=None if weight is None else weight.float().contiguous(), lse=lse,
        total_weight=total if is_mean else None,
    )  # fmt: skip
    return loss, lse, total


def _run_loss_backward(
    logits: torch.Tensor, target: torch.Tensor, lse: torch.Tensor, dloss: torch.Tensor, total: torch.Tensor,
    weight: torch.Tensor | None, ignore_index: int, reduction: Any, label_smoothing: float, z_loss: float, softcap: float,
) -> torch.Tensor:  # fmt: skip
    dlogits = torch.empty(logits.shape, dtype=logits.dtype, device=logits.device)
    operations.cross_entropy_backward(
        _rows(logits), target.contiguous(), lse, dloss.contiguous(), dlogits, reduction=reduction, ignore_index=ignore_index,
        label_smoothing=label_smoothing, z_loss=z_loss, softcap=softcap,
        weights=None if weight is None else weight.float().contiguous(), total_weight=total if reduction == "mean" else None,
    )  # fmt: skip
    return dlogits


_OPTIONS = "Tensor? weight, int ignore_index, str reduction, float label_smoothing, float z_loss, float softcap"
_operator_loss = define(
    f"cross_entropy(Tensor logits, Tensor target, {_OPTIONS}) -> (Tensor, Tensor, Tensor)",
    _run_loss,
    lambda logits, target, weight, ignore_index, reduction, *others: tuple(
        logits.new_empty((size,), dtype=torch.float32)
        for size in (logits.shape[0] if reduction == "none" else 1, logits.shape[0], 1 if reduction == "mean" else 0)
    ),
)
_operator_loss_backward = define(
    f"cross_entropy_backward(Tensor logits, Tensor target, Tensor lse, Tensor dloss, Tensor total, {_OPTIONS}) -> Tensor",
    _run_loss_backward,
    _fake,
)
for _name in (*_KERNELS, "cross_entropy", "cross_entropy_backward"):
    refuse_vmap(_name)


def _call_loss(logits: torch.Tensor, target: torch.Tensor, weight: torch.Tensor | None, *options: Any) -> Any:
    run: Any = _run_loss if is_direct(logits, target, weight) else _operator_loss
    return run(logits, target, weight, *options)


class _CrossEntropy(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, logits: torch.Tensor, target: torch.Tensor, weight: torch.Tensor | None, *options: Any) -> Any:
        loss, lse, total = _call_loss(logits, target, weight, *options)
        ctx.save_for_backward(logits, target, lse, total, weight)
        ctx.options = options
        return loss

    @staticmethod
    @once_differentiable  # type: ignore[untyped-decorator]
    def backward(ctx: Any, *gradients: Any) -> Any:
        logits, target, lse, total, weight = ctx.saved_tensors
        run: Any = _run_loss_backward if is_direct(logits, target, gradients[0], weight) else _operator_loss_backward
        dlogits = run(logits, target, lse, gradients[0], total, weight, *ctx.options)
        return (dlogits, None, None, *(None for _ in ctx.options))


_apply_loss: Any = _CrossEntropy.apply


def cross_entropy(
    logits: torch.Tensor, target: torch.Tensor, weight: torch.Tensor | None = None, ignore_index: int = -100,
    reduction: str = "mean", label_smoothing: float = 0.0, z_loss: float = 0.0, softcap: float = 0.0,
) -> Any:  # fmt: skip
    """torch.nn.functional.cross_entropy with classes as targets, with gradients of the logits.

    logits: (rows, classes), (classes), or (rows, classes, ...), which takes a copy; f32, f16, bf16
    target: classes, i64 or i32: the shape of logits without classes. One that is no class gives NaN
    weight: (classes): factors of the losses by target; None: 1
    ignore_index: rows with this target count for nothing
    reduction: "mean", "sum" or "none"
    label_smoothing: 0 to 1
    z_loss: its product with the square of the logarithm of the sum of exponentials is added to a row's loss
    softcap: logits become softcap * tanh(logits / softcap); 0: none
    Returns the loss, always f32: a scalar, or with "none" as target.
    Raises ValueError and kaio.InvalidArgument, which name the argument.
    """
    if logits.dim() == 0:
        raise ValueError("kaio: cross_entropy: argument logits has no dimensions; it has to be (rows, classes)")
    class_dim = min(1, logits.dim() - 1)
    classes, shape = logits.shape[class_dim], logits.shape[:class_dim] + logits.shape[class_dim + 1 :]
    if target.dtype not in (torch.int64, torch.int32):
        raise ValueError(f"kaio: cross_entropy: argument target is {target.dtype}; it has to be torch.int64 or torch.int32")
    if target.shape != shape:
        raise ValueError(f"kaio: cross_entropy: argument target is {tuple(target.shape)}; it has to be {tuple(shape)}")
    if weight is not None and weight.shape != (classes,):
        raise ValueError(f"kaio: cross_entropy: argument weight is {tuple(weight.shape)}; it has to be ({classes},)")
    if reduction not in ("mean", "sum", "none"):
        raise ValueError(f"kaio: cross_entropy: argument reduction is {reduction!r}; it has to be 'mean', 'sum' or 'none'")
    if needs_gradient(weight):
        raise ValueError("kaio: cross_entropy has no gradient of weight; detach it")
    if logits.dim() != 2:
        logits, target = logits.movedim(class_dim, -1).reshape(target.numel(), classes), target.reshape(-1)
    given = (logits, target, weight, ignore_index, reduction, label_smoothing, z_loss, softcap)
    loss = _apply_loss(*given) if needs_gradient(logits) else _call_loss(*given)[0]
    return loss.reshape(shape if reduction == "none" else ())
