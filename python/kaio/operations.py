"""Every operation of kaio, over the arrays of any framework.

Made by python/generate.py from src/c/operations/*.json. docs/python.md explains what all functions share.
"""

from __future__ import annotations

from typing import Any, Literal, Sequence

from . import _core
from ._arrays import Array, _empty, _empty_like, _empty_product, _for_jax, _given, _reduced, _repr, _wrong
from ._core import PeerBuffer, PeerWorkspace

__all__ = [
    "AppendRotary",
    "AttentionAppend",
    "AttentionOptions",
    "AwqGemvFastW4",
    "AwqGemvW4",
    "AwqW4",
    "BitsandbytesW4",
    "BlockMask",
    "BlockMaskOutput",
    "Bnb4bit",
    "Bnb4bitOutput",
    "BnbInt8",
    "BnbNested",
    "CompressedTensorsW4",
    "CompressedTensorsW8",
    "E4m3W8",
    "GateUpWeights",
    "GptqW4",
    "GptqW8",
    "Int4W4",
    "Int8W8",
    "KvCache",
    "LlmInt8W8",
    "MarlinW4",
    "MarlinW8",
    "Mxfp4Output",
    "Mxfp4Tensors",
    "Mxfp4W4",
    "Nvfp4Output",
    "Nvfp4Tensors",
    "Nvfp4W4",
    "PoolOptions",
    "ProjectionWeight",
    "Q80W8",
    "QkvOutputs",
    "QkvRotary",
    "QkvWeights",
    "RotaryOptions",
    "RotaryScaling",
    "RotarySections",
    "ScaledBytes",
    "TinygemmW4",
    "TorchaoInt4W4",
    "TuneOptions",
    "W4Output",
    "W4Weights",
    "W8Weights",
    "XNorm",
    "activate",
    "activate_backward",
    "all_gather_matmul",
    "all_reduce",
    "all_reduce_rms_norm",
    "all_reduce_rms_norm_codes",
    "append_kv",
    "append_kv_varlen",
    "attention",
    "attention_backward",
    "attention_backward_varlen",
    "attention_decode",
    "attention_decode_varlen",
    "attention_varlen",
    "combine_experts",
    "copy_pages",
    "copy_tensor",
    "cross_entropy",
    "cross_entropy_backward",
    "dequantise_blocks",
    "dequantise_bnb_4bit",
    "dequantise_bnb_int8",
    "dequantise_mxfp4",
    "dequantise_nvfp4",
    "dequantise_scaled_bytes",
    "dequantise_w4",
    "dequantise_w8",
    "embedding",
    "embedding_backward",
    "gate_up_grouped",
    "gate_up_project",
    "gated",
    "gated_backward",
    "gather_kv",
    "gather_kv_varlen",
    "histogram",
    "int8_column_sums",
    "int8_dequant",
    "int8_dequant_groups",
    "layer_norm",
    "layer_norm_backward",
    "layer_norm_codes",
    "linear_cross_entropy",
    "linear_cross_entropy_backward",
    "log_softmax",
    "log_softmax_backward",
    "make_block_mask",
    "matmul",
    "matmul_all_reduce",
    "matmul_backward",
    "matmul_batch",
    "matmul_fp8",
    "matmul_fp8_grouped",
    "matmul_grouped",
    "matmul_grouped_backward",
    "matmul_int8",
    "matmul_int8_grouped",
    "matmul_reduce_scatter",
    "matmul_w4",
    "matmul_w4_grouped",
    "matmul_w8",
    "matmul_w8_grouped",
    "merge_states",
    "qk_norm_rotary",
    "qkv_project",
    "quantise_blocks",
    "quantise_bnb_4bit",
    "quantise_fp8",
    "quantise_fp8_blocks",
    "quantise_int8",
    "quantise_mxfp4",
    "quantise_nvfp4",
    "quantise_w4",
    "reduce",
    "repack_awq_gemv_fast_w4",
    "repack_awq_gemv_w4",
    "repack_awq_w4",
    "repack_bitsandbytes_w4",
    "repack_blocks_w4",
    "repack_blocks_w8",
    "repack_compressed_tensors_w4",
    "repack_compressed_tensors_w8",
    "repack_e4m3_w8",
    "repack_gptq_w4",
    "repack_gptq_w8",
    "repack_int4_w4",
    "repack_int8_w8",
    "repack_llm_int8_w8",
    "repack_marlin_w4",
    "repack_marlin_w8",
    "repack_mxfp4_w4",
    "repack_nvfp4_w4",
    "repack_q8_0_w8",
    "repack_tinygemm_w4",
    "repack_torchao_int4_w4",
    "return_from_experts",
    "rms_norm",
    "rms_norm_backward",
    "rms_norm_codes",
    "rotary",
    "rotary_table",
    "rotary_varlen",
    "sample",
    "scan",
    "send_to_experts",
    "softmax",
    "softmax_backward",
    "sort_by_expert",
    "top_k",
    "topk_router",
]


class BlockMask:
    """The blocks of keys that each block of queries visits, as FlexAttention's BlockMask. B' is the batches of q or
    1, H' its heads or 1, Qb = ceil(queries / block_queries). Kb is any room.

    Fields:
      block_queries: queries of a block; multiples of 128 are fastest
      block_keys: keys of a block
      kv_num_blocks: (B', H', Qb); i32; how many blocks of keys are visited with the mask
      kv_indices: (B', H', Qb, Kb); i32; which blocks
      full_kv_num_blocks: (B', H', Qb); i32; how many blocks of keys are kept as a whole; None: none
      full_kv_indices: (B', H', Qb, Kb); i32; which blocks
    """

    __slots__ = ('block_queries', 'block_keys', 'kv_num_blocks', 'kv_indices', 'full_kv_num_blocks', 'full_kv_indices',)

    def __init__(
        self,
        *,
        block_queries: int = 128,
        block_keys: int = 128,
        kv_num_blocks: Array | None = None,
        kv_indices: Array | None = None,
        full_kv_num_blocks: Array | None = None,
        full_kv_indices: Array | None = None,
    ) -> None:
        self.block_queries = block_queries
        self.block_keys = block_keys
        self.kv_num_blocks = kv_num_blocks
        self.kv_indices = kv_indices
        self.full_kv_num_blocks = full_kv_num_blocks
        self.full_kv_indices = full_kv_indices

    def __repr__(self) -> str:
        return _repr(self)


class AttentionOptions:
    """Options of attention. The scores are scale * q . k, softcap, less ALiBi, plus the bias, in this order.

    Fields:
      scale: the factor of q . k; 0: 1 / sqrt(head size of q)
      softcap: above 0: the score x becomes softcap * tanh(x / softcap)
      causal
      precision: for operands of f32
      batch_invariant: True: the bits of a sequence do not depend on the other sequences of the call
      window_left: keys before a query's own one that it attends to; -1: all
      window_right: keys after its own one; -1: all; causal makes it 0
      alibi: (heads) or (batches, heads); f32; slopes: x -= slope * |query + keys - queries - key|
      bias: (batches, heads, queries, keys) or the last of these; f32, f16 or bf16; added; an extent of 1 serves
          all; f32, or elements of q; not for attention_varlen
      keep: as bias; bool or u8; 0 masks the key; not for attention_varlen
      sinks: (heads); f32, f16 or bf16; the score of an extra key without a value
      lse: (batches, heads, queries); (heads, rows) for attention_varlen; f32; gets ln of the sum of exp(x); -inf
          without a key
      blocks: the blocks of keys that are visited; None: all
      variant: the kernel to run, as kaio.choice names it; None: the best one
    """

    __slots__ = ('scale', 'softcap', 'causal', 'precision', 'batch_invariant', 'window_left', 'window_right', 'alibi', 'bias', 'keep', 'sinks', 'lse', 'blocks', 'variant',)

    def __init__(
        self,
        *,
        scale: float | None = None,
        softcap: float = 0.0,
        causal: Literal['none', 'top_left', 'bottom_right'] = 'none',
        precision: Literal['ieee', 'tf32'] = 'ieee',
        batch_invariant: bool = False,
        window_left: int = -1,
        window_right: int = -1,
        alibi: Array | None = None,
        bias: Array | None = None,
        keep: Array | None = None,
        sinks: Array | None = None,
        lse: Array | None = None,
        blocks: BlockMask | None = None,
        variant: str | None = None,
    ) -> None:
        self.scale = scale
        self.softcap = softcap
        self.causal = causal
        self.precision = precision
        self.batch_invariant = batch_invariant
        self.window_left = window_left
        self.window_right = window_right
        self.alibi = alibi
        self.bias = bias
        self.keep = keep
        self.sinks = sinks
        self.lse = lse
        self.blocks = blocks
        self.variant = variant

    def __repr__(self) -> str:
        return _repr(self)


class AttentionAppend:
    """New keys and values that a call appends to the cache before it reads it, as append_kv does. The cache is then
    written.

    Fields:
      k: needed; (batches, tokens, heads, size); f32, f16 or bf16; (tokens, heads, size) for
          attention_decode_varlen, or with cu_k
      v: needed; likewise; elements of k
      cu_k: (sequences + 1); i32; sequence b has new rows cu_k[b] to before cu_k[b + 1]; None: those of its queries
      rotary: rotates the new keys and the queries of the call; leave its q out
      k_scale_out: (pages, rows, heads); f32; gets computed scales of a cache of 8 bits, in place of k_scale
      v_scale_out: (pages, rows, heads); f32
    """

    __slots__ = ('k', 'v', 'cu_k', 'rotary', 'k_scale_out', 'v_scale_out',)

    def __init__(
        self,
        k: Array,
        v: Array,
        *,
        cu_k: Array | None = None,
        rotary: AppendRotary | None = None,
        k_scale_out: Array | None = None,
        v_scale_out: Array | None = None,
    ) -> None:
        self.k = k
        self.v = v
        self.cu_k = cu_k
        self.rotary = rotary
        self.k_scale_out = k_scale_out
        self.v_scale_out = v_scale_out

    def __repr__(self) -> str:
        return _repr(self)


class BlockMaskOutput:
    """Where a block mask is written: Qb = ceil(queries / block_queries), Kb = ceil(keys / block_keys). The last
    dimension may have more room. Each pair of tensors may be left out; without the full ones, full blocks are
    listed as partial.

    Fields:
      block_queries: queries of a block
      block_keys: keys of a block
      kv_num_blocks: (B', H', Qb); i32; how many blocks of keys the mask keeps in part
      kv_indices: (B', H', Qb, Kb); i32; which blocks
      full_kv_num_blocks: (B', H', Qb); i32; how many it keeps as a whole
      full_kv_indices: (B', H', Qb, Kb); i32; which blocks
      q_num_blocks: (B', H', Kb); i32; how many blocks of queries visit a block of keys, in part
      q_indices: (B', H', Kb, Qb); i32; which blocks
      full_q_num_blocks: (B', H', Kb); i32; how many as a whole
      full_q_indices: (B', H', Kb, Qb); i32; which blocks
    """

    __slots__ = ('block_queries', 'block_keys', 'kv_num_blocks', 'kv_indices', 'full_kv_num_blocks', 'full_kv_indices', 'q_num_blocks', 'q_indices', 'full_q_num_blocks', 'full_q_indices',)

    def __init__(
        self,
        *,
        block_queries: int = 128,
        block_keys: int = 128,
        kv_num_blocks: Array | None = None,
        kv_indices: Array | None = None,
        full_kv_num_blocks: Array | None = None,
        full_kv_indices: Array | None = None,
        q_num_blocks: Array | None = None,
        q_indices: Array | None = None,
        full_q_num_blocks: Array | None = None,
        full_q_indices: Array | None = None,
    ) -> None:
        self.block_queries = block_queries
        self.block_keys = block_keys
        self.kv_num_blocks = kv_num_blocks
        self.kv_indices = kv_indices
        self.full_kv_num_blocks = full_kv_num_blocks
        self.full_kv_indices = full_kv_indices
        self.q_num_blocks = q_num_blocks
        self.q_indices = q_indices
        self.full_q_num_blocks = full_q_num_blocks
        self.full_q_indices = full_q_indices

    def __repr__(self) -> str:
        return _repr(self)


class KvCache:
    """A cache of keys and values: contiguous without table and indptr, or in pages. Key j of sequence b is row j %
    rows of page table[b][j / rows], or of page indices[indptr[b] + j / rows]. All of it is in device memory, and is
    read when a call runs.

    Fields:
      k: needed; (pages or batches, rows, heads, size); f32, f16, bf16, e4m3, e5m2 or i8; the last stride is 1
      v: needed; as k; the size may differ; elements of k
      table: (sequences, most pages of one); i32; page numbers
      indptr: (sequences + 1); i32; in place of table, with indices
      indices: (pages of all sequences); i32; page numbers
      lengths: (sequences); i32; keys of each; None: all rows
      last_page_len: (sequences); i32; with indptr, in place of lengths: rows of the last page
      batch_index: (sequences); i32; contiguous: the batch of each; None: its own number
      left_padding: (sequences); i32; keys before this one do not exist, but their positions count
    """

    __slots__ = ('k', 'v', 'table', 'indptr', 'indices', 'lengths', 'last_page_len', 'batch_index', 'left_padding',)

    def __init__(
        self,
        k: Array,
        v: Array,
        *,
        table: Array | None = None,
        indptr: Array | None = None,
        indices: Array | None = None,
        lengths: Array | None = None,
        last_page_len: Array | None = None,
        batch_index: Array | None = None,
        left_padding: Array | None = None,
    ) -> None:
        self.k = k
        self.v = v
        self.table = table
        self.indptr = indptr
        self.indices = indices
        self.lengths = lengths
        self.last_page_len = last_page_len
        self.batch_index = batch_index
        self.left_padding = left_padding

    def __repr__(self) -> str:
        return _repr(self)


class AppendRotary:
    """The rotation of new keys, and of queries, in the launch that appends.

    Fields:
      interleaved: True: pairs (0, 1), (2, 3), ..., as in GPT-J; False: (0, P), (1, P + 1), ..., as in Llama
      q_at_first: True: all queries of a sequence are rotated as the first new token
      cos: needed; (positions, pairs); f32, f16 or bf16
      sin: needed; as cos; elements of cos
      positions: (tokens) or (batches, tokens); i32 or i64; None: the number of the token's key, less left_padding
      q: as k, with heads of its own; f32, f16 or bf16; elements of k
      q_out: as q; elements of q; may be q itself
    """

    __slots__ = ('interleaved', 'q_at_first', 'cos', 'sin', 'positions', 'q', 'q_out',)

    def __init__(
        self,
        cos: Array,
        sin: Array,
        *,
        interleaved: bool = False,
        q_at_first: bool = False,
        positions: Array | None = None,
        q: Array | None = None,
        q_out: Array | None = None,
    ) -> None:
        self.interleaved = interleaved
        self.q_at_first = q_at_first
        self.cos = cos
        self.sin = sin
        self.positions = positions
        self.q = q
        self.q_out = q_out

    def __repr__(self) -> str:
        return _repr(self)


class RotaryOptions:
    """Options of rotary and rotary_varlen.

    Fields:
      interleaved: True: pairs (0, 1), (2, 3), ..., as in GPT-J; False: (0, P), (1, P + 1), ..., as in Llama
      inverse: True: rotates by the negative angles
      positions: (tokens) or (batches, tokens); i32 or i64; None: token i of a sequence is at position i
      offsets: (sequences); i32; added to the positions 0, 1, ...; not with positions
      cu_seqlens: (sequences + 1); i32; for rotary_varlen
    """

    __slots__ = ('interleaved', 'inverse', 'positions', 'offsets', 'cu_seqlens',)

    def __init__(
        self,
        *,
        interleaved: bool = False,
        inverse: bool = False,
        positions: Array | None = None,
        offsets: Array | None = None,
        cu_seqlens: Array | None = None,
    ) -> None:
        self.interleaved = interleaved
        self.inverse = inverse
        self.positions = positions
        self.offsets = offsets
        self.cu_seqlens = cu_seqlens

    def __repr__(self) -> str:
        return _repr(self)


class RotaryScaling:
    """Parameters of a kind of scaling, as rope_parameters of a config.json has them. Those of other kinds are not
    read.

    Fields:
      kind
      truncate: yarn: True: the ramp begins and ends at whole pairs
      factor
      low_frequency: llama3: low_freq_factor
      high_frequency: llama3: high_freq_factor
      original_length: original_max_position_embeddings; dynamic: max_position_embeddings
      beta_fast: yarn
      beta_slow: yarn
      attention_factor: yarn, longrope: the factor of cos and sin; 0: computed
      mscale: yarn
      mscale_all_dim: yarn
      length: dynamic: the longest sequence that the table is for
      rotated: proportional: partial_rotary_factor
      pair_factors: longrope: short_factor or long_factor, host memory
    """

    __slots__ = ('kind', 'truncate', 'factor', 'low_frequency', 'high_frequency', 'original_length', 'beta_fast', 'beta_slow', 'attention_factor', 'mscale', 'mscale_all_dim', 'length', 'rotated', 'pair_factors',)

    def __init__(
        self,
        *,
        kind: Literal['none', 'linear', 'dynamic', 'yarn', 'longrope', 'llama3', 'proportional'] = 'none',
        truncate: bool = True,
        factor: float = 1.0,
        low_frequency: float = 1.0,
        high_frequency: float = 4.0,
        original_length: float = 0.0,
        beta_fast: float = 32.0,
        beta_slow: float = 1.0,
        attention_factor: float | None = None,
        mscale: float = 0.0,
        mscale_all_dim: float = 0.0,
        length: float = 0.0,
        rotated: float = 1.0,
        pair_factors: Sequence[float] | None = None,
    ) -> None:
        self.kind = kind
        self.truncate = truncate
        self.factor = factor
        self.low_frequency = low_frequency
        self.high_frequency = high_frequency
        self.original_length = original_length
        self.beta_fast = beta_fast
        self.beta_slow = beta_slow
        self.attention_factor = attention_factor
        self.mscale = mscale
        self.mscale_all_dim = mscale_all_dim
        self.length = length
        self.rotated = rotated
        self.pair_factors = pair_factors

    def __repr__(self) -> str:
        return _repr(self)


class RotarySections:
    """Which position turns a pair, for tokens with several positions: mrope_section of a config.json.

    Fields:
      interleaved: True: sections alternate, as in Qwen3-VL
      pairs: the pairs of each section, host memory
    """

    __slots__ = ('interleaved', 'pairs',)

    def __init__(
        self,
        *,
        interleaved: bool = False,
        pairs: Sequence[int] | None = None,
    ) -> None:
        self.interleaved = interleaved
        self.pairs = pairs

    def __repr__(self) -> str:
        return _repr(self)


class W4Weights:
    """Packed weights W of y = x W^T, n outputs by k inputs: W[n][k] = scale[g][n] * (q[n][k] - zero[g][n]) with g =
    k / group. repack_..._w4 writes the memory, everything else reads it.

    Fields:
      codes
      n
      k
      group: a multiple of 16; or k, also given as -1
      scales: int4 f16 or bf16, with offsets f32; nf4 and fp4 f32; e2m1 e8m0 in groups of 32, or e4m3 in groups of
          16
      zero_points: True: one for each group and column; else all are 8
      act_order: True: an index gives the groups of k
      factors: True: an f32 multiplies each W[n], such as the tensor scale of NVFP4
      offsets: True: W = scale * (q - zero) + offset[g][n], for int4 with scales of f32
      zero: with offsets; else 8
      memory: w4_packed_bytes bytes, at a multiple of 16
    """

    __slots__ = ('codes', 'n', 'k', 'group', 'scales', 'zero_points', 'act_order', 'factors', 'offsets', 'zero', 'memory',)

    def __init__(
        self,
        *,
        codes: Literal['int4', 'nf4', 'fp4', 'e2m1'] = 'int4',
        n: int = 0,
        k: int = 0,
        group: int = 128,
        scales: Literal['f16', 'bf16', 'f32', 'e8m0', 'e4m3'] = 'f16',
        zero_points: bool = False,
        act_order: bool = False,
        factors: bool = False,
        offsets: bool = False,
        zero: int = 8,
        memory: Array | None = None,
    ) -> None:
        self.codes = codes
        self.n = n
        self.k = k
        self.group = group
        self.scales = scales
        self.zero_points = zero_points
        self.act_order = act_order
        self.factors = factors
        self.offsets = offsets
        self.zero = zero
        self.memory = memory

    def __repr__(self) -> str:
        return _repr(self)


class W8Weights:
    """Packed weights W of y = x W^T, n outputs by k inputs: W[n][k] = scale[g][n] * (q[n][k] - zero[g][n]) with g =
    k / group. repack_..._w8 writes the memory, everything else reads it.

    Fields:
      codes
      n
      k
      group: a multiple of 16 (int8) or 64 (e4m3); or k, also given as -1
      zero_points: True: one for each group and column, for int8
      act_order: True: an index gives the groups of k
      offsets: True: W = scale * q + offset[g][n], for int8
      memory: w8_packed_bytes bytes, at a multiple of 16
    """

    __slots__ = ('codes', 'n', 'k', 'group', 'zero_points', 'act_order', 'offsets', 'memory',)

    def __init__(
        self,
        *,
        codes: Literal['int8', 'e4m3'] = 'int8',
        n: int = 0,
        k: int = 0,
        group: int = -1,
        zero_points: bool = False,
        act_order: bool = False,
        offsets: bool = False,
        memory: Array | None = None,
    ) -> None:
        self.codes = codes
        self.n = n
        self.k = k
        self.group = group
        self.zero_points = zero_points
        self.act_order = act_order
        self.offsets = offsets
        self.memory = memory

    def __repr__(self) -> str:
        return _repr(self)


class PoolOptions:
    """Options of a pool.

    Fields:
      kind
      limit: the most bytes in use at a time; 0: what the device has
      keep: bytes that stay in the pool after their release
    """

    __slots__ = ('kind', 'limit', 'keep',)

    def __init__(
        self,
        *,
        kind: Literal['stream_ordered', 'caching'] = 'stream_ordered',
        limit: int = 0,
        keep: int = 18446744073709551615,
    ) -> None:
        self.kind = kind
        self.limit = limit
        self.keep = keep

    def __repr__(self) -> str:
        return _repr(self)


class ProjectionWeight:
    """A weight (n, k), n outputs by k inputs: exactly one of matrix, w4 and w8. A matrix stored (k, n) is given by
    its strides.

    Fields:
      matrix: (n, k); f32, f16, bf16, i8, e4m3 or e5m2; the element type of x; i8, e4m3 and e5m2 with scales
      scale: (n) or (1); f32; scales of a matrix of 8 bits; i8 needs them
      blocks: (ceil(n / 128), ceil(k / 128)); f32; scales of e4m3 and e5m2, with x_groups
      w4: for x of f16 or bf16
      w8: for x of f16 or bf16
    """

    __slots__ = ('matrix', 'scale', 'blocks', 'w4', 'w8',)

    def __init__(
        self,
        *,
        matrix: Array | None = None,
        scale: Array | None = None,
        blocks: Array | None = None,
        w4: W4Weights | None = None,
        w8: W8Weights | None = None,
    ) -> None:
        self.matrix = matrix
        self.scale = scale
        self.blocks = blocks
        self.w4 = w4
        self.w8 = w8

    def __repr__(self) -> str:
        return _repr(self)


class QkvWeights:
    """The weights of Q, K and V: either all, with the outputs of Q first, then K's, then V's; or q, k and v.

    Fields:
      all
      q
      k
      v
    """

    __slots__ = ('all', 'q', 'k', 'v',)

    def __init__(
        self,
        *,
        all: ProjectionWeight | None = None,
        q: ProjectionWeight | None = None,
        k: ProjectionWeight | None = None,
        v: ProjectionWeight | None = None,
    ) -> None:
        self.all = all
        self.q = q
        self.k = k
        self.v = v

    def __repr__(self) -> str:
        return _repr(self)


class GateUpWeights:
    """The weights of gate and up: either both, with the outputs of the gate first; or gate and up.

    Fields:
      both
      gate
      up
    """

    __slots__ = ('both', 'gate', 'up',)

    def __init__(
        self,
        *,
        both: ProjectionWeight | None = None,
        gate: ProjectionWeight | None = None,
        up: ProjectionWeight | None = None,
    ) -> None:
        self.both = both
        self.gate = gate
        self.up = up

    def __repr__(self) -> str:
        return _repr(self)


class QkvOutputs:
    """Where the heads go: q, and either k and v, or a cache.

    Fields:
      q: (tokens, heads, size) or (batches, tokens, heads, size); f16 or bf16; needed
      k: as q, with heads of its own; elements of q
      v: as k; the size may differ; elements of q
      cache: appended to, as append_kv does
    """

    __slots__ = ('q', 'k', 'v', 'cache',)

    def __init__(
        self,
        *,
        q: Array | None = None,
        k: Array | None = None,
        v: Array | None = None,
        cache: KvCache | None = None,
    ) -> None:
        self.q = q
        self.k = k
        self.v = v
        self.cache = cache

    def __repr__(self) -> str:
        return _repr(self)


class XNorm:
    """RMS norm of x before the product: h = x + residual; x' = h / rms(h) * (weight_offset + weight).

    Fields:
      epsilon
      weight_offset: 1 for Gemma
      weight: needed; (k); f32, f16 or bf16; elements of x
      residual: as x; elements of weight; added to x
      residual_out: as x; elements of weight; gets h; may be the residual itself
    """

    __slots__ = ('epsilon', 'weight_offset', 'weight', 'residual', 'residual_out',)

    def __init__(
        self,
        weight: Array,
        *,
        epsilon: float = 1e-06,
        weight_offset: float = 0.0,
        residual: Array | None = None,
        residual_out: Array | None = None,
    ) -> None:
        self.epsilon = epsilon
        self.weight_offset = weight_offset
        self.weight = weight
        self.residual = residual
        self.residual_out = residual_out

    def __repr__(self) -> str:
        return _repr(self)


class QkvRotary:
    """Rotates Q and K by the positions of their tokens, as rotary does. Without positions, a token is at the number
    of its key less the left padding of its sequence; without a cache, at its number in the sequence plus the
    offset.

    Fields:
      interleaved: True: pairs (0, 1), (2, 3), ..., as in GPT-J; False: (0, P), (1, P + 1), ..., as in Llama
      cos: needed; (positions, pairs); f32, f16 or bf16
      sin: needed; as cos; elements of cos
      positions: (tokens) or (batches, tokens); i32 or i64
      offsets: (sequences); i32; only without a cache
    """

    __slots__ = ('interleaved', 'cos', 'sin', 'positions', 'offsets',)

    def __init__(
        self,
        cos: Array,
        sin: Array,
        *,
        interleaved: bool = False,
        positions: Array | None = None,
        offsets: Array | None = None,
    ) -> None:
        self.interleaved = interleaved
        self.cos = cos
        self.sin = sin
        self.positions = positions
        self.offsets = offsets

    def __repr__(self) -> str:
        return _repr(self)


