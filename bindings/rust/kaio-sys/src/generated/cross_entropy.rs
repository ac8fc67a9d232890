// Made by bindings/rust/generate.py from src/c/operations/cross_entropy.json.
use crate::base::DLTensor;

// kaio_loss_reduction: What becomes of the losses of rows.
/// kaio_loss_reduction: none.
pub const KAIO_LOSS_REDUCTION_NONE: i32 = 0;
/// kaio_loss_reduction: sum.
pub const KAIO_LOSS_REDUCTION_SUM: i32 = 1;
/// Divided by the weights of the targets that are not ignored.
pub const KAIO_LOSS_REDUCTION_MEAN: i32 = 2;

/// Options of cross_entropy.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct kaio_cross_entropy_options {
    /// `size_of::<kaio_cross_entropy_options>()`.
    pub size: u32,
    /// Default 2; kaio_loss_reduction.
    pub reduction: i32,
    /// Default -100; rows with this target count for nothing.
    pub ignore_index: i64,
    /// 0 to 1.
    pub label_smoothing: f32,
    /// Its product with lse^2 is added to a row's loss.
    pub z_loss: f32,
    /// Logits become softcap * tanh(x / softcap); 0: none.
    pub softcap: f32,
    /// 0.
    pub reserved_28: i32,
    /// (classes); f32.
    pub weights: *const DLTensor,
    /// (rows); f32; gets the logarithms of the sums of exponentials.
    pub lse: *const DLTensor,
    /// (1); f32; gets what a mean is divided by.
    pub total_weight: *const DLTensor,
    /// kaio_cross_entropy_workspace_bytes, at a multiple of 16 bytes; needed unless the reduction is none.
    pub workspace: *const DLTensor,
}

impl Default for kaio_cross_entropy_options {
    fn default() -> Self {
        Self {
            size: core::mem::size_of::<Self>() as u32,
            reduction: 2,
            ignore_index: -100,
            label_smoothing: 0.0,
            z_loss: 0.0,
            softcap: 0.0,
            reserved_28: 0,
            weights: core::ptr::null(),
            lse: core::ptr::null(),
            total_weight: core::ptr::null(),
            workspace: core::ptr::null(),
        }
    }
}

/// Options of the gradient of cross_entropy: those of the forward call.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct kaio_cross_entropy_backward_options {
    /// `size_of::<kaio_cross_entropy_backward_options>()`.
    pub size: u32,
    /// Default 2; kaio_loss_reduction.
    pub reduction: i32,
    /// Default -100.
    pub ignore_index: i64,
    /// Label smoothing.
    pub label_smoothing: f32,
    /// z loss.
    pub z_loss: f32,
    /// softcap.
    pub softcap: f32,
    /// 0.
    pub reserved_28: i32,
    /// (classes); f32.
    pub weights: *const DLTensor,
    /// (1); f32; that of the forward call; a mean needs it.
    pub total_weight: *const DLTensor,
}

impl Default for kaio_cross_entropy_backward_options {
    fn default() -> Self {
        Self {
            size: core::mem::size_of::<Self>() as u32,
            reduction: 2,
            ignore_index: -100,
            label_smoothing: 0.0,
            z_loss: 0.0,
            softcap: 0.0,
            reserved_28: 0,
            weights: core::ptr::null(),
            total_weight: core::ptr::null(),
        }
    }
}

/// Options of linear_cross_entropy.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct kaio_linear_cross_entropy_options {
    /// `size_of::<kaio_linear_cross_entropy_options>()`.
    pub size: u32,
    /// Default 2; kaio_loss_reduction.
    pub reduction: i32,
    /// kaio_matmul_precision: how products of f32 are computed.
    pub precision: i32,
    /// 0.
    pub reserved_12: i32,
    /// Default -100; rows with this target count for nothing.
    pub ignore_index: i64,
    /// Default 1; logits are logit_scale * x * weight^T + bias.
    pub logit_scale: f32,
    /// 0 to 1.
    pub label_smoothing: f32,
    /// Its product with lse^2 is added to a row's loss.
    pub z_loss: f32,
    /// Logits become softcap * tanh(logits / softcap); 0: none.
    pub softcap: f32,
    /// (classes); f32, f16 or bf16.
    pub bias: *const DLTensor,
    /// (classes); f32; factors of the losses by target.
    pub weights: *const DLTensor,
    /// (rows); f32; gets the logarithms of the sums of exponentials.
    pub lse: *const DLTensor,
    /// (1); f32; gets what a mean is divided by.
    pub total_weight: *const DLTensor,
    /// kaio_linear_cross_entropy_workspace_bytes, or less, at a multiple of 16 bytes; needed.
    pub workspace: *const DLTensor,
}

impl Default for kaio_linear_cross_entropy_options {
    fn default() -> Self {
        Self {
            size: core::mem::size_of::<Self>() as u32,
            reduction: 2,
            precision: 0,
            reserved_12: 0,
            ignore_index: -100,
            logit_scale: 1.0,
            label_smoothing: 0.0,
            z_loss: 0.0,
            softcap: 0.0,
            bias: core::ptr::null(),
            weights: core::ptr::null(),
            lse: core::ptr::null(),
            total_weight: core::ptr::null(),
            workspace: core::ptr::null(),
        }
    }
}

/// Options of the gradients of linear_cross_entropy: those of the forward call.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct kaio_linear_cross_entropy_backward_options {
    /// `size_of::<kaio_linear_cross_entropy_backward_options>()`.
    pub size: u32,
    /// Default 2; kaio_loss_reduction.
    pub reduction: i32,
    /// kaio_matmul_precision.
    pub precision: i32,
    /// 0.
    pub reserved_12: i32,
    /// Default -100.
    pub ignore_index: i64,
    /// Default 1.
    pub logit_scale: f32,
    /// Label smoothing.
    pub label_smoothing: f32,
    /// z loss.
    pub z_loss: f32,
    /// softcap.
    pub softcap: f32,
    /// (classes); f32, f16 or bf16.
    pub bias: *const DLTensor,
    /// (classes); f32.
    pub weights: *const DLTensor,
    /// (1); f32; that of the forward call; a mean needs it.
    pub total_weight: *const DLTensor,
    /// (classes); f32, f16 or bf16; gets the gradient of the bias; the element type of x, or f32.
    pub dbias: *const DLTensor,
    /// kaio_linear_cross_entropy_backward_workspace_bytes, or less, at a multiple of 16 bytes; needed.
    pub workspace: *const DLTensor,
}

impl Default for kaio_linear_cross_entropy_backward_options {
    fn default() -> Self {
        Self {
            size: core::mem::size_of::<Self>() as u32,
            reduction: 2,
            precision: 0,
            reserved_12: 0,
            ignore_index: -100,
            logit_scale: 1.0,
            label_smoothing: 0.0,
            z_loss: 0.0,
            softcap: 0.0,
            bias: core::ptr::null(),
            weights: core::ptr::null(),
            total_weight: core::ptr::null(),
            dbias: core::ptr::null(),
            workspace: core::ptr::null(),
        }
    }
}
