"""kaio.torch: quantised linear layers, their operators, and quantised checkpoints."""

from __future__ import annotations

import copy
import io
import json
import types

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import weight_files as files  # noqa: E402

import kaio  # noqa: E402
import kaio.torch  # noqa: E402
from kaio.errors import InvalidArgument, UnsupportedFormat  # noqa: E402
from kaio.torch import Linear4, Linear8, LinearFp8  # noqa: E402

N, K = 32, 64


@pytest.fixture(autouse=True)
def fresh():
    torch.manual_seed(1)
    torch._dynamo.reset()


def random(*shape, device="cpu", dtype=torch.float32):
    return torch.randn(*shape).to(device=device, dtype=dtype)


def tensors(arrays, device):
    return {name: torch.from_numpy(np.array(a)).to(device) for name, a in arrays.items()}


KINDS = {
    "Linear4": lambda w, b: Linear4.from_float(w, b, group=32),
    "Linear4 zeros": lambda w, b: Linear4.from_float(w, b, group=16, symmetric=False),
    "Linear8": lambda w, b: Linear8.from_float(w, b),
    "LinearFp8": lambda w, b: LinearFp8.from_float(w, b),
    "LinearFp8 blocks": lambda w, b: LinearFp8.from_float(w, b, blocks=True),
}


def made(kind, device, bias=True, dtype=torch.bfloat16, n=N, k=K):
    return KINDS[kind](random(n, k, device=device), random(n, device=device) if bias else None).to(dtype)


def rounding(kind):
    """The largest error of a product of K terms of about 1, against the product with the dequantised weight."""
    return 0.9 if kind.startswith("LinearFp8") else 0.1


# ---- Modules


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("kind", KINDS)
def test_a_module_multiplies_and_has_gradients(kind, dtype, device):
    m = made(kind, device, dtype=dtype)
    x = random(2, 3, K, device=device, dtype=dtype).requires_grad_()
    y = m(x)
    w = m.dequantise(torch.float32)
    want = torch.nn.functional.linear(x.float(), w, m.bias.float())
    assert y.shape == (2, 3, N) and y.dtype == dtype
    assert (y.float() - want).abs().max() < rounding(kind)
    g = torch.randn_like(y)
    y.backward(g)
    assert (x.grad.float() - g.float() @ w).abs().max() < 0.2
    assert (m.bias.grad.float() - g.float().sum((0, 1))).abs().max() < 0.1
    with torch.no_grad():  # the direct way
        assert torch.equal(m(x), y)
    with torch.inference_mode():
        assert torch.equal(m(x.detach()), y)


@pytest.mark.parametrize("kind", KINDS)
def test_compiled_modules(kind, device):
    m = made(kind, device)
    compiled = torch.compile(m, fullgraph=True, backend="aot_eager")
    x, z = (random(4, K, device=device, dtype=torch.bfloat16) for _ in range(2))
    x.requires_grad_()
    want = m(x)
    want.sum().backward()
    gradient, x.grad = x.grad, None
    y = compiled(x)
    y.sum().backward()
    assert torch.equal(y, want) and torch.equal(x.grad, gradient)
    with torch.no_grad():
        assert torch.equal(compiled(z), m(z))
    dynamic = torch.compile(m, fullgraph=True, backend="aot_eager", dynamic=True)
    with torch.no_grad():
        for rows in (3, 5, 9):
            z = random(rows, K, device=device, dtype=torch.bfloat16)
            assert torch.equal(dynamic(z), m(z))


@pytest.mark.parametrize("kind", KINDS)
def test_layouts_of_x(kind, device):
    m = made(kind, device)
    big = random(2 * K, 6, device=device, dtype=torch.bfloat16)
    for x in (big[::2].t(), big.t()[:, :K], big.t()[::2, K:], big[:K, 0].expand(3, K), big[:1, :1].expand(3, K)):
        assert torch.equal(m(x), m(x.contiguous()))
    assert m(big[:0, :1].expand(0, K)).shape == (0, N)
    assert m(torch.empty(2, 0, K, device=device, dtype=torch.bfloat16)).shape == (2, 0, N)
    assert m(random(K, device=device, dtype=torch.bfloat16)).shape == (N,)
    x = random(3, K, device=device, dtype=torch.bfloat16)
    negated = torch.complex(torch.zeros(3, K), x.float().cpu()).conj().imag.to(device)  # -x
    if negated.is_neg():
        assert torch.equal(m(negated.to(torch.bfloat16)), m(-x))


