"""Arrays of any framework: what is taken, what is refused and how, kaio.Array, threads, forks, leaks."""

from __future__ import annotations

import gc
import os
import pathlib
import re
import subprocess
import sys
import threading
import textwrap
from typing import Any, Callable

import numpy as np
import pytest

import kaio
from kaio import _core

F32 = np.float32


@pytest.fixture
def a() -> Any:
    return np.random.default_rng(1).standard_normal((20, 16)).astype(F32)


@pytest.fixture
def b() -> Any:
    return np.random.default_rng(2).standard_normal((16, 24)).astype(F32)


def run(program: str, **environment: str) -> str:
    """The output of a program in a process of its own."""
    path = os.pathsep.join([str(pathlib.Path(kaio.__file__).parent.parent), os.environ.get("PYTHONPATH", "")])
    ran = subprocess.run([sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True, timeout=300,
                         env={**os.environ, "PYTHONPATH": path, **environment})  # fmt: skip
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return ran.stdout


# ---- What is taken


def test_byte_offsets_and_strides(a: Any, b: Any) -> None:
    assert np.allclose(kaio.matmul(a[3:, 2:], b[2:]), a[3:, 2:] @ b[2:], atol=1e-5)
    assert np.allclose(kaio.matmul(a[::3], b), a[::3] @ b, atol=1e-5)
    assert np.allclose(kaio.matmul(b.T, a.T), b.T @ a.T, atol=1e-5)


def test_read_only_inputs(a: Any, b: Any) -> None:
    a.flags.writeable = False
    assert np.allclose(kaio.matmul(a, b), a @ b, atol=1e-5)


def test_an_object_with_dlpack_alone(a: Any, b: Any) -> None:
    class Other:
        def __init__(self, values: Any, old: bool) -> None:
            self.values, self.old = values, old

        @property
        def shape(self) -> Any:
            return self.values.shape

        def __dlpack_device__(self) -> Any:
            return self.values.__dlpack_device__()

        def __dlpack__(self, **keywords: Any) -> Any:
            if self.old:
                if "max_version" in keywords:
                    raise TypeError("unexpected keyword max_version")
                return self.values.__dlpack__()
            return self.values.__dlpack__(**keywords)

    for old in (False, True):
        assert np.allclose(kaio.matmul(Other(a, old), Other(b, old)), a @ b, atol=1e-5)
    if np.lib.NumpyVersion(np.__version__) >= "2.1.0":  # earlier ones export no read-only memory
        out = np.zeros((20, 24), F32)
        out.flags.writeable = False
        with pytest.raises(TypeError, match="argument out is read-only, and the call writes it"):
            kaio.matmul(a, b, Other(out, False))


def test_mixed_frameworks(a: Any, b: Any) -> None:
    """The output has the framework of the first array."""
    out = kaio.matmul(kaio.array(a, "cpu"), b)
    assert isinstance(out, kaio.Array)
    assert np.allclose(out, a @ b, atol=1e-5)
    assert isinstance(kaio.matmul(a, kaio.array(b, "cpu")), np.ndarray)


# ---- What is refused


def refusals(a: Any, b: Any) -> list[tuple[Callable[[], Any], type[Exception], str]]:
    read_only = np.zeros((20, 24), F32)
    read_only.flags.writeable = False
    wrong = kaio.InvalidArgument
    return [
        (lambda: kaio.matmul(a, b, read_only), TypeError, "matmul: argument out is read-only, and the call writes it"),
        (lambda: kaio.matmul(a.astype(">f4"), b), TypeError, "argument a has elements of >f4, which no operation takes"),
        (lambda: kaio.matmul(a.astype(complex), b), TypeError, "argument a has elements of complex128"),
        (lambda: kaio.matmul(np.zeros((2, 3), [("x", "f4")]), b), TypeError, "argument a has elements of .*x.*f4"),
        (lambda: kaio.matmul(np.zeros((2, 3), object), b), TypeError, "argument a has elements of object"),
        (lambda: kaio.matmul(np.ma.zeros((20, 16), F32), b), TypeError, r"argument a is a MaskedArray, whose mask .*\.filled\(\)"),
        (lambda: kaio.matmul(F32(3), b), TypeError, "argument a is a float32, a number of NumPy"),
        (lambda: kaio.matmul([1, 2], b), TypeError, "argument a is a list; it has to be an array: of torch, NumPy"),
        (lambda: kaio.matmul(a, None), TypeError, "argument b is None; it has to be an array"),
        (lambda: kaio.matmul(a, b, 3), TypeError, "matmul: argument out is an int; it has to be an array"),
        (lambda: kaio.matmul(np.ndarray, b), TypeError, "argument a is a type; it has to be an array"),
        (lambda: kaio.matmul(a > 0, b), wrong, "matmul: argument a has elements of bool; it takes f32"),
        (lambda: kaio.matmul(a[::-1], b), wrong, "argument a with strides -16 x 1; strides are 0 or more"),
        (lambda: kaio.matmul(a, b[0]), wrong, "argument b has 1 dimensions"),
        (lambda: kaio.matmul(a, b[:5]), wrong, "argument b has extent 0 of 5, and 16 is expected"),
        (lambda: kaio.matmul(a, b, np.zeros((20, 25), F32)), wrong, "and 25 is expected: the columns of out"),
        (lambda: kaio.matmul(a, b[:, :16], a), wrong, "output out shares memory with argument a"),
        (lambda: kaio.matmul(a.reshape((1,) * 9 + a.shape), b), TypeError, "argument a has more than 8 dimensions"),
        (lambda: kaio.matmul(a, b, bias=np.zeros(3, F32)), wrong, "argument bias has extent 0 of 3, and 24 is expected"),
        (lambda: kaio.matmul(a, b, activation="rel"), wrong, "argument activation is 'rel'; it has to be one of none, relu"),
        (lambda: kaio.matmul(a, b, activation=77), wrong, "argument activation is 77"),
        (lambda: kaio.matmul(a, b, activation=True), TypeError, "argument activation is a bool; it has to be a str"),
        (lambda: kaio.matmul(a, b, activation=1 << 40), wrong, "argument activation is 1099511627776, which it cannot be"),
        (lambda: kaio.matmul(a, b, constant="a|c"), wrong, "argument constant is 'c'; .*joined with '|'"),
        (lambda: kaio.matmul(a, b, alpha="x"), TypeError, "argument alpha is a str; it has to be a number"),
        (lambda: kaio.matmul(a, b, bias_of_rows="no"), TypeError, "argument bias_of_rows is a str; it has to be True or False"),
        (lambda: kaio.matmul(a, b, variant="nothing"), wrong, "there is no variant nothing"),
        (lambda: kaio.matmul(a, b, variant=3), TypeError, "argument variant is an int; it has to be a str"),
        (lambda: kaio.matmul(a, b, stream="x"), TypeError, "stream is a str; give a CUstream as a number"),
        (lambda: kaio.matmul(a, b, stream=True), TypeError, "stream is a bool"),
        (lambda: kaio.matmul(a, b, dtype="f99"), ValueError, "there is no element type 'f99'; there are f32, f16"),
        (lambda: kaio.matmul(a, b, dtype=F32), TypeError, "argument dtype is a type; it has to be the name"),
        (lambda: kaio.matmul(a, b, aplha=1.0), TypeError, "unexpected keyword argument 'aplha'"),
        (lambda: kaio.attention([1], a, a), TypeError, "attention: argument q is a list; it has to be an array"),
        (lambda: kaio.attention(a, a[0, 0], a), TypeError, "attention: argument k is a float32"),
        (lambda: kaio.attention(a, a, a), wrong, "attention: argument q has 2 dimensions; it has 4"),
        (lambda: kaio.attention(a, a, np.zeros((), F32)), wrong, "attention: an argument has too few dimensions; there are q"),
        (lambda: kaio.attention(None, a, a), TypeError, "attention: argument q is None; it is needed"),
        (lambda: kaio.attention_decode(a, 3), TypeError, "argument cache is an int; it has to be a kaio.KvCache"),
        (lambda: kaio.rms_norm("x", a), TypeError, "argument x is a str; it has to be an array"),
        (lambda: kaio.rms_norm(a, a[0], epsilon=None), TypeError, "rms_norm: argument epsilon is None; it has to be a number"),
        (lambda: kaio.attention(*[a.reshape(1, 20, 1, 16)] * 3, window_left=1 << 70), wrong, "argument window_left is 1180591620"),
        (lambda: kaio.attention(*[a.reshape(1, 20, 1, 16)] * 3, window_left=1.5), TypeError, "window_left is a float; .* integer"),
        (lambda: kaio.attention(*[a.reshape(1, 20, 1, 16)] * 3, blocks=a), TypeError, "blocks is a ndarray; .*kaio.BlockMask"),
        (lambda: kaio.rotary_table(a, a, scaling=kaio.RotaryScaling(pair_factors=["x"])), TypeError, "pair_factors has 'x' at index 0"),
        (lambda: kaio.rotary_table(a, a, scaling=kaio.RotaryScaling(pair_factors=3)), TypeError, "pair_factors is an int; .* list"),
    ]  # fmt: skip


@pytest.mark.parametrize("number", range(46))
def test_refused(a: Any, b: Any, number: int) -> None:
    cases = refusals(a, b)
    assert len(cases) == 46
    call, kind, message = cases[number]
    before = a.copy(), b.copy()
    with pytest.raises(kind, match=message) as error:
        call()
    assert type(error.value) in (kind, kaio.InvalidArgument)
    assert (a == before[0]).all() and (b == before[1]).all()


def test_errors_of_python_pass(a: Any, b: Any) -> None:
    """An exception in an object's own code is not hidden."""

    class Broken:
        def __dlpack_device__(self) -> Any:
            return (1, 0)

        def __dlpack__(self, **keywords: Any) -> Any:
            raise ZeroDivisionError("of the array")

    with pytest.raises(ZeroDivisionError, match="of the array"):
        kaio.matmul(Broken(), b)
    assert np.allclose(kaio.matmul(a, b), a @ b, atol=1e-5)


def test_classes_of_errors() -> None:
    assert issubclass(kaio.InvalidArgument, ValueError) and issubclass(kaio.OutOfMemory, MemoryError)
    for name, kind in kaio.errors.by_status.items():
        assert issubclass(kind, kaio.Error) and getattr(kaio.errors, kind.__name__) is kind and name
    with pytest.raises(kaio.InvalidArgument, match="name is 'gpu'; write cuda:N"):
        kaio.zeros(3, device="gpu")
    with pytest.raises(kaio.Error):
        kaio.zeros(3, device="cuda:77")


def test_records_are_shown(a: Any) -> None:
    assert repr(kaio.RotarySections(pairs=[1, 2])) == "RotarySections(interleaved=False, pairs=[1, 2])"


# ---- Questions


def questioned() -> dict[str, Callable[[], tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]]]:
    """Calls of every operation that has a choice: the arguments."""
    f16 = np.float16
    x = np.ones((2, 64), f16)

    def heads(*shape: int) -> Any:
        return np.ones(shape, f16)

    def cache() -> kaio.KvCache:
        return kaio.KvCache(heads(1, 16, 1, 16), heads(1, 16, 1, 16))

    cu = np.array([0, 4], np.int32)
    sequences: dict[str, Any] = {"cu_q": cu, "cu_k": cu, "max_q": 4}
    q, rows = heads(1, 4, 1, 16), heads(4, 1, 16)
    codes = np.ones((4, 32), np.int8)
    w4 = kaio.W4Weights(n=64, k=64, group=64, memory=np.zeros(16384, np.uint8))
    w8 = kaio.W8Weights(n=64, k=64, memory=np.zeros(16384, np.uint8))
    weight = kaio.ProjectionWeight(matrix=np.ones((48, 64), f16))
    outputs = kaio.QkvOutputs(q=heads(2, 1, 16), k=heads(2, 1, 16), v=heads(2, 1, 16))
    lse, lse_rows = np.zeros((1, 1, 4), F32), np.zeros((1, 4), F32)
    return {
        "matmul": lambda: (kaio.matmul, (x, x.T), {}),
        "matmul_int8": lambda: (kaio.matmul_int8, (codes, codes.T), {}),
        "matmul_w4": lambda: (kaio.matmul_w4, (x, w4), {}),
        "matmul_w8": lambda: (kaio.matmul_w8, (x, w8), {}),
        "matmul_w4_grouped": lambda: (kaio.matmul_w4_grouped, (x, w4, np.array([0, 2], np.int32)), {}),
        "matmul_w8_grouped": lambda: (kaio.matmul_w8_grouped, (x, w8, np.array([0, 2], np.int32)), {}),
        "attention": lambda: (kaio.attention, (q, q, q), {}),
        "attention_varlen": lambda: (kaio.attention_varlen, (rows, rows, rows), sequences),
        "attention_backward": lambda: (kaio.attention_backward, (q, q, q, q, q.copy(), lse), {}),
        "attention_backward_varlen": lambda: (
            kaio.attention_backward_varlen, (rows, rows, rows, rows, rows.copy(), lse_rows), {**sequences, "max_k": 4}),
        "attention_decode": lambda: (kaio.attention_decode, (heads(1, 1, 1, 16), cache()), {}),
        "attention_decode_varlen": lambda: (
            kaio.attention_decode_varlen, (heads(1, 1, 16), cache()), {"cu_q": np.array([0, 1], np.int32), "max_q": 1}),
        "qkv_project": lambda: (kaio.qkv_project, (x, kaio.QkvWeights(all=weight), outputs), {}),
        "gate_up_project": lambda: (kaio.gate_up_project, (x, kaio.GateUpWeights(both=weight), np.zeros((2, 24), f16)), {}),
    }  # fmt: skip


