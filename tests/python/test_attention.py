"""kaio.torch.attention against its formula in f64: masks, windows, terms, shapes, gradients, and torch's tools."""

from __future__ import annotations

import os
import random
import warnings

import pytest

torch = pytest.importorskip("torch")

import kaio
import kaio.torch
from attention_reference import GRADIENT_TOLERANCE, TOLERANCE, close, kept, reference

attention = kaio.torch.attention
# How many random cases there are; KAIO_TEST_CASES raises it.
CASES = int(os.environ.get("KAIO_TEST_CASES", "24"))
LENGTHS = (0, 1, 2, 5, 16, 31, 63, 64, 65)
WINDOWS = ((-1, -1), (-1, -1), (0, 0), (5, 0), (0, 3), (-1, 2), (20, 20))


def made(device, batches, queries, keys, heads, kv_heads, size, v_size=None, dtype=torch.float32, seed=0):
    torch.manual_seed(seed)
    q = torch.randn(batches, queries, heads, size).to(device, dtype).requires_grad_()
    k = torch.randn(batches, keys, kv_heads, size).to(device, dtype).requires_grad_()
    v = torch.randn(batches, keys, kv_heads, v_size or size).to(device, dtype).requires_grad_()
    return q, k, v


def check(tensors, got, want, dtype, factor=1.0):
    """Compares out, lse and all gradients."""
    out, lse = got
    out_want, lse_want = want
    close(out, out_want, factor * TOLERANCE[dtype], "out")
    close(lse, lse_want, factor * TOLERANCE[dtype], "lse")
    torch.manual_seed(1)
    dout = torch.randn(out.shape).to(out.device)
    dlse = torch.randn(lse.shape).to(out.device)
    finite = torch.isfinite(lse_want)
    gradients = torch.autograd.grad((out, lse), tensors, (dout.to(dtype), torch.where(finite, dlse, 0.0)), allow_unused=True)
    sums = (out_want * dout.to(dtype).double()).sum() + torch.where(finite, lse_want, 0.0).mul(dlse).sum()
    wanted = torch.autograd.grad(sums, tensors, allow_unused=True)
    for index, (a, b) in enumerate(zip(gradients, wanted)):
        b = torch.zeros_like(tensors[index]) if b is None else b
        scale = max(1.0, b.abs().max().item()) if b.numel() else 1.0
        close(a / scale, b / scale, factor * GRADIENT_TOLERANCE[dtype], f"gradient {index}")


@pytest.mark.parametrize("seed", range(CASES))
def test_random_case(device, seed):
    """Every combination of extents and options gives the formula's results and gradients."""
    r = random.Random(seed)
    dtype = r.choice([torch.float32, torch.float32, torch.float16, torch.bfloat16])
    kv_heads, group = r.choice([(1, 1), (1, 3), (2, 2), (3, 1), (1, 8)])
    heads, size = kv_heads * group, r.choice([8, 16, 40, 64, 72])
    batches, queries, keys = r.choice([1, 2]), r.choice(LENGTHS), r.choice(LENGTHS)
    q, k, v = made(device, batches, queries, keys, heads, kv_heads, size, r.choice([size, 24]), dtype, seed)
    options = {"causal": r.choice([None, None, "top_left", "bottom_right"]), "window": r.choice(WINDOWS)}
    tensors = [q, k, v]
    if r.random() < 0.3:
        options["softcap"] = 5.0
    if r.random() < 0.3:
        options["scale"] = 0.3
    if r.random() < 0.3:
        options["alibi"] = torch.rand(r.choice([(heads,), (batches, heads)])).to(device)
    if r.random() < 0.3 and keys and queries:
        shape = r.choice([(batches, heads, queries, keys), (heads, 1, keys), (queries, keys), (batches, 1, 1, keys)])
        options["bias"] = torch.randn(shape).to(device).requires_grad_()
        tensors.append(options["bias"])
    if r.random() < 0.3:
        options["keep"] = (torch.rand(r.choice([(batches, 1, queries, keys), (queries, keys), (batches, 1, 1, keys)])) < 0.6).to(
            device
        )
    if r.random() < 0.3:
        options["sinks"] = torch.randn(heads).to(device).requires_grad_()
        tensors.append(options["sinks"])
    got = attention(q, k, v, return_lse=True, **options)
    check(tensors, got, reference(q, k, v, **options), dtype)