def test_negated_views(device):
    z = torch.complex(torch.zeros(3, K, dtype=torch.float32), torch.randn(3, K)).to(device)
    x = z.conj().imag
    assert x.is_neg()
    codes, scales = kaio.torch.quantise_int8(x)
    want, same = kaio.torch.quantise_int8(x.resolve_neg())
    assert torch.equal(codes, want) and torch.equal(scales, same)


@pytest.mark.parametrize("kind", KINDS)
def test_state_dict(kind, device):
    m, other = made(kind, device), made(kind, device)
    x = random(4, K, device=device, dtype=torch.bfloat16)
    assert not torch.equal(m(x), other(x))
    state = m.state_dict()
    assert all(isinstance(value, torch.Tensor) for value in state.values())
    memory = io.BytesIO()
    torch.save(state, memory)
    memory.seek(0)
    other.load_state_dict(torch.load(memory, weights_only=True))
    assert torch.equal(m(x), other(x))
    assert torch.equal(copy.deepcopy(m)(x), m(x))


def test_state_dict_of_another_format():
    w = random(N, K)
    m = Linear4.from_float(w, group=32)
    with pytest.raises(RuntimeError, match="another format"):
        m.load_state_dict(Linear4.from_float(w, group=16).state_dict())
    other = Linear4.from_mxfp4(*kaio.torch.quantise_mxfp4(w))
    with pytest.raises(RuntimeError, match="another format"):
        m.load_state_dict(other.state_dict())


@pytest.mark.parametrize("kind", KINDS)
def test_codes_keep_their_types(kind, device):
    m = made(kind, "cpu")
    codes = {name: buffer.clone() for name, buffer in m.named_buffers()}
    m.half()
    m.to(torch.float64).to(device=device, dtype=torch.bfloat16)
    assert m.bias.dtype == torch.bfloat16 and m.bias.device.type == device
    for name, buffer in m.named_buffers():
        assert buffer.dtype == codes[name].dtype and buffer.device.type == device
        assert torch.equal(buffer.cpu().view(torch.uint8), codes[name].view(torch.uint8))
    with pytest.raises(TypeError, match="packed weights"):
        m.type(torch.float32)
    y = m(random(2, K, device=device, dtype=torch.bfloat16))
    assert y.device.type == device


def test_adapters_are_trained(device):
    # A low-rank pair around a frozen layer of four bits learns what rounding took from the weight.
    w = random(N, K, device=device)
    base = Linear4.from_float(w, group=64)
    a = torch.nn.Parameter(random(8, K, device=device) * 0.1)
    b = torch.nn.Parameter(torch.zeros(N, 8, device=device))
    optimiser = torch.optim.Adam([a, b], lr=0.02)
    x = random(64, K, device=device, dtype=torch.bfloat16)
    want = x.float() @ w.t()
    first = last = None
    for _ in range(30):
        y = base(x.clone().requires_grad_()).float() + x.float() @ a.t() @ b.t()
        loss = (y - want).square().mean()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        first, last = first or loss.item(), loss.item()
    assert base.memory.requires_grad is False and last < 0.8 * first


def test_second_derivatives(device):
    m = made("Linear4", device, dtype=torch.float16)
    x = random(2, K, device=device, dtype=torch.float16).requires_grad_()
    y = (m(x).float() ** 2).sum()
    (gradient,) = torch.autograd.grad(y, x, create_graph=True)
    (second,) = torch.autograd.grad(gradient.float().sum(), x)
    w = m.dequantise(torch.float32)
    want = 2 * (w.t() @ w).sum(0).expand(2, K)
    assert (second.float() - want).abs().max() < 0.02 * want.abs().max()


@pytest.mark.parametrize("kind", ["Linear4", "Linear8", "LinearFp8"])
def test_cuda_graphs(kind):
    if not torch.cuda.is_available():
        pytest.skip("a graph needs a GPU")
    m = made(kind, "cuda")
    x = random(4, K, device="cuda", dtype=torch.bfloat16)
    with torch.no_grad():
        m(x)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            y = m(x)
        x.copy_(random(4, K, device="cuda", dtype=torch.bfloat16))
        graph.replay()
        assert torch.equal(y, m(x))


# ---- Sources


