// Made by bindings/rust/generate.py from src/c/operations/qk_norm_rotary.json.
use crate::base::DLTensor;
use crate::generated::cache::kaio_rotary_options;

/// Options of qk_norm_rotary.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct kaio_qk_norm_rotary_options {
    /// `size_of::<kaio_qk_norm_rotary_options>()`.
    pub size: u32,
    /// 0.
    pub reserved_4: i32,
    /// (D); f32, f16 or bf16; f32, or elements of q; NULL: Q is not normed.
    pub q_norm: *const DLTensor,
    /// (D); f32, f16 or bf16; f32, or elements of q; NULL: K is not normed.
    pub k_norm: *const DLTensor,
    /// Default 1e-6.
    pub epsilon: f32,
    /// Added to the weights: 1 for Gemma.
    pub weight_offset: f32,
    /// (positions, P); f32, f16 or bf16; 2 P \<= D; NULL: nothing is rotated.
    pub cos: *const DLTensor,
    /// As cos; f32, f16 or bf16.
    pub sin: *const DLTensor,
    /// NULL: all defaults.
    pub rotary: *const kaio_rotary_options,
}

impl Default for kaio_qk_norm_rotary_options {
    fn default() -> Self {
        Self {
            size: core::mem::size_of::<Self>() as u32,
            reserved_4: 0,
            q_norm: core::ptr::null(),
            k_norm: core::ptr::null(),
            epsilon: 1e-06,
            weight_offset: 0.0,
            cos: core::ptr::null(),
            sin: core::ptr::null(),
            rotary: core::ptr::null(),
        }
    }
}
