"""Random products: of matrices, with packed weights, of groups of rows, and of codes of 8 bits."""

from __future__ import annotations

import itertools
import random
from typing import Any, Callable, Iterator

import kaio
import torch
from kaio._packed import packed_bytes
from problem import arena, problem, size

HALVES = [torch.bfloat16, torch.float16]


def matrix(rows: int, columns: int, dtype: torch.dtype, transposed: bool) -> torch.Tensor:
    return arena.take(columns, rows, dtype=dtype).t() if transposed else arena.take(rows, columns, dtype=dtype)


def extent_class(m: int, n: int, k: int) -> str:
    volume = m * n * k
    return "below 2^27" if volume < 1 << 27 else "2^27 to 2^33" if volume < 1 << 33 else "above 2^33"


def between(value: int, bounds: list[int]) -> str:
    """The class of a number, such as "17 to 32"."""
    low = 1
    for bound in bounds:
        if value <= bound:
            return f"{low:6} to {bound}"
        low = bound + 1
    return f"{low:6} and more"


def matmul(draw: random.Random) -> problem:
    dtype = draw.choice(HALVES)
    step = draw.choice([1, 8, 8])
    m, n, k = size(draw, 1, 8192, draw.choice([1, step])), size(draw, step, 8192, step), size(draw, step, 8192, step)
    ta, tb = draw.random() < 0.3, draw.random() < 0.5
    layout = f"{'T' if ta else 'N'}{'T' if tb else 'N'}"
    aligned = all(count % 8 == 0 for count in ((m if ta else k), (k if tb else n), n))
    extents = extent_class(m, n, k)
    kinds = {"MNK": extents, "MNK, aligned": extents if aligned else "not aligned", "layout": layout,
             "deep": "K of 4096 and more, M and N of 64 and more" if k >= 4096 and m >= 64 and n >= 64 else ""}  # fmt: skip
    return problem(f"{m} x {n} x {k} {layout} {dtype}", lambda: (matrix(m, k, dtype, ta), matrix(k, n, dtype, tb)), kaio.matmul,
                   torch.mm, lambda a, b: a.float() @ b.float(), 1e-2, kinds=kinds)  # fmt: skip


def row_count(draw: random.Random) -> tuple[int, str]:
    rows = size(draw, 1, 4096)
    return rows, between(rows, [1, 16, 32, 128, 512, 4096])


