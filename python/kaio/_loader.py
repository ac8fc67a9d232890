"""Loads libkaio, which the native module is linked to: the one next to it in a wheel, or the one that KAIO_LIBRARY names."""

from __future__ import annotations

import os

_LIBRARY = "libkaio.so.0"


def _load() -> None:
    given = os.environ.get("KAIO_LIBRARY")
    path = given or os.path.join(os.path.dirname(os.path.realpath(__file__)), "lib", _LIBRARY)
    if not os.path.exists(path):
        raise ImportError(
            f"kaio: {path} is missing; " + ("KAIO_LIBRARY names no file" if given else "install the wheel again, or set KAIO_LIBRARY to the path of libkaio.so")
        )
    if given:  # the module finds the other one by itself
        import ctypes

        ctypes.CDLL(path, mode=os.RTLD_LOCAL | os.RTLD_NOW)


_load()
