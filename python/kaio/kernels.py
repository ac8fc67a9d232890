"""Your own kernels, written in C++ with kaio's language: loaded from a library, or compiled from a text.

docs/python/kernels.md has the whole of it.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Callable, Iterator

from . import _core
from ._core import Kernel, grid, over, strided
from .errors import CheckFailed

if TYPE_CHECKING:
    import pathlib

__all__ = ["Kernel", "KernelLibrary", "check", "compile", "grid", "load", "over", "strided"]


class KernelLibrary:
    """The kernels of a C++ program, by name.

        library.saxpy[kaio.over(n)](x, y, 2.0, n)
        library["filters::sharpen<f32, 4>"]

    A kernel has its name in PTX, that of its C++ object, and the latter without namespaces.
    """

    def __init__(self, file: str) -> None:
        self._library = _core.OpenedLibrary(file)
        self.file = file

    def __getattr__(self, name: str) -> Kernel:
        if name.startswith("__"):
            raise AttributeError(name)
        try:
            found = self[name]
        except KeyError as error:
            raise AttributeError(error.args[0]) from None
        self.__dict__[name] = found
        return found

    def __getitem__(self, name: str) -> Kernel:
        try:
            return self._library.find(name)
        except ValueError as error:
            raise KeyError(str(error)) from None

    def __iter__(self) -> Iterator[Kernel]:
        return iter(self._library.kernels())

    def __len__(self) -> int:
        return len(self._library.kernels())

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *(kernel.name for kernel in self)]

    def __repr__(self) -> str:
        return f"<kaio library {self.file} with {', '.join(kernel.signature for kernel in self)}>"

    @property
    def version(self) -> str:
        """The version of kaio that it was built with."""
        return str(self._library.version())


def load(file: str | os.PathLike[str]) -> KernelLibrary:
    """Loads a library of kernels, which kaio_kernel_library() of CMake builds. It runs code of the file.

        kernels = kaio.load("build/libmy_kernels.so")
        kernels.saxpy[kaio.over(n)](x, y, 2.0, n)

    Raises UnreadableFile, or UnsupportedFormat if the file is no such library, or one of another version of kaio.
    """
    path = os.fspath(file)
    if os.path.exists(path):
        path = os.path.abspath(path)
    return KernelLibrary(path)


def compile(source: str | os.PathLike[str], *, kernels: list[str] | tuple[str, ...] | None = None, include: Any = (),
            flags: list[str] | tuple[str, ...] = (), compiler: str | None = None) -> KernelLibrary:  # fmt: skip
    """Compiles kernels with the g++ (12 or newer) or clang (16 or newer) of this machine, about a second; once for each text.

        kernels = kaio.compile(r'''
        inline constexpr auto scale = kernel<"scale", 256>([](thread t, inout<f32> x, val<f32> a, val<u32> n) {
          val i = t.global_id();
          if (auto in_range = t.when(i < n)) x[i] *= a;
        });
        ''')
        kernels.scale[kaio.over(n)](x, 0.5, n)

    source: C++ text, after `#include <kaio/dsl/dsl.hpp>` and `using namespace kaio`; or the path of a C++ file, as a pathlib.Path
    kernels: the C++ names of the kernels, "scale<f32>"; None: what the text names in KAIO_KERNEL_LIBRARY, or each
        `constexpr auto name = kernel<"..."` in it
    include: folders of headers that it includes
    flags: for the compiler
    compiler: a command; None: CXX of the environment, else the first that is new enough

    Results are kept in $XDG_CACHE_HOME/kaio/kernels. Raises CompileError with the compiler's text.
    """
    from . import _compiler  # what it imports is not needed for a launch

    folders = [include] if isinstance(include, (str, os.PathLike)) else list(include)
    built = _compiler.build(source, kernels, [os.fspath(folder) for folder in folders], list(flags), compiler)
    return KernelLibrary(str(built))


def check(call: Callable[..., Any], *arguments: Any, checks: str | None = None, reports: int = 1, **keywords: Any) -> Any:
    """Runs a call on the emulator under its sanitizer, and returns its result. If the sanitizer finds an access out of bounds,
    a race, or another error, raises CheckFailed with the report, which names the line of C++.

        kaio.check(kernels.scale[kaio.over(n)], x, 0.5, n)
        kaio.check(kaio.matmul, a, b)

    Arrays of a GPU are copied to the CPU for the check: what the call writes there is not copied back.

    checks: a list such as "memory,races" or "all,-async"; None: all
    reports: a launch is stopped after this number of reports
    """
    _core.begin_checks(checks, reports)
    failure: BaseException | None = None
    result = None
    try:
        result = call(*(_on_cpu(a) for a in arguments), **{name: _on_cpu(a) for name, a in keywords.items()})
    except Exception as error:
        failure = error
    finally:
        launches, failed, text = _core.end_checks()
    if failed:
        raise CheckFailed(text) from None
    if failure is not None:
        raise failure
    if not launches:
        raise CheckFailed(
            "kaio: nothing of this call ran on the emulator, so nothing was checked; pass arrays of the CPU, or of the emulator"
        )
    return result


def _on_cpu(value: Any) -> Any:
    """A copy of what is on a GPU; what is elsewhere as it is."""
    if isinstance(value, (list, tuple)) and type(value) in (list, tuple):
        return type(value)(_on_cpu(item) for item in value)
    if isinstance(value, _core.Array):
        return value.numpy() if value.device.startswith("cuda") else value
    if isinstance(value, strided):
        return value
    module = type(value).__module__.split(".")[0]
    if module == "torch" and getattr(value, "is_cuda", False):
        return value.detach().cpu()
    if module == "cupy" and hasattr(value, "get"):
        return value.get()
    if module == "numba" and hasattr(value, "copy_to_host"):
        return value.copy_to_host()
    return value


def headers() -> pathlib.Path:
    """The folder of kaio's C++ headers: those of this package, or of the repository that it is part of."""
    from . import _compiler

    return _compiler.headers()
