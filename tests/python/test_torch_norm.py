"""kaio.torch.rms_norm, rms_norm_codes and RMSNorm against torch's arithmetic: results, gradients, operators, compiled calls."""

import pytest

torch = pytest.importorskip("torch")

import kaio  # noqa: E402
import kaio.torch as kt  # noqa: E402


def formula(x, weight, eps, residual=None, offset=0.0):
    h = x if residual is None else (x.float() + residual.float()).to(x.dtype)
    f = h.float()
    return (f * torch.rsqrt(f.square().mean(-1, keepdim=True) + eps) * (weight.float() + offset)).to(x.dtype), h


def tensors(device, *shape, dtype=torch.float32, seed=0, residual=True):
    g = torch.Generator().manual_seed(seed)
    made = [torch.randn(*shape, generator=g), torch.randn(shape[-1], generator=g)]
    if residual:
        made.append(torch.randn(*shape, generator=g))
    return [t.to(device, dtype) for t in made]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
@pytest.mark.parametrize("shape", [(24,), (3, 64), (2, 3, 40), (2, 1, 2, 16), (2, 1, 2, 3, 16), (0, 16), (2, 0, 8)])
def test_results(device, dtype, shape):
    x, weight, residual = tensors(device, *shape, dtype=dtype)
    tolerance = {torch.float32: 1e-5, torch.float16: 2e-3, torch.bfloat16: 2e-2}[dtype]
    for offset in (0.0, 1.0):
        got = kt.rms_norm(x, weight, 1e-5, weight_offset=offset)
        torch.testing.assert_close(got, formula(x, weight, 1e-5, offset=offset)[0], rtol=tolerance, atol=tolerance)
        got, h = kt.rms_norm(x, weight, 1e-5, residual=residual, weight_offset=offset)
        want, sum_ = formula(x, weight, 1e-5, residual, offset)
        torch.testing.assert_close(got, want, rtol=tolerance, atol=tolerance)
        torch.testing.assert_close(h, sum_, rtol=0, atol=0)


def test_views(device):
    x, weight, residual = tensors(device, 12, 32)
    cases = [
        (x[::2, 8:24], weight[8:24], residual[1::2, 8:24]),
        (x.t()[:12, :12], weight[::2][:12], residual.t()[:12, :12]),
        (torch._neg_view(x), torch._neg_view(weight), torch._neg_view(residual)),
        (x[:1].expand(5, 32), weight, residual[:5]),
    ]
    for a, w, r in cases:
        torch.testing.assert_close(kt.rms_norm(a, w), formula(a, w, 1e-6)[0])
        got, h = kt.rms_norm(a, w, residual=r)
        torch.testing.assert_close(got, formula(a, w, 1e-6, r)[0])
        torch.testing.assert_close(h, a + r)


@pytest.mark.parametrize("offset", [0.0, 1.0])
def test_gradients(device, offset):
    x, weight, residual = tensors(device, 3, 8)
    leaves = [t.requires_grad_() for t in (x, weight, residual)]
    assert torch.autograd.gradcheck(
        lambda a, w: kt.rms_norm(a, w, 1e-2, weight_offset=offset), leaves[:2], eps=1e-2, atol=1e-2, rtol=1e-2
    )
    assert torch.autograd.gradcheck(
        lambda a, w, r: kt.rms_norm(a, w, 1e-2, residual=r, weight_offset=offset), leaves, eps=1e-2, atol=1e-2, rtol=1e-2
    )


def test_gradients_equal_those_of_torch(device):
    x, weight, residual = tensors(device, 5, 48)
    kaio_leaves = [t.clone().requires_grad_() for t in (x, weight, residual)]
    torch_leaves = [t.clone().requires_grad_() for t in (x, weight, residual)]
    for function, (a, w, r) in ((kt.rms_norm, kaio_leaves), (lambda a, w, residual: formula(a, w, 1e-6, residual), torch_leaves)):
        y, h = function(a, w, residual=r)
        (y.sin().sum() + (h * 0.3).cos().sum()).backward()
    for ours, theirs in zip(kaio_leaves, torch_leaves):
        torch.testing.assert_close(ours.grad, theirs.grad, rtol=1e-4, atol=1e-5)


def test_only_what_needs_a_gradient_gets_one(device):
    x, weight, residual = tensors(device, 4, 16)
    w = weight.clone().requires_grad_()
    kt.rms_norm(x, w).sum().backward()
    assert x.grad is None and w.grad is not None
    r = residual.clone().requires_grad_()
    kt.rms_norm(x, weight, residual=r)[1].sum().backward()
    torch.testing.assert_close(r.grad, torch.ones_like(r))


