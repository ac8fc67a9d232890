"""Files of numpy.save, without NumPy: arrays as lists of numbers."""

import pathlib
import struct

FORMATS = {"f16": ("<f2", "e", 2), "f32": ("<f4", "f", 4), "s32": ("<i4", "i", 4), "bf16": ("<u2", "H", 2)}


def write(file, kind, values):
    descr, code, _ = FORMATS[kind]
    header = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': ({len(values)},), }}"
    header += " " * (-(len(header) + 11) % 64) + "\n"
    data = struct.pack(f"<{len(values)}{code}", *values)
    pathlib.Path(file).write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + data)


def read(file, kind):
    _, code, size = FORMATS[kind]
    whole = pathlib.Path(file).read_bytes()
    data = whole[10 + struct.unpack_from("<H", whole, 8)[0]:]
    values = list(struct.unpack(f"<{len(data) // size}{code}", data))
    if kind == "bf16":
        return [struct.unpack("<f", struct.pack("<I", value << 16))[0] for value in values]
    return values


def rounded(kind, values):
    """The values as their type holds them."""
    code = FORMATS[kind][1]
    return list(struct.unpack(f"<{len(values)}{code}", struct.pack(f"<{len(values)}{code}", *values)))
