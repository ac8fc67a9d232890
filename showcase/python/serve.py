#!/usr/bin/env python3
"""Generates text with a decoder of Llama's form, whose keys and values are in shuffled pages, for several prompts at once.

    serve.py [--device cuda] [--new 128] [--layers 16] [--width 2048] [--prompts 8]

A layer is five calls: qkv_project (norm, product, rotation, append to the pages), attention_decode, two linear layers, and
gate_up_project (the residual's addition, norm, both products, SiLU). All lengths are read on the device, so that on a GPU every
decode step is a replay of one CUDA graph. torch's steps, with a contiguous cache, are timed next to it, in a CUDA graph as well.

Every generated token is checked with plain torch in f32 over the whole sequence: greedy decoding has to choose it. A token whose
logit is nearly the best counts too: within three times the largest error that torch's own logits of the model's type have at that
place. Ends with "right" or "WRONG".

The weights are random. Without a GPU kaio emulates one: the default sizes are then tiny, and the times mean nothing.
"""

from __future__ import annotations

import argparse
import sys
import time
from typing import Any, Callable, NamedTuple

import torch
from torch.nn.functional import linear as torch_linear
from torch.nn.functional import scaled_dot_product_attention, silu

import kaio
import kaio.torch

ROWS = 16  # keys of a page


class LayerWeights(NamedTuple):
    norm: torch.Tensor  # (width)
    qkv: torch.Tensor  # ((heads + 2 kv_heads) * size, width)
    out: torch.Tensor  # (width, heads * size)
    mlp_norm: torch.Tensor  # (width)
    gate_up: torch.Tensor  # (2 * inner, width)
    down: torch.Tensor  # (width, inner)


class Model(NamedTuple):
    embedding: torch.Tensor  # (vocabulary, width)
    layers: list[LayerWeights]
    norm: torch.Tensor
    head: torch.Tensor  # (vocabulary, width)
    cos: torch.Tensor  # (positions, size / 2), f32
    sin: torch.Tensor
    heads: int
    kv_heads: int
    size: int


