"""kaio.torch.rotary, rotary_varlen and rotary_table against torch's arithmetic: results, gradients, operators, compiled calls."""

import pytest

torch = pytest.importorskip("torch")

import kaio  # noqa: E402
import kaio.torch as kt  # noqa: E402


def formula(x, cos, sin, positions, interleaved=False):
    """x: (..., tokens, heads, size); positions: (..., tokens)"""
    pairs = cos.shape[1]
    c, s = (t[positions.long()].unsqueeze(-2).float() for t in (cos, sin))
    f = x.float()
    head, rest = f[..., : 2 * pairs], f[..., 2 * pairs :]
    if interleaved:
        a, b = head[..., 0::2], head[..., 1::2]
        turned = torch.stack((a * c - b * s, b * c + a * s), dim=-1).flatten(-2)
    else:
        a, b = head[..., :pairs], head[..., pairs:]
        turned = torch.cat((a * c - b * s, b * c + a * s), dim=-1)
    return torch.cat((turned, rest), dim=-1).to(x.dtype)


def sample(device, *shape, dtype=torch.float32, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed)).to(device, dtype)


def numbers(device, values, dtype=torch.int32):
    return torch.tensor(values, dtype=dtype, device=device)


def test_tables(device):
    cos, sin = kt.rotary_table(12, 4, base=500.0, first_position=3, device=device)
    angle = torch.arange(3, 15, dtype=torch.float64)[:, None] * 500.0 ** (-torch.arange(4, dtype=torch.float64) / 4)
    torch.testing.assert_close(cos.cpu(), angle.cos().float(), rtol=0, atol=1e-6)
    torch.testing.assert_close(sin.cpu(), angle.sin().float(), rtol=0, atol=1e-6)

    positions, halved = numbers(device, [7, 0, 2], torch.int64), kaio.RotaryScaling(kind="linear", factor=2.0)
    cos, sin = kt.rotary_table(None, 4, positions=positions, scaling=halved, dtype=torch.bfloat16)
    assert cos.dtype == torch.bfloat16 and cos.device.type == device
    angle = torch.tensor([7.0, 0, 2])[:, None] / 2 * 10000.0 ** (-torch.arange(4) / 4)
    torch.testing.assert_close(cos.float().cpu(), angle.cos(), rtol=0, atol=1e-2)

    several = numbers(device, [[1, 2, 3], [4, 5, 6], [7, 8, 9]])
    cos, _ = kt.rotary_table(None, 4, positions=several, sections=kaio.RotarySections(pairs=[2, 1, 1]))
    angle = torch.stack([several[a].cpu() * 10000.0 ** (-i / 4) for i, a in enumerate((0, 0, 1, 2))], dim=1)
    torch.testing.assert_close(cos.cpu(), angle.cos(), rtol=0, atol=1e-6)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
@pytest.mark.parametrize("interleaved", [False, True])
def test_results(device, dtype, interleaved):
    x = sample(device, 2, 5, 3, 16, dtype=dtype)
    tolerance = {torch.float32: 1e-5, torch.float16: 2e-3, torch.bfloat16: 2e-2}[dtype]
    for pairs in (8, 4):
        cos, sin = kt.rotary_table(20, pairs, device=device)
        order = torch.arange(5, device=device).expand(2, 5)
        own = numbers(device, [[9, 1, 4, 0, 3], [2, 2, 19, 7, 5]])
        offsets = numbers(device, [3, 11])
        for keywords, positions in (({}, order), ({"positions": own}, own), ({"positions": own[0].long()}, own[0].expand(2, 5)),
                                    ({"offsets": offsets}, order + offsets[:, None])):  # fmt: skip
            got = kt.rotary(x, cos, sin, interleaved=interleaved, **keywords)
            torch.testing.assert_close(got, formula(x, cos, sin, positions, interleaved), rtol=tolerance, atol=tolerance)
            back = kt.rotary(got, cos, sin, interleaved=interleaved, inverse=True, **keywords)
            torch.testing.assert_close(back, x, rtol=2 * tolerance, atol=2 * tolerance)


def test_packed_sequences(device):
    x = sample(device, 7, 2, 8)
    cos, sin = kt.rotary_table(32, 4, device=device)
    cu = numbers(device, [0, 3, 7])
    positions = numbers(device, [0, 1, 2, 0, 1, 2, 3])
    torch.testing.assert_close(kt.rotary_varlen(x, cos, sin, cu_seqlens=cu), formula(x, cos, sin, positions))
    torch.testing.assert_close(kt.rotary_varlen(x, cos, sin, positions=positions), formula(x, cos, sin, positions))
    offsets = numbers(device, [10, 20])
    shifted = positions + numbers(device, [10, 10, 10, 20, 20, 20, 20])
    torch.testing.assert_close(kt.rotary_varlen(x, cos, sin, cu_seqlens=cu, offsets=offsets), formula(x, cos, sin, shifted))


def test_views(device):
    cos, sin = kt.rotary_table(8, 4, device=device)
    order = torch.arange(5, device=device).expand(2, 5)
    heads_first = sample(device, 2, 3, 5, 8).transpose(1, 2)
    along_tokens = sample(device, 2, 8, 3, 5).permute(0, 3, 2, 1)
    for x in (heads_first, along_tokens, torch._neg_view(heads_first), heads_first[:, :, ::2]):
        torch.testing.assert_close(kt.rotary(x, cos, sin), formula(x, cos, sin, order))
    empty = sample(device, 0, 5, 3, 8)
    assert kt.rotary(empty, cos, sin).shape == empty.shape