@pytest.mark.parametrize("dtype", [torch.int8, torch.float8_e4m3fn])
def test_codes(device, dtype):
    for shape in ((16,), (4, 32), (2, 3, 16), (2, 1, 2, 2, 16)):
        x, weight, residual = tensors(device, *shape)
        codes, scales = kt.rms_norm_codes(x, weight, dtype=dtype)
        assert codes.dtype == dtype and codes.shape == x.shape and scales.shape == x.shape[:-1]
        want = formula(x, weight, 1e-6)[0]
        step = want.abs().amax() * (1 / 100 if dtype == torch.int8 else 1 / 12)
        torch.testing.assert_close(codes.float() * scales[..., None], want, rtol=0, atol=float(step))
        codes, scales, h = kt.rms_norm_codes(x, weight, residual=residual, dtype=dtype)
        torch.testing.assert_close(h, x + residual)
        want = formula(x, weight, 1e-6, residual)[0]
        torch.testing.assert_close(codes.float() * scales[..., None], want, rtol=0, atol=float(step) * 1.5)


@pytest.mark.parametrize("dtype", [torch.int8, torch.float8_e4m3fn])
def test_codes_of_groups(device, dtype):
    for shape in ((200,), (3, 300), (2, 1, 2, 2, 128)):
        x, weight, residual = tensors(device, *shape)
        y, h = kt.rms_norm(x, weight, residual=residual)
        codes, scales, got_h = kt.rms_norm_codes(x, weight, residual=residual, dtype=dtype, groups=True)
        assert scales.shape == (*shape[:-1], -(-shape[-1] // 128))
        torch.testing.assert_close(got_h, h, rtol=0, atol=0)
        blocks = torch.nn.functional.pad(y, (0, -y.shape[-1] % 128)).unflatten(-1, (-1, 128))
        greatest = 127 if dtype == torch.int8 else 448
        torch.testing.assert_close(scales, blocks.abs().amax(-1) / greatest, rtol=1e-6, atol=0)
        step = scales * (0.51 if dtype == torch.int8 else 16.1)  # half of the largest distance of two codes
        restored = codes.float() * scales.repeat_interleave(128, -1)[..., : shape[-1]]
        assert bool(((restored - y).abs() <= step.repeat_interleave(128, -1)[..., : shape[-1]]).all())
    compiled = torch.compile(lambda a: kt.rms_norm_codes(a, weight, dtype=dtype, groups=True), fullgraph=True, backend="aot_eager")
    for got, want in zip(compiled(x), kt.rms_norm_codes(x, weight, dtype=dtype, groups=True)):
        torch.testing.assert_close(got.float(), want.float(), rtol=0, atol=0)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_modulated(device, dtype):
    x, weight, residual = tensors(device, 2, 3, 32, dtype=dtype)
    gate, scale, shift = (t[:, :1] for t in (residual * 0.5, x.sin(), x.cos()))  # one row for each of a batch
    tolerance = {torch.float32: 1e-5, torch.bfloat16: 2e-2}[dtype]
    want = lambda h: (formula(h, weight, 1e-6)[0].float() * (1 + scale.float()) + shift.float()).to(dtype)  # noqa: E731
    torch.testing.assert_close(kt.rms_norm(x, weight, scale=scale, shift=shift), want(x), rtol=tolerance, atol=2 * tolerance)
    got, h = kt.rms_norm(x, weight, residual=residual, gate=gate, scale=scale, shift=shift)
    torch.testing.assert_close(h, (x.float() * gate.float() + residual.float()).to(dtype), rtol=tolerance, atol=tolerance)
    torch.testing.assert_close(got, want(h), rtol=tolerance, atol=4 * tolerance)
    compiled = torch.compile(lambda a: kt.rms_norm(a, weight, scale=scale), fullgraph=True, backend="aot_eager")
    torch.testing.assert_close(compiled(x), kt.rms_norm(x, weight, scale=scale), rtol=0, atol=0)


def test_casting(device):
    x, weight, _ = tensors(device, 40, 64, dtype=torch.bfloat16)
    f = x.float()
    once = (f * torch.rsqrt(f.square().mean(-1, keepdim=True) + 1e-6)).to(x.dtype)
    different = kt.rms_norm(x, weight, casting="llama") != once * weight
    assert different.float().mean() < 0.01  # but for sums on the edge of a rounding
    torch.testing.assert_close(kt.rms_norm(x, weight.float()), kt.rms_norm(x, weight), rtol=0, atol=0)


def test_operators(device):
    x, weight, residual = tensors(device, 3, 16)
    torch.library.opcheck(torch.ops.kaio.rms_norm_modulated.default, (x, weight, residual, residual, x, x[:1], "llama", 1e-6, 0.0))
    torch.library.opcheck(torch.ops.kaio.rms_norm.default, (x, weight, 1e-6, 0.0))
    torch.library.opcheck(torch.ops.kaio.rms_norm_residual.default, (x.t().contiguous().t(), weight, residual, 1e-6, 1.0))
    torch.library.opcheck(torch.ops.kaio.rms_norm_codes.default, (x, weight, residual, 1e-6, 0.0, torch.int8))
    torch.library.opcheck(torch.ops.kaio.rms_norm_codes.default, (x, weight, None, 1e-6, 0.0, torch.int8))
    torch.library.opcheck(torch.ops.kaio.rms_norm_codes.default, (x, weight, None, 1e-6, 0.0, torch.int8, True))
    backward = torch.ops.kaio.rms_norm_backward.default
    torch.library.opcheck(backward, (x, weight, residual, residual.cos(), 1e-6, 1.0, True))
    torch.library.opcheck(backward, (x.t().contiguous().t(), weight, residual, None, 1e-6, 0.0, False))


def test_compiled(device):
    x, weight, residual = tensors(device, 4, 16)

    def step(a, w, r):
        y, h = kt.rms_norm(a, w, residual=r)
        return kt.rms_norm(y + h, w, weight_offset=1.0)

    compiled = torch.compile(step, fullgraph=True, backend="aot_eager")
    with torch.no_grad():
        torch.testing.assert_close(compiled(x, weight, residual), step(x, weight, residual))
    both = []
    for function in (step, compiled):
        leaves = [t.clone().requires_grad_() for t in (x, weight, residual)]
        function(*leaves).sin().sum().backward()
        both.append([t.grad for t in leaves])
    for eager, traced in zip(*both):
        torch.testing.assert_close(traced, eager)


def test_module(device):
    norm = kt.RMSNorm(16, eps=1e-5, weight_offset=1.0, device=device)
    x, _, residual = tensors(device, 4, 16)
    torch.testing.assert_close(norm(x), torch.nn.functional.rms_norm(x, (16,), eps=1e-5))
    y, h = norm(x, residual)
    torch.testing.assert_close(y, torch.nn.functional.rms_norm(h, (16,), eps=1e-5))
    assert norm(x.to(torch.bfloat16)).dtype == torch.float32  # the wider of x and the weight
    assert "weight_offset=1.0" in repr(norm) and list(norm.state_dict()) == ["weight"]


def test_errors(device):
    x, weight, residual = tensors(device, 4, 16)
    with pytest.raises(ValueError, match="weight"):
        kt.rms_norm(x, weight[:8])
    with pytest.raises(ValueError, match="residual"):
        kt.rms_norm(x, weight, residual=residual[:2])
    with pytest.raises(ValueError, match="argument x"):
        kt.rms_norm(x[0, 0], weight)
    with pytest.raises((kaio.InvalidArgument, TypeError), match="x"):
        kt.rms_norm(x.double(), weight.double())
    with pytest.raises(kaio.InvalidArgument, match="weight"):
        kt.rms_norm(x, weight.half())
    with pytest.raises(kaio.InvalidArgument, match="epsilon"):
        kt.rms_norm(x, weight, -1.0)
    with pytest.raises(ValueError, match="casting"):
        kt.rms_norm(x, weight, casting="qwen")
    with pytest.raises(ValueError, match="scale"):
        kt.rms_norm(x, weight, scale=weight[:8])
    with pytest.raises(ValueError, match="gradient"):
        kt.rms_norm(x, weight.clone().requires_grad_(), shift=x)
    with pytest.raises(ValueError, match="dtype"):
        kt.rms_norm_codes(x, weight, dtype=torch.float16)
    with pytest.raises(ValueError, match="gradient"):
        kt.rms_norm_codes(x.requires_grad_(), weight)


@pytest.mark.skipif(not hasattr(torch.library, "register_vmap"), reason="this torch has no register_vmap")
def test_vmap_is_refused(device):
    x, weight, _ = tensors(device, 3, 2, 16)
    with pytest.raises(NotImplementedError, match="rms_norm"):
        torch.vmap(lambda a: kt.rms_norm(a, weight))(x)
