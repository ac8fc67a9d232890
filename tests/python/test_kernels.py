"""kaio.load, kaio.compile and kaio.check: a user's own kernels, on memory of the CPU, which the emulator uses."""

import ctypes
import gc
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

import numpy as np
import pytest

import kaio
from kaio import _compiler

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCALE = r"""
inline constexpr auto scale = kernel<"scale", 256>([](thread t, inout<f32> x, val<f32> a, val<u32> n) {
  val i = t.global_id();
  if (auto in_range = t.when(i < n)) x[i] *= a;
});
"""
needs_compiler = pytest.mark.skipif(
    not any(shutil.which(name) for name in _compiler.COMPILERS), reason="there is no C++ compiler"
)
pytestmark = needs_compiler


def is_compiler(name):
    path = shutil.which(name)
    return path is not None and _compiler.is_new_enough(path)


@pytest.fixture(scope="session", autouse=True)
def cache(tmp_path_factory):
    """A cache of this run alone."""
    before = os.environ.get("XDG_CACHE_HOME")
    os.environ["XDG_CACHE_HOME"] = str(tmp_path_factory.mktemp("cache"))
    yield pathlib.Path(os.environ["XDG_CACHE_HOME"])
    if before is None:
        del os.environ["XDG_CACHE_HOME"]
    else:
        os.environ["XDG_CACHE_HOME"] = before


@pytest.fixture(scope="session")
def library(cache):
    """The library of tests/c, loaded from its file."""
    return kaio.load(kaio.compile(ROOT / "tests/c/kernel_library.cpp").file)


def numbers(*shape):
    return np.arange(np.prod(shape), dtype=np.float32).reshape(shape)


def refused(call, *texts, error=kaio.InvalidArgument):
    with pytest.raises(error) as caught:
        call()
    for text in texts:
        assert text in str(caught.value)
    return caught.value


def test_a_launch_over_elements(library):
    n = 1000
    x, y = numbers(n), np.ones(n, np.float32)
    library.saxpy[kaio.over(n)](x, y, 2.0, n)
    assert np.array_equal(y, 1 + 2 * x)
    library.saxpy[kaio.over(n)](x, y, np.float32(1), np.int64(n), stream=None)
    assert np.array_equal(y, 1 + 3 * x)
    library.saxpy[kaio.over(0)](x, y, 2.0, 0)
    assert np.array_equal(y, 1 + 3 * x)


def test_kaio_arrays_on_the_emulator(library):
    x, y = kaio.array(numbers(100), "emulator"), kaio.zeros((100,), "f32", "emulator")
    library.saxpy[kaio.over(100)](x, y, 2, 100)
    assert np.array_equal(y.numpy(), 2 * numbers(100))


def test_grids_in_blocks(library):
    x, y = numbers(20, 10), np.zeros((10, 20), np.float32)
    for blocks in ((2, 3), kaio.grid(2, 3), kaio.grid(2, y=3, z=1)):
        y[:] = 0
        library.transpose[blocks](x, 10, y, 20, 20, 10)
        assert np.array_equal(y, x.T)
    y[:] = 0
    wide = numbers(20, 30)
    library.transpose[2, 3](kaio.strided(wide[:, 5:15]), 30, y, 20, 20, 10)
    assert np.array_equal(y, wide[:, 5:15].T)


def test_what_a_kernel_is(library):
    saxpy = library.saxpy
    assert saxpy.name == "saxpy" and saxpy.object == "tests::saxpy" and saxpy.block == (256, 1, 1)
    assert saxpy.parameters == ["in<f32>", "inout<f32>", "val<f32>", "val<u32>"]
    assert saxpy.signature == "saxpy(in<f32>, inout<f32>, val<f32>, val<u32>)" and saxpy.signature in repr(library)
    assert ".entry saxpy" in saxpy.ptx
    assert library.saxpy is saxpy and library["tests::saxpy"].name == "saxpy"
    assert [kernel.name for kernel in library][:3] == ["saxpy", "numbers", "apply"] and len(library) == 10
    assert "saxpy" in dir(library) and library.version == kaio.__version__
    assert library["twice<i32>"].parameters[0] == "inout<i32>"
    assert not hasattr(library, "__wrapped__") and not hasattr(library, "saxpi")
    refused(lambda: library.saxpi, "no kernel 'saxpi'", error=AttributeError)
    refused(lambda: library["twice"], "two kernels of the name 'twice'", error=KeyError)


