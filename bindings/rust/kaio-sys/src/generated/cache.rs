// Made by bindings/rust/generate.py from src/c/operations/cache.json.
use crate::base::DLTensor;

// kaio_rotary_scaling_kind: How frequencies change for sequences longer than a model was trained on: rope_type of a config.json.
/// kaio_rotary_scaling_kind: none.
pub const KAIO_ROTARY_SCALING_KIND_NONE: i32 = 0;
/// kaio_rotary_scaling_kind: linear.
pub const KAIO_ROTARY_SCALING_KIND_LINEAR: i32 = 1;
/// kaio_rotary_scaling_kind: dynamic.
pub const KAIO_ROTARY_SCALING_KIND_DYNAMIC: i32 = 2;
/// kaio_rotary_scaling_kind: yarn.
pub const KAIO_ROTARY_SCALING_KIND_YARN: i32 = 3;
/// kaio_rotary_scaling_kind: longrope.
pub const KAIO_ROTARY_SCALING_KIND_LONGROPE: i32 = 4;
/// kaio_rotary_scaling_kind: llama3.
pub const KAIO_ROTARY_SCALING_KIND_LLAMA3: i32 = 5;
/// kaio_rotary_scaling_kind: proportional.
pub const KAIO_ROTARY_SCALING_KIND_PROPORTIONAL: i32 = 6;

/// A cache of keys and values: contiguous without table and indptr, or in pages. Key j of sequence b is row
/// j % rows of page table\[b\]\[j / rows\], or of page indices\[indptr\[b\] + j / rows\]. All of it is in
/// device memory, and is read when a call runs.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct kaio_kv_cache {
    /// `size_of::<kaio_kv_cache>()`.
    pub size: u32,
    /// 0.
    pub reserved_4: i32,
    /// Needed; (pages or batches, rows, heads, size); f32, f16, bf16, e4m3, e5m2 or i8; the last stride is
    /// 1.
    pub k: *const DLTensor,
    /// Needed; as k; the size may differ; elements of k.
    pub v: *const DLTensor,
    /// (sequences, most pages of one); i32; page numbers.
    pub table: *const DLTensor,
    /// (sequences + 1); i32; in place of table, with indices.
    pub indptr: *const DLTensor,
    /// (pages of all sequences); i32; page numbers.
    pub indices: *const DLTensor,
    /// (sequences); i32; keys of each; NULL: all rows.
    pub lengths: *const DLTensor,
    /// (sequences); i32; with indptr, in place of lengths: rows of the last page.
    pub last_page_len: *const DLTensor,
    /// (sequences); i32; contiguous: the batch of each; NULL: its own number.
    pub batch_index: *const DLTensor,
    /// (sequences); i32; keys before this one do not exist, but their positions count.
    pub left_padding: *const DLTensor,
}

impl Default for kaio_kv_cache {
    fn default() -> Self {
        Self {
            size: core::mem::size_of::<Self>() as u32,
            reserved_4: 0,
            k: core::ptr::null(),
            v: core::ptr::null(),
            table: core::ptr::null(),
            indptr: core::ptr::null(),
            indices: core::ptr::null(),
            lengths: core::ptr::null(),
            last_page_len: core::ptr::null(),
            batch_index: core::ptr::null(),
            left_padding: core::ptr::null(),
        }
    }
}

/// The rotation of new keys, and of queries, in the launch that appends.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct kaio_append_rotary {
    /// `size_of::<kaio_append_rotary>()`.
    pub size: u32,
    /// 1: pairs (0, 1), (2, 3), ..., as in GPT-J; 0: (0, P), (1, P + 1), ..., as in Llama.
    pub interleaved: i32,
    /// 1: all queries of a sequence are rotated as the first new token.
    pub q_at_first: i32,
    /// 0.
    pub reserved_12: i32,
    /// Needed; (positions, pairs); f32, f16 or bf16.
    pub cos: *const DLTensor,
    /// Needed; as cos; elements of cos.
    pub sin: *const DLTensor,
    /// (tokens) or (batches, tokens); i32 or i64; NULL: the number of the token's key, less left_padding.
    pub positions: *const DLTensor,
    /// As k, with heads of its own; f32, f16 or bf16; elements of k.
    pub q: *const DLTensor,
    /// As q; elements of q; may be q itself.
    pub q_out: *const DLTensor,
}

