"""Files of weights, made by hand: safetensors and GGUF containers, and the words of quantisers.

The formulas of codes, zero points and scales are exact in every language, so that checksums of packed tensors can be compared
with those of the formats' reference programs.
"""

from __future__ import annotations

import json
import struct

import numpy as np

NAMES = {
    "float64": "F64",
    "float32": "F32",
    "float16": "F16",
    "int64": "I64",
    "int32": "I32",
    "int16": "I16",
    "int8": "I8",
    "uint64": "U64",
    "uint32": "U32",
    "uint16": "U16",
    "uint8": "U8",
    "bool": "BOOL",
}
GGUF_TYPES = {
    "F32": (0, 1, 4),
    "F16": (1, 1, 2),
    "Q4_0": (2, 32, 18),
    "Q4_1": (3, 32, 20),
    "Q5_0": (6, 32, 22),
    "Q8_0": (8, 32, 34),
    "Q2_K": (10, 256, 84),
    "Q4_K": (12, 256, 144),
    "Q6_K": (14, 256, 210),
    "IQ4_NL": (20, 32, 18),
    "BF16": (30, 1, 2),
}


def safetensors(tensors, metadata=None):
    """The bytes of a safetensors file. A tensor is an array, or (dtype, shape, bytes)."""
    header, data = {}, b""
    if metadata:
        header["__metadata__"] = metadata
    for name, tensor in tensors.items():
        if isinstance(tensor, tuple):
            dtype, shape, content = tensor
        else:
            tensor = np.asarray(tensor)
            dtype, shape, content = NAMES[str(tensor.dtype)], tensor.shape, tensor.tobytes()
        header[name] = {"dtype": dtype, "shape": list(shape), "data_offsets": [len(data), len(data) + len(content)]}
        data += content
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + data


def _string(text):
    return struct.pack("<Q", len(text.encode())) + text.encode()


def _value(value):
    if isinstance(value, bool):
        return 7, struct.pack("<?", value)
    if isinstance(value, int):
        return (4, struct.pack("<I", value)) if value >= 0 else (5, struct.pack("<i", value))
    if isinstance(value, float):
        return 6, struct.pack("<f", value)
    if isinstance(value, str):
        return 8, _string(value)
    kind = _value(value[0])[0]
    return 9, struct.pack("<IQ", kind, len(value)) + b"".join(_value(v)[1] for v in value)


def gguf(tensors, metadata=None):
    """The bytes of a GGUF file. A tensor is (type name, shape outermost first, bytes)."""
    metadata = metadata or {}
    head = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(metadata))
    for key, value in metadata.items():
        kind, content = _value(value)
        head += _string(key) + struct.pack("<I", kind) + content
    data = b""
    for name, (kind, shape, content) in tensors.items():
        head += _string(name) + struct.pack("<I", len(shape)) + b"".join(struct.pack("<Q", extent) for extent in reversed(shape))
        head += struct.pack("<IQ", GGUF_TYPES[kind][0], len(data))
        data += content + bytes(-len(content) % 32)
    return head + bytes(-len(head) % 32) + data


def codes(k, n, bits):
    """q[k][n]."""
    i, j = np.meshgrid(np.arange(k), np.arange(n), indexing="ij")
    return ((7 * i + 3 * j + (i * j) % 5) % 2**bits).astype(np.uint32)


def zeros(groups, n, bits):
    """z[g][n], never 0."""
    g, j = np.meshgrid(np.arange(groups), np.arange(n), indexing="ij")
    return (1 + (5 * g + 3 * j) % (2**bits - 1)).astype(np.uint32)


def scales(groups, n):
    """s[g][n] of f16, exact."""
    g, j = np.meshgrid(np.arange(groups), np.arange(n), indexing="ij")
    return ((1 + ((3 * g + j) % 8) / 8) / 64).astype(np.float16)


