"""kaio.torch's steps of a mixture of experts, and whole blocks of four models against double precision."""

import pytest

torch = pytest.importorskip("torch")

import kaio  # noqa: E402
import kaio.torch as kt  # noqa: E402
from experts_reference import SMALL, TRUE, block  # noqa: E402
from kaio._packed import layout_of, packed_bytes  # noqa: E402

TOLERANCE = {torch.float16: 4e-3, torch.bfloat16: 2e-2}
MODELS = sorted(SMALL)


@pytest.fixture(autouse=True)
def seed():
    torch.manual_seed(11)
    torch._dynamo.reset()


def randn(device, *shape, dtype=torch.float32):
    return torch.randn(shape).to(device, dtype)


def near(got, want, tolerance):
    assert got.shape == want.shape
    error = (got.double() - want.double()).abs().max().item()
    assert error <= tolerance * want.double().abs().max().item()


def filled(module):
    """Random numbers in all that reset_parameters leaves at 0."""
    with torch.no_grad():
        for name, t in [*module.named_parameters(), *module.named_buffers()]:
            if name.endswith("bias"):
                t.copy_(torch.randn(t.shape) * (0.05 if name == "choice_bias" else 0.3))
    return module


def made(model, device, dtype, shared=None, sizes=SMALL, **options):
    size, intermediate, experts, k, own = sizes[model]
    module = kt.Experts.of_model(model, size, intermediate, experts=experts, k=k, shared=own if shared is None else shared,
                                 device=device, dtype=dtype, **options)  # fmt: skip
    return filled(module)


