"""Arrays of any framework: what the native module asks Python for."""

from __future__ import annotations

import sys
from typing import Any, Sequence

from . import _core, errors

# An array of torch, NumPy, CuPy, JAX, Numba or kaio, or any object with __dlpack__ or __cuda_array_interface__.
Array = Any

_NUMPY_NAMES = {
    "f32": "float32", "f16": "float16", "f64": "float64", "i8": "int8", "i16": "int16", "i32": "int32", "i64": "int64",
    "u8": "uint8", "u16": "uint16", "u32": "uint32", "u64": "uint64", "bool": "bool_",
}  # fmt: skip
_ML_DTYPES = {"bf16": "bfloat16", "e4m3": "float8_e4m3fn", "e5m2": "float8_e5m2", "e8m0": "float8_e8m0fnu"}

_empty = _core.empty
_empty_like = _core.empty_like
_empty_product = _core.empty_product


def _numpy_type(name: str) -> Any:
    import numpy

    if name in _NUMPY_NAMES:
        return getattr(numpy, _NUMPY_NAMES[name])
    try:
        import ml_dtypes
    except ImportError:
        raise TypeError(f"kaio: NumPy has no elements of {name}; install ml_dtypes, or use an array of torch") from None
    return getattr(ml_dtypes, _ML_DTYPES[name])


def _dtype_of(array: Array) -> str:
    """The name of an array's element type: "f32"."""
    name: str = _core.describe(array)[2]
    return name


# Arguments that are no arrays.
_RECORDS = {"cache": "a kaio.KvCache", "weights": "a kaio.W4Weights or kaio.W8Weights"}


def _wrong(operation: str, error: Exception, **arguments: Any) -> Exception:
    """What a call raises whose arguments have no shape that an output can be made from."""
    for name, argument in arguments.items():
        if argument is None:
            return TypeError(f"kaio: {operation}: argument {name} is None; it is needed")
        record = _RECORDS.get(name)
        if isinstance(error, AttributeError) and not hasattr(argument, "shape" if record is None else "__slots__"):
            kind = type(argument).__qualname__
            needed = record or "an array: of torch, NumPy, CuPy, JAX, Numba, or another with __dlpack__"
            return TypeError(f"kaio: {operation}: argument {name} is {'an' if kind[0] in 'aeiou' else 'a'} {kind}; it has to be {needed}")
    if isinstance(error, IndexError):
        shapes = ", ".join(f"{name} {tuple(a.shape)}" for name, a in arguments.items() if hasattr(a, "shape"))
        return errors.InvalidArgument(f"kaio: {operation}: an argument has too few dimensions; there are {shapes}")
    return TypeError(f"kaio: {operation}: {error}")


def _for_jax(*outputs: Array) -> Any:
    """Arrays of jax of the outputs that were made for it, when they are computed."""
    import jax

    done = tuple(jax.dlpack.from_dlpack(o) if isinstance(o, _core.Array) and o._for_jax else o for o in outputs)
    return done[0] if len(done) == 1 else done


def _reduced(x: Array, axis: int, all: bool) -> tuple[int, ...]:
    """The shape of a reduction of x. The call refuses an axis that x has not."""
    shape = tuple(x.shape)
    if all or len(shape) < 2:
        return (1,)
    axis += len(shape) if axis < 0 else 0
    return shape[:axis] + shape[axis + 1 :] if 0 <= axis < len(shape) else shape[1:]


def _given(*outputs: Array) -> Any:
    """The outputs that exist: one as it is, several as a tuple."""
    exist = tuple(o for o in outputs if o is not None)
    return exist[0] if len(exist) == 1 else exist


def _repr(record: Any) -> str:
    fields = (f"{name}={getattr(record, name)!r}" for name in record.__slots__ if getattr(record, name) is not None)
    return f"{type(record).__name__}({', '.join(fields)})"


def empty(like: Array, shape: Sequence[int], dtype: str | None) -> Array:
    """A new array of `like`'s framework on its device, for frameworks without DLPack's exchange API."""
    name = dtype if dtype is not None else _dtype_of(like)
    module = type(like).__module__.split(".")[0]
    if module == "torch":
        import torch

        return torch.empty(tuple(shape), dtype=_torch_type(name), device=like.device)
    if module == "cupy":
        import cupy

        with cupy.cuda.Device(like.device.id):
            return cupy.empty(tuple(shape), dtype=_numpy_type(name))
    if module == "numba":
        from numba import cuda

        return cuda.device_array(tuple(shape), dtype=_numpy_type(name))
    kind, number, _ = _core.describe(like)
    if module in ("jax", "jaxlib"):
        return _core.allocate("cpu" if kind == 1 else f"cuda:{number}", list(shape), name, True)
    if kind == 1:
        import numpy

        return numpy.empty(tuple(shape), dtype=_numpy_type(name))
    return _core.allocate(f"cuda:{number}", list(shape), name)


