"""kaio.torch's caches and projections against torch's arithmetic: results, gradients, operators, compiled calls."""

import pytest

torch = pytest.importorskip("torch")

import kaio  # noqa: E402
import kaio.torch as kt  # noqa: E402

silu = torch.nn.functional.silu


def sample(device, *shape, dtype=torch.float32, seed=0, scale=1.0):
    return (scale * torch.randn(*shape, generator=torch.Generator().manual_seed(seed))).to(device, dtype)


def numbers(device, values, dtype=torch.int32):
    return torch.tensor(values, dtype=dtype, device=device)


def packed(n, k, device):
    """Packed weights (n, k) of four bits."""
    matrix = sample(device, n, k, dtype=torch.float16, seed=2, scale=0.1)
    codes = torch.zeros(n, k // 8, dtype=torch.int32, device=device)
    scales = torch.zeros(n, k // 32, dtype=torch.float16, device=device)
    kaio.quantise_w4(matrix, kaio.W4Output(codes, scales, group=32))
    memory = torch.zeros(n * k, dtype=torch.uint8, device=device)  # more than w4_packed_bytes says
    weights = kaio.W4Weights(n=n, k=k, group=32, scales="f16", memory=memory)
    kaio.repack_compressed_tensors_w4(kaio.CompressedTensorsW4(codes, scales), weights)
    dense = kaio.dequantise_w4(weights)
    assert (dense - matrix).abs().max() < 0.05
    return weights, dense


# ---- Caches


def test_append_and_gather(device):
    k, v = sample(device, 2, 3, 2, 8), sample(device, 2, 3, 2, 16, seed=1)
    pages_k, pages_v = torch.zeros(6, 4, 2, 8, device=device), torch.zeros(6, 4, 2, 16, device=device)
    table = numbers(device, [[4, 1, 0], [2, 5, 3]])
    cache = kaio.KvCache(pages_k, pages_v, table=table, lengths=numbers(device, [3, 6]))
    version = pages_k._version
    assert kt.append_kv(k, v, cache) is None and pages_k._version > version
    after = kaio.KvCache(pages_k, pages_v, table=table, lengths=numbers(device, [6, 9]))
    got_k, got_v = kt.gather_kv(after, 10)
    assert got_k.shape == (2, 10, 2, 8) and got_v.shape == (2, 10, 2, 16)
    for b, first in enumerate((3, 6)):
        torch.testing.assert_close(got_k[b, first : first + 3], k[b])
        torch.testing.assert_close(got_v[b, first : first + 3], v[b])
        assert not got_k[b, first + 3 :].any()
    together, _ = kt.gather_kv(after, 15, cu_seqlens=numbers(device, [0, 6, 15]))
    torch.testing.assert_close(together[3:6], k[0])
    torch.testing.assert_close(together[12:15], k[1])


def test_append_rotates(device):
    k, q = sample(device, 1, 3, 2, 8), sample(device, 1, 3, 4, 8, seed=1)
    cos, sin = kt.rotary_table(16, 4, device=device)
    memory = torch.zeros(1, 8, 2, 8, device=device)
    cache = kaio.KvCache(memory, memory.clone(), lengths=numbers(device, [2]))
    turned = kt.append_kv(k, k, cache, rotary=kaio.AppendRotary(cos, sin, q=q))
    positions = numbers(device, [2, 3, 4])
    torch.testing.assert_close(turned, kt.rotary(q, cos, sin, positions=positions))
    torch.testing.assert_close(memory[:, 2:5], kt.rotary(k, cos, sin, positions=positions))
    to = torch.empty_like(q)
    assert kt.append_kv(k, k, cache, rotary=kaio.AppendRotary(cos, sin, q=q, q_out=to)) is to
    torch.testing.assert_close(to, turned)


def test_cache_of_8_bits(device):
    k = sample(device, 1, 3, 2, 16)
    memory = [torch.zeros(1, 4, 2, 16, dtype=torch.int8, device=device) for _ in range(2)]
    scales = [torch.zeros(1, 4, 2, device=device) for _ in range(2)]
    cache = kaio.KvCache(*memory, lengths=numbers(device, [0]))
    kt.append_kv(k, 2 * k, cache, k_scale_out=scales[0], v_scale_out=scales[1])
    after = kaio.KvCache(*memory, lengths=numbers(device, [3]))
    got_k, got_v = kt.gather_kv(after, 3, k_scale=scales[0], v_scale=scales[1], dtype=torch.float32)
    torch.testing.assert_close(got_k, k, rtol=0, atol=0.03)
    torch.testing.assert_close(got_v, 2 * k, rtol=0, atol=0.06)


def test_cache_operators(device):
    k = sample(device, 1, 2, 1, 8)
    memory = torch.zeros(2, 4, 1, 8, device=device)
    indices = (numbers(device, [[1, 0]]), None, None, numbers(device, [1]), None, None, None)
    append = torch.ops.kaio.append_kv.default
    torch.library.opcheck(append, (k, k, memory, memory.clone(), *indices, *(None,) * 6, False, False, *(None,) * 4))
    cos, sin = kt.rotary_table(8, k.shape[-1] // 2, device=device)
    torch.library.opcheck(append, (k, k, memory, memory.clone(), *indices, None, None, cos, sin, None, k + 1, False, False, *(None,) * 4))
    gather = torch.ops.kaio.gather_kv.default
    torch.library.opcheck(gather, (memory, memory.clone(), *indices, 3, None, None, None, torch.float32))


def test_caches_compiled(device):
    k = sample(device, 1, 2, 1, 8)
    table, before, after = numbers(device, [[1, 0]]), numbers(device, [3]), numbers(device, [5])

    def step(t, pages):
        kt.append_kv(t * 2, t, kaio.KvCache(pages, pages + 0, table=table, lengths=before))
        return kt.gather_kv(kaio.KvCache(pages, pages, table=table, lengths=after), 5)[0]

    pages = [torch.zeros(2, 4, 1, 8, device=device) for _ in range(2)]
    got = torch.compile(step, fullgraph=True, backend="aot_eager")(k, pages[0])
    torch.testing.assert_close(got, step(k, pages[1]))
    torch.testing.assert_close(pages[0], pages[1])
    torch.testing.assert_close(got[0, 3:], 2 * k[0])


def test_cache_errors(device):
    k = sample(device, 1, 2, 1, 8)
    memory = torch.zeros(1, 4, 1, 8, device=device)
    cache = kaio.KvCache(memory, memory.clone(), lengths=numbers(device, [0]))
    with pytest.raises(ValueError, match="append_kv has no gradient"):
        kt.append_kv(k.clone().requires_grad_(), k, cache)
    with pytest.raises(kaio.InvalidArgument, match="k"):
        kt.append_kv(k[..., :4], k, cache)


# ---- Gate and up


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
def test_gate_up_project(device, dtype):
    x, w = sample(device, 5, 32, dtype=dtype), sample(device, 48, 32, dtype=dtype, seed=1, scale=0.2)
    biases = sample(device, 24, dtype=dtype, seed=2), sample(device, 24, dtype=dtype, seed=3)
    tolerance = {torch.float32: 1e-5, torch.float16: 1e-2, torch.bfloat16: 6e-2}[dtype]
    gate, up = (x.float() @ w.float().t()).chunk(2, 1)
    want = silu(gate) * up
    for weights in (w, (w[:24], w[24:])):
        got = kt.gate_up_project(x, weights)
        torch.testing.assert_close(got.float(), want, rtol=tolerance, atol=tolerance)
    got = kt.gate_up_project(x, w, activation="gelu", gate_bias=biases[0], up_bias=biases[1])
    want = torch.nn.functional.gelu(gate + biases[0].float()) * (up + biases[1].float())
    torch.testing.assert_close(got.float(), want, rtol=tolerance, atol=2 * tolerance)


def test_gate_up_project_with_norm_and_shapes(device):
    x, residual = sample(device, 2, 3, 32), sample(device, 2, 3, 32, seed=4)
    w, weight = sample(device, 48, 32, seed=1, scale=0.2), sample(device, 32, seed=2)
    y, h = kt.rms_norm(x, weight, residual=residual, weight_offset=1.0)
    got, sum_ = kt.gate_up_project(x, w, norm=kt.Norm(weight, weight_offset=1.0, residual=residual))
    torch.testing.assert_close(sum_, h)
    torch.testing.assert_close(got, kt.gate_up_project(y, w))
    assert got.shape == (2, 3, 24)
    four = kt.gate_up_project(x.reshape(2, 1, 3, 32), w)
    torch.testing.assert_close(four.reshape(2, 3, 24), kt.gate_up_project(x, w))
    view = sample(device, 32, 6).t()
    torch.testing.assert_close(kt.gate_up_project(view, w), kt.gate_up_project(view.contiguous(), w))
    torch.testing.assert_close(kt.gate_up_project(torch._neg_view(x), w), kt.gate_up_project(-x, w))


def test_gate_up_gradients(device):
    x, gate, up = (sample(device, *s, seed=i).requires_grad_() for i, s in enumerate(((3, 6), (4, 6), (4, 6))))
    for activation in ("silu", "gelu_tanh", "none"):
        assert torch.autograd.gradcheck(lambda *t: kt.gate_up(*t, activation), (x, gate, up), eps=1e-2, atol=2e-2, rtol=2e-2)
    down, residual = sample(device, 5, 4, seed=3).requires_grad_(), sample(device, 3, 5, seed=4).requires_grad_()
    kt.swiglu_mlp(x, gate, up, down, residual=residual).sin().sum().backward()
    got = [t.grad.clone() for t in (x, gate, up, down, residual)]
    for t in (x, gate, up, down, residual):
        t.grad = None
    ((silu(x @ gate.t()) * (x @ up.t())) @ down.t() + residual).sin().sum().backward()
    for ours, theirs in zip(got, (x, gate, up, down, residual)):
        torch.testing.assert_close(ours, theirs.grad, rtol=1e-4, atol=1e-4)
    with torch.no_grad():
        torch.testing.assert_close(kt.gate_up(x, gate, up), silu(x @ gate.t()) * (x @ up.t()), rtol=1e-5, atol=1e-5)


# ---- Q, K and V


def split(x, w, q_heads, kv_heads, size):
    y = x.float() @ w.float().t()
    q, k, v = y.split([q_heads * size, kv_heads * size, kv_heads * size], -1)
    return [t.unflatten(-1, (-1, size)) for t in (q, k, v)]


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_qkv_project(device, dtype):
    x, w = sample(device, 2, 3, 32, dtype=dtype), sample(device, 64, 32, dtype=dtype, seed=1, scale=0.2)
    tolerance = {torch.float16: 1e-2, torch.bfloat16: 6e-2}[dtype]
    want = split(x, w, 4, 2, 8)
    for weights in (w, (w[:32], w[32:48], w[48:])):
        got = kt.qkv_project(x, weights, 4, 2)
        for ours, theirs in zip(got, want):
            assert ours.shape == theirs.shape and ours.dtype == dtype
            torch.testing.assert_close(ours.float(), theirs, rtol=tolerance, atol=tolerance)
    cos, sin = kt.rotary_table(8, 4, device=device)
    q, k, v = kt.qkv_project(x, w, 4, 2, rotary=kaio.QkvRotary(cos, sin), q_scale=0.5)
    torch.testing.assert_close(q.float(), 0.5 * kt.rotary(want[0], cos, sin), rtol=tolerance, atol=tolerance)
    torch.testing.assert_close(k.float(), kt.rotary(want[1], cos, sin), rtol=tolerance, atol=tolerance)
    head = sample(device, 8, dtype=dtype, seed=5)
    q, k, _ = kt.qkv_project(x, w, 4, 2, q_norm=head, k_norm=head)
    torch.testing.assert_close(k.float(), kt.rms_norm(want[1].contiguous(), head.float()), rtol=tolerance, atol=2 * tolerance)


def test_qkv_project_appends(device):
    x, w = sample(device, 1, 2, 32, dtype=torch.float16), sample(device, 64, 32, dtype=torch.float16, seed=1, scale=0.2)
    weight, residual = sample(device, 32, dtype=torch.float16, seed=6), sample(device, 1, 2, 32, dtype=torch.float16, seed=7)
    pages = [torch.zeros(3, 4, 2, 8, dtype=torch.float16, device=device) for _ in range(2)]
    table = numbers(device, [[2, 0, 1]])
    q, h = kt.qkv_project(x, w, 4, 2, norm=kt.Norm(weight, residual=residual),
                          cache=kaio.KvCache(*pages, table=table, lengths=numbers(device, [3])))  # fmt: skip
    y, sum_ = kt.rms_norm(x, weight, residual=residual)
    torch.testing.assert_close(h, sum_)
    want_q, want_k, want_v = kt.qkv_project(y, w, 4, 2)
    torch.testing.assert_close(q, want_q)
    got_k, got_v = kt.gather_kv(kaio.KvCache(*pages, table=table, lengths=numbers(device, [5])), 5)
    torch.testing.assert_close(got_k[:, 3:], want_k)
    torch.testing.assert_close(got_v[:, 3:], want_v)


def test_projection_operators(device):
    x, w = sample(device, 2, 32, dtype=torch.float16), sample(device, 64, 32, dtype=torch.float16, seed=1)
    gate_up = torch.ops.kaio.gate_up_project.default
    torch.library.opcheck(gate_up, (x, [w], [""], "silu", None, None, None, 1e-6, 0.0, None, None))
    norm, residual = w[0].contiguous(), x.clone()
    torch.library.opcheck(gate_up, (x, [w, w], ["", ""], "gelu", None, None, norm, 1e-6, 0.0, residual, torch.float32))
    steps = (None,) * 5 + (1e-6, 0.0, 1.0) + (None,) * 4 + (False, None, None, 1e-6, 0.0, None)
    torch.library.opcheck(torch.ops.kaio.qkv_project.default, (x, [w], [""], 4, 2, *steps))
    pages = [torch.zeros(1, 4, 2, 8, dtype=torch.float16, device=device) for _ in range(2)]
    indices = (None, None, None, numbers(device, [1]), None, None, None)
    torch.library.opcheck(
        torch.ops.kaio.qkv_project_cache.default, (x.unsqueeze(0), [w], [""], 4, 2, *pages, *indices, *(None,) * 5, *steps)
    )


def test_projections_compiled(device):
    x, w = sample(device, 1, 2, 32, dtype=torch.float16), sample(device, 64, 32, dtype=torch.float16, seed=1, scale=0.2)
    cos, sin = kt.rotary_table(8, 4, device=device)
    lengths = numbers(device, [1])

    def step(t, k, v):
        q = kt.qkv_project(t, w, 4, 2, rotary=kaio.QkvRotary(cos, sin), cache=kaio.KvCache(k, v, lengths=lengths))[0]
        return kt.gate_up_project(q.flatten(2), w) + k.sum()

    both = [[torch.zeros(1, 4, 2, 8, dtype=torch.float16, device=device) for _ in range(2)] for _ in range(2)]
    got = torch.compile(step, fullgraph=True, backend="aot_eager")(x, *both[0])
    torch.testing.assert_close(got, step(x, *both[1]))
    torch.testing.assert_close(both[0], both[1])

    y, gate = sample(device, 3, 8), sample(device, 4, 8, seed=1)

    def loss(a, b):
        return kt.swiglu_mlp(a, b, b * 2, b.t()).square().sum()

    grads = []
    for function in (loss, torch.compile(loss, fullgraph=True, backend="aot_eager")):
        leaves = [y.clone().requires_grad_(), gate.clone().requires_grad_()]
        function(*leaves).backward()
        grads.append([t.grad for t in leaves])
    torch.testing.assert_close(grads[0], grads[1])


def test_packed_weights(device):
    x = sample(device, 3, 64, dtype=torch.float16, scale=0.5)
    weights, dense = packed(64, 64, device)
    for ours, theirs in zip(kt.qkv_project(x, weights, 4, 2), split(x, dense, 4, 2, 8)):
        torch.testing.assert_close(ours.float(), theirs, rtol=2e-2, atol=2e-2)
    got = kt.gate_up_project(x, weights)
    gate, up = (x.float() @ dense.float().t()).chunk(2, 1)
    torch.testing.assert_close(got.float(), silu(gate) * up, rtol=2e-2, atol=2e-2)
    compiled = torch.compile(lambda t: kt.gate_up_project(t, weights), fullgraph=True, backend="aot_eager")
    torch.testing.assert_close(compiled(x), got)


def test_errors(device):
    x, w = sample(device, 2, 32, dtype=torch.float16), sample(device, 64, 32, dtype=torch.float16, seed=1)
    with pytest.raises(ValueError, match="weights"):
        kt.gate_up_project(x, (w, w, w))
    with pytest.raises(TypeError, match="weights"):
        kt.gate_up_project(x, "w")
    with pytest.raises(ValueError, match="activation"):
        kt.gate_up(x, w, w, "tanh")
    with pytest.raises(ValueError, match="gradient"):
        kt.gate_up_project(x, w.clone().requires_grad_())
    with pytest.raises(ValueError, match="heads"):
        kt.qkv_project(x, w, 4, 3)
    with pytest.raises(ValueError, match="heads"):
        kt.qkv_project(x, w, 0, 2)
    with pytest.raises(ValueError, match="cache"):
        kt.qkv_project(x, w, 4, 2, slots=numbers(device, [0, 1]))
    with pytest.raises((kaio.InvalidArgument, TypeError), match="x"):
        kt.qkv_project(x.double(), w.double(), 4, 2)


@pytest.mark.skipif(not hasattr(torch.library, "register_vmap"), reason="this torch has no register_vmap")
def test_vmap_is_refused(device):
    x, w = sample(device, 2, 2, 32, dtype=torch.float16), sample(device, 64, 32, dtype=torch.float16, seed=1)
    with pytest.raises(NotImplementedError, match="gate_up_project"):
        torch.vmap(lambda t: kt.gate_up_project(t, w))(x)
    with pytest.raises(NotImplementedError, match="qkv_project"):
        torch.vmap(lambda t: kt.qkv_project(t, w, 4, 2))(x)