def act_order(k, group):
    """g_idx[k]."""
    return (((37 * np.arange(k)) % k) // group).astype(np.int32)


def words_along_rows(q, bits):
    """Packs (rows, columns) into i32 (rows bits / 32, columns), the first row in the least significant bits."""
    rows, columns = q.shape
    stream = ((q[:, None, :] >> np.arange(bits, dtype=np.uint32)[None, :, None]) & 1).reshape(rows * bits // 32, 32, columns)
    return (stream.astype(np.uint64) << np.arange(32, dtype=np.uint64)[None, :, None]).sum(1).astype(np.uint32).view(np.int32)


def words_along_columns(q, bits):
    return np.ascontiguousarray(words_along_rows(q.T, bits).T)


def gptq(k=128, n=128, bits=4, group=32, v2=False, order=False):
    """GPTQ's tensors, and W (n, k) in f32."""
    groups = -(-k // group)
    q, z, s = codes(k, n, bits), zeros(groups, n, bits), scales(groups, n)
    index = act_order(k, group) if order else (np.arange(k) // group).astype(np.int32)
    stored = z if v2 else (z - 1) % 2**bits
    w = s.astype(np.float32)[index] * (q.astype(np.float32) - z.astype(np.float32)[index])
    tensors = {"qweight": words_along_rows(q, bits), "qzeros": words_along_columns(stored, bits), "scales": s, "g_idx": index}
    return tensors, np.ascontiguousarray(w.T)


AWQ_ORDER = (0, 2, 4, 6, 1, 3, 5, 7)


def awq(k=128, n=128, group=32):
    """AutoAWQ's tensors of version gemm, and W (n, k) in f32."""
    groups = k // group
    q, z, s = codes(k, n, 4), zeros(groups, n, 4), scales(groups, n)

    def packed(numbers):
        return words_along_columns(numbers.reshape(len(numbers), -1, 8)[:, :, AWQ_ORDER].reshape(len(numbers), -1), 4)

    index = np.arange(k) // group
    w = s.astype(np.float32)[index] * (q.astype(np.float32) - z.astype(np.float32)[index])
    return {"qweight": packed(q), "qzeros": packed(z), "scales": s}, np.ascontiguousarray(w.T)


def compressed(k=128, n=128, bits=4, group=32):
    """Tensors of compressed-tensors' pack-quantized, and W (n, k) in f32."""
    groups = k // group
    q, z, s = codes(k, n, bits), zeros(groups, n, bits), scales(groups, n)
    index = np.arange(k) // group
    w = s.astype(np.float32)[index] * (q.astype(np.float32) - z.astype(np.float32)[index])
    tensors = {
        "weight_packed": words_along_columns(np.ascontiguousarray(q.T), bits),
        "weight_scale": np.ascontiguousarray(s.T),
        "weight_zero_point": words_along_rows(np.ascontiguousarray(z.T), bits),
        "weight_shape": np.array([n, k], dtype=np.int64),
    }
    return tensors, np.ascontiguousarray(w.T)


def numbers(n):
    """x[i] of f32, exact."""
    return (((37 * np.arange(n) + 11) % 101 - 50) / 16).astype(np.float32)


NF4 = np.array(
    [
        -1.0,
        -0.6961928009986877,
        -0.5250730514526367,
        -0.39491748809814453,
        -0.28444138169288635,
        -0.18477343022823334,
        -0.09105003625154495,
        0.0,
        0.07958029955625534,
        0.16093020141124725,
        0.24611230194568634,
        0.33791524171829224,
        0.44070982933044434,
        0.5626170039176941,
        0.7229568362236023,
        1.0,
    ],
    dtype=np.float32,
)
E2M1 = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.0, -0.5, -1, -1.5, -2, -3, -4, -6], dtype=np.float32)


def e4m3():
    """The numbers of the 256 codes of e4m3, NaN for 0x7f and 0xff."""
    code = np.arange(256)
    exponent, mantissa = (code >> 3) & 15, code & 7
    value = np.where(exponent == 0, mantissa / 8 * 2.0**-6, (1 + mantissa / 8) * 2.0 ** (exponent - 7.0))
    value[(code & 127) == 127] = np.nan
    return np.where(code < 128, value, -value).astype(np.float32)


def bf16(x):
    """The bytes of bf16, truncated: the numbers of the tests are exact."""
    return ("BF16", x.shape, (np.ascontiguousarray(x, dtype=np.float32).view(np.uint32) >> 16).astype(np.uint16).tobytes())


def halves(q, high_first=False):
    """Codes of four bits (rows, k), two a byte."""
    even, odd = q[:, 0::2].astype(np.uint8), q[:, 1::2].astype(np.uint8)
    return (even << 4 | odd) if high_first else (odd << 4 | even)


def schemes():
    """Layers `l` of n = 32 and k = 64 or 256: {name: (tensors, config, W (n, k) of f32, the scheme, packed or dense)}."""
    n, k = 32, 64
    made = {}

    def add(name, tensors, w, scheme, config=None, packs=True):
        made[name] = ({f"l{key}": value for key, value in tensors.items()}, config, w, scheme, packs)

    for bits in (2, 3, 4, 8):
        for v2 in (False, True):
            t, w = gptq(k, n, bits, 16 if bits != 3 else 32, v2=v2, order=bits == 4)
            config = {"quant_method": "gptq", "bits": bits, "group_size": 16 if bits != 3 else 32, "desc_act": bits == 4}
            if v2:
                config["checkpoint_format"] = "gptq_v2"
            add(f"gptq {bits} bits v{1 + v2}", {f".{key}": value for key, value in t.items()}, w, "gptq", config)
        t, w = compressed(k, n, bits, 32)
        add(f"pack-quantized {bits} bits", {f".{key}": value for key, value in t.items()}, w, "packed_int")
    t, w = awq(k, n)
    add(
        "awq",
        {f".{key}": value for key, value in t.items()},
        w,
        "awq_gemm",
        {"quant_method": "awq", "bits": 4, "group_size": 32, "version": "gemm"},
    )
    q, z, s = codes(k, n, 4), zeros(2, n, 4), scales(2, n)
    padded, wide = np.zeros((n, 32), np.uint32), np.zeros((n, 32), np.float16)
    padded[:, :2], wide[:, :2] = z.T, s.T
    add(
        "awq gemv",
        {
            ".qweight": words_along_columns(np.ascontiguousarray(q.T), 4),
            ".qzeros": words_along_columns(padded, 4),
            ".scales": wide,
        },
        w,
        "awq_gemv",
        {"quant_method": "awq", "bits": 4, "group_size": 32, "version": "gemv"},
    )

    integers = (codes(k, n, 8).T.astype(np.int64) - 128).astype(np.int8)
    rows = ((1 + np.arange(n) % 5) / 4).astype(np.float32)
    add("int8 rows", {".weight": integers, ".weight_scale": rows[:, None]}, integers * rows[:, None], "int8")
    groups = np.ascontiguousarray(scales(2, n).T)
    add(
        "int8 groups",
        {".weight": integers, ".weight_scale": groups, ".weight_zero_point": np.full((n, 2), 3, np.int8)},
        (integers.astype(np.float32) - 3) * np.repeat(groups.astype(np.float32), 32, 1),
        "int8",
    )
    add("llm.int8", {".weight": integers, ".SCB": rows * 127}, integers * rows[:, None], "llm_int8")

    bytes8 = ((37 * np.arange(n * k)) % 120 + np.arange(n * k) % 2 * 128).astype(np.uint8).reshape(n, k)
    floats = e4m3()[bytes8]
    f8 = ("F8_E4M3", (n, k), bytes8.tobytes())
    add("fp8 rows", {".weight": f8, ".weight_scale": rows[:, None]}, floats * rows[:, None], "fp8")
    add("fp8 tensor", {".weight": f8, ".weight_scale": np.float32([0.5])}, floats * np.float32(0.5), "fp8")
    big = ((37 * np.arange(160 * 256)) % 120).astype(np.uint8).reshape(160, 256)
    blocks = np.float32([[0.5, 2], [1, 0.25]])
    add(
        "fp8 blocks",
        {".weight": ("F8_E4M3", big.shape, big.tobytes()), ".weight_scale_inv": blocks},
        e4m3()[big] * np.repeat(np.repeat(blocks, 128, 0), 128, 1)[:160],
        "fp8_block",
    )

    nibbles = np.ascontiguousarray(q.T)
    absmax = ((1 + np.arange(n) % 7) / 8).astype(np.float32)
    state = json.dumps({"quant_type": "nf4", "blocksize": 64, "dtype": "bfloat16", "shape": [n, k]}).encode()
    parts = {".weight": halves(nibbles, True).reshape(-1, 1), ".weight.quant_map": NF4}
    key = ".weight.quant_state.bitsandbytes__nf4"
    add("nf4", {**parts, ".weight.absmax": absmax, key: np.frombuffer(state, np.uint8)}, NF4[nibbles] * absmax[:, None], "nf4")
    table, nested = (np.arange(256) / 256).astype(np.float32), np.float32([2])
    state = json.dumps(
        {
            "quant_type": "nf4",
            "blocksize": 64,
            "dtype": "bfloat16",
            "shape": [n, k],
            "nested_blocksize": 256,
            "nested_dtype": "float32",
            "nested_offset": 0.5,
        }
    ).encode()
    absmax8 = (5 * np.arange(n)).astype(np.uint8)
    add(
        "nf4 nested",
        {
            **parts,
            ".weight.absmax": absmax8,
            ".weight.nested_absmax": nested,
            ".weight.nested_quant_map": table,
            key: np.frombuffer(state, np.uint8),
        },
        NF4[nibbles] * (table[absmax8] * 2 + np.float32(0.5))[:, None],
        "nf4",
    )

    e8m0 = (125 + np.arange(n * 2) % 4).astype(np.uint8).reshape(n, 2)
    powers = np.repeat(2.0 ** (e8m0.astype(np.float32) - 127), 32, 1).astype(np.float32)
    add("mxfp4", {".weight_packed": halves(nibbles), ".weight_scale": e8m0}, E2M1[nibbles] * powers, "mxfp4_packed")
    add("mxfp4 blocks", {"_blocks": halves(nibbles).reshape(n, 2, 16), "_scales": e8m0}, E2M1[nibbles] * powers, "mxfp4_blocks")
    add(
        "mxfp4 experts",
        {"_blocks": halves(nibbles).reshape(2, n // 2, 2, 16), "_scales": e8m0.reshape(2, n // 2, 2)},
        E2M1[nibbles] * powers,
        "mxfp4_blocks",
    )
    small = (0x30 + np.arange(n * 4) % 16).astype(np.uint8).reshape(n, 4)
    factors = np.repeat(e4m3()[small], 16, 1)
    f8s = ("F8_E4M3", (n, 4), small.tobytes())
    add(
        "nvfp4 packed",
        {".weight_packed": halves(nibbles), ".weight_scale": f8s, ".weight_global_scale": np.float32([2])},
        E2M1[nibbles] * factors / 2,
        "nvfp4_packed",
    )
    add(
        "nvfp4 modelopt",
        {".weight": halves(nibbles), ".weight_scale": f8s, ".weight_scale_2": np.float32(0.25)},
        E2M1[nibbles] * factors / 4,
        "nvfp4_modelopt",
    )
    add("mxfp8", {".weight": f8, ".weight_scale": e8m0}, floats * powers, "mxfp8", packs=False)
    add(
        "torchao int8",
        {"._weight_qdata": integers, "._weight_scale": rows[:, None], "._weight_zero_point": np.zeros((n, 1), np.int8)},
        integers * rows[:, None],
        "torchao_int8",
    )
    plain, offset = scales(2, n), np.full((2, n), 0.25, np.float16)
    index = np.arange(k) // 32
    signed = np.where(nibbles < 8, nibbles, nibbles.astype(np.int64) - 16).astype(np.float32)
    add(
        "torchao int4",
        {"._weight_qdata": halves(nibbles).view(np.int8), "._weight_scale": plain, "._weight_zero_point": offset},
        signed * plain.astype(np.float32)[index].T + np.float32(0.25),
        "torchao_int4_plain",
    )
    return made
