"""kaio.torch's layer norm, softmax, loss, activations, embedding and sampling against torch."""

import pytest

torch = pytest.importorskip("torch")

import kaio  # noqa: E402
import kaio.torch as kt  # noqa: E402
from torch.nn import functional as F  # noqa: E402

TOLERANCE = {torch.float32: 1e-5, torch.float16: 4e-3, torch.bfloat16: 3e-2}
TYPES = list(TOLERANCE)
FORMULAS = {
    "silu": F.silu,
    "gelu": F.gelu,
    "gelu_tanh": lambda x: F.gelu(x, approximate="tanh"),
    "gelu_sigmoid": lambda x: x * torch.sigmoid(1.702 * x),
    "relu": F.relu,
    "relu2": lambda x: F.relu(x).square(),
}


def randn(device, *shape, dtype=torch.float32, seed=0):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed)).to(device, dtype)


def same(got, want, factor=1.0):
    tolerance = TOLERANCE[got.dtype] * factor
    torch.testing.assert_close(got, want.to(got.dtype), rtol=tolerance, atol=tolerance)


def same_gradients(function, reference, leaves):
    """The gradients of both functions by torch's own autograd."""
    both = []
    for f in (function, reference):
        own = [t.detach().clone().requires_grad_() for t in leaves]
        y = f(*own)
        (y if isinstance(y, torch.Tensor) else y[0] + 0.5 * y[1]).float().sin().sum().backward()
        both.append([t.grad for t in own])
    for ours, theirs in zip(*both):
        same(ours, theirs, 10)


# ---- Layer norm


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("shape", [(24,), (3, 64), (2, 3, 40), (2, 1, 2, 3, 16), (0, 16), (2, 0, 8)])
def test_layer_norm(device, dtype, shape):
    x, residual = randn(device, *shape, dtype=dtype), randn(device, *shape, dtype=dtype, seed=1)
    weight, bias = randn(device, shape[-1], dtype=dtype, seed=2), randn(device, shape[-1], dtype=dtype, seed=3)
    want = lambda h, w=weight, b=bias: F.layer_norm(h.float(), shape[-1:], w, b)  # noqa: E731
    same(kt.layer_norm(x, weight.float(), bias.float()), want(x, weight.float(), bias.float()))
    same(kt.layer_norm(x, weight, bias), want(x, weight.float(), bias.float()))
    same(kt.layer_norm(x), want(x, None, None))
    y, h = kt.layer_norm(x, weight, residual=residual)
    same(h, x + residual)
    same(y, want(h, weight.float(), None))


def test_layer_norm_of_views(device):
    x = randn(device, 12, 32)
    for a in (x[::2, 8:24], x.t()[:12, :12], torch._neg_view(x), x[:1].expand(5, 32)):
        same(kt.layer_norm(a), F.layer_norm(a, a.shape[-1:]))


def test_gradients_of_layer_norm(device):
    x, residual, weight, bias = (randn(device, *s, seed=i) for i, s in enumerate([(3, 8), (3, 8), (8,), (8,)]))
    leaves = [t.requires_grad_() for t in (x, weight, bias, residual)]
    assert torch.autograd.gradcheck(
        lambda a, w, b, r: kt.layer_norm(a, w, b, 1e-2, residual=r), leaves, eps=1e-2, atol=1e-2, rtol=1e-2
    )
    same_gradients(kt.layer_norm, lambda a, w, b: F.layer_norm(a, (8,), w, b), leaves[:3])
    same_gradients(kt.layer_norm, lambda a: F.layer_norm(a, (8,)), leaves[:1])
    only = weight.detach().clone().requires_grad_()
    kt.layer_norm(x.detach(), only).sum().backward()
    assert only.grad is not None


def test_layer_norm_module(device):
    norm, x, residual = kt.LayerNorm(16, device=device), randn(device, 4, 16), randn(device, 4, 16, seed=1)
    torch.nn.init.normal_(norm.weight)
    theirs = torch.nn.LayerNorm(16, device=device)
    theirs.load_state_dict(norm.state_dict())
    same(norm(x), theirs(x))
    y, h = norm(x, residual)
    same(y, theirs(h))
    assert norm(x.half()).dtype == torch.float16 and norm.half()(x).dtype == torch.float32
    assert list(kt.LayerNorm(16, bias=False).state_dict()) == ["weight"]
    assert "16, eps=1e-05" in repr(kt.LayerNorm(16, elementwise_affine=False))


