"""Arrays of JAX, CuPy and Numba. Each part is skipped where its framework, or a GPU, is missing."""

from __future__ import annotations

import gc
from typing import Any

import numpy as np
import pytest

import kaio

F32 = np.float32


def numbers(*shape: int) -> Any:
    return np.random.default_rng(sum(shape)).standard_normal(shape).astype(F32)


def close(got: Any, expected: Any, tolerance: float = 2e-5) -> bool:
    got = np.asarray(got, F32)
    return got.shape == expected.shape and bool(np.abs(got - expected).max() <= tolerance * np.abs(expected).max())


# ---- JAX: on a GPU if it has one


@pytest.fixture
def jax() -> Any:
    return pytest.importorskip("jax")


def test_jax_calls(jax: Any) -> None:
    a, b = numbers(20, 16), numbers(16, 24)
    x, y = jax.numpy.asarray(a), jax.numpy.asarray(b)
    c = kaio.matmul(x, y)
    assert isinstance(c, jax.Array) and c.devices() == x.devices() and close(c, a @ b)
    assert close(kaio.matmul(x.T, x, activation="relu"), np.maximum(a.T @ a, 0))
    half = kaio.matmul(x.astype("bfloat16"), y.astype("bfloat16"))
    assert half.dtype == jax.numpy.bfloat16 and close(half, a @ b, 2e-2)
    assert kaio.matmul(x[:0], y).shape == (0, 24)


def test_jax_outputs(jax: Any) -> None:
    """Several outputs, those that are left out, and those of operations with structs."""
    q = numbers(1, 6, 2, 16)
    x = jax.numpy.asarray(q)
    out, lse = kaio.attention(x, x, x, lse=True)
    assert isinstance(out, jax.Array) and isinstance(lse, jax.Array) and lse.shape == (1, 2, 6)
    dq, dk, dv = kaio.attention_backward(x, x, x, x, out, lse)
    assert all(isinstance(d, jax.Array) for d in (dq, dk, dv))
    da, db = kaio.matmul_backward(x[0, :, 0], x[0, :, 0], jax.numpy.eye(16), da=False)
    assert da is None and isinstance(db, jax.Array)
    cache = kaio.KvCache(x, x)
    assert close(kaio.attention_decode(x[:, -1:], cache), np.asarray(out[:, -1:]))


def test_jax_values_are_ready(jax: Any) -> None:
    """A value that jax still computes is waited for, and a result may be used at once."""
    a = numbers(64, 64)
    step = jax.jit(lambda m: jax.lax.fori_loop(0, 200, lambda _, v: v @ m * 0.1, m))
    x = jax.numpy.asarray(a)
    expected = np.asarray(step(x)) @ a
    for _ in range(5):
        got = jax.jit(lambda m: m * 2)(kaio.matmul(step(x), x))
        assert close(got, expected * 2, 1e-4)


def test_jax_memory_lives(jax: Any) -> None:
    c = kaio.matmul(jax.numpy.ones((20, 16)), jax.numpy.ones((16, 24)))
    view = c[3:]
    del c
    gc.collect()
    kaio.matmul(jax.numpy.zeros((20, 16)), jax.numpy.zeros((16, 24)))
    assert (np.asarray(view) == 16).all()


def test_jax_refusals(jax: Any) -> None:
    x = jax.numpy.ones((16, 16))
    with pytest.raises(TypeError, match="argument out is an array of jax, which cannot be written; leave it out"):
        kaio.matmul(x, x, jax.numpy.zeros((16, 16)))
    with pytest.raises(TypeError, match="that jax traces and that has no memory yet; call kaio outside of jax.jit"):
        jax.jit(kaio.matmul)(x, x)
    with pytest.raises(TypeError, match="jax traces"):
        jax.grad(lambda v: kaio.matmul(v, x).sum())(x)


def test_jax_callback(jax: Any) -> None:
    """In a jitted function, by jax.pure_callback."""
    x = jax.numpy.asarray(numbers(16, 16))

    @jax.jit
    def step(v: Any) -> Any:
        shape = jax.ShapeDtypeStruct(v.shape, v.dtype)
        return jax.pure_callback(lambda t: np.asarray(kaio.matmul(np.asarray(t), np.asarray(t))), shape, v) + 1

    assert close(step(x), np.asarray(x) @ np.asarray(x) + 1)


def test_jax_and_arrays(jax: Any) -> None:
    """jax takes a kaio.Array without a copy; a kaio.Array may be an output of a call with arrays of jax."""
    x = jax.numpy.asarray(numbers(16, 16))
    device = "cpu" if x.devices() == set(jax.devices("cpu")) else "cuda:0"
    out = kaio.zeros((16, 16), device=device)
    assert kaio.matmul(x, x, out) is out
    assert close(jax.dlpack.from_dlpack(out), np.asarray(x) @ np.asarray(x))


