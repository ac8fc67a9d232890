"""kaio.torch.attention_varlen: each sequence of a packed batch gives what it gives alone."""

from __future__ import annotations

import random

import pytest

torch = pytest.importorskip("torch")

import kaio
import kaio.torch
from attention_reference import GRADIENT_TOLERANCE, TOLERANCE, close, reference

varlen = kaio.torch.attention_varlen


def i32(device, *numbers):
    return torch.tensor(numbers, dtype=torch.int32, device=device)


def begins(device, lengths):
    return torch.cat([i32(device, 0), torch.tensor(lengths, dtype=torch.int32, device=device).cumsum(0, dtype=torch.int32)])


def packed(device, q_lengths, k_lengths, heads=2, kv_heads=1, size=8, dtype=torch.float32, more=0):
    torch.manual_seed(0)
    q = torch.randn(sum(q_lengths) + more, heads, size).to(device, dtype).requires_grad_()
    k = torch.randn(sum(k_lengths) + more, kv_heads, size).to(device, dtype).requires_grad_()
    v = torch.randn(sum(k_lengths) + more, kv_heads, size).to(device, dtype).requires_grad_()
    return q, k, v


def reference_varlen(q, k, v, q_lengths, k_lengths, used_q=None, used_k=None, alibi=None, **options):
    """Every sequence by itself; rows that are not used are zero, their lse is -inf."""
    outs, lses, at_q, at_k = [], [], 0, 0
    for b, (nq, nk) in enumerate(zip(q_lengths, k_lengths)):
        uq, uk = nq if used_q is None else used_q[b], nk if used_k is None else used_k[b]
        slopes = alibi[b] if alibi is not None and alibi.dim() == 2 else alibi
        out, lse = reference(
            q[None, at_q : at_q + uq], k[None, at_k : at_k + uk], v[None, at_k : at_k + uk], alibi=slopes, **options
        )
        outs += [out[0], out.new_zeros(nq - uq, *out.shape[2:])]
        lses += [lse[0], lse.new_full((lse.shape[1], nq - uq), float("-inf"))]
        at_q, at_k = at_q + nq, at_k + nk
    return torch.cat(outs), torch.cat(lses, 1)


@pytest.mark.parametrize("seed", range(10))
def test_random_sequences(device, seed):
    r = random.Random(seed)
    dtype = r.choice([torch.float32, torch.float32, torch.bfloat16])
    count = r.choice([1, 2, 4])
    q_lengths = [r.choice([0, 1, 5, 17, 64]) for _ in range(count)]
    k_lengths = [r.choice([0, 1, 7, 33, 65]) for _ in range(count)]
    if sum(q_lengths) == 0:
        q_lengths[0] = 3
    kv_heads, group = r.choice([(1, 2), (2, 1), (1, 8)])
    heads = kv_heads * group
    q, k, v = packed(device, q_lengths, k_lengths, heads, kv_heads, r.choice([8, 40]), dtype)
    options = {"causal": r.choice([None, "top_left", "bottom_right"]), "softcap": r.choice([0.0, 4.0])}
    if r.random() < 0.5:
        options["window"] = (4, r.choice([0, 2]))
    if r.random() < 0.3:
        options["alibi"] = torch.rand(r.choice([(heads,), (count, heads)]), device=device)
    tensors = [q, k, v]
    if r.random() < 0.4:
        options["sinks"] = torch.randn(heads, device=device).requires_grad_()
        tensors.append(options["sinks"])
    used = {}
    if r.random() < 0.4:
        used = {"used_q": [r.randint(0, n) for n in q_lengths], "used_k": [r.randint(0, n) for n in k_lengths]}
    out, lse = varlen(
        q, k, v, cu_seqlens_q=begins(device, q_lengths), cu_seqlens_k=begins(device, k_lengths), max_seqlen_q=max(q_lengths),
        max_seqlen_k=r.choice([0, max(k_lengths)]), return_lse=True,
        **{f"seqused_{name[-1]}": i32(device, *numbers) for name, numbers in used.items()}, **options,
    )  # fmt: skip
    out_want, lse_want = reference_varlen(q, k, v, q_lengths, k_lengths, **used, **options)
    close(out, out_want, TOLERANCE[dtype], "out")
    close(lse, lse_want, TOLERANCE[dtype], "lse")
    finite = torch.isfinite(lse_want)
    dout, dlse = torch.randn_like(out), torch.randn_like(lse)
    got = torch.autograd.grad((out, lse), tensors, (dout, torch.where(finite, dlse, 0.0)))
    total = (out_want * dout.double()).sum() + torch.where(finite, lse_want, 0.0).mul(dlse).sum()
    for index, (a, b) in enumerate(zip(got, torch.autograd.grad(total, tensors, allow_unused=True))):
        close(a, torch.zeros_like(a) if b is None else b, 3 * GRADIENT_TOLERANCE[dtype], f"gradient {index}")


