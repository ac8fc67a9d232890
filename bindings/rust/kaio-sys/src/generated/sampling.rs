// Made by bindings/rust/generate.py from src/c/operations/sampling.json.
use crate::base::DLTensor;

/// Options of sample. A tensor of rows comes before the number for all rows.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct kaio_sample_options {
    /// `size_of::<kaio_sample_options>()`.
    pub size: u32,
    /// 0.
    pub reserved_4: i32,
    /// (rows); i64 or u64; needed, unless `temperature` is 0 for all rows.
    pub seed: *const DLTensor,
    /// (rows); i64 or u64; with seed; two draws differ if their offsets do.
    pub offset: *const DLTensor,
    /// (rows); i64 or u64; gets offset + 1; may be offset itself.
    pub offset_out: *const DLTensor,
    /// Default 1; 0: the largest logit.
    pub temperature: f32,
    /// 0 or below, or the vocabulary or more: all tokens.
    pub top_k: i32,
    /// Default 1; 0 to 1; 1: all tokens.
    pub top_p: f32,
    /// 0 to 1; 0: all tokens.
    pub min_p: f32,
    /// (rows); f32.
    pub temperatures: *const DLTensor,
    /// (rows); i32.
    pub top_ks: *const DLTensor,
    /// (rows); f32.
    pub top_ps: *const DLTensor,
    /// (rows); f32.
    pub min_ps: *const DLTensor,
    /// (rows); f32; gets the log-probability of the token in softmax(logits / temperature).
    pub logprobs: *const DLTensor,
    /// (rows); f32; gets log(sum of exp(logits / temperature)).
    pub lse: *const DLTensor,
    /// (1); i32; the number of rows with NaN, or without a logit above -inf, is added.
    pub invalid_rows: *const DLTensor,
}

impl Default for kaio_sample_options {
    fn default() -> Self {
        Self {
            size: core::mem::size_of::<Self>() as u32,
            reserved_4: 0,
            seed: core::ptr::null(),
            offset: core::ptr::null(),
            offset_out: core::ptr::null(),
            temperature: 1.0,
            top_k: 0,
            top_p: 1.0,
            min_p: 0.0,
            temperatures: core::ptr::null(),
            top_ks: core::ptr::null(),
            top_ps: core::ptr::null(),
            min_ps: core::ptr::null(),
            logprobs: core::ptr::null(),
            lse: core::ptr::null(),
            invalid_rows: core::ptr::null(),
        }
    }
}
