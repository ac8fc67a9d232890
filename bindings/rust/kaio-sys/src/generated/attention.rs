// Made by bindings/rust/generate.py from src/c/operations/attention.json.
use std::os::raw::c_char;
use crate::base::DLTensor;

// kaio_causal_alignment: Whether a query attends to no later keys, and where its own key is. With as many keys as queries, both alignments agree.
/// kaio_causal_alignment: none.
pub const KAIO_CAUSAL_ALIGNMENT_NONE: i32 = 0;
/// Key \<= query: torch's is_causal.
pub const KAIO_CAUSAL_ALIGNMENT_TOP_LEFT: i32 = 1;
/// Key \<= query + keys - queries: FlashAttention's.
pub const KAIO_CAUSAL_ALIGNMENT_BOTTOM_RIGHT: i32 = 2;

// kaio_attention_precision: How products of f32 are computed.
/// multiply-adds in f32.
pub const KAIO_ATTENTION_PRECISION_IEEE: i32 = 0;
/// Tensor cores, inputs rounded to 11 significant bits; exact if no kernel does it.
pub const KAIO_ATTENTION_PRECISION_TF32: i32 = 1;

/// The blocks of keys that each block of queries visits, as FlexAttention's BlockMask. B' is the batches of
/// q or 1, H' its heads or 1, Qb = ceil(queries / block_queries). Kb is any room.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct kaio_block_mask {
    /// `size_of::<kaio_block_mask>()`.
    pub size: u32,
    /// 0.
    pub reserved_4: i32,
    /// Default 128; queries of a block; multiples of 128 are fastest.
    pub block_queries: i64,
    /// Default 128; keys of a block.
    pub block_keys: i64,
    /// (B', H', Qb); i32; how many blocks of keys are visited with the mask.
    pub kv_num_blocks: *const DLTensor,
    /// (B', H', Qb, Kb); i32; which blocks.
    pub kv_indices: *const DLTensor,
    /// (B', H', Qb); i32; how many blocks of keys are kept as a whole; NULL: none.
    pub full_kv_num_blocks: *const DLTensor,
    /// (B', H', Qb, Kb); i32; which blocks.
    pub full_kv_indices: *const DLTensor,
}

impl Default for kaio_block_mask {
    fn default() -> Self {
        Self {
            size: core::mem::size_of::<Self>() as u32,
            reserved_4: 0,
            block_queries: 128,
            block_keys: 128,
            kv_num_blocks: core::ptr::null(),
            kv_indices: core::ptr::null(),
            full_kv_num_blocks: core::ptr::null(),
            full_kv_indices: core::ptr::null(),
        }
    }
}

/// Options of attention. The scores are scale * q . k, softcap, less ALiBi, plus the bias, in this order.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct kaio_attention_options {
    /// `size_of::<kaio_attention_options>()`.
    pub size: u32,
    /// The factor of q . k; 0: 1 / sqrt(head size of q).
    pub scale: f32,
    /// Above 0: the score x becomes softcap * tanh(x / softcap).
    pub softcap: f32,
    /// kaio_causal_alignment.
    pub causal: i32,
    /// kaio_attention_precision: for operands of f32.
    pub precision: i32,
    /// 1: the bits of a sequence do not depend on the other sequences of the call.
    pub batch_invariant: i32,
    /// Default -1; keys before a query's own one that it attends to; -1: all.
    pub window_left: i64,
    /// Default -1; keys after its own one; -1: all; causal makes it 0.
    pub window_right: i64,
    /// (heads) or (batches, heads); f32; slopes: x -= slope * |query + keys - queries - key|.
    pub alibi: *const DLTensor,
    /// (batches, heads, queries, keys) or the last of these; f32, f16 or bf16; added; an extent of 1 serves
    /// all; f32, or elements of q; not for attention_varlen.
    pub bias: *const DLTensor,
    /// As bias; bool or u8; 0 masks the key; not for attention_varlen.
    pub keep: *const DLTensor,
    /// (heads); f32, f16 or bf16; the score of an extra key without a value.
    pub sinks: *const DLTensor,
    /// (batches, heads, queries); (heads, rows) for attention_varlen; f32; gets ln of the sum of exp(x);
    /// -inf without a key.
    pub lse: *const DLTensor,
    /// The blocks of keys that are visited; NULL: all.
    pub blocks: *const kaio_block_mask,
    /// The kernel to run, as kaio_attention_choice names it; NULL: the best one.
    pub variant: *const c_char,
}

impl Default for kaio_attention_options {
    fn default() -> Self {
        Self {
            size: core::mem::size_of::<Self>() as u32,
            scale: 0.0,
            softcap: 0.0,
            causal: 0,
            precision: 0,
            batch_invariant: 0,
            window_left: -1,
            window_right: -1,
            alibi: core::ptr::null(),
            bias: core::ptr::null(),
            keep: core::ptr::null(),
            sinks: core::ptr::null(),
            lse: core::ptr::null(),
            blocks: core::ptr::null(),
            variant: core::ptr::null(),
        }
    }
}

/// Sequences that follow each other along the rows of a tensor. Sequence b has rows cu_q\[b\] to before
/// cu_q\[b + 1\] of q. The device reads these numbers when the call runs.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct kaio_attention_sequences {
    /// `size_of::<kaio_attention_sequences>()`.
    pub size: u32,
    /// 0.
    pub reserved_4: i32,
    /// Needed; (sequences + 1); i32; from 0 on, never decreasing.
    pub cu_q: *const DLTensor,
    /// (sequences + 1); i32; likewise, of k and v; not for a cache.
    pub cu_k: *const DLTensor,
    /// At least the rows of q of the longest sequence.
    pub max_q: i64,
    /// For gradients: at least the rows of k of the longest sequence; 0: all rows.
    pub max_k: i64,
    /// (sequences); i32; the used rows of each; NULL: all.
    pub used_q: *const DLTensor,
    /// (sequences); i32; likewise, of k and v.
    pub used_k: *const DLTensor,
}

impl Default for kaio_attention_sequences {
    fn default() -> Self {
        Self {
            size: core::mem::size_of::<Self>() as u32,
            reserved_4: 0,
            cu_q: core::ptr::null(),
            cu_k: core::ptr::null(),
            max_q: 0,
            max_k: 0,
            used_q: core::ptr::null(),
            used_k: core::ptr::null(),
        }
    }
}
