#!/usr/bin/env python3
"""Trains a small GPT twice, as torch runs it and patched by kaio.torch.patch, from one seed and on one order of text.

    train_gpt.py [--device cuda] [--steps 60] [--layers 12] [--width 1024] [--tokens 4096] [--compile] [--parts attention,...]

Prints the table of the patch, both loss curves and tokens a second, and draws the curves into a PNG. Ends with "right" if the
curves agree: the mean difference of the losses is at most 0.1 % of the first loss in f32, and 1 % in bf16.

Without a GPU both runs use the CPU, where kaio emulates a GPU: the default sizes are then tiny, and the times mean nothing.
"""

from __future__ import annotations

import argparse
import math
import pathlib
import struct
import sys
import time
import zlib

import torch
from torch import nn

import kaio.torch


class RMSNorm(nn.Module):
    """Llama's norm; torch has one of its own from 2.4 on."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.weight, self.eps = nn.Parameter(torch.ones(width)), 1e-6

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        f = x.float()
        return self.weight * (f * torch.rsqrt(f.square().mean(-1, keepdim=True) + self.eps)).to(x.dtype)


class GatedMlp(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        inner = (8 * width // 3 + 31) // 32 * 32
        self.gate_proj, self.up_proj = nn.Linear(width, inner, bias=False), nn.Linear(width, inner, bias=False)
        self.down_proj = nn.Linear(inner, width, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.down_proj(nn.functional.silu(self.gate_proj(x)) * self.up_proj(x))


def torch_attention(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    """q, k, v: (batch, length, heads, size)"""
    q, k, v = (t.transpose(1, 2) for t in (q, k, v))
    return nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2)


def kaio_attention(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    return kaio.torch.attention(q, k, v, causal=True)


class Layer(nn.Module):
    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads, self.attend = heads, torch_attention
        self.norm1, self.norm2, self.mlp = RMSNorm(width), RMSNorm(width), GatedMlp(width)
        self.qkv, self.out = nn.Linear(width, 3 * width, bias=False), nn.Linear(width, width, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        batch, length, width = x.shape
        q, k, v = self.qkv(self.norm1(x)).reshape(batch, length, 3, self.heads, -1).unbind(2)
        x = x + self.out(self.attend(q, k, v).reshape(batch, length, width))
        return x + self.mlp(self.norm2(x))


class Gpt(nn.Module):
    def __init__(self, layers: int, width: int, length: int) -> None:
        super().__init__()
        self.tokens, self.places = nn.Embedding(128, width), nn.Embedding(length, width)
        self.layers = nn.ModuleList(Layer(width, max(1, width // 64)) for _ in range(layers))
        self.norm, self.head = RMSNorm(width), nn.Linear(width, 128, bias=False)
        for p in self.parameters():
            if p.dim() == 2:
                nn.init.normal_(p, std=0.02)

    def forward(self, ids: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        x = self.tokens(ids) + self.places(torch.arange(ids.shape[1], device=ids.device))
        for layer in self.layers:
            x = layer(x)
        return nn.functional.cross_entropy(self.head(self.norm(x)).float().flatten(0, 1), targets.flatten())


def text(least: int) -> torch.Tensor:
    """The pages of this repository's documents as numbers of characters; without them, sums in digits."""
    pages = sorted((pathlib.Path(__file__).resolve().parents[2] / "docs").rglob("*.md"))
    words = "".join(page.read_text(encoding="utf-8") for page in pages)
    words = words or "".join(f"{a} + {b} = {a + b}\n" for a in range(100) for b in range(100))
    data = torch.tensor(bytearray(words.encode("ascii", "replace")), dtype=torch.int64)
    return data.repeat(max(1, math.ceil(least / len(data))))