@pytest.mark.parametrize("bits", [2, 3, 4, 8])
@pytest.mark.parametrize("v2", [False, True])
def test_from_gptq(bits, v2, device):
    t, w = files.gptq(K, N, bits, 32, v2=v2, order=True)
    t = tensors(t, device)
    options = {"group": 32, "v2": v2}
    m = Linear8.from_gptq(**t, **options) if bits == 8 else Linear4.from_gptq(**t, bits=bits, **options)
    assert np.array_equal(m.dequantise(torch.float32).cpu(), w)
    x = random(3, K, device=device, dtype=torch.float16)
    assert (m(x).float().cpu() - x.float().cpu() @ torch.from_numpy(w).t()).abs().max() < 0.02 * (1 + np.abs(w).max())


def test_from_awq_and_compressed_tensors(device):
    t, w = files.awq(K, N)
    assert np.array_equal(Linear4.from_awq(**tensors(t, device)).dequantise(torch.float32).cpu(), w)
    for bits, kind in ((4, Linear4), (8, Linear8)):
        t, w = files.compressed(K, N, bits)
        del t["weight_shape"]
        options = {"bits": bits} if bits == 4 else {}
        assert np.array_equal(kind.from_compressed_tensors(**tensors(t, device), **options).dequantise(torch.float32).cpu(), w)


@pytest.mark.parametrize("format, kind", [("Q4_0", Linear4), ("Q8_0", Linear8)])
def test_from_gguf(format, kind, device):
    w = random(N, K, device=device)
    data = torch.empty(kaio.weights.block_bytes(format, N * K), dtype=torch.uint8, device=device)
    kaio.quantise_blocks(w, format.lower(), data)
    want = torch.empty(N, K, device=device)
    kaio.dequantise_blocks(format.lower(), data, want)
    m = kind.from_gguf(data, format, N, K)
    assert torch.equal(m.dequantise(torch.float32), want)
    with pytest.raises(UnsupportedFormat, match="Linear"):
        (Linear8 if kind is Linear4 else Linear4).from_gguf(data, format, N, K)


