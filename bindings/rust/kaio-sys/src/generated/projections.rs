// Made by bindings/rust/generate.py from src/c/operations/projections.json.
use std::os::raw::c_char;
use crate::base::DLTensor;
use crate::generated::cache::kaio_kv_cache;
use crate::generated::packed_weights::kaio_w4_weights;
use crate::generated::packed_weights::kaio_w8_weights;

/// A weight (n, k), n outputs by k inputs: exactly one of matrix, w4 and w8. A matrix stored (k, n) is
/// given by its strides.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct kaio_projection_weight {
    /// `size_of::<kaio_projection_weight>()`.
    pub size: u32,
    /// 0.
    pub reserved_4: i32,
    /// (n, k); f32, f16, bf16, i8, e4m3 or e5m2; the element type of x; i8, e4m3 and e5m2 with scales.
    pub matrix: *const DLTensor,
    /// (n) or (1); f32; scales of a matrix of 8 bits; i8 needs them.
    pub scale: *const DLTensor,
    /// (ceil(n / 128), ceil(k / 128)); f32; scales of e4m3 and e5m2, with x_groups.
    pub blocks: *const DLTensor,
    /// For x of f16 or bf16.
    pub w4: *const kaio_w4_weights,
    /// For x of f16 or bf16.
    pub w8: *const kaio_w8_weights,
}

impl Default for kaio_projection_weight {
    fn default() -> Self {
        Self {
            size: core::mem::size_of::<Self>() as u32,
            reserved_4: 0,
            matrix: core::ptr::null(),
            scale: core::ptr::null(),
            blocks: core::ptr::null(),
            w4: core::ptr::null(),
            w8: core::ptr::null(),
        }
    }
}

/// The weights of Q, K and V: either `all`, with the outputs of Q first, then K's, then V's; or q, k and v.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct kaio_qkv_weights {
    /// `size_of::<kaio_qkv_weights>()`.
    pub size: u32,
    /// 0.
    pub reserved_4: i32,
    /// all.
    pub all: *const kaio_projection_weight,
    /// q.
    pub q: *const kaio_projection_weight,
    /// k.
    pub k: *const kaio_projection_weight,
    /// v.
    pub v: *const kaio_projection_weight,
}

impl Default for kaio_qkv_weights {
    fn default() -> Self {
        Self {
            size: core::mem::size_of::<Self>() as u32,
            reserved_4: 0,
            all: core::ptr::null(),
            q: core::ptr::null(),
            k: core::ptr::null(),
            v: core::ptr::null(),
        }
    }
}

/// The weights of gate and up: either `both`, with the outputs of the gate first; or gate and up.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct kaio_gate_up_weights {
    /// `size_of::<kaio_gate_up_weights>()`.
    pub size: u32,
    /// 0.
    pub reserved_4: i32,
    /// both.
    pub both: *const kaio_projection_weight,
    /// gate.
    pub gate: *const kaio_projection_weight,
    /// up.
    pub up: *const kaio_projection_weight,
}

impl Default for kaio_gate_up_weights {
    fn default() -> Self {
        Self {
            size: core::mem::size_of::<Self>() as u32,
            reserved_4: 0,
            both: core::ptr::null(),
            gate: core::ptr::null(),
            up: core::ptr::null(),
        }
    }
}

/// Where the heads go: q, and either k and v, or a cache.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct kaio_qkv_outputs {
    /// `size_of::<kaio_qkv_outputs>()`.
    pub size: u32,
    /// 0.
    pub reserved_4: i32,
    /// (tokens, heads, size) or (batches, tokens, heads, size); f16 or bf16; needed.
    pub q: *const DLTensor,
    /// As q, with heads of its own; elements of q.
    pub k: *const DLTensor,
    /// As k; the size may differ; elements of q.
    pub v: *const DLTensor,
    /// Appended to, as kaio_append_kv does.
    pub cache: *const kaio_kv_cache,
}

