"""kaio: fast operations for GPUs, over the arrays of any framework, with nothing to compile.

    import kaio
    c = kaio.matmul(a, b)            # arrays of torch, CuPy, JAX, Numba on a GPU; NumPy's run on the emulator
    import kaio.torch                # with gradients, torch.compile, CUDA graphs

docs/python.md has the whole of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import _loader  # loads the library before the native module

__version__ = "0.1.0"

from . import errors, operations
from ._arrays import array, zeros
from ._core import Array, PeerBuffer, PeerWorkspace
from ._questions import Choice, TuneReport, choice, tune, warmup, workspace_bytes
from .devices import Device, device, devices, doctor, memory_info, synchronize
from .errors import CheckFailed, CompileError, Error, InvalidArgument, OutOfMemory, UnsupportedDevice
from .kernels import Kernel, KernelLibrary, check, compile, grid, load, over, strided
from .operations import *  # noqa: F403

if TYPE_CHECKING:
    from . import weights

__all__ = [
    "Array", "CheckFailed", "Choice", "CompileError", "Device", "Error", "InvalidArgument", "Kernel", "KernelLibrary", "OutOfMemory",
    "PeerBuffer", "PeerWorkspace", "TuneReport", "UnsupportedDevice", "array", "check", "choice", "compile", "device", "devices", "doctor", "errors", "grid", "load",
    "memory_info", "over", "strided", "synchronize", "tune", "warmup", "weights", "workspace_bytes", "zeros",
    *operations.__all__,
]  # fmt: skip

del _loader


if not TYPE_CHECKING:

    def __getattr__(name):
        if name == "weights":  # imported when it is first asked for
            from importlib import import_module

            return import_module(".weights", __name__)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