def workspace(like: Array, nbytes: int, stream: int | None) -> Array:
    """Bytes of `like`'s framework on its device for a call. stream: the one that uses them, if it is not the current one: an
    allocator reuses memory in the order of the stream that was current."""
    module = type(like).__module__.split(".")[0]
    if stream is not None and module == "torch":
        import torch

        # An ExternalStream of 0 would be a stream of torch's pool.
        default = torch.cuda.default_stream(like.device)
        with torch.cuda.stream(torch.cuda.ExternalStream(stream, device=like.device) if stream else default):
            return torch.empty(nbytes, dtype=torch.uint8, device=like.device)
    if stream is not None and module == "cupy":
        import cupy

        with cupy.cuda.Device(like.device.id), cupy.cuda.ExternalStream(stream, like.device.id):
            return cupy.empty(nbytes, dtype="uint8")
    return _empty(like, [nbytes], "u8")


def _torch_type(name: str) -> Any:
    import torch

    return {
        "f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16, "f64": torch.float64, "i8": torch.int8,
        "i16": torch.int16, "i32": torch.int32, "i64": torch.int64, "u8": torch.uint8, "bool": torch.bool,
        "u16": torch.uint16, "u32": torch.uint32, "u64": torch.uint64, "e4m3": torch.float8_e4m3fn, "e5m2": torch.float8_e5m2,
    }[name]  # fmt: skip


def current_stream(like: Array, device: int) -> int:
    """The current CUstream of `like`'s framework; 0, the default stream, if it has none to ask for."""
    module = type(like).__module__.split(".")[0]
    if module == "torch":
        return int(sys.modules["torch"].cuda.current_stream(device).cuda_stream)
    if module == "cupy":
        return int(sys.modules["cupy"].cuda.get_current_stream().ptr)
    if module == "numba":  # the stream that the array was made for; None: it is ready
        return int(like.__cuda_array_interface__.get("stream") or 0)
    return 0


def array(values: Any, device: str | None = None, dtype: str | None = None) -> _core.Array:
    """Copies a NumPy array, or numbers in lists, into memory of a device.

    values: a NumPy array, or what numpy.asarray takes
    device: "cuda:0", "emulator", "cpu"; None: the first GPU, else the emulator
    dtype: the element type, as "bf16", which is converted to; None: that of `values`
    Raises TypeError for elements that kaio does not have, or that NumPy has only with ml_dtypes.
    """
    import numpy

    source = numpy.asarray(values)
    if dtype is not None:
        source = source.astype(_numpy_type(dtype))
    if not source.dtype.isnative:
        source = source.astype(source.dtype.newbyteorder("="))
    source = numpy.require(source, requirements="C")  # ascontiguousarray would give a number a dimension
    made = _core.allocate(device or _core.open(None), list(source.shape), _dtype_of(source))
    made._write(source.__array_interface__["data"][0])
    return made


def zeros(shape: int | Sequence[int], dtype: str = "f32", device: str | None = None) -> _core.Array:
    """Memory of a device, zero-filled.

    shape: the extents; a number: a vector's
    dtype: the element type, as "bf16"
    device: "cuda:0", "emulator", "cpu"; None: the first GPU, else the emulator
    """
    extents = [shape] if isinstance(shape, int) else list(shape)
    return _core.allocate(device or _core.open(None), extents, dtype)


def _to_numpy(self: _core.Array) -> Any:
    """A copy of the array in memory of the host, after all work of the device. bf16 and elements of 8 bits need ml_dtypes."""
    import numpy

    copy = numpy.empty(self.shape, dtype=_numpy_type(self.dtype))
    self._read(copy.__array_interface__["data"][0])
    return copy


def _array(self: _core.Array, dtype: Any = None, copy: bool | None = None) -> Any:
    if copy is False:
        raise ValueError("kaio: an Array is always copied to NumPy; numpy.from_dlpack shares memory of the CPU")
    values = self.numpy()
    return values if dtype is None else values.astype(dtype, copy=False)


def _describe(self: _core.Array) -> str:
    return f"kaio.Array(shape={self.shape}, dtype='{self.dtype}', device='{self.device}')"


def _length(self: _core.Array) -> int:
    if not self.shape:
        raise TypeError("kaio: an Array without dimensions has no len()")
    return self.shape[0]


def _cuda_interface(self: _core.Array) -> dict[str, Any]:
    if not self.device.startswith("cuda") or self.dtype not in _NUMPY_NAMES:
        raise AttributeError("kaio: only an Array of a GPU, with elements of NumPy, has __cuda_array_interface__")
    import numpy

    _core.synchronize(self.device)
    typestr = numpy.dtype(_numpy_type(self.dtype)).str
    return {"shape": self.shape, "typestr": typestr, "data": (self._address, False), "strides": None, "stream": None, "version": 3}


for _name, _member in (
    ("numpy", _to_numpy), ("__array__", _array), ("__repr__", _describe), ("__len__", _length),
    ("__cuda_array_interface__", property(_cuda_interface)),
):  # fmt: skip
    setattr(_core.Array, _name, _member)