@pytest.mark.parametrize("name", questioned())
def test_choice_workspace_and_warmup(name: str) -> None:
    operation, arguments, keywords = questioned()[name]()
    choice = kaio.choice(operation, *arguments, **keywords)
    assert choice.name and isinstance(choice.in_cluster, bool)
    assert kaio.workspace_bytes(operation, *arguments, **keywords) >= 0
    assert kaio.warmup(operation, *arguments, **keywords) is None  # type: ignore[func-returns-value]
    if "variant" in operation.__kwdefaults__:
        operation(*arguments, **keywords, variant=choice.name)


def test_choice_of_fp8() -> None:
    ml_dtypes = pytest.importorskip("ml_dtypes")
    x = np.ones((4, 32), ml_dtypes.float8_e4m3fn)
    assert kaio.choice(kaio.matmul_fp8, x, x.T).name


@pytest.mark.parametrize("name", ["matmul", "attention", "matmul_int8", "attention_decode"])
def test_tune(name: str) -> None:
    operation, arguments, keywords = questioned()[name]()
    report = kaio.tune(operation, *arguments, **keywords, repetitions=1, remember=False, use_files=False)
    assert report.variant and 0 < report.seconds <= report.seconds_before and not report.saved


def test_what_has_no_answer(a: Any) -> None:
    with pytest.raises(TypeError, match="rms_norm has no choice"):
        kaio.choice(kaio.rms_norm, a, a[0])
    with pytest.raises(TypeError, match="rms_norm has no measurement of kernels"):
        kaio.tune(kaio.rms_norm, a, a[0])
    assert kaio.workspace_bytes(kaio.rms_norm, a, a[0]) == 0
    out = kaio.rms_norm(a, a[0])
    kaio.warmup(kaio.rms_norm, a, a[0], out)
    assert out.any()  # the mode ends with the question