def test_numbers_of_every_type(library):
    out = np.zeros(10)
    library.numbers[1](out, 0.1, 1.5, 1, 0.1, -128, 65535, -(10**15), 2**64 - 1, True, 448.0)
    assert list(out) == [np.float32(0.1), 1.5, 1, 0.1, -128, 65535, -1e15, 2.0**64, 1, 448]
    library.numbers[1](out, np.float64(0.5), np.float16(2), 3, 4, np.int8(5), np.uint16(6), np.int64(7), np.uint64(8), np.bool_(False), 1)
    assert list(out) == [0.5, 2, 3, 4, 5, 6, 7, 8, 0, 1]

    def launch(index, value):
        given = [out, 0.1, 1.5, 1, 0.1, 5, 6, 7, 8, True, 1.0]
        given[index] = value
        return lambda: library.numbers[1](*given)

    refused(launch(5, 128), "kernel numbers: argument 6 is 128", "val<i8>, cannot hold")
    refused(launch(6, -1), "argument 7 is -1", "val<u16>")
    refused(launch(8, 2**64), "argument 9 is 18446744073709551616", "val<u64>")
    refused(launch(8, -(2**64)), "argument 9 is -18446744073709551616")
    refused(launch(9, 2), "argument 10 is 2", "val<bool>")
    refused(launch(1, True), "argument 2 is a number of bool", "val<f32>")
    refused(launch(7, 1.0), "argument 8 is a floating-point number", "pass an integer")
    refused(launch(1, 1e39), "argument 2 is", "cannot hold")
    refused(launch(1, "1"), "argument 2 is a str", "pass a number")
    refused(launch(1, None), "argument 2 is None", "val<f32>")
    refused(launch(1, np.ones(1)), "argument 2 is a ndarray", ".item()")


def test_structs(library):
    class Affine(ctypes.Structure):
        _fields_ = [("scale", ctypes.c_float), ("offset", ctypes.c_float), ("n", ctypes.c_uint32)]

    x = numbers(100)
    record = np.array([(2, 1, 50)], dtype=[("scale", "f4"), ("offset", "f4"), ("n", "u4")])
    for given in (Affine(2, 1, 50), bytes(Affine(2, 1, 50)), bytearray(Affine(2, 1, 50)), record[0], record):
        x = numbers(100)
        library.apply[kaio.over(100)](x, given)
        assert np.array_equal(x, np.where(np.arange(100) < 50, 2 * numbers(100) + 1, numbers(100)))
    refused(lambda: library.apply[1](x, b"12345678"), "argument 2 is a struct of 8 bytes", "12 bytes")
    refused(lambda: library.apply[1](x, 3), "argument 2 is an integer", "the bytes of the struct")
    refused(lambda: library.apply[1](x, "text"), "argument 2 is a str", "ctypes.Structure")


def test_vectors(library):
    x = numbers(64)
    library.negate4[kaio.over(64, 4)](x, 16)
    assert np.array_equal(x, -numbers(64))
    refused(lambda: library.negate4[1](x[:6], 1), "argument 1 has 24 bytes", "whole elements")
    bytes = np.zeros(128, np.uint8)
    first = -bytes.ctypes.data % 16 + 4
    refused(lambda: library.negate4[1](bytes[first : first + 64].view(np.float32), 4), "argument 1 begins at an address", "multiple of 16")