@pytest.mark.parametrize("causal, rows", [("bottom_right", "11110 11111"), ("top_left", "10000 11000")])
def test_alignment_of_fewer_queries(device, causal, rows):
    q, k, v = made(device, 1, 2, 5, 1, 1, 8)
    keep = torch.tensor([[c == "1" for c in row] for row in rows.split()], device=device)
    assert torch.equal(kept(2, 5, causal, device=device), keep)
    close(attention(q, k, v, causal=causal), reference(q, k, v, keep=keep)[0], 1e-5)


def test_rows_without_keys(device):
    """More queries than keys, bottom right: rows 0 to 2 are empty, their gradients are zero."""
    q, k, v = made(device, 1, 5, 2, 2, 1, 8)
    out, lse = attention(q, k, v, causal=True, return_lse=True)
    assert (out[:, :3] == 0).all() and (lse[..., :3] == float("-inf")).all()
    dq, dk, dv = torch.autograd.grad(out.sum(), (q, k, v))
    assert (dq[:, :3] == 0).all() and not torch.isnan(dk).any() and not torch.isnan(dv).any()
    sinks = torch.tensor([0.5, -1.0], device=device)
    out, lse = attention(q, k, v, causal=True, sinks=sinks, return_lse=True)
    assert (out[:, :3] == 0).all()
    close(lse[0, :, :3], sinks[:, None].expand(2, 3), 1e-6)


def test_nan_at_masked_places(device):
    """A NaN that no query attends to reaches no result and no gradient; one that is kept does."""
    q, k, v = made(device, 1, 6, 6, 1, 1, 8)
    with torch.no_grad():
        k[0, 5], v[0, 5] = float("nan"), float("nan")
    keep = torch.ones(6, 6, dtype=torch.bool, device=device)
    keep[:, 5] = False
    for options in ({"keep": keep}, {"causal": True}):
        rows = slice(0, 6) if "keep" in options else slice(0, 5)
        out = attention(q, k, v, **options)
        assert not torch.isnan(out[:, rows]).any()
        dq = torch.autograd.grad(out[:, rows].sum(), q)[0]
        assert not torch.isnan(dq[:, rows]).any()
    assert torch.isnan(attention(q, k, v)).all()


def test_float_masks(device):
    """A float mask may have -inf, or the lowest finite number, which makes a row of it uniform."""
    q, k, v = made(device, 1, 3, 4, 1, 1, 8)
    bias = torch.zeros(3, 4, device=device)
    bias[0, 1:] = float("-inf")
    bias[1] = float("-inf")
    bias[2] = torch.finfo(torch.float32).min
    out = attention(q, k, v, bias=bias)
    close(out[0, 0], v[0, 0], 1e-6)
    assert (out[0, 1] == 0).all()
    close(out[0, 2], v[0].mean(0), 1e-6)


def test_large_scores_with_cap(device):
    q, k, v = made(device, 1, 20, 20, 2, 2, 16, dtype=torch.bfloat16)
    q, k = (q.detach() * 100).requires_grad_(), (k.detach() * 100).requires_grad_()
    close(attention(q, k, v, softcap=30.0), reference(q, k, v, softcap=30.0)[0], 3e-2)


