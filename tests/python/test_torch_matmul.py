"""kaio.torch.matmul and linear: values, gradients, and everything that torch may do with an operator."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")
import kaio  # noqa: E402
import kaio.torch as kt  # noqa: E402
from torch._subclasses.fake_tensor import FakeTensorMode  # noqa: E402

F = torch.nn.functional
operator = torch.ops.kaio.matmul.default


@pytest.fixture(autouse=True)
def seed():
    torch.manual_seed(7)
    torch._dynamo.reset()


def close(got, expected, tolerance=1e-5):
    assert got.shape == expected.shape and got.device == expected.device
    torch.testing.assert_close(got.float(), expected.float(), rtol=tolerance, atol=tolerance * max([1.0, *expected.float().abs().flatten().tolist()]))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
@pytest.mark.parametrize("activation", ["none", "relu", "gelu", "gelu_tanh", "silu"])
def test_epilogues(device, dtype, activation):
    a, b, residual = (torch.randn(s, device=device).to(dtype) for s in ((9, 24), (24, 16), (9, 16)))
    bias = torch.randn(16, device=device)
    functions = {"none": lambda x: x, "relu": F.relu, "gelu": F.gelu, "gelu_tanh": lambda x: F.gelu(x, approximate="tanh"), "silu": F.silu}
    expected = functions[activation](0.5 * (a.float() @ b.float()) + bias) + residual.float()
    got = kt.matmul(a, b, bias=bias, residual=residual, alpha=0.5, activation=activation, dtype=torch.float32)
    assert got.dtype == torch.float32
    close(got, expected, 2e-3 if dtype != torch.float32 else 1e-5)


@pytest.mark.parametrize("shapes", [((3, 5, 8), (3, 8, 4)), ((3, 5, 8), (8, 4)), ((5, 8), (3, 8, 4)), ((1, 5, 8), (3, 8, 4))])
def test_batches_and_their_gradients(device, shapes):
    a, b = (torch.randn(s, device=device, requires_grad=True) for s in shapes)
    close(kt.matmul(a, b), a @ b)
    dy = torch.randn((a @ b).shape, device=device)
    for got, expected in zip(torch.autograd.grad(kt.matmul(a, b), (a, b), dy), torch.autograd.grad(a @ b, (a, b), dy)):
        close(got, expected)


def test_layouts(device):
    wide = torch.randn(8, 40, device=device)
    a, b = wide[:, 3:15], torch.randn(6, 12, device=device).t()
    close(kt.matmul(a, b), a @ b)
    close(kt.matmul(b.t(), a.t()), b.t() @ a.t())
    expanded = torch.randn(1, 12, 5, device=device).expand(4, 12, 5)
    close(kt.matmul(torch.randn(4, 3, 12, device=device) * 0 + 1, expanded), torch.ones(4, 3, 12, device=device) @ expanded)
    for m, n, k in ((0, 4, 8), (4, 0, 8), (4, 4, 0)):
        close(kt.matmul(torch.randn(m, k, device=device), torch.randn(k, n, device=device)), torch.zeros(m, n, device=device))


def test_gradcheck(device):
    a, b, bias, residual = (torch.randn(s, device=device, requires_grad=True) for s in ((4, 8), (8, 4), (4,), (4, 4)))
    options = {"eps": 1e-2, "atol": 1e-2, "rtol": 1e-2, "nondet_tol": 0.0}
    assert torch.autograd.gradcheck(lambda *t: kt.matmul(t[0], t[1], bias=t[2], residual=t[3], alpha=1.5), (a, b, bias, residual), **options)
    assert torch.autograd.gradcheck(lambda *t: kt.matmul(t[0], t[1], bias=t[2], activation="gelu", residual=t[3]), (a, b, bias, residual), **options)
    assert torch.autograd.gradgradcheck(kt.matmul, (a, b), **options)


def test_linear_is_that_of_torch(device):
    torchs = torch.nn.Linear(24, 12, device=device)
    ours = kt.Linear.of(torchs)
    assert ours.weight is torchs.weight and ours.bias is torchs.bias and isinstance(ours, torch.nn.Linear)
    x = torch.randn(2, 3, 24, device=device, requires_grad=True)
    dy = torch.randn(2, 3, 12, device=device)
    got, expected = ours(x), torchs(x)
    close(got, expected)
    ones = torch.autograd.grad(got, (x, ours.weight, ours.bias), dy)
    others = torch.autograd.grad(expected, (x, torchs.weight, torchs.bias), dy)
    assert ones[1].stride() == ours.weight.stride()  # the optimiser takes it without a copy
    for one, other in zip(ones, others):
        close(one, other)
    with torch.no_grad():
        close(kt.linear(x, ours.weight, ours.bias, activation="silu", residual=dy), F.silu(torchs(x)) + dy)


def test_opcheck(device):
    a, b, bias = (torch.randn(s, device=device, requires_grad=True) for s in ((5, 8), (8, 4), (4,)))
    for arguments in ((a, b), (a.detach(), b.detach(), bias.detach(), None, 2.0, "relu"), (a.detach().half(), b.detach().half())):
        torch.library.opcheck(operator, arguments)
    torch.library.opcheck(operator, (torch.randn(2, 5, 8, device=device), b.detach()), {"dtype": torch.float32})


@pytest.mark.parametrize("backend", ["aot_eager", "inductor"])
def test_compile(device, backend):
    weight, bias = (torch.randn(s, device=device, requires_grad=True) for s in ((6, 8), (6,)))

    def layer(x):
        return kt.linear(x, weight, bias, activation="gelu_tanh") * 2

    compiled = torch.compile(layer, fullgraph=True, backend=backend, dynamic=True)
    for rows in (3, 5):
        x = torch.randn(rows, 8, device=device, requires_grad=True)
        close(compiled(x), layer(x))
        dy = torch.randn(rows, 6, device=device)
        for got, expected in zip(torch.autograd.grad(compiled(x), (x, weight, bias), dy), torch.autograd.grad(layer(x), (x, weight, bias), dy)):
            close(got, expected)
    with torch.no_grad():
        close(compiled(torch.ones(4, 8, device=device)), layer(torch.ones(4, 8, device=device)))


def test_fake_tensors(device):
    with FakeTensorMode():
        a, b = torch.empty(5, 8, device=device), torch.empty(8, 4, device=device)
        y = kt.matmul(a, b, dtype=torch.float16)
        assert (y.shape, y.dtype, y.device.type) == ((5, 4), torch.float16, device)
    meta = operator(torch.empty(5, 8, device="meta"), torch.empty(8, 4, device="meta"))
    assert meta.shape == (5, 4) and meta.is_meta


def test_views_with_another_sign(device):
    z = torch.randn(6, 8, dtype=torch.complex64, device=device)
    negated = z.conj().imag
    assert negated.is_neg()
    b = torch.randn(8, 4, device=device)
    close(kt.matmul(negated, b), negated.clone() @ b)
    with pytest.raises(TypeError, match="argument a is a negated view.*resolve_neg"):
        kaio.matmul(negated, b)
    with pytest.raises((TypeError, ValueError), match="argument a"):
        kaio.matmul(z, z.t())


def test_subclasses(device):
    class Marked(torch.Tensor):
        pass

    a, b = torch.randn(5, 8, device=device), torch.randn(8, 4, device=device)
    close(kt.matmul(a.as_subclass(Marked), b).as_subclass(torch.Tensor), a @ b)
    close(kaio.matmul(a.as_subclass(Marked), b), a @ b)
    fake = FakeTensorMode().from_tensor(a)
    with pytest.raises(TypeError, match="argument a is a FakeTensor.*kaio.torch"):
        kaio.matmul(fake, b)
    parameter = torch.nn.Parameter(b)
    with torch.no_grad():
        close(kt.matmul(a, parameter), a @ b)


def test_gradients_that_a_raw_call_would_lose(device):
    a, b = torch.randn(5, 8, device=device, requires_grad=True), torch.randn(8, 4, device=device)
    with pytest.raises(TypeError, match="argument a requires a gradient.*kaio.torch"):
        kaio.matmul(a, b)
    with torch.no_grad():
        close(kaio.matmul(a, b), a @ b)
    with torch.inference_mode():
        close(kt.matmul(a, b), a @ b)
    assert not kt.matmul(a.detach(), b).requires_grad


def test_transformations(device):
    a, b = torch.randn(3, 5, 8, device=device), torch.randn(8, 4, device=device)
    with pytest.raises(NotImplementedError, match="kaio.torch.matmul.*vmap"):
        torch.vmap(lambda x: kt.matmul(x, b))(a)


def test_wrong_arguments(device):
    a, b = torch.randn(5, 8, device=device), torch.randn(8, 4, device=device)
    for call, text in (
        (lambda: kt.matmul(a, b[:7]), "b has extent 0 of 7"), (lambda: kt.matmul(a, b.half()), "argument b has elements of f16"),
        (lambda: kt.matmul(a, b, bias=torch.randn(3, device=device)), "bias"), (lambda: kt.matmul(a, b, activation="tanh"), "activation"),
        (lambda: kt.matmul(a.double(), b.double()), "argument a has elements of f64"),
        (lambda: kt.matmul(a.requires_grad_(), b, activation="tanh"), "activation"),
    ):  # fmt: skip
        with pytest.raises((ValueError, TypeError), match=text):
            call()


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU")
def test_streams_and_graphs():
    a, b = torch.randn(64, 128, device="cuda"), torch.randn(128, 96, device="cuda")
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        late = a
        for _ in range(20):
            late = late * 1.0  # work that the call has to come after
        y = kt.matmul(late, b)
    torch.cuda.current_stream().wait_stream(side)
    close(y, a @ b, 1e-4)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        z = kt.matmul(a, b, activation="relu")
    for _ in range(3):
        a.normal_()
        graph.replay()
        close(z, F.relu(a @ b), 1e-4)
    compiled = torch.compile(lambda a, b: kt.matmul(a, b) + 1, fullgraph=True, mode="reduce-overhead")
    for _ in range(4):
        close(compiled(a, b), a @ b + 1, 1e-4)


@pytest.mark.skipif(torch.cuda.device_count() < 2, reason="fewer than two GPUs")
def test_several_gpus():
    for index in range(2):
        a, b = torch.randn(5, 8, device=f"cuda:{index}"), torch.randn(8, 4, device=f"cuda:{index}")
        close(kt.matmul(a, b), a @ b)
    with pytest.raises(ValueError, match="different devices"):
        kt.matmul(torch.randn(5, 8, device="cuda:0"), torch.randn(8, 4, device="cuda:1"))


def test_several_emulators():
    import numpy

    a, b = numpy.ones((5, 8), "float32"), numpy.ones((8, 4), "float32")
    for name in ("emulator:0", "emulator:1"):
        y = kaio.matmul(kaio.array(a, name), kaio.array(b, name))
        assert y.device == name and (y.numpy() == 8).all()
    with pytest.raises(ValueError, match="different devices"):
        kaio.matmul(kaio.array(a, "emulator:0"), kaio.array(b, "emulator:1"))


def test_tensors_without_adjacent_elements(device):
    """The gradient of a sum has strides of 0; a slice with a step has no adjacent elements."""
    for shapes in (((5, 8), (8, 4)), ((3, 5, 8), (3, 8, 4)), ((3, 5, 8), (8, 4))):
        a, b = (torch.randn(s, device=device, requires_grad=True) for s in shapes)
        for got, expected in zip(torch.autograd.grad(kt.matmul(a, b).sum(), (a, b)), torch.autograd.grad((a @ b).sum(), (a, b))):
            close(got, expected)
    x, w, b = (torch.randn(s, device=device, requires_grad=True) for s in ((2, 3, 8), (4, 8), (4,)))
    given = (x, w, b)
    for got, expected in zip(torch.autograd.grad(kt.linear(*given).sum(), given), torch.autograd.grad(F.linear(*given).sum(), given)):
        close(got, expected)
    gradient, = torch.autograd.grad(kt.linear(*given, activation="silu").square().sum(), x, create_graph=True)
    wanted, = torch.autograd.grad(F.silu(F.linear(*given)).square().sum(), x, create_graph=True)
    for got, expected in zip(torch.autograd.grad(gradient.sum(), given), torch.autograd.grad(wanted.sum(), given)):
        close(got, expected, 1e-4)
    wide, steps = torch.randn(5, 16, device=device), torch.randn(4, 16, device=device)
    close(kt.linear(wide[:, ::2], steps[:, ::2]), F.linear(wide[:, ::2], steps[:, ::2]))
    with pytest.raises(kaio.InvalidArgument, match="argument b"):
        kt.matmul(wide[:, ::2], torch.randn(9, 4, device=device))


def test_linear_of_nothing(device):
    for shape in ((2, 3, 0), (0, 3, 0), (0,)):
        close(kt.linear(torch.empty(shape, device=device), torch.empty(5, 0, device=device)), torch.zeros(*shape[:-1], 5, device=device))
    with pytest.raises(ValueError, match="argument x"):
        kt.linear(torch.tensor(1.0, device=device), torch.ones(3, 1, device=device))


@pytest.mark.parametrize("compiled", [False, True])
def test_autocast(device, compiled):
    x, w, bias = torch.randn(2, 3, 8, device=device).bfloat16(), torch.randn(4, 8, device=device), torch.randn(4, device=device)
    w.requires_grad_()

    def step(x, w, bias):
        return kt.linear(x, w, bias) + kt.matmul(x[0], w.t(), bias=bias)

    run = torch.compile(step, backend="aot_eager", fullgraph=True) if compiled else step
    with torch.autocast(device, dtype=torch.bfloat16):
        got, expected = run(x, w, bias), F.linear(x, w, bias) + F.linear(x[0], w, bias)
    assert got.dtype == expected.dtype == torch.bfloat16
    close(got, expected, 2e-2)
    got.float().square().sum().backward()
    assert w.grad.dtype == torch.float32 and w.grad.abs().sum() > 0


def test_residual_of_another_type(device):
    """The type of the result is that of x, with gradients and without."""
    x, w, residual = torch.randn(3, 8, device=device).half(), torch.randn(4, 8, device=device).half(), torch.randn(3, 4, device=device)
    for activation in ("none", "silu"):
        plain = kt.linear(x, w, residual=residual, activation=activation)
        recorded = kt.linear(x, w.clone().requires_grad_(), residual=residual, activation=activation)
        assert plain.dtype == recorded.dtype == torch.float16
        close(recorded, plain, 2e-3)


def test_other_modes_of_torch(device):
    """torch.jit.trace records the operator, the device "meta" gives shapes, and forward mode is refused."""
    x, w = torch.randn(3, 8, device=device), torch.randn(8, 8, device=device)
    traced = torch.jit.trace(lambda x: kt.linear(2 * x, w) + x, (x,))
    close(traced(3 * x), F.linear(6 * x, w) + 3 * x)
    assert kt.linear(torch.empty(3, 8, device="meta"), torch.empty(5, 8, device="meta")).shape == (3, 5)
    for call in (lambda x: kt.linear(x, w), lambda x: kt.rms_norm(x, w[0]), lambda x: kt.attention(x[None, :, None], *(2 * [w[None, :, None]]))):
        with pytest.raises(NotImplementedError, match="forward-mode"):
            torch.func.jvp(call, (x,), (x,))
    with torch.autograd.forward_ad.dual_level():
        close(kt.linear(x, w), F.linear(x, w))
        with pytest.raises(NotImplementedError, match="forward-mode"):
            kt.linear(torch.autograd.forward_ad.make_dual(x, x), w)