@pytest.mark.parametrize("dtype", TYPES)
def test_gradients_of_norms_by_type(device, dtype):
    x, residual = randn(device, 5, 48, dtype=dtype), randn(device, 5, 48, dtype=dtype, seed=1)
    weight, bias = randn(device, 48, seed=2), randn(device, 48, seed=3)

    upstream = [randn(device, 5, 48, dtype=dtype, seed=i) for i in (4, 5)]
    cases = [
        (lambda a, r, w, b: kt.layer_norm(a, w, b, residual=r), lambda h, w, b: F.layer_norm(h, (48,), w, b)),
        (lambda a, r, w, b: kt.rms_norm(a, w + b, residual=r), lambda h, w, b: F.rms_norm(h, (48,), w + b, 1e-6)),
    ]
    for ours, theirs in cases:
        own = [t.clone().requires_grad_() for t in (x, residual, weight, bias)]
        torch.autograd.backward(ours(*own), upstream)
        h = (x + residual).float().requires_grad_()
        others = [t.clone().requires_grad_() for t in (weight, bias)]
        torch.autograd.backward((theirs(h, *others), h * 1), [t.float() for t in upstream])
        same(own[0].grad, h.grad)
        assert torch.equal(own[0].grad, own[1].grad)
        for got, want in zip(own[2:], others):
            same(got.grad, want.grad, 10)
    w, empty = weight.to(dtype).requires_grad_(), x[:0].clone().requires_grad_()
    (kt.rms_norm(empty, w).sum() + kt.layer_norm(empty, w).sum()).backward()
    assert w.grad.dtype == dtype and not w.grad.any() and empty.grad.shape == (0, 48)