def test_rows_of_no_sequence_have_no_gradient(device):
    q, k, v = packed(device, [3, 4], [3, 4], more=2)
    cu = begins(device, [3, 4])
    out = varlen(q, k, v, cu_seqlens_q=cu, cu_seqlens_k=cu, max_seqlen_q=4)
    gradients = torch.autograd.grad(out[:7].sum(), (q, k, v))
    assert all((g[7:] == 0).all() and not torch.isnan(g).any() for g in gradients)


def test_gradcheck(device):
    import warnings

    q, k, v = packed(device, [2, 3], [3, 2])
    cu_q, cu_k = begins(device, [2, 3]), begins(device, [3, 2])

    def run(q, k, v):
        return varlen(q, k, v, cu_seqlens_q=cu_q, cu_seqlens_k=cu_k, max_seqlen_q=3, max_seqlen_k=3, return_lse=True)

    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*double precision.*")
        assert torch.autograd.gradcheck(run, (q, k, v), eps=1e-2, atol=1e-2, rtol=1e-2)


def test_layouts(device):
    """A batch of dense tensors is a packed one; heads may come first."""
    q, k, v = (t.detach() for t in packed(device, [5, 5], [5, 5]))
    cu = begins(device, [5, 5])
    want = kaio.torch.attention(*(t.reshape(2, 5, -1, 8) for t in (q, k, v)), causal=True).reshape(10, -1, 8)
    options = {"cu_seqlens_q": cu, "cu_seqlens_k": cu, "max_seqlen_q": 5, "causal": True}
    assert torch.equal(varlen(q, k, v, **options), want)
    assert torch.equal(varlen(*(t.transpose(0, 1).contiguous().transpose(0, 1) for t in (q, k, v)), **options), want)
    assert torch.equal(varlen(torch._neg_view(-q), k, v, **options), want)


def test_wrong_arguments(device):
    q, k, v = (t.detach() for t in packed(device, [3], [3]))
    cu = begins(device, [3])
    with pytest.raises(ValueError, match="attention_varlen: argument q has 4 dimensions"):
        varlen(q[None], k, v, cu_seqlens_q=cu, cu_seqlens_k=cu, max_seqlen_q=3)
    with pytest.raises(kaio.InvalidArgument, match="max_q is 0"):
        varlen(q, k, v, cu_seqlens_q=cu, cu_seqlens_k=cu, max_seqlen_q=0)
    with pytest.raises((kaio.InvalidArgument, TypeError), match="argument cu_seqlens_q"):
        varlen(q, k, v, cu_seqlens_q=cu.long(), cu_seqlens_k=cu, max_seqlen_q=3)


def test_opcheck(device):
    q, k, v = (t.detach() for t in packed(device, [3, 4], [5, 2]))
    cu_q, cu_k = begins(device, [3, 4]), begins(device, [5, 2])
    sinks = torch.randn(2, device=device)
    forward, backward = torch.ops.kaio.attention_varlen.default, torch.ops.kaio.attention_backward_varlen.default
    torch.library.opcheck(forward, (q, k, v, cu_q, cu_k, 4, 5))
    torch.library.opcheck(
        forward, (q, k, v, cu_q, cu_k, 4, 5, i32(device, 2, 4), i32(device, 5, 1), None, sinks), {"causal": "top_left"}
    )
    out, lse = forward(q, k, v, cu_q, cu_k, 4, 5, None, None, None, sinks)
    arguments = (torch.randn_like(out), q, k, v, out, lse, None, cu_q, cu_k, 4, 5, None, None, None, sinks)
    torch.library.opcheck(backward, arguments)
    torch.library.opcheck(backward, arguments, {"needs": [True, False, True, False]})


@pytest.mark.parametrize("dynamic", [False, True])
def test_compile(device, dynamic):
    def run(q, k, v, cu_q, cu_k, max_q):
        return varlen(q, k, v, cu_seqlens_q=cu_q, cu_seqlens_k=cu_k, max_seqlen_q=max_q, causal=True)

    compiled = torch.compile(run, fullgraph=True, backend="aot_eager", dynamic=dynamic)
    for lengths in ([3, 4], [5, 4]):
        q, k, v = packed(device, lengths, lengths)
        cu = begins(device, lengths)
        want, got = run(q, k, v, cu, cu, max(lengths)), compiled(q, k, v, cu, cu, max(lengths))
        assert torch.equal(got, want)
        for a, b in zip(torch.autograd.grad(got.sum(), (q, k, v)), torch.autograd.grad(want.sum(), (q, k, v))):
            assert torch.equal(a, b)