def make_model(arguments: argparse.Namespace, dtype: torch.dtype) -> Model:
    generator = torch.Generator(arguments.device).manual_seed(arguments.seed)

    def random(*shape: int, scale: float) -> torch.Tensor:
        return (scale * torch.randn(*shape, generator=generator, device=arguments.device)).to(dtype)

    width, size, inner = arguments.width, arguments.size, arguments.width * 3
    heads = width // size
    kv_heads = max(1, heads // 4)
    n = (heads + 2 * kv_heads) * size
    layers = [
        LayerWeights(
            norm=1 + random(width, scale=0.1),
            qkv=random(n, width, scale=2 * width**-0.5),
            out=random(width, heads * size, scale=width**-0.5),
            mlp_norm=1 + random(width, scale=0.1),
            gate_up=random(2 * inner, width, scale=width**-0.5),
            down=random(width, inner, scale=inner**-0.5),
        )
        for _ in range(arguments.layers)
    ]
    cos, sin = kaio.torch.rotary_table(arguments.prompt + arguments.new, size // 2, base=500000.0, device=arguments.device)
    embedding, norm = random(arguments.vocabulary, width, scale=0.5), 1 + random(width, scale=0.1)
    return Model(embedding, layers, norm, random(arguments.vocabulary, width, scale=width**-0.5), cos, sin, heads, kv_heads, size)


class Generator:
    """kaio's decoder: the pages of all sequences, and the buffers of a step."""

    def __init__(self, model: Model, sequences: int, most: int) -> None:
        device, dtype = model.embedding.device, model.embedding.dtype
        pages = -(-most // ROWS)
        self.model = model
        self.table = torch.randperm(sequences * pages).to(device, torch.int32).reshape(sequences, pages)
        shape = (sequences * pages, ROWS, model.kv_heads, model.size)
        self.k = [torch.zeros(shape, dtype=dtype, device=device) for _ in model.layers]
        self.v = [torch.zeros(shape, dtype=dtype, device=device) for _ in model.layers]
        self.before = torch.zeros(sequences, dtype=torch.int32, device=device)  # keys of each sequence before a call
        self.after = torch.zeros(sequences, dtype=torch.int32, device=device)
        self.ids = torch.zeros(sequences, 1, dtype=torch.int64, device=device)

    def forward(self, ids: torch.Tensor) -> None:
        """Appends tokens (sequences, n) to all sequences, and writes the next token of each into self.ids."""
        m = self.model
        self.after.copy_(self.before + ids.shape[1])
        x, h = m.embedding[ids], None
        rotary = kaio.QkvRotary(m.cos, m.sin)
        for layer, k, v in zip(m.layers, self.k, self.v):
            norm = kaio.torch.Norm(layer.norm, residual=h)
            q, *rest = kaio.torch.qkv_project(x, layer.qkv, m.heads, m.kv_heads, norm=norm, rotary=rotary,
                                              cache=kaio.KvCache(k, v, table=self.table, lengths=self.before))  # fmt: skip
            h = rest[0] if rest else x
            cache = kaio.KvCache(k, v, table=self.table, lengths=self.after)
            y = kaio.attention_decode(q, cache, causal="bottom_right").flatten(2)
            x = kaio.torch.linear(y, layer.out)
            y, h = kaio.torch.gate_up_project(x, layer.gate_up, norm=kaio.torch.Norm(layer.mlp_norm, residual=h))
            x = kaio.torch.linear(y, layer.down)
        last, _ = kaio.torch.rms_norm(x[:, -1], m.norm, residual=h[:, -1])
        self.ids.copy_(kaio.torch.linear(last, m.head).argmax(-1, keepdim=True))
        self.before.copy_(self.after)


class TorchGenerator:
    """torch's decoder: a contiguous cache, and the buffers of a step."""

    def __init__(self, model: Model, sequences: int, most: int) -> None:
        device, dtype = model.embedding.device, model.embedding.dtype
        shape = (sequences, model.kv_heads, most, model.size)
        self.model = model
        self.k = [torch.zeros(shape, dtype=dtype, device=device) for _ in model.layers]
        self.v = [torch.zeros(shape, dtype=dtype, device=device) for _ in model.layers]
        self.length = torch.zeros(1, dtype=torch.int64, device=device)
        self.ids = torch.zeros(sequences, 1, dtype=torch.int64, device=device)
        self.places = torch.arange(most, device=device)

    def forward(self, ids: torch.Tensor) -> None:
        positions = self.length + self.places[: ids.shape[1]]
        mask = self.places <= positions[:, None]
        logits = torch_forward(self.model, ids, positions, mask, list(zip(self.k, self.v)), only_last=True)
        self.ids.copy_(logits.argmax(-1, keepdim=True)[:, -1])
        self.length.add_(ids.shape[1])


def torch_norm(x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    f = x.float()
    return (f * torch.rsqrt(f.square().mean(-1, keepdim=True) + 1e-6) * weight.float()).to(x.dtype)


def torch_rotary(x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
    """x: (sequences, heads, tokens, size); cos, sin: (tokens, size / 2)"""
    a, b = x.float().chunk(2, -1)
    return torch.cat((a * cos - b * sin, b * cos + a * sin), -1).to(x.dtype)


def torch_forward(
    m: Model, ids: torch.Tensor, positions: torch.Tensor, mask: torch.Tensor | None, caches: list[Any] | None, only_last: bool
) -> torch.Tensor:
    """The logits of tokens (sequences, n) by torch alone."""
    x = m.embedding[ids]
    cos, sin = m.cos[positions], m.sin[positions]
    for number, layer in enumerate(m.layers):
        y = torch_linear(torch_norm(x, layer.norm), layer.qkv).unflatten(-1, (-1, m.size)).transpose(1, 2)
        q, k, v = y.split([m.heads, m.kv_heads, m.kv_heads], 1)
        q, k = torch_rotary(q, cos, sin), torch_rotary(k, cos, sin)
        if caches is not None:
            k, v = caches[number][0].index_copy_(2, positions, k), caches[number][1].index_copy_(2, positions, v)
        k, v = (t.repeat_interleave(m.heads // m.kv_heads, 1) for t in (k, v))
        y = scaled_dot_product_attention(q, k, v, attn_mask=mask, is_causal=mask is None)
        x = x + torch_linear(y.transpose(1, 2).flatten(2), layer.out)
        gate, up = torch_linear(torch_norm(x, layer.mlp_norm), layer.gate_up).chunk(2, -1)
        x = x + torch_linear(silu(gate) * up, layer.down)
    return torch_linear(torch_norm(x[:, -1:] if only_last else x, m.norm), m.head)


def generate(generator: Any, prompts: torch.Tensor, new: int, graph: bool) -> tuple[torch.Tensor, float]:
    """The prompts with `new` tokens more, and the tokens a second of the decode steps."""
    on_gpu = prompts.device.type == "cuda"
    found = [prompts]
    generator.forward(prompts)
    found.append(generator.ids.clone())
    generator.forward(generator.ids)  # loads what a step launches
    found.append(generator.ids.clone())
    step: Callable[[], Any] = lambda: generator.forward(generator.ids)  # noqa: E731
    if graph:
        captured = torch.cuda.CUDAGraph()
        with torch.cuda.graph(captured):
            generator.forward(generator.ids)
        step = captured.replay
    if on_gpu:
        torch.cuda.synchronize()
    begin = time.perf_counter()
    for _ in range(new - 2):
        step()
        found.append(generator.ids.clone())
    if on_gpu:
        torch.cuda.synchronize()
    seconds = time.perf_counter() - begin
    return torch.cat(found, 1), (new - 2) * prompts.shape[0] / seconds


def check(model: Model, tokens: torch.Tensor, prompt: int) -> tuple[int, int, int]:
    """How many generated tokens are greedy decoding's, how many are as good within the tolerance, and how many are not."""
    layers = [LayerWeights(*(w.float() for w in layer)) for layer in model.layers]
    wide = model._replace(embedding=model.embedding.float(), layers=layers, norm=model.norm.float(), head=model.head.float())
    equal = close = wrong = 0
    for sequence in tokens:
        ids = sequence[None, :-1]
        positions = torch.arange(ids.shape[1], device=ids.device)
        logits = torch_forward(wide, ids, positions, None, None, only_last=False)[0, prompt - 1 :]
        rounded = torch_forward(model, ids, positions, None, None, only_last=False)[0, prompt - 1 :]
        chosen = sequence[prompt:]
        gap = logits.amax(-1) - logits.gather(-1, chosen[:, None])[:, 0]
        limit = 3 * (rounded.float() - logits).abs().amax(-1)
        equal += int((gap == 0).sum())
        close += int(((gap > 0) & (gap <= limit)).sum())
        wrong += int((gap > limit).sum())
    return equal, close, wrong


def main() -> int:
    on_gpu = torch.cuda.is_available()
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", choices=("cuda", "cpu"), default="cuda" if on_gpu else "cpu")
    known, _ = parser.parse_known_args([word for word in sys.argv[1:] if word not in ("-h", "--help")])
    big = known.device == "cuda"
    parser.add_argument("--prompts", type=int, default=8 if big else 2, help="sequences")
    parser.add_argument("--prompt", type=int, default=64 if big else 6, help="tokens of a prompt, at most 128")
    parser.add_argument("--new", type=int, default=256 if big else 8, help="tokens to generate, at least 3")
    parser.add_argument("--layers", type=int, default=16 if big else 2)
    parser.add_argument("--width", type=int, default=2048 if big else 64)
    parser.add_argument("--size", type=int, default=128 if big else 16, help="of a head")
    parser.add_argument("--vocabulary", type=int, default=32000 if big else 100)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    dtype = torch.bfloat16 if big else torch.float16

    with torch.inference_mode():
        model = make_model(arguments, dtype)
        torch.manual_seed(arguments.seed)
        prompts = torch.randint(0, arguments.vocabulary, (arguments.prompts, arguments.prompt)).to(arguments.device)
        most = arguments.prompt + arguments.new
        tokens, speed = generate(Generator(model, arguments.prompts, most), prompts, arguments.new, big)
        _, torch_speed = generate(TorchGenerator(model, arguments.prompts, most), prompts, arguments.new, big)
        equal, close, wrong = check(model, tokens, arguments.prompt)
    print(f"  first sequence          {' '.join(str(t) for t in tokens[0, arguments.prompt :][:12].tolist())}")
    print(f"  tokens a second, kaio   {speed:,.0f}" + (", one CUDA graph" if big else ", emulated"))
    print(f"  tokens a second, torch  {torch_speed:,.0f}" + (", one CUDA graph" if big else ""))
    print(f"  greedy decoding         {equal} tokens equal, {close} as good within the tolerance, {wrong} not")
    print("right" if wrong == 0 else "WRONG")
    return 0 if wrong == 0 else 1


if __name__ == "__main__":
    sys.exit(main())