# ---- CuPy


@pytest.fixture
def cupy() -> Any:
    module = pytest.importorskip("cupy")
    try:
        if module.cuda.runtime.getDeviceCount() == 0:
            pytest.skip("no GPU")
    except module.cuda.runtime.CUDARuntimeError:
        pytest.skip("no GPU")
    return module


def test_cupy_calls(cupy: Any) -> None:
    a, b = numbers(20, 16), numbers(16, 24)
    x, y = cupy.asarray(a), cupy.asarray(b)
    c = kaio.matmul(x, y)
    assert isinstance(c, cupy.ndarray) and close(c.get(), a @ b)
    out = cupy.zeros((20, 24), F32)
    assert kaio.matmul(x[:, ::1], y, out) is out and close(out.get(), a @ b)
    assert close(kaio.matmul(x[::2], y).get(), a[::2] @ b)


def test_cupy_streams(cupy: Any) -> None:
    """A call runs in CuPy's current stream, or in the given one, with a workspace of that stream."""
    a = cupy.ones((4, 4096), cupy.float16)
    b = cupy.ones((4096, 8), cupy.float16)
    with cupy.cuda.Stream(non_blocking=True) as stream:
        for _ in range(50):
            assert (kaio.matmul(a, b) == 4096).all()
    other = cupy.cuda.Stream(non_blocking=True)
    out = cupy.zeros((4, 8), cupy.float16)
    cupy.cuda.Device().synchronize()
    for given in (other, other.ptr):
        kaio.matmul(a, b, out, stream=given)
    other.synchronize()
    assert (out == 4096).all()
    stream.synchronize()


# ---- Numba


@pytest.fixture
def cuda() -> Any:
    module = pytest.importorskip("numba.cuda")
    if not module.is_available():
        pytest.skip("no GPU")
    return module


def test_numba_calls(cuda: Any) -> None:
    a, b = numbers(20, 16), numbers(16, 24)
    x, y = cuda.to_device(a), cuda.to_device(b)
    c = kaio.matmul(x, y)
    assert close(c.copy_to_host(), a @ b)
    stream = cuda.stream()
    out = cuda.device_array((20, 24), F32)
    kaio.matmul(x, y, out, stream=stream)
    stream.synchronize()
    assert close(out.copy_to_host(), a @ b)


def test_numba_streams_without_a_gpu() -> None:
    """What stands for a stream: numbers, __cuda_stream__, and the attributes of torch, CuPy and Numba."""
    import ctypes

    class Stream:
        def __init__(self, **attributes: Any) -> None:
            self.__dict__.update(attributes)

    class Protocol:
        def __cuda_stream__(self) -> tuple[int, int]:
            return (0, 0)

    a = numbers(8, 8)
    for stream in (0, Stream(cuda_stream=0), Stream(ptr=0), Stream(handle=ctypes.c_void_p(None)), Stream(handle=0), Protocol(), None):
        assert close(kaio.matmul(a, a, stream=stream), a @ a)
    for wrong in ("0", 1.5, Stream(), Stream(handle="x")):
        with pytest.raises(TypeError, match="give a CUstream as a number, a stream of torch or CuPy"):
            kaio.matmul(a, a, stream=wrong)
    with pytest.raises((OverflowError, kaio.Error)):
        kaio.matmul(a, a, stream=-1)


# ---- CUDA arrays of others, with torch's memory


def test_cuda_array_interface() -> None:
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available():
        pytest.skip("no GPU")

    class Other:
        def __init__(self, tensor: Any) -> None:
            self.tensor = tensor
            self.shape = tuple(tensor.shape)
            self.__cuda_array_interface__ = tensor.__cuda_array_interface__

    a, b = torch.randn(20, 16, device="cuda"), torch.randn(16, 24, device="cuda")
    out = kaio.matmul(Other(a), Other(b))
    assert isinstance(out, kaio.Array) and out.device == "cuda:0"
    assert torch.allclose(torch.from_dlpack(out), a @ b, atol=1e-4)
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    x, y = torch.ones(4, 4096, device="cuda", dtype=torch.float16), torch.ones(4096, 8, device="cuda", dtype=torch.float16)
    z = torch.zeros(4, 8, device="cuda", dtype=torch.float16)
    torch.cuda.synchronize()
    for _ in range(50):  # with a workspace of the given stream
        kaio.matmul(x, y, z, stream=side)
    side.synchronize()
    assert (z == 4096).all()