def test_a_failed_question_leaves_no_mode(a: Any, b: Any) -> None:
    with pytest.raises(kaio.InvalidArgument):
        kaio.choice(kaio.matmul, a, b[:3])
    assert np.allclose(kaio.matmul(a, b), a @ b, atol=1e-5)


def test_a_question_is_of_its_thread(a: Any, b: Any) -> None:
    got: list[Any] = []

    def asked(*arguments: Any) -> None:
        other = threading.Thread(target=lambda: got.append(kaio.matmul(a, b)))
        other.start()
        other.join()
        kaio.matmul(*arguments)

    assert kaio.choice(asked, a, b).name == kaio.choice(kaio.matmul, a, b).name
    assert np.allclose(got[0], a @ b, atol=1e-5)


def test_workspace_is_taken() -> None:
    """A product whose K is split needs a workspace: one is made, a given one is used, one that is too small is not written past."""
    a, b = np.ones((4, 4096), np.float16), np.ones((4096, 8), np.float16)
    size = kaio.workspace_bytes(kaio.matmul, a, b)
    made = kaio.matmul(a, b)
    workspace = np.full(size + 64, 7, np.uint8)
    assert (kaio.matmul(a, b, workspace=workspace[:size]) == made).all()
    assert (workspace[size:] == 7).all()
    read_only = workspace.copy()
    read_only.flags.writeable = False
    with pytest.raises(TypeError, match="argument workspace is read-only"):
        kaio.matmul(a, b, workspace=read_only)


