"""Binary seeds: good files of each format, from which the fuzzer makes bad ones.

    write(target, folder): writes the seeds of a target as files; writes none if its seeds are in seeds/<target>/
"""

import struct

TEXT = b".version 8.0\n.target sm_70\n.address_size 64\n.visible .entry k()\n{\n  ret;\n}\n"
PLAIN, LZ4, ZSTANDARD = 0x11, 0x2011, 0x8011


def member(sm, contents, flags=PLAIN, plain=0, kind=1):
    padded = contents + bytes(8 - len(contents) % 8)
    compressed = 0 if flags == PLAIN else len(contents)
    return struct.pack("<HHIQIIIIQQQQ", kind, 0x101, 64, len(padded), compressed, 0, 0x90000, sm, 0, flags, 0,
                       plain) + padded


def fat_binary(*members):
    inside = b"".join(members)
    return struct.pack("<IHHQ", 0xba55ed50, 1, 16, len(inside)) + inside


def lz4(literals, repeated):
    """A block: literals, then a match that repeats the last byte `repeated` times, then a line end."""
    def more(length):
        return b"" if length < 15 else b"\xff" * ((length - 15) // 255) + bytes([(length - 15) % 255])
    token = min(len(literals), 15) << 4 | min(repeated - 4, 15)
    return (bytes([token]) + more(len(literals)) + literals + struct.pack("<H", 1) + more(repeated - 4) +
            b"\x10\n")


def fat_binaries():
    spaces = TEXT + b" "
    block = lz4(spaces, 299)
    compressed = member(80, block, LZ4, len(spaces) + 300)
    return {"plain": fat_binary(member(70, TEXT)), "lz4": fat_binary(compressed),
            "several": fat_binary(member(75, TEXT), member(90, b"\x7fELF", kind=2), compressed, member(100, TEXT)),
            "zstandard": fat_binary(member(80, b"\x28\xb5\x2f\xfd\x20\x03\x19\x00\x00abc", ZSTANDARD, 3))}


def npy(header, elements, version=1):
    text = header.encode() + b"\n"
    length = struct.pack("<H" if version == 1 else "<I", len(text))
    return b"\x93NUMPY" + bytes([version, 0]) + length + text + elements


def npy_files():
    return {"matrix": npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }", bytes(24)),
            "vector": npy("{'descr': '|u1', 'fortran_order': True, 'shape': (5,), }", bytes(5), 2),
            "scalar": npy('{"shape": (), "descr": "<f8", "fortran_order": False}', bytes(8), 3),
            "empty": npy("{'descr': '|b1', 'fortran_order': False, 'shape': (0L, 18446744073709551615), }", b"")}


def text64(text):
    return struct.pack("<Q", len(text)) + text


def gguf(keys, tensors, data):
    """keys: (name, type, bytes); tensors: (name, dims, type, offset)"""
    head = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(keys))
    for name, kind, value in keys:
        head += text64(name) + struct.pack("<I", kind) + value
    for name, dims, kind, offset in tensors:
        head += text64(name) + struct.pack(f"<I{len(dims)}QIQ", len(dims), *dims, kind, offset)
    return head + bytes(-len(head) % 32) + data


def gguf_files():
    keys = [(b"general.alignment", 4, struct.pack("<I", 32)), (b"name", 8, text64(b"llama")),
            (b"tokens", 9, struct.pack("<IQ", 8, 2) + text64(b"a") + text64(b"b")), (b"yes", 7, b"\1")]
    return {"keys": gguf(keys, [], b""), "numbers": gguf([], [(b"w", [2, 2], 0, 0), (b"b", [3], 1, 32)], bytes(64)),
            "blocks": gguf(keys, [(b"q", [32, 2], 2, 0), (b"k", [256], 12, 64)], bytes(224))}


def safetensors_files():
    def made(header, data):
        return struct.pack("<Q", len(header)) + header + data
    return {"numbers": made(b'{"__metadata__":{"a":"b"},"w":{"dtype":"F16","shape":[2,3],"data_offsets":[0,12]}}', bytes(12)),
            "layer": made(b'{"q.weight":{"dtype":"I8","shape":[2,2],"data_offsets":[0,4]},'
                          b'"q.SCB":{"dtype":"F32","shape":[2],"data_offsets":[4,12]}}', bytes(12)),
            "experts": made(b'{"e.w":["F8_E4M3",[1,2,2],[0,4]],"e.w_scale_inv":{"dtype":{"F8_E8M0":null},"shape":[1,1,1],'
                            b'"data_offsets":[4,5]},"e.w_bias":{"dtype":"U8","shape":[0],"data_offsets":[5,5]}}', bytes(5)),
            "state": made(b'{"q.weight":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},'
                          b'"q.weight.absmax":{"dtype":"F32","shape":[1],"data_offsets":[1,5]},'
                          b'"q.weight.quant_map":{"dtype":"F32","shape":[1],"data_offsets":[5,9]},'
                          b'"q.weight.quant_state.bitsandbytes__nf4":{"dtype":"U8","shape":[30],"data_offsets":[9,39]}}',
                          bytes(9) + b'{"blocksize":64,"shape":[1,2]}')}


def fnv(text):
    value = 0xcbf29ce484222325
    for byte in text:
        value = (value ^ byte) * 0x100000001b3 % 2**64
    return value


def tune_files():
    device = b"GPU sm_90a 132 driver 13000 kaio 0.1.0"
    lines = [b"kaio-tune 1 " + device + b"\n"]
    for key, variant in ((b"matmul/f16/4096", b"sm90_rows_f16_128x256"), (b"k", b"v")):
        lines.append(b"%016x %s %s\n" % (fnv(device + b"\n" + key + b" " + variant), key, variant))
    return {"whole": b"".join(lines), "entries": b"\0\x07\x2a\x01key variant\nmatmul/f16/4096 sm90_rows\n"}


def suppressions():
    return {"rules": b"# known\nraces reduce_* 41\nall *_kernel ops/attention.hpp:120\nmemory * # all\n",
            "stars": b"uninitialised *a*a*a*a*\n", "refused": b"race k\n"}


MADE = {"fat_binary": fat_binaries, "npy": npy_files, "gguf": gguf_files, "safetensors": safetensors_files, "tune_file": tune_files, "suppressions": suppressions}


def write(target, folder):
    folder.mkdir(parents=True, exist_ok=True)
    for name, contents in MADE.get(target, dict)().items():
        (folder / name).write_bytes(contents)
