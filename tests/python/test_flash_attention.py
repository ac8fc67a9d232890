"""The functions of flash_attn over kaio: signatures, results, caches, and refusals by name."""

from __future__ import annotations

import inspect

import pytest

torch = pytest.importorskip("torch")

from attention_reference import close, reference
from kaio.torch import (
    attention_varlen, flash_attn_func, flash_attn_kvpacked_func, flash_attn_qkvpacked_func, flash_attn_varlen_func,
    flash_attn_varlen_kvpacked_func, flash_attn_varlen_qkvpacked_func, flash_attn_with_kvcache,
)  # fmt: skip
from test_attention_varlen import begins, i32, packed, reference_varlen

# The parameters of FlashAttention 2 in their order.
OF_ALL = "dropout_p softmax_scale causal window_size softcap alibi_slopes deterministic return_attn_probs"
SIGNATURES = {
    flash_attn_func: f"q k v {OF_ALL}",
    flash_attn_kvpacked_func: f"q kv {OF_ALL}",
    flash_attn_qkvpacked_func: f"qkv {OF_ALL}",
    flash_attn_varlen_func: f"q k v cu_seqlens_q cu_seqlens_k max_seqlen_q max_seqlen_k {OF_ALL} block_table",
    flash_attn_varlen_kvpacked_func: f"q kv cu_seqlens_q cu_seqlens_k max_seqlen_q max_seqlen_k {OF_ALL}",
    flash_attn_varlen_qkvpacked_func: f"qkv cu_seqlens max_seqlen {OF_ALL}",
    flash_attn_with_kvcache: (
        "q k_cache v_cache k v rotary_cos rotary_sin cache_seqlens cache_batch_idx cache_leftpad block_table softmax_scale "
        "causal window_size softcap rotary_interleaved alibi_slopes num_splits return_softmax_lse"
    ),
}


def made(device, batches, queries, keys, heads=2, kv_heads=1, size=16, dtype=torch.float32):
    torch.manual_seed(0)
    shapes = ((batches, queries, heads, size), (batches, keys, kv_heads, size), (batches, keys, kv_heads, size))
    return [torch.randn(s).to(device, dtype) for s in shapes]


@pytest.mark.parametrize("function", list(SIGNATURES), ids=lambda f: f.__name__)
def test_signatures(function):
    positional = [p.name for p in inspect.signature(function).parameters.values() if p.kind is p.POSITIONAL_OR_KEYWORD]
    assert positional == SIGNATURES[function].split()


def test_flash_attn_func(device):
    q, k, v = (t.requires_grad_() for t in made(device, 2, 5, 7))
    slopes = torch.rand(2, device=device)
    out = flash_attn_func(q, k, v, 0.0, 0.4, True, (3, 0), 5.0, slopes)
    want = reference(q, k, v, causal=True, window=(3, 0), softcap=5.0, scale=0.4, alibi=slopes)[0]
    close(out, want, 1e-5)
    dout = torch.randn_like(out)
    for a, b in zip(torch.autograd.grad(out, (q, k, v), dout), torch.autograd.grad(want, (q, k, v), dout.double())):
        close(a, b, 1e-4)


def test_lse_of_empty_rows(device):
    """FlashAttention 2 returns +inf for a row without keys, where attention returns -inf."""
    q, k, v = made(device, 1, 5, 2)
    out, lse, probabilities = flash_attn_func(q, k, v, causal=True, return_attn_probs=True)
    assert (lse[..., :3] == float("inf")).all() and torch.isfinite(lse[..., 3:]).all() and (out[:, :3] == 0).all()
    assert probabilities.numel() == 0
    assert len(flash_attn_func(q, k, v, return_lse=True)) == 2
    sinks = torch.zeros(2, device=device)
    out, lse = flash_attn_func(q, k, v, causal=True, return_lse=True, learnable_sink=sinks)
    assert (lse[..., :3] == 0).all()


def test_packed(device):
    q, k, v = made(device, 2, 6, 6, 2, 2)
    want = flash_attn_func(q, k, v, causal=True)
    assert torch.equal(flash_attn_kvpacked_func(q, torch.stack([k, v], 2), causal=True), want)
    qkv = torch.stack([q, k, v], 2).requires_grad_()
    out = flash_attn_qkvpacked_func(qkv, causal=True)
    assert torch.equal(out, want)
    assert torch.autograd.grad(out.sum(), qkv)[0].shape == qkv.shape
    with pytest.raises(ValueError, match="argument qkv"):
        flash_attn_qkvpacked_func(q)