def test_layouts(device):
    """Strides of q, k and v are free: another order of dimensions, slices, one key for all, negated views, adjacent rows."""
    q, k, v = (t.detach() for t in made(device, 2, 9, 9, 2, 2, 16))
    want = attention(q, k, v, causal=True)
    swapped = [t.transpose(1, 2).contiguous().transpose(1, 2) for t in (q, k, v)]
    assert torch.equal(attention(*swapped, causal=True), want)
    packed = torch.stack([q, k, v], 2)
    assert torch.equal(attention(*packed.unbind(2), causal=True), want)
    columns = [t.transpose(1, 3).contiguous().transpose(1, 3) for t in (q, k, v)]
    assert columns[0].stride(-1) != 1
    assert torch.equal(attention(*columns, causal=True), want)
    shared = attention(q, k[:1].expand(2, 9, 2, 16), v[:1].expand(2, 9, 2, 16))
    assert torch.equal(shared[:1], attention(q[:1], k[:1], v[:1]))
    negated = torch._neg_view(-q)
    assert negated.is_neg() and torch.equal(attention(negated, k, v, causal=True), want)


def test_gradients_of_layouts(device):
    """Gradients have the strides that torch gives, and the numbers of contiguous tensors."""
    q, k, v = made(device, 2, 7, 7, 2, 2, 8)
    want = torch.autograd.grad(attention(q, k, v, causal=True).square().sum(), (q, k, v))
    leaves = [t.detach().transpose(1, 2).contiguous().requires_grad_() for t in (q, k, v)]
    attention(*(t.transpose(1, 2) for t in leaves), causal=True).square().sum().backward()
    for leaf, w in zip(leaves, want):
        assert torch.equal(leaf.grad.transpose(1, 2), w)
    packed = torch.stack([t.detach() for t in (q, k, v)], 2).requires_grad_()
    attention(*packed.unbind(2), causal=True).square().sum().backward()
    assert torch.equal(packed.grad, torch.stack(want, 2))
    one = k.detach()[:1].clone().requires_grad_()
    attention(q, one.expand(2, 7, 2, 8), v).sum().backward()
    other = k.detach()[:1].repeat(2, 1, 1, 1).requires_grad_()
    attention(q, other, v).sum().backward()
    close(one.grad, other.grad.sum(0, keepdim=True), 1e-5)


def test_only_wanted_gradients(device):
    q, k, v = made(device, 1, 6, 6, 2, 1, 8)
    want = torch.autograd.grad(attention(q, k, v).sum(), (q, k, v))
    for index in range(3):
        tensors = [t if i == index else t.detach() for i, t in enumerate((q, k, v))]
        assert torch.equal(torch.autograd.grad(attention(*tensors).sum(), (q, k, v)[index])[0], want[index])
    with torch.no_grad():
        assert not attention(q, k, v).requires_grad
    assert not attention(q.detach(), k.detach(), v.detach()).requires_grad


def test_gradcheck(device):
    """Finite differences; kaio computes in f32, so steps are large."""
    q, k, v = made(device, 1, 2, 3, 2, 1, 8, seed=3)
    bias = torch.randn(2, 2, 3, device=device).requires_grad_()
    sinks = torch.randn(2, device=device).requires_grad_()

    def run(q, k, v, bias, sinks):
        return attention(q, k, v, causal=True, softcap=4.0, bias=bias, sinks=sinks, return_lse=True)

    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*double precision.*")
        assert torch.autograd.gradcheck(run, (q, k, v, bias, sinks), eps=1e-2, atol=1e-2, rtol=1e-2)


def test_sdpa_gradients(device):
    q, k, v = made(device, 2, 17, 17, 4, 4, 16)
    want = torch.nn.functional.scaled_dot_product_attention(*(t.transpose(1, 2) for t in (q, k, v)), is_causal=True).transpose(
        1, 2
    )
    got = attention(q, k, v, causal=True)
    close(got, want, 1e-5)
    dout = torch.randn_like(got)
    for a, b in zip(torch.autograd.grad(got, (q, k, v), dout), torch.autograd.grad(want, (q, k, v), dout)):
        close(a, b, 1e-4)


def test_no_second_derivative(device):
    q, k, v = made(device, 1, 3, 3, 1, 1, 8)
    first = torch.autograd.grad(attention(q, k, v).square().sum(), q, create_graph=True)[0]
    with pytest.raises(RuntimeError, match="once_differentiable"):
        first.sum().backward()


