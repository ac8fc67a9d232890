"""Tensors of files: their numbers for NumPy and torch."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any

from . import _core
from ._arrays import _numpy_type, _torch_type
from .errors import UnsupportedFormat

# The element types of kaio_weight_format, as far as each is a number of whole bytes.
_DTYPES = (
    "f64",
    "f32",
    "f16",
    "bf16",
    "e4m3",
    "e5m2",
    "e4m3fnuz",
    "e5m2fnuz",
    "e8m0",
    "c64",
    "bool",
    "i64",
    "i32",
    "i16",
    "i8",
    "u64",
    "u32",
    "u16",
    "u8",
)
_FNUZ = {"e4m3fnuz": "float8_e4m3fnuz", "e5m2fnuz": "float8_e5m2fnuz"}


def _numpy_dtype(name: str) -> Any:
    if name == "c64":
        import numpy

        return numpy.complex64
    if name in _FNUZ:
        try:
            types = importlib.import_module("ml_dtypes")
        except ImportError:
            raise TypeError(
                f"kaio: NumPy has no elements of {name}; install ml_dtypes, or read the tensor with .torch()"
            ) from None
        return getattr(types, _FNUZ[name])
    return _numpy_type(name)


def torch_dtype(name: str) -> Any:
    import torch

    if name in ("u16", "u32", "u64"):
        return getattr(torch, f"uint{name[1:]}")
    if name == "c64":
        return torch.complex64
    if name == "e8m0":
        return getattr(torch, "float8_e8m0fnu", torch.uint8)  # torch has it from 2.7 on
    return getattr(torch, _FNUZ[name]) if name in _FNUZ else _torch_type(name)


class WeightTensor:
    """A tensor of a file. It reads the file when it is asked for numbers."""

    __slots__ = (
        "_file",
        "_index",
        "block_bytes",
        "block_elements",
        "dtype",
        "file",
        "format",
        "has_values",
        "name",
        "nbytes",
        "offset",
        "operation",
        "shape",
        "size",
    )

    name: str
    """the name in the file"""
    shape: tuple[int, ...]
    """extents, outermost first, in GGUF too: a weight is (n, k)"""
    format: str
    """the elements, as the files spell them: "BF16", "F8_E4M3", "Q4_K" """
    dtype: str | None
    """the element type in kaio's words, as "bf16"; None: blocks, or elements of less than a byte"""
    size: int
    """the number of elements"""
    nbytes: int
    """bytes in the file"""
    has_values: bool
    """whether values() decodes it"""
    operation: str
    """the operation of kaio that multiplies with it, after a step before; empty: none does"""
    file: str
    """the path of the file that has it"""
    offset: int
    """of the first byte in that file"""

    def __init__(self, file: _core.WeightFile, index: int) -> None:
        facts = file.tensor(index)
        number = facts["format_number"]
        self._file, self._index = file, index
        self.name, self.shape, self.format = facts["name"], facts["shape"], facts["format"]
        self.dtype = _DTYPES[number] if number < len(_DTYPES) else None
        self.size, self.nbytes, self.has_values = facts["elements"], facts["nbytes"], facts["has_values"]
        self.operation, self.file, self.offset = facts["operation"], facts["file"], facts["offset"]
        self.block_elements, self.block_bytes = facts["block_elements"], facts["block_bytes"]

    def __repr__(self) -> str:
        return f"WeightTensor({self.name!r}, {self.format}, {self.shape})"

    @property
    def bytes(self) -> Any:
        """The bytes in the mapped file: a NumPy array (nbytes) of uint8, read-only."""
        import numpy

        return numpy.asarray(self._file.bytes(self._index))

    def values(self, first: int = 0, count: int | None = None) -> Any:
        """Decodes elements to f32, row by row: a NumPy array (count).

        first: the first element; count: None: all from there on
        Raises UnsupportedFormat if kaio does not decode the format; InvalidArgument.
        """
        import numpy

        if not self.has_values:
            raise UnsupportedFormat(f"kaio: tensor '{self.name}' of '{self.file}': kaio does not decode {self.format}")
        decoded: Any = numpy.empty(self.size - first if count is None else count, dtype=numpy.float32)
        self._file.read_values(self._index, first, decoded.size, decoded.ctypes.data)
        return decoded

    def numpy(self, dtype: str | None = None) -> Any:
        """The tensor as a NumPy array of its shape.

        dtype: None: the elements of the file, without a copy and read-only; blocks, such as Q4_K, are decoded to f32.
          bf16 and floats of 8 bits need the package ml_dtypes. "f32" decodes every format; other types, such as "f16", are
          converted to.
        """
        if dtype is None and self.dtype is not None:
            return self.bytes.view(_numpy_dtype(self.dtype)).reshape(self.shape)
        if dtype in (None, "f32"):
            return self.values().reshape(self.shape)
        if dtype == self.dtype:
            return self.numpy().copy()
        if self.dtype is not None and self.dtype[0] in "iub":  # integers keep all of their bits
            return self.numpy().astype(_numpy_dtype(str(dtype)))
        return self.values().astype(_numpy_dtype(str(dtype))).reshape(self.shape)

    def torch(self, device: Any = None, dtype: Any = None) -> Any:
        """The tensor as a torch tensor of its shape, a copy on `device`, the CPU if it is None.

        dtype: None: the elements of the file; blocks are decoded to torch.float32. A torch.dtype is converted to.
        """
        import torch

        if self.dtype is None:
            made = torch.from_numpy(self.values()).reshape(self.shape)
        else:
            made = torch_of(self.bytes, self.dtype, self.shape)
        return made.to(device=device, dtype=dtype)


def torch_of(data: Any, dtype: str, shape: Sequence[int], device: Any = None) -> Any:
    """A torch tensor with a copy of these bytes."""
    import torch

    made = torch.empty(tuple(shape), dtype=torch_dtype(dtype))
    if made.numel() != 0:
        made.reshape(-1).view(torch.uint8).numpy()[:] = data
    return made if device is None else made.to(device)