def train(arguments: argparse.Namespace, patched: bool) -> tuple[list[float], float]:
    """The losses of all steps, and tokens a second without the first steps."""
    torch.manual_seed(arguments.seed)
    length = min(arguments.length, arguments.tokens)
    batch = arguments.tokens // length
    model = Gpt(arguments.layers, arguments.width, length).to(arguments.device)
    if patched:
        parts = arguments.parts.split(",")
        print(kaio.torch.patch(model, linear="linear" in parts, norm="norm" in parts, mlp="mlp" in parts), end="\n\n")
        if "attention" in parts:
            for layer in model.layers:  # patch leaves attention that is a function of torch
                layer.attend = kaio_attention
    step = torch.compile(model, backend="inductor" if arguments.device == "cuda" else "aot_eager") if arguments.compile else model
    optimiser = torch.optim.AdamW(model.parameters(), lr=arguments.rate, betas=(0.9, 0.95))
    data = text(batch * (length + 1) + 1)
    order = torch.Generator().manual_seed(arguments.seed)
    losses: list[torch.Tensor] = []
    skipped = min(5, arguments.steps // 2)  # steps that load kernels or compile
    begin = time.perf_counter()
    for number in range(arguments.steps):
        if number == skipped:
            if arguments.device == "cuda":
                torch.cuda.synchronize()
            begin = time.perf_counter()
        first = torch.randint(0, len(data) - length - 1, (batch,), generator=order)
        rows = torch.stack([data[i : i + length + 1] for i in first.tolist()]).to(arguments.device)
        with torch.autocast(arguments.device, dtype=torch.bfloat16, enabled=arguments.bf16):
            loss = step(rows[:, :-1], rows[:, 1:])
        optimiser.zero_grad(set_to_none=True)
        loss.backward()
        optimiser.step()
        losses.append(loss.detach())
    curve = torch.stack(losses).tolist()
    return curve, (arguments.steps - skipped) * batch * length / (time.perf_counter() - begin)


def draw(path: str, curves: dict[str, list[float]]) -> None:
    """The curves as a PNG, by matplotlib if it is installed."""
    try:
        import matplotlib
    except ImportError:
        pass
    else:
        matplotlib.use("Agg")
        from matplotlib import pyplot

        for (name, curve), style in zip(curves.items(), ("-", "--")):
            pyplot.plot(curve, style, label=name)
        pyplot.xlabel("step")
        pyplot.ylabel("loss")
        pyplot.legend()
        pyplot.savefig(path)
        return
    width, height, margin = 640, 400, 20
    pixels = bytearray(b"\xff" * (3 * width * height))

    def dot(x: int, y: int, colour: tuple[int, int, int]) -> None:
        if 0 <= x < width and 0 <= y < height:
            pixels[3 * (y * width + x) : 3 * (y * width + x) + 3] = bytes(colour)

    for x in range(margin, width - margin):
        dot(x, height - margin, (0, 0, 0))
    for y in range(margin, height - margin):
        dot(margin, y, (0, 0, 0))
    values = [value for curve in curves.values() for value in curve]
    low, high = min(values), max(values)
    for curve, colour, dashes in zip(curves.values(), ((230, 120, 80), (20, 60, 180)), (1, 2)):
        for x in (x for x in range(margin, width - margin) if x // 8 % dashes == 0):  # linear between steps
            at = (x - margin) / (width - 2 * margin) * (len(curve) - 1)
            i = min(int(at), len(curve) - 2) if len(curve) > 1 else 0
            value = curve[i] + (at - i) * (curve[min(i + 1, len(curve) - 1)] - curve[i])
            y = height - margin - round((value - low) / max(high - low, 1e-9) * (height - 2 * margin))
            for thick in (-1, 0, 1):
                dot(x, y + thick, colour)

    def chunk(kind: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    rows = b"".join(b"\0" + bytes(pixels[3 * width * y : 3 * width * (y + 1)]) for y in range(height))
    pathlib.Path(path).write_bytes(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
                                   + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))  # fmt: skip


def main() -> int:
    on_gpu = torch.cuda.is_available()
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", choices=("cuda", "cpu"), default="cuda" if on_gpu else "cpu")
    known, _ = parser.parse_known_args([word for word in sys.argv[1:] if word not in ("-h", "--help")])
    big = known.device == "cuda"
    parser.add_argument("--steps", type=int, default=60 if big else 8)
    parser.add_argument("--layers", type=int, default=12 if big else 2)
    parser.add_argument("--width", type=int, default=1024 if big else 64)
    parser.add_argument("--tokens", type=int, default=4096 if big else 64, help="of one step, over all sequences")
    parser.add_argument("--length", type=int, default=1024 if big else 32, help="of a sequence")
    parser.add_argument("--rate", type=float, default=3e-4 if big else 3e-3)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--bf16", action=argparse.BooleanOptionalAction, default=big, help="torch.autocast with bf16; else f32")
    parser.add_argument("--parts", default="linear,norm,mlp,attention", help="what kaio runs")
    parser.add_argument("--compile", action="store_true", help="torch.compile both models")
    parser.add_argument("--png", default="train_gpt.png")
    arguments = parser.parse_args()

    curves, speeds = {}, {}
    for name, patched in (("torch", False), ("kaio", True)):
        curves[name], speeds[name] = train(arguments, patched)
    print(f"{'step':>6}  {'torch':>8}  {'kaio':>8}")
    for step in sorted({*range(0, arguments.steps, max(1, arguments.steps // 8)), arguments.steps - 1}):
        print(f"{step:>6}  {curves['torch'][step]:>8.4f}  {curves['kaio'][step]:>8.4f}")
    for name, speed in speeds.items():
        print(f"  tokens a second, {name:<6} {speed:,.0f}")
    draw(arguments.png, curves)
    print(f"  curves           {arguments.png}")
    limit = (0.01 if arguments.bf16 else 0.001) * curves["torch"][0]
    differences = [abs(a - b) for a, b in zip(curves["torch"], curves["kaio"])]
    mean = sum(differences) / len(differences)
    print(f"  mean difference  {mean:.2e} of at most {limit:.2e}, largest {max(differences):.2e}")
    right = mean <= limit and curves["kaio"][-1] < curves["kaio"][0]
    print("right" if right else "WRONG")
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