impl Default for kaio_qkv_outputs {
    fn default() -> Self {
        Self {
            size: core::mem::size_of::<Self>() as u32,
            reserved_4: 0,
            q: core::ptr::null(),
            k: core::ptr::null(),
            v: core::ptr::null(),
            cache: core::ptr::null(),
        }
    }
}

/// RMS norm of x before the product: h = x + residual; x' = h / rms(h) * (weight_offset + weight).
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct kaio_x_norm {
    /// `size_of::<kaio_x_norm>()`.
    pub size: u32,
    /// Default 1e-6.
    pub epsilon: f32,
    /// 1 for Gemma.
    pub weight_offset: f32,
    /// 0.
    pub reserved_12: i32,
    /// Needed; (k); f32, f16 or bf16; elements of x.
    pub weight: *const DLTensor,
    /// As x; elements of weight; added to x.
    pub residual: *const DLTensor,
    /// As x; elements of weight; gets h; may be the residual itself.
    pub residual_out: *const DLTensor,
}

impl Default for kaio_x_norm {
    fn default() -> Self {
        Self {
            size: core::mem::size_of::<Self>() as u32,
            epsilon: 1e-06,
            weight_offset: 0.0,
            reserved_12: 0,
            weight: core::ptr::null(),
            residual: core::ptr::null(),
            residual_out: core::ptr::null(),
        }
    }
}

/// Rotates Q and K by the positions of their tokens, as kaio_rotary does. Without positions, a token is at
/// the number of its key less the left padding of its sequence; without a cache, at its number in the
/// sequence plus the offset.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct kaio_qkv_rotary {
    /// `size_of::<kaio_qkv_rotary>()`.
    pub size: u32,
    /// 1: pairs (0, 1), (2, 3), ..., as in GPT-J; 0: (0, P), (1, P + 1), ..., as in Llama.
    pub interleaved: i32,
    /// Needed; (positions, pairs); f32, f16 or bf16.
    pub cos: *const DLTensor,
    /// Needed; as cos; elements of cos.
    pub sin: *const DLTensor,
    /// (tokens) or (batches, tokens); i32 or i64.
    pub positions: *const DLTensor,
    /// (sequences); i32; only without a cache.
    pub offsets: *const DLTensor,
}

impl Default for kaio_qkv_rotary {
    fn default() -> Self {
        Self {
            size: core::mem::size_of::<Self>() as u32,
            interleaved: 0,
            cos: core::ptr::null(),
            sin: core::ptr::null(),
            positions: core::ptr::null(),
            offsets: core::ptr::null(),
        }
    }
}

/// Options of qkv_project. Biases and norms have the element type of q.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct kaio_qkv_project_options {
    /// `size_of::<kaio_qkv_project_options>()`.
    pub size: u32,
    /// Default 1e-6; added to the mean square in q_norm and k_norm.
    pub epsilon: f32,
    /// Added to the weights of q_norm and k_norm: 1 for Gemma.
    pub norm_offset: f32,
    /// Default 1; multiplies Q at the end.
    pub q_scale: f32,
    /// kaio_constant_inputs: weights.
    pub constant: i32,
    /// Parts of K in kernels for few rows: 1, 2 or 4; 0: automatic.
    pub splits: u32,
    /// 1: packed weights are not rounded to the type of x.
    pub exact_weights: i32,
    /// 0.
    pub reserved_28: i32,
    /// (heads * size); f16 or bf16.
    pub q_bias: *const DLTensor,
    /// (heads * size); f16 or bf16.
    pub k_bias: *const DLTensor,
    /// (heads * size); f16 or bf16.
    pub v_bias: *const DLTensor,
    /// (size); f16 or bf16; weight of the RMS norm of each head.
    pub q_norm: *const DLTensor,
    /// (size); f16 or bf16; weight of the RMS norm of each head.
    pub k_norm: *const DLTensor,
    /// NULL: x is multiplied as it is.
    pub x_norm: *const kaio_x_norm,
    /// NULL: no rotation.
    pub rotary: *const kaio_qkv_rotary,
    /// (sequences + 1); i32; for packed sequences: sequence b has tokens cu_seqlens\[b\] to before
    /// cu_seqlens\[b + 1\].
    pub cu_seqlens: *const DLTensor,
    /// (tokens) or (batches, tokens); i32 or i64; in place of the numbers of the cache: the row of each
    /// token, over all pages; below 0: skipped.
    pub slots: *const DLTensor,
    /// (1), (heads) or (pages, rows, heads); f32; given scales of a cache of 8 bits; NULL: 1.
    pub k_scale: *const DLTensor,
    /// As k_scale; f32.
    pub v_scale: *const DLTensor,
    /// (pages, rows, heads); f32; gets computed scales, one for each row of a head.
    pub k_scale_out: *const DLTensor,
    /// (pages, rows, heads); f32.
    pub v_scale_out: *const DLTensor,
    /// (rows) or (1); f32; scales of x of 8 bits.
    pub x_scale: *const DLTensor,
    /// (rows, ceil(k / 128)); f32; scales of x of e4m3 and e5m2, with weights that have blocks.
    pub x_groups: *const DLTensor,
    /// kaio_qkv_project_workspace_bytes, at a multiple of 16 bytes.
    pub workspace: *const DLTensor,
    /// The kernel to run, as kaio_qkv_project_choice names it; "separate": a product, and then the heads;
    /// NULL: the best one.
    pub variant: *const c_char,
}