def test_refused_calls(library):
    n = 64
    x, y = numbers(n), numbers(n)
    saxpy = library.saxpy[kaio.over(n)]
    signature = "saxpy(in<f32>, inout<f32>, val<f32>, val<u32>)"
    refused(lambda: saxpy(x, y, 2.0), f"kernel saxpy: 3 arguments were given; it takes 4: {signature}")
    refused(lambda: saxpy(x, y, 2.0, n, 1), "5 arguments were given")
    refused(lambda: saxpy(x.astype(np.float64), y, 2.0, n), "kernel saxpy: argument 1 has elements of f64", "in<f32>", "pass a tensor of f32")
    refused(lambda: saxpy(x, 3, 2.0, n), "argument 2 is an integer, and the parameter is inout<f32>", "pass a tensor")
    refused(lambda: saxpy(x, None, 2.0, n), "argument 2 is None")
    refused(lambda: saxpy(x, "y", 2.0, n), "argument 2 is a str", error=TypeError)
    refused(lambda: saxpy(y, y, 2.0, n), "argument 1 of kernel saxpy is the memory of argument 2")
    refused(lambda: saxpy(x, kaio.zeros((n,), "f32", "emulator:3"), 2.0, n), "kernel saxpy: arguments 1 and 2 are on different devices")
    refused(lambda: saxpy(x[::2], y, 2.0, n), "argument 1 has the shape (32) and the strides (2)", "strided")
    refused(lambda: saxpy(x, y, 2.0, n, n=3), "by position", error=TypeError)
    y.flags.writeable = False
    refused(lambda: saxpy(x, y, 2.0, n), "argument 2 is read-only", error=TypeError)
    refused(lambda: library.saxpy(x, y, 2.0, n), "needs a grid: saxpy[over(n)](...)", error=TypeError)
    refused(lambda: library.saxpy["64"], "no number of blocks", error=TypeError)
    refused(lambda: library.saxpy[1, 2, 3, 4], "1 to 3 extents", error=TypeError)
    refused(lambda: kaio.over(-1), "the extent of a grid is -1")
    refused(lambda: library.saxpy[2**40](x, x.copy(), 2.0, n), "kernel saxpy was given a grid of 1099511627776")
    refused(lambda: library.transpose[kaio.over(64)](x, 8, x.copy(), 8, 8, 8), "blocks of one dimension")
    refused(lambda: library.nothing[1](3), "kernel nothing: no argument is a tensor", "device")
    library.nothing[kaio.grid(1, device="emulator")](3)


def test_warmup_runs_nothing(library):
    x, y = numbers(8), numbers(8)
    kaio.warmup(library.saxpy[kaio.over(8)], x, y, 2.0, 8)
    assert np.array_equal(y, numbers(8))


def test_check_finds_errors_and_names_their_line(library):
    x, y = numbers(64), numbers(64)
    text = (ROOT / "tests/c/kernel_library.cpp").read_text()

    def line_of(part):
        return f"kernel_library.cpp:{text[: text.index(part)].count(chr(10)) + 1}"

    refused(lambda: kaio.check(library.beyond[1], numbers(32), numbers(32)), "kernel 'beyond': a thread reads out of bounds",
            "past the end", line_of("y[i] = x[i + 1u]"), error=kaio.CheckFailed)  # fmt: skip
    refused(lambda: kaio.check(library.rotate[1], x), "a race in shared memory", line_of("x[i] = kept["), error=kaio.CheckFailed)
    assert kaio.check(library.rotate[1], x, checks="memory,indices") is None
    assert kaio.check(library.saxpy[kaio.over(64)], x, y, 1.0, 64) is None
    library.rotate[1](x)  # without the sanitizer again
    refused(lambda: kaio.check(library.rotate[1], x, checks="speed"), "'speed' is no check")
    refused(lambda: kaio.check(library.saxpy[kaio.over(64)], x), "1 argument was given")
    refused(lambda: kaio.check(len, [1]), "nothing of this call ran on the emulator", error=kaio.CheckFailed)

    def swallow():
        try:
            library.rotate[1](x)
        except kaio.Error:
            return 3

    refused(lambda: kaio.check(swallow), "kernel 'rotate'", error=kaio.CheckFailed)


def test_check_of_an_operation():
    a, b = numbers(16, 8), numbers(8, 16)
    assert np.allclose(kaio.check(kaio.matmul, a, b), a @ b)


