"""Norms, softmax, losses, activations, copies, reductions, embeddings and sampling of kaio.operations, next to NumPy."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from operation_support import F16, F32, SMALL, close, normal, not_called, record_calls

import kaio

ml_dtypes = pytest.importorskip("ml_dtypes")  # NumPy's elements of 8 bits and bf16


@pytest.fixture(autouse=True)
def _record(monkeypatch: pytest.MonkeyPatch) -> None:
    record_calls(monkeypatch)


@pytest.fixture
def random() -> np.random.Generator:
    return np.random.default_rng(11)


# ---- Norms


def layer(x: Any, weight: Any = 1.0, bias: Any = 0.0, eps: float = 1e-5) -> Any:
    x = np.asarray(x, np.float64)
    return (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + eps) * weight + bias


def rms(x: Any, weight: Any = 1.0, eps: float = 1e-6) -> Any:
    x = np.asarray(x, np.float64)
    return x / np.sqrt((x * x).mean(-1, keepdims=True) + eps) * weight


def test_layer_norm(random: np.random.Generator) -> None:
    x, residual = normal(random, 3, 4, 40), normal(random, 3, 4, 40)
    weight, bias = normal(random, 40), normal(random, 40)
    close(kaio.layer_norm(x), layer(x))
    close(kaio.layer_norm(x, weight, bias, epsilon=1e-2), layer(x, weight, bias, 1e-2))
    out, h = kaio.layer_norm(x, weight, residual=residual, residual_out=True, weight_offset=1.0)
    close(h, x + residual)
    close(out, layer(x + residual, weight + 1))
    half = x.astype(F16)
    got = kaio.layer_norm(half, weight, bias)  # a weight of f32
    assert got.dtype == F16
    close(got, layer(half, weight, bias), 1e-3)
    with pytest.raises(kaio.InvalidArgument, match="argument bias"):
        kaio.layer_norm(x, weight, bias[:8])


def test_layer_norm_codes(random: np.random.Generator) -> None:
    x, weight, bias = normal(random, 5, 64), normal(random, 64), normal(random, 64)
    expected = layer(x, weight, bias)
    codes, scales = kaio.layer_norm_codes(x, weight, bias)
    assert codes.dtype == np.int8
    close(codes * scales[:, None], expected, 5e-3)
    blocks = np.empty((5, 1), F32)  # of 128 neighbours, all of a row here
    same, _ = kaio.layer_norm_codes(x, weight, bias, scales=blocks)
    assert (same == codes).all() and (blocks[:, 0] == scales).all()
    codes, y = kaio.layer_norm_codes(x, weight, bias, scales=False, scale=0.05, y_out=True)
    close(y, expected)
    close(codes * 0.05, np.clip(expected, -128 * 0.05, 127 * 0.05), 1e-2)
    with pytest.raises(kaio.InvalidArgument, match="scale"):
        kaio.layer_norm_codes(x, scales=False)


def test_modulated_norms(random: np.random.Generator) -> None:
    x, gate, residual = (normal(random, 2, 3, 32) for _ in range(3))
    scale, shift, weight = normal(random, 2, 1, 32), normal(random, 2, 1, 32), normal(random, 32)
    every = [np.broadcast_to(t, x.shape) for t in (scale, shift)]
    h = x * gate + residual
    out, total = kaio.rms_norm(x, weight, gate=gate, residual=residual, residual_out=True, scale=every[0], shift=every[1])
    close(total, h)
    close(out, rms(h, weight) * (1 + scale) + shift)
    close(kaio.layer_norm(x, scale=every[0], shift=every[1]), layer(x) * (1 + scale) + shift)
    codes, scales = kaio.rms_norm_codes(x, weight, norm_scale=every[0], shift=every[1])
    close(codes * scales[..., None], rms(x, weight) * (1 + scale) + shift, 5e-3)
    half, of_half = x.astype(ml_dtypes.bfloat16), weight.astype(ml_dtypes.bfloat16)
    llama = kaio.rms_norm(half, of_half, casting="llama")
    twice = rms(half.astype(F32)).astype(F32).astype(ml_dtypes.bfloat16) * of_half
    assert (llama != twice).mean() < 0.02  # but for sums on the edge of a rounding
    with pytest.raises(ValueError, match="casting"):
        kaio.rms_norm(x, weight, casting="qwen")  # type: ignore[arg-type]


def rms_gradients(x: Any, dy: Any, weight: Any, eps: float = 1e-6) -> tuple[Any, Any]:
    x, dy = np.asarray(x, np.float64), np.asarray(dy, np.float64)
    inverse = 1 / np.sqrt((x * x).mean(-1, keepdims=True) + eps)
    y, g = x * inverse, dy * weight
    return inverse * (g - y * (g * y).mean(-1, keepdims=True)), (dy * y).reshape(-1, x.shape[-1]).sum(0)


def test_rms_norm_backward(random: np.random.Generator) -> None:
    x, dy, dh, weight = normal(random, 3, 4, 40), normal(random, 3, 4, 40), normal(random, 3, 4, 40), normal(random, 40)
    dx, dweight = rms_gradients(x, dy, weight)
    got = kaio.rms_norm_backward(x, dy, weight, dweight=True)
    close(got[0], dx)
    close(got[1], dweight)
    close(kaio.rms_norm_backward(x, dy, weight), dx)
    close(kaio.rms_norm_backward(x, dy, dh=dh), rms_gradients(x, dy, 1.0)[0] + dh)
    half, of_half = x.astype(F16), dy.astype(F16)
    dx, dweight = rms_gradients(half, of_half, weight + 1.0)
    got = kaio.rms_norm_backward(half, of_half, weight, dweight=True, weight_offset=1.0, dtype="f32")
    assert got[0].dtype == F16 and got[1].dtype == F32
    close(got[0], dx, 1e-3)
    close(got[1], dweight)
    memory = np.zeros(1 << 20, np.uint8)
    again = kaio.rms_norm_backward(half, of_half, weight, dweight=True, weight_offset=1.0, dtype="f32", workspace=memory)
    assert (again[1] == got[1]).all()
    with pytest.raises(kaio.InvalidArgument, match="argument dy"):
        kaio.rms_norm_backward(x, dy[:2], weight)
    with pytest.raises(kaio.InvalidArgument, match="workspace"):
        kaio.rms_norm_backward(x, dy, weight, dweight=True, workspace=memory[:16])


def test_layer_norm_backward(random: np.random.Generator) -> None:
    x, dy, weight = normal(random, 9, 40), normal(random, 9, 40), normal(random, 40)
    centred = x - x.mean(-1, keepdims=True, dtype=np.float64)
    g = dy * weight.astype(np.float64)
    dx, dweight = rms_gradients(centred, dy, weight, 1e-2)
    dx -= g.mean(-1, keepdims=True) / np.sqrt(x.var(-1, keepdims=True, dtype=np.float64) + 1e-2)
    got = kaio.layer_norm_backward(x, dy, weight, dweight=True, dbias=True, epsilon=1e-2)
    for a, b in zip(got, (dx, dweight, dy.sum(0))):
        close(a, b)
    close(kaio.layer_norm_backward(x, dy, weight, epsilon=1e-2), dx)
    with pytest.raises(kaio.InvalidArgument, match="argument weight"):
        kaio.layer_norm_backward(x, dy, weight[:8])


def test_qk_norm_rotary(random: np.random.Generator) -> None:
    q, k = normal(random, 2, 5, 4, 16), normal(random, 2, 5, 2, 16)
    of_q, of_k = normal(random, 16), normal(random, 16)
    angle = random.standard_normal((8, 8))
    cos, sin = np.cos(angle).astype(F32), np.sin(angle).astype(F32)

    def turned(x: Any, weight: Any) -> Any:
        h = rms(x, weight)
        c, s = cos[:5, None], sin[:5, None]
        return np.concatenate([h[..., :8] * c - h[..., 8:] * s, h[..., 8:] * c + h[..., :8] * s], -1)

    q_out, k_out = kaio.qk_norm_rotary(q, k, None, True, q_norm=of_q, k_norm=of_k, weight_offset=1.0, cos=cos, sin=sin)
    close(q_out, turned(q, of_q + 1))
    close(k_out, turned(k, of_k + 1))
    close(kaio.qk_norm_rotary(q, q_norm=of_q), rms(q, of_q))
    with pytest.raises(kaio.InvalidArgument, match="q_norm"):
        kaio.qk_norm_rotary(q, q_norm=of_q[:8])


# ---- Softmax and cross entropy


def log_sums(x: Any) -> Any:
    x = np.asarray(x, np.float64)
    top = x.max(-1, keepdims=True)
    return (top + np.log(np.exp(x - top).sum(-1, keepdims=True)))[..., 0]


def test_softmax(random: np.random.Generator) -> None:
    x, dy = normal(random, 2, 3, 50), normal(random, 2, 3, 50)
    p = np.exp(x - log_sums(x)[..., None])
    close(kaio.softmax(x), p)
    y, lse = kaio.softmax(x, scale=0.5, lse=True)
    close(y, np.exp(x / 2 - log_sums(x / 2)[..., None]))
    close(lse, log_sums(x / 2))
    close(kaio.softmax_backward(y, dy, scale=0.5), y * (dy - (y * dy).sum(-1, keepdims=True)) / 2)
    half = x.astype(F16)
    got = kaio.softmax(half)
    assert got.dtype == F16
    close(got, np.exp(half - log_sums(half)[..., None]), 1e-3)
    assert not kaio.softmax(np.full((1, 8), -np.inf, F32)).any()
    with pytest.raises(kaio.InvalidArgument, match="scale"):
        kaio.softmax(x, scale=math.inf)
    with pytest.raises(kaio.InvalidArgument, match="argument dy"):
        kaio.softmax_backward(p.astype(F32), dy[:1])


def test_log_softmax(random: np.random.Generator) -> None:
    x, dy = normal(random, 4, 50), normal(random, 4, 50)
    y, lse = kaio.log_softmax(x, lse=True)
    close(y, x - log_sums(x)[:, None])
    close(lse, log_sums(x))
    close(kaio.log_softmax_backward(y, dy), dy - np.exp(y) * dy.sum(-1, keepdims=True))
    assert kaio.log_softmax(x, x) is x
    close(x, y, 0)


def losses(
    logits: Any, targets: Any, weights: Any, smoothing: float = 0.0, z_loss: float = 0.0, softcap: float = 0.0
) -> Any:
    """The losses of rows, and the weights of their targets; ignored rows have a target below 0."""
    z = np.asarray(logits, np.float64)
    z = softcap * np.tanh(z / softcap) if softcap else z
    lse, rows = log_sums(z), np.arange(len(z))
    classes = np.maximum(targets, 0)
    of_target = np.where(targets < 0, 0, weights[classes])
    loss = (1 - smoothing) * of_target * (lse - z[rows, classes])
    loss += smoothing / z.shape[1] * (weights * (lse[:, None] - z)).sum(-1) + z_loss * lse * lse
    return np.where(targets < 0, 0, loss), of_target


def test_cross_entropy(random: np.random.Generator) -> None:
    logits, targets = normal(random, 6, 30), np.array([3, 0, -100, 29, 7, 7])
    weights = np.abs(normal(random, 30)) + F32(0.5)
    ones = np.ones(30)
    plain = losses(logits, targets, ones)[0]
    loss = kaio.cross_entropy(logits, targets, np.zeros(6, F32), reduction="none")
    close(loss, plain)
    close(kaio.cross_entropy(logits, targets.astype(np.int32), np.zeros(1, F32)), [plain.sum() / 5])
    memory = np.zeros(1 << 16, np.uint8)
    close(kaio.cross_entropy(logits, targets, np.zeros(1, F32), reduction="sum", workspace=memory), [plain.sum()])
    terms: dict[str, Any] = {"label_smoothing": 0.1, "z_loss": 0.01, "softcap": 3.0, "weights": weights}
    formula = lambda x: losses(x, targets, weights.astype(np.float64), 0.1, 0.01, 3.0)  # noqa: E731
    expected, of_target = formula(logits)
    loss, lse, total = kaio.cross_entropy(logits, targets, np.zeros(1, F32), lse=True, total_weight=True, **terms)
    close(total, [of_target.sum()])
    close(loss, [expected.sum() / of_target.sum()])
    close(lse, log_sums(3 * np.tanh(logits.astype(np.float64) / 3)))

    slope = np.zeros((6, 30))
    for i in range(30):  # the gradient by differences
        step = np.zeros(30)
        step[i] = 1e-5
        slope[:, i] = (formula(logits + step)[0] - formula(logits - step)[0]) / 2e-5
    dloss = np.full(1, 0.5, F32)
    dlogits = kaio.cross_entropy_backward(logits, targets, lse, dloss, total_weight=total, **terms)
    close(dlogits, slope * 0.5 / of_target.sum())
    of_rows = normal(random, 6)
    dlogits = kaio.cross_entropy_backward(logits, targets, lse, of_rows, reduction="none", **terms)
    close(dlogits, slope * of_rows[:, None])
    assert not dlogits[2].any()
    with pytest.raises(kaio.InvalidArgument, match="label_smoothing"):
        kaio.cross_entropy(logits, targets, np.zeros(1, F32), label_smoothing=2.0)
    with pytest.raises(kaio.InvalidArgument, match="total_weight"):
        kaio.cross_entropy_backward(logits, targets, lse, dloss)


def test_linear_cross_entropy(random: np.random.Generator) -> None:
    x, weight, bias = normal(random, 6, 16), normal(random, 90, 16), normal(random, 90)
    targets = np.array([3, 0, -100, 89, 7, 7])
    weights = np.abs(normal(random, 90)) + F32(0.5)
    terms: dict[str, Any] = {"label_smoothing": 0.1, "z_loss": 0.01, "softcap": 6.0, "weights": weights}
    logits = 0.5 * x.astype(np.float64) @ weight.astype(np.float64).T + bias
    formula = lambda z: losses(z, targets, weights.astype(np.float64), 0.1, 0.01, 6.0)  # noqa: E731
    expected, of_target = formula(logits)
    loss, lse, total = kaio.linear_cross_entropy(
        x, weight, targets, np.zeros(1, F32), bias=bias, logit_scale=0.5, lse=True, total_weight=True, **terms
    )
    close(loss, [expected.sum() / of_target.sum()])
    close(total, [of_target.sum()])
    close(lse, log_sums(6 * np.tanh(logits / 6)))

    slope = np.zeros((6, 90))
    for i in range(90):  # the gradient by differences
        step = np.zeros(90)
        step[i] = 1e-5
        slope[:, i] = (formula(logits + step)[0] - formula(logits - step)[0]) / 2e-5
    slope *= 0.5 / of_target.sum()
    dloss = np.full(1, 0.5, F32)
    given = (x, weight, targets, lse, dloss)
    dx, dweight, dbias = kaio.linear_cross_entropy_backward(*given, dbias=True, bias=bias, logit_scale=0.5, total_weight=total, **terms)
    close(dx, 0.5 * slope @ weight)
    close(dweight, 0.5 * slope.T @ x)
    close(dbias, slope.sum(0))
    assert not dx[2].any()
    alone = kaio.linear_cross_entropy_backward(*given, False, bias=bias, logit_scale=0.5, total_weight=total, **terms)
    assert (np.asarray(alone[0] if isinstance(alone, tuple) else alone) == dweight).all()

    half, memory = x.astype(F16), np.zeros(1 << 20, np.uint8)
    plain = losses(half.astype(np.float64) @ weight.astype(F16).astype(np.float64).T, targets, np.ones(90))[0]
    close(kaio.linear_cross_entropy(half, weight.astype(F16), targets, np.zeros(6, F32), reduction="none", workspace=memory), plain)
    with pytest.raises(kaio.InvalidArgument, match="logit_scale"):
        kaio.linear_cross_entropy(x, weight, targets, np.zeros(1, F32), logit_scale=float("inf"))
    with pytest.raises(kaio.InvalidArgument, match="weight has extent 1"):
        kaio.linear_cross_entropy(x, weight[:, :8], targets, np.zeros(1, F32))


# ---- Activations


def erf(x: Any) -> Any:
    return np.vectorize(math.erf)(x)


FORMULAS = {
    "silu": lambda x: x / (1 + np.exp(-x)),
    "gelu": lambda x: x / 2 * (1 + erf(x / math.sqrt(2))),
    "gelu_tanh": lambda x: x / 2 * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))),
    "gelu_sigmoid": lambda x: x / (1 + np.exp(-1.702 * x)),
    "relu": lambda x: np.maximum(x, 0),
    "relu2": lambda x: np.maximum(x, 0) ** 2,
}


@pytest.mark.parametrize("kind", sorted(FORMULAS))
def test_activations(random: np.random.Generator, kind: Any) -> None:
    f, x, y, dy = FORMULAS[kind], *(2 * normal(random, 3, 50) for _ in range(3))
    wide, step = x.astype(np.float64), 1e-5
    slope = (f(wide + step) - f(wide - step)) / (2 * step)
    close(kaio.activate(kind, x), f(wide))
    close(kaio.activate_backward(kind, dy, x), dy * slope)
    close(kaio.gated(kind, x, y), f(wide) * y)
    dgate, dup = kaio.gated_backward(kind, dy, x, y)
    close(dgate, dy * y * slope)
    close(dup, dy * f(wide))


def test_activations_of_views(random: np.random.Generator) -> None:
    packed = normal(random, 4, 20, dtype=F16)
    f = FORMULAS["gelu_sigmoid"]
    wide = packed.astype(F32)
    got = kaio.gated("gelu_sigmoid", packed[:, ::2], packed[:, 1::2], limit=0.75, up_offset=1.0)
    close(got, f(np.minimum(wide[:, ::2], 0.75)) * (np.clip(wide[:, 1::2], -0.75, 0.75) + 1), 2e-3)
    assert kaio.activate("relu", packed.T, packed.T) is not None
    close(packed, np.maximum(wide, 0), 0)
    assert kaio.activate("silu", np.zeros((0, 4), F32)).shape == (0, 4)
    with pytest.raises(kaio.InvalidArgument, match="limit"):
        kaio.gated("silu", packed, packed, limit=-1.0)
    with pytest.raises(ValueError, match="kind"):
        kaio.activate("tanh", packed)  # type: ignore[arg-type]


# ---- Copies


def test_copy_tensor(random: np.random.Generator) -> None:
    x = random.integers(-99, 99, (3, 4, 5)).astype(np.int16)
    to = np.zeros((5, 3, 4), np.int16)
    assert kaio.copy_tensor(to.transpose(1, 2, 0), x) is not None
    assert (to == x.transpose(2, 0, 1)).all()
    rows = np.zeros((6, 5), np.bool_)
    kaio.copy_tensor(rows, np.array([1, 0, 0, 1, 1], np.bool_))
    assert (rows == [1, 0, 0, 1, 1]).all()
    numbers, half = normal(random, 7, 9), np.zeros((7, 9), F16)
    kaio.copy_tensor(half, numbers)
    assert (half == numbers.astype(F16)).all()
    with pytest.raises(kaio.InvalidArgument, match="element types"):
        kaio.copy_tensor(half, x[0, :, 0])


def test_int8_dequant(random: np.random.Generator) -> None:
    codes = random.integers(-128, 128, (4, 48)).astype(np.int8)
    close(kaio.int8_dequant(codes, 0.125), codes * 0.125, 0)
    assert kaio.int8_dequant(codes, 0.5, dtype="bf16").dtype == ml_dtypes.bfloat16
    scales = normal(random, 4, 3)
    close(kaio.int8_dequant_groups(codes, scales), codes * np.repeat(scales, 16, 1), 1e-6)
    with pytest.raises(kaio.InvalidArgument, match="scale"):
        kaio.int8_dequant(codes, math.inf)
    with pytest.raises(kaio.InvalidArgument, match="argument codes"):
        kaio.int8_dequant_groups(codes.view(np.uint8), scales)


# ---- Reductions


def test_reduce(random: np.random.Generator) -> None:
    x = normal(random, 5, 6, 70)
    for axis in (0, 1, 2, -1, -3):
        close(kaio.reduce("sum", x, axis=axis), x.sum(axis))
        close(kaio.reduce("mean", x, axis=axis), x.mean(axis))
        assert (kaio.reduce("max", x, axis=axis) == x.max(axis)).all()
        assert (kaio.reduce("min", x.astype(F16), axis=axis) == x.astype(F16).min(axis)).all()
    close(kaio.reduce("sum", x, all=True), [x.sum()])
    close(kaio.reduce("sum", x[0, 0]), [x[0, 0].sum()])
    assert kaio.reduce("sum", x.astype(F16), dtype="f32").dtype == F32
    out = np.zeros((5, 1, 70), F32)
    kaio.reduce("sum", x, out, axis=1)
    close(out, x.sum(1, keepdims=True))
    large = normal(random, 300000)
    close(kaio.reduce("sum", large), [large.astype(np.float64).sum()], 1e-4)
    with pytest.raises(kaio.InvalidArgument, match="axis"):
        kaio.reduce("sum", x, axis=3)
    with pytest.raises(TypeError, match="argument x"):
        kaio.reduce("sum", 3)


def test_scan(random: np.random.Generator) -> None:
    x = random.integers(-1000, 1000, (3, 100))
    assert (kaio.scan(x) == x.cumsum(-1)).all()
    words = x.astype(np.uint32)
    assert (kaio.scan(words, exclusive=True) == words.cumsum(-1, dtype=np.uint32) - words).all()
    numbers = normal(random, 2, 20000)  # a workspace is made
    close(kaio.scan(numbers), numbers.astype(np.float64).cumsum(-1), 1e-4)
    with pytest.raises(kaio.InvalidArgument, match="argument x"):
        kaio.scan(x.astype(np.float64))


def test_histogram(random: np.random.Generator) -> None:
    letters = random.integers(0, 256, 1000).astype(np.uint8)
    counts = np.zeros(256, np.uint32)
    assert kaio.histogram(letters, counts) is counts
    assert (counts == np.bincount(letters, minlength=256)).all()
    kaio.histogram(letters, counts, accumulate=True)
    assert (counts == 2 * np.bincount(letters, minlength=256)).all()
    few, outside = kaio.histogram(letters.astype(np.int32), np.zeros(10, np.uint32), first=100, outside=True)
    assert (few == np.bincount(letters, minlength=256)[100:110]).all()
    assert outside.tolist() == [(letters < 100).sum(), (letters >= 110).sum(), 0]
    x = normal(random, 40, 30)
    got = kaio.histogram(x, np.zeros(8, np.uint32), low=-2.0, high=2.0)
    assert abs(got.astype(np.int64) - np.histogram(x, 8, (-2, 2))[0]).max() <= 1
    with pytest.raises(kaio.InvalidArgument, match="low"):
        kaio.histogram(x, counts, low=1.0, high=-1.0)


# ---- Embeddings and sampling


def test_embedding(random: np.random.Generator) -> None:
    weight, tokens = normal(random, 12, 16), random.integers(0, 12, (2, 5)).astype(np.int32)
    assert (kaio.embedding(tokens, weight) == weight[tokens]).all()
    errors = np.zeros(1, np.uint32)
    assert not kaio.embedding(np.array([-1, 12]), weight, errors=errors).any() and errors[0] == 2
    with pytest.raises(kaio.InvalidArgument, match="argument indices"):
        kaio.embedding(weight, weight)
    with pytest.raises(TypeError, match="argument weight"):
        kaio.embedding(tokens, None)


def test_embedding_backward(random: np.random.Generator) -> None:
    tokens, dout = random.integers(0, 12, (4, 5)), normal(random, 4, 5, 16)
    expected = np.zeros((12, 16), np.float64)
    np.add.at(expected, tokens, dout)
    dweight = kaio.embedding_backward(dout, tokens, np.zeros((12, 16), F32))
    close(dweight, expected)
    first = dweight.copy()
    close(kaio.embedding_backward(dout, tokens, dweight, accumulate=True), 2 * expected)
    assert (kaio.embedding_backward(dout, tokens, np.zeros((12, 16), F32)) == first).all()
    padded = kaio.embedding_backward(dout, tokens, np.zeros((12, 16), F32), padding_index=3)
    expected[3] = 0
    close(padded, expected)


def test_sample(random: np.random.Generator) -> None:
    logits = normal(random, 6, 100)
    greedy = kaio.sample(logits, temperature=0.0)
    assert greedy.dtype == np.int32 and (greedy == logits.argmax(-1)).all()
    seed, offset = np.arange(6), np.zeros(6, np.int64)
    options: dict[str, Any] = {"seed": seed, "offset": offset, "temperature": 0.7, "top_k": 5, "top_p": 0.9}
    tokens, logprobs, lse = kaio.sample(logits, logprobs=True, lse=True, dtype="i64", **options)
    assert tokens.dtype == np.int64
    kept = np.argsort(-logits, -1)[:, :5]
    assert all(t in k for t, k in zip(tokens, kept))
    scaled = logits / 0.7
    close(lse, np.log(np.exp(scaled).sum(-1)))
    close(logprobs, scaled[np.arange(6), tokens] - np.log(np.exp(scaled).sum(-1)), 1e-4)
    alone = kaio.sample(logits[3:4], **{**options, "seed": seed[3:4], "offset": offset[3:4]})
    assert alone[0] == tokens[3]
    kaio.sample(logits, offset_out=offset, **options)
    assert (offset == 1).all()
    each = np.array([0, 1, 2, 3, 4, 5], np.int32)
    assert kaio.sample(logits, seed=seed, offset=offset, top_ks=each)[1] == greedy[1]
    with pytest.raises(kaio.InvalidArgument, match="top_p"):
        kaio.sample(logits, seed=seed, offset=offset, top_p=2.0)
    with pytest.raises(kaio.InvalidArgument, match="seed"):
        kaio.sample(logits)


def test_sampled_shares(random: np.random.Generator) -> None:
    """Many draws from a row: the shares of tokens are their probabilities."""
    draws = 400
    logits = np.broadcast_to(normal(random, 1, 8), (draws, 8))
    tokens = kaio.sample(logits, seed=np.full(draws, 5), offset=np.arange(draws))
    p = np.exp(logits[0]) / np.exp(logits[0]).sum()
    assert np.abs(np.bincount(tokens, minlength=8) / draws - p).max() < 0.1


def test_top_k(random: np.random.Generator) -> None:
    x = normal(random, 3, 200, dtype=F16)
    values, indices = np.zeros((3, 7), F16), np.zeros((3, 7), np.int32)
    kaio.top_k(x, values, indices)
    order = np.argsort(-x, -1, kind="stable")[:, :7]
    assert (indices == order).all() and (values == np.take_along_axis(x, order, -1)).all()
    with pytest.raises(kaio.InvalidArgument, match="argument indices"):
        kaio.top_k(x, values, indices[:, :3])


def test_experts(random: np.random.Generator) -> None:
    """A mixture of experts: each expert multiplies its tokens by its number."""
    logits, x = normal(random, 7, 12), normal(random, 7, 40)
    indices, weights = np.zeros((7, 3), np.int32), np.zeros((7, 3), F32)
    kaio.topk_router(logits, indices, weights, score="sigmoid", renormalise=True, factor=2.0)
    order = np.argsort(-logits, -1)[:, :3]
    scores = np.take_along_axis(1 / (1 + np.exp(-logits)), order, -1)
    wanted = 2 * scores / scores.sum(-1, keepdims=True)
    assert (indices == order).all()
    close(weights, wanted)
    kaio.topk_router(logits, indices, weights, score="sigmoid", renormalise=True, factor=2.0, groups=4, kept_groups=2)
    assert (np.array([len(set(row // 3)) for row in indices]) <= 2).all()

    kaio.topk_router(logits, indices, weights)
    offsets = np.zeros(13, np.int32)
    offsets, counts, tokens, positions = kaio.sort_by_expert(indices, offsets, counts=True, tokens=True, positions=True)
    assert (counts == np.bincount(indices.ravel(), minlength=12)).all() and (np.diff(offsets) == counts).all()
    assert (tokens == np.argsort(indices.ravel(), kind="stable") // 3).all()
    assert (tokens[positions] == np.arange(7)[:, None]).all()
    y = x[tokens] * np.repeat(np.arange(12, dtype=F32), counts)[:, None]
    close(kaio.combine_experts(y, weights, positions), x * (weights * indices).sum(-1, keepdims=True))

    experts = normal(random, 12, 16, 40, dtype=F16)  # (groups, n, k)
    rows = x[tokens].astype(F16)
    wanted = np.stack([experts[e].astype(F32) @ row.astype(F32) for e, row in zip(np.repeat(np.arange(12), counts), rows)])
    close(kaio.matmul_grouped(rows, experts.transpose(0, 2, 1), offsets, dtype="f32"), wanted, 1e-4)
    assert kaio.matmul_grouped(rows, experts.transpose(0, 2, 1), offsets).dtype == F16
    close(kaio.matmul_grouped(x.astype(F16), experts.transpose(0, 2, 1), offsets, rows=tokens, dtype="f32"), wanted, 1e-4)
    gradient = normal(random, rows.shape[0], 16, dtype=F16)
    da, db = kaio.matmul_grouped_backward(gradient, rows, experts.transpose(0, 2, 1), offsets)
    for e in range(12):
        own = slice(offsets[e], offsets[e + 1])
        if counts[e] == 0:
            assert (db[e] == 0).all()
            continue
        close(da[own].astype(F32), gradient[own].astype(F32) @ experts[e].astype(F32), 5e-2)
        close(db[e].astype(F32), rows[own].astype(F32).T @ gradient[own].astype(F32), 5e-2)
    bias = normal(random, 12, 16)
    up = kaio.gate_up_grouped(
        x.astype(F16), experts.transpose(0, 2, 1), experts.transpose(0, 2, 1), offsets, rows=tokens, activation="relu",
        up_bias=bias, up_offset=1.0, dtype="f32",
    )  # fmt: skip
    close(up, np.maximum(wanted, 0) * (wanted + np.repeat(bias, counts, axis=0) + 1), 1e-3)
    with pytest.raises(kaio.InvalidArgument, match="argument offsets"):
        kaio.matmul_grouped(rows, experts.transpose(0, 2, 1), offsets[:-1])

    codes, of_rows = random.integers(-128, 128, (12, 16, 40)).astype(np.int8), random.integers(-128, 128, rows.shape).astype(np.int8)
    wanted = np.stack([codes[e].astype(np.int32) @ row.astype(np.int32) for e, row in zip(np.repeat(np.arange(12), counts), of_rows)])
    assert (kaio.matmul_int8_grouped(of_rows, codes.transpose(0, 2, 1), offsets) == wanted).all()
    scale_a, scale_b = normal(random, len(rows)), normal(random, 12, 16)
    wanted = wanted * scale_a[:, None] * np.repeat(scale_b, counts, 0)
    got = kaio.matmul_int8_grouped(of_rows, codes.transpose(0, 2, 1), offsets, scale_a=scale_a, scale_b=scale_b, dtype="f32")
    close(got, wanted, 1e-5)
    with pytest.raises(kaio.InvalidArgument, match="kept_groups"):
        kaio.topk_router(logits, indices, weights, groups=3, kept_groups=4)


def test_every_small_operation_is_called(request: pytest.FixtureRequest) -> None:
    """The last of this file: each operation has run in a test above."""
    tests = sum(name.startswith("test_") for name in globals())
    assert not_called(SMALL, request, tests) == []