# ---- Devices


def test_devices() -> None:
    names = [d.name for d in kaio.devices()]
    assert names[-1] == "emulator:0" and len(names) == _core.device_count() + 1
    for d in kaio.devices():
        assert re.fullmatch(r"sm_\d+a?", d.architecture) and d.multiprocessors > 0 and d.total_memory > 0
        free, total = kaio.memory_info(d.name)
        assert 0 < free <= total
        kaio.synchronize(d.name)
    assert kaio.device("emulator") == kaio.device("emulator:0")
    assert kaio.device().name in names
    kaio.synchronize()
    with pytest.raises(kaio.InvalidArgument):
        kaio.device("tpu")
    with pytest.raises(TypeError):
        kaio.device(3)  # type: ignore[arg-type]


def test_doctor() -> None:
    text = kaio.doctor()
    for line in (rf"kaio {re.escape(kaio.__version__)}, library \d", r"Python 3\.\d+\.\d+", "emulator:0: sm_", rf"numpy {np.__version__}"):
        assert re.search(f"^{line}", text, re.M), text
    assert "no GPU" in text or "cuda:0: " in text or "the GPUs cannot be used" in text


# ---- kaio.Array


@pytest.mark.parametrize("where", ["cpu", "emulator"])
def test_array(where: str, a: Any, b: Any) -> None:
    x = kaio.array(a, where)
    assert x.shape == (20, 16) and x.ndim == 2 and x.dtype == "f32" and x.nbytes == 20 * 16 * 4 and len(x) == 20
    assert repr(x) == f"kaio.Array(shape=(20, 16), dtype='f32', device='{x.device}')"
    assert (x.numpy() == a).all() and (np.asarray(x) == a).all() and np.asarray(x, np.float64).dtype == np.float64
    y = kaio.matmul(x, kaio.array(b, where))
    assert isinstance(y, kaio.Array) and y.device == x.device
    assert np.allclose(y, a @ b, atol=1e-5)
    with pytest.raises(ValueError, match="always copied"):
        x.__array__(copy=False)
    with pytest.raises(AttributeError):
        x.__cuda_array_interface__
    with pytest.raises(TypeError):
        type("Sub", (kaio.Array,), {})