# ---- The steps


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
def test_router(device, dtype):
    logits, bias = randn(device, 9, 16, dtype=dtype), randn(device, 16)
    indices, weights = kt.topk_router(logits, 3)
    want = torch.softmax(logits.float(), -1).topk(3)
    assert indices.dtype == torch.int32 and torch.equal(indices.long(), want.indices)
    torch.testing.assert_close(weights, want.values)
    indices, weights = kt.topk_router(logits, 3, score="sigmoid", bias=bias, renormalise=True, factor=2.0)
    scores = torch.sigmoid(logits.float())
    chosen = (scores + bias).topk(3).indices
    assert torch.equal(indices.long(), chosen)
    want = scores.gather(1, chosen)
    torch.testing.assert_close(weights, 2 * want / want.sum(-1, keepdim=True))
    indices, _ = kt.topk_router(logits, 2, groups=4, kept_groups=1, group_by_best_two=False)
    assert torch.equal(indices.long()[:, :1], logits.float().argmax(-1, keepdim=True)) and (indices // 4).diff().eq(0).all()
    assert kt.topk_router(logits[:0], 3)[1].shape == (0, 3)


@pytest.mark.parametrize("score", ["softmax", "sigmoid"])
@pytest.mark.parametrize("renormalise", [False, True])
def test_gradient_of_router(device, score, renormalise):
    logits, dw = randn(device, 7, 12), randn(device, 7, 4)
    ours, theirs = (logits.clone().requires_grad_() for _ in range(2))
    indices, weights = kt.topk_router(ours, 4, score=score, renormalise=renormalise, factor=1.5)
    assert not indices.requires_grad
    weights.backward(dw)
    scores = torch.softmax(theirs, -1) if score == "softmax" else torch.sigmoid(theirs)
    chosen = scores.gather(1, indices.long())
    (1.5 * (chosen / chosen.sum(-1, keepdim=True) if renormalise else chosen)).backward(dw)
    torch.testing.assert_close(ours.grad, theirs.grad, rtol=1e-4, atol=1e-6)


def test_sort(device):
    indices = torch.tensor([[1, 3], [0, 1], [-1, 3], [1, 4]], dtype=torch.int32, device=device)
    offsets, tokens, positions = kt.sort_by_expert(indices, 4)
    assert offsets.tolist() == [0, 1, 4, 4, 6] and tokens.tolist() == [1, 0, 1, 3, 0, 2, -1, -1]
    assert positions.tolist() == [[1, 4], [0, 2], [-1, 5], [3, -1]]
    many = torch.randint(8, (3000, 2), device=device, dtype=torch.int32)  # takes a workspace
    routed = kt.sort_by_expert(many.t().contiguous().t(), 8)
    assert torch.equal(routed.offsets.diff(), torch.bincount(many.flatten(), minlength=8).int())
    assert torch.equal(routed.tokens[routed.positions.flatten().long()].view(3000, 2)[:, 1], torch.arange(3000, device=device).int())


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
def test_gather_and_combine(device, dtype):
    indices = torch.tensor([[1, 3], [0, 1], [-1, 3], [1, 0]], dtype=torch.int32, device=device)
    routed = kt.sort_by_expert(indices, 4)
    x, weights, residual = randn(device, 4, 24, dtype=dtype), randn(device, 4, 2), randn(device, 4, 24, dtype=dtype)
    rows = kt.gather_tokens(x, routed)
    assert torch.equal(rows[:-1], x[routed.tokens[:-1].long()]) and not rows[-1].any()
    used = torch.where(routed.positions < 0, 0, weights)
    want = (used[:, :, None] * x.float()[:, None]).sum(1)
    near(kt.combine_experts(rows, weights, routed.positions), want, 8e-3)
    both = kt.combine_experts(rows, weights, routed.positions, residual=residual, dtype=torch.float32)
    assert both.dtype == torch.float32
    near(both, want + residual.float(), 1e-6)
    turned = kt.combine_experts(rows.t().contiguous().t(), weights.t().contiguous().t(), routed.positions)
    near(turned, want, 8e-3)


def test_gradients_of_gather_and_combine(device):
    routed = kt.sort_by_expert(torch.tensor([[1, 3], [0, 1], [-1, 3]], dtype=torch.int32, device=device), 4)
    x, weights, residual, y = (randn(device, *s).requires_grad_() for s in ((3, 8), (3, 2), (3, 8), (6, 8)))
    check = lambda f, given: torch.autograd.gradcheck(f, given, eps=1e-2, atol=1e-2, rtol=1e-2)  # noqa: E731
    assert check(lambda a: kt.gather_tokens(a, routed), [x])
    assert check(lambda a, w, r: kt.combine_experts(a, w, routed.positions, residual=r), [y, weights, residual])
    half = y.detach().bfloat16().requires_grad_()
    kt.combine_experts(half, weights, routed.positions, dtype=torch.float32).sum().backward()
    assert half.grad.dtype == torch.bfloat16
    want = torch.zeros(6, device=device).index_put((routed.positions.clamp(min=0).long(),),
                                                   torch.where(routed.positions < 0, 0, weights.detach()), accumulate=True)  # fmt: skip
    near(half.grad, want[:, None].expand(6, 8), 8e-3)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_matmul_grouped(device, dtype):
    a, b = randn(device, 20, 32, dtype=dtype), randn(device, 5, 24, 32, dtype=dtype)
    offsets = torch.tensor([0, 3, 3, 11, 12, 17], dtype=torch.int32, device=device)
    want = torch.cat([a[i:j].float() @ w.float().T for i, j, w in zip(offsets, offsets[1:], b)])
    near(kt.matmul_grouped(a, b.mT, offsets)[:17], want, TOLERANCE[dtype])
    got = kt.matmul_grouped(a, b.mT.contiguous(), offsets, dtype=torch.float32)[:17]
    assert got.dtype == torch.float32
    near(got, want, 1e-5)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_gather_and_bias_of_products(device, dtype):
    routed = kt.sort_by_expert(torch.tensor([[1, 3], [0, 1], [-1, 3], [1, 0]], dtype=torch.int32, device=device), 4)
    x, w, bias = randn(device, 4, 32, dtype=dtype), randn(device, 4, 24, 32, dtype=dtype), randn(device, 4, 24, dtype=dtype)
    rows = kt.gather_tokens(x, routed)
    want = kt.matmul_grouped(rows, w.mT, routed.offsets, dtype=torch.float32)[:7]
    assert torch.equal(kt.matmul_grouped(x, w.mT, routed.offsets, gather=routed, dtype=torch.float32)[:7], want)
    counts = routed.offsets.diff().tolist()
    of_rows = torch.cat([one.expand(count, 24) for one, count in zip(bias, counts)])
    near(kt.matmul_grouped(x, w.mT, routed.offsets, gather=routed, bias=bias)[:7], want + of_rows, TOLERANCE[dtype])


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("weight_first", [False, True])
@pytest.mark.parametrize("gathered", [False, True])
def test_gradients_of_products(device, dtype, weight_first, gathered):
    indices = torch.tensor([[1, 3], [0, 1], [-1, 3], [1, 0]], dtype=torch.int32, device=device)  # none of expert 2
    routed = kt.sort_by_expert(indices, 4)
    x, w, bias, dy = (randn(device, *s, dtype=dtype) for s in ((4, 32), (4, 24, 32), (4, 24), (8, 24)))
    given = x if gathered else kt.gather_tokens(x, routed)
    ours = [t.clone().requires_grad_() for t in (given, w if weight_first else w.mT.contiguous(), bias)]
    y = kt.matmul_grouped(ours[0], ours[1].mT if weight_first else ours[1], routed.offsets, gather=routed if gathered else None,
                          bias=ours[2])  # fmt: skip
    y[:7].backward(dy[:7])
    theirs = [t.double().requires_grad_() for t in (given, w, bias)]
    rows = theirs[0][routed.tokens[:7].long()] if gathered else theirs[0][:7]
    groups = torch.repeat_interleave(torch.arange(4, device=device), routed.offsets.diff().long())
    want = torch.einsum("rk,rnk->rn", rows, theirs[1][groups]) + theirs[2][groups]
    want.backward(dy[:7].double())
    near(y[:7], want, TOLERANCE[dtype])
    near(ours[0].grad, theirs[0].grad, TOLERANCE[dtype])
    near(ours[1].grad, theirs[1].grad if weight_first else theirs[1].grad.mT, TOLERANCE[dtype])
    near(ours[2].grad, theirs[2].grad, TOLERANCE[dtype])
    assert ours[1].grad.is_contiguous() and not ours[1].grad[2].any()
    frozen = x.clone().requires_grad_()
    kt.matmul_grouped(frozen, w.mT, routed.offsets, gather=routed, dtype=torch.float32)[:7].sum().backward()
    assert frozen.grad.dtype == dtype and w.grad is None


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("options", [{}, {"activation": "gelu_tanh"}, {"alpha": 1.702, "limit": 0.75, "up_offset": 1.0}])
def test_gate_up_grouped(device, dtype, options):
    routed = kt.sort_by_expert(torch.tensor([[1, 3], [0, 1], [2, 3], [1, 0]], dtype=torch.int32, device=device), 5)
    x, w = randn(device, 4, 32, dtype=dtype), randn(device, 5, 48, 32, dtype=dtype) / 6
    bias = randn(device, 5, 24)
    both = kt.matmul_grouped(x, w.mT, routed.offsets, gather=routed, dtype=torch.float32)
    gate, up = both[:, ::2] + torch.repeat_interleave(bias, routed.offsets.diff().long(), 0), both[:, 1::2]
    kind = "gelu_sigmoid" if "alpha" in options else options.get("activation", "silu")
    want = kt.gated(gate, up, kind, limit=options.get("limit", 0.0), up_offset=options.get("up_offset", 0.0))
    got = kt.gate_up_grouped(x, w[:, ::2].mT, w[:, 1::2].mT, routed.offsets, gather=routed, gate_bias=bias, **options)
    assert got.dtype == dtype
    near(got, want, TOLERANCE[dtype])
    halves = torch.cat([w[:, ::2], w[:, 1::2]], 1)
    again = kt.gate_up_grouped(kt.gather_tokens(x, routed), halves[:, :24].mT, halves[:, 24:].mT, routed.offsets, gate_bias=bias, **options)
    near(again, want, TOLERANCE[dtype])


# ---- Packed weights and codes


def group_offsets(device):
    return torch.tensor([0, 3, 3, 11, 14], dtype=torch.int32, device=device)


def gathered(device):
    """The tokens of fourteen rows, and positions that products do not read."""
    return torch.tensor([3, 0, 5, 5, 1, 2, 4, 9, 13, 7, 0, 6, 8, 2], dtype=torch.int32, device=device), torch.zeros(0, device=device)


def swiglu(gate, up, alpha=1.0, limit=torch.inf, offset=0.0):
    gate, up = gate.double().clamp(max=limit), up.double().clamp(-limit, limit)
    return gate * torch.sigmoid(alpha * gate) * (up + offset)


def fours(y):
    """Columns of gates and of values, four of each in turn."""
    return (part.flatten(1) for part in y.unflatten(1, (-1, 2, 4)).unbind(2))


def by_groups(a, w, offsets):
    return torch.cat([a[i:j].double() @ one.double().T for i, j, one in zip(offsets, offsets[1:], w)])


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("bits", [4, 8])
def test_packed_products(device, bits, dtype):
    n, k, groups = 40, 64, 4
    if bits == 4:
        kind = lambda memory: kaio.W4Weights(n=n, k=k, group=32, scales="bf16" if dtype == torch.bfloat16 else "f16", memory=memory)  # noqa: E731
    else:
        kind = lambda memory: kaio.W8Weights(n=n, k=k, group=32, memory=memory)  # noqa: E731
    size = packed_bytes(kind(None))
    memory, scales = torch.empty(groups * size, dtype=torch.uint8, device=device), torch.rand(n, k // 32) / 50 + 0.01
    for one in memory.split(size):
        if bits == 4:
            codes = torch.randint(-(1 << 31), 1 << 31, (n, k // 8), dtype=torch.int32, device=device)
            kaio.repack_int4_w4(kaio.Int4W4(codes, scales.T.to(device, dtype).contiguous()), kind(one))
        else:
            kaio.repack_int8_w8(kaio.Int8W8(torch.randint(-128, 128, (n, k), dtype=torch.int8, device=device), scales.to(device)), kind(one))
    w = torch.stack([kt.dequantise(kind(one), torch.float32) for one in memory.split(size)])
    x, bias, offsets = randn(device, 14, k, dtype=dtype), randn(device, groups, n), group_offsets(device)
    product = kt.matmul_w4_grouped if bits == 4 else kt.matmul_w8_grouped
    want = by_groups(x, w, offsets)
    near(product(x, kind(memory), offsets, dtype=torch.float32), want, 1e-3)
    of_rows = torch.repeat_interleave(bias.to(dtype), offsets.diff().long(), 0)
    near(product(x, kind(memory), offsets, bias=bias), want + of_rows, TOLERANCE[dtype])
    layout = layout_of(kind(memory))
    torch.library.opcheck(torch.ops.kaio.matmul_packed_grouped.default,
                          (x, memory, layout, offsets, None, bias.to(dtype), "silu", 1.0, 0.0, 0.0, torch.float32))  # fmt: skip
    routed = kt.RoutedTokens(offsets, *gathered(device))
    both = by_groups(x[routed.tokens.long()], w, offsets) + of_rows
    options = {"bias": bias, "gather": routed, "dtype": torch.float32}
    near(product(x, kind(memory), offsets, **options), both, TOLERANCE[dtype])
    got = product(x, kind(memory), offsets, **options, gate="silu", alpha=1.702, limit=2.0, up_offset=1.0)
    near(got, swiglu(both[:, ::2], both[:, 1::2], 1.702, 2.0, 1.0), TOLERANCE[dtype])
    with pytest.raises(ValueError, match="argument gate"):
        product(x, kind(memory), offsets, gate="swish")
    with pytest.raises(ValueError, match="argument x"):
        product(x[0], kind(memory), offsets)
    with pytest.raises(ValueError, match="gradient"):
        product(x.clone().requires_grad_(), kind(memory), offsets)
    with pytest.raises(TypeError, match="argument weights"):
        product(x, memory, offsets)


def test_products_of_codes(device):
    offsets = group_offsets(device)
    a, b = randn(device, 14, 64).to(torch.float8_e4m3fn), randn(device, 4, 32, 64).to(torch.float8_e4m3fn)
    scale_a, scale_b, bias = torch.rand(14, device=device) + 0.5, torch.rand(4, 32, device=device) + 0.5, randn(device, 4, 32)
    of_rows = lambda t: torch.repeat_interleave(t, offsets.diff().long(), 0)  # noqa: E731
    options = {"scale_a": scale_a, "scale_b": scale_b, "bias": bias}
    want = by_groups(a.float(), b.float(), offsets) * scale_a[:, None] * of_rows(scale_b) + of_rows(bias)
    got = kt.matmul_fp8_grouped(a, b.mT, offsets, **options)
    assert got.dtype == torch.bfloat16
    near(got, want, 2e-2)
    routed = kt.RoutedTokens(offsets, *gathered(device))
    rows = routed.tokens.long()
    got = kt.matmul_fp8_grouped(a, b.mT, offsets, **options, gather=routed, gate="silu", dtype=torch.float32)
    of_gate = by_groups(a.float()[rows], b.float(), offsets) * scale_a[rows, None] * of_rows(scale_b) + of_rows(bias)
    near(got, swiglu(*fours(of_gate)), 1e-3)
    # torch cannot compare tensors of e4m3, as test_schema does with arguments.
    torch.library.opcheck(torch.ops.kaio.matmul_fp8_grouped.default, (a, b.mT, offsets, None, scale_a, scale_b, None, None, bias, "relu", 1.0, 0.0, 0.0, torch.float32),
                          test_utils=("test_autograd_registration", "test_faketensor", "test_aot_dispatch_dynamic"))  # fmt: skip
    a, b = (torch.randint(-128, 128, s, dtype=torch.int8, device=device) for s in ((14, 64), (4, 32, 64)))
    sums = by_groups(a, b, offsets)
    assert torch.equal(kt.matmul_int8_grouped(a, b.mT, offsets).double(), sums)
    want = sums * scale_a[:, None] * of_rows(scale_b) + of_rows(bias)
    near(kt.matmul_int8_grouped(a, b.mT, offsets, **options, dtype=torch.float32), want, 1e-5)
    zeros = torch.randint(-9, 9, (14,), dtype=torch.int32, device=device)
    asymmetric = {"zero_a": zeros, "column_sums": b.sum(2, dtype=torch.int32), "gather": routed}
    want = by_groups(a[rows].int() - zeros[rows, None], b, offsets)
    assert torch.equal(kt.matmul_int8_grouped(a, b.mT, offsets, **asymmetric).double(), want)
    want = want * scale_a[rows, None] / 1000 * of_rows(scale_b) + of_rows(bias)
    got = kt.matmul_int8_grouped(a, b.mT, offsets, **(options | {"scale_a": scale_a / 1000}), **asymmetric, gate="silu", dtype=torch.float32)
    near(got, swiglu(*fours(want)), 1e-4)
    torch.library.opcheck(torch.ops.kaio.matmul_int8_grouped.default,
                          (a, b.mT, offsets, None, scale_a, scale_b, None, None, bias, "none", 1.0, 0.0, 0.0, torch.float16))  # fmt: skip
    with pytest.raises(ValueError, match="argument b"):
        kt.matmul_int8_grouped(a, b[0], offsets)
    with pytest.raises(kaio.InvalidArgument, match="scale_a"):
        kt.matmul_int8_grouped(a, b.mT, offsets, scale_a=scale_a[:3], scale_b=scale_b, dtype=torch.float32)
    with pytest.raises(ValueError, match="gradient"):
        kt.matmul_int8_grouped(a, b.mT, offsets, scale_a=scale_a.clone().requires_grad_(), dtype=torch.float32)


# ---- Blocks


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("model", MODELS)
def test_block(device, model, shared, dtype):
    module = made(model, device, dtype, shared=40 if shared else 0)
    x = randn(device, 2, 7, module.size, dtype=dtype)
    with torch.no_grad():
        got = module(x)
        assert module(x[:0]).shape == (0, 7, module.size)
    want, margin = block(model, module, x.view(14, -1))
    sure = margin > 1e-4
    assert got.dtype == dtype and got.shape == x.shape and sure.sum() >= 12
    near(got.view(14, -1)[sure], want[sure], TOLERANCE[dtype])


# Rounding of activations to 8 bits, which the reference does not have.
QUANTISED = {"w4": 2e-2, "w8": 2e-2, "mxfp4": 2e-2, "fp8": 9e-2, "int8": 4e-2}


@pytest.mark.parametrize("format", QUANTISED)
@pytest.mark.parametrize("model", MODELS)
def test_quantised_block(device, model, format):
    _, _, experts, k, shared = SMALL[model]
    dense = made(model, device, torch.bfloat16, sizes={model: (64, 64, experts, k, shared)})
    module = kt.QuantisedExperts.of_experts(dense, format, group=32)
    x = randn(device, 2, 7, 64, dtype=torch.bfloat16)
    with torch.no_grad():
        got = module(x)
        compiled = torch.compile(module, fullgraph=True)(x)
    leaves = dict(zip(("gate_up", "down"), module.dequantise(torch.float32)))
    near(leaves["gate_up"], dense.gate_up, 0.3)
    want, margin = block(model, dense, x.view(14, -1), leaves)
    sure = margin > 1e-4
    assert got.dtype == torch.bfloat16 and sure.sum() >= 12
    near(got.view(14, -1)[sure], want[sure], QUANTISED[format])
    assert torch.equal(got, compiled)
    again = kt.QuantisedExperts.of_experts(made(model, device, torch.bfloat16, sizes={model: (64, 64, experts, k, shared)}), format, group=32)
    again.load_state_dict(module.state_dict())
    with torch.no_grad():
        assert torch.equal(again(x), got)
    codes = {name: t.dtype for name, t in module.named_buffers() if name.split(".")[-1] in ("memory", "codes", "scales")}
    assert {name: t.dtype for name, t in module.half().named_buffers() if name in codes} == codes


def test_quantised_block_of_files(device):
    """gpt-oss's tensors of MXFP4, and codes of e4m3 with scales of rows."""
    dense = made("gpt_oss", device, torch.bfloat16, sizes={"gpt_oss": (64, 64, 16, 4, 0)})
    files = [[kt.quantise_mxfp4(w) for w in t.detach()] for t in (dense.gate_up, dense.down)]
    module = kt.QuantisedExperts(dense, *([kaio.weights.from_mxfp4(b, s) for b, s in t] for t in files))
    x = randn(device, 5, 64, dtype=torch.bfloat16)
    with torch.no_grad():
        assert torch.equal(module(x), kt.QuantisedExperts.of_experts(dense, "mxfp4")(x))
    dense = made("mixtral", device, torch.bfloat16)
    codes = [[kt.quantise_fp8(w) for w in t.detach()] for t in (dense.gate_up, dense.down)]
    codes = [tuple(torch.stack(part) for part in zip(*t)) for t in codes]
    module = kt.QuantisedExperts(dense, *codes)
    with torch.no_grad():
        got = module(x)
    want, margin = block("mixtral", dense, x, dict(zip(("gate_up", "down"), module.dequantise(torch.float32))))
    near(got[margin > 1e-4], want[margin > 1e-4], QUANTISED["fp8"])
    with pytest.raises(ValueError, match="argument format"):
        kt.QuantisedExperts.of_experts(dense, "int3")
    with pytest.raises(kaio.InvalidArgument, match="argument down"):
        kt.QuantisedExperts(dense, codes[0], codes[0])
    with pytest.raises(kaio.InvalidArgument, match="scales of argument gate_up"):
        kt.QuantisedExperts(dense, (codes[0][0], codes[0][1][:1]), codes[1])
    with pytest.raises(NotImplementedError, match="has no gradient"):
        module(x.clone().requires_grad_())


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU")
@pytest.mark.parametrize("model", MODELS)
def test_block_of_true_size(model):
    module = made(model, "cuda", torch.bfloat16, sizes=TRUE)
    x = torch.randn(300, module.size, device="cuda", dtype=torch.bfloat16)
    with torch.no_grad():
        got = module(x)
        want, margin = block(model, module, x)
    sure = margin > 1e-4
    assert sure.sum() >= 270
    near(got[sure], want[sure], TOLERANCE[torch.bfloat16])


def gradients(module, x, dy, run):
    """Of x and of all parameters, by name."""
    leaf = x.clone().requires_grad_()
    parameters = dict(module.named_parameters())
    made = torch.autograd.grad(run(leaf), [leaf, *parameters.values()], dy)
    return dict(zip(["x", *parameters], made))


@pytest.mark.parametrize("model", MODELS)
def test_gradients_of_a_block(device, model):
    module = made(model, device, torch.float16)
    x, dy = (randn(device, 14, module.size, dtype=torch.float16) for _ in range(2))
    leaves = {name: p.detach().double().requires_grad_() for name, p in module.named_parameters()}
    leaf = x.double().requires_grad_()
    want, margin = block(model, module, leaf, leaves)
    keep = (margin > 1e-4)[:, None]
    got = gradients(module, x, dy * keep, module)
    expected = dict(zip(["x", *leaves], torch.autograd.grad(want, [leaf, *leaves.values()], (dy * keep).double())))
    for name, t in expected.items():
        assert got[name].dtype == torch.float16
        near(got[name], t, 1e-2)


@pytest.mark.parametrize("model", ["deepseek_v3", "gpt_oss"])
def test_gradients_of_a_compiled_block(device, model):
    module = made(model, device, torch.float16)
    compiled = torch.compile(module, fullgraph=True, backend="aot_eager")
    x, dy = (randn(device, 6, module.size, dtype=torch.float16) for _ in range(2))
    eager, traced = gradients(module, x, dy, module), gradients(module, x, dy, compiled)
    for name, t in eager.items():
        near(traced[name], t, 1e-2)


@pytest.mark.parametrize("model", ["deepseek_v3", "gpt_oss"])
def test_compiled_block(device, model):
    module = made(model, device, torch.float16)
    compiled = torch.compile(module, fullgraph=True, backend="aot_eager", dynamic=True)
    with torch.no_grad():
        for tokens in (5, 9):
            x = randn(device, tokens, module.size, dtype=torch.float16)
            torch.testing.assert_close(compiled(x), module(x), rtol=1e-2, atol=1e-2)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU")
@pytest.mark.parametrize("model", MODELS)
def test_graph_of_a_block(model):
    module = made(model, "cuda", torch.bfloat16)
    x = torch.randn(40, module.size, device="cuda", dtype=torch.bfloat16)
    with torch.no_grad():
        module(x)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            out = module(x)
        for _ in range(3):
            x.normal_()
            graph.replay()
            assert torch.equal(out, module(x))


def test_module(device):
    module = made("deepseek_v3", device, torch.bfloat16)
    assert sorted(module.state_dict()) == ["choice_bias", "down", "gate_up", "router", "shared_down", "shared_gate", "shared_up"]
    assert "64, 32, experts=32, k=8, shared=40" in repr(module)
    assert sorted(n for n, _ in made("gpt_oss", device, torch.bfloat16).named_parameters()) == [
        "down", "down_bias", "gate_up", "gate_up_bias", "router", "router_bias"]  # fmt: skip
    with pytest.raises(ValueError, match="argument model"):
        kt.Experts.of_model("llama", 8, 8, experts=2, k=1)


# ---- Operators and errors


def test_operators(device):
    check, ops = torch.library.opcheck, torch.ops.kaio
    logits, bias = randn(device, 5, 8), randn(device, 8)
    check(ops.topk_router.default, (logits, 2, "softmax", None, 1, 1, True, True, 1.0))
    check(ops.topk_router.default, (logits.t().contiguous().t(), 2, "sigmoid", bias, 4, 2, False, False, 2.0))
    indices, weights = kt.topk_router(logits, 2)
    check(ops.sort_by_expert.default, (indices, 8))
    routed = kt.sort_by_expert(indices, 8)
    y = randn(device, 10, 16, dtype=torch.bfloat16)
    check(ops.combine_experts.default, (y, weights, routed.positions, None, torch.bfloat16))
    check(ops.combine_experts.default, (y, weights, routed.positions, y[:5], torch.float32))
    w, bias = randn(device, 8, 24, 16, dtype=torch.bfloat16).mT, randn(device, 8, 24)
    check(ops.matmul_grouped.default, (y, w, routed.offsets, None, None, torch.float32))
    check(ops.matmul_grouped.default, (y[:5], w, routed.offsets, routed.tokens, bias, torch.bfloat16))
    dc = randn(device, 10, 24, dtype=torch.bfloat16)
    check(ops.matmul_grouped_backward.default, (dc, y, w, routed.offsets, True, True))
    check(ops.matmul_grouped_backward.default, (dc, y, w.contiguous(), routed.offsets, False, True))
    check(ops.matmul_grouped_backward.default, (dc, y, w, routed.offsets, True, False))
    check(ops.gate_up_grouped.default, (y, w, w, routed.offsets, None, None, bias, "silu", 1.702, 7.0, 1.0))
    check(ops.gate_up_grouped.default, (y[:5], w, w, routed.offsets, routed.tokens, bias, bias, "gelu", 1.0, 0.0, 0.0))


def test_errors(device):
    logits, y = randn(device, 5, 8), randn(device, 10, 16, dtype=torch.bfloat16)
    indices, weights = kt.topk_router(logits, 2)
    routed = kt.sort_by_expert(indices, 8)
    b = randn(device, 8, 16, 24, dtype=torch.bfloat16)
    for call, text in (
        (lambda: kt.topk_router(logits[0], 2), "argument logits"), (lambda: kt.topk_router(logits, 33), "argument k"),
        (lambda: kt.topk_router(logits, 9), "k"), (lambda: kt.topk_router(logits, 2, score="relu"), "argument score"),
        (lambda: kt.topk_router(logits, 2, groups=3), "groups"), (lambda: kt.topk_router(logits, 2, bias=logits[0, :7]), "bias"),
        (lambda: kt.sort_by_expert(indices[0], 8), "argument indices"), (lambda: kt.sort_by_expert(indices, 0), "argument experts"),
        (lambda: kt.sort_by_expert(weights, 8), "indices"), (lambda: kt.gather_tokens(y[0], routed), "argument x"),
        (lambda: kt.combine_experts(y[0], weights, routed.positions), "argument y"),
        (lambda: kt.combine_experts(y, weights[:, :1], routed.positions), "argument weights"),
        (lambda: kt.combine_experts(y, weights, routed.positions, residual=y), "argument residual"),
        (lambda: kt.combine_experts(y, weights, routed.positions, dtype=torch.float16), "out"),
        (lambda: kt.matmul_grouped(y, b[0], routed.offsets), "argument b"),
        (lambda: kt.matmul_grouped(y, b[:7], routed.offsets), "offsets|b"),
        (lambda: kt.matmul_grouped(y.float(), b.float(), routed.offsets), "a"),
        (lambda: kt.matmul_grouped(y, b, routed.offsets, bias=logits), "bias"),
        (lambda: kt.gate_up_grouped(y, b, b[0], routed.offsets), "argument up"),
        (lambda: kt.gate_up_grouped(y, b, b[:, :, :8], routed.offsets), "up"),
        (lambda: kt.gate_up_grouped(y, b, b, routed.offsets, alpha=0.0), "alpha"),
        (lambda: kt.gate_up_grouped(y, b, b.clone().requires_grad_(), routed.offsets), "gradient"),
        (lambda: kt.Experts(8, 8, experts=2, k=1, activation="relu2"), "argument activation"),
        (lambda: kt.matmul_grouped(y, b.clone().requires_grad_(), routed.offsets, bias=logits), "bias"),
    ):  # fmt: skip
        with pytest.raises((ValueError, TypeError, kaio.InvalidArgument), match=text):
            call()
