"""Random problems of attention, forward and backward, on tensors (batches, rows, heads, size)."""

from __future__ import annotations

import random
from typing import Any, Callable

import kaio
import torch
from problem import arena, problem, size
from product_problems import between

F = torch.nn.functional
aten = torch.ops.aten


def attention_operands(draw: random.Random) -> tuple[str, dict[str, str], bool, Callable[[], tuple[Any, ...]]]:
    dtype = draw.choice([torch.bfloat16, torch.float16])
    d = draw.choice([64, 64, 80, 96, 128, 128, 256])
    hkv, group = draw.choice([1, 2, 4, 8]), draw.choice([1, 1, 4])
    sq = size(draw, 16, 4096)
    sk = sq if draw.random() < 0.7 else size(draw, 16, 4096)
    b = max(1, min(16, size(draw, 1, 16), (1 << 24) // max(1, hkv * group * max(sq, sk) * d)))
    causal = sq == sk and draw.random() < 0.5

    def make() -> tuple[Any, ...]:
        shapes = (b, sq, hkv * group, d), (b, sk, hkv, d), (b, sk, hkv, d)
        return tuple(arena.take(*s, dtype=dtype) for s in shapes)

    kinds = {"D": f"{d:6}", "mask": "causal" if causal else "none", "heads": "grouped" if group > 1 else "equal",
             "rows": "keys above 4 x queries" if sk > 4 * sq else "queries above 4 x keys" if sq > 4 * sk else "near",
             "batches x heads": between(b * hkv * group, [4, 16, 64]), "keys": between(sk, [128, 512, 2048])}  # fmt: skip
    name = f"{b} x {sq} over {sk}, heads {hkv * group} / {hkv}, D {d}{' causal' if causal else ''} {dtype}"
    return name, kinds, causal, make


def heads_first(*tensors: torch.Tensor) -> list[torch.Tensor]:
    return [t.transpose(1, 2) for t in tensors]


def sdpa(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, causal: bool) -> torch.Tensor:
    q, k, v = heads_first(q, k, v)
    return F.scaled_dot_product_attention(q, k, v, is_causal=causal, enable_gqa=q.shape[1] != k.shape[1]).transpose(1, 2)


def attention(draw: random.Random) -> problem:
    name, kinds, causal, make = attention_operands(draw)
    peers = {
        "cuDNN": lambda *operands: aten._scaled_dot_product_cudnn_attention(
            *heads_first(*operands), None, False, 0.0, causal)[0].transpose(1, 2),
        "flash": lambda *operands: aten._scaled_dot_product_flash_attention(*heads_first(*operands), 0.0, causal)[0].transpose(1, 2),
    }  # fmt: skip
    return problem(name, make, lambda q, k, v: kaio.attention(q, k, v, causal="top_left" if causal else "none"), peers,
                   lambda q, k, v: sdpa(q.float(), k.float(), v.float(), causal), 2e-2, kinds=kinds)  # fmt: skip


def attention_backward(draw: random.Random) -> problem:
    """The backward alone. Both sides get the result and the logarithms of their own forward."""
    name, kinds, causal, make = attention_operands(draw)
    mask = "top_left" if causal else "none"

    def with_results() -> tuple[Any, ...]:
        q, k, v = make()
        dout = arena.take(*q.shape, dtype=q.dtype)
        out, lse = kaio.attention(q, k, v, causal=mask, lse=True)
        try:
            forward = aten._scaled_dot_product_cudnn_attention(*heads_first(q, k, v), None, True, 0.0, causal)
        except RuntimeError:
            return q, k, v, dout, out, lse, None, None, None, None
        return q, k, v, dout, out, lse, forward[0], forward[1], forward[6], forward[7]

    def ours(q: Any, k: Any, v: Any, dout: Any, out: Any, lse: Any, *_: Any) -> Any:
        return kaio.attention_backward(dout, q, k, v, out, lse, forward=kaio.AttentionOptions(causal=mask))

    def peer(q: Any, k: Any, v: Any, dout: Any, _: Any, __: Any, out: Any, lse: Any, seed: Any, offset: Any) -> Any:
        if out is None:
            raise RuntimeError("cuDNN has no forward for this problem")
        q, k, v, dout = heads_first(q, k, v, dout)
        gradients = aten._scaled_dot_product_cudnn_attention_backward(
            dout, q, k, v, out, lse, seed, offset, None, None, None, q.shape[2], k.shape[2], 0.0, causal
        )
        return tuple(heads_first(*gradients))

    def reference(q: Any, k: Any, v: Any, dout: Any, *_: Any) -> Any:
        leaves = [t.float().requires_grad_() for t in (q, k, v)]
        return torch.autograd.grad(sdpa(*leaves, causal), leaves, dout.float())

    return problem(name, with_results, ours, {"cuDNN": peer}, reference, 5e-2, kinds=kinds,
                   uses={"ours": (0, 1, 2, 3, 4, 5), "cuDNN": (0, 1, 2, 3, 6, 7)})  # fmt: skip


KINDS: dict[str, Callable[[random.Random], problem]] = {"attention": attention, "attention_backward": attention_backward}