def test_array_of_everything() -> None:
    for name in ("f32", "f16", "f64", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "bool"):
        x = kaio.zeros((2, 3), name, "cpu")
        assert x.dtype == name and not x.numpy().any()
        assert kaio.array(x.numpy(), "cpu").dtype == name
    assert kaio.zeros(5, device="cpu").shape == (5,)
    assert kaio.array(3.5, "cpu").shape == () and kaio.array(3.5, "cpu").numpy() == 3.5
    assert kaio.array([], "cpu").shape == (0,) and kaio.zeros((0, 3)).numpy().shape == (0, 3)
    assert (kaio.array([[1, 2]], "cpu", "f16").numpy() == [[1, 2]]).all()
    assert (kaio.array(np.arange(6, dtype=">i4").reshape(2, 3)[:, ::-1], "cpu").numpy() == [[2, 1, 0], [5, 4, 3]]).all()
    for bad in ((-1,), (1 << 40, 1 << 40), (1,) * 9):
        with pytest.raises(ValueError):
            kaio.zeros(bad)
    for values in (["a"], [1 + 2j], [object()]):
        with pytest.raises(TypeError, match="elements of"):
            kaio.array(values, "cpu")


def test_array_of_small_floats() -> None:
    ml_dtypes = pytest.importorskip("ml_dtypes")
    for name, dtype in (("bf16", "bfloat16"), ("e4m3", "float8_e4m3fn"), ("e5m2", "float8_e5m2")):
        x = kaio.array([[1.0, 2.0, -3.0]], "cpu", name)
        assert x.dtype == name and x.numpy().dtype == getattr(ml_dtypes, dtype)
        assert x.numpy().astype(F32).tolist() == [[1, 2, -3]]
        assert kaio.array(x.numpy(), "cpu").dtype == name


