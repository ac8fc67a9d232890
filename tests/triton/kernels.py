"""Kernels in Triton, of this project. make.py compiles them; the emulator runs what came out (run.py).

Each row of KERNELS has the function, the types of its parameters, its constants, and the number of warps and stages.
"""

import triton
import triton.language as tl


@triton.jit
def scale_add(x, y, out, n, factor, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    tl.store(out + at, factor * tl.load(x + at, mask=inside) + tl.load(y + at, mask=inside), mask=inside)


@triton.jit
def softmax_rows(x, out, stride, columns, COLUMNS: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, COLUMNS)
    values = tl.load(x + row * stride + at, mask=at < columns, other=-float("inf")).to(tl.float32)
    powers = tl.exp(values - tl.max(values, axis=0))
    tl.store(out + row * stride + at, (powers / tl.sum(powers, axis=0)).to(out.dtype.element_ty), mask=at < columns)


@triton.jit
def layer_norm_rows(x, weight, bias, out, columns, epsilon, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    total = tl.zeros([BLOCK], tl.float32)
    squares = tl.zeros([BLOCK], tl.float32)
    for first in range(0, columns, BLOCK):
        at = first + tl.arange(0, BLOCK)
        values = tl.load(x + row * columns + at, mask=at < columns, other=0.0).to(tl.float32)
        total += values
        squares += values * values
    mean = tl.sum(total, axis=0) / columns
    rstd = 1 / tl.sqrt(tl.sum(squares, axis=0) / columns - mean * mean + epsilon)
    for first in range(0, columns, BLOCK):
        at = first + tl.arange(0, BLOCK)
        inside = at < columns
        values = tl.load(x + row * columns + at, mask=inside).to(tl.float32)
        normed = (values - mean) * rstd * tl.load(weight + at, mask=inside) + tl.load(bias + at, mask=inside)
        tl.store(out + row * columns + at, normed.to(tl.float16), mask=inside)


@triton.jit
def product(a, b, out, m, n, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    rows = tl.program_id(0) * M + tl.arange(0, M)
    columns = tl.program_id(1) * N + tl.arange(0, N)
    total = tl.zeros([M, N], tl.float32)
    for first in range(0, k, K):
        inner = first + tl.arange(0, K)
        left = tl.load(a + rows[:, None] * k + inner, mask=(rows[:, None] < m) & (inner < k), other=0.0)
        right = tl.load(b + inner[:, None] * n + columns, mask=(inner[:, None] < k) & (columns < n), other=0.0)
        total = tl.dot(left, right, total)
    tl.store(out + rows[:, None] * n + columns, total, mask=(rows[:, None] < m) & (columns < n))


@triton.jit
def described_product(a, b, out, m, n, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    left = tl.make_tensor_descriptor(a, [m, k], [k, 1], [M, K])
    right = tl.make_tensor_descriptor(b, [n, k], [k, 1], [N, K])
    result = tl.make_tensor_descriptor(out, [m, n], [n, 1], [M, N])
    row = tl.program_id(0) * M
    column = tl.program_id(1) * N
    total = tl.zeros([M, N], tl.float32)
    for first in range(0, k, K):
        total = tl.dot(left.load([row, first]), right.load([column, first]).T, total)
    result.store([row, column], total.to(tl.float16))


@triton.jit
def attention_rows(q, k, v, out, queries, keys, scale, D: tl.constexpr, M: tl.constexpr, N: tl.constexpr):
    rows = tl.program_id(0) * M + tl.arange(0, M)
    lanes = tl.arange(0, D)
    head = tl.program_id(1)
    q += head * queries * D
    out += head * queries * D
    k += head * keys * D
    v += head * keys * D
    query = tl.load(q + rows[:, None] * D + lanes, mask=rows[:, None] < queries, other=0.0)
    highest = tl.full([M], -float("inf"), tl.float32)
    weight = tl.zeros([M], tl.float32)
    total = tl.zeros([M, D], tl.float32)
    last = tl.minimum(keys, (tl.program_id(0) + 1) * M)
    for first in range(0, last, N):
        at = first + tl.arange(0, N)
        key = tl.load(k + at[None, :] * D + lanes[:, None], mask=at[None, :] < keys, other=0.0)
        scores = tl.dot(query, key) * scale
        scores = tl.where((at[None, :] <= rows[:, None]) & (at[None, :] < keys), scores, -float("inf"))
        above = tl.maximum(highest, tl.max(scores, 1))
        powers = tl.exp2(scores - above[:, None])
        older = tl.exp2(highest - above)
        weight = weight * older + tl.sum(powers, 1)
        value = tl.load(v + at[:, None] * D + lanes, mask=at[:, None] < keys, other=0.0)
        total = tl.dot(powers.to(tl.float16), value, total * older[:, None])
        highest = above
    tl.store(out + rows[:, None] * D + lanes, (total / weight[:, None]).to(tl.float16), mask=rows[:, None] < queries)


@triton.jit
def dropped(x, out, n, p, seed, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    kept = tl.rand(seed, at) > p
    tl.store(out + at, tl.where(kept, tl.load(x + at, mask=at < n) / (1 - p), 0.0), mask=at < n)


@triton.jit
def running_sums(x, out, columns, COLUMNS: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, COLUMNS)
    values = tl.load(x + row * columns + at, mask=at < columns, other=0)
    tl.store(out + row * columns + at, tl.cumsum(values, 0), mask=at < columns)


@triton.jit
def sorted_rows(x, out, least, COLUMNS: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, COLUMNS)
    values = tl.load(x + row * COLUMNS + at)
    tl.store(out + row * COLUMNS + at, tl.sort(values))
    tl.store(least + row, tl.argmin(values, 0))


@triton.jit
def counted(x, counts, total, n, BLOCK: tl.constexpr, BINS: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    values = tl.load(x + at, mask=inside, other=0)
    tl.atomic_add(counts + values % BINS, 1, mask=inside)
    tl.atomic_max(total, tl.max(tl.where(inside, values, 0), 0))


@triton.jit
def converted(x, narrow, back, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    values = tl.load(x + at, mask=inside, other=0.0)
    code = values.to(tl.float8e4nv)
    tl.store(narrow + at, values.to(tl.bfloat16), mask=inside)
    tl.store(back + at, code.to(tl.float32) + tl.erf(values) + tl.sin(values), mask=inside)


@triton.jit
def one_after_the_other(lock, total, x, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    while tl.atomic_cas(lock, 0, 1) == 1:
        pass
    tl.store(total + at, tl.load(total + at) + tl.load(x + tl.program_id(0) * BLOCK + at))
    tl.debug_barrier()
    tl.atomic_xchg(lock, 0)


F16, F32, I32 = "*fp16", "*fp32", "*i32"
KERNELS = [
    (scale_add, [F32, F32, F32, "i32", "fp32"], dict(BLOCK=256), 4, 3),
    (softmax_rows, [F16, F16, "i32", "i32"], dict(COLUMNS=1024), 4, 3),
    (layer_norm_rows, [F16, F32, F32, F16, "i32", "fp32"], dict(BLOCK=256), 4, 3),
    (product, [F16, F16, F32, "i32", "i32", "i32"], dict(M=64, N=64, K=32), 4, 3),
    (described_product, [F16, F16, F16, "i32", "i32", "i32"], dict(M=64, N=64, K=64), 4, 2),
    (attention_rows, [F16, F16, F16, F16, "i32", "i32", "fp32"], dict(D=64, M=64, N=32), 4, 2),
    (dropped, [F32, F32, "i32", "fp32", "i32"], dict(BLOCK=256), 4, 3),
    (running_sums, [I32, I32, "i32"], dict(COLUMNS=512), 4, 3),
    (sorted_rows, [F32, F32, I32], dict(COLUMNS=128), 4, 3),
    (counted, [I32, I32, I32, "i32"], dict(BLOCK=256, BINS=16), 4, 3),
    (converted, [F32, "*bf16", F32, "i32"], dict(BLOCK=256), 4, 3),
    (one_after_the_other, [I32, F32, F32], dict(BLOCK=128), 4, 3),
]