# ---- Softmax and cross entropy


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("name", ["softmax", "log_softmax"])
def test_softmax(device, dtype, name):
    ours, theirs = getattr(kt, name), getattr(F, name)
    for shape in ((24,), (3, 64), (2, 3, 40), (2, 1, 2, 3, 16), (0, 16), (2, 0)):
        x = randn(device, *shape, dtype=dtype)
        for dim in {-1, 0, len(shape) // 2}:
            same(ours(x, dim), theirs(x.float(), dim))
            same_gradients(lambda a: ours(a, dim), lambda a: theirs(a.float(), dim), [x])
    packed = randn(device, 6, 40, dtype=dtype)
    same(ours(packed[::2, 8:24]), theirs(packed[::2, 8:24].float(), -1))
    same(ours(torch._neg_view(packed)), theirs(-packed.float(), -1))


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
def test_cross_entropy(device, dtype, reduction):
    weight = randn(device, 30, seed=2).abs() + 0.5
    for shape in ((30,), (7, 30), (2, 30, 3), (2, 30, 2, 2)):
        logits, rows = randn(device, *shape, dtype=dtype), shape[:1] + shape[2:] if len(shape) > 1 else ()
        target = torch.randint(30, rows, generator=torch.Generator().manual_seed(1)).to(device)
        if rows:
            target.view(-1)[2] = -100
        for options in ({}, {"weight": weight, "label_smoothing": 0.1}):
            want = F.cross_entropy(logits.float(), target, reduction=reduction, **options)
            got = kt.cross_entropy(logits, target, reduction=reduction, **options)
            assert got.dtype == torch.float32
            torch.testing.assert_close(got, want, rtol=2e-5, atol=2e-5)
            same_gradients(lambda a: kt.cross_entropy(a, target, reduction=reduction, **options),
                           lambda a: F.cross_entropy(a.float(), target, reduction=reduction, **options), [logits])  # fmt: skip
    logits, target = randn(device, 7, 30), torch.tensor([3, 0, 5, 29, 7, 7, 5], device=device, dtype=torch.int32)

    def formula(a):
        z, used = 4 * torch.tanh(a / 4), target != 5
        loss = F.cross_entropy(z, target.long(), reduction="none") + 0.01 * z.logsumexp(-1).square()
        loss = loss * used
        return loss if reduction == "none" else loss.sum() / (used.sum() if reduction == "mean" else 1)

    ours = lambda a: kt.cross_entropy(a, target, None, 5, reduction, z_loss=0.01, softcap=4.0)  # noqa: E731
    torch.testing.assert_close(ours(logits), formula(logits), rtol=2e-5, atol=2e-5)
    same_gradients(ours, formula, [logits])


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
def test_linear_cross_entropy(device, dtype, reduction):
    head, bias = randn(device, 70, 24, dtype=dtype), randn(device, 70, dtype=dtype, seed=3)
    weight = randn(device, 70, seed=2).abs() + 0.5
    for shape in ((24,), (7, 24), (2, 3, 24)):
        x = randn(device, *shape, dtype=dtype)
        target = torch.randint(70, shape[:-1], generator=torch.Generator().manual_seed(1)).to(device)
        if target.dim():
            target.view(-1)[2] = -100
        for options in ({}, {"weight": weight, "label_smoothing": 0.1}):

            def theirs(a, w, b):
                z = F.linear(a.float(), w.float(), b.float())
                rows = z.reshape(-1, 70)
                loss = F.cross_entropy(rows, target.reshape(-1), reduction=reduction, **options)
                return loss.reshape(target.shape) if reduction == "none" else loss

            ours = lambda a, w, b: kt.linear_cross_entropy(a, w, target, linear_bias=b, reduction=reduction, **options)  # noqa: E731
            got = ours(x, head, bias)
            assert got.dtype == torch.float32
            torch.testing.assert_close(got, theirs(x, head, bias), rtol=2e-5, atol=2e-5)
            same_gradients(ours, theirs, [x, head, bias])
    x, target = randn(device, 7, 24, dtype=dtype), torch.tensor([3, 0, 5, 29, 7, 7, 5], device=device, dtype=torch.int32)

    def formula(a, w):
        z, used = 4 * torch.tanh(0.5 * a.float() @ w.float().T / 4), target != 5
        loss = F.cross_entropy(z, target.long(), reduction="none") + 0.01 * z.logsumexp(-1).square()
        loss = loss * used
        return loss if reduction == "none" else loss.sum() / (used.sum() if reduction == "mean" else 1)

    ours = lambda a, w: kt.linear_cross_entropy(  # noqa: E731
        a, w, target, ignore_index=5, reduction=reduction, z_loss=0.01, softcap=4.0, logit_scale=0.5
    )
    torch.testing.assert_close(ours(x, head), formula(x, head), rtol=2e-5, atol=2e-5)
    same_gradients(ours, formula, [x, head])
    frozen = x.clone().requires_grad_()
    ours(frozen, head).sum().backward()  # without a gradient of the head
    assert frozen.grad.shape == x.shape and head.grad is None


# ---- Activations


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("kind", sorted(FORMULAS))
def test_activations(device, kind, dtype):
    f = FORMULAS[kind]
    for shape in ((), (7,), (3, 20), (2, 1, 2, 1, 2, 3), (0, 4)):
        x, up = randn(device, *shape, dtype=dtype), randn(device, *shape, dtype=dtype, seed=1)
        same(kt.activation(x, kind), f(x.float()))
        same(kt.gated(x, up, kind), f(x.float()) * up.float())
        same_gradients(lambda a: kt.activation(a, kind), f, [x])
        same_gradients(lambda a, b: kt.gated(a, b, kind), lambda a, b: f(a) * b, [x, up])


def test_gates_of_views(device):
    packed = randn(device, 4, 20).requires_grad_()
    gate, up = packed[:, ::2], packed[:, 1::2]
    got = kt.gated(gate, up, "gelu_sigmoid", limit=0.75, up_offset=1.0)
    formula = lambda g, u: FORMULAS["gelu_sigmoid"](g.clamp(max=0.75)) * (u.clamp(-0.75, 0.75) + 1)  # noqa: E731
    same(got, formula(gate, up))
    same_gradients(lambda p: kt.gated(p[:, :10], p[:, 10:], limit=0.75), lambda p: F.silu(p[:, :10].clamp(max=0.75)) *
                   p[:, 10:].clamp(-0.75, 0.75), [packed])  # fmt: skip
    same(kt.activation(torch._neg_view(packed.detach()).t()), F.silu(-packed.detach().t()))


def test_gradients_of_activations(device):
    x, up = (randn(device, 3, 5, seed=i).requires_grad_() for i in range(2))
    assert torch.autograd.gradcheck(lambda a: kt.activation(a, "gelu"), [x], eps=1e-2, atol=1e-2, rtol=1e-2)
    assert torch.autograd.gradcheck(lambda a, b: kt.gated(a, b, "silu", up_offset=1.0), [x, up], eps=1e-2, atol=1e-2, rtol=1e-2)
    kt.gated(x, up.detach()).sum().backward()
    assert x.grad is not None and up.grad is None
    (dx,) = torch.autograd.grad(kt.activation(x).sum(), x, create_graph=True)
    with pytest.raises(RuntimeError, match="once_differentiable|does not require grad"):
        dx.sum().backward()


# ---- Embedding


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("index", [torch.int32, torch.int64])
def test_embedding(device, dtype, index):
    weight = randn(device, 11, 24, dtype=dtype)
    for shape in ((), (5,), (2, 3), (2, 1, 2, 1, 3), (0,)):
        tokens = torch.randint(11, shape, generator=torch.Generator().manual_seed(1)).to(device, index)
        same(kt.embedding(tokens, weight), F.embedding(tokens, weight), 0)
        same_gradients(lambda w: kt.embedding(tokens, w), lambda w: F.embedding(tokens, w), [weight])
    outside = torch.tensor([-1, 11, 3], device=device, dtype=index)
    assert not kt.embedding(outside, weight)[:2].any()


def test_gradient_of_embedding(device):
    weight, tokens = randn(device, 6, 8).requires_grad_(), torch.tensor([[1, 5, 1], [0, 1, 3]], device=device)
    assert torch.autograd.gradcheck(lambda w: kt.embedding(tokens, w), [weight], eps=1e-2, atol=1e-2, rtol=1e-2)
    kt.embedding(tokens, weight, padding_index=1).sum().backward()
    assert not weight.grad[1].any() and (weight.grad[5] == 1).all() and not weight.grad[2].any()


# ---- Sampling


def test_sample(device):
    logits = randn(device, 2, 3, 50)
    assert torch.equal(kt.sample(logits, temperature=0.0), logits.argmax(-1))
    seed, offset = torch.arange(6, device=device).view(2, 3), torch.zeros((), dtype=torch.int64, device=device)
    tokens, logprobs = kt.sample(logits, seed=seed, offset=offset, temperature=0.7, top_k=4, logprobs=True)
    assert tokens.dtype == torch.int64 and tokens.shape == (2, 3)
    assert (logits.topk(4).indices == tokens[..., None]).any(-1).all()
    same(logprobs, torch.log_softmax(logits / 0.7, -1).gather(-1, tokens[..., None])[..., 0], 10)
    each = kt.sample(logits, seed=seed, offset=offset, temperature=torch.full((2, 3), 0.7, device=device),
                     top_k=torch.tensor(4, device=device), dtype=torch.int32)  # fmt: skip
    assert each.dtype == torch.int32 and torch.equal(each.long(), tokens)
    assert torch.equal(kt.sample(logits[1, 2], seed=seed[1, 2], offset=offset, temperature=0.7, top_k=4), tokens[1, 2])
    with pytest.raises(ValueError, match="gradient"):
        kt.sample(logits.clone().requires_grad_(), temperature=0.0)
    with pytest.raises(ValueError, match="dtype"):
        kt.sample(logits, temperature=0.0, dtype=torch.int16)
    with pytest.raises(kaio.InvalidArgument, match="seed"):
        kt.sample(logits)


# ---- Operators, compiled calls and errors


def test_operators(device):
    x, up, weight = randn(device, 3, 16), randn(device, 3, 16, seed=1), randn(device, 16, seed=2)
    tokens, seed = torch.tensor([[1, 2], [0, 1]], device=device), torch.arange(3, device=device)
    check, ops = torch.library.opcheck, torch.ops.kaio
    check(ops.layer_norm.default, (x, weight, None, up, 1e-5))
    check(ops.layer_norm.default, (x.t(), None, None, None, 1e-5))
    check(ops.layer_norm_backward.default, (x, weight, up, None, 1e-5, torch.float32, None))
    check(ops.layer_norm_backward.default, (x.t(), None, up.t(), up.t(), 1e-5, None, None))
    check(ops.softmax.default, (x.t(),))
    check(ops.log_softmax.default, (x,))
    check(ops.softmax_backward.default, (x, up))
    check(ops.log_softmax_backward.default, (x, up))
    target, lse, total = torch.tensor([1, 15, -100], device=device), x.logsumexp(-1), torch.full((1,), 2.0, device=device)
    check(ops.cross_entropy.default, (x, target, None, -100, "mean", 0.1, 0.0, 0.0))
    check(ops.cross_entropy.default, (x, target, weight.abs(), -100, "none", 0.0, 0.01, 2.0))
    check(ops.cross_entropy_backward.default, (x, target, lse, total, total, None, -100, "mean", 0.1, 0.0, 0.0))
    check(ops.cross_entropy_backward.default, (x, target, lse, lse, total[:0], weight.abs(), -100, "none", 0.0, 0.01, 2.0))
    head, total = randn(device, 20, 16, seed=4), torch.full((1,), 2.0, device=device)
    check(ops.linear_cross_entropy.default, (x, head, target, None, None, -100, "mean", 0.1, 0.0, 0.0, 1.0, "ieee"))
    check(ops.linear_cross_entropy.default, (x, head, target, head[:, 0], head[:, 1].abs(), -100, "none", 0.0, 0.01, 2.0, 0.5, "tf32"))
    check(ops.linear_cross_entropy_backward.default,
          (x, head, target, lse, total, total, True, False, True, head[:, 0], None, -100, "mean", 0.1, 0.0, 0.0, 1.0, "ieee"))  # fmt: skip
    check(ops.activation.default, (x.t(), "gelu"))
    check(ops.activation_backward.default, (up, x, "gelu"))
    check(ops.gated.default, (x, up, "silu", 0.0, 1.0))
    check(ops.gated_backward.default, (up, x, up, "silu", 7.0, 0.0))
    check(ops.embedding.default, (tokens, x))
    check(ops.embedding_backward.default, (randn(device, 2, 2, 16), tokens, 3, -1))
    check(ops.sample.default, (x, seed, seed, 1.0, 0, 1.0, 0.0, None, None, None, None, torch.int64))
    check(ops.sample.default, (x, seed, seed, 1.0, 0, 0.9, 0.0, x[:, 0].abs(), None, None, None, torch.int32))


def test_compiled(device):
    tokens = torch.tensor([[1, 2, 1], [0, 1, 3]], device=device)
    leaves = [randn(device, *s, seed=i) for i, s in enumerate([(6, 16), (16,), (16,)])]

    def step(table, w, b):
        x = kt.embedding(tokens, table)
        y, h = kt.layer_norm(x, w, b, residual=x)
        y = kt.rms_norm(kt.softmax(y) + kt.log_softmax(h, 0), w)
        return kt.gated(y, h, "gelu_tanh") + kt.activation(h) + kt.cross_entropy(h[0], tokens[0], label_smoothing=0.1)

    compiled = torch.compile(step, fullgraph=True, backend="aot_eager")
    both = []
    for function in (step, compiled):
        own = [t.clone().requires_grad_() for t in leaves]
        function(*own).sin().sum().backward()
        both.append([t.grad for t in own])
    for eager, traced in zip(*both):
        torch.testing.assert_close(traced, eager)
    draw = lambda logits, s: kt.sample(logits, seed=s, offset=s, top_k=5, logprobs=True)  # noqa: E731
    for got, want in zip(torch.compile(draw, fullgraph=True, backend="aot_eager")(leaves[0], torch.arange(6, device=device)),
                         draw(leaves[0], torch.arange(6, device=device))):  # fmt: skip
        torch.testing.assert_close(got, want)


def test_a_tensor_that_is_given_twice(device):
    x = randn(device, 8, 8)
    ones = torch.ones(8, device=device)
    calls = [
        lambda a: kt.gated(a, a),
        lambda a: kt.layer_norm(a, residual=a)[0],
        lambda a: kt.rms_norm(a, ones, residual=a)[0],
        lambda a: kt.matmul(a, a, residual=a),
        lambda a: kt.linear(a, a, residual=a),
    ]
    for call in calls:
        gradients = []
        for function in (call, torch.compile(call, fullgraph=True, backend="aot_eager")):
            own = x.clone().requires_grad_()
            function(own).sin().sum().backward()
            gradients.append(own.grad)
        torch.testing.assert_close(gradients[1], gradients[0], rtol=1e-4, atol=1e-4)


def test_errors(device):
    x, weight = randn(device, 4, 16), randn(device, 16)
    with pytest.raises(ValueError, match="argument weight"):
        kt.layer_norm(x, weight[:8])
    with pytest.raises(ValueError, match="argument bias"):
        kt.layer_norm(x, weight, weight[:8])
    with pytest.raises(ValueError, match="argument residual"):
        kt.layer_norm(x, residual=x[:2])
    with pytest.raises((kaio.InvalidArgument, TypeError), match="x"):
        kt.layer_norm(x.double())
    with pytest.raises(ValueError, match="argument dim"):
        kt.softmax(x, 2)
    with pytest.raises((kaio.InvalidArgument, TypeError), match="x"):
        kt.log_softmax(x.double())
    target = torch.tensor([1, 2, 3, 4], device=device)
    for name, arguments in (("target", (target[:2],)), ("target", (target.float(),)), ("weight", (target, weight[:8]))):
        with pytest.raises(ValueError, match=f"argument {name}"):
            kt.cross_entropy(x, *arguments)
    with pytest.raises(ValueError, match="argument reduction"):
        kt.cross_entropy(x, target, reduction="all")
    with pytest.raises(ValueError, match="gradient"):
        kt.cross_entropy(x, target, weight.clone().requires_grad_())
    with pytest.raises(kaio.InvalidArgument, match="label_smoothing"):
        kt.cross_entropy(x, target, label_smoothing=2.0)
    head = randn(device, 9, x.shape[-1])
    for name, wrong in (("target", {"target": target[:2]}), ("target", {"target": target.float()}), ("input", {"input": x[:, :3]}),
                        ("weight", {"weight": head[0, :2]}), ("linear_bias", {"linear_bias": head[0, :2]}),
                        ("reduction", {"reduction": "all"})):  # fmt: skip
        with pytest.raises(ValueError, match=f"argument {name}"):
            kt.linear_cross_entropy(**({"input": x, "linear_weight": head, "target": target} | wrong))
    with pytest.raises(kaio.InvalidArgument, match="logit_scale"):
        kt.linear_cross_entropy(x, head, target, logit_scale=float("nan"))
    with pytest.raises(ValueError, match="argument kind"):
        kt.activation(x, "tanh")
    with pytest.raises(ValueError, match="argument up"):
        kt.gated(x, x[:2])
    with pytest.raises(kaio.InvalidArgument, match="limit"):
        kt.gated(x, x, limit=-1.0)
    with pytest.raises(ValueError, match="argument weight"):
        kt.embedding(torch.tensor([1], device=device), weight)
    with pytest.raises(ValueError, match="padding_index"):
        kt.embedding(torch.tensor([1], device=device), x, padding_index=4)
    with pytest.raises(kaio.InvalidArgument, match="indices"):
        kt.embedding(x, x)


@pytest.mark.skipif(not hasattr(torch.library, "register_vmap"), reason="this torch has no register_vmap")
def test_vmap_is_refused(device):
    x = randn(device, 3, 2, 16)
    with pytest.raises(NotImplementedError, match="layer_norm"):
        torch.vmap(lambda a: kt.layer_norm(a))(x)
    with pytest.raises(NotImplementedError, match="softmax"):
        torch.vmap(lambda a: kt.softmax(a))(x)
    with pytest.raises(NotImplementedError, match="activation"):
        torch.vmap(lambda a: kt.activation(a))(x)