def test_small_floats_without_ml_dtypes() -> None:
    print(run("""
        import sys
        sys.modules["ml_dtypes"] = None
        import kaio
        for call in (lambda: kaio.array([1.0], "cpu", "bf16"), lambda: kaio.zeros(3, "e4m3", "cpu").numpy()):
            try:
                call()
            except TypeError as error:
                assert "install ml_dtypes" in str(error), error
            else:
                raise AssertionError
        kaio.matmul(kaio.zeros((4, 4), "bf16", "cpu"), kaio.zeros((4, 4), "bf16", "cpu"))
    """))  # fmt: skip


def test_dlpack_of_an_array(a: Any) -> None:
    x = kaio.array(a, "cpu")
    shared = np.from_dlpack(x)
    assert (shared == a).all()
    out = kaio.rms_norm(a, a[0], x)
    assert out is x and (shared == x.numpy()).all() and (shared != a).any()
    del x, out
    gc.collect()
    assert np.isfinite(shared).all()
    y = kaio.zeros((3, 4), device="cpu")
    assert '"dltensor"' in repr(y.__dlpack__()) and '"dltensor_versioned"' in repr(y.__dlpack__(max_version=(1, 0)))
    assert '"dltensor"' in repr(y.__dlpack__(max_version=(0, 8)))
    assert y.__dlpack_device__() == (1, 0)
    with pytest.raises(BufferError, match="not copied to another device"):
        y.__dlpack__(dl_device=(2, 0))
    with pytest.raises(BufferError, match="not copied for DLPack"):
        y.__dlpack__(copy=True)
    emulated = kaio.zeros(3, device="emulator")
    assert emulated.__dlpack_device__() == (12, 0)
    with pytest.raises((RuntimeError, BufferError)):
        np.from_dlpack(emulated)


