"""The devices of this machine, and what a report of a problem needs."""

from __future__ import annotations

import sys
from typing import NamedTuple

from . import _core


class Device(NamedTuple):
    """What a device is and can do. `name` is what other functions take."""

    name: str
    product: str
    architecture: str
    multiprocessors: int
    total_memory: int
    shared_memory_per_block: int
    driver_version: int


def device(name: str | None = None) -> Device:
    """A device by its name: "cuda:0", "emulator", "emulator:1". None: the first GPU, else the emulator."""
    opened = _core.open(name)
    p = _core.properties(opened)
    architecture = f"sm_{p['sm']}{'a' if p['arch_specific'] else ''}"
    return Device(opened, p["name"], architecture, p["multiprocessors"], p["total_memory"], p["shared_per_block_optin"],
                  p["driver_version"])  # fmt: skip


def devices() -> list[Device]:
    """The GPUs of this machine, and the emulator, which runs every call on the CPU."""
    return [device(f"cuda:{i}") for i in range(_core.device_count())] + [device("emulator:0")]


def synchronize(name: str | None = None) -> None:
    """Waits for all work on a device."""
    _core.synchronize(name or _core.open(None))


def memory_info(name: str | None = None) -> tuple[int, int]:
    """Free and total bytes of a device at this moment."""
    left, total = _core.memory_info(name or _core.open(None))
    return left, total


def doctor() -> str:
    """A text with versions, devices, and the libraries that kaio works with here. Nothing is installed or changed."""
    import platform

    from . import __version__, errors

    lines = [f"kaio {__version__}, library {_core.version()}", f"Python {platform.python_version()}, {sys.executable}",
             f"{platform.system()} {platform.release()}, {platform.machine()}, {' '.join(platform.libc_ver())}"]  # fmt: skip
    try:
        count = _core.device_count()
        if count == 0:
            lines.append("no GPU: arrays of the CPU run on the emulator")
        for index in range(count):
            d = device(f"cuda:{index}")
            driver = f"{d.driver_version // 1000}.{d.driver_version % 1000 // 10}"
            left, total = memory_info(d.name)
            lines.append(f"{d.name}: {d.product}, {d.architecture}, {left >> 20} of {total >> 20} MiB free, driver's CUDA {driver}")
    except errors.Error as error:
        lines.append(f"the GPUs cannot be used: {error}")
    emulated = device("emulator:0")
    lines.append(f"{emulated.name}: {emulated.architecture}")
    from importlib import metadata

    for package in ("torch", "numpy", "cupy", "jax", "numba", "transformers", "triton", "flash-attn"):
        try:
            lines.append(f"{package} {metadata.version(package)}")
        except metadata.PackageNotFoundError:
            continue
    return "\n".join(lines)