def test_files_that_are_no_library(tmp_path):
    refused(lambda: kaio.load(tmp_path / "none.so"), "none.so cannot be loaded", error=kaio.errors.UnreadableFile)
    text = tmp_path / "text.so"
    text.write_text("no object\n")
    refused(lambda: kaio.load(text), "text.so cannot be loaded", error=kaio.errors.UnreadableFile)

    def made(name, source):
        file = tmp_path / name
        command = [_compiler.find_compiler(None), "-shared", "-fPIC", "-x", "c++", "-", "-o", str(file)]
        subprocess.run(command, input=source, text=True, check=True)
        return file

    refused(lambda: kaio.load(made("empty.so", "")), "is no kernel library", "KAIO_KERNEL_LIBRARY", error=kaio.errors.UnsupportedFormat)
    other = """
      struct table { unsigned format, count; const char* version; unsigned long long layout; const void* kernels; const char* names; };
      extern "C" const table* kaio_kernel_library() { static const table it = {1, 1, "0.0.9", 7, 0, "a"}; return &it; }
    """
    refused(lambda: kaio.load(made("other.so", other)), "was built with kaio 0.0.9", f"this is kaio {kaio.__version__}", "build it again",
            error=kaio.errors.UnsupportedFormat)  # fmt: skip


def test_compile_once():
    x = numbers(100)
    first = kaio.compile(SCALE)
    first.scale[kaio.over(100)](x, 0.5, 100)
    assert np.array_equal(x, numbers(100) * 0.5)
    seconds = []
    for _ in range(5):
        begin = time.process_time()
        again = kaio.compile(SCALE)
        seconds.append(time.process_time() - begin)
    assert again.file == first.file
    assert min(seconds) < 0.05


def test_two_texts_with_kernels_of_one_name():
    """Each library has its own kernel, also while the other is open."""
    x, y = numbers(10), numbers(10)
    times, plus = kaio.compile(SCALE), kaio.compile(SCALE.replace("*=", "+="))
    times.scale[kaio.over(10)](x, 3.0, 10)
    plus.scale[kaio.over(10)](y, 3.0, 10)
    assert np.array_equal(x, numbers(10) * 3) and np.array_equal(y, numbers(10) + 3)
    shared = ["-fvisibility=default"]
    kept = kaio.compile(SCALE, flags=shared)
    if _compiler.kind_of(_compiler.find_compiler(None))[0] == "g++":
        refused(lambda: kaio.compile(SCALE.replace("*=", "-="), flags=shared), "in common with another open library",
                "-fvisibility=hidden", error=kaio.errors.UnsupportedFormat)  # fmt: skip
    assert len(kept) == 1


def test_kernels_by_their_names():
    template = """
    template <class T>
    inline constexpr auto twice = kernel<"twice", 64>([](thread t, inout<T> x) {
      val i = t.global_id();
      x[i] += x[i];
    });
    """
    refused(lambda: kaio.compile(template), "the text has no kernel", 'kernels=["name<f32>"]', error=kaio.CompileError)
    made = kaio.compile(template, kernels=["twice<f32>", "twice<i32>"])
    x = np.arange(64, dtype=np.int32)
    made["twice<i32>"][1](x)
    assert np.array_equal(x, 2 * np.arange(64))
    named = kaio.compile("#include <kaio/dsl/dsl.hpp>\nusing namespace kaio;\n" + SCALE + "KAIO_KERNEL_LIBRARY(scale);")
    assert [kernel.name for kernel in named] == ["scale"]
    refused(lambda: kaio.compile("KAIO_KERNEL_LIBRARY(a);", kernels=["a"]), "leave `kernels` out", error=kaio.CompileError)
    refused(lambda: kaio.compile(SCALE, kernels=["3"]), "KAIO_KERNEL_LIBRARY takes kernels", error=kaio.CompileError)


@pytest.mark.parametrize("compiler", [name for name in ("g++", "clang++-16", "clang++") if is_compiler(name)])
def test_an_error_of_the_compiler_is_shown_with_its_line(compiler):
    wrong = SCALE.replace("x[i] *= a", "x[i] *= n")
    error = refused(lambda: kaio.compile(wrong, compiler=compiler), "refuses these lines:", "In its own words:", error=kaio.CompileError)
    assert re.search(r"kernels.cpp:4: the value stored has another type than its place; write cast<T>\(x\)\n      if \(auto", str(error))
    assert "static assertion failed" in error.log
    unsound = SCALE.replace("x[i] *= a;", "x[i] *= a; else x[i] = a;")
    error = refused(lambda: kaio.compile(unsound, compiler=compiler), error=kaio.CompileError)
    assert re.search(r"kernels.cpp:4: a C\+\+ else after when\(\) or otherwise\(\) is never run; write if \(auto g", str(error))
    unknown = SCALE.replace("x[i] *= a", "x[j] *= a")
    error = refused(lambda: kaio.compile(unknown, compiler=compiler), error=kaio.CompileError)
    assert re.search(r"refuses these lines:\n  \S*kernels.cpp:4: [^\n]*undeclared|'j' was not declared|\u2018j\u2019 was not declared", str(error))