def weight_extents(draw: random.Random, step: int) -> tuple[int, int]:
    """n and k of a weight: at most 2^27.5 numbers."""
    n, k = size(draw, 256, 24576, 32), size(draw, max(256, step), 16384, step)
    return n, max(step, min(k, int(2**27.5) // n // step * step))


def of_packed(draw: random.Random, make_weights: Callable[..., Any], group: int, product: Any, dequantise: Any,
              others: Callable[..., dict[str, Any]]) -> problem:  # fmt: skip
    """x W^T of packed weights next to torch.mm of the same weights of 16 bits. Operands: x, packed memory, W of 16 bits, those of
    `others`."""
    dtype = draw.choice(HALVES)
    (rows, of_rows), (n, k) = row_count(draw), weight_extents(draw, max(group, 64))
    group = group if group > 0 else k
    packed, made = make_weights(n, k, group, dtype)
    first: list[Any] = []

    def weights(memory: torch.Tensor) -> Any:
        return made(memory)

    def make() -> tuple[Any, ...]:
        x = arena.take(rows, k, dtype=dtype)
        if not first:
            first.append(packed)
            return x, packed, dequantise(weights(packed), dtype="bf16" if dtype == torch.bfloat16 else "f16")
        return x, packed.clone(), arena.take(n, k, dtype=dtype)

    kinds = {"rows": of_rows, "group": f"{group:6}" if group != k else "     k"}
    return problem(f"{rows} x {n} x {k} g{group} {dtype}", make, lambda x, memory, *_: product(x, weights(memory)),
                   {"weights of 16 bits": lambda x, _, w, *__: torch.mm(x, w.t()), **others(n, k, group, dtype)},
                   lambda x, memory, w, *_: x.float() @ w.float().t(), 2e-2, kinds=kinds,
                   uses={"ours": (0, 1), "weights of 16 bits": (0, 2), "tinygemm": (0, 1)})  # fmt: skip


def int4_weights(n: int, k: int, group: int, dtype: torch.dtype) -> Any:
    def made(memory: torch.Tensor | None) -> kaio.W4Weights:
        return kaio.W4Weights(n=n, k=k, group=group, scales="bf16" if dtype == torch.bfloat16 else "f16", memory=memory)

    memory = torch.empty(packed_bytes(made(None)), device="cuda", dtype=torch.uint8)
    scales = arena.take(k // group, n, dtype=dtype).abs() * 0.02 + 0.01
    kaio.repack_int4_w4(kaio.Int4W4(arena.take(n, k // 8, dtype=torch.int32), scales), made(memory))
    return memory, made


def tinygemm(n: int, k: int, group: int, dtype: torch.dtype) -> dict[str, Any]:
    """tinygemm of other weights, which are in the memory of packed ones: their bytes are nearly equal."""
    if dtype != torch.bfloat16 or group not in (32, 64, 128, 256) or n % 8 or k % 128:
        return {}
    scales = arena.take(k // group, n, 2, dtype=dtype)

    def run(x: torch.Tensor, memory: torch.Tensor, *_: Any) -> torch.Tensor:
        words = memory[: n * k // 2].view(torch.int32).view(n // 8, k // 128, 32, 4)
        return torch._weight_int4pack_mm(x, words, group, scales)

    return {"tinygemm": run}


def matmul_w4(draw: random.Random) -> problem:
    return of_packed(draw, int4_weights, draw.choice([32, 64, 128]), kaio.matmul_w4, kaio.dequantise_w4, tinygemm)


def int8_weights(n: int, k: int, group: int, dtype: torch.dtype) -> Any:
    def made(memory: torch.Tensor | None) -> kaio.W8Weights:
        return kaio.W8Weights(n=n, k=k, group=group, memory=memory)

    memory = torch.empty(packed_bytes(made(None)), device="cuda", dtype=torch.uint8)
    scales = (arena.take(n, k // group, dtype=dtype).abs() * 0.001 + 0.001).float()
    kaio.repack_int8_w8(kaio.Int8W8(arena.take(n, k, dtype=torch.int8), scales), made(memory))
    return memory, made


def matmul_w8(draw: random.Random) -> problem:
    return of_packed(draw, int8_weights, draw.choice([-1, 32, 64, 128]), kaio.matmul_w8, kaio.dequantise_w8, lambda *_: {})


def rows_of_experts(draw: random.Random, rows: int, experts: int, skewed: bool) -> list[int]:
    """The rows of each expert: each row takes one of them, with equal chances, or with those of a Dirichlet draw."""
    chances = [draw.gammavariate(0.3, 1) + 1e-9 for _ in range(experts)] if skewed else [1.0] * experts
    counts = [0] * experts
    for expert in draw.choices(range(experts), chances, k=rows):
        counts[expert] += 1
    return counts


class Groups:
    """The extents of a grouped product and the rows of its experts."""

    def __init__(self, draw: random.Random, step: int = 64, most: int = 1 << 29) -> None:
        """step: n and k are multiples of it; most: numbers of all experts."""
        self.experts, self.rows, skewed = size(draw, 8, 256), size(draw, 32, 32768), draw.random() < 0.5
        n = size(draw, 256, 8192, step)
        self.k = min(size(draw, 256, 8192, step), max(256, most // (self.experts * n) // step * step))
        self.n = min(n, most // (self.experts * self.k)) // step * step
        counts = rows_of_experts(draw, self.rows, self.experts, skewed)
        self.begins = list(itertools.accumulate(counts, initial=0))
        self.offsets = torch.tensor(self.begins, dtype=torch.int32, device="cuda")
        used = sum(count > 0 for count in counts)
        self.name = f"{self.rows} rows in {used} of {self.experts}, largest {max(counts)}, n {self.n}, k {self.k}"
        self.kinds = {"rows of an expert": between(max(1, self.rows // used), [4, 16, 64, 256, 1024]),
                      "experts": between(self.experts, [16, 64, 256]), "rows": "skewed" if skewed else "balanced",
                      "MNK": extent_class(self.rows, self.n, self.k)}  # fmt: skip

    def operands(self) -> tuple[torch.Tensor, ...]:
        """a, b, the offsets, and the ends of groups, as torch takes them."""
        dtype = torch.bfloat16
        return (arena.take(self.rows, self.k, dtype=dtype), arena.take(self.experts, self.n, self.k, dtype=dtype).mT, self.offsets,
                self.offsets[1:].clone())  # fmt: skip

    def parts(self) -> Iterator[tuple[int, slice]]:
        """The rows of each expert that has some."""
        for expert, (begin, end) in enumerate(itertools.pairwise(self.begins)):
            if end > begin:
                yield expert, slice(begin, end)


def matmul_grouped(draw: random.Random) -> problem:
    groups = Groups(draw)

    def reference(a: torch.Tensor, b: torch.Tensor, *_: Any) -> torch.Tensor:
        result = torch.empty(groups.rows, groups.n, device="cuda")
        for expert, part in groups.parts():
            torch.mm(a[part].float(), b[expert].float(), out=result[part])
        return result

    return problem(groups.name, groups.operands, lambda a, b, begin, _: kaio.matmul_grouped(a, b, begin),
                   lambda a, b, _, end: torch._grouped_mm(a, b, offs=end), reference, 1e-2, kinds=groups.kinds)  # fmt: skip


def matmul_grouped_backward(draw: random.Random) -> problem:
    groups = Groups(draw)

    def reference(a: torch.Tensor, b: torch.Tensor, _: Any, __: Any, dc: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        da, db = torch.empty(groups.rows, groups.k, device="cuda"), torch.zeros(b.shape, device="cuda")
        for expert, part in groups.parts():
            torch.mm(dc[part].float(), b[expert].float().t(), out=da[part])
            torch.mm(a[part].float().t(), dc[part].float(), out=db[expert])
        return da, db

    def ours(a: torch.Tensor, b: torch.Tensor, begin: torch.Tensor, _: Any, dc: torch.Tensor) -> Any:
        return kaio.matmul_grouped_backward(dc, a, b, begin, True, torch.empty(b.mT.shape, dtype=b.dtype, device=b.device).mT)

    def peer(a: torch.Tensor, b: torch.Tensor, _: Any, end: torch.Tensor, dc: torch.Tensor) -> Any:
        return torch._grouped_mm(dc, b.mT, offs=end), torch._grouped_mm(dc.t(), a, offs=end).mT

    return problem(groups.name, lambda: (*groups.operands(), arena.take(groups.rows, groups.n, dtype=torch.bfloat16)), ours, peer,
                   reference, 2e-2, kinds=groups.kinds)  # fmt: skip


def matmul_w4_grouped(draw: random.Random) -> problem:
    """Next to torch._grouped_mm of the same weights of 16 bits."""
    groups, group, dtype = Groups(draw, 128, 1 << 28), draw.choice([32, 64, 128]), torch.bfloat16
    packed: list[torch.Tensor] = []

    def weights(memory: torch.Tensor | None) -> kaio.W4Weights:
        return kaio.W4Weights(n=groups.n, k=groups.k, group=group, scales="bf16", memory=memory)

    def make() -> tuple[Any, ...]:
        x, w, begin, end = groups.operands()
        if packed:
            return x, packed[0].clone(), w, begin, end
        own = [int4_weights(groups.n, groups.k, group, dtype)[0] for _ in range(groups.experts)]
        packed.append(torch.cat(own))
        return x, packed[0], torch.stack([kaio.dequantise_w4(weights(one), dtype="bf16") for one in own]).mT, begin, end

    def reference(x: torch.Tensor, _: Any, w: torch.Tensor, *__: Any) -> torch.Tensor:
        result = torch.empty(groups.rows, groups.n, device="cuda")
        for expert, part in groups.parts():
            torch.mm(x[part].float(), w[expert].float(), out=result[part])
        return result

    return problem(f"{groups.name} g{group}", make,
                   lambda x, memory, _, begin, __: kaio.matmul_w4_grouped(x, weights(memory), begin),
                   {"weights of 16 bits": lambda x, _, w, __, end: torch._grouped_mm(x, w, offs=end)}, reference, 2e-2,
                   kinds=groups.kinds | {"group": f"{group:6}"}, uses={"ours": (0, 1), "weights of 16 bits": (0, 2)})  # fmt: skip


def matmul_fp8_grouped(draw: random.Random) -> problem:
    """With a scale for each row and for each column of an expert, as torch._scaled_grouped_mm takes them."""
    groups, code = Groups(draw, 64, 1 << 28), torch.float8_e4m3fn

    def make() -> tuple[Any, ...]:
        a, b = arena.take(groups.rows, groups.k, dtype=code), arena.take(groups.experts, groups.n, groups.k, dtype=code).mT
        scale_a, scale_b = (torch.rand(s, device="cuda") + 0.5 for s in (groups.rows, (groups.experts, groups.n)))
        return a, b, scale_a, scale_b, groups.offsets, groups.offsets[1:].clone()

    def reference(a: torch.Tensor, b: torch.Tensor, scale_a: torch.Tensor, scale_b: torch.Tensor, *_: Any) -> torch.Tensor:
        result = torch.empty(groups.rows, groups.n, device="cuda")
        for expert, part in groups.parts():
            result[part] = a[part].float() @ b[expert].float() * scale_a[part, None] * scale_b[expert]
        return result

    return problem(groups.name, make,
                   lambda a, b, scale_a, scale_b, begin, _: kaio.matmul_fp8_grouped(a, b, begin, scale_a=scale_a, scale_b=scale_b),
                   lambda a, b, scale_a, scale_b, _, end: torch._scaled_grouped_mm(a, b, scale_a, scale_b, offs=end,
                                                                                   out_dtype=torch.bfloat16, use_fast_accum=True),
                   reference, 3e-2, kinds=groups.kinds)  # fmt: skip


def matmul_int8(draw: random.Random) -> problem:
    m, n, k = size(draw, 17, 8192), size(draw, 8, 8192, 8), size(draw, 8, 8192, 8)
    return problem(f"{m} x {n} x {k}", lambda: (matrix(m, k, torch.int8, False), matrix(k, n, torch.int8, True)), kaio.matmul_int8,
                   torch._int_mm, lambda a, b: (a.double() @ b.double()), 0.0,
                   kinds={"MNK": extent_class(m, n, k), "rows": between(m, [40, 128, 1024]),
                          "K": "a multiple of 16" if k % 16 == 0 else "not one"})  # fmt: skip


def matmul_fp8(draw: random.Random) -> problem:
    """Both sides add with the precision of the matrix instructions, about 14 bits."""
    m, n, k = size(draw, 16, 8192, 16), size(draw, 16, 8192, 16), size(draw, 16, 8192, 16)
    one = torch.ones((), device="cuda")
    return problem(f"{m} x {n} x {k}",
                   lambda: (matrix(m, k, torch.float8_e4m3fn, False), matrix(k, n, torch.float8_e4m3fn, True)), kaio.matmul_fp8,
                   lambda a, b: torch._scaled_mm(a, b, one, one, out_dtype=torch.bfloat16, use_fast_accum=True),
                   lambda a, b: a.float() @ b.float(), 3e-2,
                   kinds={"MNK": extent_class(m, n, k), "rows": between(m, [40, 128, 1024])})  # fmt: skip


KINDS: dict[str, Callable[[random.Random], problem]] = {
    "matmul": matmul, "matmul_w4": matmul_w4, "matmul_w8": matmul_w8, "matmul_grouped": matmul_grouped,
    "matmul_grouped_backward": matmul_grouped_backward, "matmul_w4_grouped": matmul_w4_grouped,
    "matmul_fp8_grouped": matmul_fp8_grouped, "matmul_int8": matmul_int8, "matmul_fp8": matmul_fp8,
}  # fmt: skip
