"""Packed weights for matmul_w4 and matmul_w8 from the tensors of other programs.

Each function takes arrays of one framework on one device, makes the packed memory there, and fills it once. kaio.weights
shows them to users; kaio.torch's modules use them too.
"""

from __future__ import annotations

from typing import Any, Literal, Sequence, Union

from . import _core
from . import operations as ops
from ._arrays import Array, _dtype_of, _empty
from .errors import InvalidArgument, UnsupportedFormat

Packed = Union[ops.W4Weights, ops.W8Weights]

W4_CODES = ("int4", "nf4", "fp4", "e2m1")
W4_SCALES = ("f16", "bf16", "f32", "e8m0", "e4m3")
W8_CODES = ("int8", "e4m3")


def _numbered(names: tuple[str, ...], argument: str, name: str) -> int:
    if name not in names:
        raise InvalidArgument(f"kaio: argument {argument} is {name!r}; it has to be one of {', '.join(names)}")
    return names.index(name)


def layout_of(weights: Packed) -> tuple[int, ...]:
    """The fields of packed weights as numbers, in their order, without the memory. A W4Weights has 10, a W8Weights 7."""
    if isinstance(weights, ops.W4Weights):
        return (
            _numbered(W4_CODES, "codes", weights.codes),
            weights.n,
            weights.k,
            weights.group,
            _numbered(W4_SCALES, "scales", weights.scales),
            int(weights.zero_points),
            int(weights.act_order),
            int(weights.factors),
            int(weights.offsets),
            weights.zero,
        )
    if isinstance(weights, ops.W8Weights):
        return (
            _numbered(W8_CODES, "codes", weights.codes),
            weights.n,
            weights.k,
            weights.group,
            int(weights.zero_points),
            int(weights.act_order),
            int(weights.offsets),
        )
    raise TypeError(f"kaio: argument weights is a {type(weights).__qualname__}; it has to be a kaio.W4Weights or kaio.W8Weights")


def w4_with(layout: Sequence[int], memory: Array | None) -> ops.W4Weights:
    """The W4Weights of a layout, with this memory."""
    codes, n, k, group, scales, zero_points, act_order, factors, offsets, zero = layout
    named: tuple[Any, Any] = W4_CODES[codes], W4_SCALES[scales]
    return ops.W4Weights(
        codes=named[0],
        n=n,
        k=k,
        group=group,
        scales=named[1],
        zero_points=bool(zero_points),
        act_order=bool(act_order),
        factors=bool(factors),
        offsets=bool(offsets),
        zero=zero,
        memory=memory,
    )


def w8_with(layout: Sequence[int], memory: Array | None) -> ops.W8Weights:
    """The W8Weights of a layout, with this memory."""
    codes, n, k, group, zero_points, act_order, offsets = layout
    named: Any = W8_CODES[codes]
    return ops.W8Weights(
        codes=named,
        n=n,
        k=k,
        group=group,
        zero_points=bool(zero_points),
        act_order=bool(act_order),
        offsets=bool(offsets),
        memory=memory,
    )


def packed_bytes(weights: Packed) -> int:
    """The bytes of memory that packed weights of this shape take.

    weights: a kaio.W4Weights or kaio.W8Weights; its memory may be None
    Raises InvalidArgument if no product takes the shape.
    """
    layout = layout_of(weights)
    count: int = _core.w4_packed_bytes(layout) if len(layout) == 10 else _core.w8_packed_bytes(layout)
    return count


def _with_memory(weights: Any, like: Array) -> Any:
    weights.memory = _empty(like, (packed_bytes(weights),), "u8")
    return weights


def _host(array: Array) -> Any:
    """A NumPy array with the numbers of any array of integers."""
    import numpy

    module = type(array).__module__.split(".")[0]
    if module == "torch":
        return array.detach().cpu().numpy()
    if isinstance(array, _core.Array):
        return array.numpy()
    if module == "cupy":
        return array.get()
    return numpy.asarray(array)


