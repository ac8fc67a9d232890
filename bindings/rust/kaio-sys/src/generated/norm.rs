// Made by bindings/rust/generate.py from src/c/operations/norm.json.
use crate::base::DLTensor;

// kaio_norm_casting: Where a number of 16 bits is rounded before the weight multiplies it.
/// Nowhere: all in f32, rounded once.
pub const KAIO_NORM_CASTING_GEMMA: i32 = 0;
/// The normalised number is rounded, and its product with the weight again.
pub const KAIO_NORM_CASTING_LLAMA: i32 = 1;

/// Options of rms_norm. Tensors have the extents and the element type of x; a stride of 0 repeats a row.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct kaio_rms_norm_options {
    /// `size_of::<kaio_rms_norm_options>()`.
    pub size: u32,
    /// Default 1e-6.
    pub epsilon: f32,
    /// Added to the weight: 1 for Gemma.
    pub weight_offset: f32,
    /// 0.
    pub reserved_12: i32,
    /// As x; f32, f16 or bf16; added to x.
    pub residual: *const DLTensor,
    /// As x; f32, f16 or bf16; gets x * gate + residual; may be the residual itself.
    pub residual_out: *const DLTensor,
    /// kaio_norm_casting: where numbers of 16 bits are rounded.
    pub casting: i32,
    /// 0.
    pub reserved_36: i32,
    /// As x; f32, f16 or bf16; multiplies x first.
    pub gate: *const DLTensor,
    /// As x; f32, f16 or bf16; 1 + it multiplies the norm.
    pub scale: *const DLTensor,
    /// As x; f32, f16 or bf16; is added to that product.
    pub shift: *const DLTensor,
    /// As x; f32, f16 or bf16; a call into codes writes the norm before it is rounded here.
    pub y_out: *const DLTensor,
}

impl Default for kaio_rms_norm_options {
    fn default() -> Self {
        Self {
            size: core::mem::size_of::<Self>() as u32,
            epsilon: 1e-06,
            weight_offset: 0.0,
            reserved_12: 0,
            residual: core::ptr::null(),
            residual_out: core::ptr::null(),
            casting: 0,
            reserved_36: 0,
            gate: core::ptr::null(),
            scale: core::ptr::null(),
            shift: core::ptr::null(),
            y_out: core::ptr::null(),
        }
    }
}

/// Options of layer_norm. Tensors have the extents and the element type of x; a stride of 0 repeats a row.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct kaio_layer_norm_options {
    /// `size_of::<kaio_layer_norm_options>()`.
    pub size: u32,
    /// Default 1e-5.
    pub epsilon: f32,
    /// Added to the weight.
    pub weight_offset: f32,
    /// 0.
    pub reserved_12: i32,
    /// As x; f32, f16 or bf16; added to x.
    pub residual: *const DLTensor,
    /// As x; f32, f16 or bf16; gets x * gate + residual; may be the residual itself.
    pub residual_out: *const DLTensor,
    /// kaio_norm_casting: where numbers of 16 bits are rounded.
    pub casting: i32,
    /// 0.
    pub reserved_36: i32,
    /// As x; f32, f16 or bf16; multiplies x first.
    pub gate: *const DLTensor,
    /// As x; f32, f16 or bf16; 1 + it multiplies the norm.
    pub scale: *const DLTensor,
    /// As x; f32, f16 or bf16; is added to that product.
    pub shift: *const DLTensor,
    /// As x; f32, f16 or bf16; a call into codes writes the norm before it is rounded here.
    pub y_out: *const DLTensor,
}

impl Default for kaio_layer_norm_options {
    fn default() -> Self {
        Self {
            size: core::mem::size_of::<Self>() as u32,
            epsilon: 1e-05,
            weight_offset: 0.0,
            reserved_12: 0,
            residual: core::ptr::null(),
            residual_out: core::ptr::null(),
            casting: 0,
            reserved_36: 0,
            gate: core::ptr::null(),
            scale: core::ptr::null(),
            shift: core::ptr::null(),
            y_out: core::ptr::null(),
        }
    }
}