class GptqW4:
    """GPTQ's tensors of 2, 3 or 4 bits. Any strides.

    Fields:
      qweight: needed; (k bits / 32, n); i32 or u32
      scales: needed; (groups, n); f16 or bf16
      qzeros: (groups, n bits / 32); i32 or u32; for weights with zero_points
      g_idx: (k); i32; the group of each k; for weights with act_order
      v2: True: checkpoint_format gptq_v2; gptq stores zero points less 1
      bits: 2, 3 or 4
    """

    __slots__ = ('qweight', 'scales', 'qzeros', 'g_idx', 'v2', 'bits',)

    def __init__(
        self,
        qweight: Array,
        scales: Array,
        *,
        qzeros: Array | None = None,
        g_idx: Array | None = None,
        v2: bool = False,
        bits: int = 4,
    ) -> None:
        self.qweight = qweight
        self.scales = scales
        self.qzeros = qzeros
        self.g_idx = g_idx
        self.v2 = v2
        self.bits = bits

    def __repr__(self) -> str:
        return _repr(self)


class AwqW4:
    """AutoAWQ's tensors, version gemm. The weights have zero_points. Any strides.

    Fields:
      qweight: needed; (k, n / 8); i32 or u32
      qzeros: needed; (groups, n / 8); i32 or u32
      scales: needed; (groups, n); f16 or bf16
    """

    __slots__ = ('qweight', 'qzeros', 'scales',)

    def __init__(
        self,
        qweight: Array,
        qzeros: Array,
        scales: Array,
    ) -> None:
        self.qweight = qweight
        self.qzeros = qzeros
        self.scales = scales

    def __repr__(self) -> str:
        return _repr(self)


class CompressedTensorsW4:
    """Tensors of compressed-tensors, format pack-quantized, of 2, 3 or 4 bits. Any strides.

    Fields:
      weight_packed: needed; (n, k bits / 32); i32 or u32
      weight_scale: needed; (n, groups); f16 or bf16
      weight_zero_point: (n bits / 32, groups); i32 or u32; for weights with zero_points
      weight_g_idx: (k); i32; the group of each k; for weights with act_order
      bits: 2, 3 or 4
    """

    __slots__ = ('weight_packed', 'weight_scale', 'weight_zero_point', 'weight_g_idx', 'bits',)

    def __init__(
        self,
        weight_packed: Array,
        weight_scale: Array,
        *,
        weight_zero_point: Array | None = None,
        weight_g_idx: Array | None = None,
        bits: int = 4,
    ) -> None:
        self.weight_packed = weight_packed
        self.weight_scale = weight_scale
        self.weight_zero_point = weight_zero_point
        self.weight_g_idx = weight_g_idx
        self.bits = bits

    def __repr__(self) -> str:
        return _repr(self)


class BitsandbytesW4:
    """bitsandbytes' nf4 or fp4, in blocks of group, which divides k. Either absmax, or the members after it. Any
    strides.

    Fields:
      weight: needed; (n, k / 2); u8; the even k in the upper half of a byte
      absmax: (n, k / group); f32
      absmax_codes: (n, k / group); u8; rows adjacent: absmax = nested_quant_map[code] * nested_absmax[block /
          nested_blocksize] + nested_offset
      nested_quant_map: (256); f32
      nested_absmax: (blocks); f32
      nested_offset
      nested_blocksize
    """

    __slots__ = ('weight', 'absmax', 'absmax_codes', 'nested_quant_map', 'nested_absmax', 'nested_offset', 'nested_blocksize',)

    def __init__(
        self,
        weight: Array,
        *,
        absmax: Array | None = None,
        absmax_codes: Array | None = None,
        nested_quant_map: Array | None = None,
        nested_absmax: Array | None = None,
        nested_offset: float = 0.0,
        nested_blocksize: int = 256,
    ) -> None:
        self.weight = weight
        self.absmax = absmax
        self.absmax_codes = absmax_codes
        self.nested_quant_map = nested_quant_map
        self.nested_absmax = nested_absmax
        self.nested_offset = nested_offset
        self.nested_blocksize = nested_blocksize

    def __repr__(self) -> str:
        return _repr(self)


class Mxfp4W4:
    """MXFP4 of gpt-oss (its last two dimensions as one) and compressed-tensors. The weights have codes e2m1 and
    scales e8m0. Any strides.

    Fields:
      blocks: needed; (n, k / 2); u8; the even k in the lower half of a byte
      scales: needed; (n, k / 32); u8 or e8m0
    """

    __slots__ = ('blocks', 'scales',)

    def __init__(
        self,
        blocks: Array,
        scales: Array,
    ) -> None:
        self.blocks = blocks
        self.scales = scales

    def __repr__(self) -> str:
        return _repr(self)


class Nvfp4W4:
    """NVFP4. The weights have codes e2m1 and scales e4m3. Any strides.

    Fields:
      weight: needed; (n, k / 2); u8; the even k in the lower half of a byte
      scales: needed; (n, k / 16); u8 or e4m3
      tensor_scale: (1) or (n); f32; for weights with factors
      divides: True: compressed-tensors' weight_global_scale, which divides; ModelOpt's multiplies
    """

    __slots__ = ('weight', 'scales', 'tensor_scale', 'divides',)

    def __init__(
        self,
        weight: Array,
        scales: Array,
        *,
        tensor_scale: Array | None = None,
        divides: bool = False,
    ) -> None:
        self.weight = weight
        self.scales = scales
        self.tensor_scale = tensor_scale
        self.divides = divides

    def __repr__(self) -> str:
        return _repr(self)


class Int4W4:
    """Weights in two's complement, eight codes in a word. Any strides.

    Fields:
      packed: needed; (n, k / 8); i32 or u32
      scales: needed; (groups, n); f16 or bf16
    """

    __slots__ = ('packed', 'scales',)

    def __init__(
        self,
        packed: Array,
        scales: Array,
    ) -> None:
        self.packed = packed
        self.scales = scales

    def __repr__(self) -> str:
        return _repr(self)


class AwqGemvW4:
    """AutoAWQ's tensors, version gemv. zw = groups / 8, rounded up; to a multiple of 2 with groups of 64, of 4 with
    groups of 32. The weights have zero_points. Any strides.

    Fields:
      qweight: needed; (n, k / 8); i32 or u32
      qzeros: needed; (n, zw); i32 or u32
      scales: needed; (n, 8 zw); f16 or bf16
    """

    __slots__ = ('qweight', 'qzeros', 'scales',)

    def __init__(
        self,
        qweight: Array,
        qzeros: Array,
        scales: Array,
    ) -> None:
        self.qweight = qweight
        self.qzeros = qzeros
        self.scales = scales

    def __repr__(self) -> str:
        return _repr(self)


class AwqGemvFastW4:
    """AutoAWQ's tensors, version gemv_fast: W = scale * q + qzeros. The weights have scales f32, offsets, and zero
    0. zw as in awq_gemv_w4. Any strides.

    Fields:
      qweight: needed; (n / 4, k); i16
      scales: needed; (8 zw, n); f16 or bf16
      qzeros: needed; (8 zw, n); elements of scales
    """

    __slots__ = ('qweight', 'scales', 'qzeros',)

    def __init__(
        self,
        qweight: Array,
        scales: Array,
        qzeros: Array,
    ) -> None:
        self.qweight = qweight
        self.scales = scales
        self.qzeros = qzeros

    def __repr__(self) -> str:
        return _repr(self)


class MarlinW4:
    """vLLM's Marlin with bias 8, k a multiple of 16, n of 64. With act-order, k is sorted while packing, and x is
    not permuted here. Any strides.

    Fields:
      b: needed; (k / 16, 2 n); i32 or u32
      scales: needed; (groups, n); f16 or bf16; permuted
      zeros: (groups, n / 8); i32 or u32; permuted; for weights with zero_points
    """

    __slots__ = ('b', 'scales', 'zeros',)

    def __init__(
        self,
        b: Array,
        scales: Array,
        *,
        zeros: Array | None = None,
    ) -> None:
        self.b = b
        self.scales = scales
        self.zeros = zeros

    def __repr__(self) -> str:
        return _repr(self)


class TinygemmW4:
    """PyTorch's int4pack: W = scale * (q - 8) + zero. The weights have scales f32, offsets, and k and n as packed.
    t = inner_k_tiles is 2, 4 or 8. Any strides.

    Fields:
      packed: needed; (n / 8, k / (16 t), 32, t / 2); i32
      scales_and_zeros: needed; (k / group, n, 2); bf16
    """

    __slots__ = ('packed', 'scales_and_zeros',)

    def __init__(
        self,
        packed: Array,
        scales_and_zeros: Array,
    ) -> None:
        self.packed = packed
        self.scales_and_zeros = scales_and_zeros

    def __repr__(self) -> str:
        return _repr(self)


class TorchaoInt4W4:
    """torchao's Int4Tensor: W = scale * q + zero_point. The weights have scales f32 and offsets. Any strides.

    Fields:
      qdata: needed; (n, k / 8); i32 or u32; the file's bytes (n, k / 2), four as a word
      scale: needed; (groups, n); f16 or bf16
      zero_point: needed; (groups, n); elements of scale
    """

    __slots__ = ('qdata', 'scale', 'zero_point',)

    def __init__(
        self,
        qdata: Array,
        scale: Array,
        zero_point: Array,
    ) -> None:
        self.qdata = qdata
        self.scale = scale
        self.zero_point = zero_point

    def __repr__(self) -> str:
        return _repr(self)


class Int8W8:
    """Integers of eight bits with scales: compressed-tensors int-quantized, and others. Any strides.

    Fields:
      weight: needed; (n, k); i8
      scales: needed; (n, groups), (n) or (1); f32, f16 or bf16
      zero_points: (n, groups), or (1, 1) if the group is k; i8; for weights with zero_points
    """

    __slots__ = ('weight', 'scales', 'zero_points',)

    def __init__(
        self,
        weight: Array,
        scales: Array,
        *,
        zero_points: Array | None = None,
    ) -> None:
        self.weight = weight
        self.scales = scales
        self.zero_points = zero_points

    def __repr__(self) -> str:
        return _repr(self)


class LlmInt8W8:
    """bitsandbytes' LLM.int8, rows: W = weight * scb / 127. Any strides.

    Fields:
      weight: needed; (n, k); i8
      scb: needed; (n); f32
    """

    __slots__ = ('weight', 'scb',)

    def __init__(
        self,
        weight: Array,
        scb: Array,
    ) -> None:
        self.weight = weight
        self.scb = scb

    def __repr__(self) -> str:
        return _repr(self)


class GptqW8:
    """GPTQ's tensors of 8 bits. Any strides.

    Fields:
      qweight: needed; (k / 4, n); i32 or u32
      scales: needed; (groups, n); f32, f16 or bf16
      qzeros: (groups, n / 4); i32 or u32; for weights with zero_points
      g_idx: (k); i32; the group of each k; for weights with act_order
      v2: True: checkpoint_format gptq_v2; gptq stores zero points less 1
    """

    __slots__ = ('qweight', 'scales', 'qzeros', 'g_idx', 'v2',)

    def __init__(
        self,
        qweight: Array,
        scales: Array,
        *,
        qzeros: Array | None = None,
        g_idx: Array | None = None,
        v2: bool = False,
    ) -> None:
        self.qweight = qweight
        self.scales = scales
        self.qzeros = qzeros
        self.g_idx = g_idx
        self.v2 = v2

    def __repr__(self) -> str:
        return _repr(self)


class CompressedTensorsW8:
    """Tensors of compressed-tensors, format pack-quantized, of 8 bits. Any strides.

    Fields:
      weight_packed: needed; (n, k / 4); i32 or u32
      weight_scale: needed; (n, groups) or (n); f32, f16 or bf16
      weight_zero_point: (n / 4, groups); i32 or u32; for weights with zero_points
      weight_g_idx: (k); i32; the group of each k; for weights with act_order
    """

    __slots__ = ('weight_packed', 'weight_scale', 'weight_zero_point', 'weight_g_idx',)

    def __init__(
        self,
        weight_packed: Array,
        weight_scale: Array,
        *,
        weight_zero_point: Array | None = None,
        weight_g_idx: Array | None = None,
    ) -> None:
        self.weight_packed = weight_packed
        self.weight_scale = weight_scale
        self.weight_zero_point = weight_zero_point
        self.weight_g_idx = weight_g_idx

    def __repr__(self) -> str:
        return _repr(self)


class Q80W8:
    """GGUF's Q8_0, in groups of 32. Any strides.

    Fields:
      blocks: needed; (n, k / 32 * 34); u8; rows adjacent, at even addresses
    """

    __slots__ = ('blocks',)

    def __init__(
        self,
        blocks: Array,
    ) -> None:
        self.blocks = blocks

    def __repr__(self) -> str:
        return _repr(self)


class E4m3W8:
    """8-bit floats with scales, as DeepSeek's weight_scale_inv. Any strides.

    Fields:
      weight: needed; (n, k); e4m3 or u8
      scales: needed; (n, groups), (n) or (1); or (n / 128, k / 128), rounded up, if the group is 128; f32, f16 or
          bf16
    """

    __slots__ = ('weight', 'scales',)

    def __init__(
        self,
        weight: Array,
        scales: Array,
    ) -> None:
        self.weight = weight
        self.scales = scales

    def __repr__(self) -> str:
        return _repr(self)


class MarlinW8:
    """vLLM's Marlin with bias 128, k a multiple of 16, n of 64. Any strides.

    Fields:
      b: needed; (k / 16, 4 n); i32 or u32
      scales: needed; (groups, n); f16 or bf16; permuted
    """

    __slots__ = ('b', 'scales',)

    def __init__(
        self,
        b: Array,
        scales: Array,
    ) -> None:
        self.b = b
        self.scales = scales

    def __repr__(self) -> str:
        return _repr(self)


class TuneOptions:
    """How the kernels of a call are measured.

    Fields:
      repetitions: runs of each kernel; the median counts
      remember: 0: measure only
      use_files: 0: the result holds for this process alone
    """

    __slots__ = ('repetitions', 'remember', 'use_files',)

    def __init__(
        self,
        *,
        repetitions: int = 20,
        remember: bool = True,
        use_files: bool = True,
    ) -> None:
        self.repetitions = repetitions
        self.remember = remember
        self.use_files = use_files

    def __repr__(self) -> str:
        return _repr(self)


class BnbNested:
    """absmax as codes of 8 bits: absmax of block i = nested_quant_map[absmax[i]] * nested_absmax[i / blocksize] +
    offset.

    Fields:
      absmax: needed; (blocks); u8
      nested_absmax: needed; (ceil(blocks / blocksize)); f32
      nested_quant_map: needed; (256); f32
      offset
      blocksize: a power of two, at least 8
    """

    __slots__ = ('absmax', 'nested_absmax', 'nested_quant_map', 'offset', 'blocksize',)

    def __init__(
        self,
        absmax: Array,
        nested_absmax: Array,
        nested_quant_map: Array,
        *,
        offset: float = 0.0,
        blocksize: int = 256,
    ) -> None:
        self.absmax = absmax
        self.nested_absmax = nested_absmax
        self.nested_quant_map = nested_quant_map
        self.offset = offset
        self.blocksize = blocksize

    def __repr__(self) -> str:
        return _repr(self)


class Bnb4bit:
    """bitsandbytes' nf4 and fp4. Blocks run over W row by row, and may span rows. Either absmax or nested is given.

    Fields:
      code
      weight: needed; (ceil(n k / 2)); u8; the even element in the upper half of a byte
      absmax: (ceil(n k / blocksize)); f32; not read if nested is given
      blocksize: a power of two, at least 8
      nested: None: absmax is given
    """

    __slots__ = ('code', 'weight', 'absmax', 'blocksize', 'nested',)

    def __init__(
        self,
        weight: Array,
        *,
        code: Literal['nf4', 'fp4'] = 'nf4',
        absmax: Array | None = None,
        blocksize: int = 64,
        nested: BnbNested | None = None,
    ) -> None:
        self.code = code
        self.weight = weight
        self.absmax = absmax
        self.blocksize = blocksize
        self.nested = nested

    def __repr__(self) -> str:
        return _repr(self)


class BnbInt8:
    """bitsandbytes' LLM.int8: W = weight * SCB / 127.

    Fields:
      weight: needed; (n, k); i8
      SCB: needed; (n); f32
    """

    __slots__ = ('weight', 'SCB',)

    def __init__(
        self,
        weight: Array,
        SCB: Array,
    ) -> None:
        self.weight = weight
        self.SCB = SCB

    def __repr__(self) -> str:
        return _repr(self)


class ScaledBytes:
    """Codes of 8 bits with one scale for all, for each row, or for each block of rows and columns: W = weight *
    scale.

    Fields:
      weight: needed; (n, k); i8, e4m3 or e5m2
      scale: needed; (1, n or n / block_rows) x (1 or k / block_columns), rounded up; f32, f16, bf16, u8 or e8m0; u8
          is E8M0
      block_rows
      block_columns
    """

    __slots__ = ('weight', 'scale', 'block_rows', 'block_columns',)

    def __init__(
        self,
        weight: Array,
        scale: Array,
        *,
        block_rows: int = 128,
        block_columns: int = 128,
    ) -> None:
        self.weight = weight
        self.scale = scale
        self.block_rows = block_rows
        self.block_columns = block_columns

    def __repr__(self) -> str:
        return _repr(self)


class Mxfp4Tensors:
    """MXFP4 of gpt-oss (all experts as one matrix) and of compressed-tensors.

    Fields:
      packed: needed; (n, k / 2); u8; the even element in the lower half of a byte
      scales: needed; (n, k / 32); u8 or e8m0
    """

    __slots__ = ('packed', 'scales',)

    def __init__(
        self,
        packed: Array,
        scales: Array,
    ) -> None:
        self.packed = packed
        self.scales = scales

    def __repr__(self) -> str:
        return _repr(self)


class Nvfp4Tensors:
    """NVFP4: W = e2m1 * (scale * global), or e2m1 * (scale / global).

    Fields:
      packed: needed; (n, k / 2); u8; the even element in the lower half of a byte
      scales: needed; (n, k / 16); e4m3
      global_: (1); f32; None: 1
      divide: True: compressed-tensors' weight_global_scale, which divides
    """

    __slots__ = ('packed', 'scales', 'global_', 'divide',)

    def __init__(
        self,
        packed: Array,
        scales: Array,
        *,
        global_: Array | None = None,
        divide: bool = False,
    ) -> None:
        self.packed = packed
        self.scales = scales
        self.global_ = global_
        self.divide = divide

    def __repr__(self) -> str:
        return _repr(self)


class Bnb4bitOutput:
    """Where quantise_bnb_4bit writes. If blocks do not end with rows, the rows of w have no gaps between them.

    Fields:
      code
      weight: needed; (ceil(n k / 2)); u8
      absmax: needed; (ceil(n k / blocksize)); f32
      blocksize: a power of two, 32 to 65536
    """

    __slots__ = ('code', 'weight', 'absmax', 'blocksize',)

    def __init__(
        self,
        weight: Array,
        absmax: Array,
        *,
        code: Literal['nf4', 'fp4'] = 'nf4',
        blocksize: int = 64,
    ) -> None:
        self.code = code
        self.weight = weight
        self.absmax = absmax
        self.blocksize = blocksize

    def __repr__(self) -> str:
        return _repr(self)


class Mxfp4Output:
    """Where quantise_mxfp4 writes.

    Fields:
      packed: needed; (n, k / 2); u8
      scales: needed; (n, k / 32); u8 or e8m0
    """

    __slots__ = ('packed', 'scales',)

    def __init__(
        self,
        packed: Array,
        scales: Array,
    ) -> None:
        self.packed = packed
        self.scales = scales

    def __repr__(self) -> str:
        return _repr(self)


class Nvfp4Output:
    """Where quantise_nvfp4 writes.

    Fields:
      packed: needed; (n, k / 2); u8
      scales: needed; (n, k / 16); e4m3
      global_: (1); f32; gets absmax / 2688; None: scales of one level
    """

    __slots__ = ('packed', 'scales', 'global_',)

    def __init__(
        self,
        packed: Array,
        scales: Array,
        *,
        global_: Array | None = None,
    ) -> None:
        self.packed = packed
        self.scales = scales
        self.global_ = global_

    def __repr__(self) -> str:
        return _repr(self)


class W4Output:
    """Where quantise_w4 writes: the layout of compressed_tensors_w4.

    Fields:
      weight_packed: needed; (n, k / 8); i32
      weight_scale: needed; (n, k / group); f16 or bf16
      weight_zero_point: (n / 8, k / group); i32; None: symmetric
      group: a multiple of 16 that divides k; or k, also given as -1
    """

    __slots__ = ('weight_packed', 'weight_scale', 'weight_zero_point', 'group',)

    def __init__(
        self,
        weight_packed: Array,
        weight_scale: Array,
        *,
        weight_zero_point: Array | None = None,
        group: int = 128,
    ) -> None:
        self.weight_packed = weight_packed
        self.weight_scale = weight_scale
        self.weight_zero_point = weight_zero_point
        self.group = group

    def __repr__(self) -> str:
        return _repr(self)


_attention = _core.operation("attention")


def attention(
    q: Array,
    k: Array,
    v: Array,
    out: Array | None = None,
    *,
    scale: float | None = None,
    softcap: float = 0.0,
    causal: Literal['none', 'top_left', 'bottom_right'] = 'none',
    precision: Literal['ieee', 'tf32'] = 'ieee',
    batch_invariant: bool = False,
    window_left: int = -1,
    window_right: int = -1,
    alibi: Array | None = None,
    bias: Array | None = None,
    keep: Array | None = None,
    sinks: Array | None = None,
    lse: Array | bool | None = None,
    blocks: BlockMask | None = None,
    variant: str | None = None,
    dtype: str | None = None,
    stream: Any = None,
) -> Any:
    """out = softmax(mask(scale * Q K^T)) V for every head, without the matrix of scores in memory.

    The last stride of each tensor is 1, others are free. A tensor in the order of torch, (batches, heads, sequence,
    size), is passed with strides. Hq is a multiple of Hkv. D and Dv are 1 to 512.

    A query that attends to no key gets zeros. Equal calls give equal bits.

    Arguments:
      q: (B, Sq, Hq, D); f32, f16 or bf16
      k: (B, Sk, Hkv, D); elements of q
      v: (B, Sk, Hkv, Dv); elements of q
      out: (B, Sq, Hq, Dv); f32, f16 or bf16; elements of q, or f32
      scale: the factor of q . k; 0: 1 / sqrt(head size of q)
      softcap: above 0: the score x becomes softcap * tanh(x / softcap)
      causal
      precision: for operands of f32
      batch_invariant: True: the bits of a sequence do not depend on the other sequences of the call
      window_left: keys before a query's own one that it attends to; -1: all
      window_right: keys after its own one; -1: all; causal makes it 0
      alibi: (heads) or (batches, heads); f32; slopes: x -= slope * |query + keys - queries - key|
      bias: (batches, heads, queries, keys) or the last of these; f32, f16 or bf16; added; an extent of 1 serves
          all; f32, or elements of q; not for attention_varlen
      keep: as bias; bool or u8; 0 masks the key; not for attention_varlen
      sinks: (heads); f32, f16 or bf16; the score of an extra key without a value
      lse: (batches, heads, queries); (heads, rows) for attention_varlen; f32; gets ln of the sum of exp(x); -inf
          without a key
      blocks: the blocks of keys that are visited; None: all
      variant: the kernel to run, as kaio.choice names it; None: the best one
      dtype: the element type of `out` if it is made, as "bf16"
      stream: a stream of the framework, or a CUstream as a number; None: the current stream

    Returns out, lse (those that are given or made).
    Raises InvalidArgument, which names the argument; UnsupportedDevice; TypeError.
    """
    try:
        if out is None:
            out = _empty(q, (*q.shape[:-1], v.shape[-1]), dtype)
        if lse is True:
            lse = _empty(q, (q.shape[0], q.shape[2], q.shape[1]), 'f32')
        elif lse is False:
            lse = None
    except (AttributeError, IndexError) as error:
        raise _wrong("attention", error, q=q, k=k, v=v) from None
    if _attention(stream, q, k, v, out, (scale, softcap, causal, precision, batch_invariant, window_left, window_right, alibi, bias, keep, sinks, lse, blocks, variant, )):
        out, lse = _for_jax(out, lse)
    return out if lse is None else (out, lse)


_attention_varlen = _core.operation("attention_varlen")


