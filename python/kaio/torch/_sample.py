"""Sampling of tokens for torch."""

from __future__ import annotations

from typing import Any

import torch

from .. import operations
from ._library import define, is_direct, needs_gradient, refuse_vmap


def _run(
    logits: torch.Tensor, seed: torch.Tensor | None, offset: torch.Tensor | None, temperature: float, top_k: int, top_p: float,
    min_p: float, temperatures: torch.Tensor | None, top_ks: torch.Tensor | None, top_ps: torch.Tensor | None,
    min_ps: torch.Tensor | None, dtype: torch.dtype,
) -> tuple[torch.Tensor, torch.Tensor]:  # fmt: skip
    rows = logits.shape[:-1]
    tokens = torch.empty(rows, dtype=dtype, device=logits.device)
    logprobs = torch.empty(rows, dtype=torch.float32, device=logits.device)
    flat = logits.reshape(-1, logits.shape[-1])

    def of_rows(t: torch.Tensor | None, type: torch.dtype) -> torch.Tensor | None:
        return None if t is None else t.to(type).expand(rows).reshape(-1)

    operations.sample(
        flat if flat.stride(-1) == 1 or flat.shape[-1] <= 1 else flat.contiguous(), tokens.view(-1), logprobs=logprobs.view(-1),
        seed=of_rows(seed, torch.int64), offset=of_rows(offset, torch.int64), temperature=temperature, top_k=top_k, top_p=top_p,
        min_p=min_p, temperatures=of_rows(temperatures, torch.float32), top_ks=of_rows(top_ks, torch.int32),
        top_ps=of_rows(top_ps, torch.float32), min_ps=of_rows(min_ps, torch.float32),
    )  # fmt: skip
    return tokens, logprobs


_operator = define(
    "sample(Tensor logits, Tensor? seed, Tensor? offset, float temperature, int top_k, float top_p, float min_p, "
    "Tensor? temperatures, Tensor? top_ks, Tensor? top_ps, Tensor? min_ps, ScalarType dtype) -> (Tensor, Tensor)",
    _run,
    lambda logits, *arguments: (
        logits.new_empty(logits.shape[:-1], dtype=arguments[-1]),
        logits.new_empty(logits.shape[:-1], dtype=torch.float32),
    ),
)
refuse_vmap("sample")


def sample(
    logits: torch.Tensor, *, seed: torch.Tensor | None = None, offset: torch.Tensor | None = None,
    temperature: float | torch.Tensor = 1.0, top_k: int | torch.Tensor = 0, top_p: float | torch.Tensor = 1.0,
    min_p: float | torch.Tensor = 0.0, logprobs: bool = False, dtype: torch.dtype = torch.int64,
) -> Any:  # fmt: skip
    """Draws a token for each row of logits. A token is a function of its row, seed, offset and options. Has no gradient.

    logits: (..., vocabulary), f32, f16, bf16
    seed, offset: (...), or broadcast to it, i64; needed, unless temperature is 0. Two draws differ if their offsets do
    temperature, top_k, top_p, min_p: numbers, or tensors of (...); temperature 0: the largest logit; top_k 0: all tokens
    logprobs: whether the log-probability of each token is returned too
    dtype: of the tokens: torch.int64 or torch.int32
    Returns tokens, (...); with logprobs also these, (...) of f32.
    Raises ValueError and kaio.InvalidArgument, which name the argument.
    """
    if logits.dim() == 0:
        raise ValueError("kaio: sample: argument logits has no dimensions; it has to be (..., vocabulary)")
    if dtype not in (torch.int64, torch.int32):
        raise ValueError(f"kaio: sample: argument dtype is {dtype}; it has to be torch.int64 or torch.int32")
    numbers: list[Any] = []
    tensors: list[torch.Tensor | None] = []
    for given, default in ((temperature, 1.0), (top_k, 0), (top_p, 1.0), (min_p, 0.0)):
        is_tensor = isinstance(given, torch.Tensor)
        numbers.append(default if is_tensor else given)
        tensors.append(given if isinstance(given, torch.Tensor) else None)
    if needs_gradient(logits, *tensors):
        raise ValueError("kaio: sample has no gradient; call it under torch.no_grad(), or detach its arguments")
    run: Any = _run if is_direct(logits, seed, offset, *tensors) else _operator
    tokens, of_tokens = run(logits, seed, offset, *numbers, *tensors, dtype)
    return (tokens, of_tokens) if logprobs else tokens
