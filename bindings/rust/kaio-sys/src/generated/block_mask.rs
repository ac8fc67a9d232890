// Made by bindings/rust/generate.py from src/c/operations/block_mask.json.
use crate::base::DLTensor;

/// Where a block mask is written: Qb = ceil(queries / block_queries), Kb = ceil(keys / block_keys). The
/// last dimension may have more room. Each pair of tensors may be left out; without the full ones, full
/// blocks are listed as partial.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct kaio_block_mask_output {
    /// `size_of::<kaio_block_mask_output>()`.
    pub size: u32,
    /// 0.
    pub reserved_4: i32,
    /// Default 128; queries of a block.
    pub block_queries: i64,
    /// Default 128; keys of a block.
    pub block_keys: i64,
    /// (B', H', Qb); i32; how many blocks of keys the mask keeps in part.
    pub kv_num_blocks: *const DLTensor,
    /// (B', H', Qb, Kb); i32; which blocks.
    pub kv_indices: *const DLTensor,
    /// (B', H', Qb); i32; how many it keeps as a whole.
    pub full_kv_num_blocks: *const DLTensor,
    /// (B', H', Qb, Kb); i32; which blocks.
    pub full_kv_indices: *const DLTensor,
    /// (B', H', Kb); i32; how many blocks of queries visit a block of keys, in part.
    pub q_num_blocks: *const DLTensor,
    /// (B', H', Kb, Qb); i32; which blocks.
    pub q_indices: *const DLTensor,
    /// (B', H', Kb); i32; how many as a whole.
    pub full_q_num_blocks: *const DLTensor,
    /// (B', H', Kb, Qb); i32; which blocks.
    pub full_q_indices: *const DLTensor,
}

impl Default for kaio_block_mask_output {
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
            q_num_blocks: core::ptr::null(),
            q_indices: core::ptr::null(),
            full_q_num_blocks: core::ptr::null(),
            full_q_indices: core::ptr::null(),
        }
    }
}

/// The mask: queries and keys of a head, and which keys a query attends to, as in kaio_attention_options.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct kaio_block_mask_options {
    /// `size_of::<kaio_block_mask_options>()`.
    pub size: u32,
    /// kaio_causal_alignment.
    pub causal: i32,
    /// Per head, as the attention will have them.
    pub queries: i64,
    /// Per head.
    pub keys: i64,
    /// Default -1; keys before a query's own one that it attends to; -1: all.
    pub window_left: i64,
    /// Default -1; keys after its own one; -1: all; causal makes it 0.
    pub window_right: i64,
}

impl Default for kaio_block_mask_options {
    fn default() -> Self {
        Self {
            size: core::mem::size_of::<Self>() as u32,
            causal: 0,
            queries: 0,
            keys: 0,
            window_left: -1,
            window_right: -1,
        }
    }
}
