#!/usr/bin/env python3
"""The same layer in torch, f16, as it is and compiled, each as one CUDA graph: prints their times. Prints nothing where torch
cannot be imported, or has no GPU.

    torch_layer.py HIDDEN HEADS KEY_HEADS SIZE FF BEFORE TOKENS
"""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent / "bench"))
from peer_times import displacing, median_us  # noqa: E402


def layer_of(torch, hidden, heads, key_heads, size, ff, before, tokens):
    def random(*shape):
        return torch.randn(*shape, device="cuda", dtype=torch.float16)

    def weight(n, k):
        return random(n, k) / k**0.5

    norm = torch.nn.functional.rms_norm
    first, second = random(hidden), random(hidden)
    qkv, out = weight((heads + 2 * key_heads) * size, hidden), weight(hidden, heads * size)
    gate_up, down = weight(2 * ff, hidden), weight(hidden, ff)
    keys, values = random(key_heads, before + tokens, size), random(key_heads, before + tokens, size)
    h0, x = random(tokens, hidden), random(tokens, hidden)
    positions = torch.arange(before, before + tokens, device="cuda")
    angles = positions[:, None] * 500000.0 ** -(torch.arange(size // 2, device="cuda") / (size // 2))
    cos, sin = angles.cos()[:, None], angles.sin()[:, None]
    mask = torch.arange(before + tokens, device="cuda")[None] <= positions[:, None]

    def rotate(y):
        a, b = y.float().chunk(2, -1)
        return torch.cat((a * cos - b * sin, b * cos + a * sin), -1).half()

    def layer():
        h1 = h0 + x
        q, k, v = torch.mm(norm(h1, (hidden,), first, 1e-5), qkv.t()).view(tokens, -1, size).split(
            [heads, key_heads, key_heads], 1)
        keys.index_copy_(1, positions, rotate(k).transpose(0, 1))
        values.index_copy_(1, positions, v.transpose(0, 1))
        o = torch.nn.functional.scaled_dot_product_attention(
            rotate(q).transpose(0, 1)[None], keys[None], values[None], attn_mask=mask, enable_gqa=True)
        h2 = h1 + torch.mm(o[0].transpose(0, 1).reshape(tokens, heads * size), out.t())
        gate, up = torch.mm(norm(h2, (hidden,), second, 1e-5), gate_up.t()).chunk(2, -1)
        return h2, torch.mm(torch.nn.functional.silu(gate) * up, down.t())

    return layer


def main():
    try:
        import torch
    except ImportError:
        return
    if not torch.cuda.is_available():
        return
    layer = layer_of(torch, *(int(word) for word in sys.argv[1:]))
    _, flush = displacing(torch)
    for name, run in (("torch", layer), ("torch.compile", torch.compile(layer))):
        try:
            _, us = median_us(torch, [run], 0.2, flush)
        except Exception as error:
            print(f"torch_layer.py: {name}: {str(error).splitlines()[0] if str(error) else error!r}", file=sys.stderr)
            continue
        print(f"  {name:<16} {us:.1f} us, f16 weights, one graph", flush=True)


if __name__ == "__main__":
    main()