def attention_varlen(
    q: Array,
    k: Array,
    v: Array,
    out: Array | None = None,
    *,
    cu_q: Array | None = None,
    cu_k: Array | None = None,
    max_q: int = 0,
    max_k: int = 0,
    used_q: Array | None = None,
    used_k: Array | None = None,
    scale: float | None = None,
    softcap: float = 0.0,
    causal: Literal['none', 'top_left', 'bottom_right'] = 'none',
    precision: Literal['ieee', 'tf32'] = 'ieee',
    batch_invariant: bool = False,
    window_left: int = -1,
    window_right: int = -1,
    alibi: Array | None = None,
    bias: Array | None = None,
    keep: Array | None = None,
    sinks: Array | None = None,
    lse: Array | bool | None = None,
    blocks: BlockMask | None = None,
    variant: str | None = None,
    dtype: str | None = None,
    stream: Any = None,
) -> Any:
    """attention over sequences of different lengths in one tensor.

    Masks and windows are aligned in each sequence by its own lengths. Rows of no sequence, and those beyond used_q,
    are not written. A captured call may be replayed with other lengths.

    Arguments:
      q: (rows, Hq, D); f32, f16 or bf16
      k: (rows of k, Hkv, D); elements of q
      v: (rows of k, Hkv, Dv); elements of q
      out: (rows, Hq, Dv); f32, f16 or bf16; elements of q, or f32
      cu_q: needed; (sequences + 1); i32; from 0 on, never decreasing
      cu_k: (sequences + 1); i32; likewise, of k and v; not for a cache
      max_q: at least the rows of q of the longest sequence
      max_k: for gradients: at least the rows of k of the longest sequence; 0: all rows
      used_q: (sequences); i32; the used rows of each; None: all
      used_k: (sequences); i32; likewise, of k and v
      scale: the factor of q . k; 0: 1 / sqrt(head size of q)
      softcap: above 0: the score x becomes softcap * tanh(x / softcap)
      causal
      precision: for operands of f32
      batch_invariant: True: the bits of a sequence do not depend on the other sequences of the call
      window_left: keys before a query's own one that it attends to; -1: all
      window_right: keys after its own one; -1: all; causal makes it 0
      alibi: (heads) or (batches, heads); f32; slopes: x -= slope * |query + keys - queries - key|
      bias: (batches, heads, queries, keys) or the last of these; f32, f16 or bf16; added; an extent of 1 serves
          all; f32, or elements of q; not for attention_varlen
      keep: as bias; bool or u8; 0 masks the key; not for attention_varlen
      sinks: (heads); f32, f16 or bf16; the score of an extra key without a value
      lse: (batches, heads, queries); (heads, rows) for attention_varlen; f32; gets ln of the sum of exp(x); -inf
          without a key
      blocks: the blocks of keys that are visited; None: all
      variant: the kernel to run, as kaio.choice names it; None: the best one
      dtype: the element type of `out` if it is made, as "bf16"
      stream: a stream of the framework, or a CUstream as a number; None: the current stream

    Returns out, lse (those that are given or made).
    Raises InvalidArgument, which names the argument; UnsupportedDevice; TypeError.
    """
    try:
        if out is None:
            out = _empty(q, (*q.shape[:-1], v.shape[-1]), dtype)
        if lse is True:
            lse = _empty(q, (q.shape[1], q.shape[0]), 'f32')
        elif lse is False:
            lse = None
    except (AttributeError, IndexError) as error:
        raise _wrong("attention_varlen", error, q=q, k=k, v=v) from None
    if _attention_varlen(stream, q, k, v, out, (cu_q, cu_k, max_q, max_k, used_q, used_k, ), (scale, softcap, causal, precision, batch_invariant, window_left, window_right, alibi, bias, keep, sinks, lse, blocks, variant, )):
        out, lse = _for_jax(out, lse)
    return out if lse is None else (out, lse)


_merge_states = _core.operation("merge_states")


def merge_states(
    out_a: Array,
    lse_a: Array,
    out_b: Array,
    lse_b: Array,
    out: Array | None = None,
    lse: Array | Literal[False] | None = None,
    *,
    dtype: str | None = None,
    stream: Any = None,
) -> tuple[Any, ...]:
    """Joins two attentions of the same queries over different keys into the attention over all of them.

    A result whose lse is -inf had no keys, and counts for nothing. Sinks belong to one of the two. out may be out_a
    or out_b itself, lse likewise.

    Arguments:
      out_a: (B, S, H, D) or (rows, H, D); f32, f16 or bf16
      lse_a: (B, H, S) or (H, rows); f32
      out_b: as out_a; f32, f16 or bf16
      lse_b: as lse_a; f32
      out: as out_a; f32, f16 or bf16
      lse: as lse_a; f32; None: not written
      dtype: the element type of `out` if it is made, as "bf16"
      stream: a stream of the framework, or a CUstream as a number; None: the current stream

    Returns out, lse.
    Raises InvalidArgument, which names the argument; UnsupportedDevice; TypeError.
    """
    if out is None:
        out = _empty_like(out_a, dtype, "out_a")
    if lse is None or lse is True:
        lse = _empty_like(lse_a, None, "lse_a")
    elif lse is False:
        lse = None
    if _merge_states(stream, out_a, lse_a, out_b, lse_b, out, lse):
        out, lse = _for_jax(out, lse)
    return (out, lse)


_attention_backward = _core.operation("attention_backward")


def attention_backward(
    dout: Array,
    q: Array,
    k: Array,
    v: Array,
    out: Array,
    lse: Array,
    dq: Array | Literal[False] | None = None,
    dk: Array | Literal[False] | None = None,
    dv: Array | Literal[False] | None = None,
    *,
    forward: AttentionOptions | None = None,
    dlse: Array | None = None,
    dbias: Array | bool | None = None,
    dsinks: Array | bool | None = None,
    workspace: Array | None = None,
    stream: Any = None,
) -> Any:
    """The gradients of an attention: dq, dk and dv, and those of a bias and of sinks.

    out and lse are those that the attention wrote with these options. Gradients share memory with no other
    argument. Equal calls give equal bits.

    Arguments:
      dout: (B, Sq, Hq, Dv); elements of q
      q: (B, Sq, Hq, D); f32, f16 or bf16
      k: (B, Sk, Hkv, D); elements of q
      v: (B, Sk, Hkv, Dv); elements of q
      out: (B, Sq, Hq, Dv); f32, f16 or bf16
      lse: (B, Hq, Sq); f32
      dq: as q; elements of q; None: not computed
      dk: as k; elements of q; None: not computed
      dv: as v; elements of q; None: not computed
      forward: the options of the attention that is differentiated, without blocks and variant; its lse is not
          written; None: all defaults
      dlse: as lse; f32; the gradient of lse
      dbias: as bias; f32, f16 or bf16; f32, or elements of q; summed along extents of 1
      dsinks: (heads); f32, f16 or bf16
      workspace: memory for the call, of any type; None: made if it is needed
      stream: a stream of the framework, or a CUstream as a number; None: the current stream

    Returns dq, dk, dv, dbias, dsinks (those that are given or made).
    Raises InvalidArgument, which names the argument; UnsupportedDevice; TypeError.
    """
    if dq is None or dq is True:
        dq = _empty_like(q, None, "q")
    elif dq is False:
        dq = None
    if dk is None or dk is True:
        dk = _empty_like(k, None, "k")
    elif dk is False:
        dk = None
    if dv is None or dv is True:
        dv = _empty_like(v, None, "v")
    elif dv is False:
        dv = None
    if dbias is True:
        dbias = _empty_like(None if forward is None else forward.bias, None, "forward.bias")
    elif dbias is False:
        dbias = None
    if dsinks is True:
        dsinks = _empty_like(None if forward is None else forward.sinks, None, "forward.sinks")
    elif dsinks is False:
        dsinks = None
    if _attention_backward(stream, dout, q, k, v, out, lse, dq, dk, dv, (forward, dlse, dbias, dsinks, workspace, )):
        dq, dk, dv, dbias, dsinks = _for_jax(dq, dk, dv, dbias, dsinks)
    return _given(dq, dk, dv, dbias, dsinks)


_attention_backward_varlen = _core.operation("attention_backward_varlen")


def attention_backward_varlen(
    dout: Array,
    q: Array,
    k: Array,
    v: Array,
    out: Array,
    lse: Array,
    dq: Array | Literal[False] | None = None,
    dk: Array | Literal[False] | None = None,
    dv: Array | Literal[False] | None = None,
    *,
    cu_q: Array | None = None,
    cu_k: Array | None = None,
    max_q: int = 0,
    max_k: int = 0,
    used_q: Array | None = None,
    used_k: Array | None = None,
    forward: AttentionOptions | None = None,
    dlse: Array | None = None,
    dbias: Array | None = None,
    dsinks: Array | bool | None = None,
    workspace: Array | None = None,
    stream: Any = None,
) -> Any:
    """The gradients of attention_varlen.

    Rows of no sequence, and those beyond used_q and used_k, are not written.

    Arguments:
      dout: (rows, Hq, Dv); elements of q
      q: (rows, Hq, D); f32, f16 or bf16
      k: (rows of k, Hkv, D); elements of q
      v: (rows of k, Hkv, Dv); elements of q
      out: (rows, Hq, Dv); f32, f16 or bf16
      lse: (Hq, rows); f32
      dq: as q; elements of q; None: not computed
      dk: as k; elements of q; None: not computed
      dv: as v; elements of q; None: not computed
      cu_q: needed; (sequences + 1); i32; from 0 on, never decreasing
      cu_k: (sequences + 1); i32; likewise, of k and v; not for a cache
      max_q: at least the rows of q of the longest sequence
      max_k: for gradients: at least the rows of k of the longest sequence; 0: all rows
      used_q: (sequences); i32; the used rows of each; None: all
      used_k: (sequences); i32; likewise, of k and v
      forward: the options of the attention that is differentiated, without blocks and variant; its lse is not
          written; None: all defaults
      dlse: as lse; f32; the gradient of lse
      dbias: as bias; f32, f16 or bf16; f32, or elements of q; summed along extents of 1
      dsinks: (heads); f32, f16 or bf16
      workspace: memory for the call, of any type; None: made if it is needed
      stream: a stream of the framework, or a CUstream as a number; None: the current stream

    Returns dq, dk, dv, dsinks (those that are given or made).
    Raises InvalidArgument, which names the argument; UnsupportedDevice; TypeError.
    """
    if dq is None or dq is True:
        dq = _empty_like(q, None, "q")
    elif dq is False:
        dq = None
    if dk is None or dk is True:
        dk = _empty_like(k, None, "k")
    elif dk is False:
        dk = None
    if dv is None or dv is True:
        dv = _empty_like(v, None, "v")
    elif dv is False:
        dv = None
    if dsinks is True:
        dsinks = _empty_like(None if forward is None else forward.sinks, None, "forward.sinks")
    elif dsinks is False:
        dsinks = None
    if _attention_backward_varlen(stream, dout, q, k, v, out, lse, dq, dk, dv, (cu_q, cu_k, max_q, max_k, used_q, used_k, ), (forward, dlse, dbias, dsinks, workspace, )):
        dq, dk, dv, dsinks = _for_jax(dq, dk, dv, dsinks)
    return _given(dq, dk, dv, dsinks)


_attention_decode = _core.operation("attention_decode")


def attention_decode(
    q: Array,
    cache: KvCache,
    out: Array | None = None,
    *,
    scale: float | None = None,
    softcap: float = 0.0,
    causal: Literal['none', 'top_left', 'bottom_right'] = 'none',
    splits: int = 0,
    combining: Literal['automatic', 'second_kernel', 'cluster'] = 'automatic',
    batch_invariant: bool = False,
    constant: str = 'none',
    window_left: int = -1,
    window_right: int = -1,
    max_length: int = 0,
    qv: Array | None = None,
    alibi: Array | None = None,
    k_scale: Array | None = None,
    v_scale: Array | None = None,
    sinks: Array | None = None,
    lse: Array | bool | None = None,
    append: AttentionAppend | None = None,
    workspace: Array | None = None,
    variant: str | None = None,
    dtype: str | None = None,
    stream: Any = None,
) -> Any:
    """Attention of few queries over a cache of keys and values: decode steps, speculative steps, chunks of a prompt.

    n queries are the last n keys of a sequence. Lengths and tables are read when the kernels run: a captured call
    may be replayed with others. Made for Sq from 1 to 128; D and Dv are up to 512.

    For multi-head latent attention, cache.v is the first elements of the rows of cache.k.

    Arguments:
      q: (B, Sq, Hq, D); f32, f16 or bf16
      cache: KvCache
      out: (B, Sq, Hq, Dv); f32, f16 or bf16; elements of q, or f32
      scale: the factor of q . k; 0: 1 / sqrt(head size of q), with qv of both head sizes together
      softcap: above 0: the score x becomes softcap * tanh(x / softcap)
      causal: none or bottom_right
      splits: parts of the keys, 1 to 256; 0: chosen
      combining
      batch_invariant: True: the bits of a sequence do not depend on the other sequences of the call
      constant: indices
      window_left: keys before a query's own one that it attends to; -1: all
      window_right: keys after its own one; -1: all; causal makes it 0
      max_length: the most keys of a sequence, by which work is divided; 0: the room of the cache
      qv: (B, Sq, Hq, Dv); f32, f16 or bf16; queries that are multiplied with values: the score is scale * (q . k +
          qv . v)
      alibi: (heads) or (batches, heads); f32; slopes: x -= slope * |query + keys - queries - key|
      k_scale: (1), (heads), (sequences, heads) or (pages, rows, heads); f32; scales of a cache of 8 bits; None: 1
      v_scale: as k_scale; f32
      sinks: (heads); f32, f16 or bf16; the score of an extra key without a value
      lse: (batches, heads, queries); (heads, rows) for attention_decode_varlen; f32; gets ln of the sum of exp(x);
          -inf without a key
      append: new keys and values; None: none. Lengths of the cache are those before, last_page_len those after
      workspace: memory for the call, of any type; None: made if it is needed
      variant: the kernel to run, as kaio.choice names it; None: the best one
      dtype: the element type of `out` if it is made, as "bf16"
      stream: a stream of the framework, or a CUstream as a number; None: the current stream

    Returns out, lse (those that are given or made).
    Raises InvalidArgument, which names the argument; UnsupportedDevice; TypeError.
    """
    try:
        if out is None:
            out = _empty(q, (*q.shape[:-1], cache.v.shape[-1]), dtype)
        if lse is True:
            lse = _empty(q, (q.shape[0], q.shape[2], q.shape[1]), 'f32')
        elif lse is False:
            lse = None
    except (AttributeError, IndexError) as error:
        raise _wrong("attention_decode", error, q=q, cache=cache) from None
    if _attention_decode(stream, q, cache, out, (scale, softcap, causal, splits, combining, batch_invariant, constant, window_left, window_right, max_length, qv, alibi, k_scale, v_scale, sinks, lse, append, workspace, variant, )):
        out, lse = _for_jax(out, lse)
    return out if lse is None else (out, lse)


_attention_decode_varlen = _core.operation("attention_decode_varlen")


def attention_decode_varlen(
    q: Array,
    cache: KvCache,
    out: Array | None = None,
    *,
    cu_q: Array | None = None,
    cu_k: Array | None = None,
    max_q: int = 0,
    max_k: int = 0,
    used_q: Array | None = None,
    used_k: Array | None = None,
    scale: float | None = None,
    softcap: float = 0.0,
    causal: Literal['none', 'top_left', 'bottom_right'] = 'none',
    splits: int = 0,
    combining: Literal['automatic', 'second_kernel', 'cluster'] = 'automatic',
    batch_invariant: bool = False,
    constant: str = 'none',
    window_left: int = -1,
    window_right: int = -1,
    max_length: int = 0,
    qv: Array | None = None,
    alibi: Array | None = None,
    k_scale: Array | None = None,
    v_scale: Array | None = None,
    sinks: Array | None = None,
    lse: Array | bool | None = None,
    append: AttentionAppend | None = None,
    workspace: Array | None = None,
    variant: str | None = None,
    dtype: str | None = None,
    stream: Any = None,
) -> Any:
    """attention_decode for sequences with different numbers of queries, which follow each other along the rows of q.

    sequences has cu_q and max_q alone. Rows of no sequence are not written.

    Arguments:
      q: (rows, Hq, D); f32, f16 or bf16
      cache: KvCache
      out: (rows, Hq, Dv); f32, f16 or bf16; elements of q, or f32
      cu_q: needed; (sequences + 1); i32; from 0 on, never decreasing
      cu_k: (sequences + 1); i32; likewise, of k and v; not for a cache
      max_q: at least the rows of q of the longest sequence
      max_k: for gradients: at least the rows of k of the longest sequence; 0: all rows
      used_q: (sequences); i32; the used rows of each; None: all
      used_k: (sequences); i32; likewise, of k and v
      scale: the factor of q . k; 0: 1 / sqrt(head size of q), with qv of both head sizes together
      softcap: above 0: the score x becomes softcap * tanh(x / softcap)
      causal: none or bottom_right
      splits: parts of the keys, 1 to 256; 0: chosen
      combining
      batch_invariant: True: the bits of a sequence do not depend on the other sequences of the call
      constant: indices
      window_left: keys before a query's own one that it attends to; -1: all
      window_right: keys after its own one; -1: all; causal makes it 0
      max_length: the most keys of a sequence, by which work is divided; 0: the room of the cache
      qv: (B, Sq, Hq, Dv); f32, f16 or bf16; queries that are multiplied with values: the score is scale * (q . k +
          qv . v)
      alibi: (heads) or (batches, heads); f32; slopes: x -= slope * |query + keys - queries - key|
      k_scale: (1), (heads), (sequences, heads) or (pages, rows, heads); f32; scales of a cache of 8 bits; None: 1
      v_scale: as k_scale; f32
      sinks: (heads); f32, f16 or bf16; the score of an extra key without a value
      lse: (batches, heads, queries); (heads, rows) for attention_decode_varlen; f32; gets ln of the sum of exp(x);
          -inf without a key
      append: new keys and values; None: none. Lengths of the cache are those before, last_page_len those after
      workspace: memory for the call, of any type; None: made if it is needed
      variant: the kernel to run, as kaio.choice names it; None: the best one
      dtype: the element type of `out` if it is made, as "bf16"
      stream: a stream of the framework, or a CUstream as a number; None: the current stream

    Returns out, lse (those that are given or made).
    Raises InvalidArgument, which names the argument; UnsupportedDevice; TypeError.
    """
    try:
        if out is None:
            out = _empty(q, (*q.shape[:-1], cache.v.shape[-1]), dtype)
        if lse is True:
            lse = _empty(q, (q.shape[1], q.shape[0]), 'f32')
        elif lse is False:
            lse = None
    except (AttributeError, IndexError) as error:
        raise _wrong("attention_decode_varlen", error, q=q, cache=cache) from None
    if _attention_decode_varlen(stream, q, cache, out, (cu_q, cu_k, max_q, max_k, used_q, used_k, ), (scale, softcap, causal, splits, combining, batch_invariant, constant, window_left, window_right, max_length, qv, alibi, k_scale, v_scale, sinks, lse, append, workspace, variant, )):
        out, lse = _for_jax(out, lse)
    return out if lse is None else (out, lse)


_make_block_mask = _core.operation("make_block_mask")


def make_block_mask(
    device: str | Array,
    output: BlockMaskOutput,
    *,
    causal: Literal['none', 'top_left', 'bottom_right'] = 'none',
    queries: int = 0,
    keys: int = 0,
    window_left: int = -1,
    window_right: int = -1,
    stream: Any = None,
) -> None:
    """Makes the block mask of a causal mask or a window on the device.

    Lists are in order. Numbers after a count are not written. Masks of other kinds are made by the caller, or in
    C++ by make_block_mask.

    Arguments:
      device: str | Array
      output: BlockMaskOutput
      causal
      queries: per head, as the attention will have them
      keys: per head
      window_left: keys before a query's own one that it attends to; -1: all
      window_right: keys after its own one; -1: all; causal makes it 0
      stream: a stream of the framework, or a CUstream as a number; None: the current stream

    Raises InvalidArgument, which names the argument; UnsupportedDevice; TypeError.
    """
    _make_block_mask(stream, device, output, (causal, queries, keys, window_left, window_right, ))


_append_kv = _core.operation("append_kv")


def append_kv(
    k: Array,
    v: Array,
    cache: KvCache,
    *,
    constant: str = 'none',
    cu_seqlens: Array | None = None,
    slots: Array | None = None,
    rotary: AppendRotary | None = None,
    k_scale: Array | None = None,
    v_scale: Array | None = None,
    k_scale_out: Array | None = None,
    v_scale_out: Array | None = None,
    stream: Any = None,
) -> None:
    """Writes new keys and values into a cache, rotated by position and quantised to 8 bits on the way if wanted.

    Token i of sequence b becomes key lengths[b] + i; lengths are not changed. last_page_len counts the new tokens
    already. Tokens without a place in the cache are not written.

    Arguments:
      k: (B, S, Hkv, D); f32, f16 or bf16
      v: (B, S, Hkv, Dv); elements of k
      cache: KvCache
      constant: indices
      cu_seqlens: (sequences + 1); i32; append_kv_varlen: sequence b has new tokens cu_seqlens[b] to before
          cu_seqlens[b + 1]
      slots: (tokens) or (batches, tokens); i32 or i64; in place of the numbers of the cache: the row of each token,
          over all pages; below 0: skipped
      rotary: None: no rotation
      k_scale: (1), (heads), (sequences, heads) or (pages, rows, heads); f32; given scales of a cache of 8 bits;
          None: 1
      v_scale: as k_scale; f32
      k_scale_out: (pages, rows, heads); f32; gets computed scales, one for each row of a head
      v_scale_out: (pages, rows, heads); f32
      stream: a stream of the framework, or a CUstream as a number; None: the current stream

    Raises InvalidArgument, which names the argument; UnsupportedDevice; TypeError.
    """
    _append_kv(stream, k, v, cache, (constant, cu_seqlens, slots, rotary, k_scale, v_scale, k_scale_out, v_scale_out, ))


_append_kv_varlen = _core.operation("append_kv_varlen")


def append_kv_varlen(
    k: Array,
    v: Array,
    cache: KvCache,
    *,
    constant: str = 'none',
    cu_seqlens: Array | None = None,
    slots: Array | None = None,
    rotary: AppendRotary | None = None,
    k_scale: Array | None = None,
    v_scale: Array | None = None,
    k_scale_out: Array | None = None,
    v_scale_out: Array | None = None,
    stream: Any = None,
) -> None:
    """append_kv for the new tokens of all sequences, which follow each other, by options.cu_seqlens or options.slots.

    Arguments:
      k: (tokens, Hkv, D); f32, f16 or bf16
      v: (tokens, Hkv, Dv); elements of k
      cache: KvCache
      constant: indices
      cu_seqlens: (sequences + 1); i32; append_kv_varlen: sequence b has new tokens cu_seqlens[b] to before
          cu_seqlens[b + 1]
      slots: (tokens) or (batches, tokens); i32 or i64; in place of the numbers of the cache: the row of each token,
          over all pages; below 0: skipped
      rotary: None: no rotation
      k_scale: (1), (heads), (sequences, heads) or (pages, rows, heads); f32; given scales of a cache of 8 bits;
          None: 1
      v_scale: as k_scale; f32
      k_scale_out: (pages, rows, heads); f32; gets computed scales, one for each row of a head
      v_scale_out: (pages, rows, heads); f32
      stream: a stream of the framework, or a CUstream as a number; None: the current stream

    Raises InvalidArgument, which names the argument; UnsupportedDevice; TypeError.
    """
    _append_kv_varlen(stream, k, v, cache, (constant, cu_seqlens, slots, rotary, k_scale, v_scale, k_scale_out, v_scale_out, ))


_gather_kv = _core.operation("gather_kv")


def gather_kv(
    cache: KvCache,
    k: Array,
    v: Array,
    *,
    cu_seqlens: Array | None = None,
    k_scale: Array | None = None,
    v_scale: Array | None = None,
    stream: Any = None,
) -> tuple[Any, ...]:
    """Gathers the rows of sequences out of a cache.

    Key i of sequence b goes to (b, i). Rows beyond a sequence's length, in its left padding and without a page are
    not written.

    Arguments:
      cache: KvCache
      k: (B, S, Hkv, D); f32, f16, bf16, e4m3, e5m2 or i8; elements of the cache; of a cache of 8 bits also f32, f16
          or bf16
      v: (B, S, Hkv, Dv); elements of k
      cu_seqlens: (sequences + 1); i32; gather_kv_varlen: sequence b goes to rows cu_seqlens[b] to before
          cu_seqlens[b + 1]
      k_scale: (1), (heads) or (pages, rows, heads); f32; scales of a cache of 8 bits that is read as f32, f16 or
          bf16; None: 1
      v_scale: as k_scale; f32
      stream: a stream of the framework, or a CUstream as a number; None: the current stream

    Returns k, v.
    Raises InvalidArgument, which names the argument; UnsupportedDevice; TypeError.
    """
    _gather_kv(stream, cache, k, v, (cu_seqlens, k_scale, v_scale, ))
    return (k, v)


_gather_kv_varlen = _core.operation("gather_kv_varlen")


def gather_kv_varlen(
    cache: KvCache,
    k: Array,
    v: Array,
    *,
    cu_seqlens: Array | None = None,
    k_scale: Array | None = None,
    v_scale: Array | None = None,
    stream: Any = None,
) -> tuple[Any, ...]:
    """gather_kv into rows that follow each other, by options.cu_seqlens.

    Arguments:
      cache: KvCache
      k: (rows, Hkv, D); f32, f16, bf16, e4m3, e5m2 or i8; elements of the cache; of a cache of 8 bits also f32, f16
          or bf16
      v: (rows, Hkv, Dv); elements of k
      cu_seqlens: (sequences + 1); i32; gather_kv_varlen: sequence b goes to rows cu_seqlens[b] to before
          cu_seqlens[b + 1]
      k_scale: (1), (heads) or (pages, rows, heads); f32; scales of a cache of 8 bits that is read as f32, f16 or
          bf16; None: 1
      v_scale: as k_scale; f32
      stream: a stream of the framework, or a CUstream as a number; None: the current stream

    Returns k, v.
    Raises InvalidArgument, which names the argument; UnsupportedDevice; TypeError.
    """
    _gather_kv_varlen(stream, cache, k, v, (cu_seqlens, k_scale, v_scale, ))
    return (k, v)


_copy_pages = _core.operation("copy_pages")


def copy_pages(
    pages: Array,
    pairs: Array,
    *,
    stream: Any = None,
) -> Array:
    """Copies pages within a cache, for a sequence that forks.

    Pairs with a number that no page has are skipped. No page may be written twice, or read by one pair and written
    by another.

    Arguments:
      pages: (pages, rows, heads, size) or (layers, pages, rows, heads, size); f32, f16, bf16, e4m3, e5m2, i8, u8,
          e8m0, i16, u16, i32 or u32
      pairs: (copies, 2); i32; the page that is read, the page that is written
      stream: a stream of the framework, or a CUstream as a number; None: the current stream

    Returns pages.
    Raises InvalidArgument, which names the argument; UnsupportedDevice; TypeError.
    """
    _copy_pages(stream, pages, pairs)
    return pages


_rotary = _core.operation("rotary")


def rotary(
    x: Array,
    cos: Array,
    sin: Array,
    out: Array | None = None,
    *,
    interleaved: bool = False,
    inverse: bool = False,
    positions: Array | None = None,
    offsets: Array | None = None,
    cu_seqlens: Array | None = None,
    stream: Any = None,
) -> Array:
    """Rotary position embedding: turns each pair of elements of a head by the angle of its position.

    y0 = x0 cos - x1 sin, y1 = x1 cos + x0 sin, in f32, rounded once. Elements 0 to 2 P - 1 of each head are
    rotated, the rest is copied.

    Arguments:
      x: (B, S, H, D); f32, f16 or bf16
      out: as x; elements of x; may be x itself
      cos: (positions, P); f32, f16 or bf16; 2 P <= D <= 512
      sin: as cos; elements of cos
      interleaved: True: pairs (0, 1), (2, 3), ..., as in GPT-J; False: (0, P), (1, P + 1), ..., as in Llama
      inverse: True: rotates by the negative angles
      positions: (tokens) or (batches, tokens); i32 or i64; None: token i of a sequence is at position i
      offsets: (sequences); i32; added to the positions 0, 1, ...; not with positions
      cu_seqlens: (sequences + 1); i32; for rotary_varlen
      stream: a stream of the framework, or a CUstream as a number; None: the current stream

    Returns out.
    Raises InvalidArgument, which names the argument; UnsupportedDevice; TypeError.
    """
    if out is None:
        out = _empty_like(x, None, "x")
    if _rotary(stream, x, out, cos, sin, (interleaved, inverse, positions, offsets, cu_seqlens, )):
        out = _for_jax(out)
    return out


