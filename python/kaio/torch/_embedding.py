"""Embedding lookup for torch, with a gradient that has the same bits in equal calls."""

from __future__ import annotations

from typing import Any

import torch
from torch.autograd.function import once_differentiable

from .. import operations
from ._library import define, is_direct, needs_gradient, refuse_vmap


def _adjacent(t: torch.Tensor) -> torch.Tensor:
    return t if t.stride(-1) == 1 or t.shape[-1] <= 1 else t.contiguous()


def _few(indices: torch.Tensor) -> torch.Tensor:
    """Indices as the operation takes them: one to four dimensions."""
    return indices if 1 <= indices.dim() <= 4 else indices.reshape(-1)


def _run(indices: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    size = weight.shape[1]
    out = torch.empty((*indices.shape, size), dtype=weight.dtype, device=weight.device)
    few = _few(indices)
    operations.embedding(few, _adjacent(weight), out.view(*few.shape, size))
    return out


def _run_backward(
    gradient: torch.Tensor, indices: torch.Tensor, vocabulary: int, padding_index: int
) -> torch.Tensor:
    size = gradient.shape[-1]
    dweight = torch.empty((vocabulary, size), dtype=gradient.dtype, device=gradient.device)
    few = _few(indices)
    operations.embedding_backward(_adjacent(gradient.reshape(*few.shape, size)), few, dweight, padding_index=padding_index)
    return dweight


_operator = define(
    "embedding(Tensor indices, Tensor weight) -> Tensor",
    _run,
    lambda indices, weight: weight.new_empty((*indices.shape, weight.shape[1])),
)
_operator_backward = define(
    "embedding_backward(Tensor gradient, Tensor indices, SymInt vocabulary, int padding_index) -> Tensor",
    _run_backward,
    lambda gradient, indices, vocabulary, padding_index: gradient.new_empty((vocabulary, gradient.shape[-1])),
)
for _name in ("embedding", "embedding_backward"):
    refuse_vmap(_name)


def _call(indices: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    run: Any = _run if is_direct(indices, weight) else _operator
    out: torch.Tensor = run(indices, weight)
    return out


def gradient_of(gradient: torch.Tensor, indices: torch.Tensor, vocabulary: int, padding_index: int = -1) -> torch.Tensor:
    """The gradient of a weight (vocabulary, size), elements of `gradient`."""
    run: Any = _run_backward if is_direct(gradient, indices) else _operator_backward
    dweight: torch.Tensor = run(gradient, indices, vocabulary, padding_index)
    return dweight


class _Embedding(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, indices: torch.Tensor, weight: torch.Tensor, padding_index: int) -> Any:
        ctx.save_for_backward(indices)
        ctx.vocabulary, ctx.padding_index = weight.shape[0], padding_index
        return _call(indices, weight)

    @staticmethod
    @once_differentiable  # type: ignore[untyped-decorator]
    def backward(ctx: Any, *gradients: Any) -> Any:
        (indices,) = ctx.saved_tensors
        return None, gradient_of(gradients[0], indices, ctx.vocabulary, ctx.padding_index), None


_apply: Any = _Embedding.apply


def embedding(indices: torch.Tensor, weight: torch.Tensor, *, padding_index: int | None = None) -> Any:
    """weight[indices], with a gradient of the weight that is summed in f32, in the order of the indices.

    indices: (...), i32 or i64. One that is negative, or not below the vocabulary, gives zeros
    weight: (vocabulary, size), f32, f16, bf16
    padding_index: gets no gradient
    Returns (..., size). Raises ValueError and kaio.InvalidArgument, which name the argument.
    """
    if weight.dim() != 2:
        raise ValueError(f"kaio: embedding: argument weight is {tuple(weight.shape)}; it has to be (vocabulary, size)")
    if padding_index is not None and not 0 <= padding_index < weight.shape[0]:
        raise ValueError(f"kaio: embedding: argument padding_index is {padding_index}; it has to be 0 to {weight.shape[0] - 1}")
    if needs_gradient(weight):
        return _apply(indices, weight, -1 if padding_index is None else padding_index)
    return _call(indices, weight)
