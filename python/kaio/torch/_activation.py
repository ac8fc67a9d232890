"""Activations for torch, alone and as gates, with gradients. Each forward and each backward is one launch."""

from __future__ import annotations

from typing import Any

import torch
from torch.autograd.function import once_differentiable

from .. import operations
from ._library import define, distinct, is_compiling, is_direct, needs_gradient, refuse_vmap

ACTIVATIONS = ("silu", "gelu", "gelu_tanh", "gelu_sigmoid", "relu", "relu2")


def _checked(name: str, kind: str) -> None:
    if kind not in ACTIVATIONS:
        raise ValueError(f"kaio: {name}: argument kind is {kind!r}; it has to be one of {', '.join(map(repr, ACTIVATIONS))}")


def _few(t: torch.Tensor) -> torch.Tensor:
    """A tensor as the operation takes it: one to five dimensions."""
    return t if 1 <= t.dim() <= 5 else t.reshape(-1)


def _run(x: torch.Tensor, kind: Any) -> torch.Tensor:
    out = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    operations.activate(kind, _few(x), _few(out))
    return out


def _run_backward(gradient: torch.Tensor, x: torch.Tensor, kind: Any) -> torch.Tensor:
    dx = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    operations.activate_backward(kind, _few(gradient), _few(x), _few(dx))
    return dx


def _run_gated(gate: torch.Tensor, up: torch.Tensor, kind: Any, limit: float, up_offset: float) -> torch.Tensor:
    out = torch.empty(gate.shape, dtype=gate.dtype, device=gate.device)
    operations.gated(kind, _few(gate), _few(up), _few(out), limit=limit, up_offset=up_offset)
    return out


def _run_gated_backward(
    gradient: torch.Tensor, gate: torch.Tensor, up: torch.Tensor, kind: Any, limit: float, up_offset: float
) -> tuple[torch.Tensor, torch.Tensor]:
    dgate, dup = (torch.empty(t.shape, dtype=t.dtype, device=t.device) for t in (gate, up))
    operations.gated_backward(kind, _few(gradient), _few(gate), _few(up), _few(dgate), _few(dup), limit=limit, up_offset=up_offset)
    return dgate, dup


_operator = define("activation(Tensor x, str kind) -> Tensor", _run, lambda x, kind: x.new_empty(x.shape))
_operator_backward = define(
    "activation_backward(Tensor gradient, Tensor x, str kind) -> Tensor", _run_backward, lambda gradient, x, kind: x.new_empty(x.shape)
)
_operator_gated = define(
    "gated(Tensor gate, Tensor up, str kind, float limit, float up_offset) -> Tensor",
    _run_gated,
    lambda gate, up, kind, limit, up_offset: gate.new_empty(gate.shape),
)
_operator_gated_backward = define(
    "gated_backward(Tensor gradient, Tensor gate, Tensor up, str kind, float limit, float up_offset) -> (Tensor, Tensor)",
    _run_gated_backward,
    lambda gradient, gate, up, kind, limit, up_offset: (gate.new_empty(gate.shape), up.new_empty(up.shape)),
)
for _name in ("activation", "activation_backward", "gated", "gated_backward"):
    refuse_vmap(_name)


def _call(x: torch.Tensor, kind: str) -> torch.Tensor:
    run: Any = _run if is_direct(x) else _operator
    out: torch.Tensor = run(x, kind)
    return out


def _call_gated(gate: torch.Tensor, up: torch.Tensor, kind: str, limit: float, up_offset: float) -> torch.Tensor:
    run: Any = _run_gated if is_direct(gate, up) else _operator_gated
    out: torch.Tensor = run(gate, up, kind, limit, up_offset)
    return out


class _Activation(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, kind: str) -> Any:
        ctx.save_for_backward(x)
        ctx.kind = kind
        return _call(x, kind)

    @staticmethod
    @once_differentiable  # type: ignore[untyped-decorator]
    def backward(ctx: Any, *gradients: Any) -> Any:
        (x,) = ctx.saved_tensors
        run: Any = _run_backward if is_direct(gradients[0], x) else _operator_backward
        return run(gradients[0], x, ctx.kind), None


class _Gated(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, gate: torch.Tensor, up: torch.Tensor, kind: str, limit: float, up_offset: float) -> Any:
        ctx.save_for_backward(gate, up)
        ctx.options = kind, limit, up_offset
        return _call_gated(gate, up, kind, limit, up_offset)

    @staticmethod
    @once_differentiable  # type: ignore[untyped-decorator]
    def backward(ctx: Any, *gradients: Any) -> Any:
        gate, up = ctx.saved_tensors
        run: Any = _run_gated_backward if is_direct(gradients[0], gate, up) else _operator_gated_backward
        dgate, dup = run(gradients[0], gate, up, *ctx.options)
        return dgate if ctx.needs_input_grad[0] else None, dup if ctx.needs_input_grad[1] else None, None, None, None


_apply: Any = _Activation.apply
_apply_gated: Any = _Gated.apply


def activation(x: torch.Tensor, kind: str = "silu") -> Any:
    """f(x), with gradients. The computation is in f32.

    x: any shape and strides, f32, f16, bf16
    kind: "silu", "gelu" (by erf), "gelu_tanh", "gelu_sigmoid", "relu" or "relu2", the square of relu
    Raises ValueError and kaio.InvalidArgument, which name the argument.
    """
    _checked("activation", kind)
    return _apply(x, kind) if needs_gradient(x) else _call(x, kind)


def gated(gate: torch.Tensor, up: torch.Tensor, kind: str = "silu", *, limit: float = 0.0, up_offset: float = 0.0) -> Any:
    """f(min(gate, limit)) * (clamp(up, -limit, limit) + up_offset), with gradients: SwiGLU and its like.

    gate, up: equal shapes, any strides, f32, f16, bf16; the halves of a packed tensor are two views of it
    kind: as of activation
    limit: above 0; 0: none. gpt-oss: "gelu_sigmoid", limit=7, up_offset=1
    Raises ValueError and kaio.InvalidArgument, which name the argument.
    """
    _checked("gated", kind)
    if gate.shape != up.shape:
        raise ValueError(f"kaio: gated: argument up is {tuple(up.shape)}; it has to be {tuple(gate.shape)}, as gate")
    if needs_gradient(gate, up):
        if is_compiling():
            gate, up = distinct(gate, up)
        return _apply_gated(gate, up, kind, limit, up_offset)
    return _call_gated(gate, up, kind, limit, up_offset)