impl Default for kaio_qkv_project_options {
    fn default() -> Self {
        Self {
            size: core::mem::size_of::<Self>() as u32,
            epsilon: 1e-06,
            norm_offset: 0.0,
            q_scale: 1.0,
            constant: 0,
            splits: 0,
            exact_weights: 0,
            reserved_28: 0,
            q_bias: core::ptr::null(),
            k_bias: core::ptr::null(),
            v_bias: core::ptr::null(),
            q_norm: core::ptr::null(),
            k_norm: core::ptr::null(),
            x_norm: core::ptr::null(),
            rotary: core::ptr::null(),
            cu_seqlens: core::ptr::null(),
            slots: core::ptr::null(),
            k_scale: core::ptr::null(),
            v_scale: core::ptr::null(),
            k_scale_out: core::ptr::null(),
            v_scale_out: core::ptr::null(),
            x_scale: core::ptr::null(),
            x_groups: core::ptr::null(),
            workspace: core::ptr::null(),
            variant: core::ptr::null(),
        }
    }
}

/// Options of gate_up_project. Biases have the element type of out.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct kaio_gate_up_project_options {
    /// `size_of::<kaio_gate_up_project_options>()`.
    pub size: u32,
    /// Default 4; kaio_matmul_activation.
    pub activation: i32,
    /// kaio_constant_inputs: weights.
    pub constant: i32,
    /// 1: packed weights are not rounded to the type of x.
    pub exact_weights: i32,
    /// (f); f32, f16 or bf16.
    pub gate_bias: *const DLTensor,
    /// (f); f32, f16 or bf16.
    pub up_bias: *const DLTensor,
    /// NULL: x is multiplied as it is.
    pub x_norm: *const kaio_x_norm,
    /// (rows) or (1); f32; scales of x of 8 bits.
    pub x_scale: *const DLTensor,
    /// (rows, ceil(k / 128)); f32; scales of x of e4m3 and e5m2, with weights that have blocks.
    pub x_groups: *const DLTensor,
    /// kaio_gate_up_project_workspace_bytes, at a multiple of 16 bytes.
    pub workspace: *const DLTensor,
    /// The kernel to run, as kaio_gate_up_project_choice names it; "separate": products, and then the
    /// kernel that combines them; NULL: the best one.
    pub variant: *const c_char,
}

impl Default for kaio_gate_up_project_options {
    fn default() -> Self {
        Self {
            size: core::mem::size_of::<Self>() as u32,
            activation: 4,
            constant: 0,
            exact_weights: 0,
            gate_bias: core::ptr::null(),
            up_bias: core::ptr::null(),
            x_norm: core::ptr::null(),
            x_scale: core::ptr::null(),
            x_groups: core::ptr::null(),
            workspace: core::ptr::null(),
            variant: core::ptr::null(),
        }
    }
}