def test_windows_may_be_none_or_a_tensor(device):
    q, k, v = made(device, 1, 5, 5)
    assert torch.equal(flash_attn_func(q, k, v, window_size=torch.tensor([2, 1])), flash_attn_func(q, k, v, window_size=(2, 1)))
    want = flash_attn_func(q, k, v, window_size=(-1, 0))
    assert torch.equal(flash_attn_func(q, k, v, window_size=(None, 0)), want)
    assert torch.equal(flash_attn_func(q, k, v, window_size=None), flash_attn_func(q, k, v))


def test_refusals(device):
    q, k, v = made(device, 1, 3, 3)
    cases = {
        "dropout_p": 0.1,
        "qv": q,
        "score_mod": abs,
        "mask_mod": abs,
        "attention_chunk": 4,
        "cp_world_size": 2,
        "gather_kv_indices": q,
    }
    for name, value in cases.items():
        with pytest.raises(NotImplementedError, match=f"flash_attn_func: argument {name} is not supported"):
            flash_attn_func(q, k, v, **{name: value})
    with pytest.raises(TypeError, match="unexpected keyword argument 'softmax_scales'"):
        flash_attn_func(q, k, v, softmax_scales=1)
    with pytest.raises(NotImplementedError, match="argument q of 8 bits"):
        flash_attn_func(q.to(torch.float8_e4m3fn), k, v)
    defaults = {"qv": None, "attention_chunk": 0, "pack_gqa": None, "sm_margin": 0, "score_mod": None, "deterministic": True,
                "cp_rank": 0, "scheduler_metadata": None, "fa_version": 3, "num_splits": 0,
                "q_descale": None, "aux_tensors": None}  # fmt: skip
    assert torch.equal(flash_attn_func(q, k, v, **defaults), flash_attn_func(q, k, v))
    with pytest.raises(TypeError, match="learnable_sink and s_aux are both given"):
        flash_attn_func(q, k, v, s_aux=q[0, 0, :, 0], learnable_sink=q[0, 0, :, 0])


def test_varlen(device):
    q, k, v = packed(device, [3, 6], [5, 4])
    cu_q, cu_k = begins(device, [3, 6]), begins(device, [5, 4])
    want, lse_want = reference_varlen(q, k, v, [3, 6], [5, 4], causal=True)
    out, lse, _ = flash_attn_varlen_func(q, k, v, cu_q, cu_k, 6, 5, causal=True, return_attn_probs=True)
    close(out, want, 1e-5)
    close(lse, torch.where(lse_want == float("-inf"), float("inf"), lse_want), 1e-5)
    dout = torch.randn_like(out)
    for a, b in zip(torch.autograd.grad(out, (q, k, v), dout), torch.autograd.grad(want, (q, k, v), dout.double())):
        close(a, b, 1e-4)
    with torch.no_grad():
        memory = torch.empty_like(q)
        assert flash_attn_varlen_func(q, k, v, cu_q, cu_k, 6, 5, causal=True, out=memory) is memory
        assert torch.equal(memory, out)
    with pytest.raises(TypeError, match="cu_seqlens_k is not given"):
        flash_attn_varlen_func(q, k, v, cu_seqlens_q=cu_q, max_seqlen_q=6)
    with pytest.raises(TypeError, match="max_seqlen_q is not given"):
        flash_attn_varlen_func(q, k, v, cu_seqlens_q=cu_q, cu_seqlens_k=cu_k)