@pytest.mark.parametrize("nested", [False, True])
def test_from_bnb(nested, device):
    w = random(N, K, device=device)
    weight = torch.empty(N * K // 2, dtype=torch.uint8, device=device)
    absmax = torch.empty(N * K // 64, device=device)
    kaio.quantise_bnb_4bit(w, kaio.Bnb4bitOutput(weight, absmax))
    # The fields that bitsandbytes' QuantState has.
    state = types.SimpleNamespace(
        absmax=absmax, shape=torch.Size((N, K)), quant_type="nf4", blocksize=64, state2=None, offset=None
    )
    if nested:
        state.absmax = (torch.arange(N * K // 64, device=device) % 256).to(torch.uint8)
        state.state2 = types.SimpleNamespace(
            absmax=torch.tensor([2.0], device=device), code=torch.arange(256, device=device) / 256, blocksize=256
        )
        state.offset = torch.tensor(0.5)
        absmax = state.absmax.float() / 256 * 2 + 0.5
    m = Linear4.from_bnb(weight.reshape(-1, 1), state)
    nibbles = torch.stack((weight >> 4, weight & 15), 1).reshape(-1).long()
    want = torch.from_numpy(files.NF4).to(device)[nibbles].reshape(N, 1, K) * absmax.reshape(N, 1, 1)
    assert torch.equal(m.dequantise(torch.float32), want.reshape(N, K))
    if not nested:
        other = Linear4.from_bnb(weight, absmax=absmax, shape=(N, K))
        assert torch.equal(other.memory, m.memory)
        assert (m.dequantise(torch.float32) - w).abs().max() < 0.16 * w.abs().max()


def test_from_llm_int8(device):
    codes, scales = kaio.torch.quantise_int8(random(N, K, device=device))
    m = Linear8.from_llm_int8(codes, scales * 127)
    want = codes.float() * scales[:, None]
    assert torch.allclose(m.dequantise(torch.float32), want, rtol=1e-6)
    with pytest.raises(InvalidArgument, match="scb"):
        Linear8.from_llm_int8(codes)


def test_from_torchao(device):
    # The fields that torchao's Int4Tensor has: neighbours a byte, two's complement.
    t = files.schemes()["torchao int4"]
    qdata, scale, zero = (
        torch.from_numpy(np.array(t[0][f"l._weight_{part}"])).to(device) for part in ("qdata", "scale", "zero_point")
    )
    m = Linear4.from_torchao(types.SimpleNamespace(qdata=qdata, scale=scale, zero_point=zero))
    assert np.array_equal(m.dequantise(torch.float32).cpu(), t[2])
    # Int4TilePackedTo4dTensor: words of equal codes are the same in every order.
    packed = torch.full((N // 8, 1, 32, 2), -0x44444445, dtype=torch.int32, device=device)  # 0xbbbbbbbb: codes of 11
    both = torch.stack((torch.full((2, N), 0.5), torch.full((2, N), 2.0)), 2).to(device, torch.bfloat16)
    m = Linear4.from_torchao(types.SimpleNamespace(qdata=packed, scale_and_zero=both))
    assert torch.equal(m.dequantise(torch.float32), torch.full((N, 64), (11 - 8) * 0.5 + 2, device=device))
    with pytest.raises(UnsupportedFormat, match="from_torchao"):
        Linear4.from_torchao(random(N, K))


def test_from_floats_of_four_bits(device):
    w = random(N, K, device=device)
    packed, scales = kaio.torch.quantise_mxfp4(w)
    m = Linear4.from_mxfp4(packed, scales)
    nibbles = torch.stack((packed & 15, packed >> 4), 2).reshape(N, K).long()
    numbers = torch.from_numpy(files.E2M1).to(device)[nibbles]
    assert torch.equal(m.dequantise(torch.float32), numbers * (2.0 ** (scales.float() - 127)).repeat_interleave(32, 1))
    assert torch.equal(Linear4.from_mxfp4(packed.reshape(2, N // 2, K // 32, 16), scales.reshape(2, N // 2, -1)).memory, m.memory)
    packed, scales, factor = kaio.torch.quantise_nvfp4(w)
    m = Linear4.from_nvfp4(packed, scales, factor)
    assert (m.dequantise(torch.float32) - w).abs().max() < 0.2 * w.abs().max()


def test_fp8_of_16_bit_activations(device):
    w = random(N, K, device=device)
    codes, scales = kaio.torch.quantise_fp8(w)
    m = Linear8.from_fp8(codes, scales)
    assert torch.equal(m.dequantise(torch.float32), codes.float() * scales[:, None])
    assert torch.equal(LinearFp8(codes, scales).dequantise(torch.float32), m.dequantise(torch.float32))


# ---- Operators


def operators(device):
    w = random(N, K, device=device)
    x = random(5, K, device=device, dtype=torch.bfloat16)
    four, eight = Linear4.from_float(w, group=32), Linear8.from_float(w)
    codes8, scales8 = kaio.torch.quantise_fp8(w)
    integers, of_rows = kaio.torch.quantise_int8(w)
    bias = random(N, device=device, dtype=torch.bfloat16)
    return {
        "matmul_w4": (x, four.memory, four.layout, bias),
        "matmul_w8": (x, eight.memory, eight.layout),
        "dequantise_packed": (four.memory, four.layout, torch.float16),
        "matmul_fp8": (codes8[:5], codes8.t(), scales8[:5], scales8),
        "matmul_int8": (
            integers[:5],
            integers.t(),
            of_rows[:5],
            of_rows,
            None,
            None,
            None,
            None,
            1.0,
            1.0,
            "none",
            torch.float32,
        ),
        "quantise_fp8": (x, True),
        "quantise_fp8_blocks": (w,),
        "quantise_int8": (x,),
        "quantise_int8_zeros": (x,),
        "dequantise_scaled_bytes": (codes8, scales8, torch.float32, 128, 128),
        "quantise_w4": (w, 32, False),
        "quantise_mxfp4": (w,),
        "quantise_nvfp4": (w,),
    }


@pytest.mark.parametrize("name", operators("cpu"))
def test_operators_are_registered_rightly(name, device):
    arguments = operators(device)[name]
    operator = getattr(torch.ops.kaio, name).default
    # torch cannot compare tensors of e4m3, as the first of these checks does with arguments.
    checks = ["test_schema", "test_autograd_registration", "test_faketensor", "test_aot_dispatch_dynamic"]
    if any(isinstance(a, torch.Tensor) and a.dtype == torch.float8_e4m3fn for a in arguments):
        checks = checks[1:]
    result = torch.library.opcheck(operator, arguments, test_utils=checks)
    assert set(result.values()) == {"SUCCESS"}


@pytest.mark.parametrize("name", ["matmul_w4", "quantise_fp8"])
def test_vmap_is_refused(name):
    arguments = operators("cpu")[name]
    if not hasattr(torch.library, "register_vmap"):
        pytest.skip("torch has register_vmap from 2.5 on")
    x = random(2, 5, K, dtype=torch.bfloat16)
    with pytest.raises(NotImplementedError, match=name):
        torch.vmap(lambda one: getattr(torch.ops.kaio, name)(one, *arguments[1:]))(x)


def test_matmul_fp8_and_int8(device):
    x, w = random(5, K, device=device), random(N, K, device=device)
    a, scale_a = kaio.torch.quantise_fp8(x)
    b, scale_b = kaio.torch.quantise_fp8(w)
    want = (a.float() * scale_a[:, None]) @ (b.float() * scale_b[:, None]).t()
    y = kaio.torch.matmul_fp8(a, b.t(), scale_a=scale_a, scale_b=scale_b, dtype=torch.float32)
    assert torch.allclose(y, want, rtol=1e-3, atol=1e-3)
    a, scale_a, zeros = kaio.torch.quantise_int8(x, zero_points=True)
    b, scale_b = kaio.torch.quantise_int8(w)
    sums = kaio.torch.matmul_int8(a, b.t())
    assert sums.dtype == torch.int32 and torch.equal(sums.cpu(), a.cpu().int() @ b.cpu().int().t())
    y = kaio.torch.matmul_int8(
        a, b.t(), scale_a=scale_a, scale_b=scale_b, zero_a=zeros, column_sums=b.sum(1, dtype=torch.int32), dtype=torch.float32
    )
    assert (y - x @ w.t()).abs().max() < 0.5


def test_products_with_packed_records(device):
    w = random(N, K, device=device)
    four, eight = Linear4.from_float(w, group=32), Linear8.from_float(w)
    x = random(3, K, device=device, dtype=torch.float16)
    assert torch.equal(kaio.torch.matmul_w4(x, four.weights), four(x))
    assert torch.equal(kaio.torch.matmul_w8(x, eight.weights, dtype=torch.float32).half(), eight(x))
    assert torch.equal(kaio.torch.dequantise(four.weights, torch.float32), four.dequantise(torch.float32))
    assert torch.equal(Linear4(four.weights)(x), four(x))


def test_codes_have_no_gradient():
    x = random(3, K).requires_grad_()
    for call in (kaio.torch.quantise_fp8, kaio.torch.quantise_int8, kaio.torch.quantise_fp8_blocks, kaio.torch.quantise_mxfp4):
        with pytest.raises(NotImplementedError, match=call.__name__):
            call(x)
        with torch.no_grad():
            call(x)


def test_arguments_that_are_refused():
    m = Linear4.from_float(random(N, K), group=32)
    with pytest.raises(InvalidArgument, match="argument x has elements of torch.float32"):
        m(random(2, K))
    with pytest.raises(InvalidArgument, match="k = 64"):
        m(random(2, K + 1, dtype=torch.float16))
    with pytest.raises(InvalidArgument, match="k = 64"):
        LinearFp8.from_float(random(N, K))(random(2, K - 1))
    with pytest.raises(InvalidArgument, match="bias"):
        Linear4.from_float(random(N, K), random(N + 1), group=32)
    with pytest.raises(InvalidArgument, match="group"):
        Linear4.from_float(random(N, K), group=48)
    with pytest.raises(TypeError, match="Linear8"):
        Linear4(Linear8.from_float(random(N, K)).weights)
    with pytest.raises(TypeError, match="W4Weights"):
        kaio.torch.matmul_w4(random(2, K, dtype=torch.float16), m.memory)
    with pytest.raises(InvalidArgument, match="scales"):
        LinearFp8(torch.zeros(N, K, dtype=torch.float8_e4m3fn), torch.ones(3))
    with pytest.raises(InvalidArgument, match="weight"):
        LinearFp8(torch.zeros(N, K), torch.ones(N))
    with pytest.raises(InvalidArgument, match="qweight"):
        Linear4.from_gptq(torch.zeros(8, N), torch.zeros(2, N))


# ---- Checkpoints


class Block(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.q = torch.nn.Linear(K, N)
        self.norm = torch.nn.LayerNorm(N)
        self.out = torch.nn.Linear(N, 8, bias=False)

    def forward(self, x):
        return self.out(self.norm(self.q(x)))


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.block = Block()

    def forward(self, x):
        return self.block(x)


SCHEMES = files.schemes()
REPLACED = [name for name in SCHEMES if SCHEMES[name][2].shape == (N, K) and "experts" not in name]


@pytest.mark.parametrize("name", REPLACED)
def test_checkpoints_of_all_schemes(name, tmp_path, device):
    arrays, config, w, _, packs = SCHEMES[name]
    arrays = {f"block.q{key[1:]}": value for key, value in arrays.items()}
    bias, norm = files.numbers(N), np.float16(1 + files.numbers(N))
    (tmp_path / "model.safetensors").write_bytes(
        files.safetensors({**arrays, "block.q.bias": bias, "block.norm.weight": norm, "extra": bias})
    )
    if config:
        (tmp_path / "config.json").write_text(json.dumps({"quantization_config": config}))
    model = Model().to(device=device, dtype=torch.bfloat16)
    report = kaio.torch.load_quantised(model, tmp_path)
    q = model.block.q
    if packs:
        assert isinstance(q, LinearFp8 if name.startswith("fp8") else (Linear4, Linear8)) and list(report.replaced) == ["block.q"]
        assert np.array_equal(q.dequantise(torch.float32).cpu(), w)
    else:
        assert type(q) is torch.nn.Linear and list(report.dequantised) == ["block.q.weight"]
        assert torch.equal(q.weight.cpu(), torch.from_numpy(w).bfloat16())
    assert torch.equal(q.bias.float().cpu(), torch.from_numpy(bias)) and torch.equal(
        model.block.norm.weight.cpu(), torch.from_numpy(norm).bfloat16()
    )
    assert report.copied == {"block.q.bias": "F32", "block.norm.weight": "F16"} and list(report.unused) == ["extra"]
    assert sorted(report.missing) == ["block.norm.bias", "block.out.weight"]
    assert "extra" in str(report) and "missing block.out.weight" in str(report)
    assert model(random(2, K, device=device, dtype=torch.bfloat16)).shape == (2, 8)


def test_layers_that_do_not_fit(tmp_path):
    t, w = files.gptq(K, 64, 4, 32)
    path = tmp_path / "m.safetensors"
    path.write_bytes(files.safetensors({f"block.q.{key}": value for key, value in t.items()}))
    model = Model()
    report = kaio.torch.load_quantised(model, path)
    assert not report.replaced and "(64, 64)" in next(iter(report.unused.values())) and type(model.block.q) is torch.nn.Linear


def test_prefixes_and_meta(tmp_path):
    t, w = files.gptq(K, N, 4, 32)
    bias = files.numbers(N)
    path = tmp_path / "m.safetensors"
    path.write_bytes(
        files.safetensors(
            {
                "model.block.q.bias": bias,
                "model.block.norm.weight": bias,
                **{f"model.block.q.{key}": value for key, value in t.items()},
            }
        )
    )
    with torch.device("meta"):
        model = Model()
    report = kaio.torch.load_quantised(model, path, device="cpu")
    assert list(report.replaced) == ["block.q"] and torch.equal(model.block.q.bias, torch.from_numpy(bias))
    assert model.block.norm.weight.tolist() == bias.tolist() and model.block.out.weight.device.type == "meta"
    assert np.array_equal(model.block.q.dequantise(torch.float32), w)


def quantised(w, format):
    data = np.empty(kaio.weights.block_bytes(format, w.size), np.uint8)
    kaio.quantise_blocks(np.ascontiguousarray(w, dtype=np.float32), format.lower(), data)
    dense = np.empty(w.shape, np.float32)
    kaio.dequantise_blocks(format.lower(), data, dense)
    return (format, w.shape, data.tobytes()), dense


def test_gguf_of_a_llama(tmp_path):
    transformers = pytest.importorskip("transformers")
    heads, kv_heads, hidden, between, words = 4, 2, 64, 96, 32
    config = transformers.LlamaConfig(
        hidden_size=hidden,
        intermediate_size=between,
        num_hidden_layers=1,
        num_attention_heads=heads,
        num_key_value_heads=kv_heads,
        vocab_size=words,
        tie_word_embeddings=False,
    )
    torch.manual_seed(2)
    reference = transformers.LlamaForCausalLM(config).eval()
    model = transformers.LlamaForCausalLM(config).eval()
    names = {
        "self_attn.q_proj": "attn_q",
        "self_attn.k_proj": "attn_k",
        "self_attn.v_proj": "attn_v",
        "self_attn.o_proj": "attn_output",
        "mlp.gate_proj": "ffn_gate",
        "mlp.up_proj": "ffn_up",
        "mlp.down_proj": "ffn_down",
    }
    tensors, state = {}, {}
    for ours, theirs in names.items():
        name = f"model.layers.0.{ours}.weight"
        # What llama.cpp's converter does to q and k: the halves of each head become neighbours.
        count = {"attn_q": heads, "attn_k": kv_heads}.get(theirs)
        w = reference.state_dict()[name].numpy() * 4

        def paired(m, back=False, count=count):
            if count is None:
                return m
            shape = (count, len(m) // count // 2, 2) if back else (count, 2, len(m) // count // 2)
            return m.reshape(*shape, hidden).swapaxes(1, 2).reshape(m.shape)

        tensors[f"blk.0.{theirs}.weight"], dense = quantised(paired(w), "Q8_0" if theirs == "attn_v" else "Q4_0")
        state[name] = torch.from_numpy(paired(dense, back=True))
    tensors["token_embd.weight"], dense = quantised(reference.model.embed_tokens.weight.detach().numpy() * 20, "Q8_0")
    state["model.embed_tokens.weight"] = torch.from_numpy(dense)
    for name, theirs in (
        ("model.norm", "output_norm"),
        ("model.layers.0.input_layernorm", "blk.0.attn_norm"),
        ("model.layers.0.post_attention_layernorm", "blk.0.ffn_norm"),
        ("lm_head", "output"),
    ):
        value = reference.state_dict()[f"{name}.weight"] * 1.5
        state[f"{name}.weight"] = value
        tensors[f"{theirs}.weight"] = ("F32", tuple(value.shape), value.numpy().tobytes())
    tensors["rope_freqs.weight"] = ("F32", (4,), bytes(16))
    path = tmp_path / "llama.gguf"
    path.write_bytes(
        files.gguf(
            tensors,
            {"general.architecture": "llama", "llama.attention.head_count": heads, "llama.attention.head_count_kv": kv_heads},
        )
    )
    reference.load_state_dict(state, strict=True)
    model.to(torch.float16)
    report = kaio.torch.load_quantised(model, path)
    assert len(report.replaced) == 7 and report.missing == [] and list(report.unused) == ["rope_freqs.weight"]
    assert (
        report.replaced["model.layers.0.self_attn.v_proj"] == "Linear8, Q8_0"
        and "model.embed_tokens.weight" in report.dequantised
    )
    attention = model.model.layers[0].self_attn
    assert torch.equal(attention.q_proj.dequantise(torch.float32), state["model.layers.0.self_attn.q_proj.weight"])
    with torch.no_grad():
        tokens = torch.arange(6)[None] * 5 % words
        want, got = reference(tokens).logits, model(tokens).logits.float()
    assert (got - want).abs().max() < 0.02 * want.abs().max()


def test_embeddings_and_tied_weights_stay_dense(tmp_path):
    class Tied(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.embed = torch.nn.Embedding(N, K)
            self.head = torch.nn.Linear(K, N, bias=False)
            self.head.weight = self.embed.weight

    blocks, dense = quantised(files.numbers(N * K).reshape(N, K), "Q8_0")
    path = tmp_path / "tied.gguf"
    path.write_bytes(files.gguf({"embed.weight": blocks}))
    for where in ("cpu", "meta"):
        with torch.device(where):
            model = Tied()
        report = kaio.torch.load_quantised(model, path)
        assert list(report.dequantised) == ["embed.weight"] and report.missing == []
        assert model.head.weight is model.embed.weight and np.array_equal(model.head.weight.detach(), dense)


def test_layers_follow_autocast():
    weight, x = torch.randn(16, 32), torch.randn(3, 32)
    for layer in (Linear4.from_float(weight, group=16), Linear8.from_float(weight), LinearFp8.from_float(weight)):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            y = layer(x)
        assert y.dtype == torch.bfloat16
        torch.testing.assert_close(y, layer(x.bfloat16()))
