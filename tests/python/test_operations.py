"""Every operation of kaio.operations on NumPy arrays, next to NumPy."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from operation_support import F16, F32, FUNCTIONS, SMALL, close, normal, not_called, record_calls

import kaio

ml_dtypes = pytest.importorskip("ml_dtypes")  # NumPy's elements of 8 bits and bf16


@pytest.fixture(autouse=True)
def _record(monkeypatch: pytest.MonkeyPatch) -> None:
    record_calls(monkeypatch)


@pytest.fixture
def random() -> np.random.Generator:
    return np.random.default_rng(7)


# ---- Products


def test_matmul(random: np.random.Generator) -> None:
    a, b, bias, c = normal(random, 20, 24), normal(random, 24, 36), normal(random, 36), normal(random, 20, 36)
    close(kaio.matmul(a, b), a @ b)
    close(kaio.matmul(a.astype(F16), b.astype(F16)), a @ b, 3e-3)
    close(kaio.matmul(a, b, alpha=0.5, activation="relu", bias=bias, residual=c), np.maximum(0.5 * a @ b + bias, 0) + c)
    out = c.copy()
    assert kaio.matmul(a, b, out, beta=2.0) is out
    close(out, a @ b + 2 * c)
    batch = normal(random, 3, 20, 24)
    close(kaio.matmul(batch, b), batch @ b)
    close(kaio.matmul(batch[:1], normal(random, 3, 24, 8)).shape, (3, 20, 8))
    half = kaio.matmul(a.astype(F16), b.astype(F16), dtype="f32")
    assert half.dtype == F32
    close(half, a.astype(F16).astype(F32) @ b.astype(F16).astype(F32), 1e-5)
    e = kaio.matmul(a.astype(ml_dtypes.float8_e4m3fn), b.astype(ml_dtypes.float8_e4m3fn))
    assert e.dtype == ml_dtypes.bfloat16


def test_matmul_views(random: np.random.Generator) -> None:
    big, b = normal(random, 40, 48), normal(random, 24, 36)
    close(kaio.matmul(big[::2, :24], b), big[::2, :24] @ b)
    close(kaio.matmul(big[:24, :20].T, b), big[:24, :20].T @ b)
    out = np.zeros((40, 36), F32)
    kaio.matmul(big[::2, 8:32], b, out[::2])
    close(out[::2], big[::2, 8:32] @ b)
    assert not out[1::2].any()


def test_matmul_of_nothing() -> None:
    assert kaio.matmul(np.zeros((0, 4), F32), np.zeros((4, 5), F32)).shape == (0, 5)
    assert not kaio.matmul(np.zeros((3, 0), F32), np.zeros((0, 5), F32)).any()


def test_matmul_batch(random: np.random.Generator) -> None:
    a = [normal(random, 4 + i % 3, 8) for i in range(30)]  # more arrays than a call has room for without the heap
    b = [normal(random, 8, 5) for _ in a]
    out = [np.zeros((len(x), 5), F32) for x in a]
    got = kaio.matmul_batch(a, b, out, alpha=2.0)
    for x, y, z, o in zip(a, b, got, out):
        assert z is o
        close(z, 2 * x @ y)
    with pytest.raises(kaio.InvalidArgument, match="argument b has 1 arrays, and the first list has 0"):
        kaio.matmul_batch([], b[:1], out[:1])
    with pytest.raises(TypeError, match="argument out is an int; it has to be a list of arrays"):
        kaio.matmul_batch(a, b, 3)  # type: ignore[arg-type]


def test_matmul_backward(random: np.random.Generator) -> None:
    a, b, dc = normal(random, 20, 24), normal(random, 24, 16), normal(random, 20, 16)
    da, db = kaio.matmul_backward(dc, a, b)
    close(da, dc @ b.T)
    close(db, a.T @ dc)
    da, db = kaio.matmul_backward(dc, a, b, da=False, alpha=2.0)
    assert da is None
    close(db, 2 * a.T @ dc)


def test_int8(random: np.random.Generator) -> None:
    x, w = normal(random, 6, 64), random.integers(-100, 100, (16, 64), np.int8)
    codes, scales, zeros = kaio.quantise_int8(x, zero_points=True)
    close((codes.astype(F32) - zeros[:, None]) * scales[:, None], x, 1e-2)
    sums = kaio.int8_column_sums(w.T)
    assert (sums == w.sum(1, dtype=np.int32)).all()
    scale_b = np.full(16, 0.01, F32)
    got = kaio.matmul_int8(codes, w.T, dtype="f32", scale_a=scales, scale_b=scale_b, zero_a=zeros, column_sums=sums)
    close(got, ((codes.astype(F32) - zeros[:, None]) * scales[:, None]) @ (w.T * F32(0.01)))
    assert (kaio.matmul_int8(codes, w.T) == codes.astype(np.int32) @ w.T.astype(np.int32)).all()
    symmetric, scales = kaio.quantise_int8(x)
    close(scales, np.abs(x).max(1) / 127)
    close(symmetric * scales[:, None], x, 1e-2)


def test_fp8(random: np.random.Generator) -> None:
    x, w = normal(random, 6, 256), normal(random, 160, 256)
    codes, scales = kaio.quantise_fp8(x)
    assert codes.dtype == ml_dtypes.float8_e4m3fn
    close(scales, np.abs(x).max(1) / 448)
    close(codes.astype(F32) * scales[:, None], x, 4e-2)
    groups = np.zeros((6, 2), F32)
    codes, groups = kaio.quantise_fp8(x, scales=groups)
    weight, blocks = kaio.quantise_fp8_blocks(w)
    assert blocks.shape == (2, 2)
    wide = np.repeat(np.repeat(blocks, 128, 0), 128, 1)[:160]
    close(weight.astype(F32) * wide, w, 4e-2)
    got = kaio.matmul_fp8(codes, weight.T, dtype="f32", groups_a=groups, blocks_b=np.ascontiguousarray(blocks.T))
    close(got, (codes.astype(F32) * np.repeat(groups, 128, 1)) @ (weight.astype(F32) * wide).T, 1e-3)  # sums of 14 bits on Hopper
    offsets, experts = np.array([0, 2, 6], np.int32), np.stack([weight, weight[::-1].copy()])
    of_experts = np.stack([blocks, blocks[::-1].copy()])
    got = kaio.matmul_fp8_grouped(
        codes, experts.transpose(0, 2, 1), offsets, dtype="f32", groups_a=groups, blocks_b=of_experts.transpose(0, 2, 1))
    scales_of = [np.repeat(np.repeat(one, 128, 0), 128, 1)[:160] for one in of_experts]
    wanted = np.stack([(row.astype(F32) * np.repeat(g, 128)) @ (experts[e].astype(F32) * scales_of[e]).T
                       for row, g, e in zip(codes, groups, [0, 0, 1, 1, 1, 1])])
    close(got, wanted, 1e-3)
    got = kaio.matmul_fp8_grouped(codes, experts[:, :128].transpose(0, 2, 1), offsets, rows=np.arange(6, dtype=np.int32), dtype="f32",
                                  groups_a=groups, blocks_b=of_experts[:, :1].transpose(0, 2, 1), gate="relu")
    fours = wanted[:, :128].reshape(6, 16, 2, 4)  # one block of scales, so their order does not matter
    close(got, np.maximum(fours[:, :, 0], 0).reshape(6, 64) * fours[:, :, 1].reshape(6, 64), 2e-3)


# ---- Norms


def rms(h: Any, weight: Any, offset: float = 0.0, epsilon: float = 1e-6) -> Any:
    return h / np.sqrt((h * h).mean(-1, keepdims=True) + epsilon) * (offset + weight)


def test_rms_norm(random: np.random.Generator) -> None:
    x, weight, residual = normal(random, 2, 5, 64), normal(random, 64), normal(random, 2, 5, 64)
    close(kaio.rms_norm(x, weight), rms(x, weight))
    out, total = kaio.rms_norm(x, weight, residual=residual, residual_out=True, weight_offset=1.0, epsilon=1e-3)
    close(total, x + residual)
    close(out, rms(x + residual, weight, 1.0, 1e-3))


def test_rms_norm_codes(random: np.random.Generator) -> None:
    x, weight = normal(random, 5, 64), normal(random, 64)
    codes, scales = kaio.rms_norm_codes(x, weight)
    assert codes.dtype == np.int8 and scales.shape == (5,)
    close(codes * scales[:, None], rms(x, weight), 1e-2)
    codes, scales = kaio.rms_norm_codes(x, weight, dtype="e4m3")
    close(codes.astype(F32) * scales[:, None], rms(x, weight), 4e-2)
    x, weight, groups = normal(random, 5, 200), normal(random, 200), np.empty((5, 2), F32)
    codes, _ = kaio.rms_norm_codes(x, weight, scales=groups, dtype="e4m3")
    close(codes.astype(F32) * groups.repeat(128, axis=1)[:, :200], rms(x, weight), 4e-2)
    with pytest.raises(kaio.InvalidArgument, match="argument scales"):
        kaio.rms_norm_codes(x, weight, scales=groups[:, :1])


# ---- Rotary embedding


def turned(x: Any, cos: Any, sin: Any) -> Any:
    """x (..., D) by cos and sin (..., P), pairs (0, P), (1, P + 1), ..."""
    p = cos.shape[-1]
    first, second, rest = x[..., :p], x[..., p : 2 * p], x[..., 2 * p :]
    return np.concatenate([first * cos - second * sin, second * cos + first * sin, rest], -1)


def table(positions: int, pairs: int, base: float = 10000.0) -> tuple[Any, Any]:
    angle = np.arange(positions)[:, None] * base ** (-np.arange(pairs) / pairs)
    return np.cos(angle).astype(F32), np.sin(angle).astype(F32)


def test_rotary(random: np.random.Generator) -> None:
    cos, sin = np.zeros((12, 6), F32), np.zeros((12, 6), F32)
    kaio.rotary_table(cos, sin, base=500.0)
    expected = table(12, 6, 500.0)
    close(cos, expected[0], 1e-6)
    close(sin, expected[1], 1e-6)
    scaled = np.zeros((12, 6), F32), np.zeros((12, 6), F32)
    kaio.rotary_table(*scaled, base=500.0, scaling=kaio.RotaryScaling(kind="linear", factor=2.0))
    close(scaled[0][2], cos[1], 1e-6)
    x = normal(random, 2, 5, 3, 16)
    y = kaio.rotary(x, cos, sin, offsets=np.array([0, 4], np.int32))
    for b, first in enumerate((0, 4)):
        close(y[b], turned(x[b], cos[first : first + 5, None], sin[first : first + 5, None]))
    close(kaio.rotary(y, cos, sin, offsets=np.array([0, 4], np.int32), inverse=True), x)
    rows, cu = normal(random, 7, 3, 16), np.array([0, 3, 7], np.int32)
    at = np.array([0, 1, 2, 0, 1, 2, 3])
    close(kaio.rotary_varlen(rows, cos, sin, cu_seqlens=cu), turned(rows, cos[at, None], sin[at, None]))


# ---- Attention


def attention(q: Any, k: Any, v: Any, causal: bool = False, scale: float | None = None, keep: Any = None) -> tuple[Any, Any]:
    """(S, H, D): the outputs, and lse (H, S), in f64."""
    q, k, v = (np.asarray(t, np.float64) for t in (q, k, v))
    repeat = q.shape[1] // k.shape[1]
    k, v = k.repeat(repeat, 1), v.repeat(repeat, 1)
    scores = np.einsum("shd,thd->hst", q, k) * (scale or 1 / math.sqrt(q.shape[2]))
    mask = np.ones(scores.shape[1:], bool) if keep is None else keep
    if causal:
        mask = mask & (np.arange(len(k)) <= np.arange(len(q))[:, None] + len(k) - len(q))
    scores = np.where(mask, scores, -np.inf)
    most = scores.max(-1, keepdims=True)
    weights = np.exp(scores - most)
    total = weights.sum(-1, keepdims=True)
    return np.einsum("hst,thd->shd", weights / total, v), (most + np.log(total))[..., 0]


def test_attention(random: np.random.Generator) -> None:
    q, k, v = normal(random, 2, 9, 4, 16), normal(random, 2, 13, 2, 16), normal(random, 2, 13, 2, 8)
    out, lse = kaio.attention(q, k, v, causal="bottom_right", lse=True)
    assert out.shape == (2, 9, 4, 8) and lse.shape == (2, 4, 9)
    for b in range(2):
        expected = attention(q[b], k[b], v[b], causal=True)
        close(out[b], expected[0])
        close(lse[b], expected[1])
    alone = kaio.attention(q, k, v, scale=0.5)
    close(alone[0], attention(q[0], k[0], v[0], scale=0.5)[0])


def test_attention_varlen(random: np.random.Generator) -> None:
    cu = np.array([0, 5, 5, 12], np.int32)
    q, k, v = normal(random, 12, 2, 16), normal(random, 12, 2, 16), normal(random, 12, 2, 16)
    out, lse = kaio.attention_varlen(q, k, v, cu_q=cu, cu_k=cu, max_q=7, causal="top_left", lse=True)
    for first, last in ((0, 5), (5, 12)):
        expected = attention(q[first:last], k[first:last], v[first:last], causal=True)
        close(out[first:last], expected[0])
        close(lse[:, first:last], expected[1])


def test_merge_states(random: np.random.Generator) -> None:
    q, k, v = normal(random, 1, 5, 2, 16), normal(random, 1, 12, 2, 16), normal(random, 1, 12, 2, 16)
    whole = kaio.attention(q, k, v, lse=True)
    one, two = kaio.attention(q, k[:, :7], v[:, :7], lse=True), kaio.attention(q, k[:, 7:], v[:, 7:], lse=True)
    out, lse = kaio.merge_states(*one, *two)
    close(out, whole[0])
    close(lse, whole[1])


def gradients(q: Any, k: Any, v: Any, dout: Any) -> tuple[Any, Any, Any]:
    """Of causal attention without groups, (S, H, D)."""
    q, k, v, dout = (np.asarray(t, np.float64) for t in (q, k, v, dout))
    scale = 1 / math.sqrt(q.shape[2])
    scores = np.einsum("shd,thd->hst", q, k) * scale
    scores = np.where(np.arange(len(k)) <= np.arange(len(q))[:, None], scores, -np.inf)
    p = np.exp(scores - scores.max(-1, keepdims=True))
    p /= p.sum(-1, keepdims=True)
    dp = np.einsum("shd,thd->hst", dout, v)
    ds = p * (dp - (p * dp).sum(-1, keepdims=True)) * scale
    return np.einsum("hst,thd->shd", ds, k), np.einsum("hst,shd->thd", ds, q), np.einsum("hst,shd->thd", p, dout)


def test_attention_backward(random: np.random.Generator) -> None:
    q, k, v, dout = (normal(random, 1, 9, 2, 16) for _ in range(4))
    out, lse = kaio.attention(q, k, v, causal="top_left", lse=True)
    got = kaio.attention_backward(dout, q, k, v, out, lse, forward=kaio.AttentionOptions(causal="top_left"))
    for g, e in zip(got, gradients(q[0], k[0], v[0], dout[0])):
        close(g[0], e, 1e-4)
    only = kaio.attention_backward(dout, q, k, v, out, lse, dq=False, dk=False, forward=kaio.AttentionOptions(causal="top_left"))
    close(only[0], gradients(q[0], k[0], v[0], dout[0])[2], 1e-4)


def test_gradients_of_sinks_and_bias(random: np.random.Generator) -> None:
    """The gradient of a sink is -P(sink) times the sum over the rows of dout * out; that of a bias is dS."""
    q, k, v, dout = (normal(random, 1, 9, 2, 16) for _ in range(4))
    sinks, bias = normal(random, 2), normal(random, 1, 2, 9, 9)
    forward = kaio.AttentionOptions(sinks=sinks, bias=bias)
    out, lse = kaio.attention(q, k, v, sinks=sinks, bias=bias, lse=True)
    _, _, _, dbias, dsinks = kaio.attention_backward(dout, q, k, v, out, lse, forward=forward, dbias=True, dsinks=True)
    delta = np.einsum("bshd,bshd->bhs", dout, out)
    close(dsinks, -(np.exp(sinks[:, None] - lse[0]) * delta[0]).sum(1), 1e-4)
    p = np.exp(np.einsum("bshd,bthd->bhst", q, k) / 4 + bias - lse[..., None])
    close(dbias, p * (np.einsum("bshd,bthd->bhst", dout, v) - delta[..., None]), 1e-4)
    with pytest.raises(TypeError, match="argument forward.sinks is None"):
        kaio.attention_backward(dout, q, k, v, out, lse, dsinks=True)


def test_attention_backward_varlen(random: np.random.Generator) -> None:
    cu = np.array([0, 4, 9], np.int32)
    q, k, v, dout = (normal(random, 9, 2, 16) for _ in range(4))
    sequences: dict[str, Any] = {"cu_q": cu, "cu_k": cu, "max_q": 5, "max_k": 5}
    out, lse = kaio.attention_varlen(q, k, v, causal="top_left", lse=True, **sequences)
    got = kaio.attention_backward_varlen(dout, q, k, v, out, lse, forward=kaio.AttentionOptions(causal="top_left"), **sequences)
    for first, last in ((0, 4), (4, 9)):
        for g, e in zip(got, gradients(q[first:last], k[first:last], v[first:last], dout[first:last])):
            close(g[first:last], e, 1e-4)


def test_block_mask(random: np.random.Generator) -> None:
    q = normal(random, 1, 256, 1, 16)
    made = kaio.BlockMaskOutput(
        kv_num_blocks=np.zeros((1, 1, 2), np.int32), kv_indices=np.zeros((1, 1, 2, 2), np.int32),
        full_kv_num_blocks=np.zeros((1, 1, 2), np.int32), full_kv_indices=np.zeros((1, 1, 2, 2), np.int32),
    )  # fmt: skip
    kaio.make_block_mask(q, made, causal="top_left", queries=256, keys=256)
    assert made.kv_num_blocks.tolist() == [[[1, 1]]] and made.full_kv_num_blocks.tolist() == [[[0, 1]]]
    mask = kaio.BlockMask(
        kv_num_blocks=made.kv_num_blocks, kv_indices=made.kv_indices,
        full_kv_num_blocks=made.full_kv_num_blocks, full_kv_indices=made.full_kv_indices,
    )  # fmt: skip
    got = kaio.attention(q, q, q, causal="top_left", blocks=mask)
    close(got[0], attention(q[0], q[0], q[0], causal=True)[0])


# ---- Caches


class Pages:
    """A cache of pages of 4 rows, in an order that is not theirs, with sequences of 6 and 3 keys."""

    def __init__(self, random: np.random.Generator) -> None:
        self.k, self.v = normal(random, 5, 4, 2, 16), normal(random, 5, 4, 2, 8)
        self.table, self.lengths = np.array([[3, 0], [1, 4]], np.int32), np.array([6, 3], np.int32)
        self.cache = kaio.KvCache(self.k, self.v, table=self.table, lengths=self.lengths)

    def row(self, sequence: int, key: int) -> tuple[Any, Any]:
        page = self.table[sequence, key // 4]
        return self.k[page, key % 4], self.v[page, key % 4]

    def rows(self, sequence: int, keys: int) -> tuple[Any, Any]:
        each = [self.row(sequence, j) for j in range(keys)]
        return np.stack([k for k, _ in each]), np.stack([v for _, v in each])


def test_attention_decode(random: np.random.Generator) -> None:
    pages, q = Pages(random), normal(random, 2, 1, 4, 16)
    out, lse = kaio.attention_decode(q, pages.cache, lse=True)
    for b, keys in enumerate((6, 3)):
        expected = attention(q[b], *pages.rows(b, keys))
        close(out[b], expected[0])
        close(lse[b], expected[1])
    k, v = normal(random, 2, 1, 2, 16), normal(random, 2, 1, 2, 8)
    out = kaio.attention_decode(q, pages.cache, append=kaio.AttentionAppend(k, v))
    for b, keys in enumerate((7, 4)):
        assert (pages.row(b, keys - 1)[0] == k[b, 0]).all()
        close(out[b], attention(q[b], *pages.rows(b, keys))[0])


def test_attention_decode_varlen(random: np.random.Generator) -> None:
    pages, q, cu = Pages(random), normal(random, 3, 4, 16), np.array([0, 2, 3], np.int32)
    out = kaio.attention_decode_varlen(q, pages.cache, cu_q=cu, max_q=2, causal="bottom_right")
    close(out[:2], attention(q[:2], *pages.rows(0, 6), causal=True)[0])
    close(out[2:], attention(q[2:], *pages.rows(1, 3), causal=True)[0])


def test_append_and_gather(random: np.random.Generator) -> None:
    pages, k, v = Pages(random), normal(random, 2, 2, 2, 16), normal(random, 2, 2, 2, 8)
    kaio.append_kv(k, v, pages.cache)
    for b, first in enumerate((6, 3)):
        for i in range(2):
            if first + i < 8:
                assert (pages.row(b, first + i)[0] == k[b, i]).all() and (pages.row(b, first + i)[1] == v[b, i]).all()
    pages = Pages(random)
    cos, sin = table(8, 8)
    cu = np.array([0, 1, 3], np.int32)
    k, v = normal(random, 3, 2, 16), normal(random, 3, 2, 8)
    kaio.append_kv_varlen(k, v, pages.cache, cu_seqlens=cu, rotary=kaio.AppendRotary(cos, sin))
    for b, key, row in ((0, 6, 0), (1, 3, 1), (1, 4, 2)):
        close(pages.row(b, key)[0], turned(k[row], cos[key], sin[key]))
        assert (pages.row(b, key)[1] == v[row]).all()
    k, v = np.zeros((2, 6, 2, 16), F32), np.zeros((2, 6, 2, 8), F32)
    kaio.gather_kv(pages.cache, k, v)
    assert (k[0] == pages.rows(0, 6)[0]).all() and (v[1, :3] == pages.rows(1, 3)[1]).all() and not k[1, 3:].any()
    k, v = np.zeros((9, 2, 16), F32), np.zeros((9, 2, 8), F32)
    kaio.gather_kv_varlen(pages.cache, k, v, cu_seqlens=np.array([0, 6, 9], np.int32))
    assert (k[:6] == pages.rows(0, 6)[0]).all() and (v[6:] == pages.rows(1, 3)[1]).all()


def test_copy_pages(random: np.random.Generator) -> None:
    pages = normal(random, 5, 4, 2, 16)
    before = pages.copy()
    kaio.copy_pages(pages, np.array([[3, 1], [9, 0]], np.int32))
    assert (pages[1] == before[3]).all() and (pages[[0, 2, 3, 4]] == before[[0, 2, 3, 4]]).all()


# ---- Weights of four bits

E2M1 = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.0, -0.5, -1, -1.5, -2, -3, -4, -6], F32)
NF4 = np.array(
    [-1.0, -0.6961928009986877, -0.5250730514526367, -0.39491748809814453, -0.28444138169288635, -0.18477343022823334,
     -0.09105003625154495, 0.0, 0.07958029955625534, 0.16093020141124725, 0.24611230194568634, 0.33791524171829224,
     0.44070982933044434, 0.5626170039176941, 0.7229568362236023, 1.0], F32)  # fmt: skip


def words(codes: Any, order: tuple[int, ...] = tuple(range(8))) -> Any:
    """Codes of four bits along the last dimension as words: code order[i] of eight is in bits 4 i."""
    codes = np.asarray(codes, np.uint32).reshape(*codes.shape[:-1], -1, 8)
    word = np.zeros(codes.shape[:-1], np.uint32)
    for i, j in enumerate(order):
        word |= codes[..., j] << np.uint32(4 * i)
    return word.view(np.int32)


def byte_words(codes: Any) -> Any:
    """Codes of eight bits as words."""
    return np.ascontiguousarray(np.asarray(codes, np.uint8)).view(np.int32)


class Four:
    """Codes (n, k), scales (groups, n) and zero points (groups, n) of n = 64 outputs by k = 128 inputs."""

    n, k, group, groups = 64, 128, 32, 4

    def __init__(self, random: np.random.Generator) -> None:
        self.codes = random.integers(0, 16, (self.n, self.k))
        self.scales = (0.5 + random.random((self.groups, self.n))).astype(F16)
        self.zeros = random.integers(1, 16, (self.groups, self.n))

    def wide(self, of_groups: Any) -> Any:
        """(groups, n) as (n, k)."""
        return np.repeat(np.asarray(of_groups, F32), self.group, 0).T

    def matrix(self, zeros: Any = 8) -> Any:
        zero = zeros if np.isscalar(zeros) else self.wide(zeros)
        return self.wide(self.scales) * (self.codes - zero)


def w4(**fields: Any) -> kaio.W4Weights:
    given: dict[str, Any] = {"n": Four.n, "k": Four.k, "group": Four.group, **fields}
    return kaio.W4Weights(**given, memory=np.zeros(4 * given["n"] * given["k"] + 4096, np.uint8))


def w8(**fields: Any) -> kaio.W8Weights:
    given: dict[str, Any] = {"n": Four.n, "k": Four.k, **fields}
    return kaio.W8Weights(**given, memory=np.zeros(4 * given["n"] * given["k"] + 4096, np.uint8))


def same_w4(weights: kaio.W4Weights, expected: Any) -> None:
    close(kaio.dequantise_w4(weights, dtype="f32"), expected, 1e-3)


def same_w8(weights: kaio.W8Weights, expected: Any) -> None:
    close(kaio.dequantise_w8(weights, dtype="f32"), expected, 1e-3)


def test_gptq(random: np.random.Generator) -> None:
    four, weights = Four(random), w4(zero_points=True)
    qweight = np.ascontiguousarray(words(four.codes).T)
    source = kaio.GptqW4(qweight, four.scales, qzeros=words(four.zeros - 1))
    kaio.repack_gptq_w4(source, weights)
    same_w4(weights, four.matrix(four.zeros))
    assert kaio.dequantise_w4(weights).dtype == F16


def test_awq(random: np.random.Generator) -> None:
    four, weights = Four(random), w4(zero_points=True)
    order = (0, 2, 4, 6, 1, 3, 5, 7)
    kaio.repack_awq_w4(kaio.AwqW4(words(four.codes.T, order), words(four.zeros, order), four.scales), weights)
    same_w4(weights, four.matrix(four.zeros))


def test_awq_gemv(random: np.random.Generator) -> None:
    four, weights = Four(random), w4(zero_points=True)
    width = 4  # words of zero points: padded to 4 for groups of 32
    zeros, scales = np.zeros((four.n, 8 * width), np.int64), np.zeros((four.n, 8 * width), F16)
    zeros[:, : four.groups], scales[:, : four.groups] = four.zeros.T, four.scales.T
    kaio.repack_awq_gemv_w4(kaio.AwqGemvW4(words(four.codes), words(zeros), scales), weights)
    same_w4(weights, four.matrix(four.zeros))


def test_awq_gemv_fast() -> None:
    weights = w4(scales="f32", offsets=True, zero=0)
    qweight = np.full((Four.n // 4, Four.k), 0x5555, np.int16)
    scales, offsets = np.full((32, Four.n), 0.5, F16), np.full((32, Four.n), -1, F16)
    kaio.repack_awq_gemv_fast_w4(kaio.AwqGemvFastW4(qweight, scales, offsets), weights)
    same_w4(weights, np.full((Four.n, Four.k), 1.5))
    weights.zero = 300
    with pytest.raises(kaio.InvalidArgument, match="argument zero is 300"):
        kaio.repack_awq_gemv_fast_w4(kaio.AwqGemvFastW4(qweight, scales, offsets), weights)


def test_compressed_tensors(random: np.random.Generator) -> None:
    four, weights = Four(random), w4()
    kaio.repack_compressed_tensors_w4(kaio.CompressedTensorsW4(words(four.codes), np.ascontiguousarray(four.scales.T)), weights)
    same_w4(weights, four.matrix())


def test_quantise_w4(random: np.random.Generator) -> None:
    w = normal(random, 64, 128)
    packed, scale = np.zeros((64, 16), np.int32), np.zeros((64, 4), F16)
    kaio.quantise_w4(w, kaio.W4Output(packed, scale, group=32))
    weights = w4()
    kaio.repack_compressed_tensors_w4(kaio.CompressedTensorsW4(packed, scale), weights)
    got = kaio.dequantise_w4(weights, dtype="f32")
    assert np.abs(got - w).max() <= np.abs(w).max() / 7.5 * 0.6


def test_bitsandbytes(random: np.random.Generator) -> None:
    w = normal(random, 64, 128)
    packed, absmax = np.zeros(64 * 64, np.uint8), np.zeros(64 * 2, F32)
    kaio.quantise_bnb_4bit(w, kaio.Bnb4bitOutput(packed, absmax))
    close(absmax, np.abs(w).reshape(-1, 64).max(1), 1e-6)
    expected = NF4[np.stack([packed >> 4, packed & 15], 1).reshape(-1)].reshape(-1, 64) * absmax[:, None]
    out = np.zeros((64, 128), F32)
    kaio.dequantise_bnb_4bit(kaio.Bnb4bit(packed, absmax=absmax), out)
    close(out, expected.reshape(64, 128), 1e-6)
    weights = w4(codes="nf4", group=64, scales="f32")
    kaio.repack_bitsandbytes_w4(kaio.BitsandbytesW4(packed.reshape(64, 64), absmax=absmax.reshape(64, 2)), weights)
    same_w4(weights, out)


def low_first(packed: Any) -> Any:
    return np.stack([packed & 15, packed >> 4], -1).reshape(packed.shape[0], -1)


def test_mxfp4(random: np.random.Generator) -> None:
    w = normal(random, 64, 128)
    packed, scales = np.zeros((64, 64), np.uint8), np.zeros((64, 4), np.uint8)
    kaio.quantise_mxfp4(w, kaio.Mxfp4Output(packed, scales))
    expected = E2M1[low_first(packed)] * np.repeat(np.exp2(scales.astype(F32) - 127), 32, 1)
    assert np.abs(expected - w).max() <= 0.4 * np.abs(w).max()
    out = np.zeros((64, 128), F32)
    kaio.dequantise_mxfp4(kaio.Mxfp4Tensors(packed, scales), out)
    close(out, expected, 1e-6)
    weights = w4(codes="e2m1", scales="e8m0")
    kaio.repack_mxfp4_w4(kaio.Mxfp4W4(packed, scales), weights)
    same_w4(weights, expected)


def test_nvfp4(random: np.random.Generator) -> None:
    w = normal(random, 64, 128)
    packed, scales, whole = np.zeros((64, 64), np.uint8), np.zeros((64, 8), ml_dtypes.float8_e4m3fn), np.zeros(1, F32)
    kaio.quantise_nvfp4(w, kaio.Nvfp4Output(packed, scales, global_=whole))
    close(whole, [np.abs(w).max() / 2688], 1e-6)
    expected = E2M1[low_first(packed)] * np.repeat(scales.astype(F32), 16, 1) * whole
    assert np.abs(expected - w).max() <= 0.3 * np.abs(w).max()
    out = np.zeros((64, 128), F32)
    kaio.dequantise_nvfp4(kaio.Nvfp4Tensors(packed, scales, global_=whole), out)
    close(out, expected, 1e-6)
    weights = w4(codes="e2m1", scales="e4m3", group=16, factors=True)
    kaio.repack_nvfp4_w4(kaio.Nvfp4W4(packed, scales, tensor_scale=whole), weights)
    same_w4(weights, expected)


def test_int4(random: np.random.Generator) -> None:
    four, weights = Four(random), w4()
    kaio.repack_int4_w4(kaio.Int4W4(words(four.codes ^ 8), four.scales), weights)  # two's complement of code - 8
    same_w4(weights, four.matrix())


def test_marlin() -> None:
    """Each code is 11 and each scale 0.5, so that the order of Marlin's tiles does not matter."""
    weights = w4()
    packed = np.full((Four.k // 16, 2 * Four.n), 0xBBBBBBBB, np.uint32)
    kaio.repack_marlin_w4(kaio.MarlinW4(packed, np.full((Four.groups, Four.n), 0.5, F16)), weights)
    same_w4(weights, np.full((Four.n, Four.k), 1.5))
    eight = w8(group=32)
    packed = np.full((Four.k // 16, 4 * Four.n), 0x83838383, np.uint32)
    kaio.repack_marlin_w8(kaio.MarlinW8(packed, np.full((Four.groups, Four.n), 0.5, F16)), eight)
    same_w8(eight, np.full((Four.n, Four.k), 1.5))


def test_tinygemm() -> None:
    weights = w4(scales="f32", offsets=True)
    packed = np.full((Four.n // 8, Four.k // 32, 32, 1), 0x44444444, np.int32)
    pairs = np.zeros((Four.groups, Four.n, 2), ml_dtypes.bfloat16)
    pairs[..., 0], pairs[..., 1] = 0.5, 3
    kaio.repack_tinygemm_w4(kaio.TinygemmW4(packed, pairs), weights)
    same_w4(weights, np.full((Four.n, Four.k), 1.0))


def test_torchao(random: np.random.Generator) -> None:
    four, weights = Four(random), w4(scales="f32", offsets=True)
    zero = four.zeros.astype(F16)
    kaio.repack_torchao_int4_w4(kaio.TorchaoInt4W4(words(four.codes ^ 8), four.scales, zero), weights)
    same_w4(weights, four.wide(four.scales) * (four.codes - 8) + four.wide(zero))


def test_matmul_w4(random: np.random.Generator) -> None:
    four, weights, x, bias = Four(random), w4(zero_points=True), normal(random, 3, 128, dtype=F16), normal(random, 64, dtype=F16)
    qweight = np.ascontiguousarray(words(four.codes).T)
    kaio.repack_gptq_w4(kaio.GptqW4(qweight, four.scales, qzeros=words(four.zeros - 1)), weights)
    close(kaio.matmul_w4(x, weights, bias=bias, dtype="f32"), x.astype(F32) @ four.matrix(four.zeros).T + bias, 2e-3)
    assert kaio.matmul_w4(x, weights).dtype == F16


def test_matmul_w4_grouped(random: np.random.Generator) -> None:
    experts, shape, x = [Four(random) for _ in range(3)], w4(zero_points=True), normal(random, 7, 128, dtype=F16)
    for four in experts:
        kaio.repack_gptq_w4(kaio.GptqW4(np.ascontiguousarray(words(four.codes).T), four.scales, qzeros=words(four.zeros - 1)), shape)
        four.memory = shape.memory[: kaio.weights.packed_bytes(shape)].copy()
    shape.memory = np.concatenate([four.memory for four in experts])
    offsets, bias = np.array([0, 2, 2, 7], np.int32), normal(random, 3, 64, dtype=F16)
    group = np.array([0, 0, 2, 2, 2, 2, 2])
    wanted = np.stack([experts[g].matrix(experts[g].zeros) @ row.astype(F32) + bias[g] for g, row in zip(group, x)])
    close(kaio.matmul_w4_grouped(x, shape, offsets, bias=bias, dtype="f32"), wanted, 2e-3)
    assert kaio.matmul_w4_grouped(x, shape, offsets).dtype == F16
    rows = np.array([6, 0, 1, 9, 3, 3, 2], np.int32)
    both = np.stack([experts[g].matrix(experts[g].zeros) @ (x[r].astype(F32) if r < 7 else np.zeros(128)) + bias[g]
                     for g, r in zip(group, rows)])
    got = kaio.matmul_w4_grouped(x, shape, offsets, bias=bias, rows=rows, gate="relu", up_offset=1.0, dtype="f32")
    close(got, np.maximum(both[:, ::2], 0) * (both[:, 1::2] + 1), 5e-3)
    with pytest.raises(kaio.InvalidArgument, match="weights"):
        kaio.matmul_w4_grouped(x, shape, np.zeros(5, np.int32))


# ---- Weights of eight bits


class Eight:
    """Codes (n, k) of i8 and scales (n, groups) of f32."""

    def __init__(self, random: np.random.Generator, groups: int = 4) -> None:
        self.codes = random.integers(-128, 128, (Four.n, Four.k)).astype(np.int8)
        self.scales = (0.01 + 0.01 * random.random((Four.n, groups))).astype(F16).astype(F32)
        self.matrix = self.codes * np.repeat(self.scales, Four.k // groups, 1)


def test_int8_weights(random: np.random.Generator) -> None:
    eight, weights, x = Eight(random), w8(group=32), normal(random, 3, 128, dtype=F16)
    kaio.repack_int8_w8(kaio.Int8W8(eight.codes, eight.scales), weights)
    same_w8(weights, eight.matrix)
    close(kaio.matmul_w8(x, weights, dtype="f32"), x.astype(F32) @ eight.matrix.T, 2e-3)


def test_matmul_w8_grouped(random: np.random.Generator) -> None:
    experts, shape, x = [Eight(random) for _ in range(2)], w8(group=32), normal(random, 5, 128, dtype=F16)
    memory = []
    for eight in experts:
        kaio.repack_int8_w8(kaio.Int8W8(eight.codes, eight.scales), shape)
        memory.append(shape.memory[: kaio.weights.packed_bytes(shape)].copy())
    shape.memory = np.concatenate(memory)
    wanted = np.stack([experts[row // 3].matrix @ x[row].astype(F32) for row in range(5)])
    close(kaio.matmul_w8_grouped(x, shape, np.array([0, 3, 5], np.int32), dtype="f32"), wanted, 2e-3)


def test_llm_int8(random: np.random.Generator) -> None:
    codes, scb = Eight(random).codes, 1 + np.arange(64, dtype=F32)
    weights, out = w8(), np.zeros((64, 128), F32)
    kaio.repack_llm_int8_w8(kaio.LlmInt8W8(codes, scb), weights)
    same_w8(weights, codes * scb[:, None] / 127)
    kaio.dequantise_bnb_int8(kaio.BnbInt8(codes, scb), out)
    close(out, codes * scb[:, None] / 127, 1e-6)


def test_gptq_of_8_bits(random: np.random.Generator) -> None:
    eight, weights = Eight(random), w8(group=32)
    qweight = np.ascontiguousarray(byte_words(eight.codes.view(np.uint8) ^ 128).T)
    kaio.repack_gptq_w8(kaio.GptqW8(qweight, np.ascontiguousarray(eight.scales.T)), weights)
    same_w8(weights, eight.matrix)


def test_compressed_tensors_of_8_bits(random: np.random.Generator) -> None:
    eight, weights = Eight(random), w8(group=32)
    kaio.repack_compressed_tensors_w8(kaio.CompressedTensorsW8(byte_words(eight.codes.view(np.uint8) ^ 128), eight.scales), weights)
    same_w8(weights, eight.matrix)


def test_blocks(random: np.random.Generator) -> None:
    w = normal(random, 64, 128)
    blocks = np.zeros(64 * 4 * 34, np.uint8)
    kaio.quantise_blocks(w, "q8_0", blocks)
    each = blocks.reshape(64, 4, 34)
    scales = np.ascontiguousarray(each[..., :2]).view(F16).astype(F32)
    expected = (each[..., 2:].view(np.int8) * scales).reshape(64, 128)
    assert np.abs(expected - w).max() < 0.02 * np.abs(w).max()
    out = np.zeros((64, 128), F32)
    kaio.dequantise_blocks("q8_0", blocks, out)
    close(out, expected, 1e-6)
    weights = w8(group=32)
    kaio.repack_q8_0_w8(kaio.Q80W8(blocks.reshape(64, 4 * 34)), weights)
    same_w8(weights, expected)
    weights = w8(group=32)
    kaio.repack_blocks_w8("q8_0", blocks, weights)
    same_w8(weights, expected)
    four = np.zeros(64 * 4 * 18, np.uint8)
    kaio.quantise_blocks(w, "q4_0", four)
    kaio.dequantise_blocks("q4_0", four, out)
    assert np.abs(out - w).max() < 0.3 * np.abs(w).max()
    weights4 = w4()
    kaio.repack_blocks_w4("q4_0", four, weights4)
    same_w4(weights4, out)


def test_e4m3_weights(random: np.random.Generator) -> None:
    codes = normal(random, 64, 128).astype(ml_dtypes.float8_e4m3fn)
    scales = (0.5 + random.random((64, 1))).astype(F32)
    weights, out = w8(codes="e4m3"), np.zeros((64, 128), F32)
    kaio.repack_e4m3_w8(kaio.E4m3W8(codes, scales), weights)
    same_w8(weights, codes.astype(F32) * scales)
    kaio.dequantise_scaled_bytes(kaio.ScaledBytes(codes, scales, block_rows=1, block_columns=128), out)
    close(out, codes.astype(F32) * scales, 1e-6)


# ---- Projections


def test_qkv_project(random: np.random.Generator) -> None:
    x, w = normal(random, 5, 64, dtype=F16), normal(random, 64, 64, dtype=F16)
    outputs = kaio.QkvOutputs(q=np.zeros((5, 2, 16), F16), k=np.zeros((5, 1, 16), F16), v=np.zeros((5, 1, 16), F16))
    cos, sin = table(5, 8)
    rotary = kaio.QkvRotary(cos, sin, positions=np.arange(5, dtype=np.int32))
    kaio.qkv_project(x, kaio.QkvWeights(all=kaio.ProjectionWeight(matrix=w)), outputs, rotary=rotary)
    y = x.astype(F32) @ w.astype(F32).T
    close(outputs.q, turned(y[:, :32].reshape(5, 2, 16), cos[:, None], sin[:, None]), 3e-3)
    close(outputs.k, turned(y[:, 32:48].reshape(5, 1, 16), cos[:, None], sin[:, None]), 3e-3)
    close(outputs.v, y[:, 48:].reshape(5, 1, 16), 3e-3)


def test_gate_up_project(random: np.random.Generator) -> None:
    x, gate, up = (normal(random, *shape, dtype=F16) for shape in ((5, 64), (32, 64), (32, 64)))
    out = np.zeros((5, 32), F16)
    weights = kaio.GateUpWeights(gate=kaio.ProjectionWeight(matrix=gate), up=kaio.ProjectionWeight(matrix=up))
    assert kaio.gate_up_project(x, weights, out) is out
    g, u = x.astype(F32) @ gate.astype(F32).T, x.astype(F32) @ up.astype(F32).T
    close(out, g / (1 + np.exp(-g)) * u, 5e-3)
    normed = kaio.gate_up_project(x, weights, np.zeros((5, 32), F16), x_norm=kaio.XNorm(np.ones(64, F16)))
    h = rms(x.astype(F32), 1.0)
    g, u = h @ gate.astype(F32).T, h @ up.astype(F32).T
    close(normed, g / (1 + np.exp(-g)) * u, 1e-2)


def test_every_operation_is_called(request: pytest.FixtureRequest) -> None:
    """The last of this file: each operation has run in a test above, or in test_small_operations.py."""
    tests = [name for name in globals() if name.startswith("test_")]
    assert not_called(set(FUNCTIONS) - SMALL, request, len(tests)) == []


def test_numbers_that_change():
    """An array without dimensions may serve as a number; a later call reads it again."""
    a, b, alpha = np.ones((4, 8), np.float32), np.ones((8, 4), np.float32), np.array(1.0)
    assert kaio.matmul(a, b, alpha=alpha)[0, 0] == 8
    alpha[...] = 3.0
    assert kaio.matmul(a, b, alpha=alpha)[0, 0] == 24