impl Default for kaio_append_rotary {
    fn default() -> Self {
        Self {
            size: core::mem::size_of::<Self>() as u32,
            interleaved: 0,
            q_at_first: 0,
            reserved_12: 0,
            cos: core::ptr::null(),
            sin: core::ptr::null(),
            positions: core::ptr::null(),
            q: core::ptr::null(),
            q_out: core::ptr::null(),
        }
    }
}

/// Options of append_kv and append_kv_varlen.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct kaio_append_kv_options {
    /// `size_of::<kaio_append_kv_options>()`.
    pub size: u32,
    /// kaio_constant_inputs: indices.
    pub constant: i32,
    /// (sequences + 1); i32; append_kv_varlen: sequence b has new tokens cu_seqlens\[b\] to before
    /// cu_seqlens\[b + 1\].
    pub cu_seqlens: *const DLTensor,
    /// (tokens) or (batches, tokens); i32 or i64; in place of the numbers of the cache: the row of each
    /// token, over all pages; below 0: skipped.
    pub slots: *const DLTensor,
    /// NULL: no rotation.
    pub rotary: *const kaio_append_rotary,
    /// (1), (heads), (sequences, heads) or (pages, rows, heads); f32; given scales of a cache of 8 bits;
    /// NULL: 1.
    pub k_scale: *const DLTensor,
    /// As k_scale; f32.
    pub v_scale: *const DLTensor,
    /// (pages, rows, heads); f32; gets computed scales, one for each row of a head.
    pub k_scale_out: *const DLTensor,
    /// (pages, rows, heads); f32.
    pub v_scale_out: *const DLTensor,
}

impl Default for kaio_append_kv_options {
    fn default() -> Self {
        Self {
            size: core::mem::size_of::<Self>() as u32,
            constant: 0,
            cu_seqlens: core::ptr::null(),
            slots: core::ptr::null(),
            rotary: core::ptr::null(),
            k_scale: core::ptr::null(),
            v_scale: core::ptr::null(),
            k_scale_out: core::ptr::null(),
            v_scale_out: core::ptr::null(),
        }
    }
}

/// Options of gather_kv and gather_kv_varlen.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct kaio_gather_kv_options {
    /// `size_of::<kaio_gather_kv_options>()`.
    pub size: u32,
    /// 0.
    pub reserved_4: i32,
    /// (sequences + 1); i32; gather_kv_varlen: sequence b goes to rows cu_seqlens\[b\] to before
    /// cu_seqlens\[b + 1\].
    pub cu_seqlens: *const DLTensor,
    /// (1), (heads) or (pages, rows, heads); f32; scales of a cache of 8 bits that is read as f32, f16 or
    /// bf16; NULL: 1.
    pub k_scale: *const DLTensor,
    /// As k_scale; f32.
    pub v_scale: *const DLTensor,
}

impl Default for kaio_gather_kv_options {
    fn default() -> Self {
        Self {
            size: core::mem::size_of::<Self>() as u32,
            reserved_4: 0,
            cu_seqlens: core::ptr::null(),
            k_scale: core::ptr::null(),
            v_scale: core::ptr::null(),
        }
    }
}

/// Options of rotary and rotary_varlen.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct kaio_rotary_options {
    /// `size_of::<kaio_rotary_options>()`.
    pub size: u32,
    /// 1: pairs (0, 1), (2, 3), ..., as in GPT-J; 0: (0, P), (1, P + 1), ..., as in Llama.
    pub interleaved: i32,
    /// 1: rotates by the negative angles.
    pub inverse: i32,
    /// 0.
    pub reserved_12: i32,
    /// (tokens) or (batches, tokens); i32 or i64; NULL: token i of a sequence is at position i.
    pub positions: *const DLTensor,
    /// (sequences); i32; added to the positions 0, 1, ...; not with positions.
    pub offsets: *const DLTensor,
    /// (sequences + 1); i32; for rotary_varlen.
    pub cu_seqlens: *const DLTensor,
}

