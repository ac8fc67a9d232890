// Made by bindings/rust/generate.py from src/c/operations/norm_backward.json.
use crate::base::DLTensor;

/// Options of rms_norm_backward.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct kaio_rms_norm_backward_options {
    /// `size_of::<kaio_rms_norm_backward_options>()`.
    pub size: u32,
    /// Default 1e-6.
    pub epsilon: f32,
    /// Added to the weight: 1 for Gemma.
    pub weight_offset: f32,
    /// 0.
    pub reserved_12: i32,
    /// As x; f32, f16 or bf16; added to dx; may be dx itself.
    pub dh: *const DLTensor,
    /// Needed for dweight and dbias: kaio_rms_norm_backward_workspace_bytes, at a multiple of 16 bytes.
    pub workspace: *const DLTensor,
}

impl Default for kaio_rms_norm_backward_options {
    fn default() -> Self {
        Self {
            size: core::mem::size_of::<Self>() as u32,
            epsilon: 1e-06,
            weight_offset: 0.0,
            reserved_12: 0,
            dh: core::ptr::null(),
            workspace: core::ptr::null(),
        }
    }
}

/// Options of layer_norm_backward.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct kaio_layer_norm_backward_options {
    /// `size_of::<kaio_layer_norm_backward_options>()`.
    pub size: u32,
    /// Default 1e-5.
    pub epsilon: f32,
    /// Added to the weight: 1 for Gemma.
    pub weight_offset: f32,
    /// 0.
    pub reserved_12: i32,
    /// As x; f32, f16 or bf16; added to dx; may be dx itself.
    pub dh: *const DLTensor,
    /// Needed for dweight and dbias: kaio_layer_norm_backward_workspace_bytes, at a multiple of 16 bytes.
    pub workspace: *const DLTensor,
}

impl Default for kaio_layer_norm_backward_options {
    fn default() -> Self {
        Self {
            size: core::mem::size_of::<Self>() as u32,
            epsilon: 1e-05,
            weight_offset: 0.0,
            reserved_12: 0,
            dh: core::ptr::null(),
            workspace: core::ptr::null(),
        }
    }
}
