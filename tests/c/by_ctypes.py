#!/usr/bin/env python3
"""The C interface through ctypes, as a script calls it that has no compiler: by_ctypes.py LIBRARY.

The structs are made from the descriptions in src/c/operations, as bindings of other languages make theirs.
"""

import array
import ctypes
import math
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "src/c"))
import generate  # noqa: E402


class Device(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int32), ("number", ctypes.c_int32)]


class Tensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device", Device), ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8),
                ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16), ("shape", ctypes.POINTER(ctypes.c_int64)),
                ("strides", ctypes.POINTER(ctypes.c_int64)), ("byte_offset", ctypes.c_uint64)]


TYPES = {"int32_t": ctypes.c_int32, "uint32_t": ctypes.c_uint32, "int64_t": ctypes.c_int64, "uint64_t": ctypes.c_uint64,
         "float": ctypes.c_float, "double": ctypes.c_double, "const char*": ctypes.c_char_p, "const DLTensor*": ctypes.POINTER(Tensor)}


def struct_of(described):
    """A ctypes struct of a described one; a new one has the size and the defaults."""
    members = list(generate.layout(described))

    def type_of(declaration):
        name, _, member = declaration.rpartition(" ")
        return ctypes.c_char * int(member.partition("[")[2][:-1]) if "[" in member else TYPES[name]

    class Struct(ctypes.Structure):
        _fields_ = [(name, type_of(declaration)) for _, name, declaration in members]

        def __init__(self, **values):
            defaults = {name: field["default"] for field, name, _ in members if field and "default" in field}
            super().__init__(size=ctypes.sizeof(Struct), **(defaults | values))

    return Struct


class library:
    def __init__(self, path):
        self.functions = ctypes.CDLL(path)
        self.functions.kaio_last_error.restype = ctypes.c_char_p
        self.device = Device()
        self.call("device_open", None, ctypes.byref(self.device))

    def status(self, name, *arguments):
        return getattr(self.functions, f"kaio_{name}")(*arguments)

    def call(self, name, *arguments):
        if self.status(name, *arguments) != 0:
            raise RuntimeError(self.functions.kaio_last_error().decode())

    def tensor(self, numbers, *shape):
        """A tensor of f32 on the device, and with the numbers of a list."""
        memory, host = ctypes.c_void_p(), array.array("f", numbers)
        self.call("allocate", self.device, ctypes.c_uint64(4 * len(host)), ctypes.byref(memory))
        self.call("copy_to_device", self.device, None, memory, ctypes.c_void_p(host.buffer_info()[0]), ctypes.c_uint64(4 * len(host)))
        self.call("stream_synchronize", self.device, None)
        return Tensor(memory.value, self.device, len(shape), 2, 32, 1, (ctypes.c_int64 * len(shape))(*shape), None, 0)

    def numbers(self, tensor, count):
        host = array.array("f", [0] * count)
        self.call("copy_to_host", self.device, None, ctypes.c_void_p(host.buffer_info()[0]), ctypes.c_void_p(tensor.data),
                  ctypes.c_uint64(4 * count))
        self.call("stream_synchronize", self.device, None)
        return list(host)


def main():
    structs = generate.descriptions().structs
    options_of_matmul, choice_of = struct_of(structs["matmul_options"]), struct_of(structs["kernel_choice"])
    kaio = library(sys.argv[1])
    a = [(i * 7 % 11 - 5) / 4 for i in range(6)]
    b = [(i * 5 % 13 - 6) / 4 for i in range(12)]
    x, w, y = kaio.tensor(a, 2, 3), kaio.tensor(b, 3, 4), kaio.tensor([0] * 8, 2, 4)
    bias = kaio.tensor([1, 2, 3, 4], 4)
    kaio.call("matmul", None, ctypes.byref(x), ctypes.byref(w), ctypes.byref(y),
              ctypes.byref(options_of_matmul(alpha=2, bias=ctypes.pointer(bias))))
    expected = [2 * sum(a[3 * row + i] * b[4 * i + column] for i in range(3)) + column + 1 for row in range(2) for column in range(4)]
    got = kaio.numbers(y, 8)
    assert all(math.isclose(g, e, rel_tol=1e-5, abs_tol=1e-5) for g, e in zip(got, expected)), (got, expected)

    choice = choice_of()
    kaio.call("matmul_choice", ctypes.byref(x), ctypes.byref(w), ctypes.byref(y), None, ctypes.byref(choice))
    assert choice.name.startswith(b"matmul"), choice.name
    assert kaio.status("matmul", None, ctypes.byref(x), ctypes.byref(w), None, None) == 1
    assert kaio.functions.kaio_last_error() == b"kaio: matmul: argument c is NULL; it is needed", kaio.functions.kaio_last_error()
    for tensor in (x, w, y, bias):
        kaio.call("free", kaio.device, ctypes.c_void_p(tensor.data))
    print("right")


if __name__ == "__main__":
    main()