def test_compilers_that_are_not_there():
    refused(lambda: kaio.compile(SCALE, compiler="no-such-compiler"), "no-such-compiler", "is not there", error=kaio.CompileError)
    refused(lambda: kaio.compile(SCALE, compiler=sys.executable), "no C++ compiler", error=kaio.CompileError)


def test_a_file_and_the_headers_that_it_includes(tmp_path):
    (tmp_path / "factor.hpp").write_text("inline constexpr float factor = 2;\n")
    source = tmp_path / "mine.cpp"
    source.write_text('#include "factor.hpp"\n' + SCALE.replace("*= a", "*= a * factor"))
    x = numbers(10)
    first = kaio.compile(source)
    first.scale[kaio.over(10)](x, 1.0, 10)
    assert np.array_equal(x, 2 * numbers(10)) and kaio.compile(source).file == first.file
    (tmp_path / "factor.hpp").write_text("inline constexpr float factor = 3;\n")
    kaio.compile(source).scale[kaio.over(10)](x, 1.0, 10)
    assert np.array_equal(x, 6 * numbers(10))
    refused(lambda: kaio.check(kaio.compile(source).scale[kaio.over(11)], numbers(10), 1.0, 11), "mine.cpp:5", error=kaio.CheckFailed)
    other = tmp_path / "headers"
    other.mkdir()
    (other / "offset.hpp").write_text("inline constexpr float offset = 1;\n")
    made = kaio.compile('#include "offset.hpp"\n' + SCALE.replace("*= a", "+= offset"), include=other)
    made.scale[kaio.over(10)](x, 1.0, 10)
    assert np.array_equal(x, 6 * numbers(10) + 1)


def test_a_cache_that_cannot_be_made(monkeypatch, tmp_path):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    refused(lambda: kaio.compile(SCALE), "XDG_CACHE_HOME", error=kaio.CompileError)


def test_a_damaged_cache_is_made_anew(cache):
    text = SCALE.replace("scale", "damaged")
    known = pathlib.Path(kaio.compile(text).file).parent / "known.json"
    known.write_text("{")
    x = numbers(4)
    kaio.compile(text).damaged[kaio.over(4)](x, 2.0, 4)
    assert np.array_equal(x, 2 * numbers(4))


def test_kernels_keep_their_library_open():
    kernel = kaio.compile(SCALE.replace("*= a", "*= a * 2.0f")).scale
    gc.collect()
    x = numbers(4)
    kernel[kaio.over(4)](x, 1.0, 4)
    assert np.array_equal(x, 2 * numbers(4))


def test_tensors_of_torch(library):
    torch = pytest.importorskip("torch")
    x, y = torch.arange(100, dtype=torch.float32), torch.ones(100)
    library.saxpy[kaio.over(100)](x, y, 2.0, 100)
    assert torch.equal(y, 1 + 2 * x)
    refused(lambda: library.saxpy[kaio.over(100)](x, y, x[1], 100), "argument 3 is a Tensor", ".item()")
    gradient = torch.ones(100, requires_grad=True)
    refused(lambda: library.saxpy[kaio.over(100)](gradient, y, 2.0, 100), "kernel saxpy: argument 1 requires a gradient", error=TypeError)


def test_examples_of_the_page():
    """Each block of Python in docs/python/kernels.md, one after another."""
    page = (ROOT / "docs/python/kernels.md").read_text()
    blocks = re.findall(r"^```python\n(.*?)^```", page, re.DOTALL | re.MULTILINE)
    assert len(blocks) == 3
    names: dict = {}
    for block in blocks:
        exec(block, names)