_rotary_varlen = _core.operation("rotary_varlen")


def rotary_varlen(
    x: Array,
    cos: Array,
    sin: Array,
    out: Array | None = None,
    *,
    interleaved: bool = False,
    inverse: bool = False,
    positions: Array | None = None,
    offsets: Array | None = None,
    cu_seqlens: Array | None = None,
    stream: Any = None,
) -> Array:
    """rotary for the tokens of all sequences, by options.cu_seqlens or options.positions.

    Arguments:
      x: (tokens, H, D); f32, f16 or bf16
      out: as x; elements of x; may be x itself
      cos: (positions, P); f32, f16 or bf16; 2 P <= D <= 512
      sin: as cos; elements of cos
      interleaved: True: pairs (0, 1), (2, 3), ..., as in GPT-J; False: (0, P), (1, P + 1), ..., as in Llama
      inverse: True: rotates by the negative angles
      positions: (tokens) or (batches, tokens); i32 or i64; None: token i of a sequence is at position i
      offsets: (sequences); i32; added to the positions 0, 1, ...; not with positions
      cu_seqlens: (sequences + 1); i32; for rotary_varlen
      stream: a stream of the framework, or a CUstream as a number; None: the current stream

    Returns out.
    Raises InvalidArgument, which names the argument; UnsupportedDevice; TypeError.
    """
    if out is None:
        out = _empty_like(x, None, "x")
    if _rotary_varlen(stream, x, out, cos, sin, (interleaved, inverse, positions, offsets, cu_seqlens, )):
        out = _for_jax(out)
    return out


_rotary_table = _core.operation("rotary_table")


def rotary_table(
    cos: Array,
    sin: Array,
    *,
    base: float = 10000.0,
    first_position: int = 0,
    positions: Array | None = None,
    scaling: RotaryScaling | None = None,
    sections: RotarySections | None = None,
    stream: Any = None,
) -> tuple[Any, ...]:
    """The tables of rotary: cos and sin of position * frequency, computed in double precision and rounded once.

    The frequency of pair i of P is base^(-i / P), changed by scaling.

    Arguments:
      cos: (positions, P); f32, f16 or bf16
      sin: as cos; elements of cos
      base: rope_theta
      first_position: the position of row 0
      positions: (rows), or (A, rows) with sections; i32 or i64; the position of each row, in place of
          first_position and those after it
      scaling: None: none
      sections: None: tokens have one position
      stream: a stream of the framework, or a CUstream as a number; None: the current stream

    Returns cos, sin.
    Raises InvalidArgument, which names the argument; UnsupportedDevice; TypeError.
    """
    _rotary_table(stream, cos, sin, (base, first_position, positions, scaling, sections, ))
    return (cos, sin)


_cross_entropy = _core.operation("cross_entropy")


def cross_entropy(
    logits: Array,
    targets: Array,
    loss: Array,
    *,
    reduction: Literal['none', 'sum', 'mean'] = 'mean',
    ignore_index: int = -100,
    label_smoothing: float = 0.0,
    z_loss: float = 0.0,
    softcap: float = 0.0,
    weights: Array | None = None,
    lse: Array | bool | None = None,
    total_weight: Array | bool | None = None,
    workspace: Array | None = None,
    stream: Any = None,
) -> Any:
    """The cross entropy of rows of logits with classes as targets.

    The loss comes from the f32 lse. Ignored rows have the loss 0, and a target that is no class gives NaN.

    Arguments:
      logits: (rows, classes); f32, f16 or bf16
      targets: (rows); i64 or i32
      loss: (rows), or (1) with a reduction; f32
      reduction
      ignore_index: rows with this target count for nothing
      label_smoothing: 0 to 1
      z_loss: its product with lse^2 is added to a row's loss
      softcap: logits become softcap * tanh(x / softcap); 0: none
      weights: (classes); f32
      lse: (rows); f32; gets the logarithms of the sums of exponentials
      total_weight: (1); f32; gets what a mean is divided by
      workspace: memory for the call, of any type; None: made if it is needed
      stream: a stream of the framework, or a CUstream as a number; None: the current stream

    Returns loss, lse, total_weight (those that are given or made).
    Raises InvalidArgument, which names the argument; UnsupportedDevice; TypeError.
    """
    try:
        if lse is True:
            lse = _empty(logits, logits.shape[:1], 'f32')
        elif lse is False:
            lse = None
        if total_weight is True:
            total_weight = _empty(logits, (1,), 'f32')
        elif total_weight is False:
            total_weight = None
    except (AttributeError, IndexError) as error:
        raise _wrong("cross_entropy", error, logits=logits, targets=targets) from None
    if _cross_entropy(stream, logits, targets, loss, (reduction, ignore_index, label_smoothing, z_loss, softcap, weights, lse, total_weight, workspace, )):
        lse, total_weight = _for_jax(lse, total_weight)
    return _given(loss, lse, total_weight)


_cross_entropy_backward = _core.operation("cross_entropy_backward")


def cross_entropy_backward(
    logits: Array,
    targets: Array,
    lse: Array,
    dloss: Array,
    dlogits: Array | None = None,
    *,
    reduction: Literal['none', 'sum', 'mean'] = 'mean',
    ignore_index: int = -100,
    label_smoothing: float = 0.0,
    z_loss: float = 0.0,
    softcap: float = 0.0,
    weights: Array | None = None,
    total_weight: Array | None = None,
    stream: Any = None,
) -> Array:
    """The gradient of the logits of cross_entropy.

    In f32, rounded once. Ignored rows become 0, those of a target that is no class NaN.

    Arguments:
      logits: (rows, classes); f32, f16 or bf16
      targets: (rows); i64 or i32
      lse: (rows); f32; that of the forward call
      dloss: (rows), or (1) with a reduction; f32; the gradient of the loss
      dlogits: as logits; elements of logits; may be logits itself
      reduction
      ignore_index
      label_smoothing
      z_loss
      softcap
      weights: (classes); f32
      total_weight: (1); f32; that of the forward call; a mean needs it
      stream: a stream of the framework, or a CUstream as a number; None: the current stream

    Returns dlogits.
    Raises InvalidArgument, which names the argument; UnsupportedDevice; TypeError.
    """
    if dlogits is None:
        dlogits = _empty_like(logits, None, "logits")
    if _cross_entropy_backward(stream, logits, targets, lse, dloss, dlogits, (reduction, ignore_index, label_smoothing, z_loss, softcap, weights, total_weight, )):
        dlogits = _for_jax(dlogits)
    return dlogits


_linear_cross_entropy = _core.operation("linear_cross_entropy")


def linear_cross_entropy(
    x: Array,
    weight: Array,
    targets: Array,
    loss: Array,
    *,
    reduction: Literal['none', 'sum', 'mean'] = 'mean',
    precision: Literal['ieee', 'tf32', 'tf32x3'] = 'ieee',
    ignore_index: int = -100,
    logit_scale: float = 1.0,
    label_smoothing: float = 0.0,
    z_loss: float = 0.0,
    softcap: float = 0.0,
    bias: Array | None = None,
    weights: Array | None = None,
    lse: Array | bool | None = None,
    total_weight: Array | bool | None = None,
    workspace: Array | None = None,
    stream: Any = None,
) -> Any:
    """The cross entropy of logits x * weight^T, which are never in memory as a whole.

    Logits are f32. The loss, ignored rows and targets that are no class are as for cross_entropy.

    Arguments:
      x: (rows, features); f32, f16 or bf16
      weight: (classes, features); elements of x
      targets: (rows); i64 or i32
      loss: (rows), or (1) with a reduction; f32
      reduction
      precision: how products of f32 are computed
      ignore_index: rows with this target count for nothing
      logit_scale: logits are logit_scale * x * weight^T + bias
      label_smoothing: 0 to 1
      z_loss: its product with lse^2 is added to a row's loss
      softcap: logits become softcap * tanh(logits / softcap); 0: none
      bias: (classes); f32, f16 or bf16
      weights: (classes); f32; factors of the losses by target
      lse: (rows); f32; gets the logarithms of the sums of exponentials
      total_weight: (1); f32; gets what a mean is divided by
      workspace: memory for the call, of any type; None: made if it is needed
      stream: a stream of the framework, or a CUstream as a number; None: the current stream

    Returns loss, lse, total_weight (those that are given or made).
    Raises InvalidArgument, which names the argument; UnsupportedDevice; TypeError.
    """
    try:
        if lse is True:
            lse = _empty(x, x.shape[:1], 'f32')
        elif lse is False:
            lse = None
        if total_weight is True:
            total_weight = _empty(x, (1,), 'f32')
        elif total_weight is False:
            total_weight = None
    except (AttributeError, IndexError) as error:
        raise _wrong("linear_cross_entropy", error, x=x, weight=weight, targets=targets) from None
    if _linear_cross_entropy(stream, x, weight, targets, loss, (reduction, precision, ignore_index, logit_scale, label_smoothing, z_loss, softcap, bias, weights, lse, total_weight, workspace, )):
        lse, total_weight = _for_jax(lse, total_weight)
    return _given(loss, lse, total_weight)


_linear_cross_entropy_backward = _core.operation("linear_cross_entropy_backward")


def linear_cross_entropy_backward(
    x: Array,
    weight: Array,
    targets: Array,
    lse: Array,
    dloss: Array,
    dx: Array | Literal[False] | None = None,
    dweight: Array | Literal[False] | None = None,
    *,
    reduction: Literal['none', 'sum', 'mean'] = 'mean',
    precision: Literal['ieee', 'tf32', 'tf32x3'] = 'ieee',
    ignore_index: int = -100,
    logit_scale: float = 1.0,
    label_smoothing: float = 0.0,
    z_loss: float = 0.0,
    softcap: float = 0.0,
    bias: Array | None = None,
    weights: Array | None = None,
    total_weight: Array | None = None,
    dbias: Array | bool | None = None,
    workspace: Array | None = None,
    dtype: str | None = None,
    stream: Any = None,
) -> Any:
    """The gradients of x, weight and bias of linear_cross_entropy.

    The gradient of the logits is formed in f32 and rounded once to the element type of x; sums are f32. Ignored
    rows add nothing.

    Arguments:
      x: (rows, features); f32, f16 or bf16
      weight: (classes, features); elements of x
      targets: (rows); i64 or i32
      lse: (rows); f32; that of the forward call
      dloss: (rows), or (1) with a reduction; f32; the gradient of the loss
      dx: as x; f32, f16 or bf16; the element type of x, or f32; None: not computed
      dweight: as weight; f32, f16 or bf16; the element type of x, or f32; None: not computed
      reduction
      precision
      ignore_index
      logit_scale
      label_smoothing
      z_loss
      softcap
      bias: (classes); f32, f16 or bf16
      weights: (classes); f32
      total_weight: (1); f32; that of the forward call; a mean needs it
      dbias: (classes); f32, f16 or bf16; gets the gradient of the bias; the element type of x, or f32
      workspace: memory for the call, of any type; None: made if it is needed
      dtype: the element type of `dx` if it is made, as "bf16"
      stream: a stream of the framework, or a CUstream as a number; None: the current stream

    Returns dx, dweight, dbias (those that are given or made).
    Raises InvalidArgument, which names the argument; UnsupportedDevice; TypeError.
    """
    try:
        if dx is None or dx is True:
            dx = _empty_like(x, dtype, "x")
        elif dx is False:
            dx = None
        if dweight is None or dweight is True:
            dweight = _empty_like(weight, None, "weight")
        elif dweight is False:
            dweight = None
        if dbias is True:
            dbias = _empty(x, weight.shape[:1], None)
        elif dbias is False:
            dbias = None
    except (AttributeError, IndexError) as error:
        raise _wrong("linear_cross_entropy_backward", error, x=x, weight=weight, targets=targets, lse=lse, dloss=dloss) from None
    if _linear_cross_entropy_backward(stream, x, weight, targets, lse, dloss, dx, dweight, (reduction, precision, ignore_index, logit_scale, label_smoothing, z_loss, softcap, bias, weights, total_weight, dbias, workspace, )):
        dx, dweight, dbias = _for_jax(dx, dweight, dbias)
    return _given(dx, dweight, dbias)


_activate = _core.operation("activate")


def activate(
    kind: Literal['silu', 'gelu', 'gelu_tanh', 'gelu_sigmoid', 'relu', 'relu2'],
    x: Array,
    out: Array | None = None,
    *,
    stream: Any = None,
) -> Array:
    """y = f(x).

    Arguments:
      kind: Literal['silu', 'gelu', 'gelu_tanh', 'gelu_sigmoid', 'relu', 'relu2']
      x: (...); f32, f16 or bf16
      out: as x; elements of x; may be x itself
      stream: a stream of the framework, or a CUstream as a number; None: the current stream

    Returns out.
    Raises InvalidArgument, which names the argument; UnsupportedDevice; TypeError.
    """
    if out is None:
        out = _empty_like(x, None, "x")
    if _activate(stream, kind, x, out):
        out = _for_jax(out)
    return out


_activate_backward = _core.operation("activate_backward")


def activate_backward(
    kind: Literal['silu', 'gelu', 'gelu_tanh', 'gelu_sigmoid', 'relu', 'relu2'],
    dy: Array,
    x: Array,
    dx: Array | None = None,
    *,
    stream: Any = None,
) -> Array:
    """dx = dy * f'(x).

    Arguments:
      kind: Literal['silu', 'gelu', 'gelu_tanh', 'gelu_sigmoid', 'relu', 'relu2']
      dy: as x; elements of x
      x: (...); f32, f16 or bf16
      dx: as x; elements of x; may be dy or x itself
      stream: a stream of the framework, or a CUstream as a number; None: the current stream

    Returns dx.
    Raises InvalidArgument, which names the argument; UnsupportedDevice; TypeError.
    """
    if dx is None:
        dx = _empty_like(x, None, "x")
    if _activate_backward(stream, kind, dy, x, dx):
        dx = _for_jax(dx)
    return dx


_gated = _core.operation("gated")


def gated(
    kind: Literal['silu', 'gelu', 'gelu_tanh', 'gelu_sigmoid', 'relu', 'relu2'],
    gate: Array,
    up: Array,
    out: Array | None = None,
    *,
    limit: float = 0.0,
    up_offset: float = 0.0,
    stream: Any = None,
) -> Array:
    """y = f(gate) * up.

    A packed tensor (..., 2 n) is two views of its halves, or of its even and odd elements.

    Arguments:
      kind: Literal['silu', 'gelu', 'gelu_tanh', 'gelu_sigmoid', 'relu', 'relu2']
      gate: (...); f32, f16 or bf16
      up: as gate; elements of gate
      out: as gate; elements of gate; may be gate or up itself
      limit: above 0 and finite, 0: none; 7 for gpt-oss
      up_offset: finite; 1 for gpt-oss
      stream: a stream of the framework, or a CUstream as a number; None: the current stream

    Returns out.
    Raises InvalidArgument, which names the argument; UnsupportedDevice; TypeError.
    """
    if out is None:
        out = _empty_like(gate, None, "gate")
    if _gated(stream, kind, gate, up, out, (limit, up_offset, )):
        out = _for_jax(out)
    return out


_gated_backward = _core.operation("gated_backward")


def gated_backward(
    kind: Literal['silu', 'gelu', 'gelu_tanh', 'gelu_sigmoid', 'relu', 'relu2'],
    dy: Array,
    gate: Array,
    up: Array,
    dgate: Array | None = None,
    dup: Array | None = None,
    *,
    limit: float = 0.0,
    up_offset: float = 0.0,
    stream: Any = None,
) -> tuple[Any, ...]:
    """dgate = dy * up * f'(gate), dup = dy * f(gate).

    Arguments:
      kind: Literal['silu', 'gelu', 'gelu_tanh', 'gelu_sigmoid', 'relu', 'relu2']
      dy: (...); f32, f16 or bf16
      gate: as dy; elements of dy
      up: as dy; elements of dy
      dgate: as dy; elements of dy; may be an input itself
      dup: as dy; elements of dy; may be an input itself
      limit: above 0 and finite, 0: none; 7 for gpt-oss
      up_offset: finite; 1 for gpt-oss
      stream: a stream of the framework, or a CUstream as a number; None: the current stream

    Returns dgate, dup.
    Raises InvalidArgument, which names the argument; UnsupportedDevice; TypeError.
    """
    if dgate is None:
        dgate = _empty_like(gate, None, "gate")
    if dup is None:
        dup = _empty_like(up, None, "up")
    if _gated_backward(stream, kind, dy, gate, up, dgate, dup, (limit, up_offset, )):
        dgate, dup = _for_jax(dgate, dup)
    return (dgate, dup)


_copy_tensor = _core.operation("copy_tensor")


def copy_tensor(
    to: Array,
    from_: Array,
    *,
    stream: Any = None,
) -> Array:
    """Copies a tensor into another one of any strides; f32, f16 and bf16 are converted.

    Arguments:
      to: (...); f32, f16, bf16, e4m3, e5m2, e8m0, bool, i8, u8, i16, u16, i32, u32, i64, u64 or f64
      from_: as to, or broadcast to it; f32, f16, bf16, e4m3, e5m2, e8m0, bool, i8, u8, i16, u16, i32, u32, i64, u64
          or f64; the type of to, or f32, f16 and bf16 into each other
      stream: a stream of the framework, or a CUstream as a number; None: the current stream

    Returns to.
    Raises InvalidArgument, which names the argument; UnsupportedDevice; TypeError.
    """
    _copy_tensor(stream, to, from_)
    return to


_int8_dequant = _core.operation("int8_dequant")


def int8_dequant(
    codes: Array,
    scale: float,
    out: Array | None = None,
    *,
    dtype: str | None = None,
    stream: Any = None,
) -> Array:
    """x = codes * scale.

    Arguments:
      codes: (...); i8
      scale: finite
      out: as codes; f32, f16 or bf16
      dtype: the element type of `out` if it is made, as "bf16"
      stream: a stream of the framework, or a CUstream as a number; None: the current stream

    Returns out.
    Raises InvalidArgument, which names the argument; UnsupportedDevice; TypeError.
    """
    if out is None:
        out = _empty_like(codes, dtype or 'f32', "codes")
    if _int8_dequant(stream, codes, scale, out):
        out = _for_jax(out)
    return out


_int8_dequant_groups = _core.operation("int8_dequant_groups")


def int8_dequant_groups(
    codes: Array,
    scales: Array,
    out: Array | None = None,
    *,
    dtype: str | None = None,
    stream: Any = None,
) -> Array:
    """x[r, c] = codes[r, c] * scales[r, c / group].

    A group has columns / groups columns, rounded up. Neighbours of a row are adjacent.

    Arguments:
      codes: (rows, columns); i8
      scales: (rows or 1, groups); f32, f16 or bf16
      out: as codes; f32, f16 or bf16
      dtype: the element type of `out` if it is made, as "bf16"
      stream: a stream of the framework, or a CUstream as a number; None: the current stream

    Returns out.
    Raises InvalidArgument, which names the argument; UnsupportedDevice; TypeError.
    """
    if out is None:
        out = _empty_like(codes, dtype or 'f32', "codes")
    if _int8_dequant_groups(stream, codes, scales, out):
        out = _for_jax(out)
    return out


_embedding = _core.operation("embedding")


def embedding(
    indices: Array,
    weight: Array,
    out: Array | None = None,
    *,
    errors: Array | None = None,
    stream: Any = None,
) -> Array:
    """out[i, :] = weight[indices[i], :].

    An index that is negative, or not below the vocabulary, gives a row of zeros.

    Arguments:
      indices: (...); i32 or i64
      weight: (vocabulary, size); f32, f16 or bf16
      out: (..., size); elements of weight
      errors: (1); u32; the number of indices outside of the vocabulary is added to it
      stream: a stream of the framework, or a CUstream as a number; None: the current stream

    Returns out.
    Raises InvalidArgument, which names the argument; UnsupportedDevice; TypeError.
    """
    try:
        if out is None:
            out = _empty(weight, (*indices.shape, weight.shape[1]), None)
    except (AttributeError, IndexError) as error:
        raise _wrong("embedding", error, indices=indices, weight=weight) from None
    if _embedding(stream, indices, weight, out, (errors, )):
        out = _for_jax(out)
    return out


_embedding_backward = _core.operation("embedding_backward")


def embedding_backward(
    dout: Array,
    indices: Array,
    dweight: Array,
    *,
    padding_index: int = -1,
    accumulate: bool = False,
    workspace: Array | None = None,
    stream: Any = None,
) -> Array:
    """dweight[v, :] = the sum of dout[i, :] over all i with indices[i] = v.

    Sums are f32, in increasing order of i, and are rounded once. Equal calls give equal bits.

    Arguments:
      dout: (..., size); f32, f16 or bf16
      indices: (...); i32 or i64
      dweight: (vocabulary, size); f32, f16 or bf16; the type of dout, or f32
      padding_index: tokens with this index are left out; below 0: none
      accumulate: True: adds to dweight; rows without tokens are then not written
      workspace: memory for the call, of any type; None: made if it is needed
      stream: a stream of the framework, or a CUstream as a number; None: the current stream

    Returns dweight.
    Raises InvalidArgument, which names the argument; UnsupportedDevice; TypeError.
    """
    _embedding_backward(stream, dout, indices, dweight, (padding_index, accumulate, workspace, ))
    return dweight


_matmul = _core.operation("matmul")


def matmul(
    a: Array,
    b: Array,
    out: Array | None = None,
    *,
    alpha: float = 1.0,
    beta: float = 0.0,
    activation: Literal['none', 'relu', 'gelu', 'gelu_tanh', 'silu'] = 'none',
    precision: Literal['ieee', 'tf32', 'tf32x3'] = 'ieee',
    constant: str = 'none',
    bias_of_rows: bool = False,
    bias: Array | None = None,
    residual: Array | None = None,
    workspace: Array | None = None,
    variant: str | None = None,
    dtype: str | None = None,
    stream: Any = None,
) -> Array:
    """C = activation(alpha * A * B + beta * C + bias) + residual.

    Sums are f32, and are rounded once. Equal calls give equal bits. An operand without a batch, or with a batch of
    stride 0 or extent 1, is used for every product of the batch.

    In A, in B and in C one of the last two strides is 1. So each may be transposed, or a part of a larger matrix.

    Arguments:
      a: (m, k) or (batch, m, k); f32, f16, bf16, e4m3 or e5m2
      b: (k, n) or (batch, k, n); elements of a
      out: (m, n) or (batch, m, n); f32, f16 or bf16
      alpha: 0: A and B are not read
      beta: 0: C is not read
      activation
      precision: for operands of f32
      constant: a, b
      bias_of_rows: True: bias has a number for each row of C
      bias: (n) or (batch, n); (m) or (batch, m) with bias_of_rows; f32, f16 or bf16
      residual: (m, n) or (batch, m, n); f32, f16 or bf16; may be C itself
      workspace: memory for the call, of any type; None: made if it is needed
      variant: the kernel to run, as kaio.choice names it; None: the best one
      dtype: the element type of `out` if it is made, as "bf16"
      stream: a stream of the framework, or a CUstream as a number; None: the current stream

    Returns out.
    Raises InvalidArgument, which names the argument; UnsupportedDevice; TypeError.
    """
    if out is None:
        out = _empty_product(a, b, dtype)
    if _matmul(stream, a, b, out, (alpha, beta, activation, precision, constant, bias_of_rows, bias, residual, workspace, variant, )):
        out = _for_jax(out)
    return out


_matmul_batch = _core.operation("matmul_batch")


def matmul_batch(
    a: Sequence[Array],
    b: Sequence[Array],
    out: Sequence[Array],
    *,
    alpha: float = 1.0,
    beta: float = 0.0,
    activation: Literal['none', 'relu', 'gelu', 'gelu_tanh', 'silu'] = 'none',
    precision: Literal['ieee', 'tf32', 'tf32x3'] = 'ieee',
    constant: str = 'none',
    bias_of_rows: bool = False,
    bias: Array | None = None,
    residual: Array | None = None,
    workspace: Array | None = None,
    variant: str | None = None,
    stream: Any = None,
) -> list[Array]:
    """C[i] = activation(alpha * A[i] * B[i] + beta * C[i] + bias) + residual for matrices anywhere in memory.

    Each product has a shape of its own. Outputs share memory with nothing. Bias and residual are used by every
    product. Products that are equally far apart in memory become one launch.

    Arguments:
      a: (m, k) each; f32, f16, bf16, e4m3 or e5m2
      b: (k, n) each; elements of a
      out: (m, n) each; f32, f16 or bf16
      alpha: 0: A and B are not read
      beta: 0: C is not read
      activation
      precision: for operands of f32
      constant: a, b
      bias_of_rows: True: bias has a number for each row of C
      bias: (n) or (batch, n); (m) or (batch, m) with bias_of_rows; f32, f16 or bf16
      residual: (m, n) or (batch, m, n); f32, f16 or bf16; may be C itself
      workspace: memory for the call, of any type; None: made if it is needed
      variant: the kernel to run, as kaio.choice names it; None: the best one
      stream: a stream of the framework, or a CUstream as a number; None: the current stream

    Returns out.
    Raises InvalidArgument, which names the argument; UnsupportedDevice; TypeError.
    """
    _matmul_batch(stream, None, a, b, out, (alpha, beta, activation, precision, constant, bias_of_rows, bias, residual, workspace, variant, ))
    return list(out)


_matmul_backward = _core.operation("matmul_backward")


