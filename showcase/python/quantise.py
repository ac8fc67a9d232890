#!/usr/bin/env python3
"""A model of two linear layers from quantised checkpoints: a GGUF file, and a GPTQ file with its config.json.

The program writes both files itself, loads them with kaio.torch.load_quantised, and compares the results with the products of
the weights as matrices. On a GPU it also measures one row of x, as in the generation of text, against torch in bf16.

    python quantise.py [--device cuda]          # needs torch and NumPy; the CPU is kaio's emulator
"""

import argparse
import json
import pathlib
import struct
import tempfile

import kaio
import kaio.torch
import numpy as np
import torch

WIDTH, HIDDEN = 128, 256


class Mlp(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.up = torch.nn.Linear(WIDTH, HIDDEN)
        self.down = torch.nn.Linear(HIDDEN, WIDTH, bias=False)

    def forward(self, x):
        return self.down(torch.nn.functional.silu(self.up(x)))


def gguf(tensors):
    """A GGUF file. A tensor is (number of its type, shape (n, k), bytes)."""
    head, data = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), 0), b""
    for name, (type, shape, content) in tensors.items():
        head += struct.pack("<Q", len(name)) + name.encode() + struct.pack("<I", len(shape))
        head += b"".join(struct.pack("<Q", extent) for extent in reversed(shape)) + struct.pack("<IQ", type, len(data))
        data += content + bytes(-len(content) % 32)
    return head + bytes(-len(head) % 32) + data


def safetensors(tensors):
    """A safetensors file of NumPy arrays."""
    names = {"float16": "F16", "float32": "F32", "int32": "I32"}
    header, data = {}, b""
    for name, array in tensors.items():
        header[name] = {
            "dtype": names[str(array.dtype)],
            "shape": array.shape,
            "data_offsets": [len(data), len(data) + array.nbytes],
        }
        data += array.tobytes()
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


def as_gguf(model):
    """up in Q4_0, down in Q8_0: blocks of 32 codes with a scale each."""
    tensors = {"up.bias": (0, (HIDDEN,), model.up.bias.detach().numpy().tobytes())}
    for name, format, type in (("up", "q4_0", 2), ("down", "q8_0", 8)):
        w = getattr(model, name).weight.detach().numpy()
        data = np.empty(kaio.weights.block_bytes(format, w.size), np.uint8)
        kaio.quantise_blocks(w, format, data)
        tensors[f"{name}.weight"] = (type, w.shape, data.tobytes())
    return gguf(tensors)


def as_gptq(model, group=64):
    """GPTQ's tensors, rounded to nearest: eight codes of k in a word, zero points less 1, scales (groups, n)."""
    tensors = {"up.bias": model.up.bias.detach().numpy()}
    shift = 4 * np.arange(8, dtype=np.uint32)
    for name in ("up", "down"):
        w = getattr(model, name).weight.detach().numpy()
        n, k = w.shape
        groups = w.reshape(n, k // group, group)
        low, high = groups.min(2), groups.max(2)
        scale = ((high - low) / 15).astype(np.float16).astype(np.float32)
        zero = np.clip(np.rint(-low / scale), 1, 15)
        codes = np.clip(np.rint(groups / scale[..., None] + zero[..., None]), 0, 15).astype(np.uint32).reshape(n, k)
        qweight = (codes.T.reshape(k // 8, 8, n) << shift[None, :, None]).sum(1).astype(np.uint32)
        qzeros = ((zero.T.astype(np.uint32) - 1).reshape(-1, n // 8, 8) << shift).sum(2).astype(np.uint32)
        tensors |= {
            f"{name}.qweight": qweight.view(np.int32),
            f"{name}.qzeros": qzeros.view(np.int32),
            f"{name}.scales": np.ascontiguousarray(scale.T).astype(np.float16),
        }
    return safetensors(tensors)


def compare(path, original, x, device):
    """Loads a file into a model of 16 bits. The product has to be that of the dequantised weights; the file itself rounds."""
    model = Mlp().to(device=device, dtype=torch.float16)
    report = kaio.torch.load_quantised(model, path)
    with torch.no_grad():
        got, exact = model(x).float(), original(x.float())
        hidden = torch.nn.functional.linear(x.float(), model.up.dequantise(torch.float32), model.up.bias.float())
        want = torch.nn.functional.linear(torch.nn.functional.silu(hidden), model.down.dequantise(torch.float32))
    size = exact.abs().max().item()
    by_kaio, by_file = (got - want).abs().max().item() / size, (want - exact).abs().max().item() / size
    print(f"{path.name}: {', '.join(f'{name} is {what}' for name, what in report.replaced.items())}")
    print(f"  largest error: {by_kaio:.5f} by the product, {by_file:.3f} by the rounding of the weights")
    return not report.missing and not report.unused and len(report.replaced) == 2 and by_kaio < 0.005 and 0 < by_file < 0.2


def microseconds(run):
    """The time of one call in a graph of 50, after a warm-up."""
    run()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(50):
            run()
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    graph.replay()
    begin.record()
    graph.replay()
    end.record()
    torch.cuda.synchronize()
    return begin.elapsed_time(end) * 1000 / 50


def measure(n=8192, k=8192):
    w = torch.randn(n, k, device="cuda", dtype=torch.bfloat16)
    x = torch.randn(1, k, device="cuda", dtype=torch.bfloat16)
    with torch.no_grad():
        dense = microseconds(lambda: torch.nn.functional.linear(x, w))
        for layer in (kaio.torch.Linear4.from_float(w), kaio.torch.Linear8.from_float(w)):
            torch.cuda.synchronize()
            layer.constant_weights = True
            ours = microseconds(lambda layer=layer: layer(x))
            print(f"one row of x, {n} x {k}: {type(layer).__name__} {ours:.1f} us, torch in bf16 {dense:.1f} us")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu", help="cuda, or cpu")
    device = parser.parse_args().device
    torch.manual_seed(0)
    original = Mlp()
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        (folder / "mlp.gguf").write_bytes(as_gguf(original))
        (folder / "mlp.safetensors").write_bytes(as_gptq(original))
        (folder / "config.json").write_text(
            json.dumps({"quantization_config": {"quant_method": "gptq", "bits": 4, "group_size": 64}})
        )
        x = torch.randn(4, WIDTH, dtype=torch.float16, device=device)
        original.to(device)
        right = [compare(folder / name, original, x, device) for name in ("mlp.gguf", "mlp.safetensors")]
    if torch.device(device).type == "cuda":
        measure()
    print("right" if all(right) else "WRONG")
    return 0 if all(right) else 1


if __name__ == "__main__":
    raise SystemExit(main())