def test_torch_and_arrays(a: Any, b: Any) -> None:
    torch = pytest.importorskip("torch")
    x = kaio.array(a, "cpu")
    t = torch.from_dlpack(x)
    t[0] = 3
    assert (x.numpy()[0] == 3).all()
    got = kaio.matmul(t, torch.from_numpy(b))
    assert isinstance(got, torch.Tensor) and np.allclose(got.numpy(), x.numpy() @ b, atol=1e-5)
    half = kaio.matmul(t.bfloat16(), torch.from_numpy(b).bfloat16(), dtype="f32")
    assert half.dtype == torch.float32
    for made, message in (
        (t.clone().requires_grad_(), "argument a requires a gradient"),
        (torch.complex(t, t).conj().imag, "argument a is a negated view"),
        (torch.nn.Parameter(t.clone()), "argument a requires a gradient"),
    ):
        with pytest.raises(TypeError, match=message):
            kaio.matmul(made, torch.from_numpy(b))
    with torch.no_grad():
        assert np.allclose(kaio.matmul(t.clone().requires_grad_(), torch.from_numpy(b)).numpy(), t.numpy() @ b, atol=1e-5)

    class Plain(torch.Tensor):  # type: ignore[misc, name-defined, unused-ignore]
        pass

    class Sub(torch.Tensor):  # type: ignore[misc, name-defined, unused-ignore]
        @classmethod
        def __torch_dispatch__(cls, function: Any, types: Any, arguments: Any = (), keywords: Any = None) -> Any:
            return function(*arguments, **(keywords or {}))

    assert np.allclose(kaio.matmul(t.as_subclass(Plain), torch.from_numpy(b)), t.numpy() @ b, atol=1e-5)
    with pytest.raises(TypeError, match="argument a is a Sub, whose value is not in its memory; use the operation in kaio.torch"):
        kaio.matmul(torch.Tensor._make_subclass(Sub, t), torch.from_numpy(b))
    for other in (t.to_sparse(), t.to("meta")):
        with pytest.raises(Exception, match="."):
            kaio.matmul(other, torch.from_numpy(b))


# ---- Outputs that overlap


def test_overlap(a: Any) -> None:
    memory = np.zeros(60 * 16, F32)
    x = memory[: 20 * 16].reshape(20, 16)
    x[:] = a
    square = np.eye(16, dtype=F32)
    with pytest.raises(kaio.InvalidArgument, match="out"):
        kaio.matmul(x, square, memory[16 : 21 * 16].reshape(20, 16))
    assert (x == a).all()
    assert kaio.rms_norm(x, square[0], x) is x  # what may be in place, is


# ---- Threads, forks, ends of processes


def test_threads(a: Any, b: Any) -> None:
    """Calls of eight threads at once, each with shapes of its own."""
    failures: list[BaseException] = []

    def work(seed: int) -> None:
        try:
            random = np.random.default_rng(seed)
            for i in range(12):
                x = random.standard_normal((8 + seed, 16)).astype(F32)
                assert np.allclose(kaio.matmul(x, b), x @ b, atol=1e-5)
                assert np.allclose(kaio.matmul(x, b, activation="relu", alpha=1.0 + i), np.maximum((1 + i) * (x @ b), 0), atol=1e-4)
                norm = x / np.sqrt((x * x).mean(1, keepdims=True) + 1e-6)
                assert np.allclose(kaio.rms_norm(x, np.ones(16, F32)), norm, atol=1e-5)
                with pytest.raises(kaio.InvalidArgument, match=f"argument b has extent 0 of {seed + 1}, and 16 is expected"):
                    kaio.matmul(x, b[: seed + 1])
        except BaseException as failure:
            failures.append(failure)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_fork() -> None:
    """A child that begins after calls on the CPU makes calls of its own."""
    print(run("""
        import os, warnings
        warnings.simplefilter("ignore")
        import numpy, kaio
        a = numpy.ones((8, 8), "float32")
        assert (kaio.matmul(a, a) == 8).all()
        child = os.fork()
        if child == 0:
            ok = (kaio.matmul(a, a) == 8).all() and (kaio.rms_norm(a, a[0]) > 0.9).all()
            os._exit(0 if ok else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    """))  # fmt: skip


