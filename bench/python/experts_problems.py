"""Blocks of mixtures of experts in the sizes of four models: kaio.torch.Experts next to the same steps of torch.

Torch sorts the choices, gathers rows, multiplies by torch._grouped_mm, and adds by index_add, as transformers does it.
"""

from __future__ import annotations

import functools
import random
from typing import Any, Callable

import kaio.torch as kt
import torch
from problem import arena, problem, size
from product_problems import between

F = torch.nn.functional
# size, intermediate, experts, k, intermediate size of the shared expert
SIZES = {
    "mixtral": (4096, 14336, 8, 2, 0), "qwen3_moe": (2048, 768, 128, 8, 0), "deepseek_v3": (7168, 2048, 256, 8, 2048),
    "gpt_oss": (2880, 2880, 32, 4, 0),
}  # fmt: skip


@functools.cache
def block_of(model: str) -> kt.Experts:
    hidden, intermediate, experts, k, shared = SIZES[model]
    return kt.Experts.of_model(model, hidden, intermediate, experts=experts, k=k, shared=shared, device="cuda")


def routed(block: kt.Experts, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    options = block.routing
    logits = F.linear(x, block.router, block.router_bias).float()
    scores = torch.sigmoid(logits) if options["score"] == "sigmoid" else torch.softmax(logits, -1)
    keys = scores if block.choice_bias is None else scores + block.choice_bias
    if options["groups"] > 1:
        groups = keys.view(len(x), options["groups"], -1)
        kept = groups.topk(2, -1).values.sum(-1).topk(options["kept_groups"], -1).indices
        mask = torch.zeros(groups.shape[:2], device=x.device, dtype=torch.bool).scatter_(1, kept, True)
        keys = groups.masked_fill(~mask[:, :, None], 0).flatten(1)
    indices = keys.topk(block.k, -1).indices
    weights = scores.gather(1, indices)
    return indices, weights / (weights.sum(-1, keepdim=True) + 1e-20) * options["factor"]


def gated(block: kt.Experts, both: torch.Tensor) -> torch.Tensor:
    if block.interleaved:
        gate, up = both[:, ::2].clamp(max=7), both[:, 1::2].clamp(-7, 7)
        return gate * torch.sigmoid(1.702 * gate) * (up + 1)
    gate, up = both.chunk(2, -1)
    return F.silu(gate) * up


def shared_of(block: kt.Experts, x: torch.Tensor) -> torch.Tensor:
    gate, up, down = (w.to(x.dtype) for w in (block.shared_gate, block.shared_up, block.shared_down))
    return F.linear(F.silu(F.linear(x, gate)) * F.linear(x, up), down)


def by_torch(block: kt.Experts, x: torch.Tensor) -> torch.Tensor:
    indices, weights = routed(block, x)
    order = indices.flatten().argsort()
    experts, tokens = indices.flatten()[order], order // block.k
    ends = torch.histc(experts.float(), block.experts, 0, block.experts - 1).cumsum(0).to(torch.int32)
    both = torch._grouped_mm(x[tokens], block.gate_up.mT, offs=ends)
    if block.gate_up_bias is not None:
        both = both + block.gate_up_bias[experts]
    y = torch._grouped_mm(gated(block, both), block.down.mT, offs=ends)
    if block.down_bias is not None:
        y = y + block.down_bias[experts]
    out = torch.zeros_like(x) if block.shared_gate is None else shared_of(block, x)
    return out.index_add_(0, tokens, (y * weights.flatten()[order, None]).to(x.dtype))


def reference(block: kt.Experts, x: torch.Tensor) -> torch.Tensor:
    """In f32, with the choices of kaio's router, which has tests of its own."""
    logits = kt.matmul(x, block.router.mT, bias=block.router_bias, dtype=torch.float32)
    indices, weights = kt.topk_router(logits, block.k, bias=block.choice_bias, **block.routing)
    wide = x.float()
    out = torch.zeros_like(wide) if block.shared_gate is None else shared_of(block, wide)
    for expert in range(block.experts):
        tokens, places = (indices == expert).nonzero(as_tuple=True)
        if not len(tokens):
            continue
        both = wide[tokens] @ block.gate_up[expert].float().T
        if block.gate_up_bias is not None:
            both = both + block.gate_up_bias[expert]
        y = gated(block, both) @ block.down[expert].float().T
        if block.down_bias is not None:
            y = y + block.down_bias[expert]
        out.index_add_(0, tokens, y * weights[tokens, places, None])
    return out


def experts(draw: random.Random) -> problem:
    model, tokens = draw.choice(list(SIZES)), size(draw, 1, 8192)
    block = block_of(model)

    def without_gradients(run: Callable[..., Any]) -> Callable[..., Any]:
        return torch.no_grad()(run)  # type: ignore[no-any-return]

    return problem(f"{model}, {tokens} tokens", lambda: (arena.take(tokens, block.size, dtype=torch.bfloat16),), without_gradients(block),
                   without_gradients(lambda x: by_torch(block, x)), without_gradients(lambda x: reference(block, x)), 4e-2,
                   kinds={"model": model, "tokens": between(tokens, [8, 64, 512])})  # fmt: skip


KINDS: dict[str, Callable[[random.Random], problem]] = {"experts": experts}