def test_inplace_and_out(device):
    x = sample(device, 2, 5, 3, 8)
    cos, sin = kt.rotary_table(8, 4, device=device)
    want = kt.rotary(x, cos, sin)
    out = torch.empty(2, 3, 5, 8, device=device).transpose(1, 2)
    assert kt.rotary(x, cos, sin, out=out) is out
    torch.testing.assert_close(out, want, rtol=0, atol=0)
    copy = x.clone()
    version = copy._version
    assert kt.rotary(copy, cos, sin, inplace=True) is copy and copy._version > version
    torch.testing.assert_close(copy, want, rtol=0, atol=0)
    with torch.inference_mode():
        copy = x.clone()
        kt.rotary(copy, cos, sin, inplace=True)
        torch.testing.assert_close(copy, want, rtol=0, atol=0)


@pytest.mark.parametrize("interleaved", [False, True])
def test_gradients(device, interleaved):
    x = sample(device, 1, 3, 1, 8).requires_grad_()
    cos, sin = kt.rotary_table(8, 3, device=device)
    positions = numbers(device, [4, 0, 2])
    assert torch.autograd.gradcheck(
        lambda t: kt.rotary(t, cos, sin, positions=positions, interleaved=interleaved), (x,), eps=1e-2, atol=1e-2, rtol=1e-2
    )
    y = sample(device, 4, 2, 8, seed=1).requires_grad_()
    cu = numbers(device, [0, 1, 4])
    weights = sample(device, 4, 2, 8, seed=2)
    (kt.rotary_varlen(y, cos, sin, cu_seqlens=cu, interleaved=interleaved) * weights).sum().backward()
    torch.testing.assert_close(y.grad, kt.rotary_varlen(weights, cos, sin, cu_seqlens=cu, interleaved=interleaved, inverse=True))
    assert torch.autograd.gradgradcheck(
        lambda t: kt.rotary(t, cos, sin, positions=positions).square(), (x,), eps=1e-2, atol=3e-2, rtol=3e-2
    )


def test_operators(device):
    x = sample(device, 2, 3, 2, 8)
    cos, sin = kt.rotary_table(8, 4, device=device)
    rest = (cos, sin, numbers(device, [0, 5, 2]), None, None, False, False)
    torch.library.opcheck(torch.ops.kaio.rotary.default, (x, *rest))
    torch.library.opcheck(torch.ops.kaio.rotary.default, (x[0], cos, sin, None, None, numbers(device, [0, 1, 3]), True, False))
    torch.library.opcheck(torch.ops.kaio.rotary_.default, (x.clone(), *rest))
    torch.library.opcheck(torch.ops.kaio.rotary_out.default, (x, *rest, torch.empty_like(x)))
    torch.library.opcheck(
        torch.ops.kaio.rotary_table.default, (cos, sin, 100.0, 0, None, "none", True, [0.0] * 10, None, [], [], False)
    )


def test_compiled(device):
    x = sample(device, 2, 5, 3, 8)

    def step(t):
        cos, sin = kt.rotary_table(8, 4, device=t.device)
        once = kt.rotary(t, cos, sin)
        return kt.rotary(once * 2, cos, sin, interleaved=True)

    compiled = torch.compile(step, fullgraph=True, backend="aot_eager")
    torch.testing.assert_close(compiled(x), step(x))
    grads = []
    for function in (step, compiled):
        leaf = x.clone().requires_grad_()
        function(leaf).sin().sum().backward()
        grads.append(leaf.grad)
    torch.testing.assert_close(grads[0], grads[1])

    def inplace(t):
        cos, sin = kt.rotary_table(8, 4, device=t.device)
        u = t + 1
        kt.rotary(u, cos, sin, inplace=True)
        out = torch.empty_like(u)
        return kt.rotary(u, cos, sin, out=out)

    torch.testing.assert_close(torch.compile(inplace, fullgraph=True, backend="aot_eager")(x), inplace(x))


def test_errors(device):
    x = sample(device, 2, 5, 3, 8)
    cos, sin = kt.rotary_table(8, 4, device=device)
    with pytest.raises(ValueError, match="argument x"):
        kt.rotary(x[0], cos, sin)
    with pytest.raises(ValueError, match="argument x"):
        kt.rotary_varlen(x, cos, sin)
    with pytest.raises(ValueError, match="gradient"):
        kt.rotary(x.clone().requires_grad_(), cos, sin, inplace=True)
    with pytest.raises(ValueError, match="gradient"):
        kt.rotary(x, cos.clone().requires_grad_(), sin)
    with pytest.raises(ValueError, match="out"):
        kt.rotary(x, cos, sin, inplace=True, out=x)
    with pytest.raises(kaio.InvalidArgument, match="cos"):
        kt.rotary(x[..., :4], cos, sin)
    with pytest.raises(ValueError, match="rows"):
        kt.rotary_table(None, 4)


@pytest.mark.skipif(not hasattr(torch.library, "register_vmap"), reason="this torch has no register_vmap")
def test_vmap_is_refused(device):
    cos, sin = kt.rotary_table(8, 4, device=device)
    with pytest.raises(NotImplementedError, match="rotary"):
        torch.vmap(lambda t: kt.rotary(t, cos, sin))(sample(device, 2, 2, 5, 3, 8))