def _need_rank(name: str, array: Array, rank: int) -> tuple[int, ...]:
    shape = tuple(getattr(array, "shape", ()))
    if len(shape) != rank:
        raise InvalidArgument(f"kaio: argument {name} has the shape {shape}; it has to have {rank} dimensions")
    return shape


def _group(group: int | None, k: int, groups: int, argument: str) -> int:
    """The codes along k that share a scale, from the number of groups if it is not given."""
    if group is not None and group != -1:
        if -(-k // group) != groups:
            raise InvalidArgument(
                f"kaio: argument group is {group}: {-(-k // group)} groups of k = {k}; argument {argument} has {groups}"
            )
        return group
    if groups == 1:
        return k
    if group == -1 or k % groups != 0:
        raise InvalidArgument(f"kaio: argument {argument} has {groups} groups of k = {k}; give the argument group")
    return k // groups


def _scale_type(name: str, scales: Array) -> Any:
    found = _dtype_of(scales)
    if found not in ("f16", "bf16"):
        raise InvalidArgument(f"kaio: argument {name} has elements of {found}; they have to be f16 or bf16: round them first")
    return found


def _order(g_idx: Array | None, k: int, group: int) -> Array | None:
    """An index of groups that has to be looked at: neither missing, nor all 0 or -1, nor k // group."""
    if g_idx is None:
        return None
    import numpy

    numbers = _host(g_idx)
    if numbers.shape != (k,):
        raise InvalidArgument(f"kaio: argument g_idx has the shape {numbers.shape}; it has to be ({k},)")
    if not numbers.any() or (numbers == -1).all() or (numbers == numpy.arange(k) // group).all():
        return None
    if str(numbers.dtype) == "int32":
        return g_idx
    module = type(g_idx).__module__.split(".")[0]
    return g_idx.int() if module == "torch" else g_idx.astype("int32")


def _shaped(array: Array, shape: tuple[int, ...]) -> Array:
    return array if tuple(array.shape) == shape else array.reshape(shape)


def _is_constant(words: Array, word: int) -> bool:
    import numpy

    return bool((_host(words).view(numpy.uint32) == word).all())


def from_gptq(
    qweight: Array,
    scales: Array,
    qzeros: Array | None = None,
    g_idx: Array | None = None,
    *,
    bits: int = 4,
    group: int | None = None,
    v2: bool = False,
) -> Packed:
    """Packs GPTQ's tensors (GPTQModel, AutoGPTQ, AutoRound). 2, 3 and 4 bits give W4Weights, 8 bits W8Weights.

    qweight: (k bits / 32, n); i32 or u32
    scales: (groups, n); f16 or bf16, of 8 bits f32 too
    qzeros: (groups, n bits / 32); None: symmetric. Zero points that are all symmetric are dropped.
    g_idx: (k); the group of each k, for act-order; one without act-order is dropped
    group: None: k / groups
    v2: True: checkpoint_format "gptq_v2", which stores zero points as they are; "gptq" stores them less 1
    """
    words, n = _need_rank("qweight", qweight, 2)
    groups = _need_rank("scales", scales, 2)[0]
    if bits not in (2, 3, 4, 8):
        raise InvalidArgument(f"kaio: argument bits is {bits}; it has to be 2, 3, 4 or 8")
    k = words * 32 // bits
    group = _group(group, k, groups, "scales")
    g_idx = _order(g_idx, k, group)
    symmetric = {(4, False): 0x77777777, (4, True): 0x88888888, (8, False): 0x7F7F7F7F, (8, True): 0x80808080}.get((bits, v2))
    if qzeros is not None and symmetric is not None and _is_constant(qzeros, symmetric):
        qzeros = None
    if bits == 8:
        w8 = _with_memory(
            ops.W8Weights(n=n, k=k, group=group, zero_points=qzeros is not None, act_order=g_idx is not None), qweight
        )
        ops.repack_gptq_w8(ops.GptqW8(qweight, scales, qzeros=qzeros, g_idx=g_idx, v2=v2), w8)
        return w8  # type: ignore[no-any-return]
    w4 = _with_memory(
        ops.W4Weights(
            n=n,
            k=k,
            group=group,
            scales=_scale_type("scales", scales),
            zero_points=qzeros is not None,
            act_order=g_idx is not None,
        ),
        qweight,
    )
    ops.repack_gptq_w4(ops.GptqW4(qweight, scales, qzeros=qzeros, g_idx=g_idx, v2=v2, bits=bits), w4)
    return w4  # type: ignore[no-any-return]


def from_awq(
    qweight: Array,
    qzeros: Array,
    scales: Array,
    *,
    version: Literal["gemm", "gemv", "gemv_fast"] = "gemm",
    group: int | None = None,
) -> ops.W4Weights:
    """Packs AutoAWQ's tensors of 4 bits.

    gemm: qweight (k, n / 8), qzeros (groups, n / 8), scales (groups, n)
    gemv: qweight (n, k / 8), qzeros (n, zw), scales (n, 8 zw); group is needed
    gemv_fast: qweight (n / 4, k) of i16, scales and qzeros (8 zw, n); group is needed
    """
    rows, columns = _need_rank("qweight", qweight, 2)
    _need_rank("scales", scales, 2)
    if version == "gemm":
        n, k = columns * 8, rows
        weights = ops.W4Weights(
            n=n, k=k, group=_group(group, k, scales.shape[0], "scales"), scales=_scale_type("scales", scales), zero_points=True
        )
        ops.repack_awq_w4(ops.AwqW4(qweight, qzeros, scales), _with_memory(weights, qweight))
        return weights
    if version not in ("gemv", "gemv_fast"):
        raise InvalidArgument(f"kaio: argument version is {version!r}; it has to be one of gemm, gemv, gemv_fast")
    if group is None:
        raise InvalidArgument(f"kaio: argument group is needed for version {version}: its scales are padded")
    if version == "gemv":
        n, k = rows, columns * 8
        weights = ops.W4Weights(n=n, k=k, group=group, scales=_scale_type("scales", scales), zero_points=True)
        ops.repack_awq_gemv_w4(ops.AwqGemvW4(qweight, qzeros, scales), _with_memory(weights, qweight))
        return weights
    weights = ops.W4Weights(n=rows * 4, k=columns, group=group, scales="f32", offsets=True, zero=0)
    ops.repack_awq_gemv_fast_w4(ops.AwqGemvFastW4(qweight, scales, qzeros), _with_memory(weights, qweight))
    return weights


def from_compressed_tensors(
    weight_packed: Array,
    weight_scale: Array,
    weight_zero_point: Array | None = None,
    weight_g_idx: Array | None = None,
    *,
    bits: int = 4,
    k: int | None = None,
    group: int | None = None,
) -> Packed:
    """Packs tensors of compressed-tensors' format pack-quantized (llm-compressor). 2, 3, 4 bits: W4Weights; 8: W8Weights.

    weight_packed: (n, ceil(k bits / 32)); i32 or u32
    weight_scale: (n, groups)
    weight_zero_point: (ceil(n bits / 32), groups); i32; None: symmetric
    weight_g_idx: (k); the group of each k, for act-order
    k: of weight_shape; None: all codes of the words
    """
    n, words = _need_rank("weight_packed", weight_packed, 2)
    groups = _need_rank("weight_scale", weight_scale, 2)[1]
    if bits not in (2, 3, 4, 8):
        raise InvalidArgument(f"kaio: argument bits is {bits}; it has to be 2, 3, 4 or 8")
    k = words * 32 // bits if k is None else k
    group = _group(group, k, groups, "weight_scale")
    order = _order(weight_g_idx, k, group)
    zeros = weight_zero_point
    if bits == 8:
        w8 = _with_memory(
            ops.W8Weights(n=n, k=k, group=group, zero_points=zeros is not None, act_order=order is not None), weight_packed
        )
        ops.repack_compressed_tensors_w8(
            ops.CompressedTensorsW8(weight_packed, weight_scale, weight_zero_point=zeros, weight_g_idx=order), w8
        )
        return w8  # type: ignore[no-any-return]
    w4 = _with_memory(
        ops.W4Weights(
            n=n,
            k=k,
            group=group,
            scales=_scale_type("weight_scale", weight_scale),
            zero_points=zeros is not None,
            act_order=order is not None,
        ),
        weight_packed,
    )
    ops.repack_compressed_tensors_w4(
        ops.CompressedTensorsW4(weight_packed, weight_scale, weight_zero_point=zeros, weight_g_idx=order, bits=bits), w4
    )
    return w4  # type: ignore[no-any-return]


def from_bitsandbytes(
    weight: Array,
    absmax: Array,
    n: int,
    k: int,
    *,
    code: Literal["nf4", "fp4"] = "nf4",
    blocksize: int = 64,
    nested_absmax: Array | None = None,
    nested_quant_map: Array | None = None,
    nested_offset: float = 0.0,
    nested_blocksize: int = 256,
) -> ops.W4Weights:
    """Packs bitsandbytes' nf4 or fp4.

    weight: n k / 2 bytes, u8, of any shape; the even element is in the upper half of a byte
    absmax: n k / blocksize; f32, or codes of u8 with nested_absmax (f32) and nested_quant_map (256 f32)
    blocksize: a multiple of 64 that divides k
    """
    if code not in ("nf4", "fp4"):
        raise InvalidArgument(f"kaio: argument code is {code!r}; it has to be nf4 or fp4")
    if blocksize % 64 != 0 or k % blocksize != 0:
        raise UnsupportedFormat(
            f"kaio: blocks of {blocksize} codes are packed if they are a multiple of 64 that divides k = {k}; dequantise them"
        )
    weight, absmax = _shaped(weight, (n, k // 2)), _shaped(absmax, (n, k // blocksize))
    weights = _with_memory(ops.W4Weights(codes=code, n=n, k=k, group=blocksize, scales="f32"), weight)
    if nested_absmax is None:
        source = ops.BitsandbytesW4(weight, absmax=absmax)
    else:
        source = ops.BitsandbytesW4(
            weight,
            absmax_codes=absmax,
            nested_quant_map=nested_quant_map,
            nested_absmax=nested_absmax,
            nested_offset=nested_offset,
            nested_blocksize=nested_blocksize,
        )
    ops.repack_bitsandbytes_w4(source, weights)
    return weights  # type: ignore[no-any-return]


def from_mxfp4(blocks: Array, scales: Array) -> ops.W4Weights:
    """Packs MXFP4 of gpt-oss (all experts as one matrix) or of compressed-tensors.

    blocks: (n, k / 2); u8; the even k in the lower half of a byte
    scales: (n, k / 32); u8 or e8m0
    """
    n, half = _need_rank("blocks", blocks, 2)
    weights = _with_memory(ops.W4Weights(codes="e2m1", n=n, k=half * 2, group=32, scales="e8m0"), blocks)
    ops.repack_mxfp4_w4(ops.Mxfp4W4(blocks, scales), weights)
    return weights  # type: ignore[no-any-return]


def from_nvfp4(weight: Array, scales: Array, tensor_scale: Array | None = None, *, divides: bool = False) -> ops.W4Weights:
    """Packs NVFP4.

    weight: (n, k / 2); u8; the even k in the lower half of a byte
    scales: (n, k / 16); e4m3, or u8 with its bits
    tensor_scale: (1) or (n); f32; None: 1
    divides: True: compressed-tensors' weight_global_scale, which divides; ModelOpt's weight_scale_2 multiplies
    """
    n, half = _need_rank("weight", weight, 2)
    weights = _with_memory(
        ops.W4Weights(codes="e2m1", n=n, k=half * 2, group=16, scales="e4m3", factors=tensor_scale is not None), weight
    )
    ops.repack_nvfp4_w4(ops.Nvfp4W4(weight, scales, tensor_scale=tensor_scale, divides=divides), weights)
    return weights  # type: ignore[no-any-return]


def from_tinygemm(packed: Array, scales_and_zeros: Array) -> ops.W4Weights:
    """Packs PyTorch's int4pack, torchao's Int4TilePackedTo4dTensor: W = scale (q - 8) + zero.

    packed: (n / 8, k / (16 t), 32, t / 2); i32
    scales_and_zeros: (k / group, n, 2); bf16
    """
    shape = _need_rank("packed", packed, 4)
    groups = _need_rank("scales_and_zeros", scales_and_zeros, 3)[0]
    n, k = shape[0] * 8, shape[1] * 32 * shape[3]
    weights = ops.W4Weights(n=n, k=k, group=_group(None, k, groups, "scales_and_zeros"), scales="f32", offsets=True)
    ops.repack_tinygemm_w4(ops.TinygemmW4(packed, scales_and_zeros), _with_memory(weights, packed))
    return weights


def from_torchao_int4(qdata: Array, scale: Array, zero_point: Array) -> ops.W4Weights:
    """Packs torchao's plain Int4Tensor: W = scale q + zero_point.

    qdata: (n, k / 8); i32: the file's bytes (n, k / 2), four as a word
    scale, zero_point: (groups, n); f16 or bf16
    """
    n, words = _need_rank("qdata", qdata, 2)
    groups = _need_rank("scale", scale, 2)[0]
    k = words * 8
    weights = ops.W4Weights(n=n, k=k, group=_group(None, k, groups, "scale"), scales="f32", offsets=True)
    ops.repack_torchao_int4_w4(ops.TorchaoInt4W4(qdata, scale, zero_point), _with_memory(weights, qdata))
    return weights


def _scaled_group(n: int, k: int, scales: Array, group: int | None) -> int:
    """The group of scales (1), (n), (1, 1), (n, 1), (n, groups), or of blocks of 128 x 128."""
    shape = tuple(scales.shape)
    if group is not None:
        return group
    if len(shape) < 2 or shape[1] == 1 and shape[0] in (1, n):
        return -1
    if shape == (-(-n // 128), -(-k // 128)) and shape[0] != n:
        return 128
    if shape[0] != n:
        raise InvalidArgument(
            f"kaio: argument scales has the shape {shape}, which fits neither rows, groups nor blocks of 128 x 128 of ({n}, {k})"
        )
    return _group(None, k, shape[1], "scales")


def from_int8(weight: Array, scales: Array, zero_points: Array | None = None, *, group: int | None = None) -> ops.W8Weights:
    """Packs integers of eight bits with scales: compressed-tensors' int-quantized, torchao's int8, and any others.

    weight: (n, k); i8
    scales: (n), (1), (n, 1), (n, groups), or of blocks of 128 x 128; f32, f16 or bf16
    zero_points: (n, groups); i8; None: symmetric
    """
    n, k = _need_rank("weight", weight, 2)
    weights = ops.W8Weights(n=n, k=k, group=_scaled_group(n, k, scales, group), zero_points=zero_points is not None)
    ops.repack_int8_w8(ops.Int8W8(weight, scales, zero_points=zero_points), _with_memory(weights, weight))
    return weights


def from_llm_int8(weight: Array, scb: Array) -> ops.W8Weights:
    """Packs bitsandbytes' LLM.int8: W = weight scb / 127. All columns are multiplied as integers, outliers too.

    weight: (n, k); i8, row after row
    scb: (n); f32
    """
    n, k = _need_rank("weight", weight, 2)
    weights = _with_memory(ops.W8Weights(n=n, k=k, group=-1), weight)
    ops.repack_llm_int8_w8(ops.LlmInt8W8(weight, scb), weights)
    return weights  # type: ignore[no-any-return]


def from_fp8(weight: Array, scales: Array, *, group: int | None = None) -> ops.W8Weights:
    """Packs e4m3 with scales for matmul_w8, which takes x of 16 bits. matmul_fp8 takes the tensors as they are.

    weight: (n, k); e4m3, or u8 with its bits
    scales: (n), (1), (n, 1), (n, groups), or (ceil(n / 128), ceil(k / 128)), DeepSeek's weight_scale_inv
    """
    n, k = _need_rank("weight", weight, 2)
    weights = ops.W8Weights(codes="e4m3", n=n, k=k, group=_scaled_group(n, k, scales, group))
    ops.repack_e4m3_w8(ops.E4m3W8(weight, scales), _with_memory(weights, weight))
    return weights


def block_bytes(format: str, elements: int) -> int:
    """The bytes of this number of elements in a format of GGUF, such as "Q4_K"."""
    count: int = _core.block_bytes(format.upper(), elements)
    return count


def from_blocks(bytes: Array, format: str, n: int, k: int) -> Packed:
    """Packs blocks of GGUF.

    W4Weights: Q4_0, Q4_1, Q4_K, MXFP4, NVFP4. W8Weights: Q5_0, Q5_1, Q8_0, Q3_K, Q5_K, Q6_K, IQ4_NL, IQ4_XS.

    bytes: block_bytes(format, n k) bytes, u8, of any shape; row after row
    Raises UnsupportedFormat for Q2_K and the IQ formats below 4 bits.
    """
    operation = _core.block_operation(format.upper())
    if operation == "":
        raise UnsupportedFormat(f"kaio: no product takes blocks of {format}; dequantise them, and multiply with the matrix")
    flat = bytes if len(bytes.shape) == 1 else bytes.reshape(-1)
    if operation == "matmul_w4":
        w4 = _with_memory(w4_with(_core.w4_of_blocks(format.upper(), n, k), None), flat)
        ops.repack_blocks_w4(format.lower(), flat, w4)  # type: ignore[arg-type]
        return w4  # type: ignore[no-any-return]
    w8 = _with_memory(w8_with(_core.w8_of_blocks(format.upper(), n, k), None), flat)
    ops.repack_blocks_w8(format.lower(), flat, w8)  # type: ignore[arg-type]
    return w8  # type: ignore[no-any-return]


def from_matrix(w: Array, *, bits: Literal[4, 8] = 4, group: int = 128, symmetric: bool = True) -> Packed:
    """Quantises a matrix, rounded to nearest, and packs it.

    w: (n, k); f32, f16 or bf16
    bits: 4: integers in groups along k. 8: integers with a scale for each row; group is not read
    group: of 4 bits: a multiple of 16 that divides k; or k, also given as -1
    symmetric: of 4 bits: False: with zero points
    """
    n, k = _need_rank("w", w, 2)
    if bits == 8:
        codes, scales = ops.quantise_int8(w)
        return from_int8(codes, scales)
    if bits != 4:
        raise InvalidArgument(f"kaio: argument bits is {bits}; it has to be 4 or 8")
    group = k if group in (-1, 0) else group
    if group < 0 or (group % 16 != 0 and group != k) or k % group != 0:
        raise InvalidArgument(
            f"kaio: argument group is {group}; it has to be a multiple of 16 that divides k = {k}, or -1 for all of k"
        )
    if k % 8 != 0:
        raise InvalidArgument(f"kaio: argument w has {k} columns; quantise_w4 takes multiples of 8")
    scale_type = "bf16" if _dtype_of(w) == "bf16" else "f16"
    packed, scale = _empty(w, (n, k // 8), "i32"), _empty(w, (n, k // group), scale_type)
    zeros = None if symmetric else _empty(w, (-(-n // 8), k // group), "i32")
    ops.quantise_w4(w, ops.W4Output(packed, scale, weight_zero_point=zeros, group=group))
    return from_compressed_tensors(packed, scale, zeros, group=group)


def dequantise(weights: Packed, dtype: str | None = None) -> Array:
    """W of packed weights as a matrix (n, k), made where their memory is.

    dtype: "f32", "f16" or "bf16"; None: "f16"
    """
    layout_of(weights)
    if isinstance(weights, ops.W4Weights):
        return ops.dequantise_w4(weights, dtype=dtype)
    return ops.dequantise_w8(weights, dtype=dtype)