def test_shutdown() -> None:
    """A process ends in peace with arrays, results and a thread's state alive."""
    assert run("""
        import atexit, threading, numpy, kaio
        a = numpy.ones((8, 8), "float32")
        kept = [kaio.array(a), kaio.zeros(3, device="cpu"), kaio.zeros(3).__dlpack__(), kaio.matmul(a, a)]
        cycle = [kept]; cycle.append(cycle)
        thread = threading.Thread(target=lambda: kaio.matmul(a, a)); thread.start(); thread.join()
        atexit.register(lambda: print(kaio.matmul(a, a)[0, 0]))
    """) == "8.0\n"  # fmt: skip


def test_signals() -> None:
    """Ctrl-C reaches a program that calls in a loop."""
    print(run("""
        import os, signal, threading, time, numpy, kaio
        a = numpy.ones((64, 64), "float32")
        threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
        try:
            end = time.time() + 60
            while time.time() < end: kaio.matmul(a, a)
        except KeyboardInterrupt:
            assert (kaio.matmul(a, a) == 64).all()
        else:
            raise AssertionError
    """))  # fmt: skip


@pytest.mark.skipif(sys.version_info < (3, 12), reason="sub-interpreters with locks of their own are of Python 3.12")
def test_subinterpreters() -> None:
    """The module refuses an interpreter with a lock of its own."""
    print(run("""
        try:
            import _interpreters as interpreters
        except ImportError:
            import _xxsubinterpreters as interpreters
        import sys, kaio
        one = interpreters.create()
        program = f'''
        import sys
        sys.path[:] = {sys.path!r}
        try:
            import kaio
        except ImportError as error:
            pass
        else:
            raise AssertionError("imported")
        '''
        import textwrap
        try:
            failed = interpreters.run_string(one, textwrap.dedent(program)) if hasattr(interpreters, "run_string") else interpreters.exec(one, textwrap.dedent(program))
        except interpreters.RunFailedError as error:
            failed = error
        assert failed is None, failed
    """))  # fmt: skip


# ---- Leaks


def resident() -> int:
    for line in pathlib.Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1])
    raise AssertionError


@pytest.mark.skipif(not pathlib.Path("/proc/self/status").exists(), reason="no /proc")
def test_nothing_leaks(a: Any, b: Any) -> None:
    nothing, out, bias = np.zeros((0, 16), F32), np.zeros((0, 24), F32), np.ones(24, F32)
    weight = a[0].copy()
    own = kaio.array(nothing, "cpu"), kaio.array(b, "cpu"), kaio.array(out, "cpu")
    arrays: list[tuple[Any, Any, Any]] = [(nothing, b, out), own]
    if "torch" in sys.modules:
        import torch

        arrays.append((torch.from_numpy(nothing), torch.from_numpy(b), torch.from_numpy(out)))

    def many(calls: int) -> None:
        for x, y, z in arrays:
            for i in range(calls):
                kaio.matmul(x, y, z)
                kaio.matmul(x, y, alpha=float(i))
        for _ in range(calls // 100):
            kaio.matmul(a, b, bias=bias)
            kaio.rms_norm(a, weight)
            kaio.zeros((20, 16), device="cpu").__dlpack__()
            np.from_dlpack(kaio.array(a, "cpu"))
            for wrong in (lambda: kaio.matmul(a, a), lambda: kaio.matmul("x", b), lambda: kaio.matmul(a, b, activation="x")):
                with pytest.raises(Exception):
                    wrong()
            kaio.choice(kaio.matmul, a, b)

    many(2000)
    gc.collect()
    references = [sys.getrefcount(x) for x in (a, b, bias, weight, None.__class__)]
    before, objects = resident(), len(gc.get_objects())
    many(10000)
    gc.collect()
    assert [sys.getrefcount(x) for x in (a, b, bias, weight, None.__class__)] == references
    assert len(gc.get_objects()) - objects < 200
    assert resident() - before < 4 << 10  # KiB


# ---- Files that are made


def test_generated_files() -> None:
    root = pathlib.Path(__file__).resolve().parent.parent.parent
    ran = subprocess.run([sys.executable, str(root / "python" / "generate.py"), "--check"], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stdout + ran.stderr