def test_bits_repeat(device):
    q, k, v = made(device, 1, 40, 40, 2, 1, 16, dtype=torch.float16)
    results = []
    for _ in range(5):
        out = attention(q, k, v, causal=True)
        results.append((out, *torch.autograd.grad(out.sum(), (q, k, v))))
    assert all(torch.equal(a, b) for other in results[1:] for a, b in zip(results[0], other))


def test_batch_invariant(device):
    q, k, v = (t.detach() for t in made(device, 3, 5, 70, 4, 2, 16, dtype=torch.float16))
    all_of_them = attention(q, k, v, causal=True, batch_invariant=True)
    for b in range(3):
        alone = attention(q[b : b + 1], k[b : b + 1], v[b : b + 1], causal=True, batch_invariant=True)
        assert torch.equal(alone, all_of_them[b : b + 1])


def test_precision(device):
    q, k, v = (t.detach() for t in made(device, 1, 20, 20, 1, 1, 16))
    close(attention(q, k, v, precision="tf32"), reference(q, k, v)[0], 5e-3)


def test_empty_extents(device):
    for batches, queries, keys in ((0, 3, 3), (1, 0, 3), (2, 3, 0), (0, 0, 0)):
        q, k, v = made(device, batches, queries, keys, 2, 1, 8)
        out, lse = attention(q, k, v, causal=True, return_lse=True)
        assert out.shape == q.shape and lse.shape == (batches, 2, queries) and (out == 0).all()
        for t, g in zip((q, k, v), torch.autograd.grad(out.sum(), (q, k, v))):
            assert g.shape == t.shape and (g == 0).all()


def test_wrong_arguments(device):
    q, k, v = (t.detach() for t in made(device, 1, 4, 4, 2, 2, 8))
    with pytest.raises(ValueError, match="argument q has 3 dimensions"):
        attention(q[0], k, v)
    with pytest.raises(ValueError, match="causal is 'left'"):
        attention(q, k, v, causal="left")
    with pytest.raises(ValueError, match="argument window"):
        attention(q, k, v, window=5)
    with pytest.raises(ValueError, match="scale is 0"):
        attention(q, k, v, scale=0.0)
    with pytest.raises(kaio.InvalidArgument, match="heads"):
        attention(q[:, :, :1].expand(1, 4, 3, 8), k, v)
    with pytest.raises(kaio.InvalidArgument, match="softcap"):
        attention(q, k, v, softcap=-1.0)
    with pytest.raises(kaio.InvalidArgument, match="argument k"):
        attention(q, k[..., :4].contiguous(), v)
    with pytest.raises(kaio.InvalidArgument, match="argument precision"):
        attention(q, k, v, precision="f64")
    with pytest.raises((TypeError, kaio.InvalidArgument), match="argument k|elements"):
        attention(q, k.half(), v)
    with pytest.raises(TypeError, match="block_mask is a int"):
        attention(q, k, v, block_mask=3)


def test_vmap_is_refused(device):
    if not hasattr(torch.library, "register_vmap"):
        pytest.skip("torch has no register_vmap")
    q, k, v = (t.detach()[None].expand(3, 1, 4, 2, 8) for t in made(device, 1, 4, 4, 2, 2, 8))
    with pytest.raises(NotImplementedError, match="kaio.torch.attention has no rule for torch.vmap"):
        torch.vmap(attention)(q, k, v)


def test_opcheck(device):
    q, k, v = (t.detach() for t in made(device, 2, 5, 6, 4, 2, 8, 16))
    bias, keep = torch.randn(4, 5, 6, device=device), torch.rand(2, 1, 5, 6, device=device) < 0.7
    sinks, alibi = torch.randn(4, device=device), torch.rand(4, device=device)
    forward, backward = torch.ops.kaio.attention.default, torch.ops.kaio.attention_backward.default
    swapped = q.transpose(1, 2).contiguous().transpose(1, 2)
    everything = (q, k, v, bias, keep, alibi, sinks)
    samples = [((q, k, v), {}), ((swapped, k, v), {"with_lse": False}), (everything, {"softcap": 3.0, "causal": "top_left"})]
    for tensors, options in samples:
        torch.library.opcheck(forward, tensors, options)
    out, lse = forward(q, k, v, bias, keep, alibi, sinks)
    dout = torch.randn_like(out)
    torch.library.opcheck(backward, (dout, q, k, v, out, lse, torch.randn_like(lse), bias, keep, alibi, sinks))
    torch.library.opcheck(
        backward, (dout, q, k, v, out, lse, None, bias, keep, alibi, sinks), {"needs": [False, True, False, False, True]}
    )
    torch.library.opcheck(
        backward, (dout, swapped, k.expand(2, 6, 2, 8), v, *forward(swapped, k, v)), {"needs": [True] * 3 + [False] * 2}
    )


