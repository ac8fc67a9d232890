"""The cross entropy of a linear layer for torch."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch.autograd.function import once_differentiable

from .. import operations
from ._library import define, is_direct, needs_gradient, refuse_vmap
from ._norm import _rows


def _keywords(
    bias: torch.Tensor | None, weight: torch.Tensor | None, ignore_index: int, reduction: Any, label_smoothing: float, z_loss: float,
    softcap: float, logit_scale: float, precision: Any,
) -> dict[str, Any]:  # fmt: skip
    return {
        "bias": None if bias is None else bias.contiguous(),
        "weights": None if weight is None else weight.float().contiguous(),
        "ignore_index": ignore_index,
        "reduction": reduction,
        "label_smoothing": label_smoothing,
        "z_loss": z_loss,
        "softcap": softcap,
        "logit_scale": logit_scale,
        "precision": precision,
    }


def _run(
    x: torch.Tensor, linear_weight: torch.Tensor, target: torch.Tensor, *options: Any,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:  # fmt: skip
    """The loss, (rows) or (1), lse, and the divisor of a mean. Without a mean the last one has no elements."""
    keywords = _keywords(*options)
    reduction, rows = keywords["reduction"], x.shape[0]
    loss, lse, total = (
        torch.empty(size, dtype=torch.float32, device=x.device)
        for size in (rows if reduction == "none" else 1, rows, 1 if reduction == "mean" else 0)
    )
    operations.linear_cross_entropy(
        _rows(x), _rows(linear_weight), target.contiguous(), loss, lse=lse,
        total_weight=total if reduction == "mean" else None, **keywords,
    )  # fmt: skip
    return loss, lse, total


def _run_backward(
    x: torch.Tensor, linear_weight: torch.Tensor, target: torch.Tensor, lse: torch.Tensor, dloss: torch.Tensor, total: torch.Tensor,
    of_x: bool, of_weight: bool, of_bias: bool, bias: torch.Tensor | None, *options: Any,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:  # fmt: skip
    """dx, dweight and dbias. Those that are not wanted have no elements."""
    dx, dweight, dbias = _gradients(x, linear_weight, of_x, of_weight, of_bias, bias)
    keywords = _keywords(bias, *options)
    operations.linear_cross_entropy_backward(
        _rows(x), _rows(linear_weight), target.contiguous(), lse, dloss.contiguous(),
        dx if of_x else False, dweight if of_weight else False, dbias=dbias if of_bias else None,
        total_weight=total if keywords["reduction"] == "mean" else None, **keywords,
    )  # fmt: skip
    return dx, dweight, dbias


def _gradients(
    x: torch.Tensor, linear_weight: torch.Tensor, of_x: bool, of_weight: bool, of_bias: bool, bias: torch.Tensor | None,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:  # fmt: skip
    # The gradient of a bias has the type of x, or is f32.
    dtype = x.dtype if bias is None or bias.dtype == x.dtype else torch.float32
    return (
        x.new_empty(x.shape if of_x else (0, 0)),
        x.new_empty(linear_weight.shape if of_weight else (0, 0)),
        x.new_empty(linear_weight.shape[:1] if of_bias else (0,), dtype=dtype),
    )


_OPTIONS = (
    "Tensor? linear_bias, Tensor? weight, int ignore_index, str reduction, float label_smoothing, float z_loss, float softcap, "
    "float logit_scale, str precision"
)
_operator = define(
    f"linear_cross_entropy(Tensor x, Tensor linear_weight, Tensor target, {_OPTIONS}) -> (Tensor, Tensor, Tensor)",
    _run,
    lambda x, linear_weight, target, bias, weight, ignore_index, reduction, *others: tuple(
        x.new_empty((size,), dtype=torch.float32)
        for size in (x.shape[0] if reduction == "none" else 1, x.shape[0], 1 if reduction == "mean" else 0)
    ),
)
_operator_backward = define(
    "linear_cross_entropy_backward(Tensor x, Tensor linear_weight, Tensor target, Tensor lse, Tensor dloss, Tensor total, bool of_x, "
    f"bool of_weight, bool of_bias, {_OPTIONS}) -> (Tensor, Tensor, Tensor)",
    _run_backward,
    lambda x, linear_weight, target, lse, dloss, total, of_x, of_weight, of_bias, bias, *others: _gradients(
        x, linear_weight, of_x, of_weight, of_bias, bias
    ),
)
for _name in ("linear_cross_entropy", "linear_cross_entropy_backward"):
    refuse_vmap(_name)


def _call(x: torch.Tensor, linear_weight: torch.Tensor, target: torch.Tensor, bias: Any, weight: Any, *options: Any) -> Any:
    run: Any = _run if is_direct(x, linear_weight, target, bias, weight) else _operator
    return run(x, linear_weight, target, bias, weight, *options)


class _LinearCrossEntropy(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, x: torch.Tensor, linear_weight: torch.Tensor, target: torch.Tensor, bias: Any, weight: Any, *options: Any
    ) -> Any:
        loss, lse, total = _call(x, linear_weight, target, bias, weight, *options)
        ctx.save_for_backward(x, linear_weight, target, lse, total, bias, weight)
        ctx.options = options
        return loss

    @staticmethod
    @once_differentiable  # type: ignore[untyped-decorator]
    def backward(ctx: Any, *gradients: Any) -> Any:
        x, linear_weight, target, lse, total, bias, weight = ctx.saved_tensors
        wanted = tuple(ctx.needs_input_grad[i] for i in (0, 1, 3))
        run: Any = _run_backward if is_direct(x, linear_weight, target, gradients[0], bias, weight) else _operator_backward
        made = run(x, linear_weight, target, lse, gradients[0], total, *wanted, bias, weight, *ctx.options)
        dx, dweight, dbias = (gradient if is_wanted else None for gradient, is_wanted in zip(made, wanted))
        if dbias is not None:
            dbias = dbias.to(bias.dtype)
        return (dx, dweight, None, dbias, None, *(None for _ in ctx.options))


_apply: Any = _LinearCrossEntropy.apply


def linear_cross_entropy(
    input: torch.Tensor, linear_weight: torch.Tensor, target: torch.Tensor, *, linear_bias: torch.Tensor | None = None,
    weight: torch.Tensor | None = None, reduction: str = "mean", ignore_index: int | None = None, label_smoothing: float = 0.0,
    z_loss: float = 0.0, softcap: float = 0.0, logit_scale: float = 1.0, precision: str = "ieee",
) -> Any:  # fmt: skip
    """torch.nn.functional.linear_cross_entropy with classes as targets, with gradients of input, linear_weight and linear_bias.

    The logits, logit_scale * input @ linear_weight.T + linear_bias, are never in memory as a whole. They are f32.

    input: (..., features); f32, f16, bf16
    linear_weight: (classes, features), of the type of input
    target: (...): classes, i64 or i32. One that is no class gives NaN
    linear_bias: (classes); f32, f16, bf16
    weight: (classes): factors of the losses by target; None: 1
    reduction: "mean", "sum" or "none"; with "none" the loss is minus the logarithm of the target's probability
    ignore_index: rows with this target count for nothing; None: -100
    label_smoothing: 0 to 1
    z_loss: its product with the square of the logarithm of the sum of exponentials is added to a row's loss
    softcap: logits become softcap * tanh(logits / softcap); 0: none
    precision: of products of f32: "ieee", "tf32" or "tf32x3"
    Returns the loss, always f32: a scalar, or with "none" as target.
    Raises ValueError and kaio.InvalidArgument, which name the argument.
    """
    if input.dim() == 0 or linear_weight.dim() != 2:
        raise ValueError("kaio: linear_cross_entropy: input has to be (..., features), and linear_weight (classes, features)")
    classes, features = linear_weight.shape
    if input.shape[-1] != features:
        raise ValueError(f"kaio: linear_cross_entropy: argument input is {tuple(input.shape)}; linear_weight has {features} features")
    if target.dtype not in (torch.int64, torch.int32):
        raise ValueError(f"kaio: linear_cross_entropy: argument target is {target.dtype}; it has to be torch.int64 or torch.int32")
    shape = input.shape[:-1]
    if target.shape != shape:
        raise ValueError(f"kaio: linear_cross_entropy: argument target is {tuple(target.shape)}; it has to be {tuple(shape)}")
    for name, given in (("linear_bias", linear_bias), ("weight", weight)):
        if given is not None and given.shape != (classes,):
            raise ValueError(f"kaio: linear_cross_entropy: argument {name} is {tuple(given.shape)}; it has to be ({classes},)")
    if reduction not in ("mean", "sum", "none"):
        raise ValueError(f"kaio: linear_cross_entropy: argument reduction is {reduction!r}; it has to be 'mean', 'sum' or 'none'")
    if needs_gradient(weight):
        raise ValueError("kaio: linear_cross_entropy has no gradient of weight; detach it")
    x, of_rows = input.reshape(math.prod(shape), features), target.reshape(-1)
    options = (-100 if ignore_index is None else ignore_index, reduction, label_smoothing, z_loss, softcap, logit_scale, precision)
    arguments = (x, linear_weight, of_rows, linear_bias, weight, *options)
    loss = _apply(*arguments) if needs_gradient(x, linear_weight, linear_bias) else _call(*arguments)[0]
    return loss.reshape(shape if reduction == "none" else ())