impl Default for kaio_rotary_options {
    fn default() -> Self {
        Self {
            size: core::mem::size_of::<Self>() as u32,
            interleaved: 0,
            inverse: 0,
            reserved_12: 0,
            positions: core::ptr::null(),
            offsets: core::ptr::null(),
            cu_seqlens: core::ptr::null(),
        }
    }
}

/// Parameters of a kind of scaling, as rope_parameters of a config.json has them. Those of other kinds are
/// not read.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct kaio_rotary_scaling {
    /// `size_of::<kaio_rotary_scaling>()`.
    pub size: u32,
    /// kaio_rotary_scaling_kind.
    pub kind: i32,
    /// Default 1; yarn: 1: the ramp begins and ends at whole pairs.
    pub truncate: i32,
    /// 0.
    pub reserved_12: i32,
    /// Default 1.
    pub factor: f64,
    /// Default 1; llama3: low_freq_factor.
    pub low_frequency: f64,
    /// Default 4; llama3: high_freq_factor.
    pub high_frequency: f64,
    /// original_max_position_embeddings; dynamic: max_position_embeddings.
    pub original_length: f64,
    /// Default 32; yarn.
    pub beta_fast: f64,
    /// Default 1; yarn.
    pub beta_slow: f64,
    /// Yarn, longrope: the factor of cos and sin; 0: computed.
    pub attention_factor: f64,
    /// yarn.
    pub mscale: f64,
    /// yarn.
    pub mscale_all_dim: f64,
    /// Dynamic: the longest sequence that the table is for.
    pub length: f64,
    /// Default 1; proportional: partial_rotary_factor.
    pub rotated: f64,
    /// Longrope: short_factor or long_factor, host memory.
    pub pair_factors: *const f64,
    /// One for each pair.
    pub pair_factor_count: u64,
}

impl Default for kaio_rotary_scaling {
    fn default() -> Self {
        Self {
            size: core::mem::size_of::<Self>() as u32,
            kind: 0,
            truncate: 1,
            reserved_12: 0,
            factor: 1.0,
            low_frequency: 1.0,
            high_frequency: 4.0,
            original_length: 0.0,
            beta_fast: 32.0,
            beta_slow: 1.0,
            attention_factor: 0.0,
            mscale: 0.0,
            mscale_all_dim: 0.0,
            length: 0.0,
            rotated: 1.0,
            pair_factors: core::ptr::null(),
            pair_factor_count: 0,
        }
    }
}

/// Which position turns a pair, for tokens with several positions: mrope_section of a config.json.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct kaio_rotary_sections {
    /// `size_of::<kaio_rotary_sections>()`.
    pub size: u32,
    /// 1: sections alternate, as in Qwen3-VL.
    pub interleaved: i32,
    /// The pairs of each section, host memory.
    pub pairs: *const u32,
    /// The number of sections.
    pub pair_count: u64,
}

impl Default for kaio_rotary_sections {
    fn default() -> Self {
        Self {
            size: core::mem::size_of::<Self>() as u32,
            interleaved: 0,
            pairs: core::ptr::null(),
            pair_count: 0,
        }
    }
}

/// Options of rotary_table.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct kaio_rotary_table_options {
    /// `size_of::<kaio_rotary_table_options>()`.
    pub size: u32,
    /// 0.
    pub reserved_4: i32,
    /// Default 10000; rope_theta.
    pub base: f64,
    /// The position of row 0.
    pub first_position: i64,
    /// (rows), or (A, rows) with sections; i32 or i64; the position of each row, in place of first_position
    /// and those after it.
    pub positions: *const DLTensor,
    /// NULL: none.
    pub scaling: *const kaio_rotary_scaling,
    /// NULL: tokens have one position.
    pub sections: *const kaio_rotary_sections,
}

impl Default for kaio_rotary_table_options {
    fn default() -> Self {
        Self {
            size: core::mem::size_of::<Self>() as u32,
            reserved_4: 0,
            base: 10000.0,
            first_position: 0,
            positions: core::ptr::null(),
            scaling: core::ptr::null(),
            sections: core::ptr::null(),
        }
    }
}
