"""The work of a case: its floating-point operations, and the least bytes that it moves.

A recorded line has one rate or both. The product of a rate and kaio's time is the work that the benchmark counted. A formula gives
what no rate has: bytes are each operand and result once; a multiply-add is two operations."""

from __future__ import annotations

import re
from typing import Callable

from measurements import KAIO
from source import Line

Work = tuple["float | None", "float | None"]  # operations, bytes; None: take the recorded rate
BYTES = {"f32": 4, "tf32": 4, "f16": 2, "bf16": 2, "e4m3": 1, "e5m2": 1, "i8": 1, "f64": 8}


def element(line: Line) -> int:
    return BYTES[line["type"].split()[0]]


def extents(line: Line) -> list[int]:
    return [int(extent) for extent in line["shape"].split("x")]


def rows_of(line: Line) -> int:
    """The M of a work `mM`, which may have a type of weights after it."""
    found = re.match(r"m(\d+)", line["work"])
    if not found:
        raise ValueError(f"the work '{line['work']}' has no number of rows")
    return int(found[1])


def product(line: Line) -> Work:
    m, n, k, batch = line["m"], line["n"], line["k"], line["batch"]
    of_result = max(element(line), 2) * (2 if line.get("epilogue") == "residual" else 1)
    return 2.0 * batch * m * n * k, batch * (element(line) * k * (m + n) + of_result * m * n)


def product_8bit(line: Line) -> Work:
    m, n, k = extents(line)
    return 2.0 * m * n * k, k * (m + n) + (4 if line["work"] in ("i32", "f32") else 2) * m * n


def product_of_weights(line: Line) -> Work:
    n, k, _ = extents(line)
    return 2.0 * rows_of(line) * n * k, None


def attention(line: Line) -> Work:
    batch, length, heads, key_heads, size = extents(line)
    bias = heads * length * length if line["work"] == "bias" else 0
    return None, element(line) * (2 * batch * length * size * (heads + key_heads) + bias)


def attention_backward(line: Line) -> Work:
    batch, length, heads, key_heads, size = extents(line)
    return None, element(line) * 4 * batch * length * size * (heads + key_heads)


def attention_decode(line: Line) -> Work:
    """The keys follow from the recorded bytes: their number is random in the work `lengths`."""
    batch, _, heads, key_heads, size = extents(line)
    queries, latent = 4 if line["work"] == "four" else 1, line["work"] == "latent"
    of_values = min(size, 512) if latent else size
    of_queries = element(line) * (size + of_values) * batch * queries * heads
    of_key = (1 if " " in line["type"] else element(line)) * key_heads * (size if latent else 2 * size)
    keys = max(line["tbs"] * line["us"][KAIO] * 1e6 - of_queries, 0) / of_key
    return 2.0 * (size + of_values) * queries * heads * keys, None


def qkv(line: Line) -> Work:
    k, heads, key_heads, size = extents(line)
    return 2.0 * rows_of(line) * k * (heads + 2 * key_heads) * size, None


def gate_up(line: Line) -> Work:
    k, f = extents(line)
    return 4.0 * rows_of(line) * k * f, None


def elementwise(operations: int) -> Callable[[Line], Work]:
    """For operations that compute little: `operations` for each element of the shape."""
    def count(line: Line) -> Work:
        rows, size = extents(line)
        return float(operations * rows * size), None
    return count


FORMULAS: dict[str, Callable[[Line], Work]] = {
    "matmul": product, "matmul_epilogue": product, "matmul_energy": product, "matmul_fp8": product_8bit,
    "matmul_int8": product_8bit, "matmul_w4": product_of_weights, "attention": attention,
    "attention_backward": attention_backward, "attention_decode": attention_decode, "qkv": qkv, "gate_up": gate_up,
    "rms_norm": elementwise(4), "formats": elementwise(2)}


def work_of(line: Line) -> Work:
    """(operations, bytes) of a line with kaio's time; None for what is neither recorded nor counted here."""
    operations, moved = (line[rate] * line["us"][KAIO] * 1e6 if line.get(rate) else None for rate in ("tflops", "tbs"))
    if line["benchmark"] in FORMULAS:
        try:
            counted = FORMULAS[line["benchmark"]](line)
        except (KeyError, ValueError):  # a shape or a type that the formula does not know
            counted = None, None
        operations, moved = counted[0] or operations, counted[1] or moved
    return operations, moved