def matmul_backward(
    dc: Array,
    a: Array,
    b: Array,
    da: Array | Literal[False] | None = None,
    db: Array | Literal[False] | None = None,
    *,
    alpha: float = 1.0,
    accumulate: bool = False,
    precision: Literal['ieee', 'tf32', 'tf32x3'] = 'ieee',
    workspace: Array | None = None,
    dtype: str | None = None,
    stream: Any = None,
) -> tuple[Any, ...]:
    """The gradients of C = alpha * A * B: dA = alpha * dC * B^T and dB = alpha * A^T * dC.

    dc has the element type of A and B, or is f32 with operands of 16 bits. In the second case it is rounded to
    their type once, into the workspace.

    Arguments:
      dc: (m, n) or (batch, m, n); f32, f16 or bf16
      a: (m, k) or (batch, m, k); f32, f16 or bf16
      b: (k, n) or (batch, k, n); elements of a
      da: as a; f32, f16 or bf16; None: not computed
      db: as b; f32, f16 or bf16; None: not computed
      alpha: alpha of the product that is differentiated
      accumulate: True: adds to da and db
      precision: for operands of f32
      workspace: memory for the call, of any type; None: made if it is needed
      dtype: the element type of `da` if it is made, as "bf16"
      stream: a stream of the framework, or a CUstream as a number; None: the current stream

    Returns da, db.
    Raises InvalidArgument, which names the argument; UnsupportedDevice; TypeError.
    """
    if da is None or da is True:
        da = _empty_like(a, None, "a")
    elif da is False:
        da = None
    if db is None or db is True:
        db = _empty_like(b, None, "b")
    elif db is False:
        db = None
    if _matmul_backward(stream, dc, a, b, da, db, (alpha, accumulate, precision, workspace, )):
        da, db = _for_jax(da, db)
    return (da, db)


_matmul_grouped = _core.operation("matmul_grouped")


def matmul_grouped(
    a: Array,
    b: Array,
    offsets: Array,
    out: Array | None = None,
    *,
    rows: Array | None = None,
    bias: Array | None = None,
    dtype: str | None = None,
    stream: Any = None,
) -> Array:
    """c[r, :] = a[r, :] * b[g] for the group g with offsets[g] <= r < offsets[g + 1]: the experts of a mixture.

    The offsets are read on the device alone. Rows of no group are not written. Sums are f32, and are rounded once.
    Equal calls give equal bits.

    Arguments:
      a: (rows, k); f16 or bf16; with options.rows it has any number of rows
      b: (groups, k, n); elements of a; any strides: weights (groups, n, k) with the last two exchanged
      offsets: (groups + 1); i32; not decreasing
      out: (rows, n); f32, f16 or bf16; the type of a, or f32
      rows: (rows); i32; row r of c is of row rows[r] of a; an index that is no row of a counts as a row of zeros
      bias: (groups, n); f32; added to the sums
      dtype: the element type of `out` if it is made, as "bf16"
      stream: a stream of the framework, or a CUstream as a number; None: the current stream

    Returns out.
    Raises InvalidArgument, which names the argument; UnsupportedDevice; TypeError.
    """
    try:
        if out is None:
            out = _empty(a, ((a if rows is None else rows).shape[0], b.shape[2]), dtype)
    except (AttributeError, IndexError) as error:
        raise _wrong("matmul_grouped", error, a=a, b=b, offsets=offsets) from None
    if _matmul_grouped(stream, a, b, offsets, out, (rows, bias, )):
        out = _for_jax(out)
    return out


_matmul_grouped_backward = _core.operation("matmul_grouped_backward")


def matmul_grouped_backward(
    dc: Array,
    a: Array,
    b: Array,
    offsets: Array,
    da: Array | Literal[False] | None = None,
    db: Array | Literal[False] | None = None,
    *,
    accumulate: bool = False,
    dtype: str | None = None,
    stream: Any = None,
) -> tuple[Any, ...]:
    """The gradients of matmul_grouped: da[r, :] = dc[r, :] * b[g]^T, db[g] = a[rows of g, :]^T * dc[rows of g, :].

    A group without rows has a db of zeros. Rows of no group have no da. Sums are f32, and are rounded once. Equal
    calls give equal bits.

    Arguments:
      dc: (rows, n); f16 or bf16
      a: (rows, k); elements of dc; gathered, if the product gathered its rows
      b: (groups, k, n); elements of dc; any strides
      offsets: (groups + 1); i32; not decreasing
      da: (rows, k); f32, f16 or bf16; the type of dc, or f32; None: not computed
      db: (groups, k, n); f32, f16 or bf16; the type of dc, or f32; any strides; None: not computed
      accumulate: True: adds to db
      dtype: the element type of `da` if it is made, as "bf16"
      stream: a stream of the framework, or a CUstream as a number; None: the current stream

    Returns da, db.
    Raises InvalidArgument, which names the argument; UnsupportedDevice; TypeError.
    """
    if da is None or da is True:
        da = _empty_like(a, None, "a")
    elif da is False:
        da = None
    if db is None or db is True:
        db = _empty_like(b, None, "b")
    elif db is False:
        db = None
    if _matmul_grouped_backward(stream, dc, a, b, offsets, da, db, (accumulate, )):
        da, db = _for_jax(da, db)
    return (da, db)


_gate_up_grouped = _core.operation("gate_up_grouped")


def gate_up_grouped(
    x: Array,
    gate: Array,
    up: Array,
    offsets: Array,
    out: Array | None = None,
    *,
    activation: Literal['none', 'relu', 'gelu', 'gelu_tanh', 'silu'] = 'silu',
    rows: Array | None = None,
    gate_bias: Array | None = None,
    up_bias: Array | None = None,
    alpha: float = 1.0,
    limit: float = 0.0,
    up_offset: float = 0.0,
    dtype: str | None = None,
    stream: Any = None,
) -> Array:
    """y[r, :] = activation(min(g, limit)) * (clamp(u, -limit, limit) + up_offset) with g = x[r, :] * gate[e], u = x[r, :] * up[e] for the group e with offsets[e] <= r < offsets[e + 1].

    The offsets are read on the device alone. Rows of no group are not written. Sums are f32; results are rounded
    once. Gate and up may be parts of one tensor.

    Arguments:
      x: (rows, k); f16 or bf16
      gate: (groups, k, n); elements of x; any strides: weights (groups, n, k) with the last two exchanged
      up: (groups, k, n); elements of x
      offsets: (groups + 1); i32; not decreasing
      out: (rows, n); f32, f16 or bf16; the type of x, or f32
      activation: not none
      rows: (rows); i32; row r of y is of row rows[r] of x; an index that is no row of x counts as a row of zeros
      gate_bias: (groups, n); f32
      up_bias: (groups, n); f32
      alpha: silu is x / (1 + exp(-alpha x)); above 0
      limit: the gate is at most limit, up is from -limit to limit; 0: none
      up_offset: added to up
      dtype: the element type of `out` if it is made, as "bf16"
      stream: a stream of the framework, or a CUstream as a number; None: the current stream

    Returns out.
    Raises InvalidArgument, which names the argument; UnsupportedDevice; TypeError.
    """
    try:
        if out is None:
            out = _empty(x, ((x if rows is None else rows).shape[0], gate.shape[2]), dtype)
    except (AttributeError, IndexError) as error:
        raise _wrong("gate_up_grouped", error, x=x, gate=gate, up=up, offsets=offsets) from None
    if _gate_up_grouped(stream, x, gate, up, offsets, out, (activation, rows, gate_bias, up_bias, alpha, limit, up_offset, )):
        out = _for_jax(out)
    return out


_matmul_int8 = _core.operation("matmul_int8")


def matmul_int8(
    a: Array,
    b: Array,
    out: Array | None = None,
    *,
    alpha: float = 1.0,
    out_scale: float = 1.0,
    activation: Literal['none', 'relu', 'gelu', 'gelu_tanh', 'silu'] = 'none',
    constant: str = 'none',
    bias_of_rows: bool = False,
    scale_a: Array | None = None,
    scale_b: Array | None = None,
    zero_a: Array | None = None,
    column_sums: Array | None = None,
    bias: Array | None = None,
    residual: Array | None = None,
    variant: str | None = None,
    dtype: str | None = None,
    stream: Any = None,
) -> Array:
    """C = activation(scale_a[m] * scale_b[n] * (A * B - zero_a[m] * column_sums[n]) * alpha + bias) + residual.

    Sums are exact in i32. Each product after them is rounded to f32, and the result once to the type of C. If C is
    i32, it gets the sums: there are no scales, alpha, bias, activation and residual then.

    Rows of A and of C are contiguous, and the columns or the rows of B. Weights stored (n, k) are the fast way:
    give them with the strides (1, k).

    Arguments:
      a: (m, k) or (batch, m, k); i8
      b: (k, n) or (batch, k, n); i8
      out: (m, n) or (batch, m, n); f32, f16, bf16, i8 or i32
      alpha
      out_scale: c of i8 is the result / out_scale; above 0 and finite
      activation
      constant: a, b
      bias_of_rows: True: bias has a number for each row of C
      scale_a: (m), (1) or (batch, m); f32, f16 or bf16; scales of the rows of A
      scale_b: (n), (1) or (batch, n); f32, f16 or bf16; scales of the columns of B
      zero_a: (m), (1) or (batch, m); i32; zero points of the rows of A; they need column_sums
      column_sums: (n) or (batch, n); i32; the sums of B's columns, from int8_column_sums; with zero_a
      bias: (n) or (batch, n); (m) or (batch, m) with bias_of_rows; f32, f16 or bf16
      residual: (m, n) or (batch, m, n); f32, f16 or bf16; may be C itself
      variant: the kernel to run, as kaio.choice names it; None: the best one
      dtype: the element type of `out` if it is made, as "bf16"
      stream: a stream of the framework, or a CUstream as a number; None: the current stream

    Returns out.
    Raises InvalidArgument, which names the argument; UnsupportedDevice; TypeError.
    """
    if out is None:
        out = _empty_product(a, b, dtype or 'i32')
    if _matmul_int8(stream, a, b, out, (alpha, out_scale, activation, constant, bias_of_rows, scale_a, scale_b, zero_a, column_sums, bias, residual, variant, )):
        out = _for_jax(out)
    return out


_matmul_int8_grouped = _core.operation("matmul_int8_grouped")


