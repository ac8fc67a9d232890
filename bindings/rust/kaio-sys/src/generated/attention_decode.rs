// Made by bindings/rust/generate.py from src/c/operations/attention_decode.json.
use std::os::raw::c_char;
use crate::base::DLTensor;
use crate::generated::cache::kaio_append_rotary;

// kaio_attention_combining: How the splits of a sequence's keys are added up.
/// Whichever is faster.
pub const KAIO_ATTENTION_COMBINING_AUTOMATIC: i32 = 0;
/// Through the workspace.
pub const KAIO_ATTENTION_COMBINING_SECOND_KERNEL: i32 = 1;
/// In a cluster of up to 16 blocks: sm_90, up to 16 rows of a tile.
pub const KAIO_ATTENTION_COMBINING_CLUSTER: i32 = 2;

/// New keys and values that a call appends to the cache before it reads it, as kaio_append_kv does. The
/// cache is then written.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct kaio_attention_append {
    /// `size_of::<kaio_attention_append>()`.
    pub size: u32,
    /// 0.
    pub reserved_4: i32,
    /// Needed; (batches, tokens, heads, size); f32, f16 or bf16; (tokens, heads, size) for
    /// attention_decode_varlen, or with cu_k.
    pub k: *const DLTensor,
    /// Needed; likewise; elements of k.
    pub v: *const DLTensor,
    /// (sequences + 1); i32; sequence b has new rows cu_k\[b\] to before cu_k\[b + 1\]; NULL: those of its
    /// queries.
    pub cu_k: *const DLTensor,
    /// Rotates the new keys and the queries of the call; leave its q out.
    pub rotary: *const kaio_append_rotary,
    /// (pages, rows, heads); f32; gets computed scales of a cache of 8 bits, in place of k_scale.
    pub k_scale_out: *const DLTensor,
    /// (pages, rows, heads); f32.
    pub v_scale_out: *const DLTensor,
}

impl Default for kaio_attention_append {
    fn default() -> Self {
        Self {
            size: core::mem::size_of::<Self>() as u32,
            reserved_4: 0,
            k: core::ptr::null(),
            v: core::ptr::null(),
            cu_k: core::ptr::null(),
            rotary: core::ptr::null(),
            k_scale_out: core::ptr::null(),
            v_scale_out: core::ptr::null(),
        }
    }
}

/// Options of attention over a cache.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct kaio_attention_decode_options {
    /// `size_of::<kaio_attention_decode_options>()`.
    pub size: u32,
    /// The factor of q . k; 0: 1 / sqrt(head size of q), with qv of both head sizes together.
    pub scale: f32,
    /// Above 0: the score x becomes softcap * tanh(x / softcap).
    pub softcap: f32,
    /// kaio_causal_alignment: none or bottom_right.
    pub causal: i32,
    /// Parts of the keys, 1 to 256; 0: chosen.
    pub splits: u32,
    /// kaio_attention_combining.
    pub combining: i32,
    /// 1: the bits of a sequence do not depend on the other sequences of the call.
    pub batch_invariant: i32,
    /// kaio_constant_inputs: indices.
    pub constant: i32,
    /// Default -1; keys before a query's own one that it attends to; -1: all.
    pub window_left: i64,
    /// Default -1; keys after its own one; -1: all; causal makes it 0.
    pub window_right: i64,
    /// The most keys of a sequence, by which work is divided; 0: the room of the cache.
    pub max_length: i64,
    /// (B, Sq, Hq, Dv); f32, f16 or bf16; queries that are multiplied with values: the score is scale * (q
    /// . k + qv . v).
    pub qv: *const DLTensor,
    /// (heads) or (batches, heads); f32; slopes: x -= slope * |query + keys - queries - key|.
    pub alibi: *const DLTensor,
    /// (1), (heads), (sequences, heads) or (pages, rows, heads); f32; scales of a cache of 8 bits; NULL: 1.
    pub k_scale: *const DLTensor,
    /// As k_scale; f32.
    pub v_scale: *const DLTensor,
    /// (heads); f32, f16 or bf16; the score of an extra key without a value.
    pub sinks: *const DLTensor,
    /// (batches, heads, queries); (heads, rows) for attention_decode_varlen; f32; gets ln of the sum of
    /// exp(x); -inf without a key.
    pub lse: *const DLTensor,
    /// New keys and values; NULL: none. Lengths of the cache are those before, last_page_len those after.
    pub append: *const kaio_attention_append,
    /// kaio_attention_decode_workspace_bytes, at a multiple of 16 bytes.
    pub workspace: *const DLTensor,
    /// The kernel to run, as kaio_attention_decode_choice names it; NULL: the best one.
    pub variant: *const c_char,
}

impl Default for kaio_attention_decode_options {
    fn default() -> Self {
        Self {
            size: core::mem::size_of::<Self>() as u32,
            scale: 0.0,
            softcap: 0.0,
            causal: 0,
            splits: 0,
            combining: 0,
            batch_invariant: 0,
            constant: 0,
            window_left: -1,
            window_right: -1,
            max_length: 0,
            qv: core::ptr::null(),
            alibi: core::ptr::null(),
            k_scale: core::ptr::null(),
            v_scale: core::ptr::null(),
            sinks: core::ptr::null(),
            lse: core::ptr::null(),
            append: core::ptr::null(),
            workspace: core::ptr::null(),
            variant: core::ptr::null(),
        }
    }
}