def pages(device, k, v, size, total, dtype=torch.float32):
    """Caches in shuffled pages with garbage in the rest, and their table with -1 after the last page."""
    batches, keys = k.shape[:2]
    each = -(-keys // size)
    order = torch.randperm(total)[: batches * each].reshape(batches, each)
    caches = [torch.full((total, size, *t.shape[2:]), float("nan"), device=device, dtype=dtype) for t in (k, v)]
    for b in range(batches):
        for j in range(keys):
            for cache, t in zip(caches, (k, v)):
                cache[order[b, j // size], j % size] = t[b, j].to(dtype)
    table = torch.cat([order, torch.full((batches, 2), -1)], 1).int().to(device)
    return (*caches, table)


@pytest.mark.parametrize("size", [1, 3, 16])
def test_vllm_call(device, size):
    """The call of vLLM: pages, seqused_k, an out, keywords in another order."""
    q, _, _ = (t.detach() for t in packed(device, [2, 3], [1], heads=4, size=16))
    _, k, v = made(device, 2, 1, 20, 4, 2)
    k_pages, v_pages, table = pages(device, k, v, size, 60)
    used, out = i32(device, 13, 20), torch.empty_like(q)
    sinks = torch.randn(4, device=device)
    got = flash_attn_varlen_func(
        q=q, k=k_pages, v=v_pages, out=out, cu_seqlens_q=begins(device, [2, 3]), max_seqlen_q=3, seqused_k=used, max_seqlen_k=20,
        softmax_scale=0.3, causal=True, alibi_slopes=None, window_size=[7, 0], block_table=table, softcap=0,
        scheduler_metadata=None, fa_version=2, q_descale=None, k_descale=torch.ones(2, 2, device=device), v_descale=None,
        num_splits=0, s_aux=sinks, return_softmax_lse=True,
    )  # fmt: skip
    want = [reference(q[None, a:b], k[i : i + 1, :n], v[i : i + 1, :n], causal=True, window=(7, 0), scale=0.3, sinks=sinks)
            for i, (a, b, n) in enumerate(((0, 2, 13), (2, 5, 20)))]  # fmt: skip
    assert got[0] is out
    again = flash_attn_varlen_func(
        q, k_pages, v_pages, begins(device, [2, 3]), None, 3, 20, 0.0, 0.3, True, (7, 0), block_table=table, seqused_k=used,
        num_splits=1, learnable_sink=sinks,
    )  # fmt: skip
    close(again, out, 1e-5)
    close(out, torch.cat([w[0][0] for w in want]), 1e-5)
    close(got[1], torch.cat([w[1][0] for w in want], 1), 1e-5)


@pytest.mark.parametrize("causal, window", [(False, (-1, -1)), (True, (-1, -1)), (True, (3, 0))])
def test_kvcache_reads(device, causal, window):
    q, k, v = made(device, 3, 2, 12, 4, 2)
    lengths = i32(device, 5, 12, 0)
    out, lse = flash_attn_with_kvcache(q, k, v, cache_seqlens=lengths, causal=causal, window_size=window, return_softmax_lse=True)
    for b, n in enumerate((5, 12, 0)):
        want, lse_want = reference(q[b : b + 1], k[b : b + 1, :n], v[b : b + 1, :n], causal=causal, window=window)
        close(out[b : b + 1], want, 1e-5)
        close(lse[b : b + 1], torch.where(lse_want == float("-inf"), float("inf"), lse_want), 1e-5)
    all_keys = flash_attn_with_kvcache(q, k, v, causal=causal, window_size=window)
    assert torch.equal(flash_attn_with_kvcache(q, k, v, cache_seqlens=12, causal=causal, window_size=window), all_keys)
    row = i32(device, 2, 0, 1)
    got = flash_attn_with_kvcache(q, k, v, cache_seqlens=12, cache_batch_idx=row, causal=causal, window_size=window)
    close(got, reference(q, k[row.long()], v[row.long()], causal=causal, window=window)[0], 1e-5)


def test_kvcache_left_padding(device):
    q, k, v = made(device, 2, 1, 10)
    left = i32(device, 3, 0)
    with torch.no_grad():
        k[0, :3], v[0, :3] = float("nan"), float("nan")
    out = flash_attn_with_kvcache(q, k, v, cache_seqlens=10, cache_leftpad=left, causal=True)
    close(out[:1], reference(q[:1], k[:1, 3:], v[:1, 3:])[0], 1e-5)
    close(out[1:], reference(q[1:], k[1:], v[1:])[0], 1e-5)


def rotate(x, cos, sin, positions, interleaved):
    """The rotary embedding of x (S, H, D) at positions."""
    half = cos.shape[1]
    c, s = cos[positions][:, None], sin[positions][:, None]
    pairs = (x[..., 0 : 2 * half : 2], x[..., 1 : 2 * half : 2]) if interleaved else (x[..., :half], x[..., half : 2 * half])
    turned = (pairs[0] * c - pairs[1] * s, pairs[1] * c + pairs[0] * s)
    joined = torch.stack(turned, -1).flatten(-2) if interleaved else torch.cat(turned, -1)
    return torch.cat([joined, x[..., 2 * half :]], -1)


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("interleaved", [False, True])
@pytest.mark.parametrize("paged", [False, True])
def test_kvcache_appends(device, causal, interleaved, paged):
    """New keys are rotated, written after the old ones, and attended; the rest of the cache stays."""
    q, k, v = made(device, 2, 3, 20, 2, 1, 32)
    torch.manual_seed(5)
    k_new, v_new = torch.randn(2, 3, 1, 32, device=device), torch.randn(2, 3, 1, 32, device=device)
    angles = torch.rand(20, 8, device=device)
    cos, sin = angles.cos(), angles.sin()
    lengths = (4, 11)
    k_cache, v_cache, table = pages(device, k, v, 4, 16) if paged else (k.clone(), v.clone(), None)
    before = k_cache.clone()
    out = flash_attn_with_kvcache(
        q, k_cache, v_cache, k_new, v_new, rotary_cos=cos, rotary_sin=sin, cache_seqlens=i32(device, *lengths), causal=causal,
        rotary_interleaved=interleaved, block_table=table,
    )  # fmt: skip
    for b, n in enumerate(lengths):
        at = torch.arange(n, n + 3, device=device)
        keys = torch.cat([k[b, :n], rotate(k_new[b], cos, sin, at, interleaved)])
        values = torch.cat([v[b, :n], v_new[b]])
        query = rotate(q[b], cos, sin, at if causal else at[:1].expand(3), interleaved)
        close(out[b : b + 1], reference(query[None], keys[None], values[None], causal=causal)[0], 1e-5)
        for j in range(20):
            place = (int(table[b, j // 4]), j % 4) if paged else (b, j)
            if n <= j < n + 3:
                close(k_cache[place], keys[j], 1e-6)
                assert torch.equal(v_cache[place], values[j])
            else:
                assert torch.equal(k_cache[place], before[place])


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("interleaved", [False, True])
def test_kvcache_rotates_by_positions_that_count_the_padding(device, causal, interleaved):
    q, k, v = made(device, 2, 3, 20, 2, 1, 32)
    torch.manual_seed(6)
    k_new, v_new, angles = torch.randn(2, 2, 1, 32, device=device), torch.randn(2, 2, 1, 32, device=device), torch.rand(20, 16, device=device)
    cos, sin, lengths, left = angles.cos(), angles.sin(), (6, 11), (2, 5)
    k_cache, v_cache = k.clone(), v.clone()
    out = flash_attn_with_kvcache(
        q, k_cache, v_cache, k_new, v_new, rotary_cos=cos, rotary_sin=sin, cache_seqlens=i32(device, *lengths),
        cache_leftpad=i32(device, *left), causal=causal, rotary_interleaved=interleaved,
    )  # fmt: skip
    for b, (n, first) in enumerate(zip(lengths, left)):
        keys = torch.cat([k[b, first:n], rotate(k_new[b], cos, sin, torch.arange(n, n + 2, device=device), interleaved)])
        values = torch.cat([v[b, first:n], v_new[b]])
        at = torch.arange(n, n + 3, device=device) if causal else torch.full((3,), n, device=device)
        query = rotate(q[b], cos, sin, at, interleaved)
        close(out[b : b + 1], reference(query[None], keys[None], values[None], causal=causal)[0], 1e-5)
        close(k_cache[b, n : n + 2], keys[-2:], 1e-6)


def test_pages_have_no_gradient(device):
    q, k, v = made(device, 1, 3, 8, 2, 1)
    cache_k, cache_v, table = pages(device, k, v, 4, 4)
    out = flash_attn_varlen_func(q[0].requires_grad_(), cache_k, cache_v, i32(device, 0, 3), None, 3, 8, causal=True, block_table=table, seqused_k=i32(device, 8))
    close(out[None], reference(q, k, v, causal=True)[0], 1e-5)
    with pytest.raises(NotImplementedError, match="no gradients with block_table"):
        out.sum().backward()


def test_kvcache_of_8_bits(device):
    q, k, v = made(device, 2, 1, 9, 4, 2)
    k_cache, v_cache = (k / 2).to(torch.float8_e4m3fn), (v / 4).to(torch.float8_e4m3fn)
    k_scale, v_scale = torch.full((2, 2), 2.0, device=device), torch.full((2, 2), 4.0, device=device)
    out = flash_attn_with_kvcache(q, k_cache, v_cache, cache_seqlens=9, k_descale=k_scale, v_descale=v_scale)
    close(out, reference(q, k_cache.float() * 2, v_cache.float() * 4)[0], 1e-5)


def test_kvcache_splits_and_varlen_queries(device):
    q, k, v = made(device, 1, 2, 200)
    want = reference(q, k, v, causal=True)[0]
    for splits in (0, 1, 3):
        close(flash_attn_with_kvcache(q, k, v, cache_seqlens=200, causal=True, num_splits=splits), want, 1e-5)
    packed_q = torch.cat([q[0], q[0, :1]])
    caches = [t.expand(2, *t.shape[1:]) for t in (k, v)]
    lengths = i32(device, 200, 150)
    cu_q = begins(device, [2, 1])
    out = flash_attn_with_kvcache(packed_q, *caches, cache_seqlens=lengths, causal=True, cu_seqlens_q=cu_q, max_seqlen_q=2)
    close(out[:2], want[0], 1e-5)
    close(out[2:], reference(q[:, :1], k[:, :150], v[:, :150])[0][0], 1e-5)


def test_kvcache_wrong_arguments(device):
    q, k, v = made(device, 1, 1, 8)
    with pytest.raises(ValueError, match="k without cache_seqlens"):
        flash_attn_with_kvcache(q, k.clone(), v.clone(), k[:, :1], v[:, :1])
    with pytest.raises(ValueError, match="one of arguments k and v"):
        flash_attn_with_kvcache(q, k, v, k[:, :1], cache_seqlens=3)
    with pytest.raises(ValueError, match="rotary_cos without k"):
        flash_attn_with_kvcache(q, k, v, rotary_cos=q[0, :, 0], rotary_sin=q[0, :, 0], cache_seqlens=3)
    with pytest.raises(NotImplementedError, match="rotary_seqlens"):
        flash_attn_with_kvcache(q, k, v, rotary_seqlens=i32(device, 1))
    with pytest.raises(ValueError, match="argument k_cache has 3 dimensions"):
        flash_attn_with_kvcache(q, k[0], v)


def test_kvcache_has_no_gradient_and_bumps_versions(device):
    q, k, v = made(device, 1, 1, 8)
    version = k._version
    out = flash_attn_with_kvcache(q.requires_grad_(), k, v, k[:, :1].clone(), v[:, :1].clone(), cache_seqlens=3)
    assert not out.requires_grad and k._version > version
    with torch.inference_mode():
        flash_attn_with_kvcache(torch.ones_like(q), k.clone(), v.clone(), k[:, :1].clone(), v[:, :1].clone(), cache_seqlens=3)


def test_kvcache_opcheck(device):
    q, k, v = made(device, 2, 1, 8)
    new = torch.randn(2, 1, 1, 16, device=device)
    cos = torch.rand(8, 8, device=device)
    lengths = i32(device, 3, 5)
    torch.library.opcheck(torch.ops.kaio.attention_decode.default, (q, k, v, None, lengths))
    packed_queries = (q[:, 0], k, v, None, lengths, None, None, begins(device, [1, 1]), 1)
    torch.library.opcheck(torch.ops.kaio.attention_decode.default, packed_queries, {"with_lse": False})
    appending = (q, k.clone(), v.clone(), new, new, None, cos, cos, None, False, True, None, lengths)
    torch.library.opcheck(torch.ops.kaio.attention_append_decode.default, appending)


@pytest.mark.parametrize("backend", ["aot_eager", "inductor"])
def test_kvcache_compile(device, backend):
    """A compiled step writes the caches that it is given."""
    if backend == "inductor" and device == "cpu":
        import shutil

        if shutil.which("g++") is None and shutil.which("clang++") is None:
            pytest.skip("inductor needs a C++ compiler")
    q, k, v = made(device, 2, 1, 8)
    new = torch.randn(2, 1, 1, 16, device=device)

    def step(q, k_cache, v_cache, new, lengths):
        return flash_attn_with_kvcache(q, k_cache, v_cache, new, new * 2, cache_seqlens=lengths, causal=True) + 1

    compiled = torch.compile(step, fullgraph=True, backend=backend)
    lengths = i32(device, 3, 5)
    mine, theirs = (k.clone(), v.clone()), (k.clone(), v.clone())
    want, got = step(q, *mine, new, lengths), compiled(q, *theirs, new, lengths)
    close(got, want, 1e-6)
    assert torch.equal(mine[0], theirs[0]) and torch.equal(mine[1], theirs[1]) and not torch.equal(mine[0], k)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="CUDA graphs need a GPU")
def test_cuda_graph():
    """A captured step is replayed with other lengths."""
    q, k, v = made("cuda", 2, 1, 64, 4, 2, 64, torch.float16)
    new = torch.randn(2, 1, 2, 64, device="cuda", dtype=torch.float16)
    lengths = i32("cuda", 10, 20)

    def step(k_cache, v_cache):
        return flash_attn_with_kvcache(q, k_cache, v_cache, new, new, cache_seqlens=lengths, causal=True)

    step(k.clone(), v.clone())
    k_graph, v_graph = k.clone(), v.clone()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        out = step(k_graph, v_graph)
    for numbers in ((10, 20), (40, 3)):
        lengths.copy_(i32("cuda", *numbers))
        k_graph.copy_(k), v_graph.copy_(v)
        graph.replay()
        assert torch.equal(out, step(k.clone(), v.clone()))


def test_varlen_packed(device):
    q, k, v = (torch.randn(9, 2, 16, device=device) for _ in range(3))
    cu = i32(device, 0, 4, 9)
    expected = flash_attn_varlen_func(q, k, v, cu, cu, 5, 5, causal=True)
    torch.testing.assert_close(flash_attn_varlen_qkvpacked_func(torch.stack((q, k, v), 1), cu, 5, causal=True), expected)
    torch.testing.assert_close(flash_attn_varlen_kvpacked_func(q, torch.stack((k, v), 1), cu, cu, 5, 5, causal=True), expected)
    with pytest.raises(ValueError, match="argument qkv"):
        flash_attn_varlen_qkvpacked_func(torch.stack((k, v), 1), cu, 5)


def test_errors_have_names_of_flash_attention(device):
    q, k, v = made(device, 2, 1, 16)
    packed_q = q.flatten(0, 1)
    longs = torch.zeros(2, dtype=torch.int64, device=device)
    for name, keywords in (
        ("cache_seqlens", dict(cache_seqlens=longs)), ("cache_batch_idx", dict(cache_batch_idx=longs)),
        ("cache_leftpad", dict(cache_leftpad=longs)), ("block_table", dict(block_table=longs[:, None], cache_seqlens=longs.int())),
        ("alibi_slopes", dict(alibi_slopes=longs)), ("window_size", dict(window_size=(-2, 0))),
        ("softmax_scale", dict(softmax_scale=0.0)),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=f"flash_attn_with_kvcache: argument {name}"):
            flash_attn_with_kvcache(q, k, v, **keywords)
    for function in (flash_attn_varlen_func, attention_varlen):
        keywords = dict(cu_seqlens_q=longs, cu_seqlens_k=longs, max_seqlen_q=1, max_seqlen_k=1)
        with pytest.raises(ValueError, match=f"{function.__name__}: argument cu_seqlens_q"):
            function(packed_q, packed_q, packed_q, **keywords)


def test_out_counts_versions(device):
    q, k, v = made(device, 2, 1, 16)
    out = torch.empty_like(q)
    before = out._version
    assert flash_attn_with_kvcache(q, k, v, cache_seqlens=3, out=out) is out and out._version > before


def test_left_padding_with_rotary_of_packed_queries_is_refused(device):
    q, k, v = made(device, 2, 1, 16)
    cos, sin = torch.ones(16, 8, device=device), torch.zeros(16, 8, device=device)
    new = torch.randn(2, 1, 1, 16, device=device)
    with pytest.raises(NotImplementedError, match="cache_leftpad"):
        flash_attn_with_kvcache(q.flatten(0, 1), k, v, new, new, cos, sin, cache_seqlens=3, cache_leftpad=i32(device, 0, 1),
                                cu_seqlens_q=i32(device, 0, 1, 2), max_seqlen_q=1)  # fmt: skip