@pytest.mark.parametrize("backend", ["aot_eager", "inductor"])
def test_compile(device, backend):
    if backend == "inductor" and device == "cpu":
        import shutil

        if shutil.which("g++") is None and shutil.which("clang++") is None:
            pytest.skip("inductor needs a C++ compiler")
    q, k, v = made(device, 2, 6, 6, 4, 2, 8)
    bias = torch.randn(4, 6, 6, device=device).requires_grad_()
    sinks = torch.randn(4, device=device).requires_grad_()

    def run(q, k, v, bias, sinks):
        out, lse = attention(q, k, v, causal=True, softcap=5.0, bias=bias, sinks=sinks, return_lse=True)
        return out * 2 + 1, lse

    compiled = torch.compile(run, fullgraph=True, backend=backend)
    tensors = (q, k, v, bias, sinks)
    want, got = run(*tensors), compiled(*tensors)
    for a, b in zip(got, want):
        close(a, b, 1e-6)
    sums = [(out.square().sum() + lse.sum()) for out, lse in (want, got)]
    for a, b in zip(torch.autograd.grad(sums[1], tensors), torch.autograd.grad(sums[0], tensors)):
        close(a, b, 1e-5)
    with torch.no_grad():
        close(compiled(*tensors)[0], want[0], 1e-6)


def test_compile_of_repeated_tensors(device):
    """Self-attention of one tensor, whose gradient is the sum of three."""
    x = made(device, 1, 6, 6, 2, 2, 8)[0]
    compiled = torch.compile(lambda x: attention(x, x, x, causal=True), fullgraph=True, backend="aot_eager")
    got, want = compiled(x), attention(x, x, x, causal=True)
    close(got, want, 1e-6)
    close(torch.autograd.grad(got.sum(), x)[0], torch.autograd.grad(want.sum(), x)[0], 1e-5)


def test_compile_dynamic_lengths(device):
    compiled = torch.compile(lambda q, k, v: attention(q, k, v, causal="bottom_right", window=(4, 0)), fullgraph=True,
                             dynamic=True, backend="aot_eager")  # fmt: skip
    for queries, keys in ((3, 5), (6, 9), (8, 8)):
        q, k, v = (t.detach() for t in made(device, 1, queries, keys, 2, 1, 8))
        close(compiled(q, k, v), reference(q, k, v, causal=True, window=(4, 0))[0], 1e-5)


def test_under_fake_tensors(device):
    from torch._subclasses.fake_tensor import FakeTensorMode

    with FakeTensorMode():
        q = torch.empty(2, 5, 4, 8, device=device, dtype=torch.float16)
        k = torch.empty(2, 7, 2, 8, device=device, dtype=torch.float16)
        out, lse = attention(q, k, torch.empty(2, 7, 2, 16, device=device, dtype=torch.float16), return_lse=True)
    assert out.shape == (2, 5, 4, 16) and out.dtype == torch.float16 and lse.shape == (2, 4, 5) and lse.dtype == torch.float32


def test_module_parameters(device):
    """Parameters of modules take the direct path, and get gradients."""
    key = torch.nn.Parameter(torch.randn(1, 4, 2, 8, device=device))
    q, k, v = made(device, 1, 3, 4, 2, 2, 8)
    attention(q.detach(), key, v.detach()).sum().backward()
    want = torch.autograd.grad(reference(q, key, v)[0].sum(), key)[0]
    close(key.grad, want, 1e-4)