def matmul_int8_grouped(
    a: Array,
    b: Array,
    offsets: Array,
    out: Array | None = None,
    *,
    scale_a: Array | None = None,
    scale_b: Array | None = None,
    bias: Array | None = None,
    rows: Array | None = None,
    gate: Literal['none', 'relu', 'gelu', 'gelu_tanh', 'silu'] = 'none',
    zero_a: Array | None = None,
    column_sums: Array | None = None,
    alpha: float = 1.0,
    limit: float = 0.0,
    up_offset: float = 0.0,
    dtype: str | None = None,
    stream: Any = None,
) -> Array:
    """c[r, :] = scale_a[r] * scale_b[g] * (a[r, :] * b[g]) + bias[g] where offsets[g] <= r < offsets[g + 1]. For mixtures of experts.

    With a gate, c[r, 4 i + j] = gate(min(y[8 i + j], limit)) * (clamp(y[8 i + 4 + j], -limit, limit) + up_offset),
    where y is the product of row r. n / 2 is a multiple of 4; with blocks_b it is one of 64, and the blocks are
    those of weights with all gates first.

    The offsets are read on the device alone. Rows of no group are not written. Numbers are those of matmul_int8.
    Fastest if neighbours of a and b are along k, in lines at multiples of 16 bytes. Equal calls give equal bits.

    Arguments:
      a: (rows, k); i8
      b: (groups, k, n); i8; any strides: weights (groups, n, k) with the last two exchanged
      offsets: (groups + 1); i32; not decreasing
      out: (rows, n) or (rows, n / 2); f32, f16, bf16 or i32; i32 has the sums, without scales, bias or gate
      scale_a: (rows of A) or (1); f32, f16 or bf16; scales of the rows of A
      scale_b: (groups, n) or (groups, 1); f32, f16 or bf16; scales of the columns of each B
      bias: (groups, n); f32, f16 or bf16
      rows: (rows); i32; row r of c is of row rows[r] of A; an index that is no row of A counts as a row of zeros
      gate: not none: columns 8 i to 8 i + 3 of B are gates, the next four their values, and c is (rows, n / 2)
      zero_a: (rows of A) or (1); i32; zero points of the rows of A; with column_sums
      column_sums: (groups, n); i32; the sums of the columns of each B; with zero_a
      alpha: the gate's factor: silu is x / (1 + exp(-alpha x)); above 0
      limit: a gate is at most limit, its value is from -limit to limit; 0: none
      up_offset: added to a gate's value
      dtype: the element type of `out` if it is made, as "bf16"
      stream: a stream of the framework, or a CUstream as a number; None: the current stream

    Returns out.
    Raises InvalidArgument, which names the argument; UnsupportedDevice; TypeError.
    """
    try:
        if out is None:
            out = _empty(a, ((a if rows is None else rows).shape[0], b.shape[2] // (1 if gate == 'none' else 2)), dtype or 'i32')
    except (AttributeError, IndexError) as error:
        raise _wrong("matmul_int8_grouped", error, a=a, b=b, offsets=offsets) from None
    if _matmul_int8_grouped(stream, a, b, offsets, out, (scale_a, scale_b, bias, rows, gate, zero_a, column_sums, alpha, limit, up_offset, )):
        out = _for_jax(out)
    return out


_matmul_fp8_grouped = _core.operation("matmul_fp8_grouped")


def matmul_fp8_grouped(
    a: Array,
    b: Array,
    offsets: Array,
    out: Array | None = None,
    *,
    scale_a: Array | None = None,
    scale_b: Array | None = None,
    groups_a: Array | None = None,
    blocks_b: Array | None = None,
    bias: Array | None = None,
    rows: Array | None = None,
    gate: Literal['none', 'relu', 'gelu', 'gelu_tanh', 'silu'] = 'none',
    alpha: float = 1.0,
    limit: float = 0.0,
    up_offset: float = 0.0,
    dtype: str | None = None,
    stream: Any = None,
) -> Array:
    """c[r, :] = scale_a[r] * scale_b[g] * (a[r, :] * b[g]) + bias[g] where offsets[g] <= r < offsets[g + 1]. For mixtures of experts.

    With a gate, c[r, 4 i + j] = gate(min(y[8 i + j], limit)) * (clamp(y[8 i + 4 + j], -limit, limit) + up_offset),
    where y is the product of row r. n / 2 is a multiple of 4; with blocks_b it is one of 64, and the blocks are
    those of weights with all gates first.

    The offsets are read on the device alone. Rows of no group are not written. Numbers are those of matmul_fp8.
    Fastest if neighbours of a and b are along k, in lines at multiples of 16 bytes. Equal calls give equal bits.

    Arguments:
      a: (rows, k); e4m3 or e5m2
      b: (groups, k, n); e4m3 or e5m2; any strides: weights (groups, n, k) with the last two exchanged
      offsets: (groups + 1); i32; not decreasing
      out: (rows, n) or (rows, n / 2); f32, f16 or bf16
      scale_a: (rows of A) or (1); f32, f16 or bf16; scales of the rows of A
      scale_b: (groups, n) or (groups, 1); f32, f16 or bf16; scales of the columns of each B
      groups_a: (rows of A, ceil(k / 128)); f32; scales of 128 neighbours of a row of A; with blocks_b
      blocks_b: (groups, ceil(k / 128), ceil(n / 128)); f32; scales of blocks of 128 x 128 of each B; with groups_a
      bias: (groups, n); f32, f16 or bf16
      rows: (rows); i32; row r of c is of row rows[r] of A; an index that is no row of A counts as a row of zeros
      gate: not none: columns 8 i to 8 i + 3 of B are gates, the next four their values, and c is (rows, n / 2)
      alpha: the gate's factor: silu is x / (1 + exp(-alpha x)); above 0
      limit: a gate is at most limit, its value is from -limit to limit; 0: none
      up_offset: added to a gate's value
      dtype: the element type of `out` if it is made, as "bf16"
      stream: a stream of the framework, or a CUstream as a number; None: the current stream

    Returns out.
    Raises InvalidArgument, which names the argument; UnsupportedDevice; TypeError.
    """
    try:
        if out is None:
            out = _empty(a, ((a if rows is None else rows).shape[0], b.shape[2] // (1 if gate == 'none' else 2)), dtype or 'bf16')
    except (AttributeError, IndexError) as error:
        raise _wrong("matmul_fp8_grouped", error, a=a, b=b, offsets=offsets) from None
    if _matmul_fp8_grouped(stream, a, b, offsets, out, (scale_a, scale_b, groups_a, blocks_b, bias, rows, gate, alpha, limit, up_offset, )):
        out = _for_jax(out)
    return out


_int8_column_sums = _core.operation("int8_column_sums")


def int8_column_sums(
    b: Array,
    sums: Array | None = None,
    *,
    stream: Any = None,
) -> Array:
    """sums[n] = sum over k of B[k][n], exact: column_sums of products with zero_a, once for each weight.

    Arguments:
      b: (k, n); i8; any strides
      sums: (n); i32
      stream: a stream of the framework, or a CUstream as a number; None: the current stream

    Returns sums.
    Raises InvalidArgument, which names the argument; UnsupportedDevice; TypeError.
    """
    try:
        if sums is None:
            sums = _empty(b, (b.shape[1],), 'i32')
    except (AttributeError, IndexError) as error:
        raise _wrong("int8_column_sums", error, b=b) from None
    if _int8_column_sums(stream, b, sums):
        sums = _for_jax(sums)
    return sums


_quantise_int8 = _core.operation("quantise_int8")


def quantise_int8(
    x: Array,
    codes: Array | None = None,
    scales: Array | Literal[False] | None = None,
    zero_points: Array | bool | None = None,
    *,
    scale: float = 0.0,
    stream: Any = None,
) -> Any:
    """Rounds x to codes of i8: x = codes * scale, or (codes - zero_points[row]) * scales[row].

    Without scales, scale serves all rows. With scales, each row gets max |x| / 127; with zero_points too, its range
    / 255. Rows of x and of codes are contiguous.

    Arguments:
      x: (rows, columns); f32, f16 or bf16
      codes: as x; i8
      scales: (rows); f32; None: scale is the scale of all rows
      zero_points: (rows); i32; None: symmetric; needs scales
      scale: above 0 and finite; not read if scales are given
      stream: a stream of the framework, or a CUstream as a number; None: the current stream

    Returns codes, scales, zero_points (those that are given or made).
    Raises InvalidArgument, which names the argument; UnsupportedDevice; TypeError.
    """
    try:
        if codes is None:
            codes = _empty_like(x, 'i8', "x")
        if scales is None or scales is True:
            scales = _empty(x, x.shape[:1], 'f32')
        elif scales is False:
            scales = None
        if zero_points is True:
            zero_points = _empty(x, x.shape[:1], 'i32')
        elif zero_points is False:
            zero_points = None
    except (AttributeError, IndexError) as error:
        raise _wrong("quantise_int8", error, x=x) from None
    if _quantise_int8(stream, x, codes, scales, zero_points, scale):
        codes, scales, zero_points = _for_jax(codes, scales, zero_points)
    return _given(codes, scales, zero_points)


_matmul_fp8 = _core.operation("matmul_fp8")


def matmul_fp8(
    a: Array,
    b: Array,
    out: Array | None = None,
    *,
    alpha: float = 1.0,
    out_scale: float = 1.0,
    activation: Literal['none', 'relu', 'gelu', 'gelu_tanh', 'silu'] = 'none',
    constant: str = 'none',
    bias_of_rows: bool = False,
    scale_a: Array | None = None,
    scale_b: Array | None = None,
    groups_a: Array | None = None,
    blocks_b: Array | None = None,
    bias: Array | None = None,
    residual: Array | None = None,
    variant: str | None = None,
    dtype: str | None = None,
    stream: Any = None,
) -> Array:
    """C = activation(scale_a[m] * scale_b[n] * (A * B) * alpha + bias) + residual for 8-bit floats.

    With groups_a and blocks_b, each sum over 128 of K is multiplied by its two scales first. Each product and
    quotient after the sums is rounded to f32, and the result once to the type of C.

    The fast kernels take A and B of one type along K: weights stored (n, k), given with the strides (1, k).

    Arguments:
      a: (m, k) or (batch, m, k); e4m3 or e5m2
      b: (k, n) or (batch, k, n); e4m3 or e5m2
      out: (m, n) or (batch, m, n); f32, f16, bf16 or e4m3
      alpha
      out_scale: c of e4m3 is the result / out_scale; above 0 and finite
      activation
      constant: a, b
      bias_of_rows: True: bias has a number for each row of C
      scale_a: (m), (1) or (batch, m); f32, f16 or bf16; scales of the rows of A
      scale_b: (n), (1) or (batch, n); f32, f16 or bf16; scales of the columns of B
      groups_a: (m, ceil(k / 128)) or (batch, m, ceil(k / 128)); f32; scales of 128 neighbours of a row of A; with
          blocks_b
      blocks_b: (ceil(k / 128), ceil(n / 128)), or with the batch first; f32; scales of blocks of 128 x 128 of B;
          with groups_a
      bias: (n) or (batch, n); (m) or (batch, m) with bias_of_rows; f32, f16 or bf16
      residual: (m, n) or (batch, m, n); f32, f16 or bf16; may be C itself
      variant: the kernel to run, as kaio.choice names it; None: the best one
      dtype: the element type of `out` if it is made, as "bf16"
      stream: a stream of the framework, or a CUstream as a number; None: the current stream

    Returns out.
    Raises InvalidArgument, which names the argument; UnsupportedDevice; TypeError.
    """
    if out is None:
        out = _empty_product(a, b, dtype or 'bf16')
    if _matmul_fp8(stream, a, b, out, (alpha, out_scale, activation, constant, bias_of_rows, scale_a, scale_b, groups_a, blocks_b, bias, residual, variant, )):
        out = _for_jax(out)
    return out


_quantise_fp8 = _core.operation("quantise_fp8")


def quantise_fp8(
    x: Array,
    codes: Array | None = None,
    scales: Array | Literal[False] | None = None,
    *,
    scale: float = 0.0,
    stream: Any = None,
) -> tuple[Any, ...]:
    """Rounds x to codes of e4m3: x = codes * scale.

    Without scales, scale serves all numbers. Else a scale is max |x| / 448 of its row, or of 128 neighbours of a
    row. Rows of x and of codes are contiguous.

    Arguments:
      x: (rows, columns); f32, f16 or bf16
      codes: as x; e4m3
      scales: (rows) or (rows, ceil(columns / 128)); f32; None: scale is the scale of all numbers
      scale: above 0 and finite; not read if scales are given
      stream: a stream of the framework, or a CUstream as a number; None: the current stream

    Returns codes, scales.
    Raises InvalidArgument, which names the argument; UnsupportedDevice; TypeError.
    """
    try:
        if codes is None:
            codes = _empty_like(x, 'e4m3', "x")
        if scales is None or scales is True:
            scales = _empty(x, x.shape[:1], 'f32')
        elif scales is False:
            scales = None
    except (AttributeError, IndexError) as error:
        raise _wrong("quantise_fp8", error, x=x) from None
    if _quantise_fp8(stream, x, codes, scales, scale):
        codes, scales = _for_jax(codes, scales)
    return (codes, scales)


_quantise_fp8_blocks = _core.operation("quantise_fp8_blocks")


def quantise_fp8_blocks(
    w: Array,
    codes: Array | None = None,
    blocks: Array | None = None,
    *,
    stream: Any = None,
) -> tuple[Any, ...]:
    """Rounds w to codes of e4m3 with a scale for each block of 128 x 128, max |w| / 448.

    Arguments:
      w: (rows, columns); f32, f16 or bf16
      codes: as w; e4m3
      blocks: (ceil(rows / 128), ceil(columns / 128)); f32
      stream: a stream of the framework, or a CUstream as a number; None: the current stream

    Returns codes, blocks.
    Raises InvalidArgument, which names the argument; UnsupportedDevice; TypeError.
    """
    try:
        if codes is None:
            codes = _empty_like(w, 'e4m3', "w")
        if blocks is None:
            blocks = _empty(w, (-(-w.shape[0] // 128), -(-w.shape[1] // 128)), 'f32')
    except (AttributeError, IndexError) as error:
        raise _wrong("quantise_fp8_blocks", error, w=w) from None
    if _quantise_fp8_blocks(stream, w, codes, blocks):
        codes, blocks = _for_jax(codes, blocks)
    return (codes, blocks)


_rms_norm = _core.operation("rms_norm")


def rms_norm(
    x: Array,
    weight: Array,
    out: Array | None = None,
    *,
    epsilon: float = 1e-06,
    weight_offset: float = 0.0,
    residual: Array | None = None,
    residual_out: Array | bool | None = None,
    casting: Literal['gemma', 'llama'] = 'gemma',
    gate: Array | None = None,
    scale: Array | None = None,
    shift: Array | None = None,
    y_out: Array | None = None,
    stream: Any = None,
) -> Any:
    """out = h / rms(h) * (weight_offset + weight) along the last dimension, with h = x * gate + residual.

    rms(h) = sqrt(mean of h^2 + epsilon), in f32. Rows have any strides, their elements are neighbours.

    Arguments:
      x: (..., size); f32, f16 or bf16
      weight: (size); f32, f16 or bf16; elements of x, or f32
      out: as x; elements of x; may be x itself
      epsilon
      weight_offset: added to the weight: 1 for Gemma
      residual: as x; f32, f16 or bf16; added to x
      residual_out: as x; f32, f16 or bf16; gets x * gate + residual; may be the residual itself
      casting: where numbers of 16 bits are rounded
      gate: as x; f32, f16 or bf16; multiplies x first
      scale: as x; f32, f16 or bf16; 1 + it multiplies the norm
      shift: as x; f32, f16 or bf16; is added to that product
      y_out: as x; f32, f16 or bf16; a call into codes writes the norm before it is rounded here
      stream: a stream of the framework, or a CUstream as a number; None: the current stream

    Returns out, residual_out (those that are given or made).
    Raises InvalidArgument, which names the argument; UnsupportedDevice; TypeError.
    """
    if out is None:
        out = _empty_like(x, None, "x")
    if residual_out is True:
        residual_out = _empty_like(x, None, "x")
    elif residual_out is False:
        residual_out = None
    if _rms_norm(stream, x, weight, out, (epsilon, weight_offset, residual, residual_out, casting, gate, scale, shift, y_out, )):
        out, residual_out = _for_jax(out, residual_out)
    return out if residual_out is None else (out, residual_out)


_rms_norm_codes = _core.operation("rms_norm_codes")


def rms_norm_codes(
    x: Array,
    weight: Array,
    codes: Array | None = None,
    scales: Array | Literal[False] | None = None,
    *,
    scale: float = 0.0,
    epsilon: float = 1e-06,
    weight_offset: float = 0.0,
    residual: Array | None = None,
    residual_out: Array | bool | None = None,
    casting: Literal['gemma', 'llama'] = 'gemma',
    gate: Array | None = None,
    norm_scale: Array | None = None,
    shift: Array | None = None,
    y_out: Array | bool | None = None,
    dtype: str | None = None,
    stream: Any = None,
) -> Any:
    """rms_norm into codes: out = codes * scale.

    Arguments:
      x: (..., size); f32, f16 or bf16
      weight: (size); f32, f16 or bf16; elements of x, or f32
      codes: as x; i8 or e4m3
      scales: (...), one for each row, or (..., ceil(size / 128)), one for each 128 neighbours of a row; f32; gets
          the scales; None: scale is the scale of all rows
      scale: above 0 and finite; not read if scales are given
      epsilon
      weight_offset: added to the weight: 1 for Gemma
      residual: as x; f32, f16 or bf16; added to x
      residual_out: as x; f32, f16 or bf16; gets x * gate + residual; may be the residual itself
      casting: where numbers of 16 bits are rounded
      gate: as x; f32, f16 or bf16; multiplies x first
      norm_scale: as x; f32, f16 or bf16; 1 + it multiplies the norm
      shift: as x; f32, f16 or bf16; is added to that product
      y_out: as x; f32, f16 or bf16; a call into codes writes the norm before it is rounded here
      dtype: the element type of `codes` if it is made, as "bf16"
      stream: a stream of the framework, or a CUstream as a number; None: the current stream

    Returns codes, scales, residual_out, y_out (those that are given or made).
    Raises InvalidArgument, which names the argument; UnsupportedDevice; TypeError.
    """
    try:
        if codes is None:
            codes = _empty_like(x, dtype or 'i8', "x")
        if scales is None or scales is True:
            scales = _empty(x, x.shape[:-1], 'f32')
        elif scales is False:
            scales = None
        if residual_out is True:
            residual_out = _empty_like(x, None, "x")
        elif residual_out is False:
            residual_out = None
        if y_out is True:
            y_out = _empty_like(x, None, "x")
        elif y_out is False:
            y_out = None
    except (AttributeError, IndexError) as error:
        raise _wrong("rms_norm_codes", error, x=x, weight=weight) from None
    if _rms_norm_codes(stream, x, weight, codes, scales, scale, (epsilon, weight_offset, residual, residual_out, casting, gate, norm_scale, shift, y_out, )):
        codes, scales, residual_out, y_out = _for_jax(codes, scales, residual_out, y_out)
    return _given(codes, scales, residual_out, y_out)


_layer_norm = _core.operation("layer_norm")


def layer_norm(
    x: Array,
    weight: Array | None = None,
    bias: Array | None = None,
    out: Array | None = None,
    *,
    epsilon: float = 1e-05,
    weight_offset: float = 0.0,
    residual: Array | None = None,
    residual_out: Array | bool | None = None,
    casting: Literal['gemma', 'llama'] = 'gemma',
    gate: Array | None = None,
    scale: Array | None = None,
    shift: Array | None = None,
    y_out: Array | None = None,
    stream: Any = None,
) -> Any:
    """out = (h - mean) / sqrt(variance + epsilon) * weight + bias along the last dimension, with h = x * gate + residual.

    The variance is the mean square of h - mean, in f32. Rows have any strides, their elements are neighbours.

    Arguments:
      x: (..., size); f32, f16 or bf16
      weight: (size); f32, f16 or bf16; elements of x, or f32; None: none
      bias: (size); f32, f16 or bf16; elements of the weight; None: none
      out: as x; elements of x; may be x itself
      epsilon
      weight_offset: added to the weight
      residual: as x; f32, f16 or bf16; added to x
      residual_out: as x; f32, f16 or bf16; gets x * gate + residual; may be the residual itself
      casting: where numbers of 16 bits are rounded
      gate: as x; f32, f16 or bf16; multiplies x first
      scale: as x; f32, f16 or bf16; 1 + it multiplies the norm
      shift: as x; f32, f16 or bf16; is added to that product
      y_out: as x; f32, f16 or bf16; a call into codes writes the norm before it is rounded here
      stream: a stream of the framework, or a CUstream as a number; None: the current stream

    Returns out, residual_out (those that are given or made).
    Raises InvalidArgument, which names the argument; UnsupportedDevice; TypeError.
    """
    if out is None:
        out = _empty_like(x, None, "x")
    if residual_out is True:
        residual_out = _empty_like(x, None, "x")
    elif residual_out is False:
        residual_out = None
    if _layer_norm(stream, x, weight, bias, out, (epsilon, weight_offset, residual, residual_out, casting, gate, scale, shift, y_out, )):
        out, residual_out = _for_jax(out, residual_out)
    return out if residual_out is None else (out, residual_out)


_layer_norm_codes = _core.operation("layer_norm_codes")


def layer_norm_codes(
    x: Array,
    weight: Array | None = None,
    bias: Array | None = None,
    codes: Array | None = None,
    scales: Array | Literal[False] | None = None,
    *,
    scale: float = 0.0,
    epsilon: float = 1e-05,
    weight_offset: float = 0.0,
    residual: Array | None = None,
    residual_out: Array | bool | None = None,
    casting: Literal['gemma', 'llama'] = 'gemma',
    gate: Array | None = None,
    norm_scale: Array | None = None,
    shift: Array | None = None,
    y_out: Array | bool | None = None,
    dtype: str | None = None,
    stream: Any = None,
) -> Any:
    """layer_norm into codes: out = codes * scale.

    Arguments:
      x: (..., size); f32, f16 or bf16
      weight: (size); f32, f16 or bf16; elements of x, or f32; None: none
      bias: (size); f32, f16 or bf16; elements of the weight; None: none
      codes: as x; i8 or e4m3
      scales: (...), one for each row, or (..., ceil(size / 128)), one for each 128 neighbours of a row; f32; gets
          the scales; None: scale is the scale of all rows
      scale: above 0 and finite; not read if scales are given
      epsilon
      weight_offset: added to the weight
      residual: as x; f32, f16 or bf16; added to x
      residual_out: as x; f32, f16 or bf16; gets x * gate + residual; may be the residual itself
      casting: where numbers of 16 bits are rounded
      gate: as x; f32, f16 or bf16; multiplies x first
      norm_scale: as x; f32, f16 or bf16; 1 + it multiplies the norm
      shift: as x; f32, f16 or bf16; is added to that product
      y_out: as x; f32, f16 or bf16; a call into codes writes the norm before it is rounded here
      dtype: the element type of `codes` if it is made, as "bf16"
      stream: a stream of the framework, or a CUstream as a number; None: the current stream

    Returns codes, scales, residual_out, y_out (those that are given or made).
    Raises InvalidArgument, which names the argument; UnsupportedDevice; TypeError.
    """
    try:
        if codes is None:
            codes = _empty_like(x, dtype or 'i8', "x")
        if scales is None or scales is True:
            scales = _empty(x, x.shape[:-1], 'f32')
        elif scales is False:
            scales = None
        if residual_out is True:
            residual_out = _empty_like(x, None, "x")
        elif residual_out is False:
            residual_out = None
        if y_out is True:
            y_out = _empty_like(x, None, "x")
        elif y_out is False:
            y_out = None
    except (AttributeError, IndexError) as error:
        raise _wrong("layer_norm_codes", error, x=x) from None
    if _layer_norm_codes(stream, x, weight, bias, codes, scales, scale, (epsilon, weight_offset, residual, residual_out, casting, gate, norm_scale, shift, y_out, )):
        codes, scales, residual_out, y_out = _for_jax(codes, scales, residual_out, y_out)
    return _given(codes, scales, residual_out, y_out)


_rms_norm_backward = _core.operation("rms_norm_backward")


def rms_norm_backward(
    x: Array,
    dy: Array,
    weight: Array | None = None,
    dx: Array | None = None,
    dweight: Array | bool | None = None,
    *,
    epsilon: float = 1e-06,
    weight_offset: float = 0.0,
    dh: Array | None = None,
    workspace: Array | None = None,
    dtype: str | None = None,
    stream: Any = None,
) -> Any:
    """The gradients of rms_norm: dx, and dweight if it is given.

    x is what was normed: the sum, if a residual was added. Equal calls give equal bits. Outputs share memory with
    no other argument, except dx with dh.

    Arguments:
      x: (..., size); f32, f16 or bf16
      weight: (size); f32, f16 or bf16; f32, or elements of x; None: a factor of 1
      dy: as x; elements of x
      dx: as x; elements of x
      dweight: (size); f32, f16 or bf16; f32, or elements of x; None: not computed
      epsilon
      weight_offset: added to the weight: 1 for Gemma
      dh: as x; f32, f16 or bf16; added to dx; may be dx itself
      workspace: memory for the call, of any type; None: made if it is needed
      dtype: the element type of `dweight` if it is made, as "bf16"
      stream: a stream of the framework, or a CUstream as a number; None: the current stream

    Returns dx, dweight (those that are given or made).
    Raises InvalidArgument, which names the argument; UnsupportedDevice; TypeError.
    """
    try:
        if dx is None:
            dx = _empty_like(x, None, "x")
        if dweight is True:
            dweight = _empty(x, x.shape[-1:], dtype)
        elif dweight is False:
            dweight = None
    except (AttributeError, IndexError) as error:
        raise _wrong("rms_norm_backward", error, x=x, dy=dy) from None
    if _rms_norm_backward(stream, x, weight, dy, dx, dweight, (epsilon, weight_offset, dh, workspace, )):
        dx, dweight = _for_jax(dx, dweight)
    return dx if dweight is None else (dx, dweight)


_layer_norm_backward = _core.operation("layer_norm_backward")


def layer_norm_backward(
    x: Array,
    dy: Array,
    weight: Array | None = None,
    dx: Array | None = None,
    dweight: Array | bool | None = None,
    dbias: Array | bool | None = None,
    *,
    epsilon: float = 1e-05,
    weight_offset: float = 0.0,
    dh: Array | None = None,
    workspace: Array | None = None,
    dtype: str | None = None,
    stream: Any = None,
) -> Any:
    """The gradients of layer_norm: dx, and dweight and dbias if they are given.

    As rms_norm_backward.

    Arguments:
      x: (..., size); f32, f16 or bf16
      weight: (size); f32, f16 or bf16; f32, or elements of x; None: a factor of 1
      dy: as x; elements of x
      dx: as x; elements of x
      dweight: (size); f32, f16 or bf16; f32, or elements of x; None: not computed
      dbias: (size); f32, f16 or bf16; f32, or elements of x; None: not computed
      epsilon
      weight_offset: added to the weight: 1 for Gemma
      dh: as x; f32, f16 or bf16; added to dx; may be dx itself
      workspace: memory for the call, of any type; None: made if it is needed
      dtype: the element type of `dweight` if it is made, as "bf16"
      stream: a stream of the framework, or a CUstream as a number; None: the current stream

    Returns dx, dweight, dbias (those that are given or made).
    Raises InvalidArgument, which names the argument; UnsupportedDevice; TypeError.
    """
    try:
        if dx is None:
            dx = _empty_like(x, None, "x")
        if dweight is True:
            dweight = _empty(x, x.shape[-1:], dtype)
        elif dweight is False:
            dweight = None
        if dbias is True:
            dbias = _empty(x, x.shape[-1:], None)
        elif dbias is False:
            dbias = None
    except (AttributeError, IndexError) as error:
        raise _wrong("layer_norm_backward", error, x=x, dy=dy) from None
    if _layer_norm_backward(stream, x, weight, dy, dx, dweight, dbias, (epsilon, weight_offset, dh, workspace, )):
        dx, dweight, dbias = _for_jax(dx, dweight, dbias)
    return _given(dx, dweight, dbias)


_matmul_w4 = _core.operation("matmul_w4")


def matmul_w4(
    x: Array,
    weights: W4Weights,
    out: Array | None = None,
    *,
    splits: int = 0,
    constant: str = 'none',
    exact_weights: bool = False,
    bias: Array | None = None,
    workspace: Array | None = None,
    variant: str | None = None,
    dtype: str | None = None,
    stream: Any = None,
) -> Array:
    """out = x W^T + bias with weights of four bits.

    Sums are f32. Neighbours along a row of x and of out are adjacent. Fastest if rows of x begin at multiples of 16
    bytes. Equal calls give equal bits.

    Arguments:
      x: (m, k); f16 or bf16
      weights: n outputs, k inputs
      out: (m, n); f16, bf16 or f32; the element type of x, or f32
      splits: parts of K; 0: the number that fills the device best
      constant: weights
      exact_weights: True: no weight is rounded to the type of x, as may be faster from 17 rows of x on
      bias: (n); f16 or bf16; the element type of x
      workspace: memory for the call, of any type; None: made if it is needed
      variant: the kernel to run, as kaio.choice names it; None: the best one
      dtype: the element type of `out` if it is made, as "bf16"
      stream: a stream of the framework, or a CUstream as a number; None: the current stream

    Returns out.
    Raises InvalidArgument, which names the argument; UnsupportedDevice; TypeError.
    """
    try:
        if out is None:
            out = _empty(x, (x.shape[0], weights.n), dtype)
    except (AttributeError, IndexError) as error:
        raise _wrong("matmul_w4", error, x=x, weights=weights) from None
    if _matmul_w4(stream, x, weights, out, (splits, constant, exact_weights, bias, workspace, variant, )):
        out = _for_jax(out)
    return out


_matmul_w8 = _core.operation("matmul_w8")


def matmul_w8(
    x: Array,
    weights: W8Weights,
    out: Array | None = None,
    *,
    splits: int = 0,
    constant: str = 'none',
    exact_weights: bool = False,
    bias: Array | None = None,
    workspace: Array | None = None,
    variant: str | None = None,
    dtype: str | None = None,
    stream: Any = None,
) -> Array:
    """out = x W^T + bias with weights of eight bits.

    As matmul_w4 in all else.

    Arguments:
      x: (m, k); f16 or bf16
      weights: n outputs, k inputs
      out: (m, n); f16, bf16 or f32; the element type of x, or f32
      splits: parts of K; 0: the number that fills the device best
      constant: weights
      exact_weights: True: no weight is rounded to the type of x, as may be faster from 17 rows of x on
      bias: (n); f16 or bf16; the element type of x
      workspace: memory for the call, of any type; None: made if it is needed
      variant: the kernel to run, as kaio.choice names it; None: the best one
      dtype: the element type of `out` if it is made, as "bf16"
      stream: a stream of the framework, or a CUstream as a number; None: the current stream

    Returns out.
    Raises InvalidArgument, which names the argument; UnsupportedDevice; TypeError.
    """
    try:
        if out is None:
            out = _empty(x, (x.shape[0], weights.n), dtype)
    except (AttributeError, IndexError) as error:
        raise _wrong("matmul_w8", error, x=x, weights=weights) from None
    if _matmul_w8(stream, x, weights, out, (splits, constant, exact_weights, bias, workspace, variant, )):
        out = _for_jax(out)
    return out


_matmul_w4_grouped = _core.operation("matmul_w4_grouped")


def matmul_w4_grouped(
    x: Array,
    weights: W4Weights,
    offsets: Array,
    out: Array | None = None,
    *,
    bias: Array | None = None,
    variant: str | None = None,
    rows: Array | None = None,
    gate: Literal['none', 'relu', 'gelu', 'gelu_tanh', 'silu'] = 'none',
    alpha: float = 1.0,
    limit: float = 0.0,
    up_offset: float = 0.0,
    dtype: str | None = None,
    stream: Any = None,
) -> Array:
    """out[r, :] = x[r, :] W[g]^T + bias[g, :] where offsets[g] <= r < offsets[g + 1]; weights of four bits. For mixtures of experts.

    With a gate, out[r, j] = gate(min(y[2 j], limit)) * (clamp(y[2 j + 1], -limit, limit) + up_offset), where y is
    the product of row r. gpt-oss has silu, alpha 1.702, limit 7 and up_offset 1.

    The offsets are read on the device alone. Rows of no group are not written. Sums are f32. Neighbours along a row
    of x and of out are adjacent. Fastest if rows of x begin at multiples of 16 bytes. Equal calls give equal bits.

    Arguments:
      x: (rows, k); f16 or bf16
      weights: the shape of a group's weights; memory has w4_packed_bytes for each group, one after the other
      offsets: (groups + 1); i32; not decreasing
      out: (rows, n) or (rows, n / 2); f16, bf16 or f32; the element type of x, or f32
      bias: (groups, n); f16 or bf16; the element type of x
      variant: the kernel to run, as kaio.choice names it; None: the best one
      rows: (rows); i32; row r of out is of row rows[r] of x; an index that is no row of x counts as a row of zeros
      gate: not none: even columns of the weights are gates, odd ones their values, and out is (rows, n / 2)
      alpha: the gate's factor: silu is x / (1 + exp(-alpha x)); above 0
      limit: a gate is at most limit, its value is from -limit to limit; 0: none
      up_offset: added to a gate's value
      dtype: the element type of `out` if it is made, as "bf16"
      stream: a stream of the framework, or a CUstream as a number; None: the current stream

    Returns out.
    Raises InvalidArgument, which names the argument; UnsupportedDevice; TypeError.
    """
    try:
        if out is None:
            out = _empty(x, ((x if rows is None else rows).shape[0], weights.n // (1 if gate == 'none' else 2)), dtype)
    except (AttributeError, IndexError) as error:
        raise _wrong("matmul_w4_grouped", error, x=x, weights=weights, offsets=offsets) from None
    if _matmul_w4_grouped(stream, x, weights, offsets, out, (bias, variant, rows, gate, alpha, limit, up_offset, )):
        out = _for_jax(out)
    return out


_matmul_w8_grouped = _core.operation("matmul_w8_grouped")


def matmul_w8_grouped(
    x: Array,
    weights: W8Weights,
    offsets: Array,
    out: Array | None = None,
    *,
    bias: Array | None = None,
    variant: str | None = None,
    rows: Array | None = None,
    gate: Literal['none', 'relu', 'gelu', 'gelu_tanh', 'silu'] = 'none',
    alpha: float = 1.0,
    limit: float = 0.0,
    up_offset: float = 0.0,
    dtype: str | None = None,
    stream: Any = None,
) -> Array:
    """out[r, :] = x[r, :] W[g]^T + bias[g, :] where offsets[g] <= r < offsets[g + 1]; weights of eight bits. For mixtures of experts.

    As matmul_w4_grouped in all else.

    Arguments:
      x: (rows, k); f16 or bf16
      weights: the shape of a group's weights; memory has w8_packed_bytes for each group, one after the other
      offsets: (groups + 1); i32; not decreasing
      out: (rows, n) or (rows, n / 2); f16, bf16 or f32; the element type of x, or f32
      bias: (groups, n); f16 or bf16; the element type of x
      variant: the kernel to run, as kaio.choice names it; None: the best one
      rows: (rows); i32; row r of out is of row rows[r] of x; an index that is no row of x counts as a row of zeros
      gate: not none: even columns of the weights are gates, odd ones their values, and out is (rows, n / 2)
      alpha: the gate's factor: silu is x / (1 + exp(-alpha x)); above 0
      limit: a gate is at most limit, its value is from -limit to limit; 0: none
      up_offset: added to a gate's value
      dtype: the element type of `out` if it is made, as "bf16"
      stream: a stream of the framework, or a CUstream as a number; None: the current stream

    Returns out.
    Raises InvalidArgument, which names the argument; UnsupportedDevice; TypeError.
    """
    try:
        if out is None:
            out = _empty(x, ((x if rows is None else rows).shape[0], weights.n // (1 if gate == 'none' else 2)), dtype)
    except (AttributeError, IndexError) as error:
        raise _wrong("matmul_w8_grouped", error, x=x, weights=weights, offsets=offsets) from None
    if _matmul_w8_grouped(stream, x, weights, offsets, out, (bias, variant, rows, gate, alpha, limit, up_offset, )):
        out = _for_jax(out)
    return out


_dequantise_w4 = _core.operation("dequantise_w4")


def dequantise_w4(
    weights: W4Weights,
    out: Array | None = None,
    *,
    dtype: str | None = None,
    stream: Any = None,
) -> Array:
    """out = W, as a matrix, in the order of k of the file.

    Each weight is number * scale in f32, plus the offset, times the factor of its column, and rounded once to the
    type of out.

    Arguments:
      weights: W4Weights
      out: (n, k); f32, f16 or bf16; any strides
      dtype: the element type of `out` if it is made, as "bf16"
      stream: a stream of the framework, or a CUstream as a number; None: the current stream

    Returns out.
    Raises InvalidArgument, which names the argument; UnsupportedDevice; TypeError.
    """
    try:
        if out is None:
            out = _empty(weights.memory, (weights.n, weights.k), dtype or 'f16')
    except (AttributeError, IndexError) as error:
        raise _wrong("dequantise_w4", error, weights=weights) from None
    if _dequantise_w4(stream, weights, out):
        out = _for_jax(out)
    return out


_dequantise_w8 = _core.operation("dequantise_w8")


def dequantise_w8(
    weights: W8Weights,
    out: Array | None = None,
    *,
    dtype: str | None = None,
    stream: Any = None,
) -> Array:
    """out = W, as a matrix, in the order of k of the file.

    As dequantise_w4 in all else.

    Arguments:
      weights: W8Weights
      out: (n, k); f32, f16 or bf16; any strides
      dtype: the element type of `out` if it is made, as "bf16"
      stream: a stream of the framework, or a CUstream as a number; None: the current stream

    Returns out.
    Raises InvalidArgument, which names the argument; UnsupportedDevice; TypeError.
    """
    try:
        if out is None:
            out = _empty(weights.memory, (weights.n, weights.k), dtype or 'f16')
    except (AttributeError, IndexError) as error:
        raise _wrong("dequantise_w8", error, weights=weights) from None
    if _dequantise_w8(stream, weights, out):
        out = _for_jax(out)
    return out


_all_reduce = _core.operation("all_reduce")


def all_reduce(
    peers: PeerWorkspace,
    x: Array,
    out: Array | None = None,
    *,
    stream: Any = None,
) -> Array:
    """Adds the tensors of all ranks in f32, rank 0 first, by peer memory.

    Calls that do not match fail with InvalidArgument on all ranks, before anything is sent.

    Arguments:
      peers: of this rank; every rank makes the call
      x: any; f32, f16 or bf16
      out: as x; may be x; elements of x
      stream: a stream of the framework, or a CUstream as a number; None: the current stream

    Returns out.
    Raises InvalidArgument, which names the argument; UnsupportedDevice; TypeError.
    """
    if out is None:
        out = _empty_like(x, None, "x")
    if _all_reduce(stream, peers, x, out):
        out = _for_jax(out)
    return out


_all_reduce_rms_norm = _core.operation("all_reduce_rms_norm")


def all_reduce_rms_norm(
    peers: PeerWorkspace,
    x: Array,
    weight: Array,
    out: Array | None = None,
    *,
    epsilon: float = 1e-06,
    weight_offset: float = 0.0,
    residual: Array | None = None,
    residual_out: Array | bool | None = None,
    casting: Literal['gemma', 'llama'] = 'gemma',
    gate: Array | None = None,
    scale: Array | None = None,
    shift: Array | None = None,
    y_out: Array | None = None,
    stream: Any = None,
) -> Any:
    """Adds x of all ranks, and a residual, and computes the RMS norm of rows, in one kernel if x is small.

    Arguments:
      peers: of this rank; every rank makes the call
      x: (rows, size); f32, f16 or bf16
      weight: (size); f32, f16 or bf16
      out: as x; elements of x
      epsilon
      weight_offset: added to the weight: 1 for Gemma
      residual: as x; f32, f16 or bf16; added to x
      residual_out: as x; f32, f16 or bf16; gets x * gate + residual; may be the residual itself
      casting: where numbers of 16 bits are rounded
      gate: as x; f32, f16 or bf16; multiplies x first
      scale: as x; f32, f16 or bf16; 1 + it multiplies the norm
      shift: as x; f32, f16 or bf16; is added to that product
      y_out: as x; f32, f16 or bf16; a call into codes writes the norm before it is rounded here
      stream: a stream of the framework, or a CUstream as a number; None: the current stream

    Returns out, residual_out (those that are given or made).
    Raises InvalidArgument, which names the argument; UnsupportedDevice; TypeError.
    """
    if out is None:
        out = _empty_like(x, None, "x")
    if residual_out is True:
        residual_out = _empty_like(x, None, "x")
    elif residual_out is False:
        residual_out = None
    if _all_reduce_rms_norm(stream, peers, x, weight, out, (epsilon, weight_offset, residual, residual_out, casting, gate, scale, shift, y_out, )):
        out, residual_out = _for_jax(out, residual_out)
    return out if residual_out is None else (out, residual_out)


_all_reduce_rms_norm_codes = _core.operation("all_reduce_rms_norm_codes")


def all_reduce_rms_norm_codes(
    peers: PeerWorkspace,
    x: Array,
    weight: Array,
    codes: Array | None = None,
    scales: Array | None = None,
    *,
    epsilon: float = 1e-06,
    weight_offset: float = 0.0,
    residual: Array | None = None,
    residual_out: Array | bool | None = None,
    casting: Literal['gemma', 'llama'] = 'gemma',
    gate: Array | None = None,
    scale: Array | None = None,
    shift: Array | None = None,
    y_out: Array | bool | None = None,
    dtype: str | None = None,
    stream: Any = None,
) -> Any:
    """all_reduce_rms_norm into codes, with a scale for each row, or for each 128 neighbours of a row. x becomes the sum of all ranks.

    Arguments:
      peers: of this rank; every rank makes the call
      x: (rows, size); f32, f16 or bf16
      weight: (size); f32, f16 or bf16
      codes: as x; e4m3 or i8
      scales: (rows), or (rows, ceil(size / 128)); f32
      epsilon
      weight_offset: added to the weight: 1 for Gemma
      residual: as x; f32, f16 or bf16; added to x
      residual_out: as x; f32, f16 or bf16; gets x * gate + residual; may be the residual itself
      casting: where numbers of 16 bits are rounded
      gate: as x; f32, f16 or bf16; multiplies x first
      scale: as x; f32, f16 or bf16; 1 + it multiplies the norm
      shift: as x; f32, f16 or bf16; is added to that product
      y_out: as x; f32, f16 or bf16; a call into codes writes the norm before it is rounded here
      dtype: the element type of `codes` if it is made, as "bf16"
      stream: a stream of the framework, or a CUstream as a number; None: the current stream

    Returns codes, scales, residual_out, y_out (those that are given or made).
    Raises InvalidArgument, which names the argument; UnsupportedDevice; TypeError.
    """
    try:
        if codes is None:
            codes = _empty_like(x, dtype or 'i8', "x")
        if scales is None:
            scales = _empty(weight, x.shape[:-1], 'f32')
        if residual_out is True:
            residual_out = _empty_like(x, None, "x")
        elif residual_out is False:
            residual_out = None
        if y_out is True:
            y_out = _empty_like(x, None, "x")
        elif y_out is False:
            y_out = None
    except (AttributeError, IndexError) as error:
        raise _wrong("all_reduce_rms_norm_codes", error, weight=weight) from None
    if _all_reduce_rms_norm_codes(stream, peers, x, weight, codes, scales, (epsilon, weight_offset, residual, residual_out, casting, gate, scale, shift, y_out, )):
        codes, scales, residual_out, y_out = _for_jax(codes, scales, residual_out, y_out)
    return _given(codes, scales, residual_out, y_out)


_all_gather_matmul = _core.operation("all_gather_matmul")


def all_gather_matmul(
    peers: PeerWorkspace,
    a: Array,
    b: Array,
    out: Array | None = None,
    *,
    schedule: Literal['launches', 'one_launch'] = 'launches',
    alpha: float = 1.0,
    beta: float = 0.0,
    activation: Literal['none', 'relu', 'gelu', 'gelu_tanh', 'silu'] = 'none',
    precision: Literal['ieee', 'tf32', 'tf32x3'] = 'ieee',
    constant: str = 'none',
    bias_of_rows: bool = False,
    bias: Array | None = None,
    residual: Array | None = None,
    workspace: Array | None = None,
    variant: str | None = None,
    dtype: str | None = None,
    stream: Any = None,
) -> Array:
    """c = A b, where each rank has some rows of A. Rows are sent while products run.

    Arguments:
      peers: of this rank; every rank makes the call
      a: (m, k), this rank's rows; f32, f16, bf16, e4m3 or e5m2
      b: (k, n); elements of a
      out: (ranks m, n); f32, f16 or bf16
      schedule: one_launch refuses what its kernel does not take
      alpha: 0: A and B are not read
      beta: 0: C is not read
      activation
      precision: for operands of f32
      constant: a, b
      bias_of_rows: True: bias has a number for each row of C
      bias: (n) or (batch, n); (m) or (batch, m) with bias_of_rows; f32, f16 or bf16
      residual: (m, n) or (batch, m, n); f32, f16 or bf16; may be C itself
      workspace: memory for the call, of any type; None: made if it is needed
      variant: the kernel to run, as kaio.choice names it; None: the best one
      dtype: the element type of `out` if it is made, as "bf16"
      stream: a stream of the framework, or a CUstream as a number; None: the current stream

    Returns out.
    Raises InvalidArgument, which names the argument; UnsupportedDevice; TypeError.
    """
    try:
        if out is None:
            out = _empty(a, (peers.ranks * a.shape[0], b.shape[1]), dtype)
    except (AttributeError, IndexError) as error:
        raise _wrong("all_gather_matmul", error, a=a, b=b) from None
    if _all_gather_matmul(stream, peers, a, b, out, schedule, (alpha, beta, activation, precision, constant, bias_of_rows, bias, residual, workspace, variant, )):
        out = _for_jax(out)
    return out


_matmul_reduce_scatter = _core.operation("matmul_reduce_scatter")


def matmul_reduce_scatter(
    peers: PeerWorkspace,
    a: Array,
    b: Array,
    out: Array | None = None,
    *,
    alpha: float = 1.0,
    f32_parts: bool = False,
    precision: Literal['ieee', 'tf32', 'tf32x3'] = 'ieee',
    workspace: Array | None = None,
    constant: str = 'none',
    variant: str | None = None,
    dtype: str | None = None,
    stream: Any = None,
) -> Array:
    """c = this rank's rows of the sum of a b over ranks. Parts are sent while products run.

    Arguments:
      peers: of this rank; every rank makes the call
      a: (ranks m, k), this rank's columns; f32, f16, bf16, e4m3 or e5m2
      b: (k, n), its rows; elements of a
      out: (m, n); f32, f16 or bf16
      alpha: multiplies the product
      f32_parts: True: parts are sent as f32
      precision: how products of f32 are computed
      workspace: memory for the call, of any type; None: made if it is needed
      constant
      variant: the kernel to run, as kaio.choice names it; None: the best one
      dtype: the element type of `out` if it is made, as "bf16"
      stream: a stream of the framework, or a CUstream as a number; None: the current stream

    Returns out.
    Raises InvalidArgument, which names the argument; UnsupportedDevice; TypeError.
    """
    try:
        if out is None:
            out = _empty(a, (a.shape[0] // peers.ranks, b.shape[1]), dtype)
    except (AttributeError, IndexError) as error:
        raise _wrong("matmul_reduce_scatter", error, a=a, b=b) from None
    if _matmul_reduce_scatter(stream, peers, a, b, out, (alpha, f32_parts, precision, workspace, constant, variant, )):
        out = _for_jax(out)
    return out


_matmul_all_reduce = _core.operation("matmul_all_reduce")


def matmul_all_reduce(
    peers: PeerWorkspace,
    a: Array,
    b: Array,
    out: Array | None = None,
    *,
    alpha: float = 1.0,
    f32_parts: bool = False,
    precision: Literal['ieee', 'tf32', 'tf32x3'] = 'ieee',
    workspace: Array | None = None,
    constant: str = 'none',
    variant: str | None = None,
    dtype: str | None = None,
    stream: Any = None,
) -> Array:
    """c = the sum of a b over ranks, on all ranks.

    Arguments:
      peers: of this rank; every rank makes the call
      a: (m, k), this rank's columns; f32, f16, bf16, e4m3 or e5m2
      b: (k, n), its rows; elements of a
      out: (m, n); f32, f16 or bf16
      alpha: multiplies the product
      f32_parts: True: parts are sent as f32
      precision: how products of f32 are computed
      workspace: memory for the call, of any type; None: made if it is needed
      constant
      variant: the kernel to run, as kaio.choice names it; None: the best one
      dtype: the element type of `out` if it is made, as "bf16"
      stream: a stream of the framework, or a CUstream as a number; None: the current stream

    Returns out.
    Raises InvalidArgument, which names the argument; UnsupportedDevice; TypeError.
    """
    if out is None:
        out = _empty_product(a, b, dtype)
    if _matmul_all_reduce(stream, peers, a, b, out, (alpha, f32_parts, precision, workspace, constant, variant, )):
        out = _for_jax(out)
    return out


_send_to_experts = _core.operation("send_to_experts")


def send_to_experts(
    peers: PeerWorkspace,
    x: Array,
    offsets: Array,
    to: PeerBuffer,
    rows: Array | None = None,
    local_offsets: Array | None = None,
    *,
    stream: Any = None,
) -> Array:
    """Sends sorted rows to the ranks of their experts.

    Arguments:
      peers: of this rank; every rank makes the call
      x: (rows, size); f32, f16, bf16, e4m3, e5m2, i8, i32 or i64
      rows: (choices); i32; None: sorted row i is row i of x
      offsets: (experts + 1); i32
      to: made by peers.buffer(); gets the rows
      local_offsets: (experts / ranks + 1); i32
      stream: a stream of the framework, or a CUstream as a number; None: the current stream

    Returns local_offsets.
    Raises InvalidArgument, which names the argument; UnsupportedDevice; TypeError.
    """
    try:
        if local_offsets is None:
            local_offsets = _empty(x, ((offsets.shape[0] - 1) // peers.ranks + 1,), 'i32')
    except (AttributeError, IndexError) as error:
        raise _wrong("send_to_experts", error, x=x, offsets=offsets) from None
    if _send_to_experts(stream, peers, x, rows, offsets, to, local_offsets):
        local_offsets = _for_jax(local_offsets)
    return local_offsets


_return_from_experts = _core.operation("return_from_experts")


def return_from_experts(
    peers: PeerWorkspace,
    z: Array,
    offsets: Array,
    to: PeerBuffer,
    *,
    stream: Any = None,
) -> None:
    """Sends rows of experts back to the ranks that sent them, into their sorted order.

    Arguments:
      peers: of this rank; every rank makes the call
      z: (capacity, size); f32, f16, bf16, e4m3, e5m2, i8, i32 or i64
      offsets: (experts + 1); i32
      to: made by peers.buffer(); gets the rows
      stream: a stream of the framework, or a CUstream as a number; None: the current stream

    Raises InvalidArgument, which names the argument; UnsupportedDevice; TypeError.
    """
    _return_from_experts(stream, peers, z, offsets, to)


_qkv_project = _core.operation("qkv_project")


def qkv_project(
    x: Array,
    weights: QkvWeights,
    outputs: QkvOutputs,
    *,
    epsilon: float = 1e-06,
    norm_offset: float = 0.0,
    q_scale: float = 1.0,
    constant: str = 'none',
    splits: int = 0,
    exact_weights: bool = False,
    q_bias: Array | None = None,
    k_bias: Array | None = None,
    v_bias: Array | None = None,
    q_norm: Array | None = None,
    k_norm: Array | None = None,
    x_norm: XNorm | None = None,
    rotary: QkvRotary | None = None,
    cu_seqlens: Array | None = None,
    slots: Array | None = None,
    k_scale: Array | None = None,
    v_scale: Array | None = None,
    k_scale_out: Array | None = None,
    v_scale_out: Array | None = None,
    x_scale: Array | None = None,
    x_groups: Array | None = None,
    workspace: Array | None = None,
    variant: str | None = None,
    stream: Any = None,
) -> None:
    """Queries, keys and values of hidden states: norm, product, bias, norms of heads, rotation, and the append to a cache.

    Each step is in f32, and rounded to the element type of the outputs. Neighbours along k are adjacent. Outputs,
    cache and workspace share no memory with anything else. Equal calls give equal bits.

    Arguments:
      x: (tokens, k) or (batches, tokens, k); f16, bf16, i8, e4m3 or e5m2; the element type of q; or 8 bits, with
          such weights
      weights: one, or three
      outputs: where the heads go
      epsilon: added to the mean square in q_norm and k_norm
      norm_offset: added to the weights of q_norm and k_norm: 1 for Gemma
      q_scale: multiplies Q at the end
      constant: weights
      splits: parts of K in kernels for few rows: 1, 2 or 4; 0: automatic
      exact_weights: True: packed weights are not rounded to the type of x
      q_bias: (heads * size); f16 or bf16
      k_bias: (heads * size); f16 or bf16
      v_bias: (heads * size); f16 or bf16
      q_norm: (size); f16 or bf16; weight of the RMS norm of each head
      k_norm: (size); f16 or bf16; weight of the RMS norm of each head
      x_norm: None: x is multiplied as it is
      rotary: None: no rotation
      cu_seqlens: (sequences + 1); i32; for packed sequences: sequence b has tokens cu_seqlens[b] to before
          cu_seqlens[b + 1]
      slots: (tokens) or (batches, tokens); i32 or i64; in place of the numbers of the cache: the row of each token,
          over all pages; below 0: skipped
      k_scale: (1), (heads) or (pages, rows, heads); f32; given scales of a cache of 8 bits; None: 1
      v_scale: as k_scale; f32
      k_scale_out: (pages, rows, heads); f32; gets computed scales, one for each row of a head
      v_scale_out: (pages, rows, heads); f32
      x_scale: (rows) or (1); f32; scales of x of 8 bits
      x_groups: (rows, ceil(k / 128)); f32; scales of x of e4m3 and e5m2, with weights that have blocks
      workspace: memory for the call, of any type; None: made if it is needed
      variant: the kernel to run, as kaio.choice names it; None: the best one
      stream: a stream of the framework, or a CUstream as a number; None: the current stream

    Raises InvalidArgument, which names the argument; UnsupportedDevice; TypeError.
    """
    _qkv_project(stream, x, weights, outputs, (epsilon, norm_offset, q_scale, constant, splits, exact_weights, q_bias, k_bias, v_bias, q_norm, k_norm, x_norm, rotary, cu_seqlens, slots, k_scale, v_scale, k_scale_out, v_scale_out, x_scale, x_groups, workspace, variant, ))


_gate_up_project = _core.operation("gate_up_project")


def gate_up_project(
    x: Array,
    weights: GateUpWeights,
    out: Array,
    *,
    activation: Literal['none', 'relu', 'gelu', 'gelu_tanh', 'silu'] = 'silu',
    constant: str = 'none',
    exact_weights: bool = False,
    gate_bias: Array | None = None,
    up_bias: Array | None = None,
    x_norm: XNorm | None = None,
    x_scale: Array | None = None,
    x_groups: Array | None = None,
    workspace: Array | None = None,
    variant: str | None = None,
    stream: Any = None,
) -> Array:
    """out = activation(x Wg^T + gate_bias) * (x Wu^T + up_bias), the first half of a gated feed-forward block.

    Products are rounded once to the element type of out, and the result once more. Neighbours along the last
    dimension are adjacent, and the batches of x follow each other. Equal calls give equal bits.

    Arguments:
      x: (rows, k) or (batches, rows, k); f32, f16, bf16, i8, e4m3 or e5m2
      weights: one of (2 f, k), or two of (f, k)
      out: (rows, f) or (batches, rows, f); f32, f16 or bf16
      activation
      constant: weights
      exact_weights: True: packed weights are not rounded to the type of x
      gate_bias: (f); f32, f16 or bf16
      up_bias: (f); f32, f16 or bf16
      x_norm: None: x is multiplied as it is
      x_scale: (rows) or (1); f32; scales of x of 8 bits
      x_groups: (rows, ceil(k / 128)); f32; scales of x of e4m3 and e5m2, with weights that have blocks
      workspace: memory for the call, of any type; None: made if it is needed
      variant: the kernel to run, as kaio.choice names it; None: the best one
      stream: a stream of the framework, or a CUstream as a number; None: the current stream

    Returns out.
    Raises InvalidArgument, which names the argument; UnsupportedDevice; TypeError.
    """
    _gate_up_project(stream, x, weights, out, (activation, constant, exact_weights, gate_bias, up_bias, x_norm, x_scale, x_groups, workspace, variant, ))
    return out


_qk_norm_rotary = _core.operation("qk_norm_rotary")


def qk_norm_rotary(
    q: Array,
    k: Array | None = None,
    q_out: Array | None = None,
    k_out: Array | bool | None = None,
    *,
    q_norm: Array | None = None,
    k_norm: Array | None = None,
    epsilon: float = 1e-06,
    weight_offset: float = 0.0,
    cos: Array | None = None,
    sin: Array | None = None,
    rotary: RotaryOptions | None = None,
    stream: Any = None,
) -> Any:
    """The norm of each head of Q and K, and then its rotation by the token's position.

    h = x / rms(x) * (weight_offset + norm) in f32, rounded; then as rotary. Tensors of three dimensions need
    rotary.cu_seqlens or rotary.positions.

    Arguments:
      q: (B, S, Hq, D) or (tokens, Hq, D); f32, f16 or bf16; D <= 512
      k: as q, with heads of its own; elements of q; None: there is none
      q_out: as q; elements of q; may be q itself
      k_out: as k; elements of q; may be k itself
      q_norm: (D); f32, f16 or bf16; f32, or elements of q; None: Q is not normed
      k_norm: (D); f32, f16 or bf16; f32, or elements of q; None: K is not normed
      epsilon
      weight_offset: added to the weights: 1 for Gemma
      cos: (positions, P); f32, f16 or bf16; 2 P <= D; None: nothing is rotated
      sin: as cos; f32, f16 or bf16
      rotary: None: all defaults
      stream: a stream of the framework, or a CUstream as a number; None: the current stream

    Returns q_out, k_out (those that are given or made).
    Raises InvalidArgument, which names the argument; UnsupportedDevice; TypeError.
    """
    if q_out is None:
        q_out = _empty_like(q, None, "q")
    if k_out is True:
        k_out = _empty_like(k, None, "k")
    elif k_out is False:
        k_out = None
    if _qk_norm_rotary(stream, q, k, q_out, k_out, (q_norm, k_norm, epsilon, weight_offset, cos, sin, rotary, )):
        q_out, k_out = _for_jax(q_out, k_out)
    return q_out if k_out is None else (q_out, k_out)


_reduce = _core.operation("reduce")


def reduce(
    how: Literal['sum', 'mean', 'max', 'min'],
    x: Array,
    out: Array | None = None,
    *,
    axis: int = -1,
    all: bool = False,
    workspace: Array | None = None,
    dtype: str | None = None,
    stream: Any = None,
) -> Array:
    """out = the sum, mean, largest or smallest element of x along one dimension, or along all.

    Accumulators are f32. Equal calls give equal bits.

    Arguments:
      how: Literal['sum', 'mean', 'max', 'min']
      x: any; f32, f16 or bf16
      out: x without the axis, or with 1 in its place; f32, f16 or bf16; the type of x, or f32
      axis: below 0: counted from the last dimension
      all: True: reduces all dimensions
      workspace: memory for the call, of any type; None: made if it is needed
      dtype: the element type of `out` if it is made, as "bf16"
      stream: a stream of the framework, or a CUstream as a number; None: the current stream

    Returns out.
    Raises InvalidArgument, which names the argument; UnsupportedDevice; TypeError.
    """
    try:
        if out is None:
            out = _empty(x, _reduced(x, axis, all), dtype)
    except (AttributeError, IndexError) as error:
        raise _wrong("reduce", error, x=x) from None
    if _reduce(stream, how, x, out, (axis, all, workspace, )):
        out = _for_jax(out)
    return out


_scan = _core.operation("scan")


def scan(
    x: Array,
    out: Array | None = None,
    *,
    exclusive: bool = False,
    workspace: Array | None = None,
    stream: Any = None,
) -> Array:
    """Sums along the last dimension: out[..., i] = x[..., 0] + ... + x[..., i].

    In the type of the elements; integers wrap. Equal calls give equal bits.

    Arguments:
      x: (..., size); f32, i32, u32, i64 or u64
      out: as x; elements of x; may be x itself
      exclusive: True: each sum is of the elements before its own
      workspace: memory for the call, of any type; None: made if it is needed
      stream: a stream of the framework, or a CUstream as a number; None: the current stream

    Returns out.
    Raises InvalidArgument, which names the argument; UnsupportedDevice; TypeError.
    """
    if out is None:
        out = _empty_like(x, None, "x")
    if _scan(stream, x, out, (exclusive, workspace, )):
        out = _for_jax(out)
    return out


_histogram = _core.operation("histogram")


def histogram(
    x: Array,
    counts: Array,
    *,
    first: int = 0,
    low: float = 0.0,
    high: float = 0.0,
    accumulate: bool = False,
    outside: Array | bool | None = None,
    stream: Any = None,
) -> Any:
    """Counts the elements of x in bins: integers by value, f32 in bins of equal width.

    Elements outside of the bins are not counted in them. Counts wrap at 2^32.

    Arguments:
      x: any; u8, i32, u32 or f32
      counts: (bins); u32
      first: integers: the value of the first bin
      low: f32: the lower edge of the first bin
      high: f32: the upper edge of the last bin, which includes it
      accumulate: True: adds to the counts
      outside: (3); u32; gets the number of elements below, above, and of NaN
      stream: a stream of the framework, or a CUstream as a number; None: the current stream

    Returns counts, outside (those that are given or made).
    Raises InvalidArgument, which names the argument; UnsupportedDevice; TypeError.
    """
    if outside is True:
        outside = _empty(x, (3,), 'u32')
    elif outside is False:
        outside = None
    if _histogram(stream, x, counts, (first, low, high, accumulate, outside, )):
        outside = _for_jax(outside)
    return counts if outside is None else (counts, outside)


_repack_gptq_w4 = _core.operation("repack_gptq_w4")


def repack_gptq_w4(
    source: GptqW4,
    weights: W4Weights,
    *,
    stream: Any = None,
) -> None:
    """Packs GPTQ's tensors for matmul_w4, once at load.

    Arguments:
      source: GptqW4
      weights: gets the weights; its memory overlaps no tensor
      stream: a stream of the framework, or a CUstream as a number; None: the current stream

    Raises InvalidArgument, which names the argument; UnsupportedDevice; TypeError.
    """
    _repack_gptq_w4(stream, source, weights)


_repack_awq_w4 = _core.operation("repack_awq_w4")


def repack_awq_w4(
    source: AwqW4,
    weights: W4Weights,
    *,
    stream: Any = None,
) -> None:
    """Packs AutoAWQ's tensors, version gemm for matmul_w4, once at load.

    Arguments:
      source: AwqW4
      weights: gets the weights; its memory overlaps no tensor
      stream: a stream of the framework, or a CUstream as a number; None: the current stream

    Raises InvalidArgument, which names the argument; UnsupportedDevice; TypeError.
    """
    _repack_awq_w4(stream, source, weights)


_repack_compressed_tensors_w4 = _core.operation("repack_compressed_tensors_w4")


def repack_compressed_tensors_w4(
    source: CompressedTensorsW4,
    weights: W4Weights,
    *,
    stream: Any = None,
) -> None:
    """Packs tensors of compressed-tensors, format pack-quantized for matmul_w4, once at load.

    Arguments:
      source: CompressedTensorsW4
      weights: gets the weights; its memory overlaps no tensor
      stream: a stream of the framework, or a CUstream as a number; None: the current stream

    Raises InvalidArgument, which names the argument; UnsupportedDevice; TypeError.
    """
    _repack_compressed_tensors_w4(stream, source, weights)


_repack_bitsandbytes_w4 = _core.operation("repack_bitsandbytes_w4")


def repack_bitsandbytes_w4(
    source: BitsandbytesW4,
    weights: W4Weights,
    *,
    stream: Any = None,
) -> None:
    """Packs bitsandbytes' nf4 or fp4 for matmul_w4, once at load.

    Arguments:
      source: BitsandbytesW4
      weights: gets the weights; its memory overlaps no tensor
      stream: a stream of the framework, or a CUstream as a number; None: the current stream

    Raises InvalidArgument, which names the argument; UnsupportedDevice; TypeError.
    """
    _repack_bitsandbytes_w4(stream, source, weights)


_repack_mxfp4_w4 = _core.operation("repack_mxfp4_w4")


def repack_mxfp4_w4(
    source: Mxfp4W4,
    weights: W4Weights,
    *,
    stream: Any = None,
) -> None:
    """Packs MXFP4 for matmul_w4, once at load.

    Arguments:
      source: Mxfp4W4
      weights: gets the weights; its memory overlaps no tensor
      stream: a stream of the framework, or a CUstream as a number; None: the current stream

    Raises InvalidArgument, which names the argument; UnsupportedDevice; TypeError.
    """
    _repack_mxfp4_w4(stream, source, weights)


_repack_nvfp4_w4 = _core.operation("repack_nvfp4_w4")


def repack_nvfp4_w4(
    source: Nvfp4W4,
    weights: W4Weights,
    *,
    stream: Any = None,
) -> None:
    """Packs NVFP4 for matmul_w4, once at load.

    Arguments:
      source: Nvfp4W4
      weights: gets the weights; its memory overlaps no tensor
      stream: a stream of the framework, or a CUstream as a number; None: the current stream

    Raises InvalidArgument, which names the argument; UnsupportedDevice; TypeError.
    """
    _repack_nvfp4_w4(stream, source, weights)


_repack_int4_w4 = _core.operation("repack_int4_w4")


def repack_int4_w4(
    source: Int4W4,
    weights: W4Weights,
    *,
    stream: Any = None,
) -> None:
    """Packs weights in two's complement for matmul_w4, once at load.

    Arguments:
      source: Int4W4
      weights: gets the weights; its memory overlaps no tensor
      stream: a stream of the framework, or a CUstream as a number; None: the current stream

    Raises InvalidArgument, which names the argument; UnsupportedDevice; TypeError.
    """
    _repack_int4_w4(stream, source, weights)


_repack_awq_gemv_w4 = _core.operation("repack_awq_gemv_w4")


def repack_awq_gemv_w4(
    source: AwqGemvW4,
    weights: W4Weights,
    *,
    stream: Any = None,
) -> None:
    """Packs AutoAWQ's tensors, version gemv for matmul_w4, once at load.

    Arguments:
      source: AwqGemvW4
      weights: gets the weights; its memory overlaps no tensor
      stream: a stream of the framework, or a CUstream as a number; None: the current stream

    Raises InvalidArgument, which names the argument; UnsupportedDevice; TypeError.
    """
    _repack_awq_gemv_w4(stream, source, weights)


_repack_awq_gemv_fast_w4 = _core.operation("repack_awq_gemv_fast_w4")


def repack_awq_gemv_fast_w4(
    source: AwqGemvFastW4,
    weights: W4Weights,
    *,
    stream: Any = None,
) -> None:
    """Packs AutoAWQ's tensors, version gemv_fast for matmul_w4, once at load.

    Arguments:
      source: AwqGemvFastW4
      weights: gets the weights; its memory overlaps no tensor
      stream: a stream of the framework, or a CUstream as a number; None: the current stream

    Raises InvalidArgument, which names the argument; UnsupportedDevice; TypeError.
    """
    _repack_awq_gemv_fast_w4(stream, source, weights)


_repack_marlin_w4 = _core.operation("repack_marlin_w4")


def repack_marlin_w4(
    source: MarlinW4,
    weights: W4Weights,
    *,
    stream: Any = None,
) -> None:
    """Packs vLLM's Marlin for matmul_w4, once at load.

    Arguments:
      source: MarlinW4
      weights: gets the weights; its memory overlaps no tensor
      stream: a stream of the framework, or a CUstream as a number; None: the current stream

    Raises InvalidArgument, which names the argument; UnsupportedDevice; TypeError.
    """
    _repack_marlin_w4(stream, source, weights)


_repack_tinygemm_w4 = _core.operation("repack_tinygemm_w4")


def repack_tinygemm_w4(
    source: TinygemmW4,
    weights: W4Weights,
    *,
    stream: Any = None,
) -> None:
    """Packs PyTorch's int4pack for matmul_w4, once at load.

    Arguments:
      source: TinygemmW4
      weights: gets the weights; its memory overlaps no tensor
      stream: a stream of the framework, or a CUstream as a number; None: the current stream

    Raises InvalidArgument, which names the argument; UnsupportedDevice; TypeError.
    """
    _repack_tinygemm_w4(stream, source, weights)


_repack_torchao_int4_w4 = _core.operation("repack_torchao_int4_w4")


def repack_torchao_int4_w4(
    source: TorchaoInt4W4,
    weights: W4Weights,
    *,
    stream: Any = None,
) -> None:
    """Packs torchao's Int4Tensor for matmul_w4, once at load.

    Arguments:
      source: TorchaoInt4W4
      weights: gets the weights; its memory overlaps no tensor
      stream: a stream of the framework, or a CUstream as a number; None: the current stream

    Raises InvalidArgument, which names the argument; UnsupportedDevice; TypeError.
    """
    _repack_torchao_int4_w4(stream, source, weights)


_repack_int8_w8 = _core.operation("repack_int8_w8")


def repack_int8_w8(
    source: Int8W8,
    weights: W8Weights,
    *,
    stream: Any = None,
) -> None:
    """Packs integers of eight bits with scales for matmul_w8, once at load.

    Arguments:
      source: Int8W8
      weights: gets the weights; its memory overlaps no tensor
      stream: a stream of the framework, or a CUstream as a number; None: the current stream

    Raises InvalidArgument, which names the argument; UnsupportedDevice; TypeError.
    """
    _repack_int8_w8(stream, source, weights)


_repack_llm_int8_w8 = _core.operation("repack_llm_int8_w8")


def repack_llm_int8_w8(
    source: LlmInt8W8,
    weights: W8Weights,
    *,
    stream: Any = None,
) -> None:
    """Packs bitsandbytes' LLM.int8 for matmul_w8, once at load.

    Arguments:
      source: LlmInt8W8
      weights: gets the weights; its memory overlaps no tensor
      stream: a stream of the framework, or a CUstream as a number; None: the current stream

    Raises InvalidArgument, which names the argument; UnsupportedDevice; TypeError.
    """
    _repack_llm_int8_w8(stream, source, weights)


_repack_gptq_w8 = _core.operation("repack_gptq_w8")


def repack_gptq_w8(
    source: GptqW8,
    weights: W8Weights,
    *,
    stream: Any = None,
) -> None:
    """Packs GPTQ's tensors of 8 bits for matmul_w8, once at load.

    Arguments:
      source: GptqW8
      weights: gets the weights; its memory overlaps no tensor
      stream: a stream of the framework, or a CUstream as a number; None: the current stream

    Raises InvalidArgument, which names the argument; UnsupportedDevice; TypeError.
    """
    _repack_gptq_w8(stream, source, weights)


_repack_compressed_tensors_w8 = _core.operation("repack_compressed_tensors_w8")


def repack_compressed_tensors_w8(
    source: CompressedTensorsW8,
    weights: W8Weights,
    *,
    stream: Any = None,
) -> None:
    """Packs tensors of compressed-tensors of 8 bits for matmul_w8, once at load.

    Arguments:
      source: CompressedTensorsW8
      weights: gets the weights; its memory overlaps no tensor
      stream: a stream of the framework, or a CUstream as a number; None: the current stream

    Raises InvalidArgument, which names the argument; UnsupportedDevice; TypeError.
    """
    _repack_compressed_tensors_w8(stream, source, weights)


_repack_q8_0_w8 = _core.operation("repack_q8_0_w8")


def repack_q8_0_w8(
    source: Q80W8,
    weights: W8Weights,
    *,
    stream: Any = None,
) -> None:
    """Packs GGUF's Q8_0 for matmul_w8, once at load.

    Arguments:
      source: Q80W8
      weights: gets the weights; its memory overlaps no tensor
      stream: a stream of the framework, or a CUstream as a number; None: the current stream

    Raises InvalidArgument, which names the argument; UnsupportedDevice; TypeError.
    """
    _repack_q8_0_w8(stream, source, weights)


_repack_e4m3_w8 = _core.operation("repack_e4m3_w8")


def repack_e4m3_w8(
    source: E4m3W8,
    weights: W8Weights,
    *,
    stream: Any = None,
) -> None:
    """Packs 8-bit floats with scales for matmul_w8, once at load.

    Arguments:
      source: E4m3W8
      weights: gets the weights; its memory overlaps no tensor
      stream: a stream of the framework, or a CUstream as a number; None: the current stream

    Raises InvalidArgument, which names the argument; UnsupportedDevice; TypeError.
    """
    _repack_e4m3_w8(stream, source, weights)


_repack_marlin_w8 = _core.operation("repack_marlin_w8")


def repack_marlin_w8(
    source: MarlinW8,
    weights: W8Weights,
    *,
    stream: Any = None,
) -> None:
    """Packs vLLM's Marlin of 8 bits for matmul_w8, once at load.

    Arguments:
      source: MarlinW8
      weights: gets the weights; its memory overlaps no tensor
      stream: a stream of the framework, or a CUstream as a number; None: the current stream

    Raises InvalidArgument, which names the argument; UnsupportedDevice; TypeError.
    """
    _repack_marlin_w8(stream, source, weights)


_sample = _core.operation("sample")


def sample(
    logits: Array,
    tokens: Array | None = None,
    *,
    seed: Array | None = None,
    offset: Array | None = None,
    offset_out: Array | None = None,
    temperature: float = 1.0,
    top_k: int = 0,
    top_p: float = 1.0,
    min_p: float = 0.0,
    temperatures: Array | None = None,
    top_ks: Array | None = None,
    top_ps: Array | None = None,
    min_ps: Array | None = None,
    logprobs: Array | bool | None = None,
    lse: Array | bool | None = None,
    invalid_rows: Array | None = None,
    dtype: str | None = None,
    stream: Any = None,
) -> Any:
    """Draws a token for each row of logits: temperature, top-k, top-p, min-p.

    The draw is Philox-4x32-10 of (seed[row], offset[row]). A token does not depend on other rows.

    Arguments:
      logits: (rows, vocabulary); f32, f16 or bf16
      tokens: (rows); i32 or i64
      seed: (rows); i64 or u64; needed, unless temperature is 0 for all rows
      offset: (rows); i64 or u64; with seed; two draws differ if their offsets do
      offset_out: (rows); i64 or u64; gets offset + 1; may be offset itself
      temperature: 0: the largest logit
      top_k: 0 or below, or the vocabulary or more: all tokens
      top_p: 0 to 1; 1: all tokens
      min_p: 0 to 1; 0: all tokens
      temperatures: (rows); f32
      top_ks: (rows); i32
      top_ps: (rows); f32
      min_ps: (rows); f32
      logprobs: (rows); f32; gets the log-probability of the token in softmax(logits / temperature)
      lse: (rows); f32; gets log(sum of exp(logits / temperature))
      invalid_rows: (1); i32; the number of rows with NaN, or without a logit above -inf, is added
      dtype: the element type of `tokens` if it is made, as "bf16"
      stream: a stream of the framework, or a CUstream as a number; None: the current stream

    Returns tokens, logprobs, lse (those that are given or made).
    Raises InvalidArgument, which names the argument; UnsupportedDevice; TypeError.
    """
    try:
        if tokens is None:
            tokens = _empty(logits, logits.shape[:1], dtype or 'i32')
        if logprobs is True:
            logprobs = _empty(logits, logits.shape[:1], 'f32')
        elif logprobs is False:
            logprobs = None
        if lse is True:
            lse = _empty(logits, logits.shape[:1], 'f32')
        elif lse is False:
            lse = None
    except (AttributeError, IndexError) as error:
        raise _wrong("sample", error, logits=logits) from None
    if _sample(stream, logits, tokens, (seed, offset, offset_out, temperature, top_k, top_p, min_p, temperatures, top_ks, top_ps, min_ps, logprobs, lse, invalid_rows, )):
        tokens, logprobs, lse = _for_jax(tokens, logprobs, lse)
    return _given(tokens, logprobs, lse)


_top_k = _core.operation("top_k")


def top_k(
    x: Array,
    values: Array,
    indices: Array,
    *,
    stream: Any = None,
) -> tuple[Any, ...]:
    """The k largest elements of each row and their indices, the largest first; of equal ones the lower index first.

    k is the last extent of values and indices, at most 1024. NaN counts as -inf.

    Arguments:
      x: (rows, size); f32, f16 or bf16
      values: (rows, k); elements of x
      indices: (rows, k); i32 or i64
      stream: a stream of the framework, or a CUstream as a number; None: the current stream

    Returns values, indices.
    Raises InvalidArgument, which names the argument; UnsupportedDevice; TypeError.
    """
    _top_k(stream, x, values, indices)
    return (values, indices)


_topk_router = _core.operation("topk_router")


def topk_router(
    logits: Array,
    indices: Array,
    weights: Array,
    *,
    score: Literal['softmax', 'sigmoid'] = 'softmax',
    bias: Array | None = None,
    groups: int = 1,
    kept_groups: int = 1,
    group_by_best_two: bool = True,
    renormalise: bool = False,
    factor: float = 1.0,
    stream: Any = None,
) -> tuple[Any, ...]:
    """Chooses the k experts of each token with the largest score + bias, and returns their scores as weights.

    k is the last extent of indices and weights, 1 to 32. The largest is first; of equal ones the lower index.

    Arguments:
      logits: (tokens, experts); f32, f16 or bf16
      indices: (tokens, k); i32
      weights: (tokens, k); f32
      score
      bias: (experts); f32; added to scores to choose, not to weights
      groups: 1 to 32, of equal size
      kept_groups: 1 to groups
      group_by_best_two: True: a group's score is the sum of its best two scores with bias; False: its best one
      renormalise: True: divides a token's weights by their sum
      factor: multiplies the weights; finite
      stream: a stream of the framework, or a CUstream as a number; None: the current stream

    Returns indices, weights.
    Raises InvalidArgument, which names the argument; UnsupportedDevice; TypeError.
    """
    _topk_router(stream, logits, indices, weights, (score, bias, groups, kept_groups, group_by_best_two, renormalise, factor, ))
    return (indices, weights)


_sort_by_expert = _core.operation("sort_by_expert")


def sort_by_expert(
    indices: Array,
    offsets: Array,
    *,
    counts: Array | bool | None = None,
    tokens: Array | bool | None = None,
    positions: Array | bool | None = None,
    workspace: Array | None = None,
    stream: Any = None,
) -> Any:
    """Sorts the choices of tokens by expert, and by token within an expert.

    The rows of expert e are offsets[e] to offsets[e + 1] - 1. An index that is no expert is left out.

    Arguments:
      indices: (tokens, k); i32
      offsets: (experts + 1); i32
      counts: (experts); i32; rows of each expert
      tokens: (tokens * k); i32; the token of each sorted row; -1 after the last expert's rows
      positions: (tokens, k); i32; the sorted row of each choice; -1 if it is left out
      workspace: memory for the call, of any type; None: made if it is needed
      stream: a stream of the framework, or a CUstream as a number; None: the current stream

    Returns offsets, counts, tokens, positions (those that are given or made).
    Raises InvalidArgument, which names the argument; UnsupportedDevice; TypeError.
    """
    try:
        if counts is True:
            counts = _empty(indices, (offsets.shape[0] - 1,), 'i32')
        elif counts is False:
            counts = None
        if tokens is True:
            tokens = _empty(indices, (indices.shape[0] * indices.shape[1],), 'i32')
        elif tokens is False:
            tokens = None
        if positions is True:
            positions = _empty_like(indices, 'i32', "indices")
        elif positions is False:
            positions = None
    except (AttributeError, IndexError) as error:
        raise _wrong("sort_by_expert", error, indices=indices) from None
    if _sort_by_expert(stream, indices, offsets, (counts, tokens, positions, workspace, )):
        counts, tokens, positions = _for_jax(counts, tokens, positions)
    return _given(offsets, counts, tokens, positions)


_combine_experts = _core.operation("combine_experts")


def combine_experts(
    y: Array,
    weights: Array,
    positions: Array,
    out: Array | None = None,
    *,
    accumulate: bool = False,
    dtype: str | None = None,
    stream: Any = None,
) -> Array:
    """out[token, :] = the sum of weights[token, j] * y[positions[token, j], :] over all j.

    Sums are f32, in the order of j, and are rounded once. A position that is no row of y adds nothing.

    Arguments:
      y: (rows, size); f32, f16 or bf16
      weights: (tokens, k); f32
      positions: (tokens, k); i32
      out: (tokens, size); f32, f16 or bf16; the type of y, or f32
      accumulate: True: adds to out
      dtype: the element type of `out` if it is made, as "bf16"
      stream: a stream of the framework, or a CUstream as a number; None: the current stream

    Returns out.
    Raises InvalidArgument, which names the argument; UnsupportedDevice; TypeError.
    """
    try:
        if out is None:
            out = _empty(y, (weights.shape[0], y.shape[1]), dtype)
    except (AttributeError, IndexError) as error:
        raise _wrong("combine_experts", error, y=y, weights=weights, positions=positions) from None
    if _combine_experts(stream, y, weights, positions, out, (accumulate, )):
        out = _for_jax(out)
    return out


_softmax = _core.operation("softmax")


def softmax(
    x: Array,
    out: Array | None = None,
    *,
    scale: float = 1.0,
    lse: Array | bool | None = None,
    stream: Any = None,
) -> Any:
    """y = e^v / sum of e^v along the last dimension, with v = scale * x.

    In f32, rounded once. A row of -infinity becomes 0. Rows have any strides, their elements are neighbours.

    Arguments:
      x: (..., size); f32, f16 or bf16
      out: as x; elements of x; may be x itself
      scale: x is multiplied by it; finite
      lse: (...), one for each row; f32; gets the logarithms of the sums of exponentials
      stream: a stream of the framework, or a CUstream as a number; None: the current stream

    Returns out, lse (those that are given or made).
    Raises InvalidArgument, which names the argument; UnsupportedDevice; TypeError.
    """
    try:
        if out is None:
            out = _empty_like(x, None, "x")
        if lse is True:
            lse = _empty(x, x.shape[:-1], 'f32')
        elif lse is False:
            lse = None
    except (AttributeError, IndexError) as error:
        raise _wrong("softmax", error, x=x) from None
    if _softmax(stream, x, out, (scale, lse, )):
        out, lse = _for_jax(out, lse)
    return out if lse is None else (out, lse)


_log_softmax = _core.operation("log_softmax")


def log_softmax(
    x: Array,
    out: Array | None = None,
    *,
    scale: float = 1.0,
    lse: Array | bool | None = None,
    stream: Any = None,
) -> Any:
    """y = v - log(sum of e^v) along the last dimension, with v = scale * x.

    In f32, rounded once. A row of -infinity stays as it is.

    Arguments:
      x: (..., size); f32, f16 or bf16
      out: as x; elements of x; may be x itself
      scale: x is multiplied by it; finite
      lse: (...), one for each row; f32; gets the logarithms of the sums of exponentials
      stream: a stream of the framework, or a CUstream as a number; None: the current stream

    Returns out, lse (those that are given or made).
    Raises InvalidArgument, which names the argument; UnsupportedDevice; TypeError.
    """
    try:
        if out is None:
            out = _empty_like(x, None, "x")
        if lse is True:
            lse = _empty(x, x.shape[:-1], 'f32')
        elif lse is False:
            lse = None
    except (AttributeError, IndexError) as error:
        raise _wrong("log_softmax", error, x=x) from None
    if _log_softmax(stream, x, out, (scale, lse, )):
        out, lse = _for_jax(out, lse)
    return out if lse is None else (out, lse)


_softmax_backward = _core.operation("softmax_backward")


def softmax_backward(
    y: Array,
    dy: Array,
    dx: Array | None = None,
    *,
    scale: float = 1.0,
    stream: Any = None,
) -> Array:
    """dx = scale * y * (dy - sum of y * dy), the gradient of softmax.

    Arguments:
      y: (..., size); f32, f16 or bf16; the output of softmax
      dy: as y; elements of y
      dx: as y; elements of y; may be y or dy itself
      scale: that of the forward call
      stream: a stream of the framework, or a CUstream as a number; None: the current stream

    Returns dx.
    Raises InvalidArgument, which names the argument; UnsupportedDevice; TypeError.
    """
    if dx is None:
        dx = _empty_like(y, None, "y")
    if _softmax_backward(stream, y, dy, dx, (scale, )):
        dx = _for_jax(dx)
    return dx


_log_softmax_backward = _core.operation("log_softmax_backward")


def log_softmax_backward(
    y: Array,
    dy: Array,
    dx: Array | None = None,
    *,
    scale: float = 1.0,
    stream: Any = None,
) -> Array:
    """dx = scale * (dy - e^y * sum of dy), the gradient of log_softmax.

    Arguments:
      y: (..., size); f32, f16 or bf16; the output of log_softmax
      dy: as y; elements of y
      dx: as y; elements of y; may be y or dy itself
      scale: that of the forward call
      stream: a stream of the framework, or a CUstream as a number; None: the current stream

    Returns dx.
    Raises InvalidArgument, which names the argument; UnsupportedDevice; TypeError.
    """
    if dx is None:
        dx = _empty_like(y, None, "y")
    if _log_softmax_backward(stream, y, dy, dx, (scale, )):
        dx = _for_jax(dx)
    return dx


_repack_blocks_w4 = _core.operation("repack_blocks_w4")


def repack_blocks_w4(
    format: Literal['q4_0', 'q4_1', 'q5_0', 'q5_1', 'q8_0', 'q2_k', 'q3_k', 'q4_k', 'q5_k', 'q6_k', 'iq4_nl', 'iq4_xs', 'mxfp4', 'nvfp4'],
    bytes: Array,
    weights: W4Weights,
    *,
    stream: Any = None,
) -> None:
    """Packs blocks of GGUF for matmul_w4, once at load. The numbers stay the same.

    Arguments:
      format: Literal['q4_0', 'q4_1', 'q5_0', 'q5_1', 'q8_0', 'q2_k', 'q3_k', 'q4_k', 'q5_k', 'q6_k', 'iq4_nl',
          'iq4_xs', 'mxfp4', 'nvfp4']
      bytes: (block_bytes of n k); u8; blocks row after row, at a multiple of 2
      weights: what w4_weights_of_blocks gave; its memory gets the weights, and overlaps no blocks
      stream: a stream of the framework, or a CUstream as a number; None: the current stream

    Raises InvalidArgument, which names the argument; UnsupportedDevice; TypeError.
    """
    _repack_blocks_w4(stream, format, bytes, weights)


_repack_blocks_w8 = _core.operation("repack_blocks_w8")


def repack_blocks_w8(
    format: Literal['q4_0', 'q4_1', 'q5_0', 'q5_1', 'q8_0', 'q2_k', 'q3_k', 'q4_k', 'q5_k', 'q6_k', 'iq4_nl', 'iq4_xs', 'mxfp4', 'nvfp4'],
    bytes: Array,
    weights: W8Weights,
    *,
    stream: Any = None,
) -> None:
    """Packs blocks of GGUF for matmul_w8, once at load. The numbers stay the same.

    Arguments:
      format: Literal['q4_0', 'q4_1', 'q5_0', 'q5_1', 'q8_0', 'q2_k', 'q3_k', 'q4_k', 'q5_k', 'q6_k', 'iq4_nl',
          'iq4_xs', 'mxfp4', 'nvfp4']
      bytes: (block_bytes of n k); u8; blocks row after row, at a multiple of 2
      weights: what w8_weights_of_blocks gave; its memory gets the weights, and overlaps no blocks
      stream: a stream of the framework, or a CUstream as a number; None: the current stream

    Raises InvalidArgument, which names the argument; UnsupportedDevice; TypeError.
    """
    _repack_blocks_w8(stream, format, bytes, weights)


_dequantise_blocks = _core.operation("dequantise_blocks")


def dequantise_blocks(
    format: Literal['q4_0', 'q4_1', 'q5_0', 'q5_1', 'q8_0', 'q2_k', 'q3_k', 'q4_k', 'q5_k', 'q6_k', 'iq4_nl', 'iq4_xs', 'mxfp4', 'nvfp4'],
    bytes: Array,
    out: Array,
    *,
    stream: Any = None,
) -> Array:
    """out = the weights of blocks of GGUF.

    Numbers are those of the formats' references in f32, rounded once to the type of out. Elements of a row of out
    are adjacent.

    Arguments:
      format: Literal['q4_0', 'q4_1', 'q5_0', 'q5_1', 'q8_0', 'q2_k', 'q3_k', 'q4_k', 'q5_k', 'q6_k', 'iq4_nl',
          'iq4_xs', 'mxfp4', 'nvfp4']
      bytes: (block_bytes of n k); u8; blocks row after row, at a multiple of 2
      out: (n, k); f32, f16 or bf16
      stream: a stream of the framework, or a CUstream as a number; None: the current stream

    Returns out.
    Raises InvalidArgument, which names the argument; UnsupportedDevice; TypeError.
    """
    _dequantise_blocks(stream, format, bytes, out)
    return out


_dequantise_bnb_4bit = _core.operation("dequantise_bnb_4bit")


def dequantise_bnb_4bit(
    source: Bnb4bit,
    out: Array,
    *,
    stream: Any = None,
) -> Array:
    """out = weights of bitsandbytes' nf4 or fp4.

    Arguments:
      source: Bnb4bit
      out: (n, k); f32, f16 or bf16
      stream: a stream of the framework, or a CUstream as a number; None: the current stream

    Returns out.
    Raises InvalidArgument, which names the argument; UnsupportedDevice; TypeError.
    """
    _dequantise_bnb_4bit(stream, source, out)
    return out


_dequantise_bnb_int8 = _core.operation("dequantise_bnb_int8")


def dequantise_bnb_int8(
    source: BnbInt8,
    out: Array,
    *,
    stream: Any = None,
) -> Array:
    """out = weights of bitsandbytes' LLM.int8.

    Arguments:
      source: BnbInt8
      out: (n, k); f32, f16 or bf16
      stream: a stream of the framework, or a CUstream as a number; None: the current stream

    Returns out.
    Raises InvalidArgument, which names the argument; UnsupportedDevice; TypeError.
    """
    _dequantise_bnb_int8(stream, source, out)
    return out


_dequantise_scaled_bytes = _core.operation("dequantise_scaled_bytes")


def dequantise_scaled_bytes(
    source: ScaledBytes,
    out: Array,
    *,
    stream: Any = None,
) -> Array:
    """out = weights of codes of 8 bits with scales: FP8, INT8, MXFP8.

    Arguments:
      source: ScaledBytes
      out: (n, k); f32, f16 or bf16
      stream: a stream of the framework, or a CUstream as a number; None: the current stream

    Returns out.
    Raises InvalidArgument, which names the argument; UnsupportedDevice; TypeError.
    """
    _dequantise_scaled_bytes(stream, source, out)
    return out


_dequantise_mxfp4 = _core.operation("dequantise_mxfp4")


def dequantise_mxfp4(
    source: Mxfp4Tensors,
    out: Array,
    *,
    stream: Any = None,
) -> Array:
    """out = weights of MXFP4.

    Arguments:
      source: Mxfp4Tensors
      out: (n, k); f32, f16 or bf16
      stream: a stream of the framework, or a CUstream as a number; None: the current stream

    Returns out.
    Raises InvalidArgument, which names the argument; UnsupportedDevice; TypeError.
    """
    _dequantise_mxfp4(stream, source, out)
    return out


_dequantise_nvfp4 = _core.operation("dequantise_nvfp4")


def dequantise_nvfp4(
    source: Nvfp4Tensors,
    out: Array,
    *,
    stream: Any = None,
) -> Array:
    """out = weights of NVFP4.

    Arguments:
      source: Nvfp4Tensors
      out: (n, k); f32, f16 or bf16
      stream: a stream of the framework, or a CUstream as a number; None: the current stream

    Returns out.
    Raises InvalidArgument, which names the argument; UnsupportedDevice; TypeError.
    """
    _dequantise_nvfp4(stream, source, out)
    return out


_quantise_blocks = _core.operation("quantise_blocks")


def quantise_blocks(
    w: Array,
    format: Literal['q4_0', 'q4_1', 'q5_0', 'q5_1', 'q8_0', 'q2_k', 'q3_k', 'q4_k', 'q5_k', 'q6_k', 'iq4_nl', 'iq4_xs', 'mxfp4', 'nvfp4'],
    bytes: Array,
    *,
    stream: Any = None,
) -> Array:
    """Quantises w into blocks of GGUF: Q4_0 or Q8_0.

    Bits are those of the format's reference. Elements of a row of w are adjacent.

    Arguments:
      w: (n, k); f32, f16 or bf16; k is a multiple of 32
      format: Q4_0 or Q8_0
      bytes: (block_bytes of n k); u8; at a multiple of 2
      stream: a stream of the framework, or a CUstream as a number; None: the current stream

    Returns bytes.
    Raises InvalidArgument, which names the argument; UnsupportedDevice; TypeError.
    """
    _quantise_blocks(stream, w, format, bytes)
    return bytes


_quantise_bnb_4bit = _core.operation("quantise_bnb_4bit")


def quantise_bnb_4bit(
    w: Array,
    to: Bnb4bitOutput,
    *,
    stream: Any = None,
) -> None:
    """Quantises w into bitsandbytes' nf4 or fp4.

    Arguments:
      w: (n, k); f32, f16 or bf16
      to: where it is written
      stream: a stream of the framework, or a CUstream as a number; None: the current stream

    Raises InvalidArgument, which names the argument; UnsupportedDevice; TypeError.
    """
    _quantise_bnb_4bit(stream, w, to)


_quantise_mxfp4 = _core.operation("quantise_mxfp4")


def quantise_mxfp4(
    w: Array,
    to: Mxfp4Output,
    *,
    stream: Any = None,
) -> None:
    """Quantises w into MXFP4, with scales of 2^(floor(log2 absmax) - 2).

    Arguments:
      w: (n, k); f32, f16 or bf16
      to: where it is written
      stream: a stream of the framework, or a CUstream as a number; None: the current stream

    Raises InvalidArgument, which names the argument; UnsupportedDevice; TypeError.
    """
    _quantise_mxfp4(stream, w, to)


_quantise_nvfp4 = _core.operation("quantise_nvfp4")


def quantise_nvfp4(
    w: Array,
    to: Nvfp4Output,
    *,
    stream: Any = None,
) -> None:
    """Quantises w into NVFP4, whose global multiplies.

    Arguments:
      w: (n, k); f32, f16 or bf16
      to: where it is written
      stream: a stream of the framework, or a CUstream as a number; None: the current stream

    Raises InvalidArgument, which names the argument; UnsupportedDevice; TypeError.
    """
    _quantise_nvfp4(stream, w, to)


_quantise_w4 = _core.operation("quantise_w4")


def quantise_w4(
    w: Array,
    to: W4Output,
    *,
    stream: Any = None,
) -> None:
    """Quantises w into codes of four bits in groups along k, for repack_compressed_tensors_w4.

    Rounded to nearest: scale = absmax / 7.5, or with zero points the range / 15.

    Arguments:
      w: (n, k); f32, f16 or bf16
      to: where it is written
      stream: a stream of the framework, or a CUstream as a number; None: the current stream

    Raises InvalidArgument, which names the argument; UnsupportedDevice; TypeError.
    """
    _quantise_w4(stream, w, to)
