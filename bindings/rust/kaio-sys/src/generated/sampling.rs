// Made by bindings/rust/generate.py from src/c/operations/sampling.json.
use crate::base::DLTensor;

// kaio_router_score: How topk_router makes scores of logits.
/// kaio_router_score: softmax.
pub const KAIO_ROUTER_SCORE_SOFTMAX: i32 = 0;
/// kaio_router_score: sigmoid.
pub const KAIO_ROUTER_SCORE_SIGMOID: i32 = 1;

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

/// Options of topk_router. Experts are in `groups` groups of neighbours; only those of the `kept_groups`
/// best groups are chosen.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct kaio_topk_router_options {
    /// `size_of::<kaio_topk_router_options>()`.
    pub size: u32,
    /// kaio_router_score.
    pub score: i32,
    /// (experts); f32; added to scores to choose, not to weights.
    pub bias: *const DLTensor,
    /// Default 1; 1 to 32, of equal size.
    pub groups: i32,
    /// Default 1; 1 to groups.
    pub kept_groups: i32,
    /// Default 1; 1: a group's score is the sum of its best two scores with bias; 0: its best one.
    pub group_by_best_two: i32,
    /// 1: divides a token's weights by their sum.
    pub renormalise: i32,
    /// Default 1; multiplies the weights; finite.
    pub factor: f32,
    /// 0.
    pub reserved_36: i32,
}

impl Default for kaio_topk_router_options {
    fn default() -> Self {
        Self {
            size: core::mem::size_of::<Self>() as u32,
            score: 0,
            bias: core::ptr::null(),
            groups: 1,
            kept_groups: 1,
            group_by_best_two: 1,
            renormalise: 0,
            factor: 1.0,
            reserved_36: 0,
        }
    }
}

/// Options of sort_by_expert.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct kaio_sort_by_expert_options {
    /// `size_of::<kaio_sort_by_expert_options>()`.
    pub size: u32,
    /// 0.
    pub reserved_4: i32,
    /// (experts); i32; rows of each expert.
    pub counts: *const DLTensor,
    /// (tokens * k); i32; the token of each sorted row; -1 after the last expert's rows.
    pub tokens: *const DLTensor,
    /// (tokens, k); i32; the sorted row of each choice; -1 if it is left out.
    pub positions: *const DLTensor,
    /// kaio_sort_by_expert_workspace_bytes, at a multiple of 16 bytes.
    pub workspace: *const DLTensor,
}

impl Default for kaio_sort_by_expert_options {
    fn default() -> Self {
        Self {
            size: core::mem::size_of::<Self>() as u32,
            reserved_4: 0,
            counts: core::ptr::null(),
            tokens: core::ptr::null(),
            positions: core::ptr::null(),
            workspace: core::ptr::null(),
        }
    }
}

/// Options of combine_experts.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct kaio_combine_experts_options {
    /// `size_of::<kaio_combine_experts_options>()`.
    pub size: u32,
    /// 1: adds to out.
    pub accumulate: i32,
}

impl Default for kaio_combine_experts_options {
    fn default() -> Self {
        Self {
            size: core::mem::size_of::<Self>() as u32,
            accumulate: 0,
        }
    }
}
