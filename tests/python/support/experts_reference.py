"""Blocks of mixtures of experts in double precision, written from the models' own formulas."""

from __future__ import annotations

import torch

# size, intermediate, experts, k, shared: of the emulator, and of the model.
SMALL = {
    "mixtral": (64, 96, 8, 2, 0),
    "qwen3_moe": (48, 32, 32, 8, 0),
    "deepseek_v3": (64, 32, 32, 8, 40),
    "gpt_oss": (48, 48, 16, 4, 0),
}
TRUE = {
    "mixtral": (4096, 14336, 8, 2, 0),
    "qwen3_moe": (2048, 768, 128, 8, 0),
    "deepseek_v3": (7168, 2048, 256, 8, 2048),
    "gpt_oss": (2880, 2880, 32, 4, 0),
}


def _routed(model, logits, choice_bias, k):
    """The experts of each token, their weights, and how far the choice is from another one."""
    margin = torch.full(logits.shape[:1], torch.inf, dtype=torch.float64, device=logits.device)

    def best(scores, count):
        nonlocal margin
        if count < scores.shape[1]:
            top = scores.topk(count + 1, -1).values
            margin = torch.minimum(margin, top[:, -2] - top[:, -1])
        return scores.topk(count, -1).indices

    if model == "gpt_oss":  # the softmax of the chosen logits
        indices = best(logits, k)
        return indices, torch.softmax(logits.gather(1, indices), -1), margin
    if model in ("mixtral", "qwen3_moe"):
        scores = torch.softmax(logits, -1)
        indices = best(logits, k)
        weights = scores.gather(1, indices)
        return indices, weights / weights.sum(-1, keepdim=True), margin
    scores = torch.sigmoid(logits)
    biased = scores + choice_bias
    groups = biased.view(biased.shape[0], 8, -1)
    kept = best(groups.topk(2, -1).values.sum(-1), 4)
    allowed = torch.zeros(groups.shape[:2], dtype=torch.bool, device=logits.device).scatter(1, kept, True)
    indices = best(groups.masked_fill(~allowed[:, :, None], -torch.inf).flatten(1), k)
    weights = scores.gather(1, indices)
    return indices, 2.5 * weights / (weights.sum(-1, keepdim=True) + 1e-20), margin


def _expert(model, x, gate_up, gate_up_bias, down, down_bias):
    both = x @ gate_up.T
    if model == "gpt_oss":
        both = both + gate_up_bias
        gate, up = both[:, ::2].clamp(max=7.0), both[:, 1::2].clamp(-7.0, 7.0)
        return (gate * torch.sigmoid(1.702 * gate) * (up + 1)) @ down.T + down_bias
    gate, up = both.chunk(2, -1)
    return (torch.nn.functional.silu(gate) * up) @ down.T


def block(model, module, x, leaves=None):
    """The result of the block, and the margin of each token's choice. leaves: parameters in double precision by name, to
    differentiate; without them those of the module."""

    def of(name, expert=None):
        t = getattr(module, name) if leaves is None or name not in leaves else leaves[name]
        t = t if t is None or expert is None else t[expert]
        return None if t is None else t.double()

    x = x.double()
    logits = x @ of("router").T
    if module.router_bias is not None:
        logits = logits + of("router_bias")
    indices, weights, margin = _routed(model, logits, of("choice_bias"), module.k)
    out = torch.zeros_like(x)
    for expert in range(module.experts):
        tokens, places = (indices == expert).nonzero(as_tuple=True)
        if tokens.numel():
            y = _expert(model, x[tokens], *(of(n, expert) for n in ("gate_up", "gate_up_bias", "down", "down_bias")))
            out = out.index_add(0, tokens, y * weights[tokens, places][:, None])
    if module.shared_gate is not None:
        h = torch.nn.functional.silu(x @ of("shared_gate").T) * (x @ of("shared_up").T)
        out = out + h @ of("shared_down").T
    return out, margin
