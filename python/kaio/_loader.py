"""Loads libkaio, which the native module is linked to: the one next to it in a wheel, or the one that KAIO_LIBRARY names."""

from __future__ import annotations

import os

_WINDOWS = os.name == "nt"
_LIBRARY = "kaio.dll" if _WINDOWS else "lib/libkaio.so.0"


def _load() -> None:
    given = os.environ.get("KAIO_LIBRARY")
    path = given or os.path.join(os.path.dirname(os.path.realpath(__file__)), _LIBRARY)
    if not os.path.exists(path):
        raise ImportError(
            f"kaio: {path} is missing; " + ("KAIO_LIBRARY names no file" if given else "install the wheel again, or set KAIO_LIBRARY to the path of kaio's library")
        )
    if not given:  # the module finds the library by itself
        return
    import ctypes

    if not _WINDOWS:
        ctypes.CDLL(path, mode=os.RTLD_LOCAL | os.RTLD_NOW)
    elif os.path.basename(path).lower() == _LIBRARY:  # the module takes a DLL of this name that is loaded
        ctypes.CDLL(os.path.abspath(path))
    else:
        raise ImportError(f"kaio: KAIO_LIBRARY names {path}; on Windows the library's file must be named {_LIBRARY}")


_load()
